"""Each job once, faults tried again and never lost, few jobs at a time; here and on a cluster.

A class that is killed, or interrupted, again and again: nothing lost, doubled or left running.
"""

from __future__ import annotations

import os
import pickle
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grader import bank
from grader.bank.bank_files import question_files
from grader.classroom.grading_jobs import (
    JOBS_PER_PROCESS,
    MAX_TRIES,
    DaskPool,
    GradingJob,
    LocalPool,
    grade_all,
    grade_one,
    library_versions,
)
from grader.classroom.results import GRADES_FILE, ClassResults
from grader.model.classroom import AssignedQuestion, ProgramGrade, SubmittedProgram
from grader.model.errors import GraderError, UsageError
from tests.classroom.builders import BANK, MEAN, REFERENCE, ROOT, grading, report


def job(number: int, act: str = "pass") -> GradingJob:
    """Return a job with its own key; `act` is what `Pretending` does with it."""
    return GradingJob(f"{number:032x}", MEAN, SubmittedProgram(act.encode()), 7, "strong")


class Pretending(LocalPool):
    """Does what a job's program says: pass, a fault, `die` as its process would, or raise."""

    def __init__(self) -> None:
        super().__init__(2)
        self.begun = Counter[str]()  # by key

    def grade(self, job: GradingJob) -> ProgramGrade:
        self.begun[job.key] += 1
        match job.program.main.decode().removesuffix("-once" if self.begun[job.key] == 1 else ""):
            case "die":
                raise EOFError
            case "raise":
                raise ValueError("something of ours")
            case "fault":
                return ProgramGrade(job.key, fault="the disk is full")
        return ProgramGrade(job.key, report())


def run(jobs: Sequence[GradingJob], pool: Pretending) -> dict[str, ProgramGrade]:
    """Grade jobs; what came of each, by its key."""
    grades = list(grade_all(iter(jobs), pool))
    assert len({grade.key for grade in grades}) == len(grades)
    return {grade.key: grade for grade in grades}


def test_few_jobs_are_taken_at_a_time() -> None:
    taken = 0

    def many() -> Iterator[GradingJob]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield job(number)

    for done, _ in enumerate(grade_all(many(), Pretending())):
        assert taken <= done + 1 + JOBS_PER_PROCESS * 2 * 2
    assert taken == 40


def test_an_error_of_the_grader_is_retried_and_is_no_verdict() -> None:
    acts = ["fault", "fault-once", "raise", "die-once", "pass"]
    pool = Pretending()
    by_key = run([job(number, act) for number, act in enumerate(acts)], pool)
    grades = [grade for _, grade in sorted(by_key.items())]
    assert [not grade.fault for grade in grades] == [False, True, False, True, True]
    assert [grade.fault for grade in grades[:3:2]] == [
        "the disk is full", "ValueError: something of ours",
    ]  # fmt: skip
    assert [pool.begun[job(n).key] for n in range(5)] == [MAX_TRIES, 2, MAX_TRIES, 2, 1]


def test_a_program_that_ends_its_process_stops_no_other_grade() -> None:
    """Many such programs come first, as one student may hand them in."""
    grades = run([job(n, "die" if n < 20 else "pass") for n in range(24)], Pretending())
    assert [grades[job(n).key].fault == "" for n in range(24)] == [False] * 20 + [True] * 4


def test_grading_ends_if_no_process_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.classroom.grading_jobs._SERVE", "raise SystemExit(1)")
    pool = LocalPool(1)
    with pytest.raises(GraderError, match="no process that grades can be started"):
        list(grade_all(iter([job(n) for n in range(1000)]), pool))
    assert len(pool._started) < 10


def test_grading_ends_when_its_generator_is_closed() -> None:
    pool = Pretending()
    grades = grade_all(iter([job(n) for n in range(9)]), pool)
    next(grades)
    grades.close()
    assert pool.size == 0


def test_a_job_can_be_sent_with_its_question() -> None:
    question = bank.load_question([BANK], "deviations")
    assigned = AssignedQuestion(
        "deviations", "", question.digest, "/nowhere", (1,), 100,
        libraries=library_versions(["python", "numpy", "drill"]),
    )  # fmt: skip
    job = GradingJob(
        "0" * 32,
        assigned,
        SubmittedProgram(REFERENCE.encode()),
        7,
        "process",
        files=question_files(question),
    )
    graded = pickle.loads(pickle.dumps(grade_one(pickle.loads(pickle.dumps(job)))))
    assert graded.report is not None
    assert (graded.report.digest, graded.report.verdict) == (question.digest, "pass")
    changed = grade_one(replace(job, question=replace(assigned, digest="0" * 64)))
    assert changed.fault
    assert "was changed since" in changed.fault
    older = replace(assigned, parts=(), libraries={"numpy": "0.1"})
    other = grade_one(replace(job, question=older))
    assert "has other versions: expected numpy 0.1" in other.fault


# Dask

_CLUSTER = """
import sys
import distributed
if __name__ == "__main__":
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        print(cluster.scheduler_address, *(w.pid for w in cluster.workers.values()), flush=True)
        sys.stdin.read()
"""


