"""Why a row scores as it does: parts that sum to the score, in the columns' own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._result_types import Reason
from .._types import Floats, Rows
from ..calibration import Moves, Neighbours
from ..tables import (
    Values,
    in_words,
    is_table,
    library_of,
    new_table,
    place_in_cycle,
    spread_of,
    usual_in_words,
)
from ._conformal import p_values
from ._input import InputConverter

REASONS = 5  # named in a text
MOVES = 4
# The name of a date's aspect, by the cycle that a feature is a position in.
ASPECTS = {None: "", "day": "time of day", "week": "day of the week", "year": "month"}


@dataclass(frozen=True, eq=False)
class ColumnView:
    """A column of the table, or an aspect of it that features describe, such as the time of day."""

    features: Sequence[int]  # the features of a numeric row that belong to it
    aspect: str  # "" for the column itself
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
        return f"{self.aspect} {in_words(self.kind, value, self.spread)}".strip()


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
    detector_name : str
    feature_parts : ndarray of shape (n, features)
        What each feature of a numeric row adds to the term; `column_parts` has their sums.
    column_views : sequence of sequence of ColumnView
        For each column, its values and usual values, to put in words.
    library : {"pandas", "polars", "pyarrow"} or None
        Of the table that was explained; None for an array.
    index : index of a pandas table, or None
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
    detector_name: str
    feature_parts: Floats
    column_views: Sequence[Sequence[ColumnView]]
    library: str | None
    index: Any

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
        name = row if self.index is None else self.index[row]
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
        table = new_table(data, self.library)
        if self.index is not None:
            table.index = self.index
        return table

    def moves_to_frame(self) -> Any:
        """A data frame with one line per row, draw and centroid that takes mass of the row.

        Returns
        -------
        data frame
            The columns "row", "draw", "centroid" (its place in the draw), "share" of the row's
            mass, "distance", and "usual", what the distance is divided by to be a cost.
        """
        return new_table(self.moves._asdict(), self.library)

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
            f"{self.base_part[row]:+.4g} from {self.detector_name}, which gives "
            f"{self.base_score[row]:.4g}",
            f"{self.delta_part[row]:+.4g} from the calibration term, which is "
            f"{self.delta[row]:.4g}" + (f"{own}the references" if of_references else ""),
        ]

    def _view(self, row: int, place: int) -> ColumnView:
        """The aspect of a column that sets a row apart most."""
        views = self.column_views[place]
        sums = [self.feature_parts[row, view.features].sum() for view in views]
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


def explain_rows(
    X: Any,
    rows: Rows,
    base_score: Floats,
    *,
    calibrator: Any,
    converter: InputConverter,
    training_sample: Floats,
    detector_name: str,
    normal_scores: Floats | None = None,
) -> Explanation:
    """Explain calibrated scores.

    Parameters
    ----------
    X : array-like or data frame of shape (n, D)
    rows : ndarray of shape (n, features)
        The same rows, numeric.
    base_score : ndarray of shape (n,)
        The detector's scores.
    calibrator : calibrator
        Fitted, with `delta_parts`, `contributions` and `reference_points`.
    converter : InputConverter
    training_sample : ndarray of shape (m, features)
        Numeric training rows: what is usual.
    detector_name : str
    normal_scores : ndarray or None
        Calibrated scores of rows held out of training, for p-values.

    Returns
    -------
    Explanation
    """
    missing = [
        name
        for name in ("delta_parts", "contributions", "reference_points")
        if not hasattr(calibrator, name)
    ]
    if missing:
        raise TypeError(
            f"{type(calibrator).__name__} has no {missing[0]}(), so explain() is not available"
        )
    parts = calibrator.delta_parts(rows)
    base_part, delta_part = calibrator.contributions(base_score, parts.delta)
    score = base_part + delta_part
    columns, sources = converter.columns_in_use, converter.feature_sources
    references, _ = calibrator.reference_points()
    return Explanation(
        base_score=base_score,
        delta=parts.delta,
        base_part=base_part,
        delta_part=delta_part,
        score=score,
        p_value=None if normal_scores is None else p_values(normal_scores, score),
        columns=tuple(columns),
        column_parts=_summed_by_column(parts.columns, sources, columns),
        references_part=parts.references,
        moves=parts.moves,
        neighbours=parts.neighbours,
        detector_name=detector_name,
        feature_parts=parts.columns,
        column_views=_column_views(
            converter.column_values(X, rows),
            converter.decoded(training_sample),
            converter.decoded(references),
            sources,
            converter.feature_cycles,
        ),
        library=library_of(X) if is_table(X) else None,
        index=getattr(X, "index", None) if is_table(X) else None,
    )


def _summed_by_column(parts: Floats, sources: Sequence[str], columns: Sequence[str]) -> Floats:
    """What each column of the table adds to the terms: the sum over its features."""
    summed = np.zeros((len(parts), len(columns)))
    for feature, source in enumerate(sources):
        summed[:, columns.index(source)] += parts[:, feature]
    return summed


def _column_views(
    new: Sequence[Values],
    sample: Sequence[Values],
    references: Sequence[Values],
    sources: Sequence[str],
    cycles: Sequence[str | None],
) -> list[list[ColumnView]]:
    """The views of each column, from its values in new rows, in a sample of training rows and in
    the references; with the source of each feature and the cycle it is a position in, if any."""
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
                ColumnView(
                    features, ASPECTS[cycle], seen, now, usual_in_words(seen, then), spread, known
                )
            )
        result.append(views)
    return result
