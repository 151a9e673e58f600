"""CalibratedDetector: any detector, with calibrated scores."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._result_types import DriftResult, ScoreParts
from .._saving import SaveMixin
from .._thresholds import Decisions, labels_above
from .._types import Floats, Rows
from .._validation import check_choice, check_training_rows
from .._warnings import warn_user
from ..calibration import BaseCalibrator, RelaxedCTAD
from ..errors import InputError
from ..tables import TableEncoder, arrow_schema, is_table, rows_at
from ._adapters import (
    POLARITIES,
    DetectorAdapter,
    is_fitted,
    name_of,
    scoring_method,
    was_trained_on,
)
from ._conformal import ConformalDecisions, check_share
from ._drift import NO_SAMPLE, drift_from_training
from ._explanation import Explanation, explain_rows
from ._input import InputConverter
from ._labels import training_labels

if TYPE_CHECKING:
    import pyarrow as pa

    from ..report import Page

# Training rows that are kept for comparison with new rows; fewer if they are very wide.
SAMPLE_ROWS = 2000
SAMPLE_NUMBERS = 2**21

REQUIRED_METHODS = ("fit", "delta", "combine")  # of a calibrator


class CalibratedDetector(Decisions, SaveMixin, BaseEstimator):
    """Wrap any anomaly detector and calibrate its scores.

    Parameters
    ----------
    detector : PyOD or scikit-learn detector, object with `fit` and `decision_function` or \
            `score_samples`, or function of X
        Cloned and fitted by `fit`. One that is already fitted, in a `FrozenEstimator`
        or bare, is used as it is and not retrained; so is a function. Only the
        `FrozenEstimator` also survives `clone` and with it cross-validation.
    calibrator : CTAD or another calibrator, default=None
        Cloned and fitted by `fit`. None: `RelaxedCTAD()`. A
        calibrator of another library needs `fit(X, scores=)`, `delta(X)` and
        `combine(scores, delta)`; for `explain` and `report` also `delta_parts(X)`,
        `contributions(scores, delta)` and `reference_points()`.
    encoder : TableEncoder, default=None
        Cloned and fitted by `fit` if the rows are a pandas, polars or Arrow table. None:
        `TableEncoder()`. Arrays are not encoded.
    polarity : {"auto", "higher", "lower"}, default="auto"
        Whether higher or lower scores of the detector are more anomalous. "auto" knows
        PyOD and scikit-learn, also in pipelines; anything else must say.
    contamination : float in (0, 0.5], or a PyThresh object, default=0.1
        With normal rows held out of training: the share of new normal rows above `threshold_`, on
        average at most. Without: the share of training rows above it, as in PyOD. A PyThresh object
        finds the threshold from the training scores.
    holdout : float in (0, 1), default=None
        Share of the rows passed to `fit`, chosen at random, that detector and calibrator are not
        trained on. `threshold_`, `p_value`, `percentile`, `select`, `predict` and `monitor` compare
        new rows with them. None: no rows, or pass such rows to `conformalize` later.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of detector and calibrator that is None.

    Attributes
    ----------
    detector_ : the fitted detector
    calibrator_ : the fitted calibrator
    encoder_ : the fitted encoder, or None if trained on an array
        `encoder_.features_` says which column each feature comes from.
    adapter_ : DetectorAdapter
        The fitted detector, the method that gives its scores and their sign.
    input_ : InputConverter
        Turns arrays and tables into numeric rows.
    decision_scores_ : ndarray of shape (n,)
        Calibrated scores of the training rows: normal rows that are not held out. Where the
        detector keeps its own `decision_scores_` of these rows, as PyOD's do, they are used; the
        term is the calibrator's `training_delta_`.
    threshold_ : float
        The score above which a row is an anomaly.
    labels_ : ndarray of shape (n,)
        1 for training rows whose `decision_scores_` are above `threshold_`, else 0. For training
        rows use `labels_`: `predict` treats its input as new rows.
    n_ignored_anomalies_ : int
        Rows labelled 1 in `fit(X, y)`, which were left out of training.
    calibration_scores_ : ScoreParts or None
        Scores of the normal rows held out of training.
    training_sample_ : ndarray of shape (m, features)
        Numeric training rows, up to 2,000 at random, which new rows are compared with.
    batch_dependent_ : bool
        Whether the detector scores a row differently in a different batch.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    A row's score does not depend on the other rows of the call. If the wrapped detector
    breaks this rule, as PyOD's ECOD does, `fit` warns and names it. The term keeps the rule
    to the last bit. So do PyOD's OCSVM, KNN, PCA, IForest and scikit-learn's IsolationForest,
    OneClassSVM, LocalOutlierFactor, EllipticEnvelope; a detector of wide matrix products, such
    as a neural network, may round its last digits by the row's place in the call. Except for
    forests and support vectors, detectors are called with blocks of 256 rows for this, so
    one row costs them as much as 256.

    Whether a detector of another library is fitted is judged by attributes that end in an
    underscore, as scikit-learn does; where this is wrong, `FrozenEstimator` says it. A detector
    that was fitted before scores the rows passed to `fit` again, unless it is known to be trained
    on exactly these.

    Tables are encoded as numbers for calibrator and detector alike, by columns matched by name;
    see `TableEncoder`. These get the table itself, with the columns of the training table in
    their order: functions; pipelines that begin with a `ColumnTransformer` or another step that
    reads tables; detectors of other libraries than scikit-learn and PyOD; detectors trained
    before.

    `set_params(calibrator__weight=2)` replaces `calibrator=None` by the default calibrator first,
    and `encoder__...` does the same for the encoder.
    `GridSearchCV(scoring="roc_auc")` needs `cv=StratifiedKFold()`, as every fold needs anomalies,
    and scikit-learn 1.9: older scorers accept `decision_function` only from classifiers and from
    detectors that predict -1 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import IsolationForest
    >>> from ctad import CalibratedDetector
    >>> X_train = np.random.default_rng(0).normal(size=(300, 2))
    >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X_train)
    >>> normal, far_away = detector.anomaly_score([[0.0, 0.0], [9.0, 9.0]])
    >>> bool(far_away > normal)
    True
    >>> detector.predict([[0.0, 0.0], [9.0, 9.0]])
    array([0, 1])
    """

    calibrator_: Any
    adapter_: DetectorAdapter
    input_: InputConverter
    n_ignored_anomalies_: int
    calibration_scores_: ScoreParts | None
    training_sample_: Floats

    def __init__(
        self,
        detector: Any,
        calibrator: BaseCalibrator | None = None,
        *,
        encoder: TableEncoder | None = None,
        polarity: str = "auto",
        contamination: Any = 0.1,
        holdout: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.detector = detector
        self.calibrator = calibrator
        self.encoder = encoder
        self.polarity = polarity
        self.contamination = contamination
        self.holdout = holdout
        self.random_state = random_state

    @property
    def detector_(self) -> Any:
        return self.adapter_.detector

    @property
    def encoder_(self) -> TableEncoder | None:
        return self.input_.encoder

    @property
    def batch_dependent_(self) -> bool:
        return self.adapter_.batch_dependent

    @property
    def has_p_values(self) -> bool:
        """Whether there are normal rows held out of training."""
        check_is_fitted(self)
        return self.calibration_scores_ is not None

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also nested ones such as `calibrator__weight`.

        Parameters
        ----------
        **params
            A nested parameter of a calibrator or encoder that is None sets the default one first.

        Returns
        -------
        self
        """
        for name, default in (("calibrator", RelaxedCTAD), ("encoder", TableEncoder)):
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and params.get(name, getattr(self, name)) is None:
                params = {**params, name: default()}
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the detector, unless it is fitted already, and the calibrator.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            Normal rows, or all rows if `y` says which are normal.
        y : array-like of shape (n,), optional
            1 for anomalies, 0 for normal rows. Only normal rows are used: `decision_scores_` and
            `labels_` are of these. `n_ignored_anomalies_` counts the others. Other targets are
            ignored.

        Returns
        -------
        self
        """
        self.__dict__.pop("labels_", None)  # not fitted if an error occurs below
        check_choice("polarity", self.polarity, POLARITIES)
        self._check_contamination()
        calibrator = RelaxedCTAD() if self.calibrator is None else self.calibrator
        _check_calibrator(calibrator)
        if self.holdout is not None:
            check_share("holdout", self.holdout)
        scoring = scoring_method(self.detector, self.polarity)
        random = check_random_state(self.random_state)
        X = self._normal_rows(X, y)
        X, held_out = self._split(X, random)
        trained_before = is_fitted(self.detector)
        self.input_, rows = InputConverter.fitted(
            X,
            estimator=self,
            detector=self.detector,
            encoder=self.encoder,
            is_trained=trained_before,
        )
        self.training_sample_ = _sample(rows)
        detector_rows = self.input_.detector_rows(X, rows)
        detector = self.detector
        if not trained_before:
            detector = self._seeded_clone(detector, random)
            detector.fit(detector_rows)
        self.calibrator_ = self._seeded_clone(calibrator, random)

        self.adapter_ = DetectorAdapter.fitted(detector, detector_rows, scoring)
        if self.batch_dependent_:
            warn_user(
                f"{self.adapter_.name} scores a row differently in a different batch, so its "
                "calibrated scores also depend on the other rows of a call."
            )
        # The kept scores of a detector that was trained before may be those of other rows.
        trust_kept = not trained_before or was_trained_on(detector, rows)
        kept = self.adapter_.kept_training_scores() if trust_kept else None
        base = self.adapter_.score(detector_rows) if kept is None else kept
        self.calibrator_.fit(rows, scores=base)
        terms = getattr(self.calibrator_, "training_delta_", None)
        if terms is None:  # a calibrator of another library
            terms = self.calibrator_.delta(rows)
        self.calibration_scores_ = None
        if held_out is not None:
            if trained_before and hasattr(self.detector, "fit"):
                warn_user(
                    f"{name_of(detector)} was trained before: p-values hold only if the rows "
                    "held out now were not among its training rows."
                )
            self.calibration_scores_ = self._score_parts(
                held_out, self.input_.numeric_rows(held_out, self)
            )
        self._decide(np.asarray(self.calibrator_.combine(base, terms)))
        self._decide_by_calibration_scores()
        return self

    def conformalize(self, X_normal: Any) -> Self:
        """Compare new rows with these: normal rows that were not used for training.

        They replace those that `fit` held out, if any. `threshold_` and `labels_` follow them.

        Parameters
        ----------
        X_normal : array-like or data frame of shape (n, D)

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self.calibration_scores_ = None
        self.calibration_scores_ = self.score_parts(X_normal)
        self._decide_by_calibration_scores()
        return self

    def numeric_rows(self, X: Any) -> Rows:
        """The rows as the numbers that the calibrator gets.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n, features)
        """
        check_is_fitted(self)
        return self.input_.numeric_rows(self.input_.as_table(X, self), self)

    def base_score(self, X: Any) -> Floats:
        """The wrapped detector's score of each row, turned so that higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        X, rows = self._converted(X)
        return self.adapter_.score(self.input_.detector_rows(X, rows))

    def anomaly_score(self, X: Any) -> Floats:
        """The calibrated score of each row: higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.score_parts(X).score

    def score_parts(self, X: Any) -> ScoreParts:
        """The detector's score, the term, the calibrated score and the p-value of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ScoreParts
            `base_score`, `delta` (the calibration term, unscaled), `score` and `p_value`, each an
            ndarray of shape (n,); the last is None without normal rows held out of training.
        """
        return self._score_parts(*self._converted(X))

    def decision_function(self, X: Any) -> Floats:
        """The same as `anomaly_score`, under PyOD's name."""
        return self.anomaly_score(X)

    def p_value(self, X: Any) -> Floats:
        """How often a normal row scores as high as each row, at most.

        Split-conformal: on average at most a share a of rows like those held out of training has a
        p-value of a or less, for every a. The average is also over the choice of rows held out, so
        a single model with few of them may deviate. With n rows held out, the smallest p-value is
        1 / (n + 1).

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.ensemble import IsolationForest
        >>> from ctad import CalibratedDetector
        >>> X = np.random.default_rng(0).normal(size=(1000, 2))
        >>> detector = CalibratedDetector(IsolationForest(), holdout=0.2, random_state=0).fit(X)
        >>> normal, far_away = detector.p_value([[0.0, 0.0], [9.0, 9.0]])
        >>> bool(normal > 0.2), round(float(far_away), 3)
        (True, 0.005)
        """
        return self._conformal().p_values(self.decision_function(X))

    def percentile(self, X: Any) -> Floats:
        """The percentage, 0 to 100, of the rows held out that score lower than each row; equal
        scores count half.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._conformal().percentiles(self.decision_function(X))

    def select(self, X: Any, fdr: float = 0.05) -> npt.NDArray[np.bool_]:
        """The rows to act on, so that on average at most a share `fdr` of them is normal.

        Benjamini and Hochberg's procedure on `p_value`. Which rows are selected depends on all
        rows of the call; `predict(X, alarm_rate=...)` decides on each row separately.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        fdr : float in (0, 1), default=0.05
            The false discovery rate.

        Returns
        -------
        ndarray of bool, of shape (n,)
        """
        check_share("fdr", fdr)
        return self._conformal().select(self.decision_function(X), fdr)

    def predict(self, X: Any, *, alarm_rate: float | None = None) -> npt.NDArray[np.int64]:
        """1 for anomalies, 0 for normal rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        alarm_rate : float in (0, 1), optional
            The share of normal rows that may be called anomalies, on average: those with a
            `p_value` of this or less. None: the rows above `threshold_`.

        Returns
        -------
        ndarray of shape (n,)
        """
        if alarm_rate is None:
            return super().predict(X)
        return self._conformal().alarms(self.decision_function(X), alarm_rate)

    def monitor(self, X: Any, *, alpha: float = 0.01) -> DriftResult:
        """Whether the model still fits: compare a batch of new rows with known ones.

        Scores are compared with those of the normal rows held out of training (if there are any),
        and each column with training rows, by Kolmogorov-Smirnov tests; columns are adjusted for
        their number by Benjamini and Hochberg. A model that does not fit is warned of. Mind that
        anomalies in the batch, if there are many, are such a change, too.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        alpha : float in (0, 1), default=0.01
            The false-alarm rate: how often rows like those of training are said not to fit.

        Returns
        -------
        DriftResult
            `still_fits`, `text` (the verdict in words), `p_value` (of the scores), `drifts` (of
            each column, the most changed first) and `alpha`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.ensemble import IsolationForest
        >>> from ctad import CalibratedDetector
        >>> random = np.random.default_rng(0)
        >>> X = random.normal(size=(1000, 2))
        >>> detector = CalibratedDetector(IsolationForest(), holdout=0.2, random_state=0).fit(X)
        >>> detector.monitor(random.normal(size=(500, 2))).text
        'The model still fits the data.'
        """
        X, rows = self._converted(X)
        check_share("alpha", alpha)
        if not len(self.training_sample_):
            raise InputError(NO_SAMPLE)
        normal = self.calibration_scores_
        found = drift_from_training(
            np.asarray(rows, dtype=np.float64),
            self.training_sample_,
            self.input_.feature_sources,
            self._score_parts(X, rows).score,
            None if normal is None else normal.score,
            alpha,
        )
        if not found.still_fits:
            warn_user(found.text)
        return found

    def explain(self, X: Any) -> Explanation:
        """Why each row scores as it does: parts that sum to the score.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        Explanation
            To print, to read by `text(i)` and `reasons(i)`, to take as data frame by `to_frame()`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.ensemble import IsolationForest
        >>> from ctad import CalibratedDetector
        >>> X = np.random.default_rng(0).normal(size=(1000, 3))
        >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X)
        >>> explanation = detector.explain([[0.0, 9.0, 0.0]])
        >>> column, value, usual, share = explanation.reasons(0)[0]
        >>> column, value, usual
        ('column 1', '9', '-1.52 to 1.66')
        """
        X, rows = self._converted(X)
        normal = self.calibration_scores_
        return explain_rows(
            X,
            rows,
            self.adapter_.score(self.input_.detector_rows(X, rows)),
            calibrator=self.calibrator_,
            converter=self.input_,
            training_sample=self.training_sample_,
            detector_name=self.adapter_.name,
            normal_scores=None if normal is None else normal.score,
        )

    def report(self, X: Any, y: Any = None, *, fdr: float = 0.05, alpha: float = 0.01) -> Page:
        """A page to open and pass on: which rows to act on and why, and if the model still fits.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            New rows. If a pandas table has whole numbers as index, rows are called by these.
        y : array-like of shape (n,), optional
            Labels, 1 = anomaly: then the page also judges the model.
        fdr : float in (0, 1), default=0.05
            As for `select`.
        alpha : float in (0, 1), default=0.01
            As for `monitor`.

        Returns
        -------
        Page
            `save("report.html")` writes one self-contained file; a notebook shows it.
        """
        from ..report import Page, page_of
        from ._report_content import report_content

        return Page(page_of(report_content(self, X, y, fdr=fdr, alpha=alpha)))

    def column_types(self) -> pa.Schema:
        """The columns of a table that are needed, and how to read them from text.

        Returns
        -------
        pyarrow.Schema
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            raise InputError(
                "the model was trained on an array and does not know columns by their names: "
                "train it on a table"
            )
        return arrow_schema(self.encoder_)

    def _converted(self, X: Any) -> tuple[Any, Rows]:
        """New rows, and the same rows numeric."""
        check_is_fitted(self)
        X = self.input_.as_table(X, self)
        return X, self.input_.numeric_rows(X, self)

    def _score_parts(self, X: Any, rows: Rows) -> ScoreParts:
        base = self.adapter_.score(self.input_.detector_rows(X, rows))
        delta: Floats = self.calibrator_.delta(rows)
        score: Floats = self.calibrator_.combine(base, delta)
        normal = self.calibration_scores_
        p = None if normal is None else ConformalDecisions(normal.score).p_values(score)
        return ScoreParts(base, delta, score, p)

    def _conformal(self) -> ConformalDecisions:
        check_is_fitted(self)
        if self.calibration_scores_ is None:
            raise InputError(
                "this needs normal rows that were not used for training: fit with holdout=0.2, or "
                "pass such rows to conformalize"
            )
        if self.batch_dependent_:
            warn_user(
                "scores depend on the other rows of a call, so p-values hold only for calls with "
                "rows like those held out."
            )
        return ConformalDecisions(self.calibration_scores_.score)

    def _decide_by_calibration_scores(self) -> None:
        """Set the threshold by the rows held out, if there are any."""
        normal = self.calibration_scores_
        if normal is not None and isinstance(self.contamination, Real):
            rate = float(self.contamination)
            self.threshold_ = ConformalDecisions(normal.score).threshold(rate)
            self.labels_ = labels_above(self.threshold_, self.decision_scores_)

    def _normal_rows(self, X: Any, y: Any) -> Any:
        """The rows that are not labelled as anomalies."""
        self.n_ignored_anomalies_ = 0
        if y is None:
            return X
        if not is_table(X):
            X = check_training_rows(self, X)  # so that errors name rows by their place in X
        anomalous = training_labels(y, _num_samples(X))
        if anomalous is None or not anomalous.any():
            return X
        self.n_ignored_anomalies_ = int(anomalous.sum())
        normal = np.flatnonzero(~anomalous)
        if len(normal) < 2:
            raise InputError(
                f"y labels {len(normal)} of {len(anomalous)} rows as normal: training needs at "
                "least 2 normal rows"
            )
        return rows_at(X, normal)

    def _split(self, X: Any, random: np.random.RandomState) -> tuple[Any, Any]:
        """The rows to train on, and those held out or None; checked first, so that errors name rows
        by their place in X."""
        if self.holdout is None:
            return X, None
        if is_table(X):
            (self.encoder or TableEncoder()).check(X)
        else:
            X = check_training_rows(self, X)
        n = _num_samples(X)
        n_held_out = round(self.holdout * n)
        if n_held_out < 1 or n - n_held_out < 2:
            raise InputError(
                f"holdout={self.holdout:g} of {n} rows leaves {n - n_held_out} to train on and "
                f"{n_held_out} to hold out: at least 2 and 1 are needed"
            )
        kept, held_out = map(np.sort, np.split(random.permutation(n), [n - n_held_out]))
        return rows_at(X, kept), rows_at(X, held_out)

    def _seeded_clone(self, estimator: Any, random: np.random.RandomState) -> Any:
        copy = clone(estimator, safe=False)
        if self.random_state is not None and hasattr(copy, "get_params"):
            unset = [
                name
                for name, value in sorted(copy.get_params(deep=True).items())
                if name.rpartition("__")[2] == "random_state" and value is None
            ]
            copy.set_params(**{name: random.randint(2**31 - 1) for name in unset})
        return copy


def _check_calibrator(calibrator: Any) -> None:
    """Raise unless the calibrator has the methods that scoring needs."""
    if isinstance(calibrator, type):
        raise TypeError(f"calibrator is a class; pass an object: {calibrator.__name__}()")
    missing = [name for name in REQUIRED_METHODS if not hasattr(calibrator, name)]
    if missing:
        raise TypeError(
            f"calibrator {calibrator!r} has no {', '.join(missing)}: a calibrator needs "
            "fit(X, scores=), delta(X) and combine(scores, delta). Pass None for the default, "
            "RelaxedCTAD() or CTAD()."
        )


def _sample(rows: Floats) -> Floats:
    """Some training rows, for comparison with new rows."""
    n, n_columns = rows.shape
    wanted = max(1, min(SAMPLE_ROWS, SAMPLE_NUMBERS // n_columns))
    if n <= wanted:
        return rows.copy()
    places = np.random.default_rng(0).choice(n, wanted, replace=False)
    chosen: Floats = rows[np.sort(places)]
    return chosen
