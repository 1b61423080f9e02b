"""The records keep bytes first, and lose or change nothing, even with several writers."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader.records import events, progress
from grader.records.events import FILE_NAME, Event, EventName, RecordsError, Store, append_event

ROOT = Path(__file__).parents[2]
SOME = Event("begun", "2025-11-20T21:00:00+00:00", "ann", "0.1.0", "q", "b", "d")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return a store in a folder that does not exist yet."""
    return Store(tmp_path / "deep" / "home")


def record(store: Store, what: EventName = "started", **more: object) -> None:
    event = SOME._replace(what=what, **more)  # type: ignore[arg-type]
    store.write(lambda db: append_event(db, event))


def begin(store: Store, content: bytes, question: str = "q", what: EventName = "begun") -> int:
    """Begin an attempt and return its number."""
    event = SOME._replace(what=what, question=question, seed=2**63 - 1)
    return store.write(lambda db: events.begin_attempt(db, event, content))


def finish(store: Store, number: int, verdict: str, parts: str | None = None) -> None:
    """Add a verdict to an attempt."""
    record(
        store, "graded", at="2025-11-20T21:00:01+00:00", attempt=number, verdict=verdict,
        isolation="process", seconds=0.5, report='{"format": 1}', parts=parts or verdict,
    )  # fmt: skip


def progress_with(store: Store, question: str = "q") -> progress.QuestionProgress:
    return progress.progress_of(store.read(progress.progress_events, empty={}), question, Path("b"))


def count(store: Store) -> int:
    return store.read(lambda db: len(progress.progress_events(db)), empty=-1)


def integrity(store: Store) -> str:
    return str(store.write(lambda db: db.execute("PRAGMA integrity_check").fetchone()[0]))


@pytest.mark.parametrize("content", [b"", b"\0\xff", b"x" * 1_000_000])
def test_the_bytes_come_back_as_they_were(store: Store, content: bytes) -> None:
    number = begin(store, content)
    stored = store.write(lambda db: events.find_attempt(db, number))
    assert stored is not None
    attempt, stored_content = stored
    assert stored_content == content
    assert (attempt.state, attempt.verdict, attempt.seed) == ("unfinished", None, 2**63 - 1)
    assert (attempt.bank, attempt.digest, attempt.program) == ("b", "d", "0.1.0")
    assert store.write(lambda db: events.find_attempt(db, number + 1)) is None


def test_file_names_that_are_not_utf_8_are_recorded_and_found(store: Store) -> None:
    name = os.fsdecode(b"/home/\xff/\xc3\xa9")
    event = SOME._replace(bank=name, path=name)
    store.write(lambda db: events.begin_attempt(db, event, b""))
    (attempt,) = store.read(lambda db: events.load_attempts(db, bank=name), empty=())
    assert attempt.bank == "/home/\\udcff/\u00e9" == events.to_storable(name)
    assert store.read(lambda db: events.count_attempts(db, bank=name), empty=0) == 1


def test_a_verdict_is_added_to_its_attempt_once(store: Store) -> None:
    first, second = begin(store, b"1"), begin(store, b"2")
    finish(store, second, "pass")
    attempts = store.write(events.load_attempts)
    assert [(a.id, a.state, a.seconds, a.report) for a in attempts] == [
        (first, "unfinished", None, None),
        (second, "pass", 0.5, '{"format": 1}'),
    ]
    with pytest.raises(RecordsError, match="UNIQUE"):
        finish(store, second, "fail")


def test_recorded_events_are_never_changed(store: Store) -> None:
    begin(store, b"1")
    for change in ("UPDATE events SET verdict = 'pass'", "DELETE FROM events"):
        with pytest.raises(RecordsError, match="events are never changed"):
            store.write(lambda db, change=change: db.execute(change))  # type: ignore[misc]
    assert len(store.write(events.load_attempts)) == 1


def test_only_verdicts_count_for_progress(store: Store) -> None:
    begin(store, b"interrupted")
    begin(store, b"kept", what="reset")
    assert progress_with(store).state == "new"
    finish(store, begin(store, b"of somebody else", what="review"), "pass")
    assert progress_with(store).state == "new"
    finish(store, begin(store, b"wrong"), "fail")
    assert (progress_with(store).state, progress_with(store).tries) == ("tried", 1)
    finish(store, begin(store, b"right"), "pass")
    finish(store, begin(store, b"wrong again"), "fail")
    assert (progress_with(store).state, progress_with(store).tries) == ("passed", 3)
    assert progress_with(store).passed
    assert progress_with(store, "other") == progress.QuestionProgress()


