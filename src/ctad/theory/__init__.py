"""What can be proved of the calibration term; the page "Theory" has the proofs."""

from ._bounds import Bounds, Constants, bounds, constants
from ._separation import Room, Separation, room, separation
from ._variance import variance

__all__ = [
    "Bounds",
    "Constants",
    "Room",
    "Separation",
    "bounds",
    "constants",
    "room",
    "separation",
    "variance",
]
