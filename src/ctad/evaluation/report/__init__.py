"""The report of a benchmark: tables, figures and one page, as HTML, Markdown and CSV."""

from ...errors import MissingPackageError

try:
    from ._benchmark_tables import comparison_table, dataset_table, failure_table, summary_table
    from ._build import Report, build_report
    from ._figures import FIGURE_STYLE, Picture, comparison_picture
    from ._measurements import Measurements, Reference
    from ._page import Chapter, write_page
    from ._table import Table
except ModuleNotFoundError as error:
    if (error.name or "").startswith("ctad"):
        raise
    raise MissingPackageError(
        f"the report of a benchmark needs {error.name}: pip install 'ctad[benchmark]' installs it"
    ) from error
from ..._number_text import format_p_value

__all__ = [
    "FIGURE_STYLE",
    "Chapter",
    "Measurements",
    "Picture",
    "Reference",
    "Report",
    "Table",
    "build_report",
    "comparison_picture",
    "comparison_table",
    "dataset_table",
    "failure_table",
    "format_p_value",
    "summary_table",
    "write_page",
]
