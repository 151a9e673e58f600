"""Ways to add score and term. None uses another test row."""

from functools import partial

import numpy as np
from scipy.stats import spearmanr

from ctad.evaluation import Values, add_by_training

# By median and quartiles of the training rows, as `RelaxedCTAD` does.
add_robustly = partial(add_by_training, scaling="robust")


def add_tails(scores, terms, weight):
    """Minus the logarithm of the tail probability; the last tenth is taken as exponential."""
    return _tail(scores) + weight * _tail(terms)


def _tail(values):
    known = np.sort(values.train[np.isfinite(values.train)])
    if len(known) == 0:
        return np.zeros(len(values.test))
    start = np.quantile(known, 0.9)
    excess = (known[known > start] - start).mean() if (known > start).any() else 1.0
    above = 1.0 - np.searchsorted(known, values.test, side="left") / (len(known) + 1)
    inside = -np.log(np.maximum(above, 0.1))
    return np.where(values.test > start, -np.log(0.1) + (values.test - start) / excess, inside)


def add_ranks(scores, terms, weight):
    """The share of training rows with a lower value."""
    ranks = [
        np.searchsorted(np.sort(values.train), values.test) / len(values.train)
        for values in (scores, terms)
    ]
    return ranks[0] + weight * ranks[1]


def add_maximum(scores, terms, weight):
    """The larger of the two, on a common scale."""
    zeros = Values(np.zeros_like(terms.train), np.zeros_like(terms.test))
    return np.maximum(add_robustly(scores, zeros, 0.0), add_robustly(zeros, terms, weight))


def add_by_agreement(scores, terms, weight):
    """Up to three times the weight, the less score and term agree on training rows."""
    agreement = spearmanr(scores.train, terms.train).statistic
    return add_robustly(scores, terms, weight * (2.0 - np.nan_to_num(agreement)))


def add_squared(scores, terms, weight):
    """The term squared: small differences count less, large ones more."""
    return add_robustly(scores, Values(terms.train**2, terms.test**2), weight)


def term_alone(scores, terms, weight):
    """Without the detector."""
    return weight * terms.test
