"""Grade the programs of a class in parallel, on this machine or on a Dask cluster.

`grade_one` can be sent to any process.  If the grader fails, the program is graded again, at most
three times in all.  The last error becomes the `fault` of the grade, never a verdict.
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
from typing import Any, NamedTuple

from grader import forms
from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.classroom import AssignedQuestion, ProgramGrade, SubmittedProgram
from grader.model.errors import DrillError, GraderError, UsageError, to_machine_error
from grader.model.limits import MAX_GRADE_SECONDS
from grader.model.question import Question
from grader.model.report import Report, Verdict
from grader.model.version import __version__
from grader.sandbox.scratch_folder import ScratchFolder

MAX_TRIES = 3  # to grade a program, if the grader fails; then the next `class grade` tries again
JOBS_PER_PROCESS = 2  # one that it works on, and the next
LEVELS = ("process", "limited", "strong")
_POOL_CHECK_SECONDS = 5.0  # until the size of a pool is read again: it may have grown
_CONNECT_SECONDS = 10.0  # for a Dask scheduler to answer
_STARTUP_SECONDS = 300.0  # for a process to import the program
_MAX_THREADS = 1000


@dataclass(frozen=True, slots=True)
class GradingJob:
    """A program to grade, with everything that affects the result."""

    key: str  # of the grade, as `results.grade_key` returns it
    question: AssignedQuestion
    program: SubmittedProgram
    seed: int
    level: str  # minimum isolation, one of `LEVELS`
    stretch: bool = False  # stretch checks run
    literal: bool = False  # text answers are read literally
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)  # of its bank, for Dask


# In the process that grades.

# Sessions that wait for the next program, since jobs are sorted by question: one for each thread.
# A worker of Dask may have several threads.
_idle: list[tuple[AssignedQuestion, GradingSession]] = []


def grade_one(job: GradingJob) -> ProgramGrade:
    """Grade one program. An error of the grader becomes a `fault`."""
    try:
        session = _take_session(job)
        try:
            report = _grade_in_session(job, session)
        except BaseException:
            session.close()  # its state is unknown
            raise
        _idle.append((job.question, session))
        if job.question.shared and report.unchanged:
            report = _without_points(report)
    except Exception as error:  # noqa: BLE001 - a bug of ours must not cost anybody a grade
        return ProgramGrade(job.key, fault=_error_text(error))
    fault = ""
    if report.verdict is Verdict.INVALID:
        fault = report.message or f"the verdict is {report.verdict}"
    elif report.isolation and LEVELS.index(report.isolation) < LEVELS.index(job.level):
        fault = (
            f"isolation: expected {job.level}, found {report.isolation}; "
            "drill doctor shows what this machine lacks"
        )
    return ProgramGrade(job.key, report, fault)


def _take_session(job: GradingJob) -> GradingSession:
    """Return an idle session if it is for the job's question, else close it and open a new one."""
    with suppress(IndexError):  # every session is busy
        assigned, session = _idle.pop()
        sets = len(session.question.spec.given) or 1
        if assigned == job.question and job.seed % sets == session.question.number_set:
            return session
        session.close()
    question = _load_question(job)
    if job.question.shared:
        question = with_equal_points(question)
    return GradingSession(question, parts=job.question.parts)


def _grade_in_session(job: GradingJob, session: GradingSession) -> Report:
    form = forms.form_of(session.question.spec)
    return session.grade(
        job.program.main,
        seed=job.seed,
        filename="your answers" if form.is_text else form.file,  # the real name may be any
        options=GradeOptions(
            modules=job.program.modules,
            measures_stretch=job.stretch,
            lenient=True,
            literal=job.literal,
        ),
    )


def _without_points(report: Report) -> Report:
    """Return the report of an unchanged starter, which passes some checks but earns nothing."""
    return replace(
        report,
        parts=tuple(replace(part, points=0) for part in report.parts),
        checks=tuple(replace(check, points=0) for check in report.checks),
    )


