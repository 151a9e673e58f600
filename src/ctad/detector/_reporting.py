"""What a report shows of a model and a table, gathered."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from .. import __version__
from .._input import Floats
from ..report import Alert, Plane, Report, Scores
from ..tables import rows_at
from ._conformal import Scored, discoveries
from ._scoring import final_step, name_of

if TYPE_CHECKING:
    from ._calibrated import CalibratedDetector

Integers = npt.NDArray[np.int64]

ALERTS = 50
MOVED = 10  # each way
REASONS = 5
POINTS = 1500  # of each kind, on the map


def gather(
    detector: CalibratedDetector,
    X: Any,
    y: Any,
    fdr: float,
    error: float,
    row_numbers: Any,
    reproduce: str | None,
) -> Report:
    """Score a table and explain what stands out."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        scored = detector.scored(X)
        labels = None if y is None else _labels(y, len(scored.score))
        p, normal = scored.p_value, detector.normal_
        selected = None
        if p is not None and normal is not None:
            selected = discoveries(p, fdr, len(normal.score))
        rows = np.asarray(detector._rows(X), dtype=np.float64)
        fit = detector._fit_of(rows, scored.score, error)
        ranks, base_ranks = _ranks(scored.score), _ranks(scored.base_score)
        top = np.argsort(ranks)[:ALERTS]
        # From place 1000 to 10 is more of a change than from 9000 to 5000.
        moved = np.argsort(np.log(ranks / base_ranks), kind="stable")
        up = moved[:MOVED][ranks[moved[:MOVED]] < base_ranks[moved[:MOVED]]]
        down = moved[::-1][:MOVED]
        down = down[ranks[down] > base_ranks[down]]
        explained = _alerts(
            detector,
            X,
            scored,
            np.unique(np.concatenate([top, up, down])),
            (ranks, base_ranks),
            selected,
            labels,
        )
        plane = _plane(detector, rows, top)
    return Report(
        title=f"{name_of(detector.detector_)}, calibrated",
        facts=_facts(detector, len(rows)),
        reproduce=reproduce or _code(detector, labels is not None),
        scores=Scores(*scored[:3]),
        normal=None if normal is None else Scores(*normal[:3]),
        p_values=p,
        selected=selected,
        fdr=fdr,
        labels=labels,
        alerts=[explained[row] for row in top],
        moved_up=[explained[row] for row in up],
        moved_down=[explained[row] for row in down],
        fit=fit,
        plane=plane,
        row_numbers=_numbers(row_numbers, len(rows)),
        notices=list(dict.fromkeys(str(warning.message) for warning in caught)),
    )


def _labels(y: Any, n: int) -> npt.NDArray[np.bool_]:
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must have one label per row, {n}, not shape {labels.shape}")
    if not np.isin(labels, (0, 1)).all():
        raise ValueError("y must be 1 for anomalies and 0 for normal rows")
    if labels.all() or not labels.any():
        raise ValueError("y must have normal rows, 0, and anomalies, 1")
    return labels.astype(bool)


def _numbers(given: Any, n: int) -> Integers | None:
    if given is None:
        return None
    numbers = np.asarray(given)
    if numbers.shape != (n,) or numbers.dtype.kind not in "iu":
        raise ValueError(f"row_numbers must be {n} whole numbers")
    return numbers.astype(np.int64)


def _ranks(scores: Floats) -> Integers:
    """1 for the highest score; of equal ones the first row is ahead."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def _alerts(
    detector: CalibratedDetector,
    X: Any,
    scored: Scored,
    places: Integers,
    ranks: tuple[Integers, Integers],
    selected: npt.NDArray[np.bool_] | None,
    labels: npt.NDArray[np.bool_] | None,
) -> dict[int, Alert]:
    """The rows at these places, explained."""
    # Where a score depends on the other rows, they have to be there.
    whole = detector.rows_depend_
    explanation = detector.explain(X if whole else rows_at(X, places))
    at = places if whole else np.arange(len(places))
    return {
        row: Alert(
            row=row,
            base_score=float(scored.base_score[row]),
            delta=float(scored.delta[row]),
            base_part=float(explanation.base_part[i]),
            delta_part=float(explanation.delta_part[i]),
            score=float(scored.score[row]),
            rank=int(ranks[0][row]),
            base_rank=int(ranks[1][row]),
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
    sample = detector.sample_
    scaler = StandardScaler().fit(sample)
    pca = PCA(min(2, *sample.shape), random_state=0).fit(scaler.transform(sample))
    others = np.setdiff1d(np.arange(len(rows)), top)
    n_others = min(len(others), max(0, POINTS - len(top)))
    chosen = np.random.default_rng(0).choice(others, n_others, replace=False)
    shown = np.sort(np.concatenate([top, chosen]))
    _, centroids = detector.calibrator_.described()
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
        normal=flat(sample[:POINTS]),
        new=flat(rows[shown]),
        new_rows=shown,
        centroids=flat(centroids),
        explained=(explained[0], explained[1]),
        axes=(axes[0], axes[1]),
    )


def _facts(detector: CalibratedDetector, n_rows: int) -> dict[str, str]:
    columns, sources = detector._columns()
    facts = {
        "Detector": repr(final_step(detector.detector_)),
        "Calibration": repr(detector.calibrator_),
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


def _code(detector: CalibratedDetector, labelled: bool) -> str:
    """What one would write to get the page again."""
    return (
        "from ctad import CalibratedDetector\n\n"
        f"detector = {detector!r}\n"
        "detector.fit(X_train)\n"
        f'detector.report(X_new{", y" * labelled}).save("report.html")'
    )
