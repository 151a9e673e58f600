"""Why a row scores as it does: parts that sum to the score, in the columns' own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._findings import Reason
from .._input import Floats
from ..calibration import Moves, Neighbours
from ..tables import (
    Values,
    in_words,
    new_table,
    place_in_cycle,
    spread_of,
    usual_in_words,
)

REASONS = 5  # named in a text
MOVES = 4
# What to call the side of a date that a number is the place in.
SIDES = {None: "", "day": "time of day", "week": "day of the week", "year": "month"}


class View(NamedTuple):
    """A column of the table, or a side of it that numbers stand for, such as the time of day."""

    features: Sequence[int]  # the numbers of a row that are of this view
    side: str  # "" for the column itself
    kind: str
    new: Any  # values of new rows
    usual: str  # in training
    spread: float
    references: Any  # values of the rows that `CTAD.references_` are

    def value(self, row: int) -> str:
        """The value of a new row."""
        return self._named(self.new[row])

    def reference(self, number: int) -> str:
        """The value of a reference."""
        return self._named(self.references[number])

    def _named(self, value: Any) -> str:
        return f"{self.side} {in_words(self.kind, value, self.spread)}".strip()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why rows score as they do. Arrays have one entry per row.

    Printed, it explains the first rows in words; `text(i)` explains row i. `to_frame()` is a table
    with a line per row, `moves_to_frame()` one of where the mass of rows goes.

    Attributes
    ----------
    base_score, delta : ndarray of shape (n,)
        The detector's score and the calibration term, each on its own scale.
    base_part, delta_part : ndarray of shape (n,)
        What they add to the calibrated score: `base_part + delta_part` is `score`.
    score : ndarray of shape (n,)
    p_value : ndarray of shape (n,) or None
        None without normal rows held out of training.
    columns : tuple of str
        The columns of the table.
    column_parts : ndarray of shape (n, columns)
        What each column adds to the term: `column_parts.sum(axis=1) + references_part` is `delta`.
    references_part : ndarray of shape (n,)
        What the references pay; 0 with the signal "own".
    moves : Moves
        Which centroids the mass of each row goes to, with its shares and distances.
    neighbours : Neighbours
        The training references nearest to each row.
    """

    base_score: Floats
    delta: Floats
    base_part: Floats
    delta_part: Floats
    score: Floats
    p_value: Floats | None
    columns: tuple[str, ...]
    column_parts: Floats
    references_part: Floats
    moves: Moves
    neighbours: Neighbours
    _detector: str
    _feature_parts: Floats  # (n, numbers of a row) what `column_parts` sums up
    _views: Sequence[Sequence[View]]  # of each column
    _library: str | None  # of the table that was given
    _index: Any  # of a pandas table

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"Explanation of {len(self):,} rows"

    def __str__(self) -> str:
        shown = "\n\n".join(self.text(row) for row in range(min(len(self), 5)))
        more = f"\n\n... and {len(self) - 5:,} more rows" if len(self) > 5 else ""
        return shown + more

    def reasons(self, row: int, at_most: int | None = None) -> list[Reason]:
        """The columns that set a row apart, the most important first.

        Parameters
        ----------
        row : int
        at_most : int, optional
            How many; None: all.

        Returns
        -------
        list of Reason
            `column`, `value`, `usual` (in training) and `share` of what the row pays, which sum
            to 1.
        """
        row = range(len(self))[row]
        parts = self.column_parts[row]
        total = parts.sum() or 1.0
        reasons = []
        for place in np.argsort(-parts, kind="stable")[:at_most]:
            view = self._view(row, place)
            share = float(parts[place] / total)
            reasons.append(Reason(self.columns[place], view.value(row), view.usual, share))
        return reasons

    def text(self, row: int) -> str:
        """All of it in words.

        Parameters
        ----------
        row : int

        Returns
        -------
        str
            Several lines.
        """
        row = range(len(self))[row]
        name = row if self._index is None else self._index[row]
        lines = [f"Row {name}: score {self.score[row]:.4g}" + self._p_value_in_words(row)]
        reasons = [r for r in self.reasons(row, REASONS) if r.share >= 0.005]
        lines += self._parts_in_words(row)
        if reasons:
            lines.append("What sets it apart from normal rows:")
            width = max(len(reason.column) for reason in reasons)
            lines += [
                f"  {reason.share:4.0%}  {reason.column:<{width}}  {reason.value}"
                f"  (usual: {reason.usual})"
                for reason in reasons
            ]
        lines += self._moves_in_words(row) + self._neighbour_in_words(row)
        return "\n  ".join(lines)

    def where(self, row: int) -> str:
        """Where the row goes and what is near.

        Parameters
        ----------
        row : int

        Returns
        -------
        str
            Several lines.
        """
        row = range(len(self))[row]
        return "\n".join(self._moves_in_words(row) + self._neighbour_in_words(row))

    def to_frame(self) -> Any:
        """A data frame with one line per row, of the library of the table that was given, else of
        pandas, polars or Arrow, whichever is installed.

        Returns
        -------
        data frame
            With the index of the table that was given, if it has one. The columns "base_score",
            "delta", "base_part", "delta_part", "score" and "p_value"; "reason", the column that
            sets the row apart most; "part of ..." for each column of the table, and
            "references_part"; "nearest_reference" and its "reference_distance".
        """
        data: dict[str, Any] = {
            "base_score": self.base_score,
            "delta": self.delta,
            "base_part": self.base_part,
            "delta_part": self.delta_part,
            "score": self.score,
        }
        if self.p_value is not None:
            data["p_value"] = self.p_value
        data["reason"] = np.array(self.columns, dtype=object)[self.column_parts.argmax(axis=1)]
        for place, column in enumerate(self.columns):
            data[f"part of {column}"] = self.column_parts[:, place]
        data["references_part"] = self.references_part
        if self.neighbours.reference.shape[1]:
            data["nearest_reference"] = self.neighbours.reference[:, 0]
            data["reference_distance"] = self.neighbours.distance[:, 0]
        table = new_table(data, self._library)
        if self._index is not None:
            table.index = self._index
        return table

    def moves_to_frame(self) -> Any:
        """A data frame with one line per row, draw and centroid that takes mass of the row.

        Returns
        -------
        data frame
            The columns "row", "draw", "centroid" (its place in the draw), "share" of the row's
            mass, "distance", and "usual", what the distance is divided by to be a cost.
        """
        return new_table(self.moves._asdict(), self._library)

    def _p_value_in_words(self, row: int) -> str:
        if self.p_value is None:
            return ""
        p = self.p_value[row]
        return f"; at most {100 * p:.3g} % of normal rows score as high (p-value {p:.3g})"

    def _parts_in_words(self, row: int) -> list[str]:
        of_references = self.references_part[row]
        own = (
            f": {self.delta[row] - of_references:.4g} for the row itself, {of_references:.4g} for "
        )
        return [
            f"{self.base_part[row]:+.4g} from {self._detector}, which gives "
            f"{self.base_score[row]:.4g}",
            f"{self.delta_part[row]:+.4g} from the calibration term, which is "
            f"{self.delta[row]:.4g}" + (f"{own}the references" if of_references else ""),
        ]

    def _view(self, row: int, place: int) -> View:
        """The side of a column that sets a row apart most."""
        views = self._views[place]
        sums = [self._feature_parts[row, view.features].sum() for view in views]
        return views[int(np.argmax(sums))]

    def _moves_in_words(self, row: int) -> list[str]:
        own = np.flatnonzero(self.moves.row == row)
        heaviest = own[np.argsort(-self.moves.share[own], kind="stable")][:MOVES]
        lines = []
        for i in heaviest:
            _, draw, centroid, share, distance, usual = (part[i] for part in self.moves)
            times = f", {distance / usual:.3g} times what is usual there" if usual != 1.0 else ""
            part = f"{share:.0%} of its mass goes" if share < 1 else "It goes"
            lines.append(
                f"{part} to centroid {centroid} of draw {draw}: {distance:.4g} away{times}"
            )
        return lines

    def _neighbour_in_words(self, row: int) -> list[str]:
        if not self.neighbours.reference.shape[1]:
            return []
        nearest, distance = (part[row, 0] for part in self.neighbours)
        named = [
            f"{self.columns[place]} {self._view(row, place).reference(nearest)}"
            for place in np.argsort(-self.column_parts[row], kind="stable")[:REASONS]
        ]
        return [
            f"The nearest of the training references, {distance:.4g} away, has {', '.join(named)}."
        ]


