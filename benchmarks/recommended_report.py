"""The tables and the picture of docs/recommended.md, from the results of `make recommended`."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from pages import DOCS, replace_made, row
from recommended import CLASSICAL, DETECTORS, JUDGED, RESULTS, SEEDS, STANDARDISED
from retrained import IDEAS, named
from scipy import stats
from variants import CHOSEN, RIVAL, TOO_DEAR, variants

from ctad.calibration._agreement import STUDY
from ctad.evaluation import NONE, Results
from ctad.paper._measured import Measured
from ctad.paper._table import p_value

PAGE = "recommended.md"
PICTURE = DOCS / "recommended.png"
# Data sets that come from the same measurements are left out together.
TOGETHER = (
    ("satellite", "satimage-2"),
    ("cardio", "cardiotocography"),
    ("wbc", "wdbc"),
    ("thyroid", "annthyroid"),
)
# The gains that were aimed at, on the published split.
AIMS = dict(zip(DETECTORS, (0.15, 0.10, 0.08, 0.10, 0.02, 0.058, 0.024), strict=True))
FEWEST_WINS = 22
LARGEST_LOSS = 0.05
# One can choose between ways to make the term. How much it weighs, and how it is added, is fixed.
NOT_TO_CHOOSE = ("how score and term meet",)

# The preset with one part replaced: the variant, and what it has in place of the part.
PARTS = {
    "up to 200 centroids": {"K up to 100": "up to 100", "K up to 30": "up to 30"},
    "two scalings in turn": {
        "as they are": "columns as they are",
        "standardised": "standardised columns",
        "min-max": "columns from 0 to 1",
    },
    "random columns": {"all columns": "all columns"},
    "four draws": {"2 draws": "two"},
    "weight 2": {"weight 1": "weight 1"},
    "median and quartiles": {"mean and standard deviation": "mean and standard deviation"},
    "training rows as if not seen": {"training rows as seen, weight 2": "as seen"},
}


@cache
def measured() -> pd.DataFrame:
    """Means over seeds of AUC-PR with and without each variant; whether the detector was blind."""
    results = Measured(Results(RESULTS))
    cells = results.cells
    blind = results.is_blind(cells.set_index("dataset")).to_numpy()
    keys = ["protocol", "detector", "calibration", "dataset"]
    table = cells.assign(blind=blind).groupby(keys)
    seeds = table.size().groupby(["protocol", "detector", "dataset"])
    if (seeds.min() < seeds.max()).any():
        raise SystemExit("not all variants have the same seeds yet: run recommended.py")
    found = table[["auc_pr", "base_auc_pr"]].mean()
    return found.assign(gain=found.auc_pr - found.base_auc_pr, blind=table.blind.any())


def gains(protocol: str, detector: str) -> pd.DataFrame:
    """Gain of each variant (columns) on each data set (rows)."""
    return measured().gain.loc[protocol, detector].unstack("calibration")


def candidates() -> list[str]:
    """What may be chosen."""
    return [
        one.name
        for about, group in variants().items()
        if about not in NOT_TO_CHOOSE
        for one in group
        if one.name not in TOO_DEAR
    ]


def mean_gains(left_out: Iterable[str]) -> pd.Series:
    """Of the candidates, over detectors and both protocols, on the other data sets."""
    means = []
    for protocol in JUDGED:
        for detector in measured_detectors(protocol):
            table = gains(protocol, detector)[candidates()]
            means.append(table[~table.index.isin(list(left_out))].mean())
    return pd.concat(means, axis=1).mean(axis=1)


def chosen_without(left_out: Iterable[str]) -> str:
    """The candidate with the largest mean gain elsewhere."""
    return str(mean_gains(left_out).idxmax())


def measured_detectors(protocol: str) -> list[str]:
    """Those there are results for, on all data sets."""
    plain = measured().gain.loc[protocol].xs(NONE.name, level="calibration")
    counts = plain.groupby("detector").size()
    return [name for name in DETECTORS if counts.get(name) == counts.max()]


def groups(datasets: Iterable[str]) -> list[tuple[str, ...]]:
    """Data sets, those that belong together in one."""
    alone = [(name,) for name in datasets if not any(name in pair for pair in TOGETHER)]
    return [*alone, *TOGETHER]


@cache
def choices() -> dict[str, str]:
    """What is chosen for each data set, without it."""
    datasets = measured().index.get_level_values("dataset").unique()
    return {
        name: best
        for group in groups(datasets)
        for best in [chosen_without(group)]
        for name in group
    }


def judged(protocol: str, detector: str) -> pd.Series:
    """The gain on each data set of what was chosen without it."""
    table = gains(protocol, detector)
    return pd.Series({name: table.loc[name, choices()[name]] for name in table.index})


def p_of(gain: pd.Series) -> float:
    """Of the one-tailed paired t-test over data sets."""
    return float(stats.ttest_1samp(gain, 0, alternative="greater").pvalue)


def plain_and_gain(protocol: str, detector: str) -> tuple[pd.Series, pd.Series]:
    """AUC-PR of the detector alone, and what is gained, by data set."""
    return measured().base_auc_pr.loc[protocol, detector, NONE.name], judged(protocol, detector)


def verdict() -> Iterator[str]:
    """What the preset adds to each detector."""
    heads = ["detector", "split", "data sets", "AUC-PR", "gain", "p", "wins", "aimed at"]
    heads += ["blind on", "gain elsewhere", "gain of the preset", "of the rival"]
    yield row(*heads)
    yield row(*["---"] * len(heads))
    for protocol in JUDGED:
        for detector in measured_detectors(protocol):
            plain, gain = plain_and_gain(protocol, detector)
            table = gains(protocol, detector)
            aim = f"{AIMS[detector]:+.3f}" if protocol == "published" else "> 0"
            blind = measured().blind.loc[protocol, detector, NONE.name]
            yield row(
                *(detector, protocol, len(gain), f"{plain.mean():.3f}", f"**{gain.mean():+.3f}**"),
                p_value(p_of(gain)),
                *(int((gain > 0).sum()), aim, int(blind.sum()), f"{gain[~blind].mean():+.3f}"),
                *(f"{table[CHOSEN].mean():+.3f}", f"{table[RIVAL].mean():+.3f}"),
            )


def losses() -> Iterator[str]:
    """The data sets that lose much."""
    yield row("detector", "split", "with what was chosen without the data set", "with the preset")
    yield row(*["---"] * 4)
    for protocol in JUDGED:
        for detector in measured_detectors(protocol):
            lost = losers(judged(protocol, detector)), losers(gains(protocol, detector)[CHOSEN])
            if any(lost):
                yield row(detector, protocol, *lost)


def losers(gain: pd.Series) -> str:
    """Those of a series that lose much, and how much."""
    return ", ".join(f"{name} {gain[name]:+.2f}" for name in gain.index[gain < -LARGEST_LOSS])


def folds() -> Iterator[str]:
    """How often each candidate was chosen."""
    datasets = measured().index.get_level_values("dataset").unique()
    counts = Counter(choices()[group[0]] for group in groups(datasets))
    told = (f"{name} ({n})" for name, n in counts.most_common())
    yield f"Chosen without one of {sum(counts.values())} groups of data sets: {', '.join(told)}."
    yield f"Chosen on all: {chosen_without(())}."


def rival() -> Iterator[str]:
    """Mean AUC-PR of the classical detectors, as the rival was measured: without shuttle."""
    yield row(
        *("split and columns", "detectors alone", "with the nearest training row"),
        *(f"with {CHOSEN}", "with what was chosen without the data set"),
    )
    yield row(*["---"] * 5)
    for protocol, told in (
        ("published", "published, as they are"),
        (STANDARDISED.name, "published, standardised"),
        ("honest", "random, standardised"),
    ):
        cells = measured().loc[protocol].drop("shuttle", level="dataset")
        means = cells.auc_pr.groupby(["calibration", "detector"]).mean().unstack("detector")
        means = means[list(CLASSICAL)].mean(axis=1)
        unseen = ""
        if protocol in JUDGED:
            judgements = [judged(protocol, name).drop("shuttle").mean() for name in CLASSICAL]
            unseen = f"{means[NONE.name] + np.mean(judgements):.4f}"
        yield row(told, *(f"{means[name]:.4f}" for name in (NONE.name, RIVAL, CHOSEN)), unseen)


def parts() -> Iterator[str]:
    """What is lost if a part of the preset is replaced, in the mean over all."""
    yield row("part", "in its place", "gain lost")
    yield row("---", "---", "---")
    whole = overall_gain(CHOSEN)
    for part, replacements in PARTS.items():
        for name, told in replacements.items():
            yield row(part, told, f"{whole - overall_gain(name):+.4f}")
    lost = overall_gain("as they are") - overall_gain("as they are, plain distance")
    yield row("relative costs", "plain distances (with columns as they are)", f"{lost:+.4f}")


def overall_gain(variant: str) -> float:
    """The mean over detectors and both protocols."""
    return float(
        np.mean(
            [
                gains(protocol, name)[variant].mean()
                for protocol in JUDGED
                for name in measured_detectors(protocol)
            ]
        )
    )


def seeds() -> str:
    """How many runs there are of each detector."""
    cells = Measured(Results(RESULTS)).cells
    cells = cells[cells.protocol.isin(JUDGED)]
    counts = cells.groupby(["protocol", "detector", "dataset"]).seed.nunique()
    few = counts[counts < len(SEEDS)].reset_index().groupby(["protocol", "detector"]).dataset
    told = [f"{name}, {protocol}, on {', '.join(sets)}" for (protocol, name), sets in few]
    return f"Means over {len(SEEDS)} seeds" + (f"; fewer of {'; '.join(told)}." if told else ".")


def tried() -> Iterator[str]:
    """Every variant, with its mean gains."""
    heads = ["variant", "published", "honest"]
    heads += [f"{name}, {protocol}" for protocol in JUDGED for name in measured_detectors(protocol)]
    yield row(*heads)
    yield row(*["---"] * len(heads))
    for about, group in variants().items():
        yield row(f"*{about}*", *[""] * (len(heads) - 1))
        for one in group:
            each = {
                protocol: [
                    gains(protocol, name)[one.name].mean() for name in measured_detectors(protocol)
                ]
                for protocol in JUDGED
            }
            name = f"**{one.name}**" if one.name == CHOSEN else one.name
            name += " (too dear)" if one.name in TOO_DEAR else ""
            means = [f"{np.mean(each[protocol]):+.4f}" for protocol in JUDGED]
            yield row(name, *means, *(f"{v:+.3f}" for protocol in JUDGED for v in each[protocol]))


def retrained() -> Iterator[str]:
    """The ideas that train a detector several times, beside the preset."""
    heads = ["idea", *JUDGED]
    heads += [f"{name}, {protocol}" for protocol in JUDGED for name in CLASSICAL]
    yield row(*heads)
    yield row(*["---"] * len(heads))
    for idea in (CHOSEN, *IDEAS):
        each = {
            protocol: [gain_of_idea(protocol, name, idea).mean() for name in CLASSICAL]
            for protocol in JUDGED
        }
        means = [f"{np.mean(each[protocol]):+.4f}" for protocol in JUDGED]
        yield row(idea, *means, *(f"{v:+.3f}" for protocol in JUDGED for v in each[protocol]))


def gain_of_idea(protocol: str, detector: str, idea: str) -> pd.Series:
    """The gain on each data set; an idea's scores are calibrated already."""
    if idea == CHOSEN:
        return gains(protocol, detector)[CHOSEN]
    found = measured().auc_pr.loc[protocol].xs(NONE.name, level="calibration")
    return found.loc[named(detector, idea)] - found.loc[detector]


