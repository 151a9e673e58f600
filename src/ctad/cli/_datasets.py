"""ctad datasets"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from .._progress import report_progress
from ..errors import InputError
from . import _options as option
from ._console import CommandOutput, command_output, facts_table, plain_table

if TYPE_CHECKING:
    from ._dataset_search import DatasetEntry, DatasetSearch


def _known_names(incomplete: str) -> list[str]:
    from ..datasets import KNOWN_DATASETS

    return [name for name in KNOWN_DATASETS if name.startswith(incomplete.lower())]


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show the details of this one.", autocompletion=_known_names, metavar="NAME"
        ),
    ] = None,
    data_dir: option.DataDir = None,
    label: Annotated[
        str, typer.Option(help="The label column in the files of this folder, 1 = anomaly.")
    ] = "y",
    anomalous: option.Anomalous = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download it, or all that are missing.")
    ] = False,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """List the data sets of the paper and your own, and where they are; or show one."""
    from ..datasets import KNOWN_DATASETS, find_datasets
    from ._dataset_search import DatasetSearch

    with command_output(as_json=json, debug=debug) as out:
        files = {} if data_dir is None else find_datasets(data_dir)
        by_name = {file.lower(): path for file, path in files.items()}
        search = DatasetSearch(by_name, label, anomalous, download)
        if name is not None:
            _check_name(name, files, data_dir)
            with out.step(f"Reading {name}"):
                entry = search.find(name.lower())
            out.result(entry.as_json(), _details(entry))
            return
        entries, failed = _find_all(sorted({*KNOWN_DATASETS, *by_name}), search, out)
        n_here = sum(entry.known is not None and entry.path is not None for entry in entries)
        out.result(
            {"datasets": [entry.as_json() for entry in entries], "failed": failed},
            _table(entries),
            "",
            f"{n_here} of the paper's {len(KNOWN_DATASETS)} are here; --download gets the rest. "
            "`ctad datasets NAME` shows the source of one.",
        )
        if failed:
            raise typer.Exit(1)


def _check_name(name: str, files: dict[str, Path], data_dir: Path | None) -> None:
    from ..datasets import known_dataset

    if name.lower() in map(str.lower, files):
        return
    try:
        known_dataset(name)
    except InputError as error:
        listed = f" {data_dir} has {', '.join(files)}." if files else ""
        raise typer.BadParameter(f"{error}{listed}", param_hint="NAME") from error


def _find_all(
    names: list[str], search: DatasetSearch, out: CommandOutput
) -> tuple[list[DatasetEntry], dict[str, str]]:
    """All data sets, and why some downloads failed. An error about one does not stop the others."""
    from ..datasets import KNOWN_DATASETS, DownloadError
    from ._dataset_search import DatasetEntry, absent_entry

    entries, failed = [], {}
    for done, name in enumerate(names):
        report_progress("Reading data sets", done, len(names))
        try:
            entry = search.find(name)
        except DownloadError as error:
            failed[name] = str(error)
            out.note(str(error))
            entry = absent_entry(name, "download failed")
        except (OSError, InputError) as error:  # about a file in the user's folder
            entry = DatasetEntry(name, KNOWN_DATASETS.get(name), f"cannot be read: {error}")
        entries.append(entry)
    return entries, failed


def _table(entries: list[DatasetEntry]) -> Table:
    table = plain_table("name", "rows", "columns", "anomalies", "where")
    for column in table.columns[:4]:
        column.no_wrap = True
    for column in table.columns[1:4]:
        column.justify = "right"
    for entry in entries:
        style = None if entry.path else "dim"
        table.add_row(entry.name, *entry.shape_as_text, entry.where, style=style)
    return table


def _details(entry: DatasetEntry) -> Table:
    n_rows, n_columns, n_anomalies = entry.shape_as_text
    facts = {
        "name": entry.name,
        "rows": n_rows,
        "columns": n_columns,
        "anomalies": n_anomalies,
        "where": entry.where,
        "file": None if entry.path is None else str(entry.path),
        "SHA-256 of its values": entry.sha256,
        "difference": entry.difference,
    }
    if entry.known is not None:
        facts |= {
            "source": entry.known.url,
            "commit": entry.known.commit,
            "SHA-256 of the source": entry.known.source_sha256 or "unknown",
            "registered SHA-256 of values": entry.known.values_sha256 or "unknown",
            "transformation": entry.known.transformation,
        }
    return facts_table(facts)
