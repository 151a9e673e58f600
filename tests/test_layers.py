"""Imports go down the layers only."""

import ast
from pathlib import Path

import pytest

import ctad

PACKAGE = Path(ctad.__file__).parent
# What each layer may import of ours; `transport` knows arrays and nothing else.
CHECKS = {"_decisions", "_findings", "_input", "_warning"}
ALLOWED = {
    "transport": set(),
    "modelfile": {"_atomic", "_warning", "__version__"},
    "tables": CHECKS,
    "streams": {"_atomic", "_warning"},
    "datasets": {"streams", "tables", "_atomic", "_input", "_progress", "_warning"},
    "calibration": {"transport", "modelfile", "_progress"} | CHECKS,
    "detectors": {"modelfile", "_blocks", "_progress"} | CHECKS,
    "report": {"_atomic", "_findings", "_input", "_metrics", "__version__"},
    "detector": {"calibration", "modelfile", "report", "tables", "_blocks", "__version__"} | CHECKS,
    "theory": {"calibration", "transport", "_input"},
    "engines": {"detector", "streams", "_atomic"},
    "benchmark": {"calibration", "datasets", "detector", "detectors", "tables"}
    | {"_atomic", "_input", "_progress", "_warning", "__version__"},
    "paper": {"benchmark", "calibration", "datasets", "transport"}
    | {"_atomic", "_input", "_progress"},
    "cli": {"calibration", "detector", "detectors", "engines", "modelfile", "streams", "tables"}
    | {"benchmark", "datasets", "paper", "report", "theory"}
    | {"_atomic", "_input", "_metrics", "_progress", "__version__"},
}


def imported_layers(file):
    """The parts of ctad, outside its own layer, that a file imports."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level >= 2:
            yield from (
                [node.module.partition(".")[0]] if node.module else (a.name for a in node.names)
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ctad"):
            yield node.module.partition(".")[2].partition(".")[0]
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith("ctad"))


@pytest.mark.parametrize("layer", ALLOWED)
def test_imports_go_down(layer):
    files = list((PACKAGE / layer).rglob("*.py"))
    assert files
    for file in files:
        assert set(imported_layers(file)) <= ALLOWED[layer], file


def test_every_folder_is_a_known_layer():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == set(ALLOWED)


def test_transport_knows_numpy_and_numba_only():
    third_party = set()
    for file in (PACKAGE / "transport").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                third_party |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                third_party.add(node.module.partition(".")[0])
    standard = {"__future__", "collections", "concurrent", "functools", "math", "typing"}
    assert third_party - standard == {"numpy", "numba"}
