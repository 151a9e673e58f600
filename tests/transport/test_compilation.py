"""What happens between processes: imports stay light, compiled code is kept."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import ctad
from ctad import transport

HEAVY = "pandas polars pyod torch matplotlib pyspark pyarrow ot skops typer safetensors"

IMPORT = f"""
import sys
heavy = set("{HEAVY}".split())
import ctad, ctad.transport
assert not heavy & set(sys.modules), "import ctad"
import sklearn.cluster, sklearn.covariance, sklearn.pipeline, sklearn.model_selection
with_sklearn = heavy & set(sys.modules)  # it imports pandas where that is installed
from ctad import CTAD, CalibratedDetector, load
assert heavy & set(sys.modules) == with_sklearn, "the classes"
from ctad.transport import _distances, _placement
kernels = [f for module in (_distances, _placement)
           for f in vars(module).values() if hasattr(f, "signatures")]
assert len(kernels) >= 8
assert not [f.__name__ for f in kernels if f.signatures], "compiled on import"
"""

SOLVE = """
import numpy as np, sys
from ctad.transport import RowTransport, _placement
total = RowTransport(np.ones((20, 5))).solve(np.ones((3, 5))).total
assert np.allclose(total, 1.0)
hits = sum(_placement.walk_table.stats.cache_hits.values())
print(_placement.__file__, hits, type(_placement.walk_table._cache).__name__)
"""


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, **options
    ).stdout


def test_importing_compiles_nothing_and_loads_nothing_heavy():
    assert run(IMPORT) == ""


@pytest.fixture
def installation(tmp_path):
    """A copy of the package alone, in a folder of its own."""
    site = tmp_path / "site"
    package = Path(ctad.__file__).parent
    shutil.copytree(package, site / "ctad", ignore=shutil.ignore_patterns("__pycache__"))
    return site


def environment(site, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "COV", "HOME"))}
    return kept | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def test_compiled_code_is_kept_for_the_next_process(installation):
    env = environment(installation)
    first, second = run(SOLVE, env=env).split(), run(SOLVE, env=env).split()
    assert first[0].startswith(str(installation))
    assert (first[1], second[1]) == ("0", "1")


def test_a_compiled_function_calls_only_those_of_its_own_file():
    """numba's cache does not notice changes in other files: it would keep stale code."""
    modules = [import_module(f"ctad.transport.{m.name}") for m in iter_modules(transport.__path__)]
    assert len(modules) >= 4
    for module in modules:
        compiled = [f for f in vars(module).values() if hasattr(f, "py_func")]
        if any(f.py_func.__module__ == module.__name__ for f in compiled):
            assert {f.py_func.__module__ for f in compiled} == {module.__name__}


def test_a_read_only_installation_works_without_a_home(installation, tmp_path):
    """No folder can be written: the code is compiled in each process.

    Files stand where the cache folders would be: that stops root, too.
    """
    not_a_folder = tmp_path / "file"
    not_a_folder.touch()
    (installation / "ctad" / "transport" / "__pycache__").touch()
    nowhere = str(not_a_folder / "home")
    env = environment(installation, HOME=nowhere, XDG_CACHE_HOME=nowhere)
    for _ in range(2):
        _, hits, cache = run(SOLVE, env=env).split()
        assert (hits, cache) == ("0", "NullCache")
