"""The `ctad` command."""

import os
import sys


def main() -> None:
    """Run the command."""
    try:
        from ._app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ctad":
            raise
        sys.exit(f"The ctad command needs {error.name}. Install it: pip install 'ctad[cli]'")
    try:
        app()
    except OSError as error:  # of the help or the version; commands report their errors themselves
        if "--debug" in sys.argv:
            raise
        sys.exit(f"Error: {error.filename or 'standard output'}: {error.strerror}")
    finally:
        _discard_unwritable_output()


def _discard_unwritable_output() -> None:
    """Drop what the disk has no room for: Python would try again at its end, and complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