def with_equal_points(question: Question) -> Question:
    """Return a question in which each part divides its points equally among its required checks.

    A part whose author wrote points at checks keeps them. Points are integers: the first checks
    have one more if the points do not divide. A part with more checks than points is worth all or
    nothing.
    """
    parts = []
    for part in question.spec.parts:
        required = [check.id for check in part.checks if not check.stretch]
        points_each, remainder = divmod(part.points, len(required) or 1)
        if points_each and not any(check.points for check in part.checks):
            points = dict.fromkeys(required, points_each)
            for check_id in required[:remainder]:
                points[check_id] += 1
            checks = [
                check.model_copy(update={"points": points.get(check.id)}) for check in part.checks
            ]
            part = part.model_copy(update={"checks": checks})
        parts.append(part)
    return replace(question, spec=question.spec.model_copy(update={"parts": parts}))


def _load_question(job: GradingJob) -> Question:
    """Load a job's question; DrillError if it or the libraries differ from those of the job."""
    assigned = job.question
    with ExitStack() as stack:
        bank = Path(assigned.bank)
        if job.files:
            bank = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="drill-bank-")))
            for name, content in job.files.items():
                (bank / name).parent.mkdir(parents=True, exist_ok=True)
                (bank / name).write_bytes(content)
        question = load_question([bank], assigned.id, job.seed)
    if question.digest != assigned.digest:
        raise DrillError(f"{assigned.id} was changed since grading began: start it again")
    installed = library_versions(assigned.libraries)
    differences = [
        f"expected {name} {version}, found {installed[name]}"
        for name, version in assigned.libraries.items()
        if installed[name] != version
    ]
    if differences:
        raise DrillError(f"{os.uname().nodename} has other versions: {'; '.join(differences)}")
    return question


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python, drill and libraries in this process; "none" if missing."""
    versions = {"python": platform.python_version(), "drill": __version__}
    for name in names:
        with suppress(metadata.PackageNotFoundError):
            versions.setdefault(name, metadata.version(name))
    return {name: versions.get(name, "none") for name in names}


# In the process that asks for grades.


def grade_all(
    jobs: Iterable[GradingJob], pool: LocalPool | DaskPool
) -> Generator[ProgramGrade, None, None]:
    """Grade jobs, and give each grade when it is finished.

    Only a few jobs are in memory at a time. The pool is closed at the end. GraderError if no
    process can be started.
    """
    waiting = iter(jobs)
    running = set[Future[ProgramGrade]]()
    # The threads, and so the processes that they start, do not receive an interrupt.
    mask = (signal.SIG_BLOCK, {signal.SIGINT})
    threads = ThreadPoolExecutor(_MAX_THREADS, "", signal.pthread_sigmask, mask)
    try:
        while True:
            free = max(0, JOBS_PER_PROCESS * pool.size - len(running))
            running |= {
                threads.submit(_grade_with_retries, job, pool) for job in islice(waiting, free)
            }
            if not running:
                break
            done, running = wait(running, timeout=_POOL_CHECK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()
    finally:
        pool.close()
        threads.shutdown(wait=True, cancel_futures=True)


def _grade_with_retries(job: GradingJob, pool: LocalPool | DaskPool) -> ProgramGrade:
    for attempt in range(1, MAX_TRIES + 1):
        try:
            grade = pool.grade(job)
        except EOFError as error:
            grade = ProgramGrade(job.key, fault="the process that graded it ended, each time")
            if attempt == MAX_TRIES and isinstance(error, NotStartedError):
                raise GraderError(
                    "no process that grades can be started",
                    hint="drill doctor shows what this machine lacks",
                ) from error
        except DrillError:
            raise
        except Exception as error:  # noqa: BLE001 - a cluster may raise anything
            grade = ProgramGrade(job.key, fault=_error_text(error))
        if not grade.fault or pool.size == 0:
            break
    return grade


class NotStartedError(EOFError):
    """A process that grades ended before it took a job."""


class _GradingProcess(NamedTuple):
    """A process of a local pool, and the pipe to it."""

    pipe: Connection
    process: subprocess.Popen[bytes]


class LocalPool:
    """Processes on this machine that grade, each with an open session for the next program.

    `size` is how many grade at once, 0 after `close`. `grade` may be called in any thread,
    and raises EOFError if the process that graded ended, or took more than `MAX_GRADE_SECONDS`.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._scratch = ScratchFolder()  # holds what these processes leave when they are killed
        self._free: SimpleQueue[_GradingProcess | None] = SimpleQueue()  # None: not started yet
        self._started: list[subprocess.Popen[bytes]] = []
        for _ in range(size):
            self._free.put(None)

    def grade(self, job: GradingJob) -> ProgramGrade:
        worker = self._free.get()
        try:
            if not self.size:  # closed meanwhile
                raise EOFError
            worker = worker or self._start()
            worker.pipe.send(job)
            if not worker.pipe.poll(MAX_GRADE_SECONDS):
                raise EOFError
            grade: ProgramGrade = worker.pipe.recv()
        except (EOFError, OSError) as error:
            if worker:
                _end(worker.process)
                worker = None
            if isinstance(error, EOFError):
                raise
            raise EOFError from error
        finally:
            self._free.put(worker)
        return grade

    def _start(self) -> _GradingProcess:
        """Start a process that grades, and wait until it is ready; NotStartedError if it fails.

        Its path lacks the current folder, which may be that of the submissions; a process of
        `multiprocessing` would have it. It ends when its standard input closes, and so when this
        process ends.
        """
        pipe, child_pipe = Pipe()
        with child_pipe:
            descriptor = child_pipe.fileno()
            paths = filter(None, sys.path)
            arguments = [str(descriptor), str(self._scratch.root), *paths]
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _SERVE, *arguments],
                stdin=subprocess.PIPE,
                pass_fds=[descriptor],
            )
        self._started.append(process)
        try:
            if not pipe.poll(_STARTUP_SECONDS):
                raise EOFError
            pipe.recv()
        except (EOFError, OSError) as error:
            _end(process)
            raise NotStartedError from error
        return _GradingProcess(pipe, process)

    def close(self) -> None:
        self.size = 0
        for process in list(self._started):
            _end(process)
        self._scratch.remove()


