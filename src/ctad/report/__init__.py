"""A report on a model and a table, as one HTML page."""

from ._page import Page
from ._rendering import render_page
from ._report import Alert, Projection, Report

__all__ = ["Alert", "Page", "Projection", "Report", "render_page"]
