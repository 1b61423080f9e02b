"""Grading the programs of a class side by side: here, or on a Dask cluster.

`grade_one` is a pure function that can be sent to any process.  What is the grader's fault is tried
three times and is then a `fault`, never a verdict.
"""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import islice
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from grader import forms
from grader.bank import load
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.classroom import AssignedQuestion, ProgramGrade, SubmittedProgram
from grader.model.errors import DrillError, GraderError, UsageError, to_machine_error
from grader.model.limits import MAX_GRADE_SECONDS
from grader.model.question import Question
from grader.model.report import Verdict
from grader.model.version import __version__
from grader.sandbox.scratch_folder import ScratchFolder

MAX_TRIES = 3  # of a grade that is the grader's fault, before it is left for another day
JOBS_PER_PROCESS = 2  # jobs for each process: one that it works on, and the next
LEVELS = ("process", "limited", "strong")
_LOOK = 5.0  # seconds after which a pool is looked at again: it may have grown
_CONNECTING = 10.0  # seconds for a Dask scheduler to answer
_MOST_AT_ONCE = 1000
_ENDED = "the process that graded it ended, each time"
_STARTING = 300.0  # seconds for a process to import the program


@dataclass(frozen=True, slots=True)
class GradingJob:
    """A program to be graded, and all that decides the outcome, so that it can be sent anywhere."""

    key: str
    question: AssignedQuestion
    program: SubmittedProgram
    seed: int
    level: str
    stretch: bool = False  # whether what is only reported is measured
    literal: bool = False  # whether answers that are texts are read literally
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # where no bank is reached


# In the process that grades.

# Sessions that wait for the next program, as jobs come question by question: one for each thread,
# of which Dask may have several.
_idle: list[tuple[AssignedQuestion, GradingSession]] = []


def grade_one(job: GradingJob) -> ProgramGrade:
    """Grade one program: what it does becomes a verdict, whatever else goes wrong a `fault`."""
    session: GradingSession | None = None
    try:
        with suppress(IndexError):  # none waits
            asked, session = _idle.pop()
            sets = len(session.question.spec.given) or 1
            if asked != job.question or job.seed % sets != session.question.number_set:
                session.close()
                session = None
        question = job.question
        if session is None:
            loaded = _loaded(job)
            asked_for = with_equal_points(loaded) if question.shared else loaded
            session = GradingSession(asked_for, parts=question.parts)
        form = forms.form_of(session.question.spec)
        file = "your answers" if form.is_text else form.file  # which may have any name
        try:
            report = session.grade(
                job.program.main,
                seed=job.seed,
                filename=file,
                options=GradeOptions(
                    modules=job.program.modules,
                    measures_stretch=job.stretch,
                    lenient=True,
                    literal=job.literal,
                ),
            )
        except BaseException:
            session.close()  # its state is unknown
            raise
        _idle.append((question, session))
        if question.shared and report.unchanged:  # which passes some of its checks
            parts = tuple(replace(part, points=0) for part in report.parts)
            checks = tuple(replace(check, points=0) for check in report.checks)
            report = replace(report, parts=parts, checks=checks)
    except Exception as error:  # noqa: BLE001 - a bug of ours must not cost anybody a grade
        return ProgramGrade(job.key, fault=_words(error))
    if report.verdict is Verdict.INVALID:
        return ProgramGrade(job.key, report, report.message or f"the verdict is {report.verdict}")
    if report.isolation and LEVELS.index(report.isolation) < LEVELS.index(job.level):
        text = f"isolation: expected {job.level}, found {report.isolation}"
        return ProgramGrade(job.key, report, f"{text}; drill doctor shows what this machine lacks")
    return ProgramGrade(job.key, report)


