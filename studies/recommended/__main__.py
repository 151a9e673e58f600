"""The study behind `RelaxedCTAD`: `python -m studies.recommended`.

It measures the missing results and writes the generated part of docs/recommended.md. With the
networks this takes hours the first time; it can be stopped and continued.
"""

from pathlib import Path

from ctad.datasets import find_datasets
from ctad.evaluation import Source, run

from ..arguments import parse_arguments
from ..paper.study import RESULTS as PAPER_RESULTS
from .docs_page import write_page
from .plan import plans

RESULTS = Path(__file__).parent / "results"
SCORES = PAPER_RESULTS / "scores"


def main(command_line: list[str] | None = None) -> None:
    """Measure and write."""
    arguments = parse_arguments(__doc__, command_line)
    source = Source(arguments.data_dir)
    datasets = find_datasets(arguments.data_dir)
    for plan in plans(datasets):
        results = run(
            plan, RESULTS, source, n_jobs=arguments.jobs, scores=SCORES, show_progress=True
        )
        results.compact()
    write_page(RESULTS)


if __name__ == "__main__":
    main()
