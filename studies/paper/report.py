"""All tables and figures of the study, from a folder of results."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import matplotlib as mpl

from ctad.datasets import KNOWN_DATASETS
from ctad.evaluation import Results
from ctad.evaluation.report import (
    FIGURE_STYLE,
    Chapter,
    Measurements,
    Reference,
    Table,
    comparison_picture,
    comparison_table,
    dataset_table,
    failure_table,
    summary_table,
    write_page,
)

from .calibrations import AS_PUBLISHED, SWEEPS
from .figures import alternatives_picture, gap_picture, method_picture, sensitivity_picture
from .printed_numbers import METRICS
from .protocol import FIRST_HALF
from .runtimes import runtime_store
from .study import PROTOCOLS, Study
from .tables import (
    SHOWN_CALIBRATED,
    agreement_table,
    alternatives_table,
    gap_table,
    reference,
    registered_datasets,
    runtime_table,
    sensitivity_table,
)

TITLE = "Calibrating Tabular Anomaly Detection via Optimal Transport, rebuilt"


def write_report(results: Results, study: Study, chapters: Iterable[Chapter], folder: Path) -> Path:
    """Write the chapters of a study into a folder; return the path of the page."""
    measured = measurements(results, study)
    versions = measured.environments.itertuples(index=False)
    made_with = [f"{name}: {text}" for name, text in versions]
    return write_page(folder, TITLE, _opening(results, measured, study), chapters, made_with)


def measurements(results: Results, study: Study) -> Measurements:
    """The results of a study."""
    return Measurements(
        results,
        datasets=study.datasets,
        detectors=(*study.calibrated, *study.compared),
        protocols=study.protocols,
        seeds=study.seeds,
    )


def build_chapters(results: Results, study: Study) -> list[Chapter]:
    """All tables and figures there are results for."""
    with mpl.rc_context(FIGURE_STYLE):
        return list(_chapters(results, study))


def _chapters(results: Results, study: Study) -> Iterator[Chapter]:
    measured = measurements(results, study)
    printed = paper_datasets(results, study)
    rounds = [(protocol, metric) for protocol in study.protocols for metric in METRICS]
    first = study.protocols[0]
    yield Chapter("method", "The method", pictures=[method_picture()])
    yield Chapter(
        "summary",
        "What calibration adds",
        [summary(measured, protocol, metric, printed) for protocol, metric in rounds],
    )
    if first == FIRST_HALF.name and printed:
        yield Chapter(
            "agreement", "Agreement with the printed numbers", [agreement_table(measured, printed)]
        )
    yield Chapter(
        "datasets",
        "Each data set",
        [by_dataset(measured, protocol, metric, printed) for protocol, metric in rounds],
    )
    compared = {metric: comparison(measured, first, metric, printed) for metric in METRICS}
    yield Chapter(
        "comparison",
        "All methods",
        list(compared.values()),
        [comparison_picture(t, metric) for metric, t in compared.items() if len(t.data.dropna())],
    )
    tables = {
        protocol: {metric: alternatives_table(measured, protocol, metric) for metric in METRICS}
        for protocol in study.protocols
    }
    yield Chapter(
        "alternatives",
        "Ways to calibrate",
        [table for of_protocol in tables.values() for table in of_protocol.values()],
        [alternatives_picture(protocol, of_protocol) for protocol, of_protocol in tables.items()],
    )
    if _was_swept(measured, first):
        yield Chapter(
            "sensitivity",
            "Other settings",
            [sensitivity_table(measured, first, metric) for metric in METRICS],
            [sensitivity_picture(measured, first)],
        )
    gaps = {
        protocol: gap_table(results.folder, protocol, study, printed)
        for protocol in study.protocols
    }
    gaps = {protocol: table for protocol, table in gaps.items() if len(table.data)}
    yield Chapter(
        "gaps",
        "Transport terms of normal and of anomalous rows",
        list(gaps.values()),
        [gap_picture(protocol, table) for protocol, table in gaps.items()],
    )
    if runtime_store(results.folder).exists():
        yield Chapter("runtimes", "Run time", [runtime_table(results.folder)])
    if len(measured.failures):
        yield Chapter("failures", "Failures", [failure_table(measured)])


def paper_datasets(results: Results, study: Study) -> list[str]:
    """The data sets of a study that the paper has numbers for."""
    return [name for name in registered_datasets(results) if name in study.datasets]


def summary(measured: Measurements, protocol: str, metric: str, printed: list[str]) -> Table:
    """How much calibration adds, beside the paper's numbers."""
    beside = _reference(protocol, metric, printed)
    return summary_table(measured, protocol, AS_PUBLISHED.name, metric, beside)


def by_dataset(measured: Measurements, protocol: str, metric: str, printed: list[str]) -> Table:
    """Each data set, beside the paper's numbers."""
    beside = _reference(protocol, metric, printed)
    return dataset_table(measured, protocol, AS_PUBLISHED.name, metric, beside)


def comparison(measured: Measurements, protocol: str, metric: str, printed: list[str]) -> Table:
    """All methods, beside the paper's numbers."""
    return comparison_table(
        measured,
        protocol,
        AS_PUBLISHED.name,
        metric,
        _reference(protocol, metric, printed),
        calibrated=SHOWN_CALIBRATED,
    )


def _reference(protocol: str, metric: str, printed: list[str]) -> Reference | None:
    return reference(metric, printed) if protocol == FIRST_HALF.name and printed else None


def _was_swept(measured: Measurements, protocol: str) -> bool:
    return all(
        any(
            len(measured.of(protocol, calibration.name))
            for calibration in calibrations.values()
            if calibration.name != AS_PUBLISHED.name
        )
        for calibrations in SWEEPS.values()
    )


def _opening(results: Results, measured: Measurements, study: Study) -> str:
    protocols = "; ".join(f"{name}: {PROTOCOLS[name].description}" for name in study.protocols)
    return (
        f"{measured.cells['dataset'].nunique()} data sets, {len(study.calibrated)} detectors with "
        f"and without calibration, {len(study.seeds)} seeds. Protocols: {protocols}. The paper has "
        f"{len(KNOWN_DATASETS)} data sets; {len(paper_datasets(results, study))} of them are shown."
    )
