"""Imports are light, and compiled code is cached for the next process."""

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

pytestmark = pytest.mark.slow

HEAVY = "pandas polars pyod torch matplotlib pyspark pyarrow ot skops typer plotly jinja2"

IMPORT = f"""
import sys
heavy = set("{HEAVY}".split())
import ctad, ctad.transport
assert not heavy & set(sys.modules), "import ctad"
import sklearn.cluster, sklearn.covariance, sklearn.pipeline, sklearn.model_selection
with_sklearn = heavy & set(sys.modules)  # it imports pandas where that is installed
from ctad import CTAD, CalibratedDetector, load, report
assert heavy & set(sys.modules) == with_sklearn, "the classes"
from ctad.transport import _distances, _greedy_placement, _partial_placement
from ctad.wrapper import _neighbour_scores, _packed_forest
modules = _distances, _greedy_placement, _partial_placement, _neighbour_scores, _packed_forest
compiled = [f for module in modules for f in vars(module).values() if hasattr(f, "signatures")]
assert len(compiled) >= 12
assert not [f.__name__ for f in compiled if f.signatures], "compiled on import"
"""

# Compiles one small function.
MEASURE = """
import numpy as np
from ctad.transport import _distances, euclidean_costs
assert euclidean_costs(np.zeros((1, 2)), np.array([[3.0, 4.0]])) == 5.0
hits = sum(_distances.fill_costs.stats.cache_hits.values())
print(_distances.__file__, hits, type(_distances.fill_costs._cache).__name__)
"""


def run(code, **options):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, **options
    ).stdout


def test_importing_compiles_nothing_and_loads_nothing_heavy():
    assert run(IMPORT) == ""


@pytest.fixture
def installation(tmp_path):
    """A copy of the package in an empty folder."""
    site = tmp_path / "site"
    package = Path(ctad.__file__).parent
    shutil.copytree(package, site / "ctad", ignore=shutil.ignore_patterns("__pycache__"))
    return site


def environment(site, **variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "COV", "HOME"))}
    return kept | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"} | variables


def test_compiled_code_is_cached_for_the_next_process(installation):
    env = environment(installation)
    first, second = run(MEASURE, env=env).split(), run(MEASURE, env=env).split()
    assert first[0].startswith(str(installation))
    assert (first[1], second[1]) == ("0", "1")


def test_a_compiled_function_calls_only_those_of_its_own_file():
    """numba's cache does not notice changes in other files and would use stale code."""
    modules = [import_module(f"ctad.transport.{m.name}") for m in iter_modules(transport.__path__)]
    assert len(modules) >= 4
    for module in modules:
        compiled = [f for f in vars(module).values() if hasattr(f, "py_func")]
        if any(f.py_func.__module__ == module.__name__ for f in compiled):
            assert {f.py_func.__module__ for f in compiled} == {module.__name__}


def test_a_read_only_installation_without_a_home_compiles_in_each_process(installation, tmp_path):
    """Files take the places of the cache folders, because root may write to any folder."""
    not_a_folder = tmp_path / "file"
    not_a_folder.touch()
    (installation / "ctad" / "transport" / "__pycache__").touch()
    nowhere = str(not_a_folder / "home")
    env = environment(installation, HOME=nowhere, XDG_CACHE_HOME=nowhere)
    _, hits, cache = run(MEASURE, env=env).split()
    assert (hits, cache) == ("0", "NullCache")
