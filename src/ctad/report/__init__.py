"""The page people open: what a model says of a table, as one HTML file."""

from ._data import MOST_ALERTS, MOST_MOVED, MOST_POINTS, Alert, Plane, Report, Scores
from ._html import Page
from ._page import page_of

__all__ = [
    "MOST_ALERTS",
    "MOST_MOVED",
    "MOST_POINTS",
    "Alert",
    "Page",
    "Plane",
    "Report",
    "Scores",
    "page_of",
]
