"""ctad score"""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError
from . import _options as option
from ._console import CommandOutput, command_output
from ._model_files import load_detector, note_batch_dependence
from ._output_path import check_output_path

if TYPE_CHECKING:
    from ..io import ReadOptions, ScoringModel, ScoringSummary


def score(
    model: option.Model,
    table: option.New,
    output: option.Output,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
    debug: option.Debug = False,
) -> None:
    """Score rows: higher = more anomalous.

    The output has all columns of the input, and ctad_base_score (the score of the detector),
    ctad_delta (the calibration term), ctad_score (the calibrated score) and, if rows were held out
    of training, ctad_p_value (the share of normal rows with a score at least as high). A file
    appears when it is complete. If you score several files and start the command again, files that
    are finished are kept.
    """
    from ..io import ReadOptions

    with command_output(as_json=json, debug=debug, output=output) as out:
        detector = load_detector(model)
        note_batch_dependence(detector, out)
        with model.open("rb") as file:
            checksum = file_digest(file, "sha256").hexdigest()
        reading = ReadOptions(batch_rows, encoding, delimiter)
        summary = score_tables(detector, table, output, reading, model_sha256=checksum)
        print_summary(summary, output, out)


def score_tables(
    model: ScoringModel, where: str, output: str, reading: ReadOptions, *, model_sha256: str
) -> ScoringSummary:
    """Score a file into a file, or several files into a folder."""
    from ..io import find_tables, score_file, score_folder

    files = find_tables(where)
    if is_folder(output, where):
        return score_folder(model, files, output, reading, model_sha256=model_sha256)
    if output != "-":
        check_output_path(output, where)
    return score_file(model, files[0], output, reading)


def is_folder(output: str, where: str) -> bool:
    """Whether the output is a folder: it is one already, or the input is a folder or a pattern."""
    from ..io import format_of_suffix

    several = where != "-" and (Path(where).is_dir() or not Path(where).exists())
    if several and (output == "-" or Path(output).is_file() or format_of_suffix(Path(output))):
        raise InputError(
            f"{where} may be several files, which are scored into a folder under the same names, "
            f"but {output!r} is not a folder."
        )
    return several or (output != "-" and Path(output).is_dir())


def print_summary(summary: ScoringSummary, output: str, out: CommandOutput) -> None:
    """Print how much was scored."""
    where = "standard output" if output == "-" else output
    files = f" in {summary.files} files" if summary.files != 1 or summary.kept else ""
    kept = f", {summary.kept} files kept from before" if summary.kept else ""
    out.result(
        {"output": output, "rows": summary.rows, "files": summary.files, "kept": summary.kept},
        f"Scored {summary.rows:,} rows{files}{kept}: {where}",
    )
