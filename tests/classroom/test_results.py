"""The table of a class: every verdict once, whatever is killed, full, or put in its place."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from grader.bank.bank_files import write_atomically
from grader.classroom.results import GRADES_FILE, SETTINGS_FILE, ClassResults, grade_key
from grader.model.classroom import ClassEntry, ClassSettings, HandIn, ProgramGrade, SubmittedProgram
from grader.model.errors import UsageError
from grader.model.report import (
    Bar,
    Bars,
    Breakdown,
    BreakdownRow,
    Curve,
    ExceptionRecord,
    Exhibit,
    Grids,
    Panel,
    PartResult,
    Verdict,
)
from tests.classroom.builders import TERMS as CLASS
from tests.classroom.builders import class_entry, idea_match, report, write_results

MEAN = CLASS.questions[0]
SAME = SubmittedProgram(b"same")
DEEP = "[" * 100_000 + "]" * 100_000


def hand_ins(*students: str, program: str = "") -> list[tuple[HandIn, SubmittedProgram]]:
    """Return a file for each student, with different programs unless one is given."""
    programs = {student: SubmittedProgram((program or student).encode()) for student in students}
    return [
        (HandIn(student, "mean", f"{student}.py", p.sha256), p) for student, p in programs.items()
    ]


def entries(folder: Path) -> list[ClassEntry]:
    """Return the entries that count."""
    with ClassResults(folder) as results:
        return list(results.counting_entries())


def test_an_empty_file_waits_to_be_graded_as_one(tmp_path: Path) -> None:
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins([(HandIn("Ada", "mean", "Ada.py", "e" * 64), SubmittedProgram())])
        assert [program for _, program, _ in results.programs_to_grade(MEAN)] == [
            SubmittedProgram()
        ]


def test_a_report_comes_back_as_it_was(tmp_path: Path) -> None:
    exhibits: list[Exhibit] = [
        Grids((Panel("x", (("1", "2"),), frozenset({(0, 1)}), note="plane"),)),
        Breakdown((BreakdownRow("weights", "14 GB", "28 GB", "half"),)),
        Bars((Bar("yours", float("inf"), "64 B"),), ("an array",)),
        Curve((1.0, float("nan")), (1.0, 0.5)),
    ]
    base = report(Verdict.FAIL, idea_match("axis"), raised=ExceptionRecord("ValueError", "no"))
    check = replace(base.checks[0], figures={"bytes": 3.0})
    full = replace(base, checks=tuple(replace(check, exhibit=exhibit) for exhibit in exhibits))
    write_results(tmp_path, CLASS, [class_entry("ada", full)])
    (exhibit,) = entries(tmp_path)
    assert repr(exhibit.report) == repr(full)  # nan is not equal to itself


def test_copies_are_graded_once_and_graded_programs_not_again(tmp_path: Path) -> None:
    with ClassResults(tmp_path, write=CLASS) as results:
        assert (
            results.store_hand_ins([*hand_ins("a", "b", "c", program="same"), *hand_ins("d")]) == 4
        )
        waiting = list(results.programs_to_grade(MEAN))
        assert [program for _, program, _ in waiting] == [
            SubmittedProgram(b"same"),
            SubmittedProgram(b"d"),
        ]
        results.store_grade(ProgramGrade(waiting[0][0], report()), "now")
        assert [entry.hand_in.student for entry in results.entries_of_program(waiting[0][0])] == [
            "a",
            "b",
            "c",
        ]
        results.store_grade(ProgramGrade(waiting[1][0], fault="the disk is full"), "now")
        assert [entry.hand_in.student for entry in results.settled_entries()] == ["a", "b", "c"]
    # Another day: who has a known program needs no grade, what is no verdict is tried again.
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins([*hand_ins("e", program="same"), *hand_ins("d")])
        assert [program for _, program, _ in results.programs_to_grade(MEAN)] == [
            SubmittedProgram(b"d")
        ]
        assert [entry.verdict for entry in results.all_entries()] == ["not graded", "pass"]
        results.store_hand_ins(hand_ins("d"))
        assert results.all_students() == ["d"]


def test_students_of_several_submissions_share_one_folder_of_results(tmp_path: Path) -> None:
    first, second = (replace(CLASS, submissions=path) for path in ("/first", "/second"))
    with ClassResults(tmp_path, write=first) as results:
        results.store_hand_ins(hand_ins("Ada", "Ben"), [("Ada/x.md", "no answer")])
        assert results.count_other_students() == 0
    with ClassResults(tmp_path, write=second) as results:
        assert results.store_hand_ins(hand_ins("Cem", "Ben"), [("Cem/x.md", "no answer")]) == 2
        assert results.count_other_students() == 1  # Ben handed in anew
        assert [whose for *_, whose in results.programs_to_grade(MEAN)] == ["Cem", "Ben"]
        assert [path for path, _ in results.unassigned_files()] == ["Ada/x.md", "Cem/x.md"]
        key = grade_key(second, MEAN, SubmittedProgram(b"Ada"), "Ada")
        results.store_grade(ProgramGrade(key, report()), "")
        assert results.entries_of_program(key) == list(results.settled_entries()) == []
    points = {entry.hand_in.student: entry.points for entry in entries(tmp_path)}
    assert points == {"Ada": 10, "Ben": None, "Cem": None}
    with ClassResults(tmp_path, write=second) as results:
        results.store_hand_ins(hand_ins("Ben"))  # who is gone from this folder is gone
    assert [entry.hand_in.student for entry in entries(tmp_path)] == ["Ada", "Ben"]


def test_a_verdict_stays_whatever_comes_after_it(tmp_path: Path) -> None:
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins(hand_ins("a"))
        ((key, _, _),) = results.programs_to_grade(MEAN)
        results.store_grade(ProgramGrade(key, report()), "now")
        results.store_grade(ProgramGrade(key, fault="the disk was full"), "later")
    # Other terms are other grades, and those of before are there when they are asked for again.
    for terms, verdict in ((replace(CLASS, seed=8), "not graded"), (CLASS, "pass")):
        with ClassResults(tmp_path, write=terms) as results:
            results.store_hand_ins(hand_ins("a"))
            assert [entry.verdict for entry in results.counting_entries()] == [verdict]


def test_submissions_are_stored_completely_or_not_at_all(tmp_path: Path) -> None:
    write_results(tmp_path, CLASS, [class_entry("ada")])

    def broken() -> Iterator[tuple[HandIn, SubmittedProgram]]:
        yield from hand_ins("b")
        raise UsageError("the disk is gone")

    with ClassResults(tmp_path, write=CLASS) as results, pytest.raises(UsageError):
        results.store_hand_ins(broken())
    assert [entry.hand_in.student for entry in entries(tmp_path)] == ["ada"]


def test_the_last_or_the_best_counts(tmp_path: Path) -> None:
    wrong = report(Verdict.FAIL)
    right = replace(report(), parts=(PartResult("1", Verdict.PASS, 6, 6),))
    files = [
        class_entry("ada", right, at="2026-11-18T12:00:00+00:00"),
        replace(
            class_entry("ada", wrong),
            hand_in=replace(class_entry("ada").hand_in, path="ada/two.py"),
        ),
    ]
    for counts, points in (("last", 0), ("best", 6)):
        write_results(tmp_path / counts, replace(CLASS, counts=counts), files)
        assert [entry.points for entry in entries(tmp_path / counts)] == [points]


def test_one_process_at_a_time_writes_and_others_may_read(tmp_path: Path) -> None:
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins(hand_ins("a"))
        assert len(entries(tmp_path)) == 1
        with pytest.raises(UsageError, match="another drill"):
            ClassResults(tmp_path, write=CLASS)
    assert {path.name for path in tmp_path.iterdir()} == {SETTINGS_FILE, GRADES_FILE}


@contextmanager
def room(size: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_on_a_full_disk_what_was_written_stays(tmp_path: Path) -> None:
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins(hand_ins("a", "b"))
        (first, _, _), (second, _, _) = results.programs_to_grade(MEAN)
        results.store_grade(ProgramGrade(first, report()), "now")
        large = replace(report(), printed="x" * 1_000_000)
        with room(200_000), pytest.raises(UsageError, match="cannot be read or written") as caught:
            results.store_grade(ProgramGrade(second, large), "now")
        assert "what was graded is kept" in caught.value.hint
    assert [entry.verdict for entry in entries(tmp_path)] == ["pass", "not graded"]


@pytest.mark.parametrize("name", [SETTINGS_FILE, GRADES_FILE])
def test_a_link_a_pipe_or_other_content_is_refused(tmp_path: Path, name: str) -> None:
    path = write_results(tmp_path, CLASS, [class_entry("ada")]) / name
    precious = tmp_path / "precious"
    precious.write_text("mine")
    replacements: list[Callable[[], object]] = [
        lambda: path.symlink_to(precious), lambda: os.mkfifo(path), lambda: path.write_text(DEEP),
    ]  # fmt: skip
    for replace_file in replacements:
        path.unlink()
        replace_file()
        with pytest.raises(UsageError, match=name):
            entries(tmp_path)
    assert precious.read_text() == "mine"


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n"


@pytest.mark.parametrize(
    "statements",
    [
        f"CREATE VIEW more AS {ENDLESS}",
        f"DROP TABLE aside; CREATE VIEW aside AS {ENDLESS}",
        f"CREATE TRIGGER t INSERT ON aside BEGIN DELETE FROM grade WHERE at IN ({ENDLESS}); END",
        "DROP TABLE aside; CREATE TABLE aside (root, path AS (hex(zeroblob(999999999))), why)",
        "CREATE INDEX more ON grade (hex(path))",
        "CREATE TABLE more (a)",
    ],
    ids=["view", "view in place of a table", "trigger", "computed", "index", "table"],
)
def test_tables_of_a_stranger_are_refused_before_they_are_read(
    tmp_path: Path, statements: str
) -> None:
    write_results(tmp_path, CLASS, [class_entry("ada", report())])
    with sqlite3.connect(tmp_path / GRADES_FILE) as db:
        db.executescript(statements)
    db.close()
    for write in (None, CLASS):
        with pytest.raises(UsageError, match="expected the tables of drill class grade"):
            ClassResults(tmp_path, write=write)


@pytest.mark.parametrize("content", [None, b"no database" * 1000])
def test_missing_verdicts_are_an_error_that_does_not_call_them_kept(
    tmp_path: Path, content: bytes | None
) -> None:
    path = write_results(tmp_path, CLASS, [class_entry("ada", report())]) / GRADES_FILE
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=GRADES_FILE) as caught:
        entries(tmp_path)
    assert "is kept" not in caught.value.hint
    assert "grades everybody again" in caught.value.hint


def test_a_report_that_cannot_be_kept_stops_no_class(tmp_path: Path) -> None:
    unwritable = replace(report(), printed=object())  # type: ignore[arg-type]
    with ClassResults(tmp_path, write=CLASS) as results:
        results.store_hand_ins(hand_ins("a", "b"))
        (first, _, _), (second, _, _) = results.programs_to_grade(MEAN)
        results.store_grade(ProgramGrade(first, unwritable), "now")
        results.store_grade(ProgramGrade(second, report()), "now")
    assert [entry.verdict for entry in entries(tmp_path)] == ["not graded", "pass"]
    assert "its report cannot be kept" in entries(tmp_path)[0].note


def test_an_invalid_report_is_an_error(tmp_path: Path) -> None:
    write_results(tmp_path, CLASS, [class_entry("ada", report())])
    with sqlite3.connect(tmp_path / GRADES_FILE) as db:
        db.execute("UPDATE grade SET report = '{}'")
    with pytest.raises(UsageError, match="expected a report in it"):
        entries(tmp_path)


@pytest.mark.parametrize(
    "change",
    [{"seed": "x"}, {"title": 3}, {"deadline": "2026-11-20"}, {"questions": 3}, {"format": 1}],
)
def test_invalid_settings_are_refused(tmp_path: Path, change: dict[str, object]) -> None:
    path = write_results(tmp_path, CLASS, [class_entry("ada")]) / SETTINGS_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UsageError, match=r"class\.json: expected"):
        ClassResults(tmp_path)


def test_missing_results_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected results of a class, found no class\.json"):
        ClassResults(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="expected a folder for the results"):
        ClassResults(tmp_path / "file" / "out", write=CLASS)


def test_a_seed_that_was_drawn_stays(tmp_path: Path) -> None:
    write_results(tmp_path, CLASS, [])
    for drawn, seed in ((True, CLASS.seed), (False, 99)):
        with ClassResults(tmp_path, write=replace(CLASS, seed=99), drawn=drawn) as results:
            assert results.class_settings.seed == seed


@pytest.mark.parametrize(
    ("terms", "is_other_grade"),  # whether a grade on them is another grade
    [
        (replace(CLASS, seed=8), True), (replace(CLASS, level="process"), True),
        (replace(CLASS, program="0.3"), True),
        (replace(CLASS, questions=(replace(MEAN, digest="f" * 64),)), True),
        (replace(CLASS, questions=(replace(MEAN, libraries={"numpy": "2.5"}),)), True),
        (replace(CLASS, questions=(replace(MEAN, parts=(1,)),)), True),
        (replace(CLASS, questions=(replace(MEAN, shared=True),)), True),
        (replace(CLASS, per_student=True), True),
        (replace(CLASS, title="Fall", deadline="", counts="best"), False),
        (replace(CLASS, questions=(replace(MEAN, weight=2.0, hidden=("x",)),)), False),
    ],
)  # fmt: skip
def test_the_key_of_a_grade_covers_everything_that_affects_it(
    terms: ClassSettings, is_other_grade: bool
) -> None:
    assert (
        grade_key(terms, terms.questions[0], SAME, "ann") != grade_key(CLASS, MEAN, SAME, "ann")
    ) is is_other_grade


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59+00:00", "9999-12-31T23:59:59-14:00", ""])
def test_a_file_after_the_deadline_is_late(tmp_path: Path, at: str) -> None:
    late = class_entry("ada", at=at)
    late = replace(late, hand_in=replace(late.hand_in, late=not at))
    write_results(tmp_path, CLASS, [late, class_entry("ben")])
    assert [entry.late for entry in entries(tmp_path)] == [True, False]


def test_a_file_is_whole_or_as_it_was_and_a_link_is_not_written_through(tmp_path: Path) -> None:
    precious, file = tmp_path / "precious", tmp_path / "grades.csv"
    precious.write_text("mine")
    file.symlink_to(precious)

    def pieces() -> Iterator[str]:
        yield "half"
        raise UsageError("the disk is full")

    with pytest.raises(UsageError, match="the disk is full"):
        write_atomically(file, pieces())
    assert file.is_symlink()
    write_atomically(file, ["theirs"])
    assert (precious.read_text(), file.read_text()) == ("mine", "theirs")
    assert {*tmp_path.iterdir()} == {precious, file}


def test_a_group_of_equal_answers_has_its_programs(tmp_path: Path) -> None:
    wrong = replace(report(Verdict.FAIL), outputs="a3f9" + "0" * 60)
    other = replace(wrong, outputs="a3f0" + "0" * 60)
    entries = [
        class_entry("ada", wrong),
        class_entry("ben", other),
        class_entry("cem", wrong),
        class_entry("dov", report()),
    ]
    with ClassResults(write_results(tmp_path, CLASS, entries)) as results:
        outputs, answers = results.equal_answers("mean", "a3f9")
        assert outputs == wrong.outputs
        assert [(hand_in.student, program) for hand_in, program in answers] == [
            (hand_in.student, hand_in.sha256.encode())
            for hand_in in (entries[0].hand_in, entries[2].hand_in)
        ]
        for digits in ("a3", "ffff"):
            with pytest.raises(UsageError, match="expected one group of answers to mean"):
                results.equal_answers("mean", digits)
