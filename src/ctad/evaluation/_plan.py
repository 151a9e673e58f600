"""The plan of a benchmark: what to measure."""

from __future__ import annotations

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
        # Results have only names, so a name must stand for one thing.
        protocols: dict[str, Protocol] = {}
        contestants: dict[tuple[str, str], Contestant] = {}
        for entry in self.entries:
            protocol, contestant = entry.protocol, entry.contestant
            if protocols.setdefault(protocol.name, protocol) != protocol:
                raise InputError(f"two different protocols are called {protocol.name!r}")
            if contestants.setdefault((protocol.name, contestant.name), contestant) != contestant:
                raise InputError(f"two different contestants are called {contestant.name!r}")

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
