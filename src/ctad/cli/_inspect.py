"""ctad inspect"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType

from . import _options as option
from ._console import plain_table, talking


def inspect(model: option.Model, json: option.Json = False) -> None:
    """Show what a model file says of itself. Checksums are compared, nothing is built or run."""
    from ..persistence import read_manifest, refusing

    with talking(json) as talk:
        manifest = read_manifest(model)
        with refusing(model):
            shown = list(_shown(_printable(manifest)))
        talk.result({"file": str(model), **manifest}, *shown)


def _printable(item: Any) -> Any:
    """Without characters that would do something to the terminal."""
    if isinstance(item, dict):
        return {_printable(key): _printable(value) for key, value in item.items()}
    if isinstance(item, list):
        return [_printable(value) for value in item]
    if isinstance(item, str):
        return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in item)
    return item


def _shown(manifest: dict[str, Any]) -> Iterator[RenderableType]:
    state = manifest["state"]
    facts = plain_table("", "")
    facts.show_header = False
    facts.add_row("class", manifest["class"])
    if "detector" in state:
        facts.add_row("detector", state["detector"]["name"])
        facts.add_row("calibrator", _settings(state["calibrator"]))
    else:
        facts.add_row("settings", _settings(manifest))
    facts.add_row("training rows", f"{manifest['training_rows']:,}")
    if state.get("rows_held_out"):
        facts.add_row("rows held out", f"{state['rows_held_out']:,}")
    facts.add_row("created", manifest["created"])
    versions = {"ctad": manifest["ctad"], **manifest["versions"]}
    installed = (f"{name} {version}" for name, version in versions.items() if version)
    facts.add_row("written with", ", ".join(installed))
    facts.add_row("format", str(manifest["format_version"]))
    yield facts
    yield ""
    if manifest["columns"]:
        columns = plain_table("column", "kind", "type in training")
        for column in manifest["columns"]:
            columns.add_row(column["name"], column["kind"], column["dtype"])
        yield columns
        yield ""
    entries = manifest["entries"].values()
    size = sum(entry["size"] for entry in entries)
    yield f"{len(entries)} entries of {size:,} bytes together; all checksums agree."


def _settings(calibrator: dict[str, Any]) -> str:
    settings = (f"{name}={value!r}" for name, value in calibrator["parameters"].items())
    return f"{calibrator['class']}({', '.join(settings)})"
