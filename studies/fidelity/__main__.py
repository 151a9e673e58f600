"""How close detectors come to the paper's numbers: `python -m studies.fidelity`.

It runs networks with default settings and with changed options, as far as results are missing, and
writes the generated part of docs/fidelity.md. This takes hours the first time; it can be stopped
and continued. Runs with published settings are those of `studies.paper`.
"""

from pathlib import Path

from ctad.datasets import find_datasets
from ctad.evaluation import Source, run

from ..arguments import parse_arguments
from ..paper.study import RESULTS as PAPER_RESULTS
from .docs_page import write_page
from .settings import plans

RESULTS = Path(__file__).parent / "results"


def main(command_line: list[str] | None = None) -> None:
    """Run and write."""
    arguments = parse_arguments(__doc__, command_line)
    source = Source(arguments.data_dir)
    n_rows = {name: len(source.load(name).y) for name in find_datasets(arguments.data_dir)}
    for plan in plans(sorted(n_rows, key=n_rows.__getitem__)):
        results = run(plan, RESULTS, source, n_jobs=arguments.jobs, show_progress=True)
    results.compact()
    write_page(PAPER_RESULTS, RESULTS)


if __name__ == "__main__":
    main()
