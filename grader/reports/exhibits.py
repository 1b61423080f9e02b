"""Exhibits of a failing check, which show numbers side by side, and exceptions.

In a grid a wrong entry carries `*`, and the focus (a window, a row, an entry) stands in brackets.
If the window is too narrow, panels go below one another, with yours and expected last together, or
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
from grader.reports import html_charts
from grader.reports.blocks import Blocks, Figure, Item, Paragraph, Picture, Table
from grader.reports.text_layout import (
    BOLD,
    RED,
    WIDEST,
    Line,
    Spans,
    display_width,
    escape_line,
    truncate,
    without_styles,
    wrap_words,
)

NO_LIMIT = 10**6
INDENT = 4  # columns before the lines below a heading
_MAX_LABEL = 28  # characters
_MAX_VALUE = 24
_MAX_BAR = 20
_CURVE_POINTS = 5
_PANEL_GAP = 4  # columns between two panels
_MIN_COLUMNS = 3  # panels with at most these columns go below one another before they lose any
_MAX_HEIGHT = 16  # lines of panels that still leave room for the rest on one screen
_MAX_ENTRY = 16  # characters
_NOTE_WIDTH = 24  # a note below a narrow panel may be this wide
_SPOKEN_ENTRIES = 4  # wrong entries that are read aloud
_MAX_MESSAGE = 400  # einsum and torch explain themselves at length; a matrix printed whole is cut
_LEADING_ZERO = re.compile(r"^(-?)0(?=\.\d)")

DrawnPanel = list[Spans]  # the lines of one panel


def exhibit_blocks(
    exhibit: Exhibit,
    *,
    most: int = NO_LIMIT,
    hidden: bool = False,
    inputs: bool = True,
    bound: str = "",
) -> Blocks:
    """Yield an exhibit with at most `most` rows of a table or details of bars.

    `hidden` leaves out the expected values of a breakdown; without `inputs` grids show only yours
    and expected.  `bound` is the condition on the end of a curve: "below 1e-8".
    """
    match exhibit:
        case Grids():
            spoken = tuple(_spoken_entries(exhibit) if exhibit.panels else ())
            grid = Figure(partial(grid_lines, exhibit, inputs=inputs), spoken)
            yield Picture(partial(html_charts.heat_maps, exhibit), (grid,))
        case model.Breakdown():
            yield from _breakdown(exhibit, most, hidden=hidden)
        case model.Bars():
            bars = exhibit.bars
            if len(bars) > 2:
                bars = tuple(bar for bar in bars if bar.label != "reference")
            title = "held at your peak" if exhibit.course else "kept by yours"
            blocks = tuple(_bars(bars, exhibit.details, title, most))
            yield Picture(partial(html_charts.bar_chart, bars, exhibit, title), blocks)
        case model.Curve():
            yield Picture(partial(html_charts.curve_chart, exhibit, bound), tuple(_curve(exhibit)))


def _breakdown(breakdown: model.Breakdown, most: int, *, hidden: bool) -> Blocks:
    """Yield a table of parts; a long one shows the wrong parts and counts the others.

    If the expected values are hidden, the table only says which values are right.
    """
    rows = []
    wrong_rows = []
    for part in breakdown.rows:
        note = part.note
        if not note and part.observed != part.expected:
            note = "differs"
        last_cells = (part.expected, note)
        if hidden:
            last_cells = ("wrong" if note else "right", "")
        cells = [truncate(text, _MAX_VALUE) for text in (part.observed, *last_cells)]
        row = (truncate(part.name, _MAX_LABEL), *cells)
        rows.append(row)
        if note:
            wrong_rows.append(row)
    shown_rows = rows if len(rows) <= most else wrong_rows[:most]
    marked = frozenset(index for index, row in enumerate(shown_rows) if row in wrong_rows)
    head = ("", "yours", "" if hidden else "expected", "")
    yield Table(head, shown_rows, ("yours", "expected"), INDENT, marked)
    if left_out := len(rows) - len(shown_rows):
        agree = len(rows) - len(wrong_rows)
        verb = "agree" if left_out == agree else "are not shown"
        yield Paragraph(f"... {left_out} parts {verb}", indent=INDENT)


def _curve(curve: model.Curve) -> Blocks:
    """Yield yours and a right curve at five steps, and where one of them stops being finite."""
    last = max(len(curve.yours), len(curve.expected)) - 1
    if last < 0:
        return
    series = {"yours": curve.yours, "a right one": curve.expected}
    steps = html_charts.spread_steps(last, _CURVE_POINTS - 1)
    head = ("step", *(f"{step:,}" for step in steps))
    rows = []
    for name, values in series.items():
        cells = [format_number(values[i], 3) if i < len(values) else "-" for i in steps]
        rows.append((name, *cells))
    yield Table(head, rows, head[1:], indent=INDENT)
    for name, values in series.items():
        for step, value in enumerate(values):
            if not math.isfinite(value):
                text = f"{name.capitalize()} is {format_number(value)} from step {step} on."
                yield Paragraph(text, indent=INDENT)
                break


def _bars(bars: Sequence[Bar], details: Sequence[str], title: str, most: int) -> Blocks:
    """Yield bars below each other, the largest of full width, and then at most `most` details.

    `title` stands before the first detail.
    """
    finite = [bar.value for bar in bars if math.isfinite(bar.value)]
    largest = max(finite, default=0.0)
    rows = []
    for bar in bars:
        length = 0
        if bar.value > 0:  # however small, it is visible; an infinite one is as long as possible
            share = 1.0 if bar.value == math.inf else bar.value / (largest or 1.0)
            length = max(1, round(_MAX_BAR * share))
        rows.append((bar.label, "#" * length, bar.text))
    yield Table(("", " ", "  "), rows, ("  ",), indent=INDENT)
    for index, detail in enumerate(details[:most]):
        yield Item(detail, " " * len(title) if index else title, INDENT)
    if len(details) > most:
        yield Paragraph(f"... and {len(details) - most} more", indent=INDENT + len(title) + 1)


# -- grids ----------------------------------------------------------------------------------------


def grid_lines(grids: Grids, width: int, *, inputs: bool = True) -> list[Line]:
    """Lay out the panels in `width` columns; a note that all panels share comes once."""
    shown_panels = grids.panels if inputs else grids.panels[-2:]
    panels = [panel for panel in shown_panels if panel.rows]
    lines: list[Line] = []
    notes = {panel.note for panel in panels}
    if len(panels) > 1 and len(notes) == 1 and panels[0].note:
        lines += wrap_words(escape_line(panels[0].note), width, first=" " * INDENT)
        panels = [replace(panel, note="") for panel in panels]
    for index, row in enumerate(_arrange(panels, width - INDENT)):
        if index:
            lines.append("")
        for panel_lines in itertools.zip_longest(*row, fillvalue=()):
            spans: list[tuple[str, str]] = []
            gap = INDENT
            for panel, line in zip(row, panel_lines, strict=True):
                spans += [(" " * gap, ""), *line]
                gap = _panel_width(panel) - display_width(without_styles(line)) + _PANEL_GAP
            lines.append(tuple(spans))
    return lines


def _arrange(panels: Sequence[Panel], width: int) -> list[list[DrawnPanel]]:
    """Return rows of drawn panels, with the largest number of columns that fits the width.

    Down to `_MIN_COLUMNS`, columns are also left out if the rows would be too tall, or if yours and
    expected would not stand next to each other.
    """
    rows: list[list[DrawnPanel]] = []
    most = max((len(row) for panel in panels for row in panel.rows), default=0)
    for columns in range(most or 1, 0, -1):
        drawn = [_draw_panel(p, shown_columns(p, panels, columns), width) for p in panels]
        rows = _fill_rows(drawn, width)
        if any(_panel_width(panel) > width for panel in drawn):
            continue
        if columns <= _MIN_COLUMNS:
            break
        height = sum(max(len(panel) for panel in row) + 1 for row in rows)
        splits_results = len(panels) > 1 and len(rows[-1]) == 1  # yours and expected
        if height <= _MAX_HEIGHT and not splits_results:
            break
    return rows


def _fill_rows(panels: Sequence[DrawnPanel], width: int) -> list[list[DrawnPanel]]:
    """Fill rows of `width` from the last panel backwards, so that yours stays next to expected."""
    rows: list[list[DrawnPanel]] = []
    used = 0
    for panel in reversed(panels):
        needed = _panel_width(panel) + _PANEL_GAP
        if rows and used + needed <= width:
            rows[0].insert(0, panel)
            used += needed
        else:
            rows.insert(0, [panel])
            used = needed - _PANEL_GAP
    return rows


def _panel_width(panel: DrawnPanel) -> int:
    return max(display_width(without_styles(line)) for line in panel)


def _draw_panel(panel: Panel, columns: range, width: int) -> DrawnPanel:
    title = truncate(escape_line(panel.title), width)
    lines: DrawnPanel = [((title, ""),), *_draw_rows(panel, columns)]
    if panel.note:
        note_width = max(min(_NOTE_WIDTH, width), _panel_width(lines))
        lines += [((text, ""),) for text in wrap_words(escape_line(panel.note), note_width)]
    return lines


def _draw_rows(panel: Panel, columns: range) -> DrawnPanel:
    """Return the rows of a panel: these columns with their marks, and ellipses for the others."""
    entries = {
        (row, column): _LEADING_ZERO.sub(r"\1", escape_line(texts[column], _MAX_ENTRY))
        for row, texts in enumerate(panel.rows)
        for column in columns
        if column < len(texts)
    }
    focus = panel.focus & entries.keys()
    if len(focus) == len(entries):  # brackets around all entries would say nothing
        focus = frozenset()
    ellipsis = "... " if columns.start > 0 else ""
    lines = [[(ellipsis, "")] for _ in panel.rows]
    ends: list[str] = []  # marks behind the entries of the previous column
    for column in columns:
        places = [(row, column) for row in range(len(panel.rows))]
        texts = [entries.get(place, "") for place in places]
        starts = []
        for row, _ in places:
            is_start = (row, column) in focus and (row, column - 1) not in focus
            starts.append("[" if is_start else "")
        lead = 1 if focus and (ends or any(starts)) else 0
        gap = 0
        if ends:  # two columns with the marks in it, but a mark never touches a bracket
            touching = any(end and start for end, start in zip(ends, starts, strict=True))
            gap = max(2 - lead - max(map(len, ends)), int(touching), 0)
        ends = [_end_marks(panel, place, place in entries, focus) for place in places]
        entry_width = max(map(display_width, texts))
        end_width = max(map(len, ends))
        for line, place, start, text, end in zip(lines, places, starts, texts, ends, strict=True):
            style = BOLD if place in focus else ""
            line += [
                (" " * (gap + entry_width - display_width(text)), ""),
                (start.ljust(lead) + text, style),
                ("*" * end.count("*"), RED),
                (end.lstrip("*"), style),
                (" " * (end_width - len(end)), ""),
            ]
    if columns.stop < max(map(len, panel.rows)):
        lines = [[*line, (" ...", "")] for line in lines]
    return [tuple(span for span in line if span[0]) for line in lines]


def _end_marks(
    panel: Panel, place: tuple[int, int], is_entry: bool, focus: frozenset[tuple[int, int]]
) -> str:
    row, column = place
    marks = "*" if is_entry and place in panel.wrong else ""
    if place in focus and (row, column + 1) not in focus:
        marks += "]"
    return marks


def shown_columns(panel: Panel, panels: Sequence[Panel], most: int) -> range:
    """Return at most `most` columns of a panel, around the focus or else the wrong entries.

    If the panel itself has no focus (or no wrong entries), that of another panel of its width
    counts, so that yours and expected show the same columns.
    """
    total = max(map(len, panel.rows))
    if total <= most:
        return range(total)
    same_width = [other for other in panels if max(map(len, other.rows)) == total]
    same_width.insert(0, panel)
    candidates = [other.focus for other in same_width]
    candidates += [other.wrong for other in same_width]
    places = next(filter(None, candidates), frozenset({(0, 0)}))
    first = min(column for _, column in places)
    last = max(column for _, column in places)
    spread = last - first + 1
    start = first
    if spread <= most:
        start -= (most - spread) // 2
    start = min(max(start, 0), total - most)
    return range(start, start + most)


def _spoken_entries(grids: Grids) -> Iterator[str]:
    """Yield sentences to read aloud: the inputs row by row, then the first wrong entries."""
    panels = grids.panels
    if len(panels) == 1:
        panels *= 2
    *inputs, yours, expected = panels
    for panel in inputs:
        if not panel.note:
            rows = [f"row {i} is {', '.join(row)}" for i, row in enumerate(panel.rows)]
            yield f"{panel.title}: {'; '.join(rows)}."
    name = yours.title.removesuffix(", yours")
    wrong = []
    for i, row_pair in enumerate(zip(yours.rows, expected.rows, strict=False)):
        for j, (actual, right) in enumerate(zip(*row_pair, strict=False)):
            if (i, j) in yours.wrong:
                wrong.append(f"{name}, row {i}, column {j}: yours {actual}, expected {right}.")
    yield from wrong[:_SPOKEN_ENTRIES]
    more = len(yours.wrong) - _SPOKEN_ENTRIES
    if more > 0:
        yield f"{format_count(more, 'more entry', 'more entries')} differ."


# -- exceptions -----------------------------------------------------------------------------------


def exception_blocks(
    raised: ExceptionRecord, filename: str, *, most: int = NO_LIMIT, sentence: str = ""
) -> Blocks:
    """Yield the innermost lines of the candidate's traceback, at most `most`, and the exception.

    The exception is left out if `sentence`, which is on the page already, contains its message.
    """
    if raised.column is not None and raised.frames:
        last = raised.frames[-1]
        place = _place(last, filename)
        spoken = f"{place} {last.source.strip()}"
        yield Figure(partial(_syntax_error_lines, last, raised.column, place), (spoken,))
    else:
        yield from _frames(raised.frames, filename, most)
    if raised.type == model.UNREADABLE_TYPE:
        return  # the page has a sentence on it
    name = escape_line(raised.type, 80)
    message = escape_line(" ".join(raised.message.split()), _MAX_MESSAGE)
    shown_sentence = escape_line(" ".join(sentence.split()), 2 * _MAX_MESSAGE)
    if (message or name) not in shown_sentence:
        yield Paragraph(f"{name}: {message}" if message else name, indent=INDENT)
    if raised.type.endswith("BdbQuit"):
        text = "breakpoint() has nobody to ask here: drill case NAME --debug runs a case in pdb."
        yield Paragraph(text, indent=INDENT)
    if raised.called_with:
        yield Item(raised.called_with, "called with", INDENT)


def _frames(frames: Sequence[Frame], filename: str, most: int) -> Blocks:
    runs = [(frame, len(list(same))) for frame, same in itertools.groupby(frames)]
    has_functions = len({frame.function for frame in frames}) > 1
    if len(runs) > most:
        yield Paragraph(f"... {len(runs) - most} more lines", indent=INDENT)
        runs = runs[-most:]
    for frame, times in runs:
        function = f"  in {truncate(frame.function, 24)}" if has_functions else ""
        yield Item(frame.source.strip(), f"{_place(frame, filename)}{function} ", INDENT)
        if times > 1:  # a recursion
            yield Paragraph(f"... the same line {times - 1:,} times more", indent=INDENT)


def _place(frame: Frame, filename: str) -> str:
    """Return the place of a line: "submission.py:14", or in a notebook "cell 5, line 7"."""
    if frame.cell:
        return f"cell {frame.cell}, line {frame.line}"
    if filename:
        return f"{escape_line(filename, 40)}:{frame.line}"
    return f"line {frame.line}"


def _syntax_error_lines(frame: Frame, column: int, place: str, width: int) -> list[Line]:
    """Return the line that does not parse, and a caret below the column (1-based)."""
    line = frame.source.rstrip("\r\n")
    source = line.lstrip()
    begin = f"{' ' * INDENT}{place}  "
    caret = max(column - 1 - (len(line) - len(source)), 0)
    room = max(min(width, WIDEST) - display_width(begin), 16)
    if caret > room - 8:  # a long line: keep the neighborhood of the caret
        skipped = caret - room // 2
        source = "..." + source[skipped:]
        caret = caret - skipped + 3
    before = " " * display_width(begin + escape_line(source[:caret]))
    return [begin + truncate(escape_line(source), room), f"{before}^"]