@contextmanager
def cluster(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Start two workers of one thread each, in processes that share nothing with this one.

    Returns the address, the pid of a worker, and of the scheduler that holds it all.
    """
    script = folder / "cluster.py"
    script.write_text(_CLUSTER, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)}
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=environment, cwd=folder,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        address, pid, *_ = process.stdout.readline().split()
        try:
            yield address, int(pid), process.pid
        finally:
            process.communicate("")


def write(folder: Path, count: int) -> Path:
    """Write so many submissions, no two of them the same."""
    (folder / "in").mkdir()
    for number in range(count):
        (folder / "in" / f"s{number:02}.py").write_text(f"# {number}\n{REFERENCE}")
    return folder


def test_a_dask_worker_is_killed_and_every_verdict_is_there_once(tmp_path: Path) -> None:
    finished = []
    with cluster(tmp_path) as (address, worker, _):
        for progress in grading(write(tmp_path, 10), scheduler=address):
            finished.append(progress)
            if len(finished) == 2:
                os.kill(worker, signal.SIGKILL)
    assert sorted(progress.entry.hand_in.student for progress in finished) == [
        f"s{n:02}" for n in range(10)
    ]
    assert {progress.entry.verdict for progress in finished} == {"pass"}


def test_a_lost_scheduler_is_an_error_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.classroom.grading_jobs._POOL_CHECK_SECONDS", 0.1)
    with cluster(tmp_path) as (address, _, scheduler):
        grades = grading(write(tmp_path, 8), scheduler=address)
        finished = [next(grades)]
        monkeypatch.setattr("grader.classroom.grading_jobs._CONNECT_SECONDS", 0.2)
        os.kill(scheduler, signal.SIGKILL)
        with pytest.raises(UsageError, match="was lost"):
            finished += grades
    assert len(finished) < 8


def test_a_missing_scheduler_or_a_missing_dask_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.classroom.grading_jobs._CONNECT_SECONDS", 0.2)
    for address in ("tcp://127.0.0.1:1", "no://where"):
        with pytest.raises(UsageError, match=f"no Dask scheduler answers at {address}"):
            DaskPool(address, {})
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        DaskPool("tcp://127.0.0.1:1", {})
    assert "drill-dl[dask]" in caught.value.hint


# Killing.  Each command runs under a host that adopts whatever it leaves behind, and waits until
# all is gone.

linux = pytest.mark.skipif(sys.platform != "linux", reason="adopts processes, as Linux can")
HOST = """
import ctypes, os, signal, subprocess, sys
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
number, after, *command = sys.argv[1:]
process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
for _ in range(int(after)):
    process.stdout.readline()
if int(number):
    os.killpg(process.pid, signal.SIGINT) if int(number) == signal.SIGINT else process.send_signal(
        int(number))
process.stdout.read()
print(process.wait())
try:
    while True:
        os.wait()
except ChildProcessError:
    print("alone")
"""


def command(folder: Path, number: int, after: int = 0) -> subprocess.CompletedProcess[str]:
    """Grade the class; after so many lines of its, send it a signal."""
    words = [
        sys.executable, "-m", "grader", "--bank", str(BANK), "class", "grade", "in", "--question",
        "deviations", "--out", "out", "--isolation", "process", "--json",
    ]  # fmt: skip
    here = {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(folder / "home")}
    ended = subprocess.run(
        [sys.executable, "-c", HOST, str(number), str(after), *words],
        env={**os.environ, **here}, cwd=folder, capture_output=True, text=True, timeout=120,
        check=True,
    )  # fmt: skip
    assert ended.stdout.splitlines()[-1] == "alone"
    return ended


def settled(folder: Path) -> list[str]:
    """Return the students with a verdict, and check that all others have none."""
    if not (folder / "out" / GRADES_FILE).exists():
        return []
    with ClassResults(folder / "out") as results:
        entries = list(results.all_entries())
    assert {entry.verdict for entry in entries} <= {"pass", "not graded"}
    return [entry.hand_in.student for entry in entries if entry.report is not None]


@pytest.mark.slow
@linux
def test_grading_continues_after_a_kill_at_any_moment(tmp_path: Path) -> None:
    twelve, chance, graded_count = write(tmp_path, 12), random.Random(5), 0
    while graded_count < 8:
        status, _ = command(
            twelve, signal.SIGKILL, graded_count + chance.randrange(4)
        ).stdout.split()
        assert int(status) == -signal.SIGKILL
        keys = settled(twelve)
        assert len(keys) == len(set(keys)) >= graded_count
        graded_count = len(keys)
    assert command(twelve, 0).stdout.split() == ["0", "alone"]
    keys = settled(twelve)
    assert len(keys) == len(set(keys)) == 12


@linux
def test_an_interrupted_grading_shows_how_many_grades_are_kept(tmp_path: Path) -> None:
    twelve = write(tmp_path, 12)
    ended = command(twelve, signal.SIGINT, 2)
    assert ended.stdout.split() == ["130", "alone"]
    assert "of 12 are kept; begun again, it goes on from there" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert 2 <= len(settled(twelve)) < 12


@linux
@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        *(
            pytest.param(*end, marks=pytest.mark.slow)
            for end in ((0, 0), (signal.SIGTERM, 143), (signal.SIGHUP, 129))
        ),
    ],
)
def test_no_temporary_file_is_left_after_any_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    folder = write(tmp_path, 12)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    assert command(folder, number, 2).stdout.split() == [str(status), "alone"]
    assert list(temporary.iterdir()) == []
