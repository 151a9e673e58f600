"""ctad detectors"""

from __future__ import annotations

from typing import Any

from rich.console import RenderableType

from ..detectors import KNOWN_DETECTORS, KnownDetector, known_detector
from . import _options as option
from ._console import command_output, facts_table, plain_table


def detectors(
    name: option.DetectorName = None, json: option.Json = False, debug: option.Debug = False
) -> None:
    """List the detectors for `ctad fit --detector`, or show one with its parameters."""
    with command_output(as_json=json, debug=debug) as out:
        if name is not None:
            known = known_detector(name)
            out.result(_as_json(known), *_details(known))
            return
        table = plain_table("name", "family", "an anomaly is", "training costs", "from")
        for column in table.columns[:2]:
            column.no_wrap = True
        for known in KNOWN_DETECTORS.values():
            table.add_row(
                known.name, known.family, known.description, known.cost, _where_from(known)
            )
        out.result(
            # Parameters are those of the classes, whose import takes seconds.
            {"detectors": [_as_json(known) for known in KNOWN_DETECTORS.values()] if json else []},
            table,
            "",
            "`ctad detectors NAME` shows parameters, licence and reference.",
        )


def _details(known: KnownDetector) -> tuple[RenderableType, ...]:
    facts = facts_table(
        {
            "name": known.name,
            "family": known.family,
            "an anomaly is": known.description,
            "training costs": known.cost,
            "from": _where_from(known),
            "licence": known.licence,
            "reference": known.reference,
            "notes": (known.notes or None) if known.installed else None,
        }
    )
    if not known.installed:
        return (facts,)
    parameters = plain_table("parameter", "default")
    for parameter, default in known.parameters.items():
        parameters.add_row(parameter, repr(default))
    return facts, "", parameters


def _as_json(known: KnownDetector) -> dict[str, Any]:
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