def by_source(parts: Floats, sources: Sequence[str], columns: Sequence[str]) -> Floats:
    """What each column of the table adds to the terms: the sum of what its numbers add."""
    summed = np.zeros((len(parts), len(columns)))
    for feature, source in enumerate(sources):
        summed[:, columns.index(source)] += parts[:, feature]
    return summed


def views_of(
    new: Sequence[Values],
    sample: Sequence[Values],
    references: Sequence[Values],
    sources: Sequence[str],
    cycles: Sequence[str | None],
) -> list[list[View]]:
    """What there is to say of each column: new values, those of a sample of training rows, of the
    references; with the source of each number of a row and the cycle it is a place in, if any."""
    result = []
    for of_new, of_sample, of_references in zip(new, sample, references, strict=True):
        name, kind, _ = of_sample.column
        views = []
        for cycle in dict.fromkeys(c for s, c in zip(sources, cycles, strict=True) if s == name):
            features = [
                i
                for i, pair in enumerate(zip(sources, cycles, strict=True))
                if pair == (name, cycle)
            ]
            parts = [of_new.values, of_sample.values, of_references.values]
            seen = kind
            if cycle is not None:
                (seen, *_), *_ = placed = [place_in_cycle(cycle, values) for values in parts]
                parts = [values for _, values in placed]
            now, then, known = parts
            spread = spread_of(seen, then)
            views.append(
                View(features, SIDES[cycle], seen, now, usual_in_words(seen, then), spread, known)
            )
        result.append(views)
    return result
