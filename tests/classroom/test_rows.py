"""Tables of a class: what stands in them, and that nothing of a student's is a formula."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.model.classroom import Terms
from grader.reports.class_lines import line
from grader.reports.class_rows import long_rows, wide_rows
from grader.reports.inert import inert
from grader.reports.spreadsheet import Cell, plain, rows, text
from tests.classroom.pupils import FAULT, MEAN, POOL, TERMS, entry, everybody, report

EVIL = '=cmd|"/c calc"!A1'
BEGINS = "=+-@\t\r"


def read(table: Iterable[Sequence[Cell]]) -> list[dict[str, str]]:
    """What a program finds in a table."""
    return list(csv.DictReader(io.StringIO("".join(rows(table)), newline="")))


def cells_of(table: str, separator: str) -> list[str]:
    """The cells of a table for a program that knows no quotes and another separator."""
    return [c.strip(' "') for row in table.splitlines() for c in row.split(separator)]


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n,;|\"' a1"), max_size=12))
def test_no_text_is_a_formula_and_each_comes_back(value: str) -> None:
    assert plain(text(value)) == value
    assert text(value).lstrip(" ")[:1] not in {*BEGINS} or not value.strip(" ")
    for separator in ",;|\t":
        pieces = text(value).split(separator)
        assert all(piece.lstrip(" ")[:1] not in {*"=+-@"} for piece in pieces)


@given(st.lists(st.text(max_size=20) | st.integers() | st.none(), min_size=1, max_size=4))
def test_a_table_is_read_back_as_it_was(row: list[Cell]) -> None:
    (found,) = csv.reader(io.StringIO("".join(rows([row])), newline=""), strict=True)
    said = ["" if c is None else c if isinstance(c, int) else text(inert(str(c))) for c in row]
    assert found == [str(cell) for cell in said]


@pytest.mark.parametrize("table", ["long", "wide"])
@pytest.mark.parametrize(
    "name", [EVIL, "@SUM(1)", "-1", "\t=1", "a;=1+1", 'a",=1+1', "x\r=1", "a\n=1", "\uff1d1"]
)
def test_no_student_puts_a_formula_into_a_table(table: str, name: str) -> None:
    handed = replace(entry(name, POOL, report()).handed, name=name, email=name, path=name)
    found = [replace(entry(name, POOL, report()), handed=handed)]
    made = {
        "long": lambda: long_rows(found), "wide": lambda: wide_rows(found, TERMS),
    }[table]()  # fmt: skip
    text = "".join(rows(made))
    assert len(text.splitlines()) == len(list(csv.reader(io.StringIO(text))))
    for separator in ",;\t":
        first = {cell[:1] for cell in cells_of(text, separator) if cell != "--"}  # otter's
        assert not first & {*"=+-@\uff1d"}, separator


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
    assert (found["ben"]["pool part 1"], found["ben"]["pool part 2"]) == ("50", "0")
    assert (found["cem"]["total"], found["cem"]["pool"]) == ("0", "0")
    # What is not graded is no zero, and neither is a total that it belongs to.
    assert (found["dov"]["total"], found["dov"]["pool"], found["dov"]["mean"]) == ("", "", "10")


def test_weights_count_and_whole_points_are_whole() -> None:
    odd = replace(MEAN, weight=0.25, of=3)
    terms = Terms(7, "strong", "0.1.0", (odd,))
    (row,) = read(wide_rows([entry("ada", odd, report(odd))], terms))
    assert (row["total"], row["of"], row["mean"]) == ("0.75", "0.75", "3")


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
