r"""Tables for spreadsheets: CSV in which no text of a student's becomes a formula.

A spreadsheet takes a cell that begins with =, +, -, @, a tab or a carriage return for a formula,
and a program that takes another separator than ours may begin a cell in the middle of one. An
apostrophe before such a character makes text of it, as in a spreadsheet itself.
Source: the page "CSV Injection" of OWASP.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence

from grader.reports.inert import LINE_LIMIT, inert

Cell = str | int | float | None

# What begins a formula, also in the wide forms of East Asian keyboards; an apostrophe among them,
# so that one of the student's own can be told from one of ours.
_BEGINS = "=+\\-@\t\r'\uff1d\uff0b\uff0d\uff20"
_AFTER = ',;|\t\r\n"'  # separators, and what ends a quoted cell
_PLACES = re.compile(rf"(^[ \u00a0]*|[{_AFTER}][ \u00a0]*)(?=[{_BEGINS}])")
_MARKED = re.compile(rf"(^[ \u00a0]*|[{_AFTER}][ \u00a0]*)'(?=[{_BEGINS}])")
MOST = 40 * LINE_LIMIT  # characters of a cell: half of what a spreadsheet takes


def text(value: str) -> str:
    """Text in which nothing is a formula, wherever a program begins a cell."""
    return _PLACES.sub(r"\1'", value)


def plain(value: str) -> str:
    """What a text was before `text` was applied to it."""
    return _MARKED.sub(r"\1", value)


def rows(table: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Each row as one line of CSV, all text in quotes, None as an empty cell."""
    for row in table:
        line = io.StringIO()
        csv.writer(line, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n").writerow(
            map(_cell, row)
        )
        yield line.getvalue()


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    return text(inert(value, MOST)) if isinstance(value, str) else value
