"""Grades elsewhere: a Dask cluster that loses a worker, and executors of all kinds."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from grader.api import load_question
from grader.app.classes import Plan, Progress, grade_class
from grader.app.context import Context
from grader.bank import load
from grader.bank.packing import packed
from grader.classroom.executors import opener
from grader.classroom.jobs import Job
from grader.classroom.ledger import Ledger
from grader.classroom.pools import Executing
from grader.classroom.run import TRIES, grade_all
from grader.model.classroom import Graded
from grader.model.errors import GraderError, UsageError
from tests.classroom.clusters import Cluster, Odd, cluster
from tests.classroom.fakes import NOW, job, pretend

BANK = Path(__file__).parents[1] / "banks" / "mini"
REFERENCE = BANK / "drills" / "deviations" / "reference.py"
HERE = "tests.classroom.clusters"


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster."""
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def handed_in(folder: Path, count: int) -> Path:
    """So many students, each with a right program of their own."""
    folder.mkdir()
    for number in range(count):
        (folder / f"s{number:02}.py").write_text(f"# {number}\n{REFERENCE.read_text()}")
    return folder


def grading(folder: Path, count: int, **changes: object) -> Iterator[Progress]:
    """Grade so many."""
    ctx = Context(folder, folder / "data", lambda: NOW, bank=BANK)
    plan = Plan(handed_in(folder / "in", count), ("deviations",), folder / "out", level="process")
    for name, value in changes.items():
        object.__setattr__(plan, name, value)
    return grade_class(ctx, plan)


def kept(folder: Path) -> list[str]:
    """The key of every line."""
    lines = (folder / "out" / "verdicts.jsonl").read_text().splitlines()
    return [json.loads(line)["key"] for line in lines]


def test_a_dask_worker_is_killed_and_every_verdict_is_there_once(
    tmp_path: Path, two_workers: Cluster
) -> None:
    found = []
    for one in grading(tmp_path, 10, executor="dask", scheduler=two_workers.address):
        found.append(one)
        if len(found) == 2:
            os.kill(two_workers.pids[0], signal.SIGKILL)
    assert sorted(one.handed.student for one in found) == [f"s{n:02}" for n in range(10)]
    assert {one.graded.report.verdict for one in found if one.graded and one.graded.report} == {
        "pass"
    }
    assert all(one.graded is not None and one.graded.settled for one in found)
    assert len(kept(tmp_path)) == len(set(kept(tmp_path))) == 10


def test_a_scheduler_that_is_lost_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.classroom.run.LOOK", 0.1)
    with cluster(tmp_path) as lost:
        grades = grading(tmp_path, 8, executor="dask", scheduler=lost.address)
        found = [next(grades)]
        monkeypatch.setattr("grader.classroom.executors.CONNECTING", 0.2)
        os.kill(lost.scheduler, signal.SIGKILL)
        with pytest.raises(UsageError, match=f"no Dask scheduler answers at {lost.address}"):
            found += grades
    assert len(found) <= len(kept(tmp_path)) < 8


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers at tcp://127.0.0.1:1"),
        ("no://where", "--scheduler: no://where: "),
    ],
)
def test_a_scheduler_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setattr("grader.classroom.executors.CONNECTING", 0.2)
    with pytest.raises(UsageError, match=said):
        opener("dask", address, None, 1)()


def test_without_dask_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        opener("dask", "tcp://127.0.0.1:1", None, 1)()
    assert "drill-dl[dask]" in caught.value.hint


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_any_executor_grades(tmp_path: Path, name: str) -> None:
    found = list(grading(tmp_path, 3, executor=f"{HERE}:{name}", jobs=None))
    assert [one.graded.settled for one in found if one.graded] == [True] * 3
    assert len(set(kept(tmp_path))) == 3


def test_how_many_at_once_is_said_by_the_person_the_executor_or_the_machine() -> None:
    for name, jobs, size in [("processes", None, 1), ("processes", 3, 3), ("threads", None, 5)]:
        pool = opener(f"{HERE}:{name}", "", jobs, 5)()
        assert pool.size == size
        pool.close()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nonsense", "expected dask or package.module:function, found nonsense"),
        ("no_such_module_at_all:f", "no_such_module_at_all cannot be imported"),
        (f"{HERE}:nobody", f"there is no nobody in {HERE}"),
        (f"{HERE}:number", "to be a function, found an object of the class int"),
        (f"{HERE}:raising", "raised OSError: no machine is free"),
        (f"{HERE}:nothing", "to return a concurrent.futures.Executor, found None"),
        ("dask", "expected --scheduler ADDRESS"),
    ],
)
def test_an_executor_that_is_none_is_a_sentence(name: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        opener(name, "", None, 1)()


def test_a_scheduler_needs_dask() -> None:
    with pytest.raises(UsageError, match="expected --executor dask"):
        opener("", "tcp://127.0.0.1:1", None, 1)


def odd(folder: Path, does: str, jobs: int = 3) -> tuple[list[Graded], Odd]:
    """Grade with an executor that misbehaves."""
    executor = Odd(does)

    class Pool(Executing):
        def submit(self, job: Job) -> Future[Graded]:
            return executor.submit(pretend, job)

    with Ledger(folder / "verdicts.jsonl") as ledger:
        work = iter([job(n) for n in range(jobs)])
        found = list(grade_all(work, lambda: Pool(executor, 2), ledger, set(), lambda: NOW))
    return found, executor


@pytest.mark.parametrize(
    ("does", "fault"),
    [("cancel", "CancelledError: it was cancelled"), ("return", "is not what became of it")],
)
def test_what_an_executor_cancels_or_makes_up_is_a_fault(
    tmp_path: Path, does: str, fault: str
) -> None:
    found, executor = odd(tmp_path, does)
    assert len(found) == 3
    assert all(fault in one.fault and not one.settled for one in found)
    assert executor.begun == 3 * TRIES


def test_what_is_cancelled_once_is_graded_after_all(tmp_path: Path) -> None:
    found, executor = odd(tmp_path, "cancel-once")
    assert [one.settled for one in found] == [True] * 3
    assert executor.begun == 4


def test_an_executor_that_takes_nothing_ends_it(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="no job is taken: RuntimeError: the queue is closed"):
        odd(tmp_path, "refuse")


def test_a_question_travels(tmp_path: Path) -> None:
    question = load_question("deviations", BANK)
    (tmp_path / "sent.zip").write_bytes(packed(question))
    there = load([tmp_path / "sent.zip"], "deviations")
    assert there.digest == question.digest
    assert packed(question) == packed(there)
