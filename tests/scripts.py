"""Run the example scripts in this process."""

import runpy
import warnings
from contextlib import redirect_stdout
from io import StringIO

import matplotlib
import matplotlib.pyplot as plt
import pytest

matplotlib.use("Agg")  # no windows


def run_script(script, *arguments):
    """Run a script in the current folder; return what it prints. Warnings are errors."""
    printed = StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        warnings.catch_warnings(action="error"),
        redirect_stdout(printed),
    ):
        patch.setattr("sys.argv", [str(script), *arguments])
        runpy.run_path(str(script), run_name="__main__")
    plt.close("all")
    return printed.getvalue()
