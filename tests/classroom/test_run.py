"""Each job once, faults tried again and never lost, and few jobs at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from grader.classroom.jobs import Job
from grader.classroom.ledger import Index, Ledger, settled
from grader.classroom.run import AHEAD, TRIES, grade_all
from grader.model.classroom import Graded
from tests.classroom.fakes import NOW, Pretending, job


@pytest.fixture
def pools() -> list[Pretending]:
    """Every pool that was opened."""
    return []


def run(
    folder: Path, jobs: Sequence[Job], pools: list[Pretending], known: set[bytes] | None = None
) -> list[Graded]:
    """Grade jobs into a folder."""

    def opened() -> Pretending:
        pools.append(Pretending())
        return pools[-1]

    with Ledger(folder / "verdicts.jsonl") as ledger:
        known = settled(folder) if known is None else known
        return list(grade_all(iter(jobs), opened, ledger, known, lambda: NOW))


def test_each_is_graded_once_and_kept(tmp_path: Path, pools: list[Pretending]) -> None:
    log = tmp_path / "log"
    jobs = [job(n, "fail" if n % 3 else "pass", log=log) for n in range(10)]
    found = run(tmp_path, [*jobs, jobs[0]], pools)
    assert sorted(one.key for one in found) == [one.key for one in jobs]
    index = Index(tmp_path)
    assert all(index.get(one.key) == one for one in found)
    assert {one.at for one in found} == {NOW}
    # Begun again, it has nothing to do; something new alone is graded.
    assert run(tmp_path, jobs, pools) == []
    assert [one.key for one in run(tmp_path, [*jobs, job(99, log=log)], pools)] == [job(99).key]
    assert log.read_text().splitlines().count(jobs[0].key) == 1


def test_few_jobs_are_taken_at_a_time(tmp_path: Path, pools: list[Pretending]) -> None:
    taken = 0

    def many() -> Iterator[Job]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield job(number)

    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        pool = Pretending()
        for done, _ in enumerate(grade_all(many(), lambda: pool, ledger, set(), lambda: NOW)):
            assert taken <= done + 1 + AHEAD * pool.size * 2
    assert taken == 40
    assert pool.most <= AHEAD * pool.size


def test_a_fault_is_tried_again_and_is_no_verdict(tmp_path: Path, pools: list[Pretending]) -> None:
    log = tmp_path / "log"
    jobs = [job(0, "fault", log=log), job(1, "fault-once", log=log), job(2, "raise", log=log)]
    found = {one.key: one for one in run(tmp_path, jobs, pools)}
    assert not found[jobs[0].key].settled
    assert found[jobs[0].key].fault == "the disk is full"
    assert found[jobs[1].key].settled
    assert found[jobs[2].key].fault == "ValueError: something of ours"
    assert log.read_text().splitlines().count(jobs[0].key) == TRIES
    # Another day it is tried again: what is no verdict does not count as graded.
    again = run(tmp_path, [job(0, "pass")], pools)
    assert [one.settled for one in again] == [True]
    kept = Index(tmp_path).get(jobs[0].key)
    assert kept is not None
    assert kept.settled


def test_what_ends_its_process_costs_the_others_nothing(
    tmp_path: Path, pools: list[Pretending]
) -> None:
    log = tmp_path / "log"
    deadly = job(3, "die", log=log)
    jobs = [job(0), job(1), job(2, "die-once", log=log), deadly, *(job(n) for n in range(4, 9))]
    found = {one.key: one for one in run(tmp_path, jobs, pools)}
    assert found.keys() == {one.key for one in jobs}
    assert [one.key for one in found.values() if not one.settled] == [deadly.key]
    assert "ended" in found[deadly.key].fault
    assert len(pools) > 1


def test_who_stops_looking_ends_it(tmp_path: Path, pools: list[Pretending]) -> None:
    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        pool = Pretending()
        found = grade_all(
            iter([job(n) for n in range(9)]), lambda: pool, ledger, set(), lambda: NOW
        )
        first = next(found)
        found.close()
    assert settled(tmp_path) >= {bytes.fromhex(first.key)}
    with pytest.raises(RuntimeError):
        pool.submit(job(1))
