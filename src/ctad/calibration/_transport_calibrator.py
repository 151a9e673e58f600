"""What CTAD and RelaxedCTAD share: a term that is the mean of transports over several draws."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state, check_scalar

from .._progress import report_progress
from .._types import Floats, Rows
from .._warnings import warn_user
from ._base import BaseCalibrator
from ._contributions import DeltaParts, Moves
from ._draw import Draw, DrawSettings, new_draw

# Rows scored at a time: bounds the memory for what is not returned.
CHUNK_ROWS = 2**20


class TransportCalibrator(BaseCalibrator):
    """A term that is the mean, over draws, of what the transport of a row costs.

    Subclasses say what each draw looks like (`_draw_settings`) and whether the term is the whole
    cost or the row's own part (`_signal`).

    Attributes
    ----------
    draws_ : list of Draw
    signal_ : {"total", "own"}
        What of the transport is the term.
    """

    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    draws_: list[Draw]
    signal_: str
    centroids_: Floats
    references_: Floats
    n_centroids_: int
    n_references_: int

    @abstractmethod
    def _draw_settings(self, n_rows: int) -> Sequence[DrawSettings]:
        """The settings of each draw from so many training rows."""

    @abstractmethod
    def _signal(self) -> str:
        """ "total" or "own"."""

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.n_jobs is not None:
            check_scalar(self.n_jobs, "n_jobs", Integral)
        effective_n_jobs(self.n_jobs)  # raises for 0

    def _fit(self, rows: Floats) -> Floats:
        settings = self._draw_settings(len(rows))
        random = check_random_state(self.random_state)
        draws = []
        extra = np.zeros(len(rows))
        for number, each in enumerate(settings):
            report_progress("Finding centroids", number, len(settings))
            draw, more = new_draw(rows, each, random)
            draws.append(draw)
            extra += more
        report_progress("Finding centroids", len(settings), len(settings))
        self.set_draws(draws, self._signal())
        return self._delta(rows) + extra / len(draws)

    def set_draws(self, draws: Sequence[Draw], signal: str) -> None:
        """Use these draws; the first must use all columns.

        Parameters
        ----------
        draws : sequence of Draw
        signal : {"total", "own"}
        """
        self.draws_ = list(draws)
        self.signal_ = signal
        self.centroids_ = draws[0].centroids
        self.references_ = draws[0].references
        self.n_centroids_, self.n_references_ = len(self.centroids_), len(self.references_)

    def _rounding(self, rows: Floats) -> float:
        return max(draw.rounding(rows) for draw in self.draws_)

    def _delta(self, rows: Rows) -> Floats:
        n_threads = effective_n_jobs(self.n_jobs)
        delta = np.zeros(len(rows))
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for draw in self.draws_:
                transported = draw.solve(rows[chunk], n_threads=n_threads)
                delta[chunk] += transported.total if self.signal_ == "total" else transported.own
        delta /= len(self.draws_)
        return delta

    def reference_points(self) -> tuple[Floats, Floats]:
        """References (M, D) and centroids (K, D) of the first draw, in the units of the rows."""
        first = self.draws_[0]
        return first.inverse_transform(first.references), first.inverse_transform(first.centroids)

    def _delta_parts(self, rows: Rows) -> DeltaParts:
        n_threads = effective_n_jobs(self.n_jobs)
        delta, references, moves = np.zeros(len(rows)), np.zeros(len(rows)), []
        columns = np.zeros(rows.shape)
        for number, draw in enumerate(self.draws_):
            transported, moved = draw.attribute(rows, columns, n_threads)
            moves.append(moved._replace(draw=moved.draw + number))
            if self.signal_ == "total":
                delta += transported.total
                references += transported.total - transported.own
            else:
                delta += transported.own
        for part in (delta, references, columns):
            part /= len(self.draws_)
        together = Moves(*map(np.concatenate, zip(*moves, strict=True)))
        return DeltaParts(delta, columns, references, together, self.draws_[0].neighbours(rows))


def reduced(n_rows: int, **counts: int) -> list[int]:
    """Numbers of centroids or references, at most one per training row, with one warning."""
    messages = [
        f"{name}={n_rows} instead of {count}" for name, count in counts.items() if count > n_rows
    ]
    if messages:
        warn_user(f"only {n_rows} training rows: using {' and '.join(messages)}.")
    return [min(count, n_rows) for count in counts.values()]
