"""ctad score"""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from . import _options as option
from ._console import Talk, talking

if TYPE_CHECKING:
    from ..io import Progress, Summary
    from ..wrapper import CalibratedDetector


def score(
    model: option.Model,
    table: option.New,
    output: option.Output,
    batch_rows: option.BatchRows = None,
    encoding: option.Encoding = None,
    delimiter: option.Delimiter = None,
    json: option.Json = False,
) -> None:
    """Score rows: higher = more anomalous.

    The output has all columns of the input, and ctad_base_score (the detector's), ctad_delta
    (the calibration term), ctad_score (both together) and, if rows were held out of training,
    ctad_p_value (how often normal rows score as high). It appears when it is complete. Of several
    files, those finished before are kept, so that a rerun goes on with the rest.
    """
    with talking(json, output) as talk:
        detector = load_detector(model)
        tell_of_batches(detector, talk)
        with model.open("rb") as file:
            checksum = file_digest(file, "sha256").hexdigest()
        summary = score_tables(
            detector,
            table,
            output,
            talk,
            model_sha256=checksum,
            batch_rows=batch_rows,
            encoding=encoding,
            delimiter=delimiter,
        )
        show_scored(summary, output, talk)


def load_detector(path: Path) -> CalibratedDetector:
    """A detector that can score tables."""
    from ..persistence import load
    from ..wrapper import CalibratedDetector

    model = load(path)
    if not isinstance(model, CalibratedDetector):
        raise InputError(
            f"{path} holds a {type(model).__name__} without detector, which gives no scores. "
            "Use `ctad calibrate` for scores made elsewhere."
        )
    return model


def tell_of_batches(model: CalibratedDetector, talk: Talk) -> None:
    """Say if scores are not a row's own."""
    if model.batch_dependent_:
        talk.notice(
            f"{type(model.detector_).__name__} scores a row differently in a different batch: "
            "scores depend on --batch-rows."
        )


def refuse_learnt_label(label: str | None, detector: CalibratedDetector, model: Path) -> None:
    """Raise if the model takes labels for something to learn from."""
    if label in detector.column_types().names:
        raise InputError(
            f"{model} takes the label {label!r} for a column to learn from. Train it anew with "
            f"--label {label}."
        )


def score_tables(
    model: Any, where: str, output: str, talk: Talk, *, model_sha256: str, **reading: Any
) -> Summary:
    """Score a file into a file, or several into a folder."""
    from ..io import find_tables, score_file, score_folder

    files = find_tables(where)
    into_folder = goes_into_folder(where, output)
    with talk.progress("Scoring") as watch:

        def show(progress: Progress) -> None:
            place = f" ({files.index(progress.file) + 1}/{len(files)})" if len(files) > 1 else ""
            done = progress.rows if progress.unit == "rows" else progress.done
            watch(progress.rows, done, progress.total, f"Scoring {progress.file}{place}")

        if into_folder:
            return score_folder(
                model, files, output, model_sha256=model_sha256, progress=show, **reading
            )
        return score_file(model, files[0], output, progress=show, **reading)


def goes_into_folder(where: str, output: str) -> bool:
    """Whether the output is a folder: if the input is one, or a pattern."""
    from ..io import format_of_suffix

    several = where != "-" and (Path(where).is_dir() or not Path(where).exists())
    if several and (output == "-" or Path(output).is_file() or format_of_suffix(Path(output))):
        raise InputError(
            f"{where} may be several files, which are scored into a folder of the same names: "
            f"{output!r} is none."
        )
    return several or (output != "-" and Path(output).is_dir())


def show_scored(summary: Summary, output: str, talk: Talk) -> None:
    """Say what was scored."""
    where = "standard output" if output == "-" else output
    files = f" in {summary.files} files" if summary.files != 1 or summary.kept else ""
    kept = f", {summary.kept} files kept from before" if summary.kept else ""
    talk.result(
        {"output": output, "rows": summary.rows, "files": summary.files, "kept": summary.kept},
        f"Scored {summary.rows:,} rows{files}{kept}: {where}",
    )