def agreed() -> pd.DataFrame:
    """Agreement and gain of each data set, detector and protocol; chosen without the data set."""
    known = pd.read_csv(RESULTS / "agreement.csv").set_index(["protocol", "detector", "dataset"])
    gain = {
        (protocol, detector): judged(protocol, detector)
        for protocol in JUDGED
        for detector in measured_detectors(protocol)
    }
    gains_of_all = pd.concat(gain, names=["protocol", "detector", "dataset"]).rename("gain")
    return known.join(gains_of_all, how="inner")


def by_agreement() -> Iterator[str]:
    """The gain where score and term agree little, and where they agree."""
    yield row(
        "agreement on training rows", "cases", "mean gain", "median", "wins", "lose over 0.02"
    )
    yield row(*["---"] * 6)
    together = agreed()
    edges = pd.cut(together.agreement, [-1, *(seen.up_to for seen in STUDY)], include_lowest=True)
    for edge, part in together.groupby(edges, observed=True):
        gain = part.gain
        yield row(
            f"{max(edge.left, -1):.2f} to {edge.right:.2f}",
            len(part),
            *(f"{gain.mean():+.3f}", f"{gain.median():+.3f}"),
            *(f"{(gain > 0).mean():.0%}", f"{(gain < -0.02).mean():.0%}"),
        )


