"""The kill matrix as a picture: one row per program, one column per check.

The names of the checks stand over their columns like a staircase, so that nothing has to be looked
up.  Where the window is too narrow for that every program gets a line of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from grader.model.audit import AuditReport, AuditRow, Cell
from grader.reports.page import BOUND, NARROWEST, cut, hanging, measure, padded
from grader.reports.palette import QUIET, RIGHT, STRONG, WARNED, WRONG
from grader.reports.text import Text

_NAMES = (40, 28)  # cells of a program's name at most, where there is room and where there is not
_NAMED = "named"
_CLAIMED, _BROKEN = "X", "!"
_MARKS = {
    Cell.PASSES: ".",
    Cell.KILLS: "x",
    Cell.WOULD_KILL: "-",
    Cell.VARIES: "?",
    Cell.NOT_RUN: " ",
}
_MEANINGS = {  # and styles
    _CLAIMED: ("X stopped by a check that claims it", STRONG),
    "x": ("x stopped", RIGHT),
    "-": ("- stopped before, by a check it needs", QUIET),
    "?": ("? depends on the seed", WARNED),
    _BROKEN: ("! claimed, and not stopped", WRONG),
    ".": (". passes", QUIET),
    " ": ("blank not run", ""),
}


def matrix(report: AuditReport, width: int) -> Iterator[Text]:
    """The lines of the picture and its key, none of them wider than `width` where it can be."""
    if not report.programs:
        return
    width = max(width, NARROWEST)
    checks = [check.id for check in report.checks]
    longest = max(len(row.name) for row in report.programs)
    # The starter's names may stand below the picture.
    ideas = [len(_named(row)) for row in report.programs if row.misconception is not None]
    last = max(len(_NAMED), *ideas, 0)
    for step, most in product((2, 1), _NAMES):
        names = min(longest, most)
        labels = [*checks, "  " * (step == 1) + " " * last]
        if max(names + 4 + step * i + len(label) for i, label in enumerate(labels)) <= width:
            break
    else:
        yield from _in_words(report, checks, width)
        return
    for i, label in enumerate([*checks, "  " * (step == 1) + _NAMED]):
        yield Text.assemble(" " * (names + 4), (("|" + " " * (step - 1)) * i, QUIET), label)
    yield from _rows(report, checks, names, step, width)
    yield Text()
    used = {mark(row, check) for row in report.programs for check in checks}
    key = [words.replace(" ", BOUND) for sign, (words, _) in _MEANINGS.items() if sign in used]
    yield from hanging([], ", ".join(key), measure(width), indent=2, style=QUIET)


def mark(row: AuditRow, check: str) -> str:
    """The sign of one cell; what the spec claims of it counts."""
    cell = row.cells[check]
    if check in row.claimed_by and cell in {Cell.KILLS, Cell.PASSES}:
        return _CLAIMED if cell is Cell.KILLS else _BROKEN
    return _MARKS[cell]


def _rows(
    report: AuditReport, checks: Sequence[str], names: int, step: int, width: int
) -> Iterator[Text]:
    below = []
    for row in report.programs:
        start, bracket, variant = row.name.partition(" (")  # whose number is kept
        name = cut(start, names - len(bracket + variant)) + bracket + variant
        text = Text(f"  {padded(name, names)}  ")
        for check in checks:
            sign = mark(row, check)
            wrongly = row.name == "reference" and sign not in {".", " "}
            text.append(sign, WRONG if wrongly else _MEANINGS[sign][1]).append(" " * (step - 1))
        text.append("  " if step == 1 else "")
        named = _named(row)
        if text.cell_len + len(named) <= width:
            misnamed = row.misconception is not None and row.named_well < row.seeds
            text.append(named, WRONG if misnamed else "")
        else:
            text.append("below")
            below += hanging([], f"the {row.name} is named {named}", measure(width), indent=2)
        text.rstrip()
        yield text
    if below:
        yield Text()
        yield from below


def _named(row: AuditRow) -> str:
    if row.misconception is not None:
        return f"{row.named_well} of {row.seeds}"
    return (", ".join(row.named) or "nothing") if row.name == "starter" else ""


def _in_words(report: AuditReport, checks: Sequence[str], width: int) -> Iterator[Text]:
    for row in report.programs:
        by_sign: dict[str, list[str]] = {}
        for check in checks:
            by_sign.setdefault(mark(row, check), []).append(check)
        labels = {
            _CLAIMED: "stopped by",
            "x": "and by" if _CLAIMED in by_sign else "stopped by",
            "?": "on some seeds by",
            _BROKEN: "not, as claimed, by",
        }
        parts = [f"{words} {', '.join(by_sign[s])}" for s, words in labels.items() if s in by_sign]
        style = STRONG if parts and row.name == "reference" else ""
        if named := _named(row):
            parts.append(f"named {named}")
        yield Text(f"  {row.name}", STRONG)
        text = "; ".join(parts) or "passes every check"
        yield from hanging([], text, width, indent=6, style=style)
