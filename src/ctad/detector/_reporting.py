"""What a report shows of a model and a table, gathered."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sklearn
from scipy.stats import rankdata
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from .. import __version__
from .._input import Floats
from ..report import MOST_ALERTS, MOST_MOVED, MOST_POINTS, Alert, Plane, Report, Scores
from ..tables import is_table, rows_at
from ._conformal import Scored, check_share, discoveries, fewest_discoveries
from ._monitoring import NO_SAMPLE
from ._scoring import final_step, name_of

if TYPE_CHECKING:
    from ._calibrated import CalibratedDetector


Integers = npt.NDArray[np.int64]

REASONS = 5


def gather(
    detector: CalibratedDetector, X: Any, y: Any = None, *, fdr: float = 0.05, error: float = 0.01
) -> Report:
    """Score a table and explain what stands out; see `CalibratedDetector.report`."""
    check_is_fitted(detector)
    check_share("fdr", fdr)
    check_share("error", error)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = detector._rows(X)
        scored, normal = detector._scored(X, rows), detector.normal_
        labels = None if y is None else _labels(y, len(rows))
        selected = None if scored.p_value is None else discoveries(scored.p_value, fdr)
        ranks = _ranks(scored.score)
        # Of equal scores none is ahead: a detector that says nothing moves no row.
        base_ranks = np.ceil(rankdata(-scored.base_score)).astype(np.int64)
        top = np.argsort(ranks)[:MOST_ALERTS]
        up, down = _moved(ranks, base_ranks)
        shown = _Shown(scored, ranks, base_ranks, selected, labels)
        alerts = _alerts(detector, X, np.unique(np.concatenate([top, up, down])), shown)
        fit = detector._fit_of(rows, scored.score, error) if len(detector.sample_) else None
        plane = _plane(detector, np.asarray(rows, dtype=np.float64), top)
    notices = []
    for warning in caught:
        if issubclass(warning.category, UserWarning):
            notices.append(str(warning.message))
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    if fit is None:
        notices.append(NO_SAMPLE)
    if normal is not None and detector.rows_depend_:
        notices.append(
            f"{name_of(detector.detector_)} scores a row differently among other rows: p-values "
            "and the rows to act on hold only if these are like the rows held out."
        )
    return Report(
        title=f"{name_of(detector.detector_)}, calibrated",
        facts=_facts(detector, len(rows)),
        reproduce=_code(detector, fdr, error, labels is not None),
        scores=Scores(*scored[:3]),
        normal=None if normal is None else Scores(*normal[:3]),
        p_values=scored.p_value,
        selected=selected,
        fdr=fdr,
        labels=labels,
        alerts=[alerts[row] for row in top.tolist()],
        moved_up=[alerts[row] for row in up.tolist()],
        moved_down=[alerts[row] for row in down.tolist()],
        fit=fit,
        plane=plane,
        row_numbers=_index_of(X),
        fewest=1 if normal is None else fewest_discoveries(len(rows), len(normal.score), fdr),
        notices=list(dict.fromkeys(notices)),
    )


def _labels(y: Any, n: int) -> npt.NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label per row, {n}, not shape {labels.shape}")
    if not np.isin(labels, (0, 1)).all():
        raise ValueError("y must be 1 for anomalies and 0 for normal rows")
    return labels.astype(bool)


def _index_of(X: Any) -> Integers | None:
    """The row numbers of a pandas table, unless they are the places of the rows."""
    index = getattr(X, "index", None) if is_table(X) else None
    if index is None or index.dtype.kind not in "iu":
        return None
    numbers = np.asarray(index, dtype=np.int64)
    return None if (numbers == np.arange(len(numbers))).all() else numbers


def _ranks(scores: Floats) -> Integers:
    """1 for the highest score; of equal ones the first row is ahead."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _moved(ranks: Integers, base_ranks: Integers) -> tuple[Integers, Integers]:
    """The rows that calibration moved most, up and down: from place 1000 to 10 is more of a change
    than from 9000 to 5000."""
    change = np.log(ranks / base_ranks)
    order = np.argsort(change, kind="stable")
    up, down = order[:MOST_MOVED], order[::-1][:MOST_MOVED]
    return up[change[up] < 0], down[change[down] > 0]


class _Shown(NamedTuple):
    """What is known of each row."""

    scored: Scored
    ranks: Integers
    base_ranks: Integers
    selected: npt.NDArray[np.bool_] | None
    labels: npt.NDArray[np.bool_] | None


