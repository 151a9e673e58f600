"""Warnings that point at the user's line."""

import sys
import warnings

# Callers to skip. scikit-learn wraps `transform` of our transformers.
INTERNAL = ("ctad.", "sklearn.utils._set_output")


def warn_user(message: str) -> None:
    """Warn as if from the first caller outside of ctad."""
    level = 1
    frame = sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(INTERNAL):
        frame = frame.f_back
        level += 1
    warnings.warn(message, UserWarning, stacklevel=level)
