"""What CTAD and RelaxedCTAD share: a term that is the mean of transports over several draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs

from .._types import Floats, Rows
from ..errors import InputError
from ._base_calibrator import BaseCalibrator, check_count
from ._delta_parts import DeltaParts, Moves
from ._draw import Draw

# Rows scored at a time: bounds the memory for intermediate results.
CHUNK_ROWS = 2**20


class TransportCalibrator(BaseCalibrator):
    """A term that is the mean, over draws, of the transport cost of a row.

    Subclasses have the parameters below, make the draws, and set `signal`: whether the term is the
    total cost or the row's own part.

    Attributes
    ----------
    draws_ : list of Draw
    signal_ : {"total", "own"}
        The `signal` at the time of `fit`.
    """

    n_centroids: int
    n_references: int
    n_draws: int
    signal: str
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    draws_: list[Draw]
    signal_: str
    centroids_: Floats
    references_: Floats
    n_centroids_: int
    n_references_: int

    def check_parameters(self) -> None:
        super().check_parameters()
        check_count("n_centroids", self.n_centroids)
        check_count("n_references", self.n_references)
        check_count("n_draws", self.n_draws)
        if not isinstance(self.n_jobs, Integral | None):
            raise TypeError(f"n_jobs must be an integer or None, not {self.n_jobs!r}")
        if self.n_jobs == 0:
            raise InputError("n_jobs must be a number of threads, -1 for all processors, or None")

    def set_draws(self, draws: Sequence[Draw], signal: str) -> None:
        """Set the fitted attributes that follow from the draws.

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

    def _mean_term(self, draws: Sequence[Draw], rows: Rows) -> Floats:
        """The mean over draws of the term of each row."""
        n_threads = effective_n_jobs(self.n_jobs)
        delta = np.zeros(len(rows))
        for start in range(0, len(rows), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for draw in draws:
                transported = draw.solve(rows[chunk], n_threads=n_threads)
                delta[chunk] += transported.total if self.signal_ == "total" else transported.own
        delta /= len(draws)
        return delta

    def reference_points(self) -> tuple[Floats, Floats]:
        """References (M, D) and centroids (K, D) of the first draw, in the units of the rows."""
        first = self.draws_[0]
        return first.inverse_transform(first.references), first.inverse_transform(first.centroids)

    def _mean_parts(self, draws: Sequence[Draw], rows: Rows, first_number: int = 0) -> DeltaParts:
        """The mean over draws of the term of each row, attributed to the columns.

        Moves number the draws from `first_number`.
        """
        n_threads = effective_n_jobs(self.n_jobs)
        delta, references, moves = np.zeros(len(rows)), np.zeros(len(rows)), []
        columns = np.zeros(rows.shape)
        for number, draw in enumerate(draws, first_number):
            transported, moved = draw.attribute(rows, columns, number, n_threads)
            moves.append(moved)
            if self.signal_ == "total":
                delta += transported.total
                references += transported.total - transported.own
            else:
                delta += transported.own
        for part in (delta, references, columns):
            part /= len(draws)
        all_moves = Moves(
            **{
                field.name: np.concatenate([getattr(moved, field.name) for moved in moves])
                for field in fields(Moves)
            }
        )
        return DeltaParts(delta, columns, references, all_moves, self.draws_[0].neighbours(rows))
