"""The content of a report about a model and a table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._frames import is_table, take_rows
from .._result_types import ScoreParts
from .._types import Booleans, Floats, Integers
from .._validation import check_share
from ..report import Alert, Projection, Report
from ._calibrator_protocol import check_explainable
from ._conformal_decisions import discoveries, fewest_discoveries
from ._drift import drift_from_training
from ._labels import anomaly_labels
from ._nested_detectors import final_step

if TYPE_CHECKING:
    from ._calibrated_detector import CalibratedDetector


MAX_REASONS = 5


def report_content(
    detector: CalibratedDetector, X: Any, y: Any = None, *, fdr: float = 0.05, alpha: float = 0.01
) -> Report:
    """The content of `CalibratedDetector.report`: scores, explained alerts, drift.

    Parameters
    ----------
    detector : CalibratedDetector
        Fitted.
    X, y, fdr, alpha
        As for `CalibratedDetector.report`.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> from ctad.wrapper import report_content
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X)
    >>> content = report_content(detector, [[0.0, 0.0], [9.0, 9.0]])
    >>> content.title, content.alerts[0].row
    ('IsolationForest, calibrated', 1)
    """
    check_is_fitted(detector)
    check_explainable(detector.calibrator_)
    check_share("fdr", fdr)
    check_share("alpha", alpha)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        X = detector.input_.as_table(X, detector)
        rows = detector.numeric_rows(X)
        scored, normal = detector.score_parts(X), detector.calibration_scores_
        labels = None if y is None else anomaly_labels(y, len(rows))
        selected = None if scored.p_value is None else discoveries(scored.p_value, fdr)
        ranks = _ranks(scored.score)
        # Equal scores have equal ranks, so that calibrating a constant detector moves no row.
        base_ranks = np.ceil(rankdata(-scored.base_score)).astype(np.int64)
        top = np.argsort(ranks)[: Report.MAX_ALERTS]
        up, down = _moved(ranks, base_ranks)
        shown = _RowResults(scored, ranks, base_ranks, selected, labels)
        alerts = _alerts(detector, X, np.unique(np.concatenate([top, up, down])), shown)
        drift = drift_from_training(
            np.asarray(rows, dtype=np.float64),
            detector.training_sample_,
            detector.input_.feature_sources,
            scored.score,
            None if normal is None else normal.score,
            alpha,
        )
        projection = _projection(detector, np.asarray(rows, dtype=np.float64), top)
    notices = []
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notices.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if normal is not None and detector.batch_dependent_:
        notices.append(
            f"{detector.adapter_.name} scores a row differently in a different batch: p-values "
            "and the rows to act on hold only if these are like the rows held out."
        )
    return Report(
        title=f"{detector.adapter_.name}, calibrated",
        facts=_facts(detector, len(rows)),
        reproduce=_code(detector, fdr, alpha, labels is not None),
        scores=scored,
        normal_scores=normal,
        selected=selected,
        fdr=fdr,
        labels=labels,
        alerts=[alerts[row] for row in top.tolist()],
        moved_up=[alerts[row] for row in up.tolist()],
        moved_down=[alerts[row] for row in down.tolist()],
        drift=drift,
        projection=projection,
        row_numbers=_index_of(X),
        fewest_discoveries=(
            1 if normal is None else fewest_discoveries(len(rows), len(normal.score), fdr)
        ),
        notices=list(dict.fromkeys(notices)),
    )


def _index_of(X: Any) -> Integers | None:
    """The integer index of a pandas table, unless it is 0, 1, 2 and so on."""
    index = getattr(X, "index", None) if is_table(X) else None
    if index is None or index.dtype.kind not in "iu":
        return None
    numbers = np.asarray(index, dtype=np.int64)
    return None if (numbers == np.arange(len(numbers))).all() else numbers


def _ranks(scores: Floats) -> Integers:
    """1 for the highest score. Among equal scores, the first row is ahead."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _moved(ranks: Integers, base_ranks: Integers) -> tuple[Integers, Integers]:
    """The rows whose rank changed most, up and down, by ratio: a change from 1000 to 10 is larger
    than one from 9000 to 5000."""
    change = np.log(ranks / base_ranks)
    order = np.argsort(change, kind="stable")
    up, down = order[: Report.MAX_MOVED], order[::-1][: Report.MAX_MOVED]
    return up[change[up] < 0], down[change[down] > 0]


@dataclass(frozen=True, eq=False)
class _RowResults:
    """Results for each row of the table."""

    scored: ScoreParts
    ranks: Integers
    base_ranks: Integers
    selected: Booleans | None
    labels: Booleans | None


