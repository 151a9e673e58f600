"""UADB, the unsupervised anomaly detection booster of Ye, Liu et al. (ICDE 2023).

Networks learn to imitate the detector. Rows on which the answers differ from round to round are
taken for anomalous: y_0 is the detector's score, scaled to [0, 1]. Round t trains three networks f
on y_(t-1), each without a third of the rows. Then y_t is the mean over the networks of

    f(x) + standard deviation of (y_0(x), ..., y_(t-1)(x), f(x)),

scaled to [0, 1]. The last y_t is the new score. As in the paper, all rows that are scored are also
trained on. Networks and training are those of the authors' code, but for details: a batch is a
random sample, and rows are shuffled before they are divided into thirds.
"""

from itertools import pairwise

import numpy as np
import torch
from sklearn.model_selection import KFold
from sklearn.preprocessing import minmax_scale
from torch import Tensor
from torch.nn import functional

ROUNDS = 10
FOLDS = 3
EPOCHS = 10  # the one with the least loss on this third counts
BATCH = 256
STEPS = 10_000 // BATCH  # per epoch
WIDTH = 128


def boost(rows, scores, seed=0):
    """The boosted scores of all rows, given the detector's scores of them."""
    if not np.isfinite(scores).all() or scores.min() == scores.max():
        return scores  # there is nothing to imitate
    random = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(rows), generator=random)
    inputs = torch.from_numpy(minmax_scale(rows)).float()[order]
    labels = torch.from_numpy(minmax_scale(scores)).float()[order, None]
    for _ in range(ROUNDS):
        outputs = _outputs(_trained(inputs, labels[:, -1], random), inputs)
        each = [
            one + torch.cat([labels, one[:, None]], dim=1).std(dim=1) for one in outputs.unbind()
        ]
        boosted = minmax_scale(torch.stack(each).mean(dim=0).numpy())
        labels = torch.cat([labels, torch.from_numpy(boosted)[:, None]], dim=1)
    result = np.empty(len(rows))
    result[order.numpy()] = labels[:, -1]
    return result


def _trained(rows: Tensor, labels: Tensor, random: torch.Generator) -> list[Tensor]:
    """Weights and biases of each layer; the first axis is that of the networks."""
    networks = _initial((rows.shape[1], WIDTH, WIDTH, WIDTH, 1), random)
    optimizer = torch.optim.Adam(networks, lr=1e-3, fused=True)
    folds = [tuple(map(torch.from_numpy, one)) for one in KFold(FOLDS).split(rows)]
    size = min(BATCH, *(len(used) for used, _ in folds))
    best = [one.detach().clone() for one in networks]
    least = torch.full((FOLDS,), torch.inf)
    for _ in range(EPOCHS):
        for _ in range(STEPS):
            batch = torch.stack([_sample(used, size, random) for used, _ in folds])
            losses = (_values(networks, rows[batch]) - labels[batch]).square().mean(dim=1)
            optimizer.zero_grad()
            losses.sum().backward()
            optimizer.step()
        errors = (_outputs(networks, rows) - labels).square()
        held_out = zip(errors, folds, strict=True)
        loss = torch.stack([one[validation].mean() for one, (_, validation) in held_out])
        better = loss < least
        least = torch.where(better, loss, least)
        for kept, one in zip(best, networks, strict=True):
            kept[better] = one.detach()[better]
    return best


def _sample(indices: Tensor, size: int, random: torch.Generator) -> Tensor:
    return indices[torch.randperm(len(indices), generator=random)[:size]]


@torch.no_grad()
def _outputs(networks: list[Tensor], rows: Tensor) -> Tensor:
    """What each network says of each row."""
    return _values(networks, rows.expand(FOLDS, *rows.shape))


def _values(networks: list[Tensor], rows: Tensor) -> Tensor:
    """The same for rows of shape (networks, n, D), each network for its own."""
    first, second, third, last = zip(networks[::2], networks[1::2], strict=True)
    hidden = functional.gelu(_layer(rows, *first))
    hidden = functional.gelu(_layer(hidden, *second))
    return _layer(_layer(hidden, *third), *last)[..., 0]  # without an activation between them


def _layer(rows: Tensor, weights: Tensor, biases: Tensor) -> Tensor:
    return torch.baddbmm(biases, rows, weights)


def _initial(widths: tuple[int, ...], random: torch.Generator) -> list[Tensor]:
    """As PyTorch initialises linear layers."""
    values = [
        (torch.rand(shape, generator=random) * 2 - 1) / n_in**0.5
        for n_in, n_out in pairwise(widths)
        for shape in ((FOLDS, n_in, n_out), (FOLDS, 1, n_out))
    ]
    return [one.requires_grad_() for one in values]
