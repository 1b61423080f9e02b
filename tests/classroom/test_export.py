"""What a class earned, for other programs: as they read it, whatever students write."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom import results as disk
from grader.classroom.export import (
    FORMATS,
    Cell,
    gradescope,
    junit,
    line,
    long_rows,
    no_formula,
    rows,
    wide_rows,
)
from grader.cli.app import run
from grader.model.classroom import AssignedQuestion, Entry
from grader.model.errors import UsageError
from grader.model.report import CheckResult, Frame, Raised, Report, Verdict
from tests.classroom.junit import faults
from tests.classroom.pupils import (
    FAULT,
    MEAN,
    POOL,
    TERMS,
    WRONG,
    entry,
    everybody,
    report,
    write,
)

Drill = Callable[..., tuple[int, str, str]]

# Gradescope

TOP = {
    "score", "execution_time", "output", "output_format", "test_output_format", "test_name_format",
    "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard",
}  # fmt: skip
TEST = {
    "score", "max_score", "status", "name", "name_format", "number", "output", "output_format",
    "tags", "visibility", "extra_data",
}  # fmt: skip
VISIBILITY = {"visible", "hidden", "after_due_date", "after_published"}
TEXTS = {"text", "html", "simple_format", "md", "ansi"}


def assert_gradescope(found: dict[str, Any]) -> None:
    """Check a result against docs/specs.md of gradescope/autograder_samples."""
    assert found.keys() <= TOP
    assert "tests" in found or "score" in found
    for one in [found, *found["tests"]]:
        assert one.get("visibility", "visible") in VISIBILITY
        assert one.get("output_format", "text") in TEXTS
        assert isinstance(one.get("output", ""), str)
    for test in found["tests"]:
        assert test.keys() <= TEST
        assert test["status"] in {"passed", "failed"}
        assert isinstance(test.get("number", ""), str)
        assert ("score" in test) == ("max_score" in test)
        assert all(isinstance(tag, str) for tag in test.get("tags", []))
    json.dumps(found, allow_nan=False)


def of(student: str) -> dict[str, Entry]:
    """What counts of a student."""
    return {one.question.id: one for one in everybody() if one.handed.student == student}


def result(
    entries: dict[str, Entry], asked: Sequence[AssignedQuestion] = (POOL, MEAN)
) -> dict[str, Any]:
    """The result of a student on Gradescope, which is valid."""
    found = gradescope(asked, entries)
    assert_gradescope(found)
    return found


def test_a_test_for_each_part_with_its_points() -> None:
    tests = result(of("ada"))["tests"]
    shown = [(t["name"], t["score"], t["max_score"], t["status"]) for t in tests]
    assert shown == [
        ("pool, part 1", 50, 50, "passed"), ("pool, part 2", 50, 50, "passed"),
        ("mean", 5, 5, "passed"),
    ]  # fmt: skip
    assert result(of("ada"))["output"] == "It came after the deadline."


def test_a_part_says_what_is_wrong_and_why() -> None:
    first, second, mean = result(of("ben"))["tests"]
    assert first["status"] == "passed"
    assert (second["score"], second["status"]) == (0, "failed")
    assert "ties: grad_x is wrong in case tied." in second["output"]
    assert "grad_x[0, 1] is 4.000, expected 10.00" in second["output"]
    assert "assign-overlap" in second["output"]
    assert "You overwrite instead of adding." in second["output"]
    assert "Not tried: 1 check, until ties passes." in second["output"]
    assert second["tags"] == ["assign-overlap"]
    assert (mean["score"], mean["output"]) == (0, "nothing handed in: expected a file mean.py")


def test_a_file_without_a_program_earns_nothing_and_says_why() -> None:
    test = result(of("cem"))["tests"][0]
    assert (test["score"], test["max_score"], test["output"]) == (0, 100, "a link")


def test_a_fault_of_the_grader_is_no_score_anywhere() -> None:
    found = result(of("dov"))
    assert "score" not in found
    assert not any("score" in test or "max_score" in test for test in found["tests"])
    assert found["tests"][0]["name"] == "NOT GRADED"
    assert FAULT in found["tests"][0]["output"]
    assert "not your fault" in found["tests"][0]["output"]


@pytest.mark.parametrize(
    "hidden",
    ["ties", "tied"],
    ids=["check", "case"],
)
def test_nothing_hidden_is_said(hidden: str) -> None:
    posed = replace(POOL, hidden=(hidden,))
    entries = {"pool": replace(of("ben")["pool"], question=posed)}
    made = result(entries, [posed])
    said = " ".join(str(value) for test in made["tests"] for value in test.values())
    assert "hidden" in said
    for word in (hidden, "grad_x", "4.000", "10.00", "overlap", "overwrite", "0.4 times"):
        assert word not in said, word
    # A hidden test on Gradescope would hide the student's total as well.
    assert all(t["visibility"] == "visible" for t in result(entries, [posed])["tests"])
    assert result(entries, [posed])["tests"][1]["score"] == 0


def raising(message: str) -> CheckResult:
    """A check on which a submission raises what it likes, on a line that reads as it likes."""
    raised = Raised("ValueError", message, (Frame(3, "backward", f"raise ValueError # {message}"),))
    return replace(WRONG, verdict=Verdict.ERROR, message=f"raised ValueError: {message}",
                   mismatch=None, raised=raised)  # fmt: skip


def test_no_students_text_is_markup_or_acts_on_a_terminal() -> None:
    evil = "<script>alert(1)</script> **x** \x1b[2J\u202e"
    found = report(passes=False, checks=[raising(evil)])
    made = result({"pool": entry("eve", POOL, found)}, [POOL])
    assert all(test["output_format"] == "text" for test in made["tests"])
    assert (made["output_format"], made["test_name_format"]) == ("text", "text")
    said = made["tests"][1]["output"]
    assert "<script>" in said  # text is shown as it is
    assert "\x1b" not in said
    assert "\u202e" not in said


# Tables

EVIL = '=cmd|"/c calc"!A1'
BEGINS = "=+-@\t\r"


def read(table: Iterable[Sequence[Cell]]) -> list[dict[str, str]]:
    """What a program finds in a table."""
    return list(csv.DictReader(io.StringIO("".join(rows(table)), newline="")))


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n,;|\"' a1"), max_size=12))
def test_no_text_is_a_formula(value: str) -> None:
    assert str(no_formula(value)).lstrip(" ")[:1] not in {*BEGINS} or not value.strip(" ")
    for separator in ",;|\t":
        pieces = str(no_formula(value)).split(separator)
        assert all(piece.lstrip(" ")[:1] not in {*"=+-@"} for piece in pieces)


def test_no_student_puts_a_formula_into_a_table() -> None:
    one = entry(EVIL, POOL, report())
    one = replace(one, handed=replace(one.handed, name=EVIL, email=EVIL, path=EVIL))
    for table in (long_rows([one]), wide_rows([one], TERMS)):
        assert all(
            row[key] in {"", f"'{EVIL}"}
            for row in read(table)
            for key in ("student", "name", "email")
        )


def test_a_row_for_each_student_and_question() -> None:
    found = {(row["student"], row["question"]): row for row in read(long_rows(everybody()))}
    ada = found["ada", "pool"]
    assert (ada["points"], ada["of"], ada["verdict"], ada["late"]) == ("100", "100", "pass", "")
    assert (ada["name"], ada["when"]) == ("Ada L", "2026-11-22T10:00:00+00:00")
    assert found["ada", "mean"]["late"] == "late"
    ben = found["ben", "pool"]
    assert (ben["points"], ben["misconceptions"]) == ("50", "assign-overlap")
    assert ben["parts"] == "part-1 pass 50/50, part-2 fail 0/50"
    cem = found["cem", "pool"]
    assert (cem["points"], cem["verdict"], cem["note"]) == ("0", "no program", "a link")
    dov = found["dov", "pool"]
    assert (dov["points"], dov["verdict"], dov["note"]) == ("", "not graded", FAULT)


def test_a_row_for_each_student() -> None:
    found = {row["student"]: row for row in read(wide_rows(everybody(), TERMS))}
    assert list(found) == ["ada", "ben", "cem", "dov"]
    assert (found["ada"]["total"], found["ada"]["of"]) == ("105", "105")
    assert (found["ben"]["total"], found["ben"]["mean verdict"]) == ("50", "nothing handed in")
    assert (found["cem"]["total"], found["cem"]["pool"]) == ("0", "0")
    # What is not graded is no zero, and neither is a total that it belongs to.
    assert (found["dov"]["total"], found["dov"]["pool"], found["dov"]["mean"]) == ("", "", "10")


def test_a_line_is_the_whole_report_in_ascii() -> None:
    evil = entry("\u202eeve\x1b[2J\n", POOL, report(passes=False))
    said = line(evil)
    assert said.isascii()
    assert "\n" not in said
    assert "\x1b" not in said
    found = json.loads(said)
    assert found["student"] == evil.handed.student
    assert found["report"]["checks"][1]["mismatch"]["observed"] == "4.000"
    assert (found["points"], found["of"], found["verdict"]) == (50, 100, "fail")
    unknown = json.loads(line(entry("dov", POOL, None, ours=FAULT)))
    assert (unknown["points"], unknown["verdict"], unknown["report"]) == (None, "not graded", None)
    assert unknown["note"] == FAULT


# JUnit XML


def tree(entries: list[Entry]) -> ET.Element:
    """Parse what is written, and hold it against the schema."""
    root = ET.fromstring("".join(junit(entries, TERMS)))
    assert list(faults(root)) == []
    return root


def case(root: ET.Element, suite: str, name: str) -> ET.Element:
    """One case of one suite."""
    found = root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']")
    assert found is not None
    return found


def test_a_suite_for_each_student_and_question_a_case_for_each_check() -> None:
    root = tree(everybody())
    assert [suite.get("name") for suite in root] == [
        "ada / pool", "ada / mean", "ben / pool", "cem / pool", "dov / pool", "dov / mean",
    ]  # fmt: skip
    assert root[0].get("timestamp") == "2026-11-22T13:00:00"
    assert root[0].get("time") == "0.250"
    known = {p.get("name"): p.get("value") for p in root[2].iter("property")}
    assert (known["points"], known["of"], known["verdict"]) == ("50", "100", "fail")
    assert known["misconception"] == "assign-overlap"
    assert len(case(root, "ben / pool", "forward")) == 0
    wrong = case(root, "ben / pool", "ties").find("failure")
    assert wrong is not None
    assert wrong.get("message") == "grad_x is wrong"
    # What needs another check was not tried; a goal beyond what is asked fails no build.
    assert case(root, "ben / pool", "manners")[0].tag == "skipped"
    assert case(root, "ben / pool", "manners")[0].text == "ties did not pass"
    assert case(root, "ben / pool", "speed")[0].tag == "skipped"


def test_no_program_and_no_grade_are_errors_of_different_types() -> None:
    root = tree(everybody())
    theirs, ours = (case(root, f"{who} / pool", "program")[0] for who in ("cem", "dov"))
    assert (theirs.tag, theirs.get("type"), theirs.get("message")) == (
        "error", "no-program", "a link",
    )  # fmt: skip
    assert (ours.tag, ours.get("type")) == ("error", "not-graded")
    assert "not the student's fault" in (ours.get("message") or "")


@pytest.mark.parametrize(
    ("verdict", "tag"),
    [(Verdict.ERROR, "error"), (Verdict.LIMIT, "error")],
)
def test_what_is_of_no_check_is_a_case_too(verdict: Verdict, tag: str) -> None:
    found: Report = replace(report(), verdict=verdict, checks=(), message="it does not parse")
    root = tree([entry("eve", POOL, found)])
    (said,) = case(root, "eve / pool", "program")
    assert (said.tag, said.get("message")) == (tag, "it does not parse")


NAMES = st.text(min_size=1, max_size=20) | st.sampled_from(
    ["]]>", "<failure/>", "&amp;", '" onload="', "\x00\x1b[2J", "\ud800", "\ufffe", "a\r\nb", "-->"]
)


@given(NAMES, NAMES)
def test_whatever_a_student_writes_it_is_read(name: str, message: str) -> None:
    checks = [replace(WRONG, message=message, mismatch=None)]
    fault = entry(name, POOL, fault=message)
    found = tree([entry(name, POOL, report(passes=False, checks=checks)), fault])
    assert len(found) == 2
    assert all(char >= " " or char in "\n\t" for text in found.itertext() for char in text)


# The command


@pytest.fixture
def drill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Drill:
    """Type `drill class export` in a folder of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))

    def call(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = run(["class", "export", *arguments])
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """The results of a class of four."""
    return write(tmp_path / "results", everybody())


def test_every_format_in_one_go(drill: Drill, results: Path, tmp_path: Path) -> None:
    files = {name: tmp_path / f"out.{name}" for name in FORMATS}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    status, out, err = drill(str(results), *options, "--student", "ada")
    assert (status, out) == (0, "")
    assert err.count("written") == len(files)
    assert len(list(csv.DictReader(io.StringIO(files["csv"].read_text())))) == 2
    lines = files["jsonl"].read_text().splitlines()
    assert [json.loads(line)["points"] for line in lines] == [100, 10]
    assert len(ET.parse(files["junit"]).getroot()) == 2
    assert json.loads(files["gradescope"].read_text())["tests"][0]["score"] == 50
    assert {path.name for path in tmp_path.iterdir()} == {
        "results", *(file.name for file in files.values()),
    }  # fmt: skip


def test_a_pipe(drill: Drill, results: Path) -> None:
    status, out, _ = drill(str(results), "--csv", "-", "--wide")
    assert status == 0
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(out))}
    assert rows["ada"]["total"] == "105"
    assert rows["dov"]["total"] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "expected a format, found none"),
        (["--csv", "-", "--jsonl", "-"], "found several"),
        (["--jsonl", "-", "--wide"], "--wide is for --csv"),
        (["--gradescope", "-"], "--gradescope is for one student, found 4"),
        (["--gradescope", "-", "--student", "bem"], "no student bem"),
        (["--csv", "-", "--student", "ad"], "did you mean ada?"),
        (["--csv", "results"], "expected a file, found a folder"),
        (["--csv", "nowhere/x.csv"], "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_said(
    drill: Drill, results: Path, arguments: list[str], said: str
) -> None:
    status, out, err = drill(results.name, *arguments)
    assert (status, out) == (2, "")
    assert said in err.replace("\n    ", " ")


def test_one_student_needs_no_name(drill: Drill, tmp_path: Path) -> None:
    write(tmp_path / "one", [entry("ada", found=report())])
    status, out, _ = drill("one", "--gradescope", "-")
    assert status == 0
    assert json.loads(out)["tests"][0]["status"] == "passed"


def test_a_file_is_whole_or_as_it_was(results: Path, tmp_path: Path) -> None:
    file = tmp_path / "grades.csv"
    file.write_text("before")

    def pieces() -> object:
        yield "half"
        raise UsageError("the disk is full")

    with pytest.raises(UsageError):
        disk.write_whole(file, pieces())  # type: ignore[arg-type]
    assert file.read_text() == "before"
    assert {path.name for path in tmp_path.iterdir()} == {"results", "grades.csv"}
