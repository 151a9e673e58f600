"""The one training loop of all neural detectors."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from .._progress import report_progress
from ._layers import Network


class Plan(Protocol):
    """The settings of a training; see `NeuralDetector` for what they mean."""

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
    """The loss of an epoch is infinite or NaN: the weights are worth nothing."""


def train(
    network: Network,
    rows: Tensor,
    plan: Plan,
    random: torch.Generator,
    *,
    name: str,
    enough: Callable[[float], bool],
) -> list[float]:
    """Train until the epochs are over, the loss is `enough`, or patience ends.

    Returns
    -------
    list of float
        The mean loss of each epoch.
    """
    optimiser = torch.optim.Adam(
        network.parameters(),
        lr=plan.learning_rate,
        betas=(float(plan.betas[0]), float(plan.betas[1])),
        weight_decay=plan.weight_decay,
        fused=True,
    )
    schedule = torch.optim.lr_scheduler.StepLR(optimiser, plan.decay_epochs, plan.decay)
    losses: list[float] = []
    best, best_epoch, best_weights = math.inf, 0, None
    network.train()
    epochs = _epochs(plan, len(rows))
    for epoch in range(1, epochs + 1):
        losses.append(_epoch(network, rows, plan, random, optimiser))
        schedule.step()
        if not math.isfinite(losses[-1]):
            raise LossNotFiniteError(f"the loss is {losses[-1]} in epoch {epoch}")
        report_progress(f"Training {name}, loss {losses[-1]:.4g}", epoch, epochs)
        if plan.patience is not None:
            if losses[-1] < best:
                best, best_epoch = losses[-1], epoch
                best_weights = copy.deepcopy(network.state_dict())
            elif epoch - best_epoch >= plan.patience:
                break
        if enough(losses[-1]):
            break
    if best_weights is not None:
        network.load_state_dict(best_weights)
    return losses


def _epochs(plan: Plan, n_rows: int) -> int:
    if plan.max_steps is None:
        return plan.epochs
    steps = math.ceil(n_rows / plan.batch_size)
    return min(plan.epochs, math.ceil(plan.max_steps / steps))


def _epoch(
    network: Network,
    rows: Tensor,
    plan: Plan,
    random: torch.Generator,
    optimiser: torch.optim.Optimizer,
) -> float:
    """One step per batch; the mean loss over the rows."""
    if plan.shuffle:
        rows = rows[torch.randperm(len(rows), generator=random, device=rows.device)]
    total = torch.zeros((), device=rows.device)
    for batch in rows.split(plan.batch_size):
        optimiser.zero_grad()
        loss = network.loss(batch, random)
        loss.backward()
        optimiser.step()
        total += loss.detach() * len(batch)
    return float(total) / len(rows)
