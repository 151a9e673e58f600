"""Alter stored models of every described type at random, load them, and score with them.

`make fuzz` runs a million cases, in processes that may crash; a stopped run continues. A file may
be refused, and a model may refuse rows, by errors of ctad. All else is a failure: a crash, a hang,
memory out of proportion, or an error from deep inside another library.

A case is named by its type and a number, so that it can be repeated:

    python -m tests.persistence.fuzz --reproduce ctad.calibration.CentroidDistance:7
"""

from __future__ import annotations

import os

if __name__ == "__main__":  # threads of a process do not survive in the processes it forks
    os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_THREADING_LAYER": "workqueue"}

import argparse
import contextlib
import faulthandler
import fnmatch
import gc
import hashlib
import json
import multiprocessing
import random
import re
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import Pipeline

import ctad
from ctad import CalibratedDetector, _fixed_batches
from ctad._frames import is_table, new_table, to_library
from ctad._library_versions import library_versions
from ctad._progress import progress_bar, report_progress
from ctad.calibration import CentroidDistance
from ctad.errors import InputError
from ctad.persistence import ModelFileError, _load, _reader, load, read_manifest
from ctad.persistence._arrays import array_from_bytes
from ctad.persistence._container import FORMAT_VERSION
from ctad.persistence._descriptions import DESCRIPTIONS
from ctad.persistence._kinds import NotDescribedError, Object

from .examples import X_NEW, Example
from .mutations import Model, altered_bytes, altered_text, at, file_bytes, mutated
from .opening import (
    MEMORY,
    MEMORY_PER_BYTE,
    limit_memory,
    limited_time,
    outcome_of,
    rows_for,
    short,
    use,
)
from .stored import store

FOLDER = Path(__file__).parents[2] / ".fuzz"
BATCH = 200  # cases in one process
FORK = multiprocessing.get_context("fork")
ANY_MODEL = Object(types=tuple(DESCRIPTIONS))
MANIFEST = {
    "format_version": FORMAT_VERSION,
    "ctad": ctad.__version__,
    "versions": library_versions(),
    "created": "2026-01-01T00:00:00+00:00",
    "trusted": [],
}


# Subjects: stored models -------------------------------------------------------------------------


@dataclass(frozen=True)
class Subject:
    """A stored model that gets altered.

    Attributes
    ----------
    type : str
        The type that it is an example of.
    name : str
    model : Model
    rows : array or data frame
        To score.
    """

    type: str
    name: str
    model: Model
    rows: Any

    @property
    def is_file(self) -> bool:
        """Whether a file can hold the model; else it is a part of one."""
        return _load.MODEL.allows(DESCRIPTIONS[self.model.stored["type"]])


def make_subjects(pattern: str, brief: bool, to: Connection) -> None:
    """In a process of its own: send the subjects of all examples whose type has the pattern.

    This process may start threads, which do not survive in a process forked from it.
    """
    from .test_descriptions import EXAMPLES

    examples = [each for each in EXAMPLES if fnmatch.fnmatch(each.type, pattern)]
    if brief:
        examples = list({each.type: each for each in reversed(examples)}.values())
    for number, example in enumerate(examples):
        report_progress("Making examples", number, len(examples))
        try:
            for subject in subjects_of(example, holdout=0.3 if number % 2 else None):
                to.send(subject)
        except Exception as error:
            to.send(f"{example}: {type(error).__name__}: {error}")
    to.close()


def subjects_of(example: Example, holdout: float | None) -> Iterator[Subject]:
    """An example, as users load it: detectors and transformers inside a CalibratedDetector."""
    item, role = example.made(), DESCRIPTIONS[example.type].role
    rows = X_NEW if example.rows is None else example.rows
    # A few detectors need more rows than are left.
    forms = [_wrapped(item, role, rows, holdout) or _wrapped(item, role, rows, None)]
    if role in ("model", "calibrator", "network") or (forms == [None] and role != "detector"):
        forms.append(item)
    if is_table(rows):
        rows = to_library("pandas", rows)
    for form in forms:
        if form is not None:
            yield Subject(example.type, str(example), Model(*store(form)), rows)


