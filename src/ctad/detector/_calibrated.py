"""CalibratedDetector: any detector, with calibrated scores."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from .._findings import Fit
from .._input import Floats, Rows, new_rows, one_of, training_rows
from .._warning import warn_user
from ..calibration import CTAD, BaseCalibrator
from ..tables import (
    NUMBER,
    Column,
    TableEncoder,
    Values,
    arrow_schema,
    in_library,
    is_table,
    library_of,
    plain_numbers,
    rows_at,
)
from ._conformal import ConformalDecisions, Scored, check_share, p_values
from ._explanation import Explanation, by_source, views_of
from ._monitoring import NO_SAMPLE, fit_of
from ._scoring import (
    POLARITIES,
    Reading,
    columns_known_to,
    is_fitted,
    kept_training_scores,
    learnt_from,
    name_of,
    reading_of,
    reads_tables,
    scores_depend_on_other_rows,
    scores_in_blocks,
    scores_of,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from ..report import Page

# What the detector gets to see of a table: numbers from the encoder, or the plain numbers of the
# table. Anything else is the library in whose form it gets the table itself.
ENCODED = "encoded"
NUMBERS = "numbers"

# Training rows that are kept to compare others with; of very wide ones fewer.
SAMPLE_ROWS = 2000
SAMPLE_NUMBERS = 2**21


class CalibratedDetector(ConformalDecisions, BaseEstimator):
    """Wrap any anomaly detector and calibrate its scores.

    Parameters
    ----------
    detector : PyOD or scikit-learn detector, object with `fit` and `decision_function` or \
            `score_samples`, or function of X
        Cloned and fitted by `fit`. One that is already fitted, in a `FrozenEstimator`
        or bare, is used as it is and not retrained; so is a function. Only the
        `FrozenEstimator` also survives `clone` and with it cross-validation.
    calibrator : CTAD or another calibrator, default=None
        Cloned and fitted by `fit`. None: `CTAD.from_preset()`, the recommended settings.
    encoder : TableEncoder, default=None
        Cloned and fitted by `fit` if the rows are a pandas, polars or Arrow table. None:
        `TableEncoder()`. Arrays are not encoded.
    polarity : {"auto", "higher", "lower"}, default="auto"
        Whether higher or lower scores of the detector are more anomalous. "auto" knows
        PyOD and scikit-learn, also in pipelines; anything else must say.
    contamination : float in (0, 0.5], or a PyThresh object, default=0.1
        Share of the training rows above `threshold_`, or what finds the threshold, as in PyOD.
    holdout : float in (0, 1), default=None
        Share of the rows passed to `fit`, chosen at random, that detector and calibrator do not
        see. By their scores `p_value`, `percentile`, `select`, `predict(alarm_rate=)` and `monitor`
        judge new rows. None: `calibrate_threshold` brings such rows later.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of detector and calibrator that is None.

    Attributes
    ----------
    detector_ : the fitted detector
    calibrator_ : the fitted calibrator
    encoder_ : the fitted encoder, or None if trained on an array
        `encoder_.features_` says which column each number comes from.
    decision_scores_ : ndarray of shape (n,)
        Calibrated scores of the training rows. The detector's part is its own
        `decision_scores_` where it keeps them, as PyOD's do, of these rows; the term is the
        calibrator's `training_delta_`. `anomaly_score` takes training rows for new ones, which
        happen to lie very close to known ones.
    threshold_ : float
        The score above which a row is an anomaly.
    labels_ : ndarray of shape (n,)
        Labels of the training rows, 1 = anomaly.
    normal_ : Scored or None
        Scores of the normal rows held out of training.
    sample_ : ndarray of shape (m, D)
        Training rows as numbers, up to 2,000 at random, which new ones are compared with.
    rows_depend_ : bool
        Whether the detector scores a row differently among other rows.
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
    that was fitted before scores the rows passed to `fit` anew, unless it can be seen to have
    learnt from exactly these.

    Tables are encoded as numbers for calibrator and detector alike, by columns matched by name;
    see `TableEncoder`. These get the table itself, with the columns of the training table in
    their order: functions; pipelines that begin with a `ColumnTransformer` or another step that
    reads tables; detectors of other libraries than scikit-learn and PyOD; detectors trained
    before.

    In a grid search over `calibrator__weight`, pass a calibrator: None has no parameters.
    `GridSearchCV(scoring="roc_auc")` needs scikit-learn 1.9, for until then its scorers accept
    `decision_function` only from classifiers and from detectors that predict -1 and 1, and
    `cv=StratifiedKFold()`, as every fold needs anomalies.

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

    detector_: Any
    calibrator_: Any
    encoder_: TableEncoder | None
    sample_: Floats
    _reading: Reading
    rows_depend_: bool
    _sees: str

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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the detector, unless it is fitted already, and the calibrator.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            Normal rows.
        y : ignored

        Returns
        -------
        self
        """
        self.__dict__.pop("labels_", None)  # not fitted until all is well
        one_of("polarity", self.polarity, POLARITIES)
        self._check_contamination()
        calibrator = CTAD.from_preset() if self.calibrator is None else self.calibrator
        if not hasattr(calibrator, "calibrate") or isinstance(calibrator, type):
            raise TypeError(
                "calibrator must be None, a CTAD such as CTAD.from_preset('paper'), or another "
                f"calibrator, not {calibrator!r}"
            )
        if self.holdout is not None:
            check_share("holdout", self.holdout)
        self._reading = reading_of(self.detector, self.polarity)
        random = check_random_state(self.random_state)
        X, held_out = self._split(X, random)
        rows = self._learn_rows(X)
        self.sample_ = _sample(rows)

        trained_before = is_fitted(self.detector)
        self._sees = self._what_it_sees(X, trained_before)
        detector_rows = self._detector_rows(X, rows)
        if trained_before:
            self.detector_ = self.detector
        else:
            self.detector_ = self._seeded_clone(self.detector, random)
            self.detector_.fit(detector_rows)
        self.calibrator_ = self._seeded_clone(calibrator, random)

        # One that was trained before may have kept the scores of other rows than these.
        trust_kept = not trained_before or learnt_from(self.detector_, rows)
        base = self._training_scores(detector_rows, trust_kept)
        self.calibrator_.fit(rows, scores=base)
        self.normal_ = None
        if held_out is not None:
            if trained_before and hasattr(self.detector, "fit"):
                warn_user(
                    f"{name_of(self.detector_)} was trained before: p-values hold only if the rows "
                    "held out now were not among its training rows."
                )
            self.normal_ = self._scored(held_out, self._rows(held_out))
        self._decide(self._training_decisions(base, rows))
        return self

    def base_score(self, X: Any) -> Floats:
        """The wrapped detector's score of each row, turned so that higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._base_score(self._detector_rows(X, self._rows(X)))

    def anomaly_score(self, X: Any) -> Floats:
        """The calibrated score of each row: higher = more anomalous.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.scored(X).score

    def scored(self, X: Any) -> Scored:
        """All that makes up the score of each row.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        Scored
            `base_score`, `delta` (the calibration term, unscaled), `score` and `p_value`, each an
            ndarray of shape (n,); the last is None without normal rows held out of training.
        """
        check_is_fitted(self)
        return self._scored(X, self._rows(X))

    def decision_function(self, X: Any) -> Floats:
        """The same as `anomaly_score`, under PyOD's name."""
        return self.anomaly_score(X)

    def monitor(self, X: Any, *, error: float = 0.01) -> Fit:
        """Whether the model still fits: compare a batch of new rows with known ones.

        Scores are compared with those of the normal rows held out of training (if there are any),
        and each column with training rows, by Kolmogorov-Smirnov tests; columns are adjusted for
        their number by Benjamini and Hochberg. A model that does not fit is warned of. Mind that
        anomalies in the batch, if there are many, are such a change, too.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        error : float in (0, 1), default=0.01
            How often it is said of rows like those of training that the model does not fit.

        Returns
        -------
        Fit
            `still_fits`, `text` (the verdict in words), `p_value` (of the scores), `drifts` (of
            each column, the most changed first) and `error`.

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
        check_is_fitted(self)
        rows = self._rows(X)
        found = self._fit_of(rows, self._scored(X, rows).score, error)
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
        check_is_fitted(self)
        if not hasattr(self.calibrator_, "delta_parts"):
            raise TypeError(f"{type(self.calibrator_).__name__} does not tell its parts")
        rows = self._rows(X)
        base = self._base_score(self._detector_rows(X, rows))
        parts = self.calibrator_.delta_parts(rows)
        base_part, delta_part = self.calibrator_.parts(base, parts.delta)
        score = base_part + delta_part
        columns, sources = self._columns()
        new = self._in_own_units(rows) if self.encoder_ is None else self.encoder_.read(X)
        references, _ = self.calibrator_.described()
        return Explanation(
            base_score=base,
            delta=parts.delta,
            base_part=base_part,
            delta_part=delta_part,
            score=score,
            p_value=None if self.normal_ is None else p_values(self.normal_.score, score),
            columns=tuple(columns),
            column_parts=by_source(parts.columns, sources, columns),
            references_part=parts.references,
            moves=parts.moves,
            neighbours=parts.neighbours,
            _detector=name_of(self.detector_),
            _feature_parts=parts.columns,
            _views=views_of(
                new,
                self._in_own_units(self.sample_),
                self._in_own_units(references),
                sources,
                self._cycles(),
            ),
            _library=library_of(X) if is_table(X) else None,
            _index=getattr(X, "index", None) if is_table(X) else None,
        )

    def report(self, X: Any, y: Any = None, *, fdr: float = 0.05, error: float = 0.01) -> Page:
        """A page to open and pass on: which rows to act on and why, and if the model still fits.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
            New rows. If a pandas table has whole numbers as index, rows are called by these.
        y : array-like of shape (n,), optional
            Labels, 1 = anomaly: then the page also judges the model.
        fdr : float in (0, 1), default=0.05
            As for `select`.
        error : float in (0, 1), default=0.01
            As for `monitor`.

        Returns
        -------
        Page
            `save("report.html")` writes one self-contained file; a notebook shows it.
        """
        from ..report import Page, page_of
        from ._reporting import gather

        return Page(page_of(gather(self, X, y, fdr=fdr, error=error)))

    def column_types(self) -> pa.Schema:
        """The columns of a table that are needed, and how to read them from text.

        Returns
        -------
        pyarrow.Schema
        """
        check_is_fitted(self)
        if self.encoder_ is None:
            raise ValueError(
                "the model was trained on an array and does not know columns by their names: "
                "train it on a table"
            )
        return arrow_schema(self.encoder_)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted detector to one file that `ctad.load` reads, without pickle.

        Parameters
        ----------
        path : path-like
            Replaced at once, or left as it is if something goes wrong. Usually ends in .ctad.
        """
        from ._saving import save

        save(self, path)

    def _training_scores(self, detector_rows: Any, trust_kept: bool) -> Floats:
        self.rows_depend_ = scores_depend_on_other_rows(
            self.detector_, self._reading, detector_rows
        )
        if self.rows_depend_:
            warn_user(
                f"{name_of(self.detector_)} scores a row differently among other rows, so its "
                "calibrated scores also depend on the other rows of a call."
            )
        kept = kept_training_scores(self.detector_, self._reading) if trust_kept else None
        return self._base_score(detector_rows) if kept is None else kept

    def _training_decisions(self, base: Floats, rows: Floats) -> Floats:
        terms = getattr(self.calibrator_, "training_delta_", None)
        if terms is None:  # a calibrator of another make
            return np.asarray(self.calibrator_.calibrate(base, rows))
        return np.asarray(self.calibrator_.combine(base, terms))

    def _base_score(self, detector_rows: Any) -> Floats:
        score = scores_of if self.rows_depend_ else scores_in_blocks
        return score(self.detector_, self._reading, detector_rows)

    def _scored(self, X: Any, rows: Rows) -> Scored:
        """Scores of a table or array, also given as numbers."""
        base = self._base_score(self._detector_rows(X, rows))
        delta: Floats = self.calibrator_.delta(rows)
        score: Floats = self.calibrator_.combine(base, delta)
        normal = self.normal_
        return Scored(base, delta, score, None if normal is None else p_values(normal.score, score))

    def _fit_of(self, rows: Rows, scores: Floats, error: float) -> Fit:
        check_share("error", error)
        if not len(self.sample_):
            raise ValueError(NO_SAMPLE)
        normal = None if self.normal_ is None else self.normal_.score
        _, sources = self._columns()
        return fit_of(
            np.asarray(rows, dtype=np.float64), self.sample_, sources, scores, normal, error
        )

    def _columns(self) -> tuple[list[str], list[str]]:
        """The columns in use, and which of them each number of a row comes from."""
        if self.encoder_ is None:
            names = [f"column {place}" for place in range(self.n_features_in_)]
            names = list(getattr(self, "feature_names_in_", names))
            return names, names
        columns = [column.name for column in self.encoder_.columns_]
        return columns, [feature.source for feature in self.encoder_.features_]

    def _cycles(self) -> list[str | None]:
        """For each number of a row, the cycle of a date it is the place in, if any."""
        if self.encoder_ is None:
            return [None] * self.n_features_in_
        return [self.encoder_.cycle_of(feature) for feature in self.encoder_.features_]

    def _in_own_units(self, rows: Rows) -> list[Values]:
        """The columns of rows that are numbers already."""
        if self.encoder_ is not None:
            return self.encoder_.decode(np.asarray(rows, dtype=np.float64))
        names, _ = self._columns()
        columns = [Column(name, NUMBER, str(rows.dtype)) for name in names]
        return [Values(column, rows[:, i], False) for i, column in enumerate(columns)]

    def _split(self, X: Any, random: np.random.RandomState) -> tuple[Any, Any]:
        """The rows to learn from, and those held out or None; checked before, so that errors name
        rows by their place in the whole."""
        if self.holdout is None:
            return X, None
        if is_table(X):
            (self.encoder or TableEncoder()).check(X)
        else:
            X = training_rows(self, X)
        n = _num_samples(X)
        n_held_out = round(self.holdout * n)
        if n_held_out < 1 or n - n_held_out < 2:
            raise ValueError(
                f"holdout={self.holdout:g} of {n} rows leaves {n - n_held_out} to learn from and "
                f"{n_held_out} to hold out: at least 2 and 1 are needed"
            )
        kept, held_out = map(np.sort, np.split(random.permutation(n), [n - n_held_out]))
        return rows_at(X, kept), rows_at(X, held_out)

    def _learn_rows(self, X: Any) -> Floats:
        """The training rows as numbers; remembers how they became so."""
        if not is_table(X):
            self.encoder_ = None
            return training_rows(self, X)
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        rows: Floats = encoder.fit_transform(X)
        self.encoder_ = encoder
        self.n_features_in_ = encoder.n_features_in_
        self.feature_names_in_ = encoder.feature_names_in_
        return rows

    def _rows(self, X: Any) -> Rows:
        """New rows as numbers."""
        if self.encoder_ is None:
            return new_rows(self, X)
        rows: Floats = self.encoder_.transform(X)
        return rows

    def _what_it_sees(self, X: Any, trained_before: bool) -> str:
        if not is_table(X):
            return NUMBERS
        if reads_tables(self.detector, trained_before):
            return library_of(X)
        return NUMBERS if trained_before else ENCODED

    def _detector_rows(self, X: Any, rows: Rows) -> Any:
        """The rows in the form the detector was trained on."""
        if self.encoder_ is None or self._sees == ENCODED:
            return rows
        if self._sees == NUMBERS:
            return plain_numbers(
                X,
                list(self.feature_names_in_),
                needed_by="a detector that was trained before on an array",
            )
        known = columns_known_to(self.detector)
        return in_library(self._sees, X, known or list(self.feature_names_in_))

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


def _sample(rows: Floats) -> Floats:
    """Some of the rows, which new ones are compared with later."""
    n, n_columns = rows.shape
    wanted = max(1, min(SAMPLE_ROWS, SAMPLE_NUMBERS // n_columns))
    if n <= wanted:
        return rows.copy()
    places = np.random.default_rng(0).choice(n, wanted, replace=False)
    chosen: Floats = rows[np.sort(places)]
    return chosen
