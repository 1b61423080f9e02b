"""Each job once, faults tried again and never lost, few jobs at a time; here and on a cluster."""

from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader import bank
from grader.app.classes import ClassPlan, ClassProgress, grade_class
from grader.app.context import Context
from grader.bank.storage import files_of
from grader.classroom.results import Results
from grader.classroom.run import AHEAD, TRIES, DaskPool, Job, grade_all, grade_one
from grader.model.classroom import Graded
from grader.model.errors import GraderError, UsageError
from tests.classroom.clusters import Cluster, cluster
from tests.classroom.fakes import NOW, Pretending, job

BANK = Path(__file__).parents[1] / "banks" / "mini"
REFERENCE = BANK / "drills" / "deviations" / "reference.py"


def run(jobs: Sequence[Job], pool: Pretending) -> dict[str, Graded]:
    """Grade jobs; what came of each, by its key."""
    found = list(grade_all(iter(jobs), pool))
    assert len({one.key for one in found}) == len(found)
    return {one.key: one for one in found}


def test_few_jobs_are_taken_at_a_time() -> None:
    taken = 0

    def many() -> Iterator[Job]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield job(number)

    pool = Pretending()
    for done, _ in enumerate(grade_all(many(), pool)):
        assert taken <= done + 1 + AHEAD * 2 * 2
    assert taken == 40
    assert pool.most <= AHEAD * 2


def test_a_fault_is_tried_again_and_is_no_verdict() -> None:
    does = ["fault", "fault-once", "raise", "die-once", "pass"]
    pool = Pretending()
    found = list(run([job(n, what) for n, what in enumerate(does)], pool).values())
    found.sort(key=lambda one: one.key)
    assert [one.settled for one in found] == [False, True, False, True, True]
    assert [one.fault for one in found[:3:2]] == [
        "the disk is full", "ValueError: something of ours",
    ]  # fmt: skip
    assert [pool.begun[job(n).key] for n in range(5)] == [TRIES, 2, TRIES, 2, 1]


def test_where_no_process_ever_grades_anything_it_ends() -> None:
    pool = Pretending()
    with pytest.raises(GraderError, match="ended before it graded anything"):
        run([job(n, "die") for n in range(1000)], pool)
    assert sum(pool.begun.values()) < 100


def test_who_stops_looking_ends_it() -> None:
    pool = Pretending()
    found = grade_all(iter([job(n) for n in range(9)]), pool)
    next(found)
    found.close()
    assert pool.size == 0


def test_a_job_can_be_sent_with_its_question(tmp_path: Path) -> None:
    question = bank.load([BANK], "deviations")
    (one,) = grading(tmp_path, 1)
    assert one.entry.report is not None
    with Results(tmp_path / "out") as results:
        terms = results.terms
    there = replace(terms.questions[0], bank="/nowhere")
    sent = Job("0" * 32, there, REFERENCE.read_bytes(), terms.seed, terms.level)
    sent = pickle.loads(pickle.dumps(replace(sent, files=files_of(question))))
    graded = pickle.loads(pickle.dumps(grade_one(sent)))
    assert graded.report is not None
    assert graded.report.digest == question.digest
    changed = grade_one(replace(sent, question=replace(there, digest="0" * 64)))
    assert not changed.settled
    assert "was changed since" in changed.fault
    older = replace(there, parts=(), libraries={"numpy": "0.1"})
    other = grade_one(replace(sent, question=older))
    assert "has other versions: expected numpy 0.1" in other.fault


# Dask


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster."""
    with cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def grading(folder: Path, count: int, scheduler: str = "") -> Iterator[ClassProgress]:
    """Grade so many students, each with a right program of their own."""
    (folder / "in").mkdir()
    for number in range(count):
        (folder / "in" / f"s{number:02}.py").write_text(f"# {number}\n{REFERENCE.read_text()}")
    ctx = Context(folder, folder / "data", lambda: NOW, bank=BANK)
    plan = ClassPlan(
        folder / "in", ("deviations",), folder / "out", level="process", scheduler=scheduler, jobs=1
    )
    return grade_class(ctx, plan)


def test_a_dask_worker_is_killed_and_every_verdict_is_there_once(
    tmp_path: Path, two_workers: Cluster
) -> None:
    found = []
    for one in grading(tmp_path, 10, two_workers.address):
        found.append(one)
        if len(found) == 2:
            os.kill(two_workers.pids[0], signal.SIGKILL)
    assert sorted(one.entry.handed.student for one in found) == [f"s{n:02}" for n in range(10)]
    assert {one.entry.verdict for one in found} == {"pass"}


def test_a_scheduler_that_is_lost_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.classroom.run._LOOK", 0.1)
    with cluster(tmp_path) as lost:
        grades = grading(tmp_path, 8, lost.address)
        found = [next(grades)]
        monkeypatch.setattr("grader.classroom.run._CONNECTING", 0.2)
        os.kill(lost.scheduler, signal.SIGKILL)
        with pytest.raises(UsageError, match="was lost"):
            found += grades
    assert len(found) < 8


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "no://where"])
def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr("grader.classroom.run._CONNECTING", 0.2)
    with pytest.raises(UsageError, match=f"no Dask scheduler answers at {address}"):
        DaskPool(address, {})


def test_without_dask_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(UsageError, match="not installed") as caught:
        DaskPool("tcp://127.0.0.1:1", {})
    assert "drill-dl[dask]" in caught.value.hint
