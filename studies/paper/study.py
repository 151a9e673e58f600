"""The runs of the paper's study."""

from dataclasses import dataclass
from pathlib import Path

from ctad.evaluation import (
    NO_CALIBRATION,
    RANDOM_SPLIT,
    Contestant,
    Entry,
    Plan,
    Protocol,
    Results,
    Source,
    run,
)

from .calibrations import ALTERNATIVES, SWEEPS
from .gaps import gap_store, measure_gaps
from .protocol import FIRST_HALF
from .published_settings import with_published_settings
from .runtimes import measure_runtimes, runtime_store

RESULTS = Path(__file__).parent / "results"
# Detectors that the paper calibrates, and detectors that it only compares with.
CALIBRATED = ("OCSVM", "PCA", "IForest", "ECOD", "KNN", "DRL", "MCM")
COMPARED = ("DeepSVDD", "AutoEncoder", "GOAD", "NeuTraLAD", "DTE", "ICL")
PROTOCOLS = {protocol.name: protocol for protocol in (FIRST_HALF, RANDOM_SPLIT)}
SEEDS = (0, 1, 2, 3, 4)


@dataclass(frozen=True)
class Study:
    """The runs to make.

    Attributes
    ----------
    datasets : tuple of str
    calibrated : tuple of str
        Detectors to calibrate.
    compared : tuple of str
        Detectors to run without calibration, under the first protocol.
    protocols : tuple of str
    seeds : tuple of int
    """

    datasets: tuple[str, ...]
    calibrated: tuple[str, ...] = CALIBRATED
    compared: tuple[str, ...] = COMPARED
    protocols: tuple[str, ...] = tuple(PROTOCOLS)
    seeds: tuple[int, ...] = SEEDS

    @classmethod
    def found_in(cls, results: Results) -> "Study":
        """The study whose results are in a folder."""
        cells = results.cells.frame()
        detectors, protocols = set(cells["detector"]), set(cells["protocol"])
        return cls(
            tuple(sorted(set(cells["dataset"]))),
            tuple(name for name in CALIBRATED if name in detectors),
            tuple(name for name in COMPARED if name in detectors),
            tuple(name for name in PROTOCOLS if name in protocols),
            tuple(sorted(set(cells["seed"]))),
        )

    def plan(self) -> Plan:
        """The runs; the settings of the term are varied under the first protocol alone."""
        first = PROTOCOLS[self.protocols[0]]
        swept = tuple(c for calibrations in SWEEPS.values() for c in calibrations.values())
        entries = [
            Entry(
                PROTOCOLS[protocol],
                contestant(name, PROTOCOLS[protocol]),
                (NO_CALIBRATION, *ALTERNATIVES),
                self.seeds,
            )
            for protocol in self.protocols
            for name in self.calibrated
        ]
        for name in self.calibrated:
            entries.append(Entry(first, contestant(name, first), swept, self.seeds))
        for name in self.compared:
            entries.append(Entry(first, contestant(name, first), (NO_CALIBRATION,), self.seeds))
        return Plan(self.datasets, tuple(entries))

    def run(
        self, folder: Path, source: Source, *, n_jobs: int = 1, retry_failed: bool = False
    ) -> Results:
        """Make the missing runs and store their results in the folder as Parquet files."""
        results = run(
            self.plan(),
            folder,
            source,
            n_jobs=n_jobs,
            retry_failed=retry_failed,
            show_progress=True,
        )
        measured = set(results.datasets.frame()["name"])
        datasets = [name for name in self.datasets if name in measured]
        protocols = [PROTOCOLS[name] for name in self.protocols]
        measure_gaps(folder, source, datasets, protocols, self.seeds)
        measure_runtimes(folder, source, datasets, self.calibrated)
        for store in (results, gap_store(folder), runtime_store(folder)):
            store.compact()
        return results


def contestant(detector: str, protocol: Protocol) -> Contestant:
    """A detector with its published settings if the protocol is the paper's; else its defaults."""
    return with_published_settings(detector) if protocol is FIRST_HALF else Contestant(detector)
