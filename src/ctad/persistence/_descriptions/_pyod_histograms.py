"""PyOD's detectors that look up values in histograms: HBOS and LODA.

All histograms of a detector are stored one after the other: the number of bins of each, the heights
of all bins, and the edges, one more than bins for each histogram.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._types import Floats as FloatArray
from .._description import Description, Values, set_attributes
from .._kinds import Choice, Floats, Integer, Integers, Number, OneOf, Seed, require
from ._common import POSITIVE, PYOD, PYOD_CONTAMINATION, SingleOrDouble, each_column

if TYPE_CHECKING:
    from .._reader import Scope

AUTO = Choice(("auto",))  # as many bins as fit the data, other numbers for each histogram


def _packed(heights: Iterable[FloatArray], edges: Iterable[FloatArray]) -> Values:
    heights, edges = list(heights), list(edges)
    return {
        "bin_counts": np.array([len(each) for each in heights], dtype=np.int64),
        "heights": np.concatenate(heights),
        "edges": np.concatenate(edges),
    }


def _unpacked(values: dict[str, Any]) -> tuple[list[FloatArray], list[FloatArray]]:
    counts = values["bin_counts"]
    heights = np.split(values.pop("heights"), np.cumsum(counts)[:-1])
    edges = np.split(values.pop("edges"), np.cumsum(counts + 1)[:-1])
    return heights, edges


def _check_histograms(values: Values, scope: Scope) -> None:
    counts, edges, n = values["bin_counts"], values["edges"], scope.lengths["bins"]
    require(
        (counts <= n).all() and counts.sum() == n and len(edges) == n + len(counts),
        "bin_counts: not the numbers of heights and edges",
    )
    require(values["n_bins"] in ("auto", *np.unique(counts)), "n_bins: not that of the histograms")
    require(values["n_bins"] == "auto" or len(np.unique(counts)) == 1, "n_bins: not the same")
    first = np.cumsum(counts + 1)[:-1]  # a histogram may start anywhere
    require(np.delete(edges[1:] >= edges[:-1], first - 1).all(), "edges: values that decrease")


def _take_apart_hbos(detector: Any) -> Values:
    if isinstance(detector.hist_, list):
        return _packed(detector.hist_, detector.bin_edges_)
    return _packed(detector.hist_.T, detector.bin_edges_.T)


def _put_together_hbos(detector: Any, values: dict[str, Any]) -> None:
    heights, edges = _unpacked(values)
    del values["bin_counts"]
    if detector.n_bins == "auto":
        detector.hist_, detector.bin_edges_ = heights, edges
    else:  # the loop in compiled code reads a column for each histogram, in C order
        detector.hist_ = np.ascontiguousarray(np.transpose(heights), np.float64)
        detector.bin_edges_ = np.ascontiguousarray(np.transpose(edges), np.float64)
    set_attributes(detector, values)


def _take_apart_loda(detector: Any) -> Values:
    weights = detector.weights[: detector.n_random_cuts]
    return {**_packed(detector.histograms_, detector.limits_), "cut_weights": weights}


def _put_together_loda(detector: Any, values: dict[str, Any]) -> None:
    heights, edges = _unpacked(values)
    counts = values.pop("bin_counts").tolist()
    if detector.n_bins == "auto":
        detector.histograms_, detector.limits_, detector.n_bins_ = heights, edges, counts
    else:
        detector.histograms_, detector.limits_ = np.array(heights), np.array(edges)
    detector.weights = values.pop("cut_weights")
    set_attributes(detector, values)


DESCRIPTIONS = (
    Description(
        type="pyod.models.hbos.HBOS",
        role="detector",
        parameters={
            "n_bins": OneOf((AUTO, Integer(3))),
            "alpha": Number(0, 1),
            "tol": Number(0, 1),
            "contamination": PYOD_CONTAMINATION,
        },
        fitted={
            **PYOD,
            "bin_counts": Integers("d", low=1),
            "heights": Floats("bins", low=0),
            "edges": SingleOrDouble("edges"),
        },
        rebuilt=("hist_", "bin_edges_"),
        take_apart=_take_apart_hbos,
        put_together=_put_together_hbos,
        check=_check_histograms,
        n_in="d",
        work=each_column,
    ),
    Description(
        type="pyod.models.loda.LODA",
        role="detector",
        parameters={
            "contamination": PYOD_CONTAMINATION,
            "n_bins": OneOf((AUTO, Integer(1))),
            # The class makes an array of this length at once.
            "n_random_cuts": Integer(1, 100_000, length="cuts"),
            "random_state": Seed(),
        },
        fitted={
            **PYOD,
            "projections_": Floats("cuts", "d"),
            "cut_weights": Floats("cuts"),
            "bin_counts": Integers("cuts", low=1),
            "heights": Floats("bins", low=POSITIVE),
            "edges": Floats("edges"),
        },
        rebuilt=("weights", "histograms_", "limits_", "n_bins_"),
        take_apart=_take_apart_loda,
        put_together=_put_together_loda,
        check=_check_histograms,
        n_in="d",
    ),
)
