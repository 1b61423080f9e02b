"""What a class has to do with: every file once, copies of one program graded once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from pathlib import Path

import pytest

from grader.app.classes import Plan, Progress, grade_class
from grader.app.context import Context
from grader.classroom.jobs import Job
from grader.classroom.ledger import Ledger, settled
from grader.classroom.run import grade_all
from grader.model.classroom import Graded
from grader.model.errors import GraderError
from tests.classroom.fakes import NOW, Pretending, job, pretend

BANK = Path(__file__).parents[1] / "banks" / "mini"


class AtOnce:
    """Does in `submit` what a job says, and before it what a test says."""

    size = 2

    def __init__(self, before: Callable[[Job], None] = lambda _: None) -> None:
        """Know what to do first."""
        self._before = before

    def submit(self, job: Job) -> Future[Graded]:
        """Begin and end a grade."""
        self._before(job)
        future: Future[Graded] = Future()
        future.set_result(pretend(job))
        return future

    def close(self) -> None:
        """There is nothing to end."""


def graded(folder: Path, before: Callable[[Job], None] = lambda _: None) -> list[Progress]:
    """Grade what is in a folder's `in`."""
    ctx = Context(folder, folder / "data", lambda: NOW, bank=BANK)
    plan = Plan(
        folder / "in", ("deviations",), folder / "out", level="process",
        open_pool=lambda: AtOnce(before),
    )  # fmt: skip
    return list(grade_class(ctx, plan))


def hand_in(folder: Path, programs: dict[str, str]) -> None:
    """Have students hand in what a fake grades."""
    (folder / "in").mkdir()
    for student, program in programs.items():
        (folder / "in" / f"{student}.py").write_text(program)


def lines(folder: Path) -> int:
    """How many grades were kept."""
    return len((folder / "out" / "verdicts.jsonl").read_text().splitlines())


def test_copies_are_graded_once_and_everybody_is_done_with(tmp_path: Path) -> None:
    copies = {f"a{n:02}": "fail /dev/null" for n in range(20)}
    hand_in(tmp_path, {**copies, "b": "pass /dev/null", "c": "fault /dev/null"})
    (tmp_path / "in" / "d.py").symlink_to(tmp_path / "in" / "b.py")
    (tmp_path / "in" / "e.py").write_text("fault /dev/null")
    found = graded(tmp_path)
    assert [one.done for one in found] == list(range(1, 25))
    assert {one.of for one in found} == {24}
    by = {one.handed.student: one.graded for one in found}
    assert len(by) == 24
    assert all((one := by[name]) and one.report and one.report.verdict == "fail" for name in copies)
    assert (faulty := by["c"]) is not None
    assert faulty == by["e"]
    assert not faulty.settled
    # Another day a copy is known as the first is, whoever has it.
    (tmp_path / "in" / "f.py").write_text("fail /dev/null")
    again = {one.handed.student: one for one in graded(tmp_path)}
    assert again["f"].known
    assert not again["c"].known


def test_a_file_that_changes_meanwhile_is_no_verdict_on_either(tmp_path: Path) -> None:
    same = "pass /dev/null"
    hand_in(tmp_path, {"a": "fail /dev/null", **{f"b{n}": same for n in range(8)}})
    first_copy = tmp_path / "in" / "b0.py"

    def change(_: Job) -> None:
        first_copy.write_text("something else")

    found = graded(tmp_path, change)
    assert sorted(one.done for one in found) == list(range(1, 10))
    by = {one.handed.student: one.graded for one in found}
    assert (changed := by["b0"]) is not None
    assert changed.fault == "b0.py was changed while the class was graded"
    assert all((one := by[f"b{n}"]) is not None and one.settled for n in range(1, 8))
    assert lines(tmp_path) == 2


def test_what_ends_the_last_process_does_not_end_the_class(tmp_path: Path) -> None:
    """When the pool has broken and nothing waits to be tried again, there are more to begin."""

    class One(Pretending):
        size = 1

    jobs = [job(0), job(1, "die"), *(job(n) for n in range(2, 5))]
    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        found = list(grade_all(iter(jobs), One, ledger, set(), lambda: NOW))
    assert {one.key for one in found} == {one.key for one in jobs}
    assert len(settled(tmp_path)) == 4


def test_where_no_process_ever_grades_anything_it_ends(tmp_path: Path) -> None:
    class Ending(AtOnce):
        def submit(self, job: Job) -> Future[Graded]:
            assert job.key
            future: Future[Graded] = Future()
            future.set_exception(BrokenExecutor())
            return future

    jobs = (job(n) for n in range(1000))
    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        run = grade_all(jobs, Ending, ledger, set(), lambda: NOW)
        with pytest.raises(GraderError, match="has ended before it had graded anything"):
            list(run)


def test_silence_is_said_and_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.classroom.run.LOOK", 0.001)
    monkeypatch.setattr("grader.classroom.run.SILENCE", 0.003)
    late: list[tuple[Job, Future[Graded]]] = []

    class Late(AtOnce):
        def submit(self, job: Job) -> Future[Graded]:
            late.append((job, Future()))
            return late[-1][1]

    said: list[str] = []

    def say(message: str, hint: str) -> None:
        assert "begin it again" in hint
        said.append(message)
        for one, future in late:
            if not future.done():
                future.set_result(pretend(one))

    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        found = list(grade_all(iter([job(0), job(1)]), Late, ledger, set(), lambda: NOW, say))
    assert [one.settled for one in found] == [True, True]
    assert said
    assert said[0].startswith("nothing has come back for")


def test_a_pool_that_grows_is_given_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.classroom.run.LOOK", 0.001)
    begun: list[tuple[Job, Future[Graded]]] = []

    class Growing(AtOnce):
        @property
        def size(self) -> int:  # type: ignore[override]
            if len(begun) >= 8:
                for one, future in begun:
                    if not future.done():
                        future.set_result(pretend(one))
            return 1 if len(begun) < 2 else 4  # workers join; none of the first two grades ends

        def submit(self, job: Job) -> Future[Graded]:
            begun.append((job, Future()))
            return begun[-1][1]

    with Ledger(tmp_path / "verdicts.jsonl") as ledger:
        jobs = (job(n) for n in range(12))
        assert len(list(grade_all(jobs, Growing, ledger, set(), lambda: NOW))) == 12
