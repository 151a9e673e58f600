"""Does calibration help? The comparison that `ctad benchmark` runs."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ._calibrations import NO_CALIBRATION, Calibration
from ._contestants import Contestant
from ._plan import Entry, Plan
from ._protocols import RANDOM_SPLIT
from ._results import Results


@dataclass(frozen=True)
class Benchmark:
    """Detectors with and without a calibration, on random splits of data sets.

    Attributes
    ----------
    datasets, detectors : tuple of str
        Their names.
    calibration : {"recommended", "paper"}, default="recommended"
    seeds : tuple of int, default=(0, 1, 2)
        A random split for each.

    Examples
    --------
    >>> from ctad.evaluation import Benchmark
    >>> plan = Benchmark(("payments",), ("IForest", "KNN")).plan()
    >>> [calibration.name for calibration in plan.entries[0].calibrations]
    ['none', 'recommended']
    """

    datasets: tuple[str, ...]
    detectors: tuple[str, ...]
    calibration: str = "recommended"
    seeds: tuple[int, ...] = (0, 1, 2)

    @classmethod
    def found_in(cls, results: Results, calibration: str = "recommended") -> Benchmark:
        """The benchmark whose results are in a folder.

        Parameters
        ----------
        results : Results
        calibration : {"recommended", "paper"}, default="recommended"
        """
        cells = [cell for cell in results.cells.rows() if cell.protocol == RANDOM_SPLIT.name]
        own = [cell for cell in cells if cell.calibration == calibration]
        if not own:
            names = ", ".join(sorted({cell.calibration for cell in cells})) or "none"
            raise InputError(
                f"{results.folder} has no results of calibration {calibration!r}; it has {names}"
            )
        return cls(
            tuple(sorted({cell.dataset for cell in own})),
            tuple(sorted({cell.detector for cell in own})),
            calibration,
            tuple(sorted({cell.seed for cell in own})),
        )

    def plan(self) -> Plan:
        """The plan to `run`."""
        calibrations = (NO_CALIBRATION, Calibration.named(self.calibration))
        return Plan(
            self.datasets,
            tuple(
                Entry(RANDOM_SPLIT, Contestant(name), calibrations, self.seeds)
                for name in self.detectors
            ),
        )