# With the path of the process that starts it, the same program and libraries are found.
_SERVE = (
    "import sys; sys.path[:] = sys.argv[3:]; "
    "from grader.classroom.grading_jobs import serve; serve(int(sys.argv[1]), sys.argv[2])"
)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()  # closes its standard input, and waits


def serve(descriptor: int, folder: str) -> None:
    """Grade each job that comes through a pipe, until the other end is closed.

    Temporary files are in the folder.
    """
    tempfile.tempdir = folder
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that started it
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
    os.read(0, 1)  # the parent writes nothing: this returns when it has ended
    os._exit(1)


class DaskPool:
    """The workers of a Dask cluster. Workers may come and go while a class is graded."""

    def __init__(self, address: str, files: Mapping[str, Mapping[str, bytes]]) -> None:
        """Connect to a scheduler; UsageError if none answers, or if `distributed` is missing.

        `files` has by the id of a question the files of its bank, which workers receive.
        """
        try:
            import distributed
        except ImportError as error:
            raise UsageError(
                "--scheduler needs distributed, which is not installed",
                hint="pip install 'drill-dl[dask]'",
            ) from error
        self._address = address
        self._files = files
        self._closed = False
        untyped: Any = distributed
        try:
            self._client = untyped.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
        except Exception as error:  # no answer, an invalid address, or TLS is not set up
            raise UsageError(
                f"--scheduler: no Dask scheduler answers at {address}",
                hint=f"is it running, and can it be reached from here? ({_error_text(error)})",
            ) from error

    @property
    def size(self) -> int:
        """Number of threads of all workers, at least 1: a job waits for a worker. 0 if closed."""
        if self._closed:
            return 0
        threads = 1
        with suppress(Exception):  # the error shows when a job is submitted
            threads = sum(self._client.nthreads().values())
        return max(1, threads)

    def grade(self, job: GradingJob) -> ProgramGrade:
        """Grade one program on a worker; Dask itself retries if a worker ends.

        EOFError if the job ended too many workers, UsageError if the scheduler was lost.
        """
        complete_job = replace(job, files=self._files[job.question.id])
        try:
            # With `pure`, Dask would not compute the same program again.
            future = self._client.submit(grade_one, complete_job, pure=False)
            grade: ProgramGrade = future.result()
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise EOFError from error
            if self._client.status != "running" and not self._closed:
                raise UsageError(
                    f"the Dask scheduler at {self._address} was lost",
                    hint="what was graded is kept: begun again, it goes on from there",
                ) from error
            raise
        return grade

    def close(self) -> None:
        """Cancel the running jobs, and leave the cluster as it was."""
        self._closed = True
        with suppress(Exception):  # the scheduler has ended
            self._client.close(timeout=_CONNECT_SECONDS)


def _error_text(error: Exception) -> str:
    error = to_machine_error(error) or error
    if isinstance(error, DrillError):
        return error.message
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
