"""The options that studies have in common."""

import argparse
import os
from pathlib import Path


def parse_arguments(description: str, command_line: list[str] | None) -> argparse.Namespace:
    """Parse `--data-dir` and `--jobs`."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=os.environ.get("CTAD_DATA_DIR"),
        help="folder of the data sets; by default the one in CTAD_DATA_DIR",
    )
    parser.add_argument("--jobs", type=int, default=2, help="number of processes")
    arguments = parser.parse_args(command_line)
    if arguments.data_dir is None:
        parser.error("name the folder of the data sets with --data-dir or CTAD_DATA_DIR")
    arguments.data_dir = Path(arguments.data_dir)
    return arguments
