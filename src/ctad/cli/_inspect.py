"""ctad inspect"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from . import _options as option
from ._console import command_output, facts_table, plain_table


def inspect(model: option.Model, json: option.Json = False, debug: option.Debug = False) -> None:
    """Show the contents of a model file. Checksums are verified; nothing is built."""
    from ..persistence import read_manifest

    with command_output(as_json=json, debug=debug) as out:
        manifest = read_manifest(model)
        out.result({"file": str(model), **manifest}, *_shown(_printable(manifest)))


def _printable(item: Any) -> Any:
    """Without control characters, which could change the terminal."""
    if isinstance(item, dict):
        return {_printable(key): _printable(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_printable(value) for value in item]
    if isinstance(item, str):
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in item)
    return item


def _shown(manifest: dict[str, Any]) -> Iterator[RenderableType]:
    state = manifest["state"]
    has_detector = "detector" in state
    n_held_out = state.get("rows_held_out")
    versions = {"ctad": manifest["ctad"], **manifest["versions"]}
    yield facts_table(
        {
            "class": manifest["class"],
            "detector": state["detector"]["name"] if has_detector else None,
            "calibrator": _settings(state["calibrator"]) if has_detector else None,
            "settings": None if has_detector else _settings(manifest),
            "training rows": f"{manifest['training_rows']:,}",
            "rows held out": f"{n_held_out:,}" if n_held_out else None,
            "created": manifest["created"],
            "written with": ", ".join(f"{name} {v}" for name, v in versions.items() if v),
            "format": str(manifest["format_version"]),
        }
    )
    yield ""
    if manifest["columns"]:
        columns = plain_table("column", "kind", "type in training")
        for column in manifest["columns"]:
            columns.add_row(column["name"], column["kind"], column["dtype"])
        yield columns
        yield ""
    entries = manifest["entries"].values()
    size = sum(entry["size"] for entry in entries)
    yield f"{len(entries)} entries, {size:,} bytes in total; all checksums match."


def _settings(calibrator: dict[str, Any]) -> str:
    settings = (f"{name}={value!r}" for name, value in calibrator["parameters"].items())
    return f"{calibrator['class']}({', '.join(settings)})"
