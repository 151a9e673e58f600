"""All tables and figures of a study, from a folder of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .._progress import report_progress
from ..datasets import KNOWN_DATASETS
from ..errors import InputError, MissingPackageError
from ..evaluation import PROTOCOLS, Calibration, Results
from ._printed import METRICS
from ._study import AS_PUBLISHED, CALIBRATED, COMPARED, Study, in_order

if TYPE_CHECKING:
    from ._figures import Picture
    from ._measured import Measured
    from ._table import Table


class Report(NamedTuple):
    """What was written.

    Attributes
    ----------
    page : pathlib.Path
        The HTML page.
    tables : list of Table
    pictures : list of Picture
    n_failed : int
        Results that could not be had.
    """

    page: Path
    tables: list[Table]
    pictures: list[Picture]
    n_failed: int


def build_report(
    results: Results,
    folder: Path,
    study: Study | None = None,
    *,
    metrics: tuple[str, ...] = METRICS,
) -> Report:
    """Write tables and figures of what there are results for.

    Parameters
    ----------
    results : Results
    folder : pathlib.Path
        Where to write them.
    study : Study, optional
        What to show of the results; by default all.
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
        raise MissingPackageError(
            f"tables and figures need {error.name}: pip install 'ctad[bench]' brings it"
        ) from error

    study = study or study_in(results)
    measured = Measured(results, study)
    if not len(measured.cells):
        raise InputError(f"{results.folder} has no results of what was asked for")
    report_progress("Building tables", 0, 3)
    tables = list(all_tables(measured, study, metrics))
    report_progress("Drawing figures", 1, 3)
    pictures = list(all_pictures(measured, study, metrics))
    report_progress("Writing pages", 2, 3)
    made_with = [f"{name}: {text}" for name, text in measured.environments.itertuples(index=False)]
    title, opening = _heading(study, measured)
    page = write_pages(folder, title, opening, tables, pictures, made_with)
    report_progress("Writing pages", 3, 3)
    return Report(page, tables, pictures, len(measured.failed))


def study_in(results: Results, calibration: Calibration = AS_PUBLISHED) -> Study:
    """What a folder has results of.

    Parameters
    ----------
    results : Results
    calibration : Calibration, optional
        The one in the main tables; by default that of the paper's tables.
    """
    cells = list(results.cells.rows())
    own = [cell for cell in cells if cell.calibration == calibration.name]
    calibrated = {cell.detector for cell in own}
    if not own:
        names = ", ".join(sorted({cell.calibration for cell in cells})) or "none"
        raise InputError(f"there are no results of {calibration.name!r}; there are: {names}")
    return Study(
        datasets=tuple(sorted({cell.dataset for cell in cells})),
        detectors=in_order(calibrated, CALIBRATED),
        compared=in_order({cell.detector for cell in cells} - calibrated, COMPARED),
        protocols=in_order({cell.protocol for cell in own}, tuple(PROTOCOLS)),
        calibration=calibration,
        seeds=tuple(sorted({cell.seed for cell in cells})),
    )


def _heading(study: Study, measured: Measured) -> tuple[str, str]:
    """The title, and what the page is about."""
    shown = sorted(set(measured.cells["dataset"]))
    if measured.of_the_paper.issuperset(shown):
        title = "Calibrating Tabular Anomaly Detection via Optimal Transport, rebuilt"
        which = f"{len(shown)} of the paper's {len(KNOWN_DATASETS)} data sets"
    else:
        title = "Detectors and their calibration"
        which = _number(len(shown), "data set")
    protocols = "; ".join(f"{name}: {PROTOCOLS[name].description}" for name in study.protocols)
    return title, (
        f"{which}, {_number(len(study.detectors), 'detector')} with and without calibration, "
        f"{_number(len(study.seeds), 'seed')}. Protocols: {protocols}."
        + (
            f" The calibration {study.calibration.name!r} adds score and term in its own way, by "
            "the training rows."
            if study.calibration.is_preset
            else ""
        )
    )


def _number(n: int, thing: str) -> str:
    return f"{n} {thing}" + ("" if n == 1 else "s")
