"""ctad inspect"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from . import _options as option
from ._console import columns_table, command_output, facts_table, printable

SHOWN_CHARACTERS = 1000  # of a string; --json has all


def inspect(model: option.Model, json: option.Json = False, debug: option.Debug = False) -> None:
    """Show the contents of a model file. Checksums are verified; nothing is built."""
    from ..persistence import read_manifest

    with command_output(as_json=json, debug=debug) as out:
        manifest = read_manifest(model)
        out.result({"file": str(model), **manifest}, *_shown(_printable(manifest)))


def _printable(item: Any) -> Any:
    """What may be shown of strings in a file that anybody may have written."""
    if isinstance(item, dict):
        return {_printable(key): _printable(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_printable(value) for value in item]
    if isinstance(item, str):
        return printable(item[:SHOWN_CHARACTERS]).replace("\n", " ")
    return item


def _shown(manifest: dict[str, Any]) -> Iterator[RenderableType]:
    model = manifest["model"]
    detector, calibrator = (_part(model, "fitted", name) for name in ("detector_", "calibrator_"))
    function = _part(detector, "function")
    versions = {"ctad": manifest["ctad"], **manifest["versions"]}
    yield facts_table(
        {
            "class": _class_name(model),
            "detector": _class_name(detector)
            if function is None
            else f"the function {function}, which is not in the file",
            "calibrator": _settings(calibrator),
            "settings": None if calibrator else _settings(model),
            "training rows": _number(model, "n_training_rows")
            or _number(model, "n_training_rows_"),
            "rows held out": _number(model, "n_held_out"),
            "created": manifest["created"],
            "written with": ", ".join(f"{name} {v}" for name, v in versions.items() if v),
            "format": str(manifest["format_version"]),
        }
    )
    yield ""
    if manifest["trusted"]:
        yield (
            f"Contains types without a description: {', '.join(manifest['trusted'])}. Such a file "
            "can run code: load it only if you trust whoever made it."
        )
        yield ""
    columns = _part(model, "fitted", "encoder_", "fitted", "columns")
    if isinstance(columns, list):
        keys = ("name", "kind", "dtype")
        yield from columns_table(
            ("column", "kind", "type in training"),
            [[str(_part(column, key)) for key in keys] for column in columns],
        )
        yield ""
    entries = manifest["entries"].values()
    size = sum(entry["size"] for entry in entries)
    yield f"{len(entries)} entries, {size:,} bytes in total; all checksums match."


def _part(item: Any, *keys: str) -> Any:
    """A value inside the model, whose shape is checked only when it is loaded; None if missing."""
    for key in keys:
        item = item.get(key) if isinstance(item, dict) else None
    return item


def _class_name(item: Any) -> str | None:
    """The class of an object."""
    name = _part(item, "type")
    steps = _part(item, "parameters", "steps")
    if isinstance(steps, list):
        inside = (_class_name(step[-1]) for step in steps if isinstance(step, list) and step)
        return f"Pipeline of {', '.join(filter(None, inside))}"
    return None if name is None else str(name).rpartition(".")[2]


def _settings(item: Any) -> str | None:
    """Class and parameters of an object."""
    parameters = _part(item, "parameters")
    if not isinstance(parameters, dict):
        return None
    settings = (f"{name}={value!r}" for name, value in parameters.items())
    return f"{_class_name(item)}({', '.join(settings)})"[:SHOWN_CHARACTERS]


def _number(model: Any, name: str) -> str | None:
    value = _part(model, "fitted", name)
    return f"{value:,}" if isinstance(value, int) and value else None
