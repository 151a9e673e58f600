"""What a benchmark is to measure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ._calibrations import AnyCalibration
from ._scores import Contestant


class Entry(NamedTuple):
    """A detector and the calibrations to judge with it.

    Attributes
    ----------
    protocol : str
    contestant : Contestant
    calibrations : tuple of Calibration or OwnCalibration
    seeds : tuple of int
    """

    protocol: str
    contestant: Contestant
    calibrations: tuple[AnyCalibration, ...]
    seeds: tuple[int, ...]


class GapEntry(NamedTuple):
    """Terms to compare between normal and anomalous rows.

    Attributes
    ----------
    protocol : str
    calibrations : tuple of Calibration or OwnCalibration
    seeds : tuple of int
    """

    protocol: str
    calibrations: tuple[AnyCalibration, ...]
    seeds: tuple[int, ...]


class Plan(NamedTuple):
    """All that is to be measured, on every data set.

    Attributes
    ----------
    datasets : tuple of str
    entries : tuple of Entry
    gaps : tuple of GapEntry
    runtimes : tuple of (str, Contestant)
        Data sets and detectors to time.
    slow_apart : bool
        Whether a slow detector has a job of its own. That is fast where it is to be trained; where
        its scores are kept from before, terms are computed once more for it.
    """

    datasets: tuple[str, ...]
    entries: tuple[Entry, ...]
    gaps: tuple[GapEntry, ...] = ()
    runtimes: tuple[tuple[str, Contestant], ...] = ()
    slow_apart: bool = True

    def only(self, datasets: Iterable[str]) -> Plan:
        """The same on fewer data sets."""
        kept = tuple(datasets)
        timed = tuple(pair for pair in self.runtimes if pair[0] in kept)
        return self._replace(datasets=kept, runtimes=timed)

    def rounds(self) -> list[tuple[str, int]]:
        """Protocols with seeds that occur."""
        found = [(entry.protocol, seed) for entry in self.entries for seed in entry.seeds]
        found += [(part.protocol, seed) for part in self.gaps for seed in part.seeds]
        return list(dict.fromkeys(found))

    def contestants(self, protocol: str, seed: int) -> dict[Contestant, tuple[AnyCalibration, ...]]:
        """The detectors of a round with their calibrations."""
        found: dict[Contestant, tuple[AnyCalibration, ...]] = {}
        for entry in self.entries:
            if entry.protocol == protocol and seed in entry.seeds:
                calibrations = (*found.get(entry.contestant, ()), *entry.calibrations)
                found[entry.contestant] = tuple(dict.fromkeys(calibrations))
        return found

    def terms(self, protocol: str, seed: int) -> tuple[AnyCalibration, ...]:
        """The terms of a round to compare."""
        return tuple(
            dict.fromkeys(
                calibration
                for part in self.gaps
                if part.protocol == protocol and seed in part.seeds
                for calibration in part.calibrations
            )
        )
