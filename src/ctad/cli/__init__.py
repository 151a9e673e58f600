"""The `ctad` command."""

import os
import sys


def main() -> None:
    """Run the command, and end the process."""
    try:
        from ._app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ctad":
            raise
        sys.exit(f"The ctad command needs {error.name}: pip install 'ctad[cli]' brings it.")
    try:
        app()
    except SystemExit as done:
        # Not by sys.exit: a thread may still wait for rows from another process, and would be
        # waited for, or find Python taken apart around it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(done.code if isinstance(done.code, int) else 1)
