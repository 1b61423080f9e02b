"""Exports of a class: other programs read the right marks, and no text of a student acts."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.export import (
    CsvCell,
    csv_rows,
    entry_line,
    escape_formula,
    gradescope_result,
    long_rows,
    wide_rows,
)
from grader.commands.app import run
from grader.model.classroom import ClassEntry
from grader.model.report import (
    CheckResult,
    ExceptionRecord,
    Frame,
    Mismatch,
    PartResult,
    Report,
    Verdict,
)
from tests.classroom.builders import (
    FAIL,
    MEAN,
    SUM,
    TERMS,
    class_entry,
    idea_match,
    report,
    rule,
    write_results,
)

Drill = Callable[..., tuple[int, str, str]]
FAULT = "isolation: expected strong, found limited"
PARTS = (PartResult("part-1", Verdict.PASS, 6, 6), PartResult("part-2", FAIL, 0, 4))
RIGHT = CheckResult("forward", "outputs", Verdict.PASS, "y is right", ("few", "tied"))
WRONG = CheckResult(
    "ties", "outputs", FAIL, "grad_x is wrong", ("few", "tied"), ("tied",), part=2,
    mismatch=Mismatch("grad_x", "tied", (0,), "4.000", "10.00", "+-1e-9", 1, 1),
)  # fmt: skip


def wrong(*checks: CheckResult) -> Report:
    """A report whose second part fails."""
    missed = CheckResult("speed", "performance", FAIL, "12 times", part=2, stretch=True)
    untried = CheckResult("manners", "contract", Verdict.SKIPPED, "", part=2, blocked_by="ties")
    idea = idea_match(
        "axis", results=("grad_x",), cases=1, failing=1, seen=("tied",), checks=("ties",)
    )
    return report(
        FAIL, idea, parts=PARTS, explanations=(rule("grad_x is 0.4 times the right one", "tied"),),
        checks=checks or (RIGHT, WRONG, missed, untried),
    )  # fmt: skip


def everybody() -> list[ClassEntry]:
    """A class of four: one passes, one is wrong, one has no program, one no grade."""
    of_sum = report(question="sum", parts=(PartResult("1", Verdict.PASS, 4, 4),))
    return [
        class_entry("ada", report(), name="Ada L"),
        class_entry("ada", of_sum, question=SUM, late=True),
        class_entry("ben", wrong()), class_entry("cem", no_answer="a link"),
        class_entry("dov", fault=FAULT), class_entry("dov", of_sum, question=SUM),
    ]  # fmt: skip


# Gradescope

FRAME = {
    "output", "output_format", "visibility", "execution_time", "test_output_format",
    "test_name_format", "stdout_visibility", "tests",
}  # fmt: skip
TEST = {
    "output", "output_format", "visibility", "score", "max_score", "status", "name", "tags",
}  # fmt: skip


def assert_gradescope(result: dict[str, Any]) -> None:
    """Check a result against docs/specs.md of gradescope/autograder_samples."""
    assert result.keys() <= FRAME
    for item in (result, *result["tests"]):
        assert (item["visibility"], item["output_format"]) == ("visible", "text")
    for test in result["tests"]:
        assert test.keys() <= TEST
        assert test["status"] in {"passed", "failed"}
        assert ("score" in test) == ("max_score" in test)
        assert all(isinstance(tag, str) for tag in test.get("tags", []))
    json.dumps(result, allow_nan=False)


def result(*entries: ClassEntry) -> dict[str, Any]:
    """The result of a student on Gradescope, which is valid."""
    questions = [entries[0].question] + [SUM] * (entries[0].question == MEAN)
    content = gradescope_result(questions, {entry.question.id: entry for entry in entries})
    assert_gradescope(content)
    return content


def test_a_test_for_each_part_with_its_points() -> None:
    content = result(*everybody()[:2])
    assert [(t["name"], t["score"], t["max_score"], t["status"]) for t in content["tests"]] == [
        ("mean, part 1", 6, 6, "passed"), ("mean, part 2", 4, 4, "passed"),
        ("sum", 10, 10, "passed"),
    ]  # fmt: skip
    assert content["output"] == "It came after the deadline."


def test_a_part_says_what_is_wrong_and_why() -> None:
    first, second, of_sum = result(class_entry("ben", wrong()))["tests"]
    assert first["status"] == "passed"
    assert (second["score"], second["status"], second["tags"]) == (0, "failed", ["axis"])
    for expected in (
        "ties: grad_x is wrong in case tied.", "grad_x[0] is 4.000, expected 10.00", "axis",
        "You take the mean along the wrong axis.", "Not tried: 1 check, until ties passes.",
    ):  # fmt: skip
        assert expected in second["output"]
    assert (of_sum["score"], of_sum["output"]) == (0, "nothing handed in: expected a file sum.py")
    test = result(class_entry("cem", no_answer="a link"))["tests"][0]
    assert (test["score"], test["max_score"], test["output"]) == (0, 10, "a link")


def test_a_fault_of_the_grader_is_no_score_anywhere() -> None:
    (test,) = result(*everybody()[4:])["tests"]
    assert not {"score", "max_score"} & {*test}
    assert test["name"] == "NOT GRADED"
    assert FAULT in test["output"]
    assert "not your fault" in test["output"]


@pytest.mark.parametrize("hidden", ["ties", "tied"], ids=["check", "case"])
def test_hidden_checks_and_cases_are_never_mentioned(hidden: str) -> None:
    question = replace(MEAN, hidden=(hidden,))
    # A hidden test on Gradescope would hide the student's total as well.
    _, failing = result(class_entry("ben", wrong(), question=question))["tests"]
    assert "hidden" in failing["output"]
    words = (hidden, "grad_x", "4.000", "10.00", "axis", "0.4 times")
    assert [word for word in words if word in str(failing)] == []
    assert failing["score"] == 0


def test_no_students_text_is_markup_or_acts_on_a_terminal() -> None:
    evil = "<script>alert(1)</script> **x** \x1b[2J\u202e"
    raised = ExceptionRecord(
        "ValueError", evil, (Frame(3, "backward", f"raise ValueError # {evil}"),)
    )
    check = replace(WRONG, verdict=Verdict.ERROR, message=f"raised ValueError: {evil}",
                    mismatch=None, raised=raised)  # fmt: skip
    text = result(class_entry("eve", wrong(check)))["tests"][1]["output"]
    assert "<script>" in text  # text is shown as it is
    assert not {"\x1b", "\u202e"} & {*text}


# Tables

EVIL = '=cmd|"/c calc"!A1'


def read(table: Iterable[Sequence[CsvCell]]) -> list[dict[str, str]]:
    """Return the rows of a table as another program reads them."""
    return list(csv.DictReader(io.StringIO("".join(csv_rows(table)), newline="")))


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n,;|\"' a1"), max_size=12))
def test_no_text_is_a_formula(value: str) -> None:
    assert str(escape_formula(value)).lstrip(" ")[:1] not in {*"=+-@\t\r"} or not value.strip(" ")
    for separator in ",;|\t":
        pieces = str(escape_formula(value)).split(separator)
        assert all(piece.lstrip(" ")[:1] not in {*"=+-@"} for piece in pieces)


def test_no_student_puts_a_formula_into_a_table() -> None:
    entry = class_entry(EVIL, report())
    entry = replace(entry, hand_in=replace(entry.hand_in, name=EVIL, email=EVIL, path=EVIL))
    for table in (long_rows([entry]), wide_rows([entry], TERMS)):
        (row,) = read(table)
        assert {row["student"], row["name"], row["email"], row.get("file", f"'{EVIL}")} == {
            f"'{EVIL}"
        }


def test_a_row_for_each_student_and_question() -> None:
    both, half = "1 pass 6/6, 2 pass 4/4", "part-1 pass 6/6, part-2 fail 0/4"
    rows = {(row["student"], row["question"]): row for row in read(long_rows(everybody()))}
    names = ("points", "of", "verdict", "late", "misconceptions", "parts", "name", "note")
    assert {key: tuple(row[name] for name in names) for key, row in rows.items()} == {
        ("ada", "mean"): ("10", "10", "pass", "", "", both, "Ada L", ""),
        ("ada", "sum"): ("4", "4", "pass", "late", "", "1 pass 4/4", "", ""),
        ("ben", "mean"): ("6", "10", "fail", "", "axis", half, "", ""),
        ("cem", "mean"): ("0", "10", "no answer", "", "", "", "", "a link"),
        ("dov", "mean"): ("", "10", "not graded", "", "", "", "", FAULT),
        ("dov", "sum"): ("4", "4", "pass", "", "", "1 pass 4/4", "", ""),
    }  # fmt: skip
    assert rows["ada", "mean"]["when"] == "2026-11-20T12:00:00+00:00"


def test_a_row_for_each_student() -> None:
    rows = {row["student"]: row for row in read(wide_rows(everybody(), TERMS))}
    keys = ("total", "of", "mean", "mean verdict", "sum", "sum verdict")
    assert {student: tuple(row[key] for key in keys) for student, row in rows.items()} == {
        "ada": ("20", "20", "10", "pass", "4", "pass"),
        "ben": ("6", "20", "6", "fail", "0", "nothing handed in"),
        "cem": ("0", "20", "0", "no answer", "0", "nothing handed in"),
        # What is not graded is no zero, and neither is a total that it belongs to.
        "dov": ("", "20", "", "not graded", "4", "pass"),
    }


def test_a_line_is_the_whole_report_in_ascii() -> None:
    evil = class_entry("\u202eeve\x1b[2J\n", wrong())
    line = entry_line(evil)
    assert line.isascii()
    assert not {"\n", "\x1b"} & {*line}
    content = json.loads(line)
    assert content["student"] == evil.hand_in.student
    assert content["report"]["checks"][1]["mismatch"]["observed"] == "4.000"
    assert (content["points"], content["of"], content["verdict"]) == (6, 10, "fail")
    unknown = json.loads(entry_line(class_entry("dov", fault=FAULT)))
    assert (unknown["points"], unknown["verdict"], unknown["report"]) == (None, "not graded", None)
    assert unknown["note"] == FAULT


# The command


@pytest.fixture
def drill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Drill:
    """Type `drill class export` for the results of a class."""

    def call(entries: list[ClassEntry], *arguments: str) -> tuple[int, str, str]:
        results = write_results(tmp_path / "results", TERMS, entries)
        return run(["class", "export", str(results), *arguments]), *capsys.readouterr()

    return call


def test_every_format_in_one_go_and_a_pipe(drill: Drill, tmp_path: Path) -> None:
    files = {name: tmp_path / f"out.{name}" for name in ("csv", "jsonl", "gradescope")}
    options = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    status, out, err = drill(everybody(), *options, "--student", "ada")
    assert (status, out) == (0, "")
    assert err.count("written") == len(files)
    assert len(list(csv.DictReader(io.StringIO(files["csv"].read_text())))) == 2
    lines = files["jsonl"].read_text().splitlines()
    assert [json.loads(line)["points"] for line in lines] == [10, 4]
    assert json.loads(files["gradescope"].read_text())["tests"][0]["score"] == 6
    assert {*tmp_path.iterdir()} == {tmp_path / "results", *files.values()}
    status, out, _ = drill(everybody(), "--csv", "-", "--wide")
    assert status == 0
    assert [row["total"] for row in csv.DictReader(io.StringIO(out))] == ["20", "6", "0", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a format, found none"),
        (["--csv", "-", "--jsonl", "-"], "found several"),
        (["--jsonl", "-", "--wide"], "--wide is for --csv"),
        (["--gradescope", "-"], "--gradescope is for one student, found 4"),
        (["--gradescope", "-", "--student", "bem"], "no student bem"),
        (["--csv", "-", "--student", "ad"], "did you mean 'ada'?"),
        (["--csv", "."], "expected a file, found a folder"),
        (["--csv", "nowhere/x.csv"], "cannot be written"),
    ],
)
def test_an_export_that_cannot_be_written_is_an_error(
    drill: Drill, arguments: list[str], message: str
) -> None:
    status, out, err = drill(everybody(), *arguments)
    assert (status, out) == (2, "")
    assert message in err.replace("\n    ", " ")


def test_one_student_needs_no_name(drill: Drill) -> None:
    status, out, _ = drill([class_entry("ada", report())], "--gradescope", "-")
    assert status == 0
    assert json.loads(out)["tests"][0]["status"] == "passed"
