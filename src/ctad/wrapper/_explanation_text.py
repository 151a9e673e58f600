"""An explanation of one row, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._number_text import format_p_value
from .._result_types import Reason

if TYPE_CHECKING:
    from ._column_views import ColumnView
    from ._explanation import Explanation

MAX_REASONS = 5
MAX_MOVES = 4
SMALLEST_SHARE = 0.005  # shown as 1 %


def row_text(explanation: Explanation, row: int) -> str:
    """All about a row: its score, its reasons, where its mass goes and what is near."""
    title = row if explanation.context.index is None else explanation.context.index[row]
    lines = [f"Row {title}: score {explanation.score[row]:.4g}{_p_value(explanation, row)}"]
    lines += _parts(explanation, row)
    shown = [r for r in reasons(explanation, row, MAX_REASONS) if r.share >= SMALLEST_SHARE]
    if shown:
        lines.append("What sets it apart from normal rows:")
        width = max(len(reason.column) for reason in shown)
        lines += [
            f"  {reason.share:4.0%}  {reason.column:<{width}}  {reason.value}"
            f"  (usual: {reason.usual})"
            for reason in shown
        ]
    return "\n  ".join([*lines, *_moves(explanation, row), *_nearest_reference(explanation, row)])


def transport_text(explanation: Explanation, row: int) -> str:
    """Where the mass of a row goes, and what is near."""
    return "\n".join([*_moves(explanation, row), *_nearest_reference(explanation, row)])


def reasons(explanation: Explanation, row: int, at_most: int | None) -> list[Reason]:
    """The columns that set a row apart, the most important first."""
    parts = explanation.column_parts[row]
    total = parts.sum() or 1.0
    found = []
    for place in np.argsort(-parts, kind="stable")[:at_most]:
        view = _most_unusual_view(explanation, row, place)
        share = float(parts[place] / total)
        found.append(Reason(explanation.columns[place], view.value(row), view.usual, share))
    return found


def _p_value(explanation: Explanation, row: int) -> str:
    if explanation.p_value is None:
        return ""
    p = explanation.p_value[row]
    text = format_p_value(p, decimals=4)
    return f"; at most {100 * p:.3g} % of normal rows score as high (p-value {text})"


def _parts(explanation: Explanation, row: int) -> list[str]:
    delta, references = explanation.delta[row], explanation.references_part[row]
    own = f": {delta - references:.4g} for the row itself, {references:.4g} for the references"
    return [
        f"{explanation.base_part[row]:+.4g} from {explanation.context.detector_name}, which gives "
        f"{explanation.base_score[row]:.4g}",
        f"{explanation.delta_part[row]:+.4g} from the calibration term, which is {delta:.4g}"
        + (own if references else ""),
    ]


def _most_unusual_view(explanation: Explanation, row: int, place: int) -> ColumnView:
    """The aspect of a column that sets a row apart most."""
    views = explanation.context.column_views[place]
    parts = [explanation.context.feature_parts[row, view.features].sum() for view in views]
    return views[int(np.argmax(parts))]


def _moves(explanation: Explanation, row: int) -> list[str]:
    moves = explanation.moves
    own = np.flatnonzero(moves.row == row)
    lines = []
    for i in own[np.argsort(-moves.share[own], kind="stable")][:MAX_MOVES]:
        share, distance, usual = moves.share[i], moves.distance[i], moves.usual[i]
        mass = f"{share:.0%} of its mass goes" if share < 1 else "It goes"
        times = f", {distance / usual:.3g} times what is usual there" if usual != 1.0 else ""
        lines.append(
            f"{mass} to centroid {moves.centroid[i]} of draw {moves.draw[i]}: {distance:.4g} away"
            f"{times}"
        )
    return lines


def _nearest_reference(explanation: Explanation, row: int) -> list[str]:
    neighbours = explanation.neighbours
    if not neighbours.reference.shape[1]:
        return []
    nearest = neighbours.reference[row, 0]
    values = [
        f"{explanation.columns[place]} "
        f"{_most_unusual_view(explanation, row, place).reference(nearest)}"
        for place in np.argsort(-explanation.column_parts[row], kind="stable")[:MAX_REASONS]
    ]
    return [
        f"The nearest of the training references, {neighbours.distance[row, 0]:.4g} away, has "
        f"{', '.join(values)}."
    ]
