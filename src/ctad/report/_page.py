"""Page: a finished report, to show in a notebook or to save."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path

from .._atomic_files import replacing


@dataclass(frozen=True, repr=False)
class Page:
    """One self-contained HTML file.

    Attributes
    ----------
    html : str
    """

    html: str

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file for any browser.

        Parameters
        ----------
        path : path-like
            Replaced in one step, or left as it is if saving fails. Usually ends in .html.

        Returns
        -------
        Path
            The absolute path.
        """
        with replacing(Path(path)) as part:
            part.write_text(self.html, encoding="utf-8")
        return Path(path).resolve()

    def __repr__(self) -> str:
        return f"Page of {len(self.html) / 1e6:.1f} MB: save('report.html')"

    def _repr_html_(self) -> str:
        """In a notebook: a frame, which keeps the styles of the page and the notebook apart."""
        frame = 'style="width: 100%; height: 80vh; border: 0" title="Report"'
        return f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" {frame}></iframe>'
