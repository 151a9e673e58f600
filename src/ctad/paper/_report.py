"""All tables and figures of a study, from a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._progress import progress
from ..benchmark import PROTOCOLS, Calibration, Results
from ..datasets import KNOWN_DATASETS
from ._study import AS_PUBLISHED, CALIBRATED, COMPARED, Study

if TYPE_CHECKING:
    from ._measured import Measured
    from ._table import Table

METRICS = ("auc_pr", "auc_roc")


class Report(NamedTuple):
    """What was written.

    Attributes
    ----------
    page : pathlib.Path
        The HTML page.
    tables : list of Table
    n_failed : int
        Results that could not be had.
    """

    page: Path
    tables: list[Table]
    n_failed: int


def build_report(
    results: Results,
    folder: Path,
    *,
    calibration: Calibration = AS_PUBLISHED,
    metrics: tuple[str, ...] = METRICS,
) -> Report:
    """Write tables and figures of what there are results for.

    Parameters
    ----------
    results : Results
    folder : pathlib.Path
        Where to write them.
    calibration : Calibration, optional
        The one in the main tables; by default that of the paper's tables.
    metrics : tuple of str, default=("auc_pr", "auc_roc")
    """
    try:
        from ._figures import all_pictures
        from ._measured import Measured
        from ._page import write_pages
        from ._tables import all_tables
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("ctad"):
            raise
        raise ImportError(
            f"tables and figures need {error.name}: pip install 'ctad[bench]' brings it"
        ) from error

    measured = Measured(results)
    study = study_of(measured, calibration)
    progress("Building tables", 0, 3)
    tables = list(all_tables(measured, study, metrics))
    progress("Drawing figures", 1, 3)
    pictures = list(all_pictures(measured, study, metrics))
    progress("Writing pages", 2, 3)
    made_with = [f"{name}: {text}" for name, text in measured.environments.itertuples(index=False)]
    page = write_pages(folder, *_heading(study), tables, pictures, made_with)
    progress("Writing pages", 3, 3)
    return Report(page, tables, len(measured.failed))


def study_of(measured: Measured, calibration: Calibration) -> Study:
    """What a folder of results is the study of."""
    cells = measured.cells
    calibrated = set(cells[cells.calibration == calibration.name].detector)
    if not calibrated:
        names = ", ".join(sorted(cells.calibration.unique())) or "none"
        raise ValueError(f"there are no results of {calibration.name!r}; there are: {names}")
    rest = set(cells.detector) - calibrated
    return Study(
        datasets=tuple(sorted(cells.dataset.unique())),
        detectors=_in_order(calibrated, CALIBRATED),
        compared=_in_order(rest, COMPARED),
        protocols=_in_order(set(cells.protocol), tuple(PROTOCOLS)),
        calibration=calibration,
        seeds=tuple(sorted(int(seed) for seed in cells.seed.unique())),
    )


def _in_order(found: set[str], usual: tuple[str, ...]) -> tuple[str, ...]:
    return (*(name for name in usual if name in found), *sorted(found.difference(usual)))


def _heading(study: Study) -> tuple[str, str]:
    known = sum(name in KNOWN_DATASETS for name in study.datasets)
    n = len(study.datasets)
    if known == n:
        title = "Calibrating Tabular Anomaly Detection via Optimal Transport, rebuilt"
        which = f"{n} of the paper's {len(KNOWN_DATASETS)} data sets"
    else:
        title = "Detectors and their calibration"
        which = f"{n} data sets"
    protocols = "; ".join(f"{name}: {PROTOCOLS[name].description}" for name in study.protocols)
    return title, (
        f"{which}, {len(study.detectors)} detectors with and without calibration, "
        f"{len(study.seeds)} seeds. Protocols: {protocols}. All runs are counted."
    )
