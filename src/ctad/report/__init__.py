"""The page people open: what a model says of a table, as one HTML file."""

from ._data import Alert, Drift, Fit, Plane, Reason, Report, Scores
from ._html import Page
from ._page import page_of

__all__ = ["Alert", "Drift", "Fit", "Page", "Plane", "Reason", "Report", "Scores", "page_of"]