def test_hints_and_solutions_that_were_shown_are_remembered(store: Store) -> None:
    assert progress_with(store) == progress.QuestionProgress()
    finish(store, begin(store, b"1"), "fail")
    for number in (1, 2):
        record(store, "hint", hint=number)
    record(store, "solution")
    yours = progress_with(store)
    assert (yours.highest_hint, yours.given_up) == (2, True)
    finish(store, begin(store, b"2"), "pass")
    marks = progress.progress_of(
        store.read(progress.progress_events, empty={}), "q", Path("b")
    ).marks
    assert list(marks.values()) == [(1, 0, False, 0, 1), (1, 2, True, 0, 2)]


@pytest.mark.parametrize(
    ("which", "ids"),
    [
        ({}, [1, 2, 3, 4]),
        ({"question": "a"}, [1, 3, 4]),
        ({"question": "a", "bank": "x"}, [1, 3, 4]),  # the bank of these is gone
        ({"question": "c", "bank": "b"}, []),
    ],
)
def test_the_latest_attempts_can_be_listed_and_all_counted(
    store: Store, which: dict[str, str], ids: list[int]
) -> None:
    for name in ("a", "b", "a", "a"):
        begin(store, b"x", name)
    attempts = store.write(lambda db: events.load_attempts(db, most=2, **which))
    assert [a.id for a in attempts] == ids[-2:]
    assert store.write(lambda db: events.count_attempts(db, **which)) == len(ids)


@pytest.mark.parametrize(
    ("tries", "passed", "asked"),
    [
        ([("fail", "fail skipped skipped")], 0, 1),
        ([("error", "pass error skipped")], 1, 2),
        ([("fail", "pass pass fail"), ("fail", "fail skipped skipped")], 2, 3),
        ([("fail", "fail skipped skipped"), ("fail", "pass fail pass")], 1, 2),
        ([("pass", "pass pass pass")], 3, 3),
        ([("pass", "pass fail skipped")], 1, 2),  # only the first one counted
    ],
)
def test_one_more_part_is_asked_than_the_best_try_has_passed(
    store: Store, tries: list[tuple[str, str]], passed: int, asked: int
) -> None:
    for verdict, parts in tries:
        finish(store, begin(store, b"x"), verdict, parts)
    finish(store, begin(store, b"x", what="review"), "pass", "pass pass pass")
    assert (progress_with(store).parts, progress_with(store).count_parts_asked(3)) == (
        passed,
        asked,
    )
    assert progress_with(store).passed == (asked == 3 and passed != 2)


def test_no_lookup_of_a_grade_reads_all_attempts(store: Store) -> None:
    """Every statement searches an index, and only starts are sorted."""
    begin(store, b"x")
    statements: list[str] = []

    def plans(db: sqlite3.Connection) -> list[str]:
        db.set_trace_callback(statements.append)
        progress.all_starts(db)
        progress.progress_events(db, "q")
        events.begin_attempt(db, SOME, b"y")
        events.load_attempts(db, most=1, question="q")
        events.load_attempts(db, most=1, question="q", bank="b")
        events.find_attempt(db, 1)
        db.set_trace_callback(None)
        return [
            step[3]
            for statement in statements
            if statement.lstrip().startswith(("SELECT", "INSERT OR IGNORE"))
            for step in db.execute(f"EXPLAIN QUERY PLAN {statement}")
        ]

    query_steps = store.write(plans)
    assert len(query_steps) > 10
    assert [step for step in query_steps if "SCAN" in step] == []
    assert sum("TEMP B-TREE" in step for step in query_steps) == 1


# The file


def test_reading_creates_nothing_and_what_is_written_is_durable_and_private(store: Store) -> None:
    assert count(store) == -1
    assert not store.path.parent.exists()
    record(store)
    assert count(store) == 1
    assert stat.S_IMODE(store.path.parent.stat().st_mode) == 0o700
    assert store.write(lambda db: db.execute("PRAGMA synchronous").fetchone()[0]) == 2


def test_a_transaction_that_raises_leaves_nothing(store: Store) -> None:
    def half(db: sqlite3.Connection) -> None:
        append_event(db, SOME._replace(what="started"))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.write(half)
    assert count(store) == -1


