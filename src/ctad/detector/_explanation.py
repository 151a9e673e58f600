"""Why a row scores as it does: parts that sum to the score, in the columns' own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._input import Floats
from ..calibration import DeltaParts, Moves, Neighbours
from ..report import Reason
from ..tables import Values, in_words, new_table, usual_in_words

REASONS = 5  # named in a text
MOVES = 4


class ColumnWords(NamedTuple):
    """A column of the table: new values, and what was usual in training."""

    new: Values
    usual: str
    references: Values  # of the rows that `CTAD.references_` are

    def value(self, row: int) -> str:
        """The value of a new row."""
        return in_words(self.new.column.kind, self.new.values[row])

    def reference(self, number: int) -> str:
        """The value of a reference."""
        return in_words(self.references.column.kind, self.references.values[number])


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
    _words: Sequence[ColumnWords]
    _library: str | None  # of the table that was given

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
        parts = self.column_parts[row]
        order = np.argsort(-parts, kind="stable")[:at_most]
        total = parts.sum() or 1.0
        return [
            Reason(
                self.columns[place],
                self._words[place].value(row),
                self._words[place].usual,
                float(parts[place] / total),
            )
            for place in order
        ]

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
        lines = [f"Row {row}: score {self.score[row]:.4g}" + self._p_value_in_words(row)]
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
        """What score and term are, where the row goes, and what is near: `text` without reasons.

        Parameters
        ----------
        row : int

        Returns
        -------
        str
            Several lines.
        """
        parts = self._parts_in_words(row), self._moves_in_words(row), self._neighbour_in_words(row)
        return "\n".join(line for lines in parts for line in lines)

    def to_frame(self) -> Any:
        """A data frame with one line per row, of the library of the table that was given, else of
        pandas, polars or Arrow, whichever is installed.

        Returns
        -------
        data frame
            The columns "base_score", "delta", "base_part", "delta_part", "score" and "p_value";
            "reason", the column that sets the row apart most; "part of ..." for each column of the
            table, and "references_part"; "nearest_reference" and its "reference_distance".
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
        return new_table(data, self._library)

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
        return f"; of normal rows {100 * p:.3g} % score as high (p-value {p:.3g})"

    def _parts_in_words(self, row: int) -> list[str]:
        return [
            f"{self.base_part[row]:+.4g} from {self._detector}, which gives "
            f"{self.base_score[row]:.4g}",
            f"{self.delta_part[row]:+.4g} from the calibration term, which is "
            f"{self.delta[row]:.4g}",
        ]

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
            f"{self.columns[place]} {self._words[place].reference(nearest)}"
            for place in np.argsort(-self.column_parts[row], kind="stable")[:REASONS]
        ]
        return [
            f"The nearest of the training references, {distance:.4g} away, has {', '.join(named)}."
        ]


def by_source(parts: DeltaParts, sources: Sequence[str], columns: Sequence[str]) -> Floats:
    """What each column of the table adds to the terms: the sum of what its numbers add."""
    places = [columns.index(source) for source in sources]
    summed = np.zeros((len(parts.delta), len(columns)))
    for feature, place in enumerate(places):
        summed[:, place] += parts.columns[:, feature]
    return summed


def words_of(new: Sequence[Values], sample: Sequence[Values], references: Sequence[Values]) -> Any:
    """What to say of each column: new values, those of a sample of training rows, references."""
    return [
        ColumnWords(of_new, usual_in_words(of_sample.column.kind, of_sample.values), of_references)
        for of_new, of_sample, of_references in zip(new, sample, references, strict=True)
    ]
