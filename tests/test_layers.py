"""Imports go down the layers only, and private modules stay inside their package."""

import ast
from pathlib import Path

import pytest

import ctad

PACKAGE = Path(ctad.__file__).parent
# A layer may import what is below it. The modules beside the packages (`_types.py` and so on) are
# below all of them.
LAYERS = [
    "cli",
    "paper",
    "evaluation",
    "persistence",
    "theory",
    "datasets",
    "wrapper",
    "report",
    "io",
    "detectors",
    "calibration",
    "tables",
    "transport",
]
STANDARD_LIBRARY = {"__future__", "collections", "concurrent", "dataclasses", "functools"} | {
    "math",
    "typing",
}


def imported_modules(file):
    """The modules of ctad that a file imports, as paths below the package."""
    parents = file.relative_to(PACKAGE).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.partition(".")[0] == "ctad"]
            yield from (tuple(name.split(".")[1:]) for name in names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = parents[: len(parents) - node.level + 1]
                module = (*base, *(node.module.split(".") if node.module else ()))
            elif (node.module or "").partition(".")[0] == "ctad":
                module = tuple(node.module.split(".")[1:])
            else:
                continue
            if module:
                yield module
            else:  # `from .. import name`
                yield from ((alias.name,) for alias in node.names)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down(layer):
    above = set(LAYERS[: LAYERS.index(layer)])
    files = list((PACKAGE / layer).rglob("*.py"))
    assert files
    for file in files:
        for module in imported_modules(file):
            assert module[0] not in above, f"{file} imports {'.'.join(module)}"


@pytest.mark.parametrize("layer", LAYERS)
def test_private_modules_stay_inside_their_package(layer):
    for file in (PACKAGE / layer).rglob("*.py"):
        for package, *modules in imported_modules(file):
            private = [name for name in modules if name.startswith("_")]
            assert package == layer or not private, f"{file} imports {package}.{modules[0]}"


def test_modules_beside_the_packages_import_no_package():
    for file in PACKAGE.glob("_*.py"):
        if file.name not in ("__init__.py", "__main__.py"):
            for module in imported_modules(file):
                assert module[0] not in LAYERS, f"{file} imports {'.'.join(module)}"


def test_every_package_is_a_layer():
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(LAYERS)


def test_transport_knows_numpy_and_numba_only():
    third_party = set()
    for file in (PACKAGE / "transport").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                third_party |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                third_party.add(node.module.partition(".")[0])
    assert third_party - STANDARD_LIBRARY == {"numpy", "numba"}