def _wrapped(item: Any, role: str, rows: Any, holdout: float | None) -> Any:
    """A detector or a transformer as a part of a CalibratedDetector; None if that is impossible."""
    if role not in ("detector", "network", "transformer"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if role == "transformer" and hasattr(item, "transform"):
                forest = IsolationForest(n_estimators=2, max_samples=4, random_state=0).fit(
                    item.transform(rows)
                )
                item = Pipeline([("transform", item), ("detect", forest)])
            detector = CalibratedDetector(
                item, CentroidDistance(2, random_state=0), holdout=holdout, random_state=0
            ).fit(rows)
            store(detector)
    except ValueError:  # rows that are not for a detector, or a type not described
        return None
    return detector


# Cases: one altered model each -------------------------------------------------------------------


@dataclass
class Failure:
    """What must not happen; the first case of its kind."""

    case: str
    example: str
    stage: str
    error: str
    message: str
    frame: str
    changes: list[str] = field(default_factory=list)
    count: int = 0

    @property
    def key(self) -> str:
        """The same for failures with the same cause."""
        return f"{self.case.rpartition(':')[0]} {self.stage} {self.error} {self.frame}"


class Fuzzer:
    """All subjects, and the cases made of them.

    Parameters
    ----------
    pattern : str
        Of types.
    brief : bool
        Whether to take only one example of each type.
    folder : Path
        For files.

    Attributes
    ----------
    broken : list of str
        Examples that do not work even as they are. Other tests show that as well.
    """

    def __init__(self, pattern: str, brief: bool, folder: Path) -> None:
        self.folder = folder
        self.subjects: dict[str, list[Subject]] = defaultdict(list)
        self.broken: list[str] = []
        ours, theirs = multiprocessing.Pipe(duplex=False)
        FORK.Process(target=make_subjects, args=(pattern, brief, theirs), daemon=True).start()
        theirs.close()
        with contextlib.suppress(EOFError):
            while True:
                self._add(ours.recv())
        self.broken += [
            f"{name}: none of its examples"
            for name in fnmatch.filter(DESCRIPTIONS, pattern)
            if name not in self.subjects
        ]
        self.pool = [
            part
            for subjects in self.subjects.values()
            for subject in subjects
            for part in (
                subject.model,
                *(subject.model.part(place) for place in subject.model.objects),
            )
        ]

    def _add(self, subject: Subject | str) -> None:
        if isinstance(subject, str):
            self.broken.append(subject)
            return
        self.subjects[subject.type].append(subject)
        if subject.model.stored["fitted"].get("detector_form") != "polars":  # it starts threads
            try:  # what is compiled is compiled once
                use(opened(subject.model), subject.rows)
            except InputError:
                pass  # a calibrator may need scores
            except Exception as error:
                self.broken.append(f"{subject.name}: {type(error).__name__}: {error}")

    def subject(self, case: str) -> Subject:
        """The subject of a case."""
        name, _, number = case.rpartition(":")
        subjects = self.subjects[name]
        return subjects[int(number) % len(subjects)]

    def altered(self, case: str) -> Model | bytes:
        """The altered model or file."""
        subject, choose = self.subject(case), random.Random(case)
        form = choose.random()
        if not subject.is_file or form < 0.9:
            return mutated(subject.model, choose, self.pool)
        if form < 0.94:
            return _signed_file(mutated(subject.model, choose, self.pool))
        if form < 0.97:
            return altered_bytes(_signed_file(subject.model), choose)
        text = altered_text(_signed_manifest(subject.model), choose)
        return file_bytes(text, subject.model.entries)

    def outcome(self, case: str) -> str | Failure:
        """Load and use the altered model of a case; what came of it."""
        subject = self.subject(case)
        altered = self.altered(case)
        outcome = outcome_of(lambda: self.loaded(altered), subject.rows, not subject.is_file)
        if outcome.name != "failed":
            return outcome.name
        return Failure(
            case, subject.name, outcome.stage, outcome.error, outcome.message, outcome.frame
        )

    def loaded(self, altered: Model | bytes) -> Any:
        """The object of a model, or of a file."""
        if isinstance(altered, Model):
            return opened(altered)
        path = self.folder / f"{os.getpid()}.ctad"
        path.write_bytes(altered)
        try:
            with contextlib.suppress(ModelFileError):
                read_manifest(path)
            return load(path)
        finally:
            path.unlink()

    def changes(self, case: str) -> list[str]:
        """What was altered, in words."""
        altered = self.altered(case)
        if isinstance(altered, bytes):
            return [f"a file of {len(altered)} bytes"]
        return [line[:300] for line in differences(self.subject(case).model, altered)][:30]


def _signed_manifest(model: Model) -> str:
    listed = {
        name: {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        for name, content in model.entries.items()
    }
    return json.dumps({**MANIFEST, "model": model.stored, "entries": listed})


def _signed_file(model: Model) -> bytes:
    return file_bytes(_signed_manifest(model), model.entries)


def opened(model: Model) -> Any:
    """What `load` makes of a model, without a file. Parts of models are loaded as well."""
    content = {**MANIFEST, "model": model.stored}, model.entries
    with (
        patch.object(_reader, "library_versions", lambda: MANIFEST["versions"]),  # slow
        patch.object(_load, "read_container", lambda *_: content),
        patch.object(_load, "MODEL", ANY_MODEL),
    ):
        return load("model.ctad")


# Processes ---------------------------------------------------------------------------------------


def memory_for(model: Model) -> int:
    """The memory that a model may take."""
    return MEMORY + MEMORY_PER_BYTE * sum(map(len, model.entries.values()))


def work(fuzzer: Fuzzer, cases: list[str], to: Connection, log: Path) -> None:
    """In a process of its own: send the outcome and the time of each case."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    to_library("polars", new_table({"a": [1.0]}))  # it starts its threads, which take memory
    with log.open("w") as file:
        faulthandler.enable(file)
        for case in cases:
            limit_memory(memory_for(fuzzer.subject(case).model))
            start = time.perf_counter()
            with limited_time(file):
                outcome = fuzzer.outcome(case)
            if isinstance(outcome, Failure):
                outcome.changes = fuzzer.changes(case)
            told = outcome if isinstance(outcome, str) else asdict(outcome)
            to.send_bytes(json.dumps([told, time.perf_counter() - start]).encode())


class Batch:
    """Cases in a process of their own."""

    def __init__(self, fuzzer: Fuzzer, cases: list[str]) -> None:
        self.fuzzer, self.cases, self.n_done = fuzzer, cases, 0
        self.connection, theirs = multiprocessing.Pipe(duplex=False)
        self.log = fuzzer.folder / f"{cases[0]}.log"
        self.process = FORK.Process(
            target=work, args=(fuzzer, cases, theirs, self.log), daemon=True
        )
        self.process.start()
        theirs.close()

    def received(self) -> tuple[str, str | Failure, float] | None:
        """The next case, its outcome and its time; None after the last one."""
        try:
            outcome, seconds = json.loads(self.connection.recv_bytes())
        except EOFError:
            self.process.join()
            return None
        self.n_done += 1
        if not isinstance(outcome, str):
            outcome = Failure(**outcome)
        return self.cases[self.n_done - 1], outcome, seconds

    def death(self) -> Failure | None:
        """The failure that ended the process; None if all cases were done."""
        code, text = self.process.exitcode, self.log.read_text()
        self.log.unlink()
        if self.n_done == len(self.cases):
            return None
        case = self.cases[self.n_done]
        how = signal.Signals(-code).name if code and code < 0 else "SIGPROF"
        how = "hang" if how == "SIGPROF" else how
        frame = re.search(r'File "(.*)", line (\d+) in (\S+)', text)
        line = "" if frame is None or how == "hang" else frame[2]  # it hangs somewhere in a loop
        where = "" if frame is None else f"{short(frame[1])}:{line} {frame[3]}"
        failure = Failure(case, self.fuzzer.subject(case).name, "process", how, "", where)
        failure.changes = self.fuzzer.changes(case)
        return failure


def confirmed(fuzzer: Fuzzer, failure: Failure, cases: list[str]) -> Failure | None:
    """Run a case that ended its process alone, then together with more of the cases before it."""
    last, n_cases = cases.index(failure.case), 1
    while True:
        batch = Batch(fuzzer, cases[max(last + 1 - n_cases, 0) : last + 1])
        while batch.received() is not None:
            pass
        again = batch.death()
        if again is not None:
            if n_cases > 1:
                again.message = f"only after the {n_cases - 1} cases before it"
            return again
        if n_cases > last:
            return None  # a hang because the machine was busy
        n_cases *= 4


# A run -------------------------------------------------------------------------------------------


@dataclass
class State:
    """What was done so far."""

    first: int = 0
    next: dict[str, int] = field(default_factory=dict)
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failures: dict[str, dict[str, Any]] = field(default_factory=dict)
    wall_seconds: float = 0.0

    @classmethod
    def read(cls, path: Path, first: int) -> State:
        """The state of a run that was stopped, or a new one."""
        return cls(**json.loads(path.read_text())) if path.exists() else cls(first)

    def write(self, path: Path) -> None:
        """Keep the state."""
        part = path.with_suffix(".part")
        part.write_text(json.dumps(asdict(self), indent=1))
        part.replace(path)

    @property
    def n_cases(self) -> int:
        """The number of cases done."""
        return sum(sum(counts.values()) for counts in self.counts.values())

    def add(self, case: str, outcome: str | Failure, seconds: float) -> None:
        """Count the outcome of a case."""
        name = case.rpartition(":")[0]
        if isinstance(outcome, Failure):
            self.failures.setdefault(outcome.key, asdict(outcome))["count"] += 1
            outcome = "failed"
        counts = Counter(self.counts.get(name, {}))
        counts[outcome] += 1
        self.counts[name] = dict(counts)
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def next_cases(self, types: Iterable[str], total: int) -> list[str]:
        """A batch of the type with the fewest cases, then of the one that took the least time."""
        next_of = {name: self.next.get(name, self.first) for name in types}
        enough = min(1000, max(total // (2 * len(next_of)), 1))
        name = min(next_of, key=next_of.__getitem__)
        if next_of[name] >= self.first + enough:
            name = min(next_of, key=lambda name: self.seconds.get(name, 0.0))
        self.next[name] = next_of[name] + min(BATCH, enough)
        return [f"{name}:{number}" for number in range(next_of[name], self.next[name])]

    def report(self) -> str:
        """Counts by type, and all failures."""
        outcomes = ("refused", "scored", "rows refused", "failed")
        lines = [f"{'type':60} {'cases':>9} " + " ".join(f"{name:>12}" for name in outcomes)]
        sums: Counter[str] = Counter()
        for name, counts in sorted(self.counts.items()):
            sums.update(counts)
            lines.append(_line(name, counts, outcomes))
        lines.append(_line("all", sums, outcomes))
        rate = self.n_cases / self.wall_seconds if self.wall_seconds else 0.0
        lines.append(f"{self.n_cases:,} cases, {rate:.0f} per second")
        for failure in sorted(self.failures.values(), key=lambda failure: failure["case"]):
            lines += [
                "",
                f"{failure['example']}, {failure['count']} times: {failure['stage']}: "
                f"{failure['error']}: {failure['message']} [{failure['frame']}]",
                f"    python -m tests.persistence.fuzz --reproduce {failure['case']}",
                *(f"    {line}" for line in failure["changes"]),
            ]
        return "\n".join(lines)


def _line(name: str, counts: dict[str, int], outcomes: tuple[str, ...]) -> str:
    numbers = " ".join(f"{counts.get(outcome, 0):12,}" for outcome in outcomes)
    return f"{name:60} {sum(counts.values()):9,} {numbers}"


def run(fuzzer: Fuzzer, state: State, total: int, n_processes: int, path: Path) -> None:
    """Do cases until there are `total`."""
    running: list[Batch] = []
    waiting: list[list[str]] = []
    before, start, saved = state.wall_seconds, time.monotonic(), time.monotonic()
    gc.freeze()  # collections in the processes would copy the memory that they share
    try:
        while running or waiting or state.n_cases < total:
            while len(running) < n_processes and (waiting or state.n_cases < total):
                cases = waiting.pop() if waiting else state.next_cases(fuzzer.subjects, total)
                running.append(Batch(fuzzer, cases))
            ready = wait([batch.connection for batch in running], timeout=1)
            for batch in [batch for batch in running if batch.connection in ready]:
                done = batch.received()
                if done is not None:
                    state.add(*done)
                    continue
                running.remove(batch)
                failure = batch.death()
                if failure is not None:
                    failure = confirmed(fuzzer, failure, batch.cases)
                    case = batch.cases[batch.n_done]
                    state.add(case, failure or "scored", 0.0)
                    if rest := batch.cases[batch.n_done + 1 :]:
                        waiting.append(rest)
            report_progress(f"{len(state.failures)} failures", state.n_cases, total)
            if time.monotonic() - saved > 5:
                saved = time.monotonic()
                state.wall_seconds = before + saved - start
                state.write(path)
    finally:
        state.wall_seconds = before + time.monotonic() - start
        for batch in running:
            batch.process.terminate()
            batch.process.join()
            batch.log.unlink(missing_ok=True)
        state.write(path)


def reproduce(fuzzer: Fuzzer, case: str) -> None:
    """Repeat a case here, and show what was altered."""
    subject, altered = fuzzer.subject(case), fuzzer.altered(case)
    print(f"{subject.name}, stored as {subject.model.stored['type']}")
    print(*fuzzer.changes(case), sep="\n", flush=True)
    faulthandler.enable()
    limit_memory(memory_for(subject.model))
    with limited_time(sys.stderr):
        model = fuzzer.loaded(altered)
        use(model, rows_for(model, subject.rows))
    print("scored")


def differences(old: Model, new: Model) -> Iterator[str]:
    """What was altered, in words."""
    for path in new.keys:
        value, name = at(new.stored, path), ".".join(map(str, path))
        try:
            before = at(old.stored, path)
        except (LookupError, TypeError):
            yield f"{name}: {value!r:.200} (new)"
            continue
        both_contain_more = type(value) is type(before) and isinstance(value, dict | list)
        if (before != value or type(before) is not type(value)) and not both_contain_more:
            yield f"{name}: {value!r:.200} (was {before!r:.200})"
    for path in old.keys:
        try:
            at(new.stored, path)
        except (LookupError, TypeError):
            yield f"{'.'.join(map(str, path))}: removed"
    for place in old.arrays:
        name = at(old.stored, place.path)["array"]
        before, content = old.entries[name], new.entries.get(name, old.entries[name])
        if content != before:
            place_name = ".".join(map(str, place.path))
            yield f"{place_name}: {_shown(content)} (was {_shown(before)})"


def _shown(content: bytes) -> str:
    try:
        values = array_from_bytes(content)
    except NotDescribedError:
        return f"{content[:100]!r}"
    text = np.array2string(values, threshold=12, edgeitems=3).replace("\n", "")
    return f"{values.dtype} {values.shape} {text}"


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10**6, help="in all, with earlier runs")
    parser.add_argument("--first", type=int, default=0, help="number of the first case of a type")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the state is kept")
    parser.add_argument("--types", default="*", help="a pattern such as 'pyod.*'")
    parser.add_argument("--brief", action="store_true", help="only one example of each type")
    parser.add_argument("--reproduce", metavar="CASE", help="repeat one case here")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    _fixed_batches.BATCH_ROWS = 16  # rows are padded to this number: few are quicker
    with progress_bar(show=True):
        fuzzer = Fuzzer(options.types, options.brief, options.folder)
        if options.reproduce:
            reproduce(fuzzer, options.reproduce)
            return 0
        path = options.folder / "state.json"
        state = State.read(path, options.first)
        with contextlib.suppress(KeyboardInterrupt):
            run(fuzzer, state, options.cases, options.processes, path)
    report = state.report()
    report += "".join(f"\n{line}, not altered" for line in fuzzer.broken)
    (options.folder / "report.txt").write_text(report)
    print(report)
    return int(bool(state.failures or fuzzer.broken))


if __name__ == "__main__":
    sys.exit(main())
