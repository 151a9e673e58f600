"""What a benchmark is to measure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import InputError
from ._calibrations import Calibration
from ._contestants import Contestant
from ._protocols import Protocol


@dataclass(frozen=True)
class Entry:
    """A detector and the calibrations to compare on it.

    Attributes
    ----------
    protocol : Protocol
    contestant : Contestant
    calibrations : tuple of Calibration
    seeds : tuple of int
    """

    protocol: Protocol
    contestant: Contestant
    calibrations: tuple[Calibration, ...]
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Round:
    """Detectors with their calibrations, under one protocol with one seed."""

    protocol: Protocol
    seed: int
    contestants: tuple[tuple[Contestant, tuple[Calibration, ...]], ...]


@dataclass(frozen=True)
class Plan:
    """Entries to measure on every data set.

    Attributes
    ----------
    datasets : tuple of str
        Their names.
    entries : tuple of Entry
    slow_apart : bool, default=True
        Whether a slow detector has its own job. That is faster if it has to be trained. If its
        scores are kept from before, False is faster: then all detectors share the terms.

    Examples
    --------
    >>> from ctad.evaluation import NO_CALIBRATION, RANDOM_SPLIT, Calibration, Contestant, Entry
    >>> from ctad.evaluation import Plan
    >>> calibrations = (NO_CALIBRATION, Calibration.named("recommended"))
    >>> entry = Entry(RANDOM_SPLIT, Contestant("KNN"), calibrations, seeds=(0, 1))
    >>> plan = Plan(("wine", "glass"), (entry,))
    """

    datasets: tuple[str, ...]
    entries: tuple[Entry, ...]
    slow_apart: bool = True

    def __post_init__(self) -> None:
        # Names are all that results have, so they must identify what was measured.
        _check_names("protocols", (entry.protocol for entry in self.entries))
        _check_names("contestants", (entry.contestant for entry in self.entries))

    def rounds(self) -> list[Round]:
        """The entries by protocol and seed; each calibration of a detector occurs once."""
        found: dict[tuple[Protocol, int], dict[Contestant, dict[str, Calibration]]] = {}
        for entry in self.entries:
            for seed in entry.seeds:
                contestants = found.setdefault((entry.protocol, seed), {})
                calibrations = contestants.setdefault(entry.contestant, {})
                calibrations |= {one.name: one for one in entry.calibrations}
        return [
            Round(protocol, seed, tuple((one, tuple(c.values())) for one, c in contestants.items()))
            for (protocol, seed), contestants in found.items()
        ]


def _check_names(what: str, named: Iterable[Protocol] | Iterable[Contestant]) -> None:
    known: dict[str, Protocol | Contestant] = {}
    for one in named:
        if known.setdefault(one.name, one) != one:
            raise InputError(f"two different {what} are called {one.name!r}")
