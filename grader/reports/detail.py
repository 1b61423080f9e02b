"""The first check that failed: the smallest case and what it shows, or what was raised."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import CheckResult, Exhibit, Frame, Grids, Mismatch, Raised
from grader.reports.exhibits import exhibit_lines
from grader.reports.inert import inert
from grader.reports.page import BOUND, INDENT, cut, hanging, listed, measure, padded, paragraph
from grader.reports.palette import QUIET, STRONG, WRONG

_MESSAGE_LIMIT = 600  # einsum and torch explain themselves at length; a matrix printed whole is cut
_FIRST, _LAST = 2, 4  # frames shown of a long traceback, from either end


def detail_lines(check: CheckResult, width: int, filename: str) -> Iterator[Text]:
    """Everything there is to see of one check that did not pass."""
    if check.raised is None:
        yield from _place(check, measure(width))
    if check.exhibit is not None:
        yield from (Text(), *exhibit_lines(check.exhibit, width))
    if check.mismatch is not None:
        yield from (Text(), *_mismatch(check.mismatch, check.exhibit, measure(width)))
    if check.raised is not None:
        yield from (Text(), *raised_lines(check.raised, width, filename))


def _place(check: CheckResult, width: int) -> list[Text]:
    case = check.mismatch.case if check.mismatch else next(iter(check.failing), "")
    if not (case or check.case_line):
        return []
    name = f"{inert(check.id)}, case {inert(case)}" if case else inert(check.id)
    if not check.case_line:
        return [Text(name, STRONG)]
    whole = f"{name}: {listed(inert(check.case_line))}"
    first, *more = paragraph(whole, width - INDENT)
    first.stylize(STRONG, 0, len(name))
    return [first, *(Text(" " * INDENT).append_text(t) for t in more)]


def _mismatch(mismatch: Mismatch, exhibit: Exhibit | None, width: int) -> list[Text]:
    """The worst entry in figures, and how many are wrong."""
    index = f"[{', '.join(map(str, mismatch.index))}]" if mismatch.index else ""
    worst = f"{inert(mismatch.result, 60)}{index} is {inert(mismatch.observed, 120)}"
    worst += f", expected {inert(mismatch.expected, 120)}"
    if mismatch.allowed:
        worst += f" (allowed{BOUND}{inert(mismatch.allowed, 120)})"
    count = f"{mismatch.wrong:,} of {mismatch.total:,} entries differ"
    if isinstance(exhibit, Grids) and any(p.wrong for p in exhibit.panels):
        count += " (*)"
    if mismatch.total <= 1 or not mismatch.wrong:
        return paragraph(worst, width, indent=INDENT)
    if INDENT + cell_len(worst) + 2 + len(count) <= width:
        return paragraph(f"{worst}; {count}", width, indent=INDENT)
    return [t for s in (worst, count) for t in paragraph(s, width, indent=INDENT)]


def raised_lines(raised: Raised, width: int, filename: str) -> list[Text]:
    """The exception as its author needs it; no frames of anybody else are in it."""
    if raised.column is not None and raised.frames:
        lines = _syntax(raised.frames[-1], raised.column, width, filename)
    else:
        lines = _frames(raised.frames, width, filename)
    name = inert(raised.type, 80)
    message = inert(" ".join(raised.message.split()), _MESSAGE_LIMIT)
    said = paragraph(f"{name}: {message}" if message else name, width, indent=INDENT)
    said[0].stylize(WRONG, INDENT, INDENT + len(name))
    lines += said
    lines.append(Text())
    for label, text in {"step": raised.step, "called with": raised.called_with}.items():
        if text:
            lead = ((f"{label:13}", QUIET),)
            lines += hanging(lead, listed(inert(text)), width, indent=INDENT)
    return lines


def _frames(frames: Sequence[Frame], width: int, filename: str) -> list[Text]:
    """A traceback, repeats counted (a recursion) and the middle of a long one left out."""
    runs = [(frame, len(list(repeats))) for frame, repeats in itertools.groupby(frames)]
    left = 0 if len(runs) <= _FIRST + _LAST + 1 else sum(n for _, n in runs[_FIRST:-_LAST])
    shown = [*runs[:_FIRST], *runs[-_LAST:]] if left else runs
    several = len({frame.function for frame, _ in shown}) > 1
    places = [
        _line_of(frame, filename) + f"  in {cut(inert(frame.function), 24)}" * several
        for frame, _ in shown
    ]
    across = max(map(cell_len, places), default=0) + 2
    lines: list[Text] = []
    for number, ((frame, times), place) in enumerate(zip(shown, places, strict=True)):
        if left and number == _FIRST:
            lines.append(Text(" " * INDENT).append(f"... {left} more lines", QUIET))
        lead = ((padded(place, across), QUIET),)
        lines += hanging(lead, inert(frame.source.strip()), width, indent=INDENT, style=STRONG)
        if times > 1:
            note = f"... the same line {times - 1:,} times more"
            lines.append(Text(" " * INDENT).append(note, QUIET))
    return lines


def _syntax(frame: Frame, column: int, width: int, filename: str) -> list[Text]:
    """The line that does not parse, with a caret below the column (1-based)."""
    source = frame.source.rstrip("\r\n")
    start = len(source) - len(source.lstrip())
    at = max(column - 1 - start, 0)
    source = source[start:]
    place = _line_of(frame, filename)
    before = INDENT + cell_len(place) + 2
    room = max(width - before, 16)
    if at > room - 8:  # a long line: keep the neighborhood of the caret
        skip = at - room // 2
        source, at = "..." + source[skip:], at - skip + 3
    line = Text(" " * INDENT).append(padded(place, before - INDENT), QUIET)
    line.append(cut(inert(source), room), STRONG)
    caret = Text(" " * (before + cell_len(inert(source[:at])))).append("^", WRONG)
    return [line, caret]


def _line_of(frame: Frame, filename: str) -> str:
    return f"{inert(filename, 40)}:{frame.line}" if filename else f"line {frame.line}"
