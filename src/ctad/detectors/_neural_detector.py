"""The base class of all neural detectors: fit, scores, seeds, devices."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from .._fixed_batches import BATCH_ROWS, score_in_fixed_batches
from .._progress import progress_bar
from .._saving import SaveMixin
from .._thresholds import ThresholdMixin
from .._types import Floats, Rows
from .._validation import check_choice, check_new_rows, check_training_rows
from ..errors import InputError
from ._network import Network
from ._parameter_checks import check_betas, check_flag, check_integer, check_number
from ._seeds import draw_seeds
from ._training import LossNotFiniteError, train

# Operations of one call of a network: about a second, and 64 MB for its largest array.
WORK_AT_ONCE = 2**31
DEVICES = ("auto", "cpu", "cuda")
SCALINGS = {"standard": StandardScaler, "minmax": MinMaxScaler, "none": None}


@dataclass(kw_only=True, eq=False, repr=False)
class NeuralDetector(ThresholdMixin, SaveMixin, BaseEstimator):
    """Base class of the detectors that train a network.

    Parameters
    ----------
    epochs : int
        Passes over the training rows.
    max_steps : int, default=None
        Stop after the epoch in which this number of steps is reached. None: no limit.
    batch_size : int
        Rows per training step.
    learning_rate, weight_decay, betas : float, float, pair of floats
        Parameters of the Adam optimiser.
    decay, decay_epochs : float, int
        The learning rate is multiplied by `decay` after every `decay_epochs` epochs.
    shuffle : bool
        Whether to shuffle the rows before each epoch.
    scaling : {"standard", "minmax", "none"}
        Scale each column to mean 0 and variance 1, or to the range from 0 to 1, or not at all.
        "standard" unless the method says otherwise.
    patience : int, default=None
        Stop after this number of epochs without a smaller mean loss, and restore the weights of
        the epoch with the smallest. None: train all epochs and keep the last weights. The loss
        fluctuates: with a large learning rate, a patience of a few epochs is too small.
    contamination : float in (0, 0.5], default=0.1
        Share of the training rows above `threshold_`.
    device : {"auto", "cpu", "cuda"}, default="auto"
        "auto" uses cuda if it is available.
    show_progress : bool, default=True
        Show a progress bar with the loss and the remaining time while training on a terminal.
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
        Rows with a higher score are anomalies.
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
        self.__dict__.pop("labels_", None)  # not fitted until everything has succeeded
        self._check_parameters()
        if self.device == "cuda" and not torch.cuda.is_available():
            raise InputError("device='cuda': PyTorch finds no cuda device. Use 'auto' or 'cpu'.")
        # The rounding of column sums depends on the memory order, which differs for data frames.
        rows = np.ascontiguousarray(check_training_rows(self, X))
        self.scaler_ = self._fitted_scaler(rows)
        weight_seed, training_seed = draw_seeds(self.random_state, 2)
        network = self._initialised_network(weight_seed)
        prepared = self._prepared(rows).to(self.torch_device)
        self.loss_curve_ = self._train(network, prepared, rows, training_seed)
        network.eval()
        with torch.no_grad():
            network.after_training(prepared)
            # In single precision, as in training.
            scores = network.score(prepared[: _batch_rows(network)])
        if not (_is_finite(network) and scores.isfinite().any()):
            raise InputError(self._training_failure(rows, "the trained weights are not finite"))
        self.network_ = network
        self._decide(self._scores(rows))
        return self

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: higher = more anomalous.

        Scores do not depend on the batch: the network always gets 256 rows at a time (fewer if it
        needs much memory for a row), so one row takes as long as 256. The score is infinite if the
        row or its score overflows single precision.

        Parameters
        ----------
        X : array-like or data frame of shape (n, D)

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        return self._scores(check_new_rows(self, X))

    def empty_network(self) -> Network:
        """Build the network for `n_features_in_` columns; a model file has its weights.

        The parameters are checked, too: they may come from a file.
        """
        self._check_parameters()
        with torch.device("meta"):  # shapes only: values would use the global random numbers
            return self._build_network(self.n_features_in_)

    @property
    def torch_device(self) -> torch.device:
        """The device in use. A detector that was trained on cuda can score without it."""
        use_cuda = self.device != "cpu" and torch.cuda.is_available()
        return torch.device("cuda" if use_cuda else "cpu")

    @abstractmethod
    def _build_network(self, n_columns: int) -> Network:
        """Build the network of the method."""

    def _check_parameters(self) -> None:
        """Raise if a parameter is wrong; subclasses check theirs, too."""
        for name in ("epochs", "batch_size", "decay_epochs"):
            check_integer(name, getattr(self, name))
        for name in ("max_steps", "patience"):
            check_integer(name, getattr(self, name), optional=True)
        for name in ("learning_rate", "weight_decay", "decay"):
            check_number(name, getattr(self, name))
        for name in ("shuffle", "show_progress"):
            check_flag(name, getattr(self, name))
        check_betas(self.betas)
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("device", self.device, DEVICES)
        self._check_contamination()

    def _may_stop(self, loss: float) -> bool:
        """Whether training may stop at this loss."""
        return False

    def _initialised_network(self, seed: int) -> Network:
        network = self.empty_network()
        network.to_empty(device="cpu")
        with torch.no_grad():
            network.initialise(torch.Generator().manual_seed(seed))
        return network.to(self.torch_device)

    def _train(self, network: Network, prepared: Tensor, rows: Floats, seed: int) -> list[float]:
        random = torch.Generator(self.torch_device).manual_seed(seed)
        name = type(self).__name__
        with progress_bar(self.show_progress):
            try:
                return train(network, prepared, self, random, name=name, may_stop=self._may_stop)
            except LossNotFiniteError as error:
                raise InputError(self._training_failure(rows, str(error))) from error

    def _scores(self, rows: Rows) -> Floats:
        device = self.torch_device
        # In double precision, rounded to single, a score does not depend on the row's position in
        # the batch either.
        network = copy.deepcopy(self.network_).double()

        def score(batch: Rows) -> Tensor:
            return network.score(self._prepared(batch).to(device).double()).float().cpu()

        with torch.inference_mode():
            scores = score_in_fixed_batches(score, rows, _batch_rows(network))
        scores[np.isnan(scores)] = np.inf
        return scores

    def _prepared(self, rows: Rows) -> Tensor:
        """Rows as the network gets them: scaled, in single precision."""
        rows = rows.astype(np.float64, order="C")
        with np.errstate(over="ignore"):
            if self.scaler_ is not None:
                rows = self.scaler_.transform(rows)
            return torch.from_numpy(rows.astype(np.float32))

    def _fitted_scaler(self, rows: Floats) -> StandardScaler | MinMaxScaler | None:
        scaler_class = SCALINGS[self.scaling]
        if scaler_class is None:
            return None
        with np.errstate(all="ignore"):
            scaler = scaler_class().fit(rows)
        if not (np.isfinite(scaler.scale_) & (scaler.scale_ > 0)).all():
            raise InputError(
                f"X is too large to be scaled. {self._largest(rows)}: rescale this column."
            )
        return scaler

    def _largest(self, rows: Floats) -> str:
        column = int(np.abs(rows).max(axis=0).argmax())
        name = getattr(self, "feature_names_in_", range(rows.shape[1]))[column]
        where = f"column {name!r}" if isinstance(name, str) else f"column {name} (from 0)"
        return f"The largest number is {np.abs(rows[:, column]).max():g}, in {where}"

    def _training_failure(self, rows: Floats, reason: str) -> str:
        """The message: what went wrong, and what to try."""
        advice = f"try a learning_rate below {self.learning_rate:g}"
        if self.scaling == "none":
            advice = f"use scaling={type(self).scaling!r}, or {advice}"
        name = type(self).__name__
        return f"training of {name} failed: {reason}. {self._largest(rows)}: {advice}."


def _batch_rows(network: Network) -> int:
    """Rows that the network scores at a time."""
    return max(1, min(BATCH_ROWS, WORK_AT_ONCE // max(1, network.work_per_row)))


def _is_finite(network: Network) -> bool:
    """The loss does not show this: it is from before the last step, and without running means."""
    return all(bool(values.isfinite().all()) for values in network.state_dict().values())
