"""What sets a failing check's numbers side by side, and an exception as its author needs it.

In a grid a wrong entry carries `*`, and the focus (a window, a row, an entry) stands in brackets.
Where the window is too narrow, panels go below one another, yours and expected last together, or
show fewer columns.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from grader.model import report as model
from grader.model.number_format import format_count, format_number
from grader.model.report import Bar, ExceptionRecord, Exhibit, Frame, Grids, Panel
from grader.reports import html_charts, text_layout
from grader.reports.blocks import Blocks, Figure, Item, Paragraph, Picture, Table
from grader.reports.text_layout import BOLD, RED, Line, Spans, display_width, escape_line, truncate

NO_LIMIT = 10**6
INDENT = 4  # cells before what belongs to a heading
_LABEL_LIMIT = 28
_VALUE_LIMIT = 24
_LONGEST_BAR = 20
_POINTS = 5  # of a curve
_GAP = 4  # cells between two panels
_FEWEST_COLUMNS = 3  # panels are set below one another before fewer are shown
_TALL = 16  # lines of panels that still leave room for the rest on one screen
_CELL_LIMIT = 16  # characters of one entry
_NOTE_WIDTH = 24  # a note below a narrow panel may be this wide
_ENTRIES = 4  # wrong ones that are read aloud
_MESSAGE_LIMIT = 400  # einsum and torch explain themselves at length; a matrix printed whole is cut
_LEADING_ZERO = re.compile(r"^(-?)0(?=\.\d)")

DrawnPanel = list[Spans]  # one panel


def exhibit_blocks(
    exhibit: Exhibit,
    *,
    most: int = NO_LIMIT,
    hidden: bool = False,
    inputs: bool = True,
    bound: str = "",
) -> Blocks:
    """An exhibit as blocks, with `most` rows of a table or details of bars.

    `hidden` keeps back what is right; without `inputs` grids show yours and expected alone. `bound`
    says where a curve has to end: "below 1e-8".
    """
    match exhibit:
        case Grids():
            draw = partial(grid_lines, exhibit, inputs=inputs)
            grid = Figure(draw, tuple(_entries(exhibit) if exhibit.panels else ()))
            yield Picture(partial(html_charts.heat_maps, exhibit), (grid,))
        case model.Breakdown():
            yield from _breakdown(exhibit, most, hidden=hidden)
        case model.Bars():
            every = exhibit.bars
            drawn = [bar for bar in every if bar.label != "reference" or len(every) < 3]
            kept = "held at your peak" if exhibit.course else "kept by yours"
            blocks = tuple(_bars(drawn, exhibit.details, kept, most))
            yield Picture(partial(html_charts.bar_chart, drawn, exhibit, kept), blocks)
        case model.Curve():
            yield Picture(partial(html_charts.curve_chart, exhibit, bound), tuple(_curve(exhibit)))


def _breakdown(breakdown: model.Breakdown, most: int, *, hidden: bool) -> Blocks:
    """A table: yours, expected, what is wrong; of a long one the parts that agree are counted.

    Where what is right is hidden, it says of each number whether it is, and no more.
    """
    rows = []
    wrong = []
    for row in breakdown.rows:
        note = row.note or ("differs" if row.observed != row.expected else "")
        last = ("wrong" if note else "right", "") if hidden else (row.expected, note)
        values = (truncate(text, _VALUE_LIMIT) for text in (row.observed, *last))
        rows.append((truncate(row.name, _LABEL_LIMIT), *values))
        wrong += rows[-1:] * bool(note)
    kept = rows if len(rows) <= most else wrong[:most]
    head = ("", "yours", "" if hidden else "expected", "")
    marked = frozenset(at for at, row in enumerate(kept) if row in wrong)
    yield Table(head, kept, ("yours", "expected"), INDENT, marked)
    if left_out := len(rows) - len(kept):
        agree = len(rows) - len(wrong)
        tail = f"{agree} parts agree" if left_out == agree else f"{left_out} parts are not shown"
        yield Paragraph(f"... {tail}", indent=INDENT)


def _curve(curve: model.Curve) -> Blocks:
    """Yours and a right one at five steps, and from where on one of them is no number."""
    steps = max(len(curve.yours), len(curve.expected))
    if not steps:
        return
    series = {"yours": curve.yours, "a right one": curve.expected}
    at = sorted({round(n * (steps - 1) / (_POINTS - 1)) for n in range(_POINTS)})
    head = ("step", *(f"{step:,}" for step in at))
    rows = [
        (name, *(format_number(values[i], 3) if i < len(values) else "-" for i in at))
        for name, values in series.items()
    ]
    yield Table(head, rows, head[1:], indent=INDENT)
    for name, values in series.items():
        broken = next((i for i, v in enumerate(values) if not math.isfinite(v)), None)
        if broken is not None:
            text = f"{name.capitalize()} is {format_number(values[broken])} from step {broken} on."
            yield Paragraph(text, indent=INDENT)


def _bars(drawn: Sequence[Bar], details: Sequence[str], kept: str, most: int) -> Blocks:
    """One bar below the other, the largest in full; then what was kept."""
    largest = max((b.value for b in drawn if math.isfinite(b.value)), default=0.0)
    rows = []
    for bar in drawn:  # at least a cell for anything above zero, all of them for what has no end
        share = 1.0 if bar.value == math.inf else bar.value / (largest or 1.0)
        length = max(1, round(_LONGEST_BAR * share)) if bar.value > 0 else 0
        rows.append((bar.label, "#" * length, bar.text))
    yield Table(("", " ", "  "), rows, ("  ",), indent=INDENT)
    for at, detail in enumerate(details[:most]):
        yield Item(detail, " " * len(kept) if at else kept, INDENT)
    if (more := len(details) - most) > 0:
        yield Paragraph(f"... and {more} more", indent=INDENT + len(kept) + 1)


def grid_lines(grids: Grids, width: int, *, inputs: bool = True) -> list[Line]:
    """The panels as lines of at most `width` cells; what they have in common is said once."""
    panels = [p for p in (grids.panels if inputs else grids.panels[-2:]) if p.rows]
    lines: list[Line] = []
    if len(panels) > 1 and panels[0].note and len({p.note for p in panels}) == 1:
        lines += text_layout.wrap_words(escape_line(panels[0].note), width, first=" " * INDENT)
        panels = [replace(p, note="") for p in panels]
    for at, drawn in enumerate(_arranged(panels, width - INDENT)):
        lines += [""] * bool(at)
        for parts in itertools.zip_longest(*drawn, fillvalue=()):
            spans: list[tuple[str, str]] = []
            gap = INDENT
            for panel, part in zip(drawn, parts, strict=True):
                spans += [(" " * gap, ""), *part]
                gap = _across(panel) - display_width(text_layout.without_styles(part)) + _GAP
            lines.append(tuple(spans))
    return lines


def _arranged(panels: Sequence[Panel], width: int) -> list[list[DrawnPanel]]:
    """Rows of panels with as many columns as fit, fewer of them where that is too tall.

    Rows are filled from the last panel backwards: yours stays next to expected.
    """
    rows: list[list[DrawnPanel]] = []
    for columns in range(max((len(r) for p in panels for r in p.rows), default=0) or 1, 0, -1):
        drawn = [_drawn(p, shown_columns(p, panels, columns), width) for p in panels]
        rows = []
        used = 0
        for panel in reversed(drawn):
            need = _across(panel) + _GAP
            if rows and used + need <= width:
                rows[0].insert(0, panel)
                used += need
            else:
                rows.insert(0, [panel])
                used = need - _GAP
        tall = sum(max(map(len, row)) + 1 for row in rows) > _TALL
        apart = len(panels) > 1 and len(rows[-1]) == 1  # yours and expected
        if all(_across(panel) <= width for panel in drawn) and (
            columns <= _FEWEST_COLUMNS or not (tall or apart)
        ):
            break
    return rows


def _across(panel: DrawnPanel) -> int:
    return max(display_width(text_layout.without_styles(line)) for line in panel)


def _drawn(panel: Panel, columns: range, width: int) -> DrawnPanel:
    lines: DrawnPanel = [((truncate(escape_line(panel.title), width), ""),), *_rows(panel, columns)]
    if panel.note:
        room = max(min(_NOTE_WIDTH, width), _across(lines))
        lines += [((text, ""),) for text in text_layout.wrap_words(escape_line(panel.note), room)]
    return lines


def _rows(panel: Panel, columns: range) -> DrawnPanel:
    """The entries that are shown, with marks, and ellipses where something was cut."""
    shown = {
        (r, c): _LEADING_ZERO.sub(r"\1", escape_line(row[c], _CELL_LIMIT))
        for r, row in enumerate(panel.rows)
        for c in columns
        if c < len(row)
    }
    focus = panel.focus & shown.keys()
    if len(focus) == len(shown):  # all of it says nothing
        focus = frozenset()
    lines = [[("... " if columns.start > 0 else "", "")] for _ in panel.rows]
    ends: list[str] = []  # of the column before
    for c in columns:
        places = [(r, c) for r in range(len(panel.rows))]
        texts = [shown.get(place, "") for place in places]
        starts = ["[" * ((r, c) in focus and (r, c - 1) not in focus) for r, _ in places]
        lead = 1 if focus and (ends or any(starts)) else 0
        gap = 0
        if ends:  # two, less what marks take, but a mark never touches a bracket
            touching = any(end and start for end, start in zip(ends, starts, strict=True))
            gap = max(2 - lead - max(map(len, ends)), int(touching), 0)
        ends = [
            "*" * (place in panel.wrong and place in shown)
            + "]" * (place in focus and (place[0], c + 1) not in focus)
            for place in places
        ]
        across = max(map(display_width, texts))
        tail = max(map(len, ends))
        for line, place, start, text, end in zip(lines, places, starts, texts, ends, strict=True):
            style = BOLD if place in focus else ""
            line += [
                (" " * (gap + across - display_width(text)), ""),
                (start.ljust(lead) + text, style),
                ("*" * end.count("*"), RED),
                (end.lstrip("*"), style),
                (" " * (tail - len(end)), ""),
            ]
    more = " ..." if columns.stop < max(map(len, panel.rows)) else ""
    return [tuple(span for span in (*line, (more, "")) if span[0]) for line in lines]


def shown_columns(panel: Panel, panels: Sequence[Panel], most: int) -> range:
    """At most so many columns of a panel, around its focus, else the wrong entries.

    A panel without any goes by one of the same width: yours and expected show the same part.
    """
    total = max(map(len, panel.rows))
    if total <= most:
        return range(total)
    alike = [panel, *(p for p in panels if max(map(len, p.rows)) == total)]
    marked = next(filter(None, [p.focus for p in alike] + [p.wrong for p in alike]), {(0, 0)})
    first, last = (end(c for _, c in marked) for end in (min, max))
    spread = last - first + 1
    start = first - (most - spread) // 2 if spread <= most else first
    start = min(max(start, 0), total - most)
    return range(start, start + most)


def _entries(grids: Grids) -> Iterator[str]:
    """Grids read aloud: the inputs row by row, then the wrong entries one by one."""
    *inputs, yours, expected = grids.panels if len(grids.panels) > 1 else (*grids.panels * 2,)
    for panel in inputs:
        if not panel.note:
            rows = "; ".join(f"row {r} is {', '.join(row)}" for r, row in enumerate(panel.rows))
            yield f"{panel.title}: {rows}."
    name = yours.title.removesuffix(", yours")
    pairs = (
        f"{name}, row {r}, column {c}: yours {found}, expected {right}."
        for r, rows in enumerate(zip(yours.rows, expected.rows, strict=False))
        for c, (found, right) in enumerate(zip(*rows, strict=False))
        if (r, c) in yours.wrong
    )
    yield from itertools.islice(pairs, _ENTRIES)
    if (more := len(yours.wrong) - _ENTRIES) > 0:
        yield f"{format_count(more, 'more entry', 'more entries')} differ."


def exception_blocks(
    raised: ExceptionRecord, filename: str, *, most: int = NO_LIMIT, said: str = ""
) -> Blocks:
    """The candidate's own lines, the innermost of many, the exception, what the call was given."""
    place = f"{escape_line(filename, 40)}:" if filename else "line "  # "submission.py:14"
    runs = [(frame, len(list(same))) for frame, same in itertools.groupby(raised.frames)]
    several = len({frame.function for frame in raised.frames}) > 1
    if raised.column is not None and raised.frames:
        last = raised.frames[-1]
        at = _place(last, place)
        spoken = f"{at} {last.source.strip()}"
        yield Figure(partial(_syntax, last, raised.column, at), (spoken,))
        runs = []
    elif (left := len(runs) - most) > 0:
        yield Paragraph(f"... {left} more lines", indent=INDENT)
        runs = runs[left:]
    for frame, times in runs:
        function = f"  in {truncate(frame.function, 24)}" if several else ""
        yield Item(frame.source.strip(), f"{_place(frame, place)}{function} ", INDENT)
        if times > 1:  # a recursion
            yield Paragraph(f"... the same line {times - 1:,} times more", indent=INDENT)
    if raised.type == model.UNREADABLE_TYPE:
        return  # the sentence of the page says it
    name = escape_line(raised.type, 80)
    message = escape_line(" ".join(raised.message.split()), _MESSAGE_LIMIT)
    if (message or name) not in escape_line(" ".join(said.split()), 2 * _MESSAGE_LIMIT):
        yield Paragraph(f"{name}: {message}" if message else name, indent=INDENT)
    if raised.type.endswith("BdbQuit"):
        text = "breakpoint() has nobody to ask here: drill case NAME --debug runs a case in pdb."
        yield Paragraph(text, indent=INDENT)
    if raised.called_with:
        yield Item(raised.called_with, "called with", INDENT)


def _place(frame: Frame, file: str) -> str:
    """Where a line is: `submission.py:14`, or in a notebook `cell 5, line 7`."""
    return f"cell {frame.cell}, line {frame.line}" if frame.cell else f"{file}{frame.line}"


def _syntax(frame: Frame, column: int, place: str, width: int) -> list[Line]:
    """The line that does not parse, with a caret below the column (1-based)."""
    source = frame.source.rstrip("\r\n")
    begin = f"{' ' * INDENT}{place}  "
    at = max(column - 1 - (len(source) - len(source.lstrip())), 0)
    source = source.lstrip()
    room = max(min(width, text_layout.WIDEST) - display_width(begin), 16)
    if at > room - 8:  # a long line: keep the neighborhood of the caret
        skip = at - room // 2
        source = "..." + source[skip:]
        at = at - skip + 3
    before = " " * display_width(begin + escape_line(source[:at]))
    return [begin + truncate(escape_line(source), room), f"{before}^"]
