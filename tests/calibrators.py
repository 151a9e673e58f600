"""Calibrators for the tests."""

from ctad import CTAD


def plain_ctad(n_centroids=5, n_references=20, **changes):
    """One draw, plain distances, a plain sum: the paper's settings, with some changed."""
    return CTAD.from_preset("paper", n_centroids=n_centroids, n_references=n_references, **changes)
