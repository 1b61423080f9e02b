"""A table of named numbers: yours, expected, and what is wrong with the line."""

from __future__ import annotations

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import Breakdown, Row
from grader.reports.inert import inert
from grader.reports.page import cut, padded, wrapped
from grader.reports.palette import QUIET, WRONG

_INDENT = 4
_GAP = 4
_MOST_ROWS = 16
_NAME_LIMIT = 28
_VALUE_LIMIT = 24
_REMARK = 12  # cells a remark needs next to its line


def breakdown_lines(breakdown: Breakdown, width: int) -> list[Text]:
    """The table as lines; where it is long, the parts that agree are only counted."""
    rows = list(breakdown.rows)
    wrong = [r for r in rows if _differs(r)]
    kept = rows if len(rows) <= _MOST_ROWS else wrong[:_MOST_ROWS]
    names = [cut(inert(r.name), _NAME_LIMIT) for r in kept]
    values = [
        (cut(inert(r.observed), _VALUE_LIMIT), cut(inert(r.expected), _VALUE_LIMIT)) for r in kept
    ]
    across = max(map(cell_len, names), default=0)
    yours = max([len("yours"), *(cell_len(v) for v, _ in values)])
    theirs = max([len("expected"), *(cell_len(v) for _, v in values)])
    before = across + _GAP
    head = f"{'':{before}}{padded('yours', yours, right=True)}{'':{_GAP}}"
    lines = [Text(" " * _INDENT + head + padded("expected", theirs, right=True), QUIET)]
    for row, name, (observed, expected) in zip(kept, names, values, strict=True):
        line = Text(" " * _INDENT + padded(name, before))
        line.append(padded(observed, yours, right=True), WRONG if _differs(row) else "")
        line.append(" " * _GAP + padded(expected, theirs, right=True))
        lines += _noted(line, _remark(row), width)
    if left := len(rows) - len(kept):
        agree = len(rows) - len(wrong)
        tail = f"{agree} parts agree" if left == agree else f"{left} parts are not shown"
        lines.append(Text(" " * _INDENT + f"... {tail}", QUIET))
    return lines


def _differs(row: Row) -> bool:
    return bool(row.note) or row.observed != row.expected


def _remark(row: Row) -> str:
    """The note of a line; one that differs without a note still says so."""
    return inert(row.note) or ("differs" if _differs(row) else "")


def _noted(line: Text, remark: str, width: int) -> list[Text]:
    """The line with its remark behind it, or below it where that would be too tight."""
    if not remark:
        return [line]
    start = line.cell_len + _GAP
    if start + min(cell_len(remark), _REMARK) <= width:
        first, *more = wrapped(remark, width - start)
        line.append(" " * _GAP).append(first, WRONG)
        return [line, *(Text(" " * start).append(s, WRONG) for s in more)]
    below = wrapped(remark, width - _INDENT - _GAP)
    return [line, *(Text(" " * (_INDENT + _GAP)).append(s, WRONG) for s in below)]
