"""ctad datasets"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table

from .._progress import report_progress
from . import _options as option
from ._console import Talk, plain_table, talking

if TYPE_CHECKING:
    from ..datasets import Dataset, KnownDataset


def _known_names(incomplete: str) -> list[str]:
    from ..datasets import KNOWN_DATASETS

    return [name for name in KNOWN_DATASETS if name.startswith(incomplete.lower())]


def datasets(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show all about this one.", autocompletion=_known_names, metavar="NAME"
        ),
    ] = None,
    data_dir: option.DataDir = None,
    label: Annotated[
        str, typer.Option(help="The labels in the files of this folder, 1 = anomaly.")
    ] = "y",
    anomalous: option.Anomalous = None,
    download: Annotated[
        bool, typer.Option("--download", help="Download it, or all that are not here.")
    ] = False,
    json: option.Json = False,
) -> None:
    """List the data sets of the paper and your own, and where they are; or show one."""
    from ..datasets import KNOWN_DATASETS, find_datasets, known_dataset

    with talking(json) as talk:
        files = {} if data_dir is None else find_datasets(data_dir)
        by_name = {file.lower(): path for file, path in files.items()}
        look_up = _LookUp(by_name, label, anomalous, download)
        if name is None:
            found, failed = _look_up_all(sorted({*KNOWN_DATASETS, *by_name}), look_up, talk)
            here = sum(one.known is not None and one.path is not None for one in found)
            talk.result(
                {"datasets": [one.facts() for one in found], "failed": failed},
                _table(found),
                "",
                f"{here} of the paper's {len(KNOWN_DATASETS)} are here; --download gets the rest. "
                "`ctad datasets NAME` shows where one comes from.",
            )
            if failed:
                raise typer.Exit(1)
            return
        if name.lower() not in by_name:
            try:
                known_dataset(name)
            except ValueError as error:
                listed = f" {data_dir} has {', '.join(files)}." if files else ""
                raise typer.BadParameter(f"{error}{listed}", param_hint="NAME") from error
        with talk.working(f"Reading {name}"):
            one = look_up(name.lower())
        talk.result(one.facts(), _all_about(one))


class _Found(NamedTuple):
    """A data set, and where it is."""

    name: str
    known: KnownDataset | None  # None if it is the user's own
    where: str
    path: Path | None = None  # None if it is not here
    shape: tuple[int, int, int] | None = None  # rows, columns, anomalies; None if unreadable
    sha256: str | None = None  # of the values
    difference: str | None = None  # from the registered one

    def facts(self) -> dict[str, Any]:
        """All, for a script."""
        rows, columns, anomalies = self.shape or (None, None, None)
        known = self.known
        return {
            "name": self.name,
            "rows": rows,
            "columns": columns,
            "anomalies": anomalies,
            "where": self.where,
            "path": None if self.path is None else str(self.path),
            "sha256": self.sha256,
            "difference": self.difference,
            "registered": None if known is None else {**known._asdict(), "url": known.url},
        }


class _LookUp(NamedTuple):
    """Look for a data set by its name in lower case."""

    files: dict[str, Path]  # of the user's folder
    label: str
    anomalous: str | None
    download: bool

    def __call__(self, name: str) -> _Found:
        from ..datasets import (
            KNOWN_DATASETS,
            download_file,
            downloaded_file,
            known_dataset,
            read_dataset,
        )

        if name in self.files:
            path = self.files[name]
            dataset = read_dataset(path, label=self.label, anomalous=self.anomalous)
            return _found(dataset, KNOWN_DATASETS.get(name), path, f"in {path.parent}")
        known = known_dataset(name)
        in_cache = downloaded_file(known)
        if in_cache is None and self.download:
            in_cache = download_file(known)
        if in_cache is None:
            return _not_here(name, "to be downloaded")
        return _found(read_dataset(in_cache), known, in_cache, "downloaded")


def _found(dataset: Dataset, known: KnownDataset | None, path: Path, where: str) -> _Found:
    rows, columns = dataset.X.shape
    difference = None if known is None else known.difference(dataset)
    if known is None:
        where += ", your own"
    elif difference is not None:
        where += ", differs from the registered one"
    return _Found(
        dataset.name if known is None else known.name,
        known,
        where + _caveat(known),
        path,
        (rows, columns, dataset.n_anomalies),
        dataset.sha256,
        difference,
    )


def _not_here(name: str, where: str) -> _Found:
    from ..datasets import known_dataset

    known = known_dataset(name)
    shape = known.samples, known.dims, known.anomalies
    return _Found(name, known, where + _caveat(known), shape=shape)


def _caveat(known: KnownDataset | None) -> str:
    return ", checked by shape only" if known is not None and known.values_sha256 is None else ""


def _look_up_all(
    names: list[str], look_up: _LookUp, talk: Talk
) -> tuple[list[_Found], dict[str, str]]:
    """Where each is, and why some could not be downloaded; one that is at fault stops no other."""
    from ..datasets import KNOWN_DATASETS, DownloadError

    found, failed = [], {}
    reading = "Reading data sets"
    with talk.working(reading):
        for done, name in enumerate(names):
            report_progress(reading, done, len(names))
            try:
                one = look_up(name)
            except DownloadError as error:
                failed[name] = str(error)
                talk.notice(str(error))
                one = _not_here(name, "could not be downloaded")
            except (OSError, ValueError) as error:  # of a file in the user's folder
                where = f"cannot be read: {error}"
                one = _Found(name, KNOWN_DATASETS.get(name), where)
            found.append(one)
    return found, failed


def _table(found: list[_Found]) -> Table:
    table = plain_table("name", "rows", "columns", "anomalies", "where")
    table.columns[0].no_wrap = True
    for column in table.columns[1:4]:
        column.justify = "right"
        column.no_wrap = True
    for one in found:
        table.add_row(one.name, *_numbers(one), one.where, style=None if one.path else "dim")
    return table


def _all_about(one: _Found) -> Table:
    facts = plain_table("", "")
    facts.show_header = False
    rows, columns, anomalies = _numbers(one)
    facts.add_row("name", one.name)
    facts.add_row("rows", rows)
    facts.add_row("columns", columns)
    facts.add_row("anomalies", anomalies)
    facts.add_row("where", one.where)
    if one.path is not None:
        facts.add_row("file", str(one.path))
        facts.add_row("SHA-256 of its values", one.sha256)
    if one.difference is not None:
        facts.add_row("difference", one.difference)
    if one.known is not None:
        facts.add_row("source", one.known.url)
        facts.add_row("commit", one.known.commit)
        facts.add_row("SHA-256 of the source", one.known.source_sha256 or "not known")
        facts.add_row("registered SHA-256 of values", one.known.values_sha256 or "not known")
        facts.add_row("transformation", one.known.transformation)
    return facts


def _numbers(one: _Found) -> tuple[str, str, str]:
    if one.shape is None:
        return "", "", ""
    rows, columns, anomalies = one.shape
    return f"{rows:,}", f"{columns:,}", f"{anomalies:,} ({anomalies / rows:.1%})".replace("%", " %")
