"""ctad paper"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from ..detectors import known_detector
from ..errors import InputError
from . import _options as option
from ._console import Talk, plain_table, talking

if TYPE_CHECKING:
    import pandas as pd

    from ..evaluation import Calibration
    from ..paper import Report, Table


RESULTS = Path("results")

# Of the summary, what fits; the page has all.
ON_SCREEN = ("data sets", "baseline", "gain", "wins", "t-test p", "paper: gain", "paper: wins")


class CalibrationName(StrEnum):
    """Settings by name."""

    recommended = "recommended"
    paper = "paper"


class Target(StrEnum):
    """The mass on the centroids."""

    uniform = "uniform"
    sizes = "sizes"
    free = "free"


class Signal(StrEnum):
    """What of the transport is added."""

    total = "total"
    own = "own"


def paper(
    data_dir: option.DataDir = None,
    output: Annotated[
        Path | None,
        typer.Option(
            *("-o", "--output"),
            help="The folder of results, to go on with what it has; by default results. With "
            "--from: where to write tables and figures; by default beside the results.",
        ),
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Measure nothing: build tables and figures from the results in this folder.",
            metavar="FOLDER",
        ),
    ] = None,
    datasets: Annotated[
        list[str],
        typer.Option(
            help="Which data sets; by default all of the folder, or the paper's 34.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006 - typer's way
    detectors: Annotated[
        list[str],
        typer.Option(
            help="Which detectors to calibrate; by default the paper's seven, and the others it "
            "compares with as they are.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006
    protocol: Annotated[
        list[str],
        typer.Option(help="published, honest, or both (the default).", metavar="NAME,..."),
    ] = [],  # noqa: B006
    calibration: Annotated[
        CalibrationName | None,
        typer.Option(
            help="recommended (RelaxedCTAD) or paper (CTAD, the plain sum of Algorithm 1), in "
            "place of the next five.",
        ),
    ] = None,
    target: Annotated[Target, typer.Option(help="Mass on the centroids.")] = Target.uniform,
    signal: Annotated[
        Signal, typer.Option(help="The whole transport's cost, or the row's own.")
    ] = Signal.own,
    centroids: Annotated[int, typer.Option(help="K.", min=1)] = 5,
    references: Annotated[int, typer.Option(help="M.", min=1)] = 20,
    weight: Annotated[float, typer.Option(help="Of the term.", min=0)] = 1.0,
    seeds: Annotated[
        int | None, typer.Option(help="How many, from 0 on; by default 5.", min=1)
    ] = None,
    metrics: Annotated[
        list[str],
        typer.Option(
            help="auc_pr, auc_roc (the default), precision_at_n: which to show.",
            metavar="NAME,...",
        ),
    ] = [],  # noqa: B006
    label: Annotated[str, typer.Option(help="The labels in your own files, 1 = anomaly.")] = "y",
    anomalous: option.Anomalous = None,
    jobs: Annotated[int, typer.Option(help="Processes to use.", min=1)] = 1,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what failed before.")
    ] = False,
    json: option.Json = False,
) -> None:
    """Rebuild the paper's study, or judge detectors on your own data sets: AUC-PR and AUC-ROC of
    each detector with and without calibration, as tables, figures and one HTML page.

    Stopped and started again, it computes only what is missing.
    """
    from ..datasets import KNOWN_DATASETS
    from ..evaluation import PROTOCOLS, Metrics, Results, Source, run
    from ..paper import Study, build_report, study_in

    with talking(json) as talk, _saying_how_to_go_on(talk):
        chosen_calibration = _calibration(
            calibration, target, signal, centroids, references, weight
        )
        shown = _some("metrics", metrics, Metrics._fields) or ("auc_pr", "auc_roc")
        protocols = _some("protocol", protocol, tuple(PROTOCOLS))
        chosen = tuple(known_detector(name).name for name in option.separated(detectors))
        if source is not None:
            if not (source / "cells.csv").exists():
                raise FileNotFoundError(f"{source} has no results: there is no cells.csv in it")
            results = Results(source)
            study = study_in(results, chosen_calibration)
            named = _named(datasets, study.datasets)
            for asked, has in (
                (named, study.datasets),
                (chosen, study.detectors),
                (protocols, study.protocols),
            ):
                if missing := [name for name in asked if name not in has]:
                    raise InputError(
                        f"{source} has no results of {', '.join(missing)} with calibration "
                        f"{chosen_calibration.name!r}; it has those of {', '.join(has)}"
                    )
            if seeds is not None and seeds > len(study.seeds):
                raise InputError(
                    f"{source} has no results of {seeds} seeds; it has those of {len(study.seeds)}"
                )
            study = study._replace(
                datasets=named or study.datasets,
                detectors=chosen or study.detectors,
                compared=() if chosen else study.compared,
                protocols=protocols or study.protocols,
                seeds=study.seeds if seeds is None else tuple(range(seeds)),
            )
        else:
            there = _datasets_of(data_dir)
            study = Study(
                _named(datasets, (*KNOWN_DATASETS, *there)) or there,
                *_detectors(chosen, talk),
                protocols or tuple(PROTOCOLS),
                chosen_calibration,
                tuple(range(5 if seeds is None else seeds)),
            )
            with talk.working("Measuring"):
                results = run(
                    study.plan(),
                    output or RESULTS,
                    Source(data_dir, label, anomalous),
                    n_jobs=jobs,
                    retry_failed=retry_failed,
                )
        with talk.working("Building the report"):
            report = build_report(results, output or results.folder, study, metrics=shown)
        talk.result(_values(report), *_shown(report))


@contextmanager
def _saying_how_to_go_on(talk: Talk) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        talk.notice("Stopped. The same command goes on from here.")
        raise


def _detectors(chosen: tuple[str, ...], talk: Talk) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The detectors to calibrate and those to compare with, as far as they are installed."""
    from ..paper import CALIBRATED, COMPARED

    for name in chosen:
        known_detector(name).load()  # raises what would fail later
    if chosen:
        return chosen, ()
    missing = [name for name in (*CALIBRATED, *COMPARED) if not known_detector(name).installed]
    if missing:
        extras = {known_detector(name).library.extra for name in missing}
        talk.notice(
            f"not installed and left out: {', '.join(missing)}. "
            f"pip install 'ctad[{','.join(sorted(filter(None, extras)))}]' brings them."
        )
    calibrated, compared = (
        tuple(name for name in names if name not in missing) for names in (CALIBRATED, COMPARED)
    )
    return calibrated, compared