def picture() -> None:
    """Every case: agreement and gain."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for axis, protocol in zip(axes, JUDGED, strict=True):
        part = agreed().loc[protocol]
        for detector, marker in zip(DETECTORS, "osD^vPX", strict=True):
            own = part[part.index.get_level_values("detector") == detector]
            axis.plot(own.agreement, own.gain, marker, ms=5, alpha=0.7, mew=0, label=detector)
        axis.axhline(0, color="black", lw=0.8)
        axis.set_title(f"{protocol} protocol")
        axis.set_xlabel("agreement of score and term on training rows")
    axes[0].set_ylabel("gain in AUC-PR")
    axes[0].legend(fontsize=8)
    figure.savefig(PICTURE, dpi=90)
    plt.close(figure)


LEGENDS = {
    "verdict": (
        "Gain: of what was chosen without the data set; p: of a one-tailed paired t-test; "
        "wins: data sets that gain; blind on: data sets where the detector gives all rows the same "
        "score; gain elsewhere: without these. Preset and rival are the same for all data sets."
    ),
    "tried": (
        "Mean gain over data sets. Uniform, sizes, free: the mass on the centroids; total, own: "
        "the signal; K, M: centroids and references, as in `CTAD`. The first three groups have "
        "weight 1, the others 2, if not said."
    ),
    "retrained": "Mean gain over data sets; the first two columns over these five detectors.",
    "agreement": (
        "Gains of what was chosen without the data set, over data sets, detectors and both splits. "
        "Where a detector gives all training rows the same score, there is no agreement."
    ),
}


def main() -> None:
    """Write both."""
    picture()
    lines = ["### What it adds", "", seeds(), LEGENDS["verdict"], "", *verdict(), "", *folds(), ""]
    lines += [f"### Data sets that lose more than {LARGEST_LOSS}", "", *losses(), ""]
    lines += ["### Against the rival", "", *rival(), ""]
    lines += ["### What each part contributes", "", *parts(), ""]
    lines += ["### All that was tried", "", LEGENDS["tried"], "", *tried(), ""]
    lines += ["### Ideas that train the detector several times", "", LEGENDS["retrained"], ""]
    lines += [*retrained(), ""]
    lines += ["### Will it help here?", "", LEGENDS["agreement"], "", *by_agreement(), ""]
    lines += [f"![Gain by agreement]({PICTURE.name})", ""]
    replace_made(PAGE, "make recommended", lines)


if __name__ == "__main__":
    main()
