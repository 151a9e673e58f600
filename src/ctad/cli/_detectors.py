"""ctad detectors"""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType

from ..detectors import KNOWN_DETECTORS, KnownDetector, known_detector
from . import _options as option
from ._console import plain_table, talking


def detectors(
    name: option.DetectorName = None,
    json: option.Json = False,
) -> None:
    """List the detectors that `ctad fit --detector` knows, or show one with its parameters."""
    with talking(json) as talk:
        if name is not None:
            known = known_detector(name)
            talk.result(_facts(known), *_all_about(known))
            return
        table = plain_table("name", "family", "an anomaly is", "training costs", "from")
        for column in table.columns[:2]:
            column.no_wrap = True
        for known in KNOWN_DETECTORS.values():
            table.add_row(
                known.name, known.family, known.description, known.cost, _where_from(known)
            )
        talk.result(
            {"detectors": [_facts(known) for known in KNOWN_DETECTORS.values()]},
            table,
            "",
            "`ctad detectors NAME` shows parameters, licence and reference.",
        )


def _all_about(known: KnownDetector) -> tuple[RenderableType, ...]:
    facts = plain_table("", "")
    facts.show_header = False
    facts.add_row("name", known.name)
    facts.add_row("family", known.family)
    facts.add_row("an anomaly is", known.description)
    facts.add_row("training costs", known.cost)
    facts.add_row("from", _where_from(known))
    facts.add_row("licence", known.licence)
    facts.add_row("reference", known.reference)
    if not known.installed:
        return (facts,)
    if known.notes:
        facts.add_row("notes", known.notes)
    parameters = plain_table("parameter", "default")
    for parameter, default in known.parameters.items():
        parameters.add_row(parameter, repr(default))
    return facts, "", parameters


def _facts(known: KnownDetector) -> dict[str, Any]:
    return {
        "name": known.name,
        "family": known.family,
        "description": known.description,
        "cost": known.cost,
        "library": known.library.name,
        "licence": known.licence,
        "reference": known.reference,
        "notes": known.notes if known.installed else None,
        "installed": known.installed,
        "parameters": known.parameters if known.installed else None,
    }


def _where_from(known: KnownDetector) -> str:
    if known.installed:
        return known.library.name
    return f"{known.library.name}: pip install 'ctad[{known.library.extra}]'"
