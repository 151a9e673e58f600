"""The training loop of all neural detectors."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from .._progress import report_progress
from ._network import Network


class TrainingSettings(Protocol):
    """The parameters of `NeuralDetector` that training uses."""

    epochs: int
    max_steps: int | None
    batch_size: int
    learning_rate: float
    weight_decay: float
    betas: tuple[float, float]
    decay: float
    decay_epochs: int
    shuffle: bool
    patience: int | None


class LossNotFiniteError(ArithmeticError):
    """The loss of an epoch is infinite or NaN, so the weights are useless."""


def train(
    network: Network,
    rows: Tensor,
    settings: TrainingSettings,
    random: torch.Generator,
    *,
    name: str,
    may_stop: Callable[[float], bool],
) -> list[float]:
    """Train until all epochs are done, `may_stop(loss)` is true, or patience ends.

    Returns
    -------
    list of float
        The mean loss of each epoch.
    """
    optimiser = torch.optim.Adam(
        network.parameters(),
        lr=settings.learning_rate,
        betas=(float(settings.betas[0]), float(settings.betas[1])),
        weight_decay=settings.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, settings.decay_epochs, settings.decay)
    losses: list[float] = []
    best, best_epoch, best_weights = math.inf, 0, None
    network.train()
    epochs = _number_of_epochs(settings, len(rows))
    for epoch in range(1, epochs + 1):
        losses.append(_train_epoch(network, rows, settings, random, optimiser))
        schedule.step()
        if not math.isfinite(losses[-1]):
            raise LossNotFiniteError(f"the loss is {losses[-1]} in epoch {epoch}")
        report_progress(f"Training {name}, loss {losses[-1]:.4g}", epoch, epochs)
        if settings.patience is not None:
            if losses[-1] < best:
                best, best_epoch = losses[-1], epoch
                best_weights = copy.deepcopy(network.state_dict())
            elif epoch - best_epoch >= settings.patience:
                break
        if may_stop(losses[-1]):
            break
    if best_weights is not None:
        network.load_state_dict(best_weights)
    return losses


def _number_of_epochs(settings: TrainingSettings, n_rows: int) -> int:
    if settings.max_steps is None:
        return settings.epochs
    steps = math.ceil(n_rows / settings.batch_size)
    return min(settings.epochs, math.ceil(settings.max_steps / steps))


def _train_epoch(
    network: Network,
    rows: Tensor,
    settings: TrainingSettings,
    random: torch.Generator,
    optimiser: torch.optim.Optimizer,
) -> float:
    """Take one step per batch; return the mean loss over the rows."""
    if settings.shuffle:
        rows = rows[torch.randperm(len(rows), generator=random, device=rows.device)]
    total = torch.zeros((), device=rows.device)
    for batch in rows.split(settings.batch_size):
        optimiser.zero_grad()
        loss = network.loss(batch, random)
        loss.backward()
        optimiser.step()
        total += loss.detach() * len(batch)
    return float(total) / len(rows)
