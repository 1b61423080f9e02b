"""Small arrays side by side, with the wrong entries and the place that matters marked.

A wrong entry carries `*`; the focus (a window, a row, an entry) stands in brackets.  Where
the window is too narrow, panels go below one another, yours and expected last together.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import Grids, Panel
from grader.reports.inert import inert
from grader.reports.page import INDENT, cut, wrapped
from grader.reports.palette import FOCUS, QUIET, STRONG, WRONG

_GAP = 4  # cells between two panels
_MOST_ROWS = 10  # of one panel
_FEWER_ROWS = 6  # where panels go below one another
_FEWEST_COLUMNS = 3  # panels are set below one another before fewer are shown
_TALL = 16  # lines of panels that still leave room for the rest on one screen
_CELL_LIMIT = 16  # characters of one entry
_NOTE_WIDTH = 24  # a note below a narrow panel may be this wide
_LEADING_ZERO = re.compile(r"^(-?)0(?=\.\d)")

Entry = tuple[int, int]  # row and column


@dataclass(frozen=True, slots=True)
class Block:
    """One panel, laid out."""

    lines: list[Text]
    note: str  # that all panels have in common, to be said once

    @property
    def width(self) -> int:
        """Cells of its longest line."""
        return max((line.cell_len for line in self.lines), default=0)


def grid_lines(grids: Grids, width: int) -> list[Text]:
    """The panels as lines of at most `width` cells."""
    panels = [p for p in grids.panels if p.rows]
    if not panels:
        return []
    arrangement = _arranged(panels, width - INDENT)
    note = arrangement[0][0].note
    above = wrapped(inert(note), width - INDENT) if note else []
    lines = [Text(" " * INDENT).append(s, QUIET) for s in above]
    for row in arrangement:
        lines += [Text()] if lines else []
        lines += _side_by_side(row)
    return lines


def _arranged(panels: Sequence[Panel], width: int) -> list[list[Block]]:
    """Rows of blocks: as much of each panel, and as many in a row, as the width allows.

    Everything below one another is best when that is short; else the most columns that
    bring the panels into one row; else the most that bring yours and expected into one.
    """
    widest = max(max(size(p)[1] for p in panels), 1)
    best: list[list[Block]] = []
    for columns in range(widest, 0, -1):
        if best and columns < _FEWEST_COLUMNS:
            break
        packed = _packed(_blocks(panels, columns, _MOST_ROWS, width), width)
        if len(packed) > 1 and _height(packed) > _TALL:
            packed = _packed(_blocks(panels, columns, _FEWER_ROWS, width), width)
        fits = all(block.width <= width for row in packed for block in row)
        if not fits and columns > 1:
            continue
        if not best or len(packed) < len(best):
            best = packed
        if len(best) == 1 or (columns == widest and _height(best) <= _TALL):
            break
    return best


def _blocks(panels: Sequence[Panel], columns: int, rows: int, width: int) -> list[Block]:
    parts = [clip(p, anchors(p, panels), rows, columns) for p in panels]
    notes = [", ".join(filter(None, [p.note, c.note])) for p, c in zip(panels, parts, strict=True)]
    common = notes[0] if len(set(notes)) == 1 and len(notes) > 1 else ""
    blocks = []
    for panel, part, note in zip(panels, parts, notes, strict=True):
        lines = [Text(cut(inert(panel.title), width), STRONG), *_rows(panel, part)]
        if note and not common:
            room = max(min(_NOTE_WIDTH, width), *(line.cell_len for line in lines))
            lines += [Text(s, QUIET) for s in wrapped(inert(note), room)]
        blocks.append(Block(lines, common))
    return blocks


def _packed(blocks: Sequence[Block], width: int) -> list[list[Block]]:
    """Blocks in rows, filled from the last one backwards: yours stays next to expected."""
    rows: list[list[Block]] = []
    used = 0
    for block in reversed(blocks):
        need = block.width + _GAP
        if rows and used + need <= width:
            rows[0].insert(0, block)
            used += need
        else:
            rows.insert(0, [block])
            used = need - _GAP
    return rows


def _side_by_side(blocks: Sequence[Block]) -> list[Text]:
    lines = []
    for parts in zip_longest(*(block.lines for block in blocks), fillvalue=Text()):
        line = Text(" " * INDENT)
        for block, part in zip(blocks, parts, strict=True):
            line.append_text(part).append(" " * (block.width - part.cell_len + _GAP))
        line.rstrip()
        lines.append(line)
    return lines


def _rows(panel: Panel, part: Clip) -> list[Text]:
    """The entries that are shown, with marks, and ellipses where something was cut."""
    shown = {
        (r, c): _LEADING_ZERO.sub(r"\1", inert(panel.rows[r][c], _CELL_LIMIT))
        for r in part.rows
        for c in part.columns
        if c < len(panel.rows[r])
    }
    focus = panel.focus & shown.keys()
    if len(focus) == len(shown):  # all of it says nothing
        focus = frozenset()
    opening = {(r, c): "[" for r, c in focus if (r, c - 1) not in focus}
    closing = {
        (r, c): ("*" if (r, c) in panel.wrong else "")
        + ("]" if (r, c) in focus and (r, c + 1) not in focus else "")
        for r, c in shown
    }
    lines = [Text().append("... " if part.columns.start > 0 else "", QUIET) for _ in part.rows]
    ends: list[str] = []  # of the column before
    for c in part.columns:
        places = [(r, c) for r in part.rows]
        texts = [shown.get(place, "") for place in places]
        starts = [opening.get(place, "") for place in places]
        lead = 1 if focus and (ends or any(starts)) else 0
        gap = 0
        if ends:  # two, less what marks take, but a mark never touches a bracket
            taken = lead + max(map(len, ends))
            touching = any(end and start for end, start in zip(ends, starts, strict=True))
            gap = max(2 - taken, 1 if touching and taken >= 2 else 0)
        ends = [closing.get(place, "") for place in places]
        across, tail = max(map(cell_len, texts)), max(map(len, ends))
        for line, place, start, text, end in zip(lines, places, starts, texts, ends, strict=True):
            style = WRONG if place in panel.wrong else FOCUS if place in focus else ""
            line.append(" " * (gap + across - cell_len(text))).append(start.ljust(lead), FOCUS)
            line.append(text, style).append(end.ljust(tail), style)
    for line in lines:
        line.append(" ..." if part.columns.stop < part.width else "", QUIET)
    above = [Text("...", QUIET)] if part.rows.start > 0 else []
    below = [Text("...", QUIET)] if part.rows.stop < part.height else []
    return [*above, *lines, *below]


def _height(packed: Sequence[Sequence[Block]]) -> int:
    return sum(max(len(block.lines) for block in row) + 1 for row in packed)


@dataclass(frozen=True, slots=True)
class Clip:
    """Rows and columns that are shown, out of how many: those around what matters."""

    rows: range
    columns: range
    height: int
    width: int

    @property
    def note(self) -> str:
        """What was cut, in words; empty when nothing was."""
        spans = (("rows", self.rows, self.height), ("columns", self.columns, self.width))
        return ", ".join(
            f"{name} {span[0]} to {span[-1]} of {total}"
            for name, span, total in spans
            if 0 < len(span) < total
        )


def size(panel: Panel) -> Entry:
    """Rows and columns of a panel."""
    return len(panel.rows), max((len(row) for row in panel.rows), default=0)


def anchors(panel: Panel, panels: Sequence[Panel]) -> Collection[Entry]:
    """The entries a clip of this panel must be around.

    Its focus; else that of a panel of the same size, so that yours and expected show the
    same part; else the wrong entries, by the same rule.
    """
    alike = [panel, *(p for p in panels if size(p) == size(panel))]
    return next(filter(None, [p.focus for p in alike] + [p.wrong for p in alike]), ())


def clip(panel: Panel, around: Collection[Entry], rows: int, columns: int) -> Clip:
    """At most so many rows and columns of a panel, around the given entries."""
    height, width = size(panel)
    shown_rows = _span(height, [r for r, _ in around], rows)
    return Clip(shown_rows, _span(width, [c for _, c in around], columns), height, width)


def _span(total: int, around: Sequence[int], most: int) -> range:
    """`most` places out of `total`, centered on those given, or beginning at the first of them."""
    if total <= most:
        return range(total)
    first, last = (min(around), max(around)) if around else (0, 0)
    spread = last - first + 1
    start = first - (most - spread) // 2 if spread <= most else first
    start = min(max(start, 0), total - most)
    return range(start, start + most)
