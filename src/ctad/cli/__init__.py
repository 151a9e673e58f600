"""The `ctad` command."""

import sys


def main() -> None:
    """Run the command."""
    try:
        from ._app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ctad":
            raise
        sys.exit(f"The ctad command needs {error.name}. Install it: pip install 'ctad[cli]'")
    app()
