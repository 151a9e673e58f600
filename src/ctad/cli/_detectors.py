"""ctad detectors"""

from __future__ import annotations

from ..detectors import KNOWN_DETECTORS
from . import _options as option
from ._talk import plain_table, talking


def detectors(json: option.Json = False) -> None:
    """List the detectors that `ctad fit --detector` knows."""
    with talking(json) as talk:
        table = plain_table("name", "family", "an anomaly is", "from")
        for known in KNOWN_DETECTORS.values():
            library = known.library
            if not known.installed:
                library += f": pip install 'ctad[{known.extra}]'"
            table.add_row(known.name, known.family, known.description, library)
        talk.result(
            {
                "detectors": [
                    {
                        "name": known.name,
                        "family": known.family,
                        "description": known.description,
                        "library": known.library,
                        "installed": known.installed,
                    }
                    for known in KNOWN_DETECTORS.values()
                ]
            },
            table,
        )