def _calibration(
    name: CalibrationName | None,
    target: Target,
    signal: Signal,
    centroids: int,
    references: int,
    weight: float,
) -> Calibration:
    from ..evaluation import Calibration

    if name is not None:
        recommended = name is CalibrationName.recommended
        return Calibration("recommended" if recommended else "algorithm 1")
    return Calibration("ctad", target.value, signal.value, centroids, references, weight)


def _some(what: str, lists: list[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    """Some of the choices, in their order."""
    chosen = option.separated(lists)
    if unknown := set(chosen).difference(choices):
        raise InputError(f"--{what} {min(unknown)}: choose of {', '.join(choices)}")
    return tuple(choice for choice in choices if choice in chosen)


def _named(wanted: list[str], there: tuple[str, ...]) -> tuple[str, ...]:
    """Names of data sets as they are written there, in upper or lower case; others as given."""
    written = {name.lower(): name for name in there}
    names: list[str] = []
    for text in wanted:  # a name may have commas itself
        items = [text] if text.lower() in written else option.separated([text])
        names += (written.get(item.lower(), item) for item in items)
    return tuple(dict.fromkeys(names))


def _datasets_of(data_dir: Path | None) -> tuple[str, ...]:
    """Those of the folder, or the paper's."""
    from ..datasets import KNOWN_DATASETS, find_datasets

    return tuple(KNOWN_DATASETS if data_dir is None else find_datasets(data_dir))


def _values(report: Report) -> dict[str, Any]:
    return {
        "page": str(report.page),
        "failed": report.n_failed,
        "summary": {
            table.name.removeprefix("summary_"): _without_nan(table.data).to_dict("index")
            for table in _summaries(report)
        },
    }


def _shown(report: Report) -> list[RenderableType]:
    shown: list[RenderableType] = []
    for table in _summaries(report):
        text = table.as_text()
        text = text[[column for column in ON_SCREEN if column in text]]
        lines = plain_table(str(text.index.name), *text)
        for column in lines.columns[1:]:
            column.justify = "right"
        for name, *row in text.itertuples(name=None):
            lines.add_row(str(name), *row)
        shown += [table.title, lines, ""]
    if report.n_failed:
        shown.append(
            f"{report.n_failed} results could not be had: the end of the page says why, and "
            "--retry-failed tries again."
        )
    return [*shown, f"Tables and figures: {report.page}"]


def _without_nan(data: pd.DataFrame) -> pd.DataFrame:
    """With None for what is missing, as JSON has it."""
    return data.astype(object).where(data.notna(), None)


def _summaries(report: Report) -> list[Table]:
    return [table for table in report.tables if table.name.startswith("summary")]
