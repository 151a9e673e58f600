"""CalibratedDetector: any detector, with calibrated scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._frames import is_table, take_rows
from .._result_types import DriftResult, ScoreParts
from .._saving import SaveMixin
from .._types import Floats, Integers, Rows
from .._validation import check_choice, check_share, check_training_rows, random_generator
from .._warnings import warn_user
from ..calibration import RelaxedCTAD
from ..errors import InputError
from ..tables import TableEncoder
from ._calibrator_protocol import (
    Calibrator,
    check_calibrator,
    combine_with,
    delta_of,
    training_delta_of,
)
from ._conformal_decisions import ConformalDecisions
from ._conformal_mixin import ConformalMixin
from ._detector_adapter import DetectorAdapter, fit_detector, is_fitted, was_trained_on
from ._drift import drift_from_training
from ._explanation import Explanation, explain_rows
from ._input import InputConverter
from ._labels import training_labels
from ._score_sign import POLARITIES, ScoringMethod, scoring_method
from ._seeds import seeded_clone
from ._training_split import split_rows, training_sample

if TYPE_CHECKING:
    import pyarrow as pa

    from ..report import Page


class CalibratedDetector(ConformalMixin, SaveMixin, BaseEstimator):
    """Wrap any anomaly detector and calibrate its scores.

    Parameters
    ----------
    detector : PyOD or scikit-learn detector, object with `fit` and `decision_function` or \
            `score_samples`, or function of X
        Cloned and fitted by `fit`. A detector that is already fitted is not retrained; nor is a
        function. Put a fitted detector into a `FrozenEstimator`, so that `clone` and
        cross-validation keep it fitted.
    calibrator : calibrator, default=None
        Cloned and fitted by `fit`. None: `RelaxedCTAD()`. A calibrator of your own needs the
        methods of `ctad.wrapper.Calibrator`.
    encoder : TableEncoder, default=None
        Cloned and fitted by `fit` if the rows are a pandas, polars or Arrow table. None:
        `TableEncoder()`. Arrays are not encoded.
    polarity : {"auto", "higher", "lower"}, default="auto"
        Whether higher or lower scores of the detector are more anomalous. "auto" recognises
        detectors of PyOD and scikit-learn, also in pipelines. For others say which.
    contamination : float in (0, 0.5], or a PyThresh object, default=0.1
        With normal rows held out of training: on average at most this share of new normal rows is
        above `threshold_`. Without: this share of training rows is above it, as in PyOD. A PyThresh
        object finds the threshold from the training scores.
    holdout : float in (0, 1), default=None
        Share of the normal rows passed to `fit`, chosen at random, that detector and calibrator are
        not trained on. `threshold_`, `p_value`, `percentile`, `select`, `predict` and `monitor`
        compare new rows with them. None: no rows, or pass such rows to `conformalize` later.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of detector and calibrator that is None.

    Attributes
    ----------
    calibrator_ : the fitted calibrator
    adapter_ : DetectorAdapter
        The fitted detector, the method that gives its scores, and their sign.
    input_ : InputConverter
        Turns arrays and tables into numeric rows.
    decision_scores_ : ndarray of shape (n,)
        Calibrated scores of the training rows: the normal rows that are not held out.
    threshold_ : float
        The score above which a row is an anomaly.
    labels_ : ndarray of shape (n,)
        1 for training rows whose `decision_scores_` are above `threshold_`, else 0.
    n_ignored_anomalies_ : int
        The number of rows that `y` labelled as anomalies, so that they were not trained on.
    calibration_scores_ : ScoreParts or None
        Scores of the normal rows held out of training.
    training_sample_ : ndarray of shape (m, features)
        Up to 2,000 numeric training rows, chosen at random, that new rows are compared with.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns

    Notes
    -----
    Scores do not depend on the batch. `fit` warns if the wrapped detector breaks this rule, as
    PyOD's ECOD does. The page of `ctad.wrapper` says how detectors are called and which of them
    get tables.

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
        calibrator: Calibrator | None = None,
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
        """The fitted detector."""
        return self.adapter_.detector

    @property
    def encoder_(self) -> TableEncoder | None:
        """The fitted encoder, or None if trained on an array.

        `encoder_.features_` says which column each feature comes from.
        """
        return self.input_.encoder

    @property
    def batch_dependent_(self) -> bool:
        """Whether the detector scores a row differently in a different batch."""
        return self.adapter_.batch_dependent

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also nested ones such as `calibrator__weight`.

        Parameters
        ----------
        **params
            If the calibrator or encoder is None, a nested parameter such as `calibrator__weight`
            replaces None by the default calibrator or encoder first.

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

    def check_parameters(self) -> None:
        """Raise if a parameter has a value that `fit` would not accept."""
        check_choice("polarity", self.polarity, POLARITIES)
        self._check_contamination()
        if self.holdout is not None:
            check_share("holdout", self.holdout)
        if self.calibrator is not None:
            check_calibrator(self.calibrator)
        if not isinstance(self.encoder, TableEncoder | None):
            raise TypeError(
                "encoder must be None or a TableEncoder, such as TableEncoder(), not "
                f"{self.encoder!r}"
            )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the detector, unless it is already fitted, and the calibrator, to normal rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            Normal rows, or normal rows and anomalies with labels `y`.
        y : array-like of shape (n,), optional
            1 for anomalies, 0 for normal rows. Anomalies are not trained on:
            `n_ignored_anomalies_` counts them, `decision_scores_` and `labels_` are without them.
            Other targets than 0 and 1 are ignored, as by scikit-learn's detectors, with a warning.

        Returns
        -------
        self
        """
        self._fit(X, y)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> Integers:
        """Fit, and return 1 for anomalies, 0 for normal rows, for each row of X.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n,)
            `labels_` for the training rows; `predict` for rows that were held out of training or
            labelled as anomalies.
        """
        trained = self._fit(X, y)
        if trained is None:
            return self.labels_
        labels = self.predict(X)
        labels[trained] = self.labels_
        return labels

    def numeric_rows(self, X: Any) -> Rows:
        """The rows as numbers, as the calibrator gets them.

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
        """The wrapped detector's score of each row, with its sign changed if higher is more normal.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._base_score(*self._converted(X))

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
            ndarray of shape (n,). `p_value` is None without normal rows held out of training.
        """
        return self._score_parts(*self._converted(X))

    def decision_function(self, X: Any) -> Floats:
        """The same as `anomaly_score`, under PyOD's name."""
        return self.anomaly_score(X)

    def monitor(self, X: Any, *, alpha: float = 0.01) -> DriftResult:
        """Compare a batch of new rows with training; warn if there is drift.

        Scores are compared with those of the normal rows held out of training, if there are any,
        and each column with training rows. These are Kolmogorov-Smirnov tests, adjusted for the
        number of columns by Benjamini and Hochberg. Many anomalies in the batch are drift, too.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        alpha : float in (0, 1), default=0.01
            The false-alarm rate: the probability, at most, of drift in rows like those of training.

        Returns
        -------
        DriftResult
            `still_fits`, `text` (the result in words), `p_value` (of the scores), `drifts` (of
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
        result = drift_from_training(
            np.asarray(rows, dtype=np.float64),
            self.training_sample_,
            self.input_.feature_sources,
            self._score_parts(X, rows).score,
            self._normal_scores,
            alpha,
        )
        if not result.still_fits:
            warn_user(result.text)
        return result

    def explain(self, X: Any) -> Explanation:
        """Explain the score of each row, by parts that sum to it.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        Explanation
            Print it, or use `text(i)`, `reasons(i)` and `to_frame()`.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.ensemble import IsolationForest
        >>> from ctad import CalibratedDetector
        >>> X = np.random.default_rng(0).normal(size=(1000, 3))
        >>> detector = CalibratedDetector(IsolationForest(), random_state=0).fit(X)
        >>> explanation = detector.explain([[0.0, 9.0, 0.0]])
        >>> reason = explanation.reasons(0)[0]
        >>> reason.column, reason.value, reason.usual
        ('column 1', '9', '-1.52 to 1.66')
        """
        X, rows = self._converted(X)
        return explain_rows(
            X,
            rows,
            self._base_score(X, rows),
            calibrator=self.calibrator_,
            converter=self.input_,
            training_sample=self.training_sample_,
            detector_name=self.adapter_.name,
            normal_scores=self._normal_scores,
        )

    def report(self, X: Any, y: Any = None, *, fdr: float = 0.05, alpha: float = 0.01) -> Page:
        """A report about new rows: which to act on and why, and whether the model still fits.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            New rows. If a pandas table has an integer index, rows are numbered by it.
        y : array-like of shape (n,), optional
            Labels, 1 = anomaly: then the report also evaluates the model.
        fdr : float in (0, 1), default=0.05
            As for `select`.
        alpha : float in (0, 1), default=0.01
            As for `monitor`.

        Returns
        -------
        Page
            `save("report.html")` writes one self-contained file. A notebook shows the page.
        """
        from ..report import render_page
        from ._report_content import report_content

        return render_page(report_content(self, X, y, fdr=fdr, alpha=alpha))

    def column_types(self) -> pa.Schema:
        """The columns that a table must have, with their types.

        Returns
        -------
        pyarrow.Schema
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            raise InputError(
                "the model was trained on an array and has no column names: train it on a table"
            )
        return self.encoder_.arrow_schema()

    def _fit(self, X: Any, y: Any) -> Integers | None:
        """Fit; return the places of the training rows in X, or None if all rows are."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # nothing of an earlier fit remains if an error occurs below
        self.check_parameters()
        scoring = scoring_method(self.detector, self.polarity)
        random = random_generator(self.random_state)
        seeds = None if self.random_state is None else random
        X, held_out, trained = self._split(X, y, random)
        self.input_, rows = InputConverter.fitted(
            X,
            estimator=self,
            detector=self.detector,
            encoder=self.encoder,
            is_trained=is_fitted(self.detector),
        )
        self.training_sample_ = training_sample(rows)
        base = self._fit_detector(X, rows, scoring, seeds)
        calibrator = RelaxedCTAD() if self.calibrator is None else self.calibrator
        self.calibrator_ = seeded_clone(calibrator, seeds)
        self.calibrator_.fit(rows, scores=base)
        delta = training_delta_of(self.calibrator_, rows)
        self.calibration_scores_ = None
        if held_out is not None:
            held_out_rows = self.input_.numeric_rows(held_out, self)
            self.calibration_scores_ = self._score_parts(held_out, held_out_rows)
        self._decide(combine_with(self.calibrator_, base, delta))
        self._set_threshold_by_calibration_scores()
        return trained

    def _split(
        self, X: Any, y: Any, random: np.random.RandomState
    ) -> tuple[Any, Any, Integers | None]:
        """Rows to train on, rows held out or None, and the places of the former or None for all.

        Rows are checked before some are left out, so that errors name them by their place in X.
        """
        self.n_ignored_anomalies_ = 0
        if y is None and self.holdout is None:
            return X, None, None
        if is_table(X):
            (self.encoder or TableEncoder()).check(X)
        else:
            X = check_training_rows(self, X)
        n = _num_samples(X)
        anomalous = None if y is None else training_labels(y, n)
        split = split_rows(n, anomalous, self.holdout, random)
        if len(split.trained) == n:
            return X, None, None
        self.n_ignored_anomalies_ = split.n_anomalies
        held_out = None if self.holdout is None else take_rows(X, split.held_out)
        return take_rows(X, split.trained), held_out, split.trained

    def _fit_detector(
        self, X: Any, rows: Floats, scoring: ScoringMethod, seeds: np.random.RandomState | None
    ) -> Floats:
        """Fit the detector, unless it is fitted; return its scores of the training rows."""
        detector, detector_rows = self.detector, self.input_.detector_rows(X, rows)
        fitted_before = is_fitted(detector)
        if not fitted_before:
            detector = seeded_clone(detector, seeds)
            fit_detector(detector, detector_rows)
        self.adapter_ = DetectorAdapter.fitted(detector, detector_rows, scoring)
        if self.batch_dependent_:
            warn_user(
                f"{self.adapter_.name} scores a row differently in a different batch, so its "
                "calibrated scores also depend on the other rows of a call."
            )
        if fitted_before and hasattr(detector, "fit") and self.holdout is not None:
            warn_user(
                f"{self.adapter_.name} was fitted before: p-values hold only if the rows held out "
                "now were not among its training rows."
            )
        # A detector that was fitted before may have kept the scores of other rows.
        use_kept = not fitted_before or was_trained_on(detector, rows)
        kept = self.adapter_.kept_training_scores() if use_kept else None
        return self.adapter_.score(detector_rows) if kept is None else kept

    def _converted(self, X: Any) -> tuple[Any, Rows]:
        """New rows, and the same rows numeric."""
        check_is_fitted(self)
        X = self.input_.as_table(X, self)
        return X, self.input_.numeric_rows(X, self)

    def _base_score(self, X: Any, rows: Rows) -> Floats:
        return self.adapter_.score(self.input_.detector_rows(X, rows))

    def _score_parts(self, X: Any, rows: Rows) -> ScoreParts:
        base = self._base_score(X, rows)
        delta = delta_of(self.calibrator_, rows)
        score = combine_with(self.calibrator_, base, delta)
        normal = self._normal_scores
        p_value = None if normal is None else ConformalDecisions(normal).p_values(score)
        return ScoreParts(base, delta, score, p_value)
