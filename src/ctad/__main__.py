"""`python -m ctad` is the `ctad` command."""

from .cli import main

main()
