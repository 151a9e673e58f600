"""A finished page: to look at in a notebook, to save and pass on."""

from __future__ import annotations

from html import escape
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from .._atomic_files import replacing


class Page(NamedTuple):
    """One HTML file that needs no other.

    Attributes
    ----------
    html : str
        All of it.
    """

    html: str

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file, which any browser opens.

        Parameters
        ----------
        path : path-like
            Replaced at once, or left as it is if something goes wrong. Usually ends in .html.

        Returns
        -------
        Path
            Where it is.
        """
        with replacing(Path(path)) as part:
            part.write_text(self.html, encoding="utf-8")
        return Path(path).resolve()

    def __repr__(self) -> str:
        return f"Page of {len(self.html) / 1e6:.1f} MB: save('report.html')"

    def _repr_html_(self) -> str:
        """In a notebook: a frame, so that the page's styles stay its own."""
        frame = 'style="width: 100%; height: 80vh; border: 0" title="Report"'
        return f'<iframe sandbox="allow-scripts" srcdoc="{escape(self.html)}" {frame}></iframe>'
