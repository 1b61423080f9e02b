"""`drill class report`, from a folder of results to tables, data and a page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.app.reporting import report_class, write_page
from grader.cli import app
from grader.model.classroom import Entry
from grader.model.errors import UsageError
from grader.model.verdict import Verdict
from tests.classroom.making import TERMS, entry, named, report, write_results
from tests.classroom.pages import Page


def entries() -> list[Entry]:
    wrong = report(Verdict.FAIL, named("axis"))
    return [
        entry("ada", wrong, at="2026-11-18T12:00:00+00:00"),
        entry("ada", report(), at="2026-11-19T12:00:00+00:00"),
        entry("ben", wrong, at="2026-11-20T23:00:00+00:00"),
        entry("cem", report(), fault="the disk is full"),
    ]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A class that was graded."""
    return write_results(tmp_path / "results", TERMS, entries())


def test_the_tables_say_who_passed_and_what_the_class_holds(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["class", "report", str(results)]) == 0
    text = capsys.readouterr().out
    rows = [" ".join(line.split()) for line in text.splitlines()]
    assert "Class of 2026" in rows
    assert "ada 10 pass - 10 of 20" in rows
    assert "ben 0 fail, late - 0 of 20" in rows
    assert "cem not graded - 0 of 20 so far" in rows
    assert f"axis {'#' * 12} 1 of 2, 50 %, part 1: 1" in rows
    assert "1 more held it before and now does right what it gets wrong" in rows
    assert "over time, hand-ins that hold it: Nov 18 1 of 1, Nov 21 1 of 1" in rows


def test_a_screen_reader_gets_a_fact_per_line(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["--plain", "class", "report", str(results)]) == 0
    text = capsys.readouterr().out
    assert "#" not in text
    assert "student ada, mean 10 pass, sum -, points 10 of 20" in text


def test_the_same_as_data(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["class", "report", str(results), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["format"] == 1
    (axis,) = content["asked"][0]["ideas"]
    assert (axis["students"], axis["gone"], axis["over_time"]) == (["ben"], ["ada"], [1, 0, 0, 1])
    assert [student["points"] for student in content["students"]] == [10, 0, None]


def test_the_page_is_written_whole_and_links_to_students(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = results.parent / "class.html"
    assert app.run(["class", "report", str(results), "--html", str(page)]) == 0
    assert "3 students, 0 passed all questions" in capsys.readouterr().out
    read = Page.of(page.read_text("utf-8"))
    assert "2 hand-ins: 2026-11-18 13:00 fail, 0 points (axis); " in " ".join(read.text.split())
    assert {"s1", "s2", "s3"} <= set(read.ids)
    assert sorted(path.name for path in results.parent.iterdir()) == ["class.html", "results"]


def test_what_was_there_stays_where_a_page_cannot_be_made(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = results.parent / "class.html"
    page.write_text("before")
    monkeypatch.setattr("grader.reports.class_page.student_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_page(results, page)
    assert page.read_text() == "before"
    assert sorted(path.name for path in results.parent.iterdir()) == ["class.html", "results"]


@pytest.mark.parametrize("where", ["results", "nowhere/class.html"])
def test_a_file_that_cannot_be_written_is_named(results: Path, where: str) -> None:
    with pytest.raises(UsageError, match=where):
        write_page(results, results.parent / where)


def test_a_folder_without_results_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert app.run(["class", "report", str(tmp_path)]) == 2
    assert "expected results of a class" in capsys.readouterr().err


def test_handed_in_and_not_graded_yet_is_no_zero(results: Path) -> None:
    (results / "verdicts.jsonl").write_bytes(b"half a li")
    found = report_class(results)
    assert [student.points for student in found.students] == [None, None, None]
    assert found.students[0].cells[0].note == "not yet"
    assert found.scores.counts == found.seconds.counts == found.asked[0].points.counts == ()


HOSTILE = [
    "<script>alert(1)</script>",
    "\x1b[2J",
    "\u202egnp.exe",
    "\ud800",
    "../up",
    "a\nb",
    "=1+1",
]


def test_names_do_nothing_on_their_way_from_results_to_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = report(Verdict.FAIL, named("axis"), outputs="c" * 64)
    given = [entry(name, wrong, name=name, sha256=f"{n:064x}") for n, name in enumerate(HOSTILE)]
    results, page = write_results(tmp_path / "results", TERMS, given), tmp_path / "class.html"
    for arguments in ([], ["--json"], ["--html", str(page)]):
        assert app.run(["class", "report", str(results), *arguments]) == 0
        said = capsys.readouterr().out
        assert not {"\x1b", "\u202e", "\ud800"} & {*said}
    content = page.read_bytes().decode()
    assert Page.of(content).tags["script"] == 0
    assert not {"\x1b", "\u202e"} & {*content}
    assert content.count('<details class="student">') == len(HOSTILE)