def with_equal_points(question: Question) -> Question:
    """A question whose parts give equal points to their checks, where its author gave none.

    Whole points: the first checks have one more where they do not divide.  A part with more checks
    than points is worth all or nothing.
    """
    parts = []
    for part in question.spec.parts:
        deciding = [check.id for check in part.checks if not check.stretch]
        each, more = divmod(part.points, len(deciding) or 1)
        if each and not any(check.points for check in part.checks):
            worth = {name: each + (at < more) for at, name in enumerate(deciding)}
            checks = [c.model_copy(update={"points": worth.get(c.id)}) for c in part.checks]
            part = part.model_copy(update={"checks": checks})
        parts.append(part)
    return replace(question, spec=question.spec.model_copy(update={"parts": parts}))


def _loaded(job: GradingJob) -> Question:
    """Load a job's question, and refuse one that is another here, or runs on other libraries."""
    asked = job.question
    with ExitStack() as stack:
        bank = Path(asked.bank)
        if job.files:
            bank = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-bank-")))
            for name, content in job.files.items():
                (bank / name).parent.mkdir(parents=True, exist_ok=True)
                (bank / name).write_bytes(content)
        question = load([bank], asked.id, job.seed)
    if question.digest != asked.digest:
        raise DrillError(f"{asked.id} was changed since grading began: start it again")
    here = library_versions(asked.libraries)
    there = asked.libraries
    if wrong := [name for name in there if here[name] != there[name]]:
        text = "; ".join(f"expected {n} {there[n]}, found {here[n]}" for n in wrong)
        raise DrillError(f"{os.uname().nodename} has other versions: {text}")
    return question


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, drill and libraries in this process, "none" of others."""
    found = {"python": platform.python_version(), "drill": __version__}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            found[name] = found.get(name) or metadata.version(name)
    return {name: found.get(name, "none") for name in names}


# In the process that has them graded.


def grade_all(
    jobs: Iterable[GradingJob], pool: LocalPool | DaskPool
) -> Generator[ProgramGrade, None, None]:
    """Grade jobs, and give each outcome as it comes.

    Few jobs are taken at a time, so that it needs no more memory for many. GraderError if no
    process can be started.
    """
    todo = iter(jobs)
    running = set[Future[ProgramGrade]]()
    # The threads, and so the processes that they start, do not hear an interrupt.
    mask = (signal.SIG_BLOCK, {signal.SIGINT})
    threads = ThreadPoolExecutor(_MOST_AT_ONCE, "", signal.pthread_sigmask, mask)
    try:
        while True:
            room = max(0, JOBS_PER_PROCESS * max(1, pool.size) - len(running))
            running |= {threads.submit(_tried, job, pool) for job in islice(todo, room)}
            if not running:
                break
            done, running = wait(running, timeout=_LOOK, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.close()
        threads.shutdown(wait=True, cancel_futures=True)


def _tried(job: GradingJob, pool: LocalPool | DaskPool) -> ProgramGrade:
    for tried in range(1, MAX_TRIES + 1):
        try:
            graded = pool.grade(job)
        except NotStartedError as error:
            graded = ProgramGrade(job.key, fault=_ENDED)
            if tried == MAX_TRIES:
                text = "no process that grades can be started"
                hint = "drill doctor shows what this machine lacks"
                raise GraderError(text, hint=hint) from error
        except EOFError:
            graded = ProgramGrade(job.key, fault=_ENDED)
        except DrillError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a cluster raises
            graded = ProgramGrade(job.key, fault=_words(error))
        if graded.is_final or pool.size == 0:
            break
    return graded


class NotStartedError(EOFError):
    """A process that grades ended before it took a job."""


class LocalPool:
    """Processes of this machine, started afresh, each with sessions of its own.

    `size` is how many grade at once, 0 where the pool was closed; `grade` may be called in any
    thread, and raises EOFError where the process that graded ended.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._scratch = ScratchFolder()  # holds what these processes leave when they are killed
        self._free: SimpleQueue[tuple[Connection, subprocess.Popen[bytes]] | None] = SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        for _ in range(size):
            self._free.put(None)

    def grade(self, job: GradingJob) -> ProgramGrade:
        one = self._free.get()
        try:
            if not self.size:  # closed meanwhile
                raise EOFError
            pipe, _ = one = one or self._start()
            pipe.send(job)
            if not pipe.poll(MAX_GRADE_SECONDS):
                raise EOFError
            found: ProgramGrade = pipe.recv()
        except (EOFError, OSError) as error:
            if one is not None:
                _end(one[1])
                one = None
            raise (error if isinstance(error, EOFError) else EOFError()) from error
        finally:
            self._free.put(one)
        return found

    def _start(self) -> tuple[Connection, subprocess.Popen[bytes]]:
        """Start a process that grades.

        It is isolated: the current folder, which may be that of the submissions, is not on its
        path. `multiprocessing` would put it there. Its standard input ends when this process does.
        """
        pipe, theirs = Pipe()
        with theirs:
            given = (str(theirs.fileno()), str(self._scratch.root), *filter(None, sys.path))
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _SERVE, *given],
                stdin=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
            )
        self._started.append(process)
        try:
            if not pipe.poll(_STARTING):
                raise EOFError
            pipe.recv()
        except (EOFError, OSError) as error:
            _end(process)
            raise NotStartedError from error
        return pipe, process

    def close(self) -> None:
        self.size = 0
        for process in list(self._started):
            _end(process)
        self._scratch.remove()


