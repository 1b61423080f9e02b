"""The kill matrix as a picture: one row per program, one column per check.

The names of the checks stand over their columns like a staircase, so that nothing has to be looked
up.  Where the window is too narrow for that the columns are numbered, and where it is too narrow
for columns every program gets a line of words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text

from grader.model.audit import AuditReport, AuditRow, Cell
from grader.reports.page import BOUND, NARROWEST, cut, hanging, measure, padded
from grader.reports.palette import QUIET, RIGHT, STRONG, WARNED, WRONG

_NAMES = (40, 28)  # cells of a program's name at most, where there is room and where there is not
_NAMED = "named"
CLAIMED, BROKEN = "X", "!"
_MARKS = {
    Cell.PASSES: ".",
    Cell.KILLS: "x",
    Cell.WOULD_KILL: "-",
    Cell.VARIES: "?",
    Cell.NOT_RUN: " ",
}
_WORDS = {
    CLAIMED: "X stopped by a check that claims it",
    "x": "x stopped",
    "-": "- stopped before, by a check it needs",
    "?": "? depends on the seed",
    BROKEN: "! claimed, and not stopped",
    ".": ". passes",
    " ": "blank not run",
}
_STYLES = {CLAIMED: "bold green", "x": RIGHT, "-": QUIET, "?": WARNED, BROKEN: WRONG, ".": QUIET}


def matrix(report: AuditReport, width: int) -> Iterator[Text]:
    """The lines of the picture and its key, none of them wider than `width` where it can be."""
    if not report.rows:
        return
    width = max(width, NARROWEST)
    longest = max(len(row.name) for row in report.rows)
    tried = [(min(longest, names), step) for step in (2, 1) for names in _NAMES]
    for names, step in tried:
        if _stairs_fit(report, names + 4, step, width):
            yield from _stairs(report.checks, names + 4, step)
            yield from _rows(report, names, step, width)
            break
    else:
        names = min(longest, _NAMES[-1])
        if names + 4 + len(report.checks) + 2 + _named_width(report) > width:
            yield from _in_words(report, width)
            return
        yield from _numbers(report.checks, names + 4, width)
        yield from _rows(report, names, 1, width)
    yield Text()
    yield from hanging([], _key(report), measure(width), indent=2, style=QUIET)


def mark(row: AuditRow, check: str) -> str:
    """The sign of one cell; what the spec claims of it counts."""
    cell = row.cells[check]
    if check in row.claimed:
        if cell is Cell.KILLS:
            return CLAIMED
        if cell is Cell.PASSES:
            return BROKEN
    return _MARKS[cell]


def _stairs_fit(report: AuditReport, start: int, step: int, width: int) -> bool:
    ends = [start + step * i + len(label) for i, label in enumerate(report.checks)]
    last = start + step * len(report.checks) + (2 if step == 1 else 0)
    return max(*ends, last + _named_width(report)) <= width


def _named_width(report: AuditReport) -> int:
    """Cells that the last column needs; the starter's names may stand below the picture."""
    ideas = [len(_named(row)) for row in report.rows if row.misconception is not None]
    return max(len(_NAMED), *ideas, 0)


def _stairs(checks: Sequence[str], start: int, step: int) -> Iterator[Text]:
    post = "|" + " " * (step - 1)
    for i, label in enumerate(checks):
        yield Text.assemble(" " * start, (post * i, QUIET), label)
    lead = "  " if step == 1 else ""
    yield Text.assemble(" " * start, (post * len(checks), QUIET), lead, _NAMED)


def _numbers(checks: Sequence[str], start: int, width: int) -> Iterator[Text]:
    legend = "  ".join(f"{i + 1}{BOUND}{check}" for i, check in enumerate(checks))
    yield from hanging([], legend, width, indent=2)
    yield Text()
    tens = "".join(str((i + 1) // 10 or " ") for i in range(len(checks)))
    ones = "".join(str((i + 1) % 10) for i in range(len(checks)))
    if tens.strip():
        yield Text(f"{'':{start}}{tens}".rstrip(), QUIET)
    yield Text(f"{'':{start}}{ones}  {_NAMED}", QUIET)


def _rows(report: AuditReport, names: int, step: int, width: int) -> Iterator[Text]:
    below = []
    for row in report.rows:
        text = Text(f"  {padded(_short(row.name, names), names)}  ")
        for check in report.checks:
            sign = mark(row, check)
            text.append(sign, _style(row, sign)).append(" " * (step - 1))
        text.append("  " if step == 1 else "")
        named = _named(row)
        if len(text) + len(named) <= width:
            text.append(named, _naming_style(row))
        else:
            text.append("below")
            below += hanging([], f"the {row.name} is named {named}", measure(width), indent=2)
        text.rstrip()
        yield text
    if below:
        yield Text()
        yield from below


def _short(name: str, width: int) -> str:
    """A name cut to `width` cells, the number of its variant kept."""
    start, bracket, variant = name.partition(" (")
    return cut(start, width - len(bracket + variant)) + bracket + variant


def _style(row: AuditRow, sign: str) -> str:
    wrongly = row.name == "reference" and sign not in {".", " "}
    return WRONG if wrongly else _STYLES.get(sign, "")


def _named(row: AuditRow) -> str:
    if row.misconception is not None:
        return f"{row.named_well} of {row.seeds}"
    return (", ".join(row.named) or "nothing") if row.name == "starter" else ""


def _naming_style(row: AuditRow) -> str:
    return WRONG if row.misconception is not None and row.named_well < row.seeds else ""


def _in_words(report: AuditReport, width: int) -> Iterator[Text]:
    """One paragraph a program, for windows with no room for columns."""
    for row in report.rows:
        signs = {check: mark(row, check) for check in report.checks}
        claimed = [c for c, sign in signs.items() if sign == CLAIMED]
        parts = [
            ("stopped by", claimed),
            ("and by" if claimed else "stopped by", [c for c, s in signs.items() if s == "x"]),
            ("on some seeds by", [c for c, s in signs.items() if s == "?"]),
            ("not, as claimed, by", [c for c, s in signs.items() if s == BROKEN]),
        ]
        stopped = "; ".join(f"{words} {', '.join(checks)}" for words, checks in parts if checks)
        if named := _named(row):
            stopped = f"{stopped}; named {named}" if stopped else f"named {named}"
        yield Text(f"  {row.name}", STRONG)
        style = WRONG if stopped and row.name == "reference" else ""
        yield from hanging([], stopped or "passes every check", width, indent=6, style=style)


def _key(report: AuditReport) -> str:
    used = {mark(row, check) for row in report.rows for check in report.checks}
    parts = [words.replace(" ", BOUND) for sign, words in _WORDS.items() if sign in used]
    return ", ".join(parts)