def _alerts(
    detector: CalibratedDetector, X: Any, places: Integers, shown: _Shown
) -> dict[int, Alert]:
    """The rows at these places, explained."""
    # Where a score depends on the other rows, they have to be there.
    whole = detector.rows_depend_
    explanation = detector.explain(X if whole else rows_at(X, places))
    at = places if whole else np.arange(len(places))
    scored, ranks, base_ranks, selected, labels = shown
    return {
        row: Alert(
            row=row,
            base_score=float(scored.base_score[row]),
            delta=float(scored.delta[row]),
            references_part=float(explanation.references_part[i]),
            base_part=float(explanation.base_part[i]),
            delta_part=float(explanation.delta_part[i]),
            score=float(scored.score[row]),
            rank=int(ranks[row]),
            base_rank=int(base_ranks[row]),
            p_value=None if scored.p_value is None else float(scored.p_value[row]),
            is_selected=None if selected is None else bool(selected[row]),
            is_anomaly=None if labels is None else bool(labels[row]),
            reasons=explanation.reasons(i, REASONS),
            text=explanation.where(i),
        )
        for i, row in zip(at.tolist(), places.tolist(), strict=True)
    }


def _plane(detector: CalibratedDetector, rows: Floats, top: Integers) -> Plane:
    """The rows on top and some others, in the plane in which training rows spread most."""
    references, centroids = detector.calibrator_.described()
    sample = detector.sample_ if len(detector.sample_) else references
    scaler = StandardScaler().fit(sample)
    pca = PCA(min(2, *sample.shape), random_state=0).fit(scaler.transform(sample))
    others = np.setdiff1d(np.arange(len(rows)), top)
    n_others = min(len(others), max(0, MOST_POINTS - len(top)))
    chosen = np.random.default_rng(0).choice(others, n_others, replace=False)
    shown = np.sort(np.concatenate([top, chosen]))
    _, sources = detector._columns()

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
    return Plane(
        normal=flat(sample[:MOST_POINTS]),
        new=flat(rows[shown]),
        new_rows=shown,
        centroids=flat(centroids),
        explained=(explained[0], explained[1]),
        axes=(axes[0], axes[1]),
    )


def _with_all_settings(calibrator: Any) -> str:
    with sklearn.config_context(print_changed_only=False):
        return repr(calibrator)


def _facts(detector: CalibratedDetector, n_rows: int) -> dict[str, str]:
    columns, sources = detector._columns()
    facts = {
        "Detector": repr(final_step(detector.detector_)),
        "Calibration": _with_all_settings(detector.calibrator_),
        "Training rows": f"{len(detector.decision_scores_):,}",
    }
    if detector.normal_ is not None:
        facts["Normal rows held out"] = f"{len(detector.normal_.score):,}"
    facts["Columns in use"] = f"{len(columns):,}: {', '.join(map(str, columns[:20]))}" + (
        f" and {len(columns) - 20:,} more" if len(columns) > 20 else ""
    )
    if len(sources) != len(columns):
        facts["As numbers"] = f"{len(sources):,}"
    if detector.encoder_ is not None and detector.encoder_.dropped_:
        facts["Not used"] = ", ".join(
            f"{name} ({why})" for name, why in detector.encoder_.dropped_.items()
        )
    facts["New rows"] = f"{n_rows:,}"
    facts["Versions"] = (
        f"ctad {__version__}, scikit-learn {sklearn.__version__}, numpy {np.__version__}"
    )
    return facts


def _code(detector: CalibratedDetector, fdr: float, error: float, labelled: bool) -> str:
    """What one would write to get the page again."""
    options = ["X_new"] + ["y"] * labelled
    options += [f"fdr={fdr:g}"] * (fdr != 0.05) + [f"error={error:g}"] * (error != 0.01)
    inside = final_step(detector.detector)
    module = ".".join(p for p in type(inside).__module__.split(".") if not p.startswith("_"))
    lines = [f"from {module} import {type(inside).__name__}"] * hasattr(inside, "fit")
    lines += ["from ctad import CTAD, CalibratedDetector", "", f"detector = {detector!r}"]
    lines.append("detector.fit(X_train)")
    if detector.normal_ is not None and detector.holdout is None:
        lines.append("detector.calibrate_threshold(X_normal)")
    lines.append(f'detector.report({", ".join(options)}).save("report.html")')
    if detector.random_state is None:
        lines.append("# random_state was not set, so another fit gives other numbers")
    return "\n".join(lines)
