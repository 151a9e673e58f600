"""Model files, as commands that score tables need them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from ._console import CommandOutput

if TYPE_CHECKING:
    from ..wrapper import CalibratedDetector


def load_detector(path: Path, *, label: str | None = None) -> CalibratedDetector:
    """Load a detector that can score tables, and that was not trained on the label column."""
    from ..persistence import load
    from ..wrapper import CalibratedDetector

    model = load(path)
    if not isinstance(model, CalibratedDetector):
        raise InputError(
            f"{path} contains a {type(model).__name__} without a detector, so it cannot score "
            "rows. Use `ctad calibrate` for scores of another program."
        )
    if label in model.column_types().names:
        raise InputError(
            f"{path} was trained on the label column {label!r} as a feature. Train it again with "
            f"--label {label}."
        )
    return model


def note_batch_dependence(model: CalibratedDetector, out: CommandOutput) -> None:
    """Print a note if the scores of a row depend on the other rows of its batch."""
    if model.batch_dependent_:
        out.note(
            f"{type(model.detector_).__name__} scores a row differently in a different batch: "
            "scores depend on --batch-rows."
        )
