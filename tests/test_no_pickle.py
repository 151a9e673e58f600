"""No file is a pickle: neither written nor read, not even by a library on our behalf."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ["src", "studies", "benchmarks", "examples"]

# Modules whose files are pickles, or that run code as pickles do.
MODULES = {
    *("pickle", "_pickle", "pickletools", "cloudpickle", "dill", "jsonpickle", "shelve"),
    *("marshal", "joblib.memory", "joblib.numpy_pickle", "skops.io"),
}
# Functions and classes that write or read pickles.
FUNCTIONS = {
    *("joblib.dump", "joblib.load", "joblib.Memory"),
    *("torch.load", "torch.save", "torch.hub.load", "torch.jit.load", "torch.jit.save"),
    *("torch.package", "torch.serialization", "torch.export"),
    *("pandas.read_pickle", "pandas.to_pickle", "pandas.read_hdf", "pandas.HDFStore"),
    *("pyarrow.deserialize", "pyarrow.serialize", "pyarrow.PyExtensionType"),
    *("yaml.load", "yaml.unsafe_load", "yaml.full_load"),
}
RUN_TEXT = {"eval", "exec"}
METHODS = {"to_pickle", "read_pickle", "to_hdf", "load_state_dict_from_url"}
# numpy writes and reads pickles unless it is told not to.
NUMPY = {"load", "save", "savez", "savez_compressed", "read_array", "write_array", "open_memmap"}
# skops restores any attribute of a type that it accepts: only for files that a user trusts.
SKOPS = "src/ctad/persistence/_trusted_objects.py"
SUFFIXES = {".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth"}


def pickles(source):
    """What in some source text would write or read a pickle, by line."""
    tree = ast.parse(source)
    names = _imported_names(tree)
    for node in ast.walk(tree):
        for what in _pickles_of(node, names):
            yield f"line {node.lineno}: {what}"


def _imported_names(tree):
    """The full names of what is imported: `np` is `numpy`."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                names[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}
    return names


def _full_name(node, names):
    """`torch.load` for that expression, whatever torch is called here; "" for other expressions."""
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute):
        before = _full_name(node.value, names)
        return before and f"{before}.{node.attr}"
    return ""


def _pickles_of(node, names):
    match node:
        case ast.Import():
            yield from (alias.name for alias in node.names if _is_bad(alias.name))
        case ast.ImportFrom(level=0):
            full = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name for name in full if _is_bad(name) or _is_bad(node.module))
        case ast.Attribute():
            name = _full_name(node, names)
            if _is_bad(name) or node.attr in METHODS:
                yield name or node.attr
        case ast.Constant(value=str()) if node.value in MODULES:  # import_module("pickle")
            yield repr(node.value)
        case ast.Call():
            yield from _pickles_of_call(node, names)


def _is_bad(name):
    return any(name == bad or name.startswith(f"{bad}.") for bad in MODULES | FUNCTIONS)


def _pickles_of_call(call, names):
    options = {keyword.arg: keyword.value for keyword in call.keywords}
    name = _full_name(call.func, names)
    if isinstance(call.func, ast.Name) and call.func.id in RUN_TEXT and not name:
        yield f"{call.func.id} runs text"
    is_numpy = name.startswith("numpy.") and name.rpartition(".")[2] in NUMPY
    allows = options.get("allow_pickle")
    if is_numpy and allows is None:
        yield f"{name} without allow_pickle=False"
    if allows is not None and not (isinstance(allows, ast.Constant) and allows.value is False):
        yield "allow_pickle is not False"
    memory = options.get("memory")  # a pipeline's cache: a folder of pickles
    if memory is not None and not (isinstance(memory, ast.Constant) and memory.value is None):
        yield "memory= keeps pickles"


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_file_is_a_pickle(folder):
    files = [*(set((ROOT / folder).rglob("*.py")) - {ROOT / SKOPS})]
    assert files
    found = {
        str(file.relative_to(ROOT)): bad
        for file in files
        if (bad := [*pickles(file.read_text(encoding="utf-8"))])
    }
    assert not found
    assert not [path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "exec(code, {})",
        "import yaml\nyaml.load(file, yaml.Loader)",
        "import skops.io",
        "from skops import io",
        "from skops.io import load",
        "from torch.serialization import load",
        "import torch\ntorch.export.load(path)",
        "import numpy as np\nnp.savez(path, x)",
        "import pickle",
        "import numpy, pickle as p",
        "from pickle import loads",
        "import _pickle",
        "import cloudpickle",
        "def f():\n    import dill",
        "import shelve",
        "from marshal import dumps",
        "importlib.import_module('pickle')",
        "__import__('cloudpickle')",
        "from joblib import dump",
        "from joblib import Memory as Cache",
        "import joblib\njoblib.load(path)",
        "import joblib as j\nread = j.load",
        "import torch\ntorch.save(net.state_dict(), path)",
        "import torch as t\nt.load(path, weights_only=True)",
        "from torch import load",
        "import torch.jit\ntorch.jit.load(path)",
        "import pandas as pd\npd.read_pickle(path)",
        "frame.to_pickle(path)",
        "import numpy as np\nnp.load(path)",
        "import numpy as np\nnp.load(path, allow_pickle=True)",
        "import numpy as np\nnp.load(path, allow_pickle=trusted)",
        "import numpy as np\nnp.save(path, array)",
        "from numpy import load\nload(path)",
        "from numpy.lib import format as npy\nnpy.read_array(file)",
        "Pipeline(steps, memory=folder)",
    ],
)
def test_pickles_are_found(source):
    assert [*pickles(source)]


@pytest.mark.parametrize(
    "source",
    [
        "from joblib import effective_n_jobs, hash",
        "import joblib\njoblib.hash(calibrator)",
        "import json\njson.load(file)",
        "import numpy as np\nnp.load(path, allow_pickle=False)",
        "from numpy.lib import format as npy\nnpy.write_array(file, x, allow_pickle=False)",
        "load(path)",
        "from ctad import load\nload(path)",
        "Pipeline(steps, memory=None)",
        "text = 'not a pickle'",
        "network.eval()",
    ],
)
def test_other_files_are_allowed(source):
    assert not [*pickles(source)]
