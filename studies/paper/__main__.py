"""Rebuild the paper's study: run what is missing, then write its tables and figures.

This takes hours the first time. It can be stopped and continued.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from ctad.datasets import KNOWN_DATASETS, find_datasets
from ctad.detectors import known_detector
from ctad.evaluation import Results, Source

from .docs_page import write_docs_page
from .report import build_chapters, write_report
from .study import PROTOCOLS, RESULTS, SEEDS, Study


def main(arguments: list[str] | None = None) -> None:
    """The command `python -m studies.paper`."""
    options = _parser().parse_args(arguments)
    if options.source is not None:
        results = Results(options.source)
        if not results.cells.exists():
            raise SystemExit(f"{options.source} has no results")
        folder = options.output or options.source
        study = _chosen(Study.found_in(results), options)
    else:
        folder = options.output or RESULTS
        datasets = KNOWN_DATASETS if options.data_dir is None else find_datasets(options.data_dir)
        study = _chosen(Study(tuple(datasets)), options)
        results = study.run(
            folder, Source(options.data_dir), n_jobs=options.jobs, retry_failed=options.retry_failed
        )
    chapters = build_chapters(results, study)
    print(f"Tables and figures: {write_report(results, study, chapters, folder)}")
    if options.docs:
        write_docs_page(chapters)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m studies.paper", description=__doc__)
    add = parser.add_argument
    add("--data-dir", type=Path, default=os.environ.get("CTAD_DATA_DIR"), metavar="FOLDER",
        help="the data sets; without it they are downloaded")  # fmt: skip
    add("-o", "--output", type=Path, metavar="FOLDER", help="where results and page are written")
    add("--from", type=Path, dest="source", metavar="FOLDER",
        help="measure nothing: build the page from the results in this folder")  # fmt: skip
    add("--datasets", type=_names, metavar="NAME,...", help="default: all of the data folder")
    add("--detectors", type=_names, metavar="NAME,...", help="default: all of the paper")
    add("--protocol", choices=[name.replace(" ", "-") for name in PROTOCOLS], help="default: both")
    add("--seeds", type=int, default=len(SEEDS), help="how many, from 0 on (default: %(default)s)")
    add("--jobs", type=int, default=1, help="number of processes (default: %(default)s)")
    add("--retry-failed", action="store_true", help="repeat what failed before")
    add("--docs", action="store_true", help="also write the tables into docs/reproduction.md")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def _chosen(study: Study, options: argparse.Namespace) -> Study:
    """The part of a study that the options ask for."""
    changes: dict[str, tuple] = {"seeds": study.seeds[: options.seeds]}
    if options.datasets is not None:
        changes["datasets"] = _known(options.datasets, study.datasets)
    if options.detectors is not None:
        names = tuple(known_detector(name).name for name in options.detectors)
        changes["calibrated"] = _known(names, study.calibrated)
        changes["compared"] = ()
    if options.protocol is not None:
        changes["protocols"] = _known((options.protocol.replace("-", " "),), study.protocols)
    return replace(study, **changes)


def _known(names: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"{', '.join(unknown)}: not among {', '.join(known)}")
    return names


if __name__ == "__main__":
    main()