def _alerts(
    detector: CalibratedDetector, X: Any, places: Integers, shown: _RowResults
) -> dict[int, Alert]:
    """The rows at these places, explained."""
    if detector.batch_dependent_:  # scores need the other rows
        explanation, at = detector.explain(X), places
    else:
        explanation, at = detector.explain(take_rows(X, places)), np.arange(len(places))
    scored, selected, labels = shown.scored, shown.selected, shown.labels
    return {
        row: Alert(
            row=row,
            base_score=float(scored.base_score[row]),
            delta=float(scored.delta[row]),
            references_part=float(explanation.references_part[i]),
            base_part=float(explanation.base_part[i]),
            delta_part=float(explanation.delta_part[i]),
            score=float(scored.score[row]),
            rank=int(shown.ranks[row]),
            base_rank=int(shown.base_ranks[row]),
            p_value=None if scored.p_value is None else float(scored.p_value[row]),
            is_selected=None if selected is None else bool(selected[row]),
            is_anomaly=None if labels is None else bool(labels[row]),
            reasons=explanation.reasons(i, MAX_REASONS),
            text=explanation.transport_text(i),
        )
        for i, row in zip(at.tolist(), places.tolist(), strict=True)
    }


def _projection(detector: CalibratedDetector, rows: Floats, top: Integers) -> Projection:
    """The top rows and some others in the first two principal components of training rows."""
    _, centroids = detector.calibrator_.reference_points()
    sample = detector.training_sample_
    scaler = StandardScaler().fit(sample)
    pca = PCA(min(2, *sample.shape), random_state=0).fit(scaler.transform(sample))
    others = np.setdiff1d(np.arange(len(rows)), top)
    n_others = min(len(others), max(0, Report.MAX_POINTS - len(top)))
    chosen = np.random.default_rng(0).choice(others, n_others, replace=False)
    shown = np.sort(np.concatenate([top, chosen]))
    sources = detector.input_.feature_sources

    def flat(points: Floats) -> Floats:
        if not len(points):
            return np.empty((0, 2))
        placed = pca.transform(scaler.transform(points))
        return np.column_stack([placed, np.zeros((len(placed), 2 - placed.shape[1]))])

    def heaviest(weights: Floats) -> str:
        named = dict.fromkeys(sources[i] for i in np.argsort(-np.abs(weights), kind="stable"))
        return ", ".join(list(named)[:2])

    axes = [heaviest(weights) for weights in pca.components_] + ["", ""]
    explained = [*pca.explained_variance_ratio_.tolist(), 0.0, 0.0]
    return Projection(
        training=flat(sample[: Report.MAX_POINTS]),
        new=flat(rows[shown]),
        new_rows=shown,
        centroids=flat(centroids),
        explained_variance=(explained[0], explained[1]),
        axis_names=(axes[0], axes[1]),
    )


def _with_all_settings(calibrator: Any) -> str:
    with sklearn.config_context(print_changed_only=False):
        return repr(calibrator)


def _facts(detector: CalibratedDetector, n_rows: int) -> dict[str, str]:
    columns, sources = detector.input_.columns_in_use, detector.input_.feature_sources
    facts = {
        "Detector": repr(detector.adapter_.final_step),
        "Calibration": _with_all_settings(detector.calibrator_),
        "Training rows": f"{len(detector.decision_scores_):,}",
    }
    if detector.n_ignored_anomalies_:
        facts["Labelled anomalies, not used"] = f"{detector.n_ignored_anomalies_:,}"
    if detector.calibration_scores_ is not None:
        facts["Normal rows held out"] = f"{len(detector.calibration_scores_.score):,}"
    facts["Columns in use"] = f"{len(columns):,}: {', '.join(map(str, columns[:20]))}" + (
        f" and {len(columns) - 20:,} more" if len(columns) > 20 else ""
    )
    if len(sources) != len(columns):
        facts["Features"] = f"{len(sources):,}"
    if detector.encoder_ is not None and detector.encoder_.dropped_:
        facts["Not used"] = ", ".join(
            f"{name} ({why})" for name, why in detector.encoder_.dropped_.items()
        )
    facts["New rows"] = f"{n_rows:,}"
    facts["Versions"] = (
        f"ctad {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    )
    return facts


def _code(detector: CalibratedDetector, fdr: float, alpha: float, labelled: bool) -> str:
    """The code that makes the page again."""
    options = ["X_new"] + ["y"] * labelled
    options += [f"fdr={fdr:g}"] * (fdr != 0.05) + [f"alpha={alpha:g}"] * (alpha != 0.01)
    inside = final_step(detector.detector)
    parts = [inside] * hasattr(inside, "fit") + [detector]
    parts += [] if detector.calibrator is None else [detector.calibrator]
    lines = [_import_of(part) for part in parts]
    lines += ["", f"detector = {detector!r}", "detector.fit(X_train)"]
    if detector.calibration_scores_ is not None and detector.holdout is None:
        lines.append("detector.conformalize(X_normal)")
    lines.append(f'detector.report({", ".join(options)}).save("report.html")')
    if detector.random_state is None:
        lines.append("# random_state was not set, so another fit gives different numbers")
    return "\n".join(lines)


def _import_of(value: object) -> str:
    """The line that imports the class of an object from its public package."""
    module = ".".join(p for p in type(value).__module__.split(".") if not p.startswith("_"))
    return f"from {module} import {type(value).__name__}"
