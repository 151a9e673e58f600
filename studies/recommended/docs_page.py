"""The generated part of docs/recommended.md, and its picture."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from ctad.evaluation import Results

from ..markdown import DOCS, replace_generated
from . import dirty, tables
from .agreement import agreement_store
from .gains import Gains
from .plan import DETECTORS, SEEDS, SPLITS

PAGE = "recommended.md"
PICTURE = "figures/recommended.png"

GAINS_LEGEND = (
    "Gain: the gain of the calibration that was chosen without the data set. p: one-tailed paired "
    "t-test. Wins: data sets that gain. Constant on: data sets where the detector gives all rows "
    "the same score. Gain elsewhere: without these. The last two columns have the same calibration "
    "on all data sets."
)
CANDIDATES_LEGEND = (
    "Mean gain over data sets. Uniform, sizes, free: the mass on the centroids. Total, own: the "
    "signal. K, M: centroids and references, as in `CTAD`. The first three groups have weight 1, "
    "the others weight 2, unless the name says otherwise."
)
DIRTY_LEGEND = (
    "Random split with the five classical detectors, means over three seeds. The stated share of "
    "the training rows are anomalies, which are then not in the test. Data sets are those where "
    "this takes at least one anomaly and at most half of them; a second line has the data sets of "
    "the last one. AUC-PR and AUC-ROC of the detectors alone are followed by what the calibrations "
    "add: RelaxedCTAD, and the mean distance to 5 neighbours or to 2 % of the training rows, added "
    "with the same weight on the same scale."
)
IDEAS_LEGEND = "Mean gain over data sets. The first two columns are means over the five detectors."
AGREEMENT_LEGEND = (
    "Gains of the calibrations that were chosen without the data set, over data sets, detectors "
    "and both splits. There is no agreement where a detector gives all training rows the same "
    "score."
)


def write_page(folder: Path) -> None:
    """Write both, from a folder of results."""
    gains = Gains.of(folder)
    together = agreement_and_gain(folder, gains)
    draw_picture(together, DOCS / PICTURE)
    replace_generated(PAGE, "make recommended", generated_lines(folder, gains, together))


def generated_lines(folder: Path, gains: Gains, together: pd.DataFrame) -> list[str]:
    """The generated part of the page."""
    return [
        *("### Gains by detector", "", f"{seeds(folder)} {GAINS_LEGEND}", ""),
        *(*tables.gains_by_detector(gains), "", *tables.choices(gains), ""),
        *(f"### Data sets that lose more than {tables.LARGE_LOSS}", ""),
        *(*tables.large_losses(gains), ""),
        *("### Against the nearest training row", "", *tables.baseline(gains), ""),
        *("### Anomalies among the training rows", "", DIRTY_LEGEND, ""),
        *(*dirty.lines(dirty.DirtyGains.of(folder)), ""),
        *("### What each part contributes", "", *tables.parts(gains), ""),
        *("### All candidates", "", CANDIDATES_LEGEND, "", *tables.all_candidates(gains), ""),
        *("### Ideas that train the detector several times", "", IDEAS_LEGEND, ""),
        *(*tables.ideas(gains), ""),
        *("### Will it help here?", "", AGREEMENT_LEGEND, ""),
        *(*tables.gains_by_agreement(together), ""),
        *(f"![Gain by agreement of score and term]({PICTURE})", ""),
    ]


def seeds(folder: Path) -> str:
    """How many runs there are of each detector."""
    cells = Results(folder).cells.frame()
    cells = cells[cells.protocol.isin([split.name for split in SPLITS])]
    counts = cells.groupby(["protocol", "detector", "dataset"]).seed.nunique()
    fewer = counts[counts < len(SEEDS)].reset_index().groupby(["protocol", "detector"]).dataset
    named = [
        f"{detector}, {protocol}, on {', '.join(sets)}" for (protocol, detector), sets in fewer
    ]
    return f"Means over {len(SEEDS)} seeds" + (f"; fewer for {'; '.join(named)}." if named else ".")


def agreement_and_gain(folder: Path, gains: Gains) -> pd.DataFrame:
    """Agreement, and the gain of what was chosen without the data set, for each case."""
    keys = ["protocol", "detector", "dataset"]
    agreement = agreement_store(folder).frame().set_index(keys)
    gain = {
        (split.name, detector): gains.of_choices(split.name, detector)
        for split in SPLITS
        for detector in DETECTORS
    }
    return agreement.join(pd.concat(gain, names=keys).rename("gain"), how="inner")


def draw_picture(together: pd.DataFrame, path: Path) -> None:
    """Every case by agreement and gain."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for axis, split in zip(axes, SPLITS, strict=True):
        cases = together.loc[split.name]
        for detector, marker in zip(DETECTORS, "osD^vPX", strict=True):
            own = cases[cases.index.get_level_values("detector") == detector]
            axis.plot(own.agreement, own.gain, marker, ms=5, alpha=0.7, mew=0, label=detector)
        axis.axhline(0, color="black", lw=0.8)
        axis.set_title(split.name)
        axis.set_xlabel("agreement of score and term on training rows")
    axes[0].set_ylabel("gain in AUC-PR")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)
