"""Why rows score as they do: parts that sum to the score, in the columns' own units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from .._frames import is_table, library_of, new_table
from .._result_types import Reason
from .._types import Floats, Rows
from ..calibration import Moves, Neighbours
from ._calibrator_protocol import ExplainableCalibrator, check_explainable
from ._column_views import ColumnView, column_views
from ._conformal_decisions import ConformalDecisions
from ._explanation_text import reasons, row_text, transport_text
from ._input import InputConverter

PRINTED_ROWS = 5


@dataclass(frozen=True, eq=False)
class ExplanationContext:
    """What an explanation needs to be put in words and in data frames.

    Attributes
    ----------
    detector_name : str
    feature_parts : ndarray of shape (n, features)
        What each feature of a numeric row adds to the term.
    views : function
        Makes `column_views`. With thousands of columns this takes longer than all the rest.
    library : {"pandas", "polars", "pyarrow"} or None
        The library of the table that was explained; None for an array.
    index : index of a pandas table, or None
    """

    detector_name: str
    feature_parts: Floats
    views: Callable[[], Sequence[Sequence[ColumnView]]]
    library: str | None
    index: Any

    @cached_property
    def column_views(self) -> Sequence[Sequence[ColumnView]]:
        """The views of each column."""
        return self.views()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why rows score as they do. Arrays have one entry per row.

    `print(explanation)` explains the first rows in words, `text(i)` explains row i. `to_frame()` is
    a table with a line per row, `moves_to_frame()` a table of where the mass of rows goes.

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
        What the references add to the term; 0 with the signal "own".
    moves : Moves
        Which centroids the mass of each row goes to, with its shares and distances.
    neighbours : Neighbours
        The training references nearest to each row.
    context : ExplanationContext
        What `text` and `to_frame` need.
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
    context: ExplanationContext

    def __len__(self) -> int:
        return len(self.score)

    def __repr__(self) -> str:
        return f"Explanation of {len(self):,} rows"

    def __str__(self) -> str:
        texts = [self.text(row) for row in range(min(len(self), PRINTED_ROWS))]
        n_more = len(self) - PRINTED_ROWS
        return "\n\n".join([*texts, f"... and {n_more:,} more rows"] if n_more > 0 else texts)

    def reasons(self, row: int, at_most: int | None = None) -> list[Reason]:
        """The columns that set a row apart, the most important first.

        Parameters
        ----------
        row : int
        at_most : int, optional
            The largest number of reasons. None: all columns.

        Returns
        -------
        list of Reason
            Each has `column`, `value`, `usual` (in training) and `share`, the column's share of
            what the row adds to the term. The shares of all columns sum to 1.
        """
        return reasons(self, self._place(row), at_most)

    def text(self, row: int) -> str:
        """Explain a row in words.

        Parameters
        ----------
        row : int

        Returns
        -------
        str
            Several lines.
        """
        return row_text(self, self._place(row))

    def transport_text(self, row: int) -> str:
        """Say in words where the mass of a row goes and which reference is nearest.

        Parameters
        ----------
        row : int

        Returns
        -------
        str
            Several lines; empty if the term is not a transport.
        """
        return transport_text(self, self._place(row))

    def to_frame(self) -> Any:
        """A data frame with one line per row.

        Returns
        -------
        data frame
            It has the library of the table that was explained, and its index if there is one. For
            an array, the library is pandas, polars or Arrow, whichever is installed. The columns
            are "base_score", "delta", "base_part", "delta_part", "score" and "p_value"; "reason",
            the column that sets the row apart most; "part of ..." for each column of the table;
            "references_part"; "nearest_reference" and "reference_distance".
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
        table = new_table(data, self.context.library)
        if self.context.index is not None:
            table.index = self.context.index
        return table

    def moves_to_frame(self) -> Any:
        """A data frame with one line per row, draw and centroid that takes mass of the row.

        Returns
        -------
        data frame
            The columns are "row", "draw", "centroid" (its index in the draw), "share" of the row's
            mass, "distance", and "usual", the distance that costs 1.
        """
        names = ("row", "draw", "centroid", "share", "distance", "usual")
        return new_table({name: getattr(self.moves, name) for name in names}, self.context.library)

    def _place(self, row: int) -> int:
        """The row counted from the start; raises IndexError if there is no such row."""
        try:
            return range(len(self))[row]
        except IndexError:
            message = f"row {row} is out of range: {len(self)} rows were explained"
            raise IndexError(message) from None


def explain_rows(
    X: Any,
    rows: Rows,
    base_score: Floats,
    *,
    calibrator: ExplainableCalibrator,
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
    calibrator : ExplainableCalibrator
        Fitted.
    converter : InputConverter
    training_sample : ndarray of shape (m, features)
        Numeric training rows, from which usual values are taken.
    detector_name : str
    normal_scores : ndarray or None
        Calibrated scores of normal rows held out of training, for p-values.

    Returns
    -------
    Explanation
    """
    check_explainable(calibrator)
    parts = calibrator.delta_parts(rows)
    base_part, delta_part = calibrator.contributions(base_score, parts.delta)
    score = base_part + delta_part
    p_value = None
    if normal_scores is not None:
        p_value = ConformalDecisions(normal_scores).p_values(score)
    return Explanation(
        base_score=base_score,
        delta=parts.delta,
        base_part=base_part,
        delta_part=delta_part,
        score=score,
        p_value=p_value,
        columns=tuple(converter.columns_in_use),
        column_parts=_summed_by_column(parts.columns, converter),
        references_part=parts.references,
        moves=parts.moves,
        neighbours=parts.neighbours,
        context=ExplanationContext(
            detector_name=detector_name,
            feature_parts=parts.columns,
            views=partial(_views, calibrator, converter, X, rows, training_sample),
            library=library_of(X) if is_table(X) else None,
            index=getattr(X, "index", None) if is_table(X) else None,
        ),
    )


def _views(
    calibrator: ExplainableCalibrator,
    converter: InputConverter,
    X: Any,
    rows: Rows,
    training_sample: Floats,
) -> list[list[ColumnView]]:
    references, _ = calibrator.reference_points()
    return column_views(converter, X, rows, training_sample, references)


def _summed_by_column(feature_parts: Floats, converter: InputConverter) -> Floats:
    """What each column of the table adds to the terms: the sum over its features."""
    places = {name: place for place, name in enumerate(converter.columns_in_use)}
    sources = [places[source] for source in converter.feature_sources]
    if sources == list(range(len(places))):
        return feature_parts
    summed = np.zeros((len(feature_parts), len(places)))
    for feature, place in enumerate(sources):
        summed[:, place] += feature_parts[:, feature]
    return summed
