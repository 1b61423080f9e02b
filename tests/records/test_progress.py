"""Progress follows from events: sittings with their tries and hints, and rated moments."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from grader.records import events, progress
from grader.records.events import Event, Store
from grader.records.progress import NO_TRY_MARK, QuestionProgress

BANK = Path("/nowhere/bank")
SOME = Event("started", "2026-01-02T10:00:00+00:00", "ann", "0.1.0", "q", str(BANK), "d")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def record(store: Store, *steps: str, **more: Any) -> None:
    """Record steps, a minute each: `started`, `hint 2`, `grade CONTENT VERDICT PART`."""

    def work(db: sqlite3.Connection) -> None:
        (done,) = db.execute("SELECT count(*) FROM events").fetchone()
        for minute, step in enumerate(steps, done):
            what, *words = step.split()
            at = f"2026-01-02T{10 + minute // 60}:{minute % 60:02}:00+00:00"
            event = SOME._replace(**{"at": at, "what": what} | more)
            match what, words:
                case "grade", [content, verdict, *parts]:
                    number = events.begin_attempt(
                        db, event._replace(what="begun"), content.encode()
                    )
                    graded = event._replace(what="graded", attempt=number, verdict=verdict)
                    events.append_event(db, graded._replace(parts=" ".join(parts or [verdict])))
                case "discussed", [verdict, detail]:
                    events.append_event(db, event._replace(verdict=verdict, detail=detail))
                case _:
                    events.append_event(db, event._replace(hint=int(words[0]) if words else None))

    store.write(work)


def progress_in(store: Store, bank: Path = BANK, *, once: bool = False) -> QuestionProgress:
    return progress.progress_of(
        store.read(progress.progress_events, empty={}), "q", bank, once=once
    )


def finished_sittings(yours: QuestionProgress) -> list[tuple[bool, int, int, int]]:
    """Return each finished sitting: passed, tries, failed tries, last hint."""
    sittings = [moment for moment in yours.rated_moments if not isinstance(moment, str)]
    return [
        (sitting.passed_in_sitting, sitting.tries, sitting.failed_tries, sitting.highest_hint)
        for sitting in sittings
    ]


def test_each_sitting_has_its_own_tries_hints_and_parts(store: Store) -> None:
    first = ("started", "hint 1", "hint 2", "grade a fail fail skipped", "grade b pass pass pass")
    record(store, *first)
    yours = progress_in(store)
    assert (yours.state, yours.tries, yours.highest_hint, yours.count_parts_asked(2)) == (
        "passed",
        2,
        2,
        2,
    )
    record(store, "again")
    yours = progress_in(store)
    assert (yours.state, yours.tries, yours.highest_hint, yours.count_parts_asked(2)) == (
        "started",
        0,
        0,
        1,
    )
    assert (yours.passed, yours.is_finished, yours.last_earlier_attempt) == (True, False, 2)
    record(store, "grade a fail pass fail", "hint 1")
    yours = progress_in(store)
    assert (yours.state, yours.tries, yours.highest_hint, yours.count_parts_asked(2)) == (
        "tried",
        1,
        1,
        2,
    )
    record(store, "solution")
    yours = progress_in(store)
    assert (yours.state, yours.given_up, yours.is_finished, yours.passed) == (
        "passed",
        True,
        True,
        True,
    )
    assert finished_sittings(yours) == [(True, 2, 1, 2), (False, 1, 0, 1)]


def test_events_after_the_end_of_a_sitting_change_no_rating(store: Store) -> None:
    record(store, "started", "grade a pass")
    before = progress_in(store).rated_moments
    record(store, "hint 3", "grade b fail", "solution", "started", "run")
    yours = progress_in(store)
    assert yours.rated_moments == before
    assert (yours.tries, yours.highest_hint, yours.given_up) == (2, 3, False)
    assert finished_sittings(yours) == [(True, 1, 0, 0)]


def test_seeing_the_solution_ends_a_sitting_and_a_later_pass_still_counts(
    store: Store,
) -> None:
    record(store, "started", "solution", "grade a pass")
    yours = progress_in(store)
    assert (yours.passed, yours.passed_in_sitting, yours.state) == (True, True, "passed")
    assert finished_sittings(yours) == [(False, 0, 0, 0)]


def test_hints_and_solutions_before_the_start_begin_no_sitting(store: Store) -> None:
    record(store, "hint 1", "solution")
    yours = progress_in(store)
    assert (yours.state, yours.given_up, yours.is_finished, yours.rated_moments) == (
        "new",
        True,
        False,
        [],
    )
    record(store, "started", "grade a pass")
    assert progress_in(store).moments == [f"2026-01-02T10:0{minute}:00+00:00" for minute in (2, 3)]
    assert finished_sittings(progress_in(store)) == [(True, 1, 0, 1)]


def test_the_one_try_of_a_prediction_finishes_its_sitting(store: Store) -> None:
    record(store, "started", f"grade starter fail {NO_TRY_MARK}")
    assert not progress_in(store, once=True).is_finished
    record(store, "grade a fail")
    assert finished_sittings(progress_in(store, once=True)) == [(False, 1, 1, 0)]
    assert not progress_in(store).is_finished  # of a question that may be tried again
    record(store, "again")
    assert progress_in(store, once=True).tries == 0
    record(store, "grade a pass")
    assert finished_sittings(progress_in(store, once=True)) == [(False, 1, 1, 0), (True, 1, 0, 0)]


def test_a_try_that_passes_a_further_part_has_not_failed_and_a_version_counts_once(
    store: Store,
) -> None:
    steps = ("started", "grade a fail fail skipped", "grade a fail fail skipped")
    record(
        store,
        *steps,
        "grade b fail pass fail",
        "grade c error pass error",
        "grade b fail pass fail",
    )
    record(store, f"grade typo error {NO_TRY_MARK}", "grade d pass pass pass")
    assert finished_sittings(progress_in(store)) == [(True, 4, 2, 0)]


def test_a_question_that_changed_keeps_its_ratings(store: Store) -> None:
    record(store, "started", "grade a pass", digest="one")
    record(store, "again", "grade b pass", digest="other")
    assert finished_sittings(progress_in(store)) == [(True, 1, 0, 0)] * 2


@pytest.mark.parametrize("detail", ['{"part":1,"number":2}', "{broken", "null", "[]"])
def test_only_wrong_answers_to_follow_ups_are_rated(store: Store, detail: str) -> None:
    record(store, "started", "grade a pass", f"discussed pass {detail}", f"discussed fail {detail}")
    assert progress_in(store).rated_moments[1:] == ["2026-01-02T10:03:00+00:00"]


def test_each_sitting_counts_its_own_runs(store: Store) -> None:
    def used() -> int:
        return store.read(lambda db: progress.runs_used(db, "q", str(BANK)), empty=-1)

    record(store, "started", "run", "run", "solution")
    assert used() == 2
    record(store, "again")
    assert used() == 0
    record(store, "run")
    assert used() == 1


def test_a_sitting_belongs_to_one_bank_and_moves_with_it(store: Store, tmp_path: Path) -> None:
    one, other = (tmp_path / name for name in ("one", "other"))
    for bank in (one, other):
        (bank / "questions").mkdir(parents=True)
        (bank / "questions" / "q.yaml").touch()
    record(store, "started", "grade a pass", "again", bank=str(one))
    record(store, "started", "hint 1", bank=str(other))
    assert (progress_in(store, one).passed, progress_in(store, one).highest_hint) == (True, 0)
    assert (progress_in(store, other).passed, progress_in(store, other).highest_hint) == (False, 1)
    moved = one.rename(tmp_path / "moved")
    record(store, "grade b fail", bank=str(moved))
    yours = progress_in(store, moved)
    assert (yours.passed, yours.tries, len(yours.rated_moments)) == (True, 1, 1)
    marks = progress.progress_of(store.read(progress.progress_events, empty={}), "q", moved).marks
    assert [mark.sitting for mark in marks.values()] == [1, 2]  # a bank that moved keeps its marks


def test_events_count_in_their_order_even_if_the_clock_was_set(store: Store) -> None:
    record(store, "started", "grade a pass", at="2026-05-01T00:00:00+00:00")
    record(store, "again", "hint 1", "grade a pass", at="2025-01-01T00:00:00+00:00")
    assert finished_sittings(progress_in(store)) == [(True, 1, 0, 0), (True, 1, 0, 1)]


def test_thousands_of_events_are_one_query_and_one_pass(store: Store) -> None:
    sitting = ("grade a fail", "hint 1", "grade b pass", "again")
    record(store, "started", *sitting * 2000, at=SOME.at)
    queries: list[str] = []

    def work(db: sqlite3.Connection) -> progress.ProgressEvents:
        db.set_trace_callback(queries.append)
        return progress.progress_events(db)

    recorded = store.read(work, empty={})
    assert len(queries) == 1
    assert finished_sittings(progress.progress_of(recorded, "q", BANK)) == [(True, 2, 1, 1)] * 2000


def test_attempts_have_the_sitting_and_its_hints(store: Store) -> None:
    record(
        store, "hint 1", "hint 2", "grade a pass", "again", "grade b fail", "hint 1", "grade c fail"
    )
    marks = progress.progress_of(store.read(progress.progress_events, empty={}), "q", BANK).marks
    assert [*marks.values()] == [
        (1, 2, False, 0, 1),
        (2, 0, False, 0, 1),
        (2, 1, False, 0, 2),
    ]
