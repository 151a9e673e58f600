"""ctad benchmark"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from ..detectors import known_detector
from ..errors import InputError
from . import _options as option
from ._console import CommandOutput, command_output, plain_table

if TYPE_CHECKING:
    import pandas as pd

    from ..evaluation import Benchmark, Results, Source
    from ..evaluation.report import Report

OUTPUT = Path("benchmark")
# Quick detectors of different kinds; those of scikit-learn if PyOD is not installed.
DETECTORS = ("IForest", "KNN", "ECOD", "PCA")
DETECTORS_WITHOUT_PYOD = ("IsolationForest", "LocalOutlierFactor")
# The columns of the summary that fit on a screen. The page has all.
ON_SCREEN = ("data sets", "baseline", "gain", "95 % from", "to", "wins", "t-test p")


def benchmark(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="A labelled table: CSV, Parquet or Feather, or .npz or .mat with X and y.",
            show_default=False,
        ),
    ] = None,
    data_dir: option.DataDir = None,
    output: Annotated[
        Path | None,
        typer.Option(
            *("-o", "--output"),
            help="The folder of results, by default `benchmark`. If it has results, only missing "
            "ones are computed. With --from: where to write the page.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Measure nothing: build the page from the results in this folder.",
            metavar="FOLDER",
        ),
    ] = None,
    datasets: Annotated[
        list[str],
        typer.Option(
            help="Which data sets; by default all in --data-dir. `ctad datasets` lists public "
            "ones, which are downloaded.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006 - typer needs a list
    detectors: Annotated[
        list[str],
        typer.Option(
            help=f"Which detectors, of `ctad detectors`; by default {', '.join(DETECTORS)}.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006
    calibration: option.Calibration = "recommended",
    seeds: Annotated[
        int | None, typer.Option(help="How many random splits; by default 3.", min=1)
    ] = None,
    metrics: Annotated[
        list[str],
        typer.Option(
            help="Which to show: auc_pr, auc_roc (the default), precision_at_n.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="The column of labels, 1 = anomaly.")] = "y",
    anomalous: option.Anomalous = None,
    jobs: Annotated[int, typer.Option(help="Number of processes.", min=1)] = 1,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Repeat what failed before.")
    ] = False,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Does calibration help on your data? AUC-PR and AUC-ROC of detectors with and without
    calibration on labelled data sets, as a table and an HTML page.

    Stopped and started again, it computes only what is missing.
    """
    from ..evaluation import Metrics, Results, Source, run
    from ..evaluation.report import build_report

    with command_output(as_json=json, debug=debug) as out, _note_when_stopped(out):
        shown = _some("metrics", metrics, tuple(field.name for field in fields(Metrics)))
        chosen = tuple(known_detector(name).name for name in option.comma_separated(detectors))
        if source is None:
            where = Source(table or data_dir, label, anomalous)
            wanted = _wanted(where, datasets, chosen, calibration, seeds)
            with out.step("Measuring"):
                results = run(
                    wanted.plan(),
                    output or OUTPUT,
                    where,
                    n_jobs=jobs,
                    retry_failed=retry_failed,
                )
        else:
            results = Results(source)
            wanted = _found(results, datasets, chosen, calibration, seeds)
        with out.step("Building the report"):
            report = build_report(
                results,
                output or results.folder,
                wanted,
                metrics=shown or ("auc_pr", "auc_roc"),
            )
        out.result(_values(report), *_shown(report))


@contextmanager
def _note_when_stopped(out: CommandOutput) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        out.note("Stopped. The same command continues from here.")
        raise


def _wanted(
    source: Source,
    datasets: list[str],
    detectors: tuple[str, ...],
    calibration: str,
    seeds: int | None,
) -> Benchmark:
    """The benchmark that the options ask for."""
    from ..datasets import KNOWN_DATASETS
    from ..evaluation import Benchmark

    if source.data_dir is None and not datasets:
        raise InputError(
            "name a labelled table, a folder of them with --data-dir, or public data sets with "
            "--datasets"
        )
    if source.data_dir is not None and not source.data_dir.exists():
        raise FileNotFoundError(f"{source.data_dir}: there is no such file or folder")
    there = source.names()
    for name in detectors:
        known_detector(name).import_class()  # fails now rather than in every run
    return Benchmark(
        _named(datasets, (*KNOWN_DATASETS, *there)) or there,
        detectors or _installed(DETECTORS) or DETECTORS_WITHOUT_PYOD,
        calibration,
        tuple(range(3 if seeds is None else seeds)),
    )


def _found(
    results: Results,
    datasets: list[str],
    detectors: tuple[str, ...],
    calibration: str,
    seeds: int | None,
) -> Benchmark:
    """The results that the options ask for."""
    from ..evaluation import Benchmark

    if not results.cells.exists():
        raise FileNotFoundError(f"{results.folder} has no results of a benchmark")
    found = Benchmark.found_in(results, calibration)
    names = _named(datasets, found.datasets)
    for asked, has in ((names, found.datasets), (detectors, found.detectors)):
        if missing := [name for name in asked if name not in has]:
            raise InputError(
                f"{results.folder} has no results of {', '.join(missing)} with calibration "
                f"{calibration!r}; it has {', '.join(has):.1000}"
            )
    if seeds is not None and seeds > len(found.seeds):
        raise InputError(
            f"{results.folder} has no results of {seeds} seeds; it has {len(found.seeds)}"
        )
    return replace(
        found,
        datasets=names or found.datasets,
        detectors=detectors or found.detectors,
        seeds=found.seeds[:seeds],
    )


def _installed(detectors: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in detectors if known_detector(name).installed)


def _some(what: str, lists: list[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the choices, in their order."""
    chosen = option.comma_separated(lists)
    if unknown := set(chosen).difference(choices):
        raise InputError(f"--{what} {min(unknown)}: choose from {', '.join(choices)}")
    return tuple(choice for choice in choices if choice in chosen)


def _named(wanted: list[str], there: tuple[str, ...]) -> tuple[str, ...]:
    """Names of data sets in any case, as they are written there; others as given."""
    written = {name.lower(): name for name in there}
    names: list[str] = []
    for text in wanted:  # a name may contain commas
        items = [text] if text.lower() in written else option.comma_separated([text])
        names += (written.get(item.lower(), item) for item in items)
    return tuple(dict.fromkeys(names))


def _values(report: Report) -> dict[str, Any]:
    return {
        "page": str(report.page),
        "failed": report.n_failed,
        "verdict": report.verdict,
        "summary": {
            metric: _without_nan(table.data).to_dict("index")
            for metric, table in report.summaries.items()
        },
    }


def _shown(report: Report) -> list[RenderableType]:
    shown: list[RenderableType] = []
    for table in report.summaries.values():
        text = table.as_text()
        text = text[[name for name in ON_SCREEN if name in text and (text[name] != "").any()]]
        lines = plain_table(str(text.index.name), *text)
        for column in lines.columns[1:]:
            column.justify = "right"
        for name, *row in text.itertuples(name=None):
            lines.add_row(str(name), *row)
        shown += [table.title, lines, ""]
    if report.n_failed:
        shown.append(
            f"{report.n_failed} results failed: the end of the page says why, and --retry-failed "
            "repeats them."
        )
    return [*shown, f"Tables and figures: {report.page}", report.verdict]


def _without_nan(data: pd.DataFrame) -> pd.DataFrame:
    """With None for missing values, as JSON has it."""
    return data.astype(object).where(data.notna(), None)