# The path of the process that starts it, so that the same program and libraries are found.
_SERVE = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from grader.classroom.grading_jobs import serve; serve(int(sys.argv[1]), sys.argv[2])"
)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def serve(descriptor: int, folder: str) -> None:
    """Grade each job that comes through a pipe, until the other end is closed.

    Temporary files are in a folder.
    """
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's, for the one that started it
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pipe = Connection(descriptor)
    with suppress(EOFError, OSError):
        pipe.send("started")
        while True:
            pipe.send(grade_one(pipe.recv()))
    for _, session in _idle:
        session.close()


def _end_with_parent() -> None:
    os.read(0, 1)  # the parent writes nothing: this returns when it is gone
    os._exit(1)


class DaskPool:
    """The workers of a Dask cluster; those that come or go while a class is graded count too."""

    def __init__(self, address: str, files: Mapping[str, Mapping[str, bytes]]) -> None:
        """Connect to a scheduler; `files` are those of each question: workers share no folder."""
        try:
            import distributed
        except ImportError as error:
            hint = "pip install 'drill-dl[dask]'"
            raise UsageError(
                "--scheduler needs distributed, which is not installed", hint=hint
            ) from error
        self._address = address
        self._files = files
        self._closed = False
        untyped: Any = distributed
        try:
            self._client = untyped.Client(address, timeout=_CONNECTING, set_as_default=False)
        except Exception as error:  # nobody answers; an address that is none; TLS not set up
            text = f"--scheduler: no Dask scheduler answers at {address}"
            hint = f"is it running, and can it be reached from here? ({_words(error)})"
            raise UsageError(text, hint=hint) from error

    @property
    def size(self) -> int:
        """Threads of all workers; 1 where there is none yet: a job then waits for the first."""
        if self._closed:
            return 0
        threads = 1
        with suppress(Exception):  # what is wrong shows where a job is submitted
            threads = max(1, sum(self._client.nthreads().values()))
        return threads

    def grade(self, job: GradingJob) -> ProgramGrade:
        """Grade one program on a worker; Dask itself tries again where one ends."""
        sent = replace(job, files=self._files[job.question.id])
        try:
            # Not pure: a program that is graded again is computed again.
            found: ProgramGrade = self._client.submit(grade_one, sent, pure=False).result()
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise EOFError from error
            if self._client.status != "running" and not self._closed:
                text = f"the Dask scheduler at {self._address} was lost"
                hint = "what was graded is kept: begun again, it goes on from there"
                raise UsageError(text, hint=hint) from error
            raise
        return found

    def close(self) -> None:
        """Cancel what is going on, and leave the cluster as it was."""
        self._closed = True
        with suppress(Exception):  # a scheduler that is gone
            self._client.close(timeout=_CONNECTING)


def _words(error: Exception) -> str:
    error = to_machine_error(error) or error
    if isinstance(error, DrillError):
        return error.message
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
