"""One program to be graded, and grading it: a pure function, in whichever process it is called.

What never changes between two submissions of a question is kept in the process (`Sessions`).
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import json
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from grader import __version__
from grader.forms import registry as forms
from grader.model.classroom import Graded, Posed, Terms
from grader.model.errors import DrillError
from grader.model.question import Question
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.session import GradingSession

KEPT = 4  # sessions that wait in a process for the next submission of their question
QUESTIONS = 32  # that stay loaded in a process
LEVELS = ("process", "limited", "strong")


@dataclass(frozen=True, slots=True)
class Job:
    """A program to be graded; all that decides the outcome, so that it can be sent anywhere."""

    key: str
    question: str  # id
    digest: str
    parts: tuple[int, ...]
    seed: int
    level: str
    source: bytes
    libraries: Mapping[str, str]
    bank: str  # path of the question's bank, where it can be reached ...
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # ... else all its files


def job_for(
    terms: Terms, posed: Posed, source: bytes, files: Mapping[str, bytes] | None = None
) -> Job:
    """Put together what grades a program for a question of a class."""
    sha256 = hashlib.sha256(source).hexdigest()
    return Job(
        key_of(terms, posed, sha256),
        posed.id,
        posed.digest,
        posed.parts,
        terms.seed,
        terms.level,
        source,
        posed.libraries,
        posed.bank,
        files or {},
    )


def key_of(terms: Terms, posed: Posed, sha256: str) -> str:
    """Return what a grade is found by: equal where nothing that decides its outcome differs."""
    decides = [
        sha256, posed.digest, posed.parts, terms.seed, terms.level, terms.program,
        sorted(posed.libraries.items()),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:32]


def grade_one(job: Job) -> Graded:
    """Grade one program.

    Whatever it does becomes a verdict; whatever else goes wrong becomes a `fault`, which is never
    the submission's.  It can be pickled, as its argument and its result can.
    """
    try:
        report, fault = _graded(job)
    except DrillError as error:
        report, fault = None, error.message
    except Exception as error:  # noqa: BLE001 - a fault of the program itself must not cost anybody a grade
        report, fault = None, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return Graded(job.key, report, fault)


def _graded(job: Job) -> tuple[Report, str]:
    report = _sessions().grade(job)
    if report.verdict in {Verdict.INVALID, Verdict.INTERNAL}:
        return report, report.message or f"the verdict is {report.verdict}"
    if report.isolation and LEVELS.index(report.isolation) < LEVELS.index(job.level):
        text = f"isolation: expected {job.level}, found {report.isolation}"
        return report, f"{text}; drill doctor shows what this machine lacks"
    return report, ""


class Sessions:
    """Open sessions by question, each lent to one thread at a time, and loaded questions."""

    def __init__(self, most: int = KEPT) -> None:
        """Open none yet; at most so many wait for another submission."""
        self._most = most
        self._lock = threading.Lock()
        self._idle: OrderedDict[int, tuple[object, GradingSession]] = OrderedDict()
        self._questions: OrderedDict[str, Question] = OrderedDict()  # by digest

    def grade(self, job: Job) -> Report:
        """Grade a program in a session of its question.

        Raises:
            DrillError: The question cannot be loaded here, or is another one.
        """
        with self._lent(job) as session:
            file = forms.of(session.question.spec).file
            return session.grade(job.source, seed=job.seed, filename=file)

    @contextmanager
    def _lent(self, job: Job) -> Iterator[GradingSession]:
        wanted = (job.digest, job.parts)
        with self._lock:
            found = next((n for n, (key, _) in self._idle.items() if key == wanted), None)
            session = None if found is None else self._idle.pop(found)[1]
        session = session or self._opened(job)
        try:
            yield session
        except BaseException:
            session.close()  # nobody knows what state it is in
            raise
        with self._lock:
            self._idle[id(session)] = wanted, session
            over = [
                self._idle.popitem(last=False)[1][1] for _ in range(len(self._idle) - self._most)
            ]
        for one in over:
            one.close()

    def _opened(self, job: Job) -> GradingSession:
        """Open a session of a job's question.

        Raises:
            DrillError: The question cannot be loaded here, or is another one.
        """
        with self._lock:
            question = self._questions.get(job.digest)
        question = question or _loaded(job)
        with self._lock:
            self._questions[job.digest] = question
            if len(self._questions) > QUESTIONS:
                self._questions.popitem(last=False)
        here = versions(job.libraries)
        if wrong := [name for name in job.libraries if here[name] != job.libraries[name]]:
            text = "; ".join(f"expected {n} {job.libraries[n]}, found {here[n]}" for n in wrong)
            raise DrillError(f"{os.uname().nodename} has other versions: {text}")
        return GradingSession(question, parts=job.parts)

    def close(self) -> None:
        """End every process of every session that waits."""
        with self._lock:
            idle, self._idle = self._idle, OrderedDict()
        for _, session in idle.values():
            session.close()


@functools.cache
def _sessions() -> Sessions:
    """Those of this process."""
    sessions = Sessions()
    atexit.register(sessions.close)
    return sessions


def _loaded(job: Job) -> Question:
    """Load a job's question.

    Raises:
        DrillError: It cannot be loaded here, or is another one.
    """
    from grader.bank import load

    with _bank(job) as bank:
        question = load([bank], job.question)
    if question.digest != job.digest:
        raise DrillError(f"{job.question} was changed since grading began: start it again")
    return question


@contextmanager
def _bank(job: Job) -> Iterator[Path]:
    """Give the bank of a job, where it lies or made of the files that the job carries."""
    if not job.files:
        yield Path(job.bank)
        return
    with tempfile.TemporaryDirectory(prefix="drill-bank-") as folder:
        for name, content in job.files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield Path(folder)


def versions(names: Mapping[str, str] | tuple[str, ...]) -> dict[str, str]:
    """Return the versions that this process has, of Python and of libraries, "none" of others."""
    import platform
    from importlib import metadata

    found = {}
    for name in names:
        found[name] = platform.python_version() if name == "python" else "none"
        with suppress(metadata.PackageNotFoundError):
            if name not in {"python", "drill"}:
                found[name] = metadata.version(name)
    return found | ({"drill": __version__} if "drill" in names else {})
