"""The audit of a question as a table that a person can read, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from grader.model.audit import AuditReport, AuditRow, Cell
from grader.model.numerals import duration
from grader.reports.page import Page, hanging, measure
from grader.reports.palette import QUIET, RIGHT, STRONG, WARNED, WRONG

_STYLES = {Cell.KILLS: RIGHT, Cell.WOULD_KILL: QUIET, Cell.VARIES: WARNED}


def render_audit(report: AuditReport, *, width: int) -> RenderableType:
    """The kill matrix, one row a program and one column a check, and what is wrong."""
    return Page(_lines(report, measure(width)))


def _lines(report: AuditReport, width: int) -> Iterator[Text]:
    count = f"{len(report.seeds)} seed{'' if len(report.seeds) == 1 else 's'}"
    right = f"{count}, {duration(report.seconds)}"
    gap = max(2, width - len(report.question) - len(right))
    yield Text.assemble((report.question, STRONG), " " * gap, (right, QUIET))
    yield Text()
    legend = "  ".join(f"{i + 1} {check}" for i, check in enumerate(report.checks))
    yield from hanging([], legend, width, indent=2)
    yield Text()
    names = max((len(row.name) for row in report.rows), default=0)
    if report.rows:
        tens = "".join(str((i + 1) // 10 or " ") for i in range(len(report.checks)))
        ones = "".join(str((i + 1) % 10) for i in range(len(report.checks)))
        if tens.strip():
            yield Text(f"  {'':{names}}  {tens}".rstrip(), QUIET)
        yield Text(f"  {'':{names}}  {ones}  named", QUIET)
    for row in report.rows:
        yield _row(report, row, names)
    yield Text()
    yield from hanging([], _key(report), width, indent=2)
    yield Text()
    for remark in report.remarks:
        yield Text(f"  {remark}", QUIET)
    for problem in report.problems:
        yield from hanging([], problem, width, indent=2, style=WRONG)
    yield from hanging([], _summary(report), width, style=STRONG)


def _row(report: AuditReport, row: AuditRow, names: int) -> Text:
    text = Text(f"  {row.name:{names}}  ")
    for check in report.checks:
        cell = row.cells[check]
        style = (
            WRONG if row.name == "reference" and cell is not Cell.PASSES else _STYLES.get(cell, "")
        )
        text.append(cell.value, style)
    good = row.named_well == row.seeds
    if row.misconception is not None:
        text.append(f"  {row.named_well} of {row.seeds}", "" if good else WRONG)
    elif row.name == "starter":
        text.append(f"  {', '.join(row.named) or 'nothing'}")
    return text


def _key(report: AuditReport) -> str:
    used = {cell for row in report.rows for cell in row.cells.values()}
    words = {
        Cell.PASSES: ". passes",
        Cell.KILLS: "X killed",
        Cell.WOULD_KILL: "x would be killed, but skipped for a check it needs",
        Cell.VARIES: "? depends on the seed",
        Cell.NOT_RUN: "blank not run",
    }
    return ", ".join(words[cell] for cell in Cell if cell in used)


def _summary(report: AuditReport) -> str:
    ideas = {row.misconception for row in report.rows if row.misconception is not None}
    if report.ok:
        return (
            f"the reference passes, the starter does not, {len(ideas)} misconceptions are killed "
            "by the checks that claim them and named, no check is idle"
        )
    count = len(report.problems)
    return f"{count} problem{'' if count == 1 else 's'}: the question is not ready"


def to_json(report: AuditReport) -> dict[str, object]:
    """The audit as plain data."""
    return {
        "question": report.question,
        "title": report.title,
        "ok": report.ok,
        "seeds": list(report.seeds),
        "seconds": report.seconds,
        "checks": list(report.checks),
        "programs": [
            {
                "name": row.name,
                "misconception": row.misconception,
                "cells": {check: cell.name.lower() for check, cell in row.cells.items()},
                "named": list(row.named),
                "named_well": row.named_well,
                "seeds": row.seeds,
            }
            for row in report.rows
        ],
        "problems": list(report.problems),
        "remarks": list(report.remarks),
    }
