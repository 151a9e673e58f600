"""What all neural detectors have in common."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._fixed_batches import BLOCK_ROWS, in_blocks
from .._progress import progress_bar
from .._saving import SaveMixin
from .._thresholds import Decisions
from .._types import Floats, Rows
from .._validation import check_choice, check_new_rows, check_training_rows
from ..errors import InputError
from ._layers import Network
from ._seed import seeds_from
from ._training import LossNotFiniteError, train

DEVICES = ("auto", "cpu", "cuda")
SCALINGS = {"standard": StandardScaler, "minmax": MinMaxScaler, "none": None}


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralDetector(Decisions, SaveMixin, BaseEstimator):
    """A detector that trains a network; the base of all in this package.

    Parameters
    ----------
    epochs : int
        Passes over the training rows.
    max_steps : int, default=None
        End with the epoch in which so many steps are done, if there are epochs left then.
    batch_size : int
        Rows in a step of training.
    learning_rate, weight_decay, betas : float, float, pair of floats
        Of Adam.
    decay, decay_epochs : float, int
        The learning rate is multiplied by `decay` after every `decay_epochs` epochs.
    shuffle : bool
        Whether each epoch takes the rows in another order.
    scaling : {"standard", "minmax", "none"}
        Bring each column to mean 0 and variance 1, or to the range from 0 to 1, or take the
        numbers as they are. "standard" unless a method says otherwise.
    patience : int, default=None
        Stop after so many epochs in which the mean loss did not become smaller, and go back to
        the end of the epoch in which it was smallest. None: train all epochs and keep the last
        weights. Losses go up and down: a few epochs are too few where the learning rate is large.
    contamination : float in (0, 0.5], default=0.1
        Share of the training rows above `threshold_`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        "auto" is cuda where there is one.
    show_progress : bool, default=True
        While training, show a bar with the loss and the time left if on a terminal.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same bits on the same machine with the same number of threads.
        Global random numbers are neither used nor changed.

    Attributes
    ----------
    network_ : torch.nn.Module
    scaler_ : the fitted StandardScaler or MinMaxScaler, or None
    loss_curve_ : list of float
        Mean loss of each epoch.
    decision_scores_ : ndarray of shape (n,)
        Scores of the training rows.
    threshold_ : float
        The score above which a row is an anomaly.
    labels_ : ndarray of shape (n,)
        Labels of the training rows, 1 = anomaly.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, only if the training rows had named columns
    """

    epochs: int = 100
    max_steps: int | None = None
    batch_size: int = 512
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)
    decay: float = 1.0
    decay_epochs: int = 1
    shuffle: bool = True
    scaling: str = "standard"
    patience: int | None = None
    contamination: float = 0.1
    device: str = "auto"
    show_progress: bool = True
    random_state: int | np.random.RandomState | None = None

    network_: Network = field(init=False)
    scaler_: StandardScaler | MinMaxScaler | None = field(init=False)
    loss_curve_: list[float] = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on normal rows.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)
        y : ignored

        Returns
        -------
        self
        """
        self.__dict__.pop("labels_", None)  # not fitted until all is well
        self._check_parameters()
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError("device='cuda': PyTorch finds none here. Use 'auto' or 'cpu'.")
        # Sums along columns, too, are rounded by the order in memory, and frames have another.
        rows = np.ascontiguousarray(check_training_rows(self, X))
        self.scaler_ = self._fitted_scaler(rows)
        device = self._device()
        of_weights, of_training = seeds_from(self.random_state, 2)
        with torch.device("meta"):  # shapes only: values would be global random numbers
            network = self._network(rows.shape[1])
        network.to_empty(device="cpu")
        with torch.no_grad():
            network.draw(torch.Generator().manual_seed(of_weights))
        network.to(device)
        prepared = self._prepared(rows).to(device)
        with progress_bar(self.show_progress):
            try:
                self.loss_curve_ = train(
                    network,
                    prepared,
                    self,
                    torch.Generator(device).manual_seed(of_training),
                    name=type(self).__name__,
                    enough=lambda loss: self._enough(loss, rows.shape[1]),
                )
            except LossNotFiniteError as error:
                raise InputError(self._what_to_scale(rows, str(error))) from error
        network.eval()
        with torch.no_grad():
            network.finish(prepared)
            scored = network.score(prepared[:BLOCK_ROWS])  # in single precision, as it was trained
        if not (_is_finite(network) and scored.isfinite().any()):
            raise InputError(self._what_to_scale(rows, "what was learnt is not finite"))
        self.network_ = network
        self._decide(self._scores(rows))
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous.

        It does not depend on the other rows: they are scored in blocks of 256, so one row costs as
        much as so many. A row so far off that single precision cannot hold it,
        or its score, scores infinity.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._scores(check_new_rows(self, X))

    def _network(self, n_columns: int) -> Network:
        """The network of the method, without values."""
        raise NotImplementedError

    def _enough(self, loss: float, n_columns: int) -> bool:
        """Whether training may end at this loss."""
        return False

    def _scores(self, rows: Rows) -> Floats:
        device = self._device()
        # Computed in double precision and rounded to single, a score is the same at any place in
        # its block, too.
        network = copy.deepcopy(self.network_).double()

        def score(block: Rows) -> Tensor:
            return network.score(self._prepared(block).to(device).double()).float().cpu()

        with torch.inference_mode():
            scores = in_blocks(score, rows)
        scores[np.isnan(scores)] = np.inf
        return scores

    def _prepared(self, rows: Rows) -> Tensor:
        """Rows as the network gets them."""
        rows = rows.astype(np.float64, order="C")
        with np.errstate(over="ignore"):
            if self.scaler_ is not None:
                rows = self.scaler_.transform(rows)
            return torch.from_numpy(rows.astype(np.float32))

    def _device(self) -> torch.device:
        # What was trained on cuda can score without.
        there = self.device != "cpu" and torch.cuda.is_available()
        return torch.device("cuda" if there else "cpu")

    def _fitted_scaler(self, rows: Floats) -> StandardScaler | MinMaxScaler | None:
        kind = SCALINGS[self.scaling]
        if kind is None:
            return None
        with np.errstate(all="ignore"):
            scaler = kind().fit(rows)
        if not (np.isfinite(scaler.scale_) & (scaler.scale_ > 0)).all():
            raise InputError(f"X is too large to be scaled. {self._largest(rows)}: divide it.")
        return scaler

    def _largest(self, rows: Floats) -> str:
        column = int(np.abs(rows).max(axis=0).argmax())
        name = getattr(self, "feature_names_in_", range(rows.shape[1]))[column]
        where = f"column {name!r}" if isinstance(name, str) else f"column {name} (from 0)"
        return f"The largest number is {np.abs(rows[:, column]).max():g}, in {where}"

    def _what_to_scale(self, rows: Floats, what: str) -> str:
        advice = f"try a learning_rate below {self.learning_rate:g}"
        if self.scaling == "none":
            advice = f"use scaling={type(self).scaling!r}, or {advice}"
        return f"training of {type(self).__name__} failed: {what}. {self._largest(rows)}: {advice}."

    def _check_parameters(self) -> None:
        self._check_contamination()
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("device", self.device, DEVICES)
        for parameter in fields(self):
            if parameter.init:
                _check(parameter.name, parameter.type, getattr(self, parameter.name))
        if not (
            isinstance(self.betas, list | tuple)
            and len(self.betas) == 2
            and all(_is_a(int | float, beta) and 0 <= beta < 1 for beta in self.betas)
        ):
            raise InputError(f"betas must be two numbers in [0, 1), not {self.betas!r}")


def in_range(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Raise unless a number of a method is one that it works with."""
    if not low <= value <= high:
        end = "" if high == math.inf else f" and {high:g} at most"
        raise InputError(f"{name} must be {low:g} at least{end}, not {value!r}")


def _check(name: str, kind: Any, value: Any) -> None:
    """Numbers of a method are counts from 1 on or amounts from 0 on."""
    if (value is None and "None" in kind) or name == "random_state":
        return
    if kind.startswith("int") and not (_is_a(int | np.integer, value) and value >= 1):
        raise InputError(f"{name} must be a whole number from 1 on, not {value!r}")
    if kind.startswith("float") and not (
        _is_a(int | float | np.number, value) and value >= 0 and math.isfinite(value)
    ):
        raise InputError(f"{name} must be a number from 0 on, not {value!r}")
    if kind == "bool" and not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {value!r}")


def _is_finite(network: Network) -> bool:
    """The loss tells of the weights before the last step, and not of running means."""
    return all(bool(values.isfinite().all()) for values in network.state_dict().values())


def _is_a(kind: Any, value: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