@pytest.mark.parametrize("damage", ["garbage", "page", "truncated"])
def test_a_damaged_file_is_reported_and_left_alone(store: Store, damage: str) -> None:
    for number in range(200):
        record(store, question=f"question-{number}", path="f" * 200)
    content = store.path.read_bytes()
    size = 4096
    broken = {
        "garbage": b"this is no database" * 500,
        "page": content[:size] + b"\xff" * (len(content) - size),
        "truncated": content[: len(content) // 2],
    }[damage]
    store.path.write_bytes(broken)
    for work in (lambda: record(store, question="new"), lambda: count(store)):
        with pytest.raises(RecordsError, match=FILE_NAME) as caught:
            work()
        assert caught.value.hint == f"move {store.path} away; drill then begins a new history"
    assert store.path.read_bytes() == broken
    store.path.rename(store.path.with_name("away"))
    record(store, question="new")
    assert count(store) == 1


@pytest.mark.parametrize("version", [99, 4, -5])
def test_records_of_another_version_are_left_alone(store: Store, version: int) -> None:
    record(store)
    with sqlite3.connect(store.path) as db:
        db.execute(f"PRAGMA user_version = {version}")
    db.close()
    for work in (lambda: record(store), lambda: count(store)):
        with pytest.raises(RecordsError, match=rf"another version of drill \(format {version}, "):
            work()


def test_a_file_without_tables_is_empty(store: Store) -> None:
    store.path.parent.mkdir(parents=True)
    store.path.touch()
    assert count(store) == -1
    record(store)
    assert count(store) == 1


@pytest.mark.parametrize("home", ["/proc/nowhere", "/dev/null/home", "file"])
def test_a_home_that_cannot_be_created_is_an_error(home: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = Store(tmp_path / home)
    with pytest.raises(RecordsError, match=r"^/"):
        record(store)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become somebody else")
def test_a_read_only_home_can_be_read_and_refuses_to_be_written() -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        record(store)
        Path(folder).chmod(0o555)
        store.path.chmod(0o444)
        child = os.fork()
        if child == 0:  # pragma: no cover - another process
            status = 1
            try:
                os.setuid(65534)
                assert count(store) == 1
                record(store)
            except RecordsError as fault:
                status = 0 if "readonly" in fault.message else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


_WRITER = """
import sys
from pathlib import Path
from dataclasses import replace
from grader.records import events
from grader.records.events import Event, Store, append_event

events.BUSY_SECONDS = 60  # on a busy machine others may hold it for longer than a person waits
folder, name, rounds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
store = Store(folder)
for number in range(rounds):
    content = f"{name} {number} ".encode() * 2000
    event = Event("begun", "t", "ann", "0.1.0", name, "b", seed=number)
    attempt = store.write(lambda db: events.begin_attempt(db, event, content))
    print(attempt, flush=True)
    graded = event._replace(what="graded", attempt=attempt, verdict="pass")
    store.write(lambda db: append_event(db, graded))
"""


def writer(folder: Path, name: str, rounds: int, **options: Any) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", _WRITER, str(folder), name, str(rounds)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, text=True, env=environment, **pipes, **options)


def test_concurrent_writers_lose_nothing(tmp_path: Path) -> None:
    writers = [writer(tmp_path, f"w{n}", 20) for n in range(5)]
    numbers: list[int] = []
    for process in writers:
        out, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (0, "")
        numbers += map(int, out.split())
    assert sorted(numbers) == list(range(1, 101))
    attempts = Store(tmp_path).read(events.load_attempts, empty=())
    assert [a.state for a in attempts] == ["pass"] * 100
    assert {a.question for a in attempts} == {f"w{n}" for n in range(5)}


def test_committed_events_survive_a_kill(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for kills in range(1, 4):
        process = writer(tmp_path, "killed", 100_000)
        assert process.stdout is not None
        printed = [int(process.stdout.readline())]
        printed += [int(process.stdout.readline()) for _ in range(kills)]
        process.send_signal(signal.SIGKILL)
        printed += map(int, process.stdout.read().split())
        process.communicate(timeout=20)
        attempts = {a.id: a for a in store.read(events.load_attempts, empty=())}
        assert set(printed) <= set(attempts)
        for number in printed[-3:]:
            stored = store.read(partial(events.find_attempt, number=number), empty=None)
            assert stored is not None
            assert stored[1] == f"killed {attempts[number].seed} ".encode() * 2000
        unfinished = [a for a in attempts.values() if a.state != "pass"]
        assert len(unfinished) <= kills
    assert integrity(store) == "ok"


def test_a_full_disk_is_a_records_error_and_damages_nothing(tmp_path: Path) -> None:
    writer(tmp_path, "before", 3).communicate(timeout=20)

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    process = writer(tmp_path, "full", 1000, preexec_fn=little_room)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "RecordsError" in err.strip().splitlines()[-1]
    attempts = Store(tmp_path).read(events.load_attempts, empty=())
    assert [a.state for a in attempts[:3]] == ["pass"] * 3
    assert integrity(Store(tmp_path)) == "ok"
