"""Imports go down the layers, and private modules stay inside their package."""

import ast
import sys
from pathlib import Path

import pytest

import ctad

PACKAGE = Path(ctad.__file__).parent
ROOT = Path(__file__).parents[1]

# A layer may import what is below it. The modules beside the packages, such as `_types.py`, are
# below all of them.
LAYERS = [
    "cli",
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


def imported_modules(file, package=()):
    """All imported modules as tuples of names; relative imports as seen from `package`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            module = (*parents, *(node.module.split(".") if node.module else ()))
            # An imported name may be a module itself.
            yield from ((*module, alias.name) for alias in node.names)


def imports_of_ctad(file):
    """The modules of ctad that a file imports, as names below `ctad`."""
    package = (
        ("ctad", *file.relative_to(PACKAGE).parts[:-1]) if file.is_relative_to(PACKAGE) else ()
    )
    return [names[1:] for names in imported_modules(file, package) if names[0] == "ctad"]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def test_every_package_is_a_layer():
    assert {path.parent.name for path in PACKAGE.glob("*/__init__.py")} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_go_down(layer):
    above = set(LAYERS[: LAYERS.index(layer)])
    for file in (PACKAGE / layer).rglob("*.py"):
        for first, *_ in filter(None, imports_of_ctad(file)):
            assert first not in above, f"{file} imports ctad.{first}, a layer above"


@pytest.mark.parametrize("layer", LAYERS)
def test_private_modules_stay_inside_their_package(layer):
    for file in (PACKAGE / layer).rglob("*.py"):
        for first, *rest in filter(None, imports_of_ctad(file)):
            is_own = first == layer or first not in LAYERS
            assert is_own or not any(map(is_private, rest)), f"{file} imports {first}.{rest[0]}"


def test_modules_beside_the_packages_import_no_package():
    for file in PACKAGE.glob("*.py"):
        if file.name not in ("__init__.py", "__main__.py"):
            for first, *_ in filter(None, imports_of_ctad(file)):
                assert first not in LAYERS, f"{file} imports ctad.{first}"


@pytest.mark.parametrize("folder", ["studies", "benchmarks", "examples", "docs"])
def test_scripts_use_public_names_only(folder):
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    for file in files:
        for names in imports_of_ctad(file):
            assert not any(map(is_private, names)), f"{file} imports ctad.{'.'.join(names)}"


def test_transport_needs_numpy_and_the_compiler_only():
    needed = set()
    for file in (PACKAGE / "transport").glob("*.py"):
        modules = imported_modules(file, ("ctad", "transport"))
        needed |= {names[0] for names in modules} - set(sys.stdlib_module_names)
        assert {names[0] for names in imports_of_ctad(file)} <= {"transport", "_compiled"}
    assert needed == {"ctad", "numpy"}
