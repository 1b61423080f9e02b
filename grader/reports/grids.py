"""Small arrays side by side, with the wrong entries and the place that matters marked.

A wrong entry carries `*`; the focus (a window, a row, an entry) stands in brackets.  Where
the window is too narrow, panels go below one another, yours and expected last together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.text import Text

from grader.model.report import Grids, Panel
from grader.reports.clip import Clip, Entry, anchors, clip, size
from grader.reports.inert import inert
from grader.reports.page import cut, wrapped
from grader.reports.palette import FOCUS, QUIET, STRONG, WRONG

_INDENT = 4
_GAP = 4  # cells between two panels
_MOST_ROWS = 10  # of one panel
_FEWER_ROWS = 6  # where panels go below one another
_FEWEST_COLUMNS = 3  # panels are set below one another before fewer are shown
_TALL = 16  # lines of panels that still leave room for the rest on one screen
_CELL_LIMIT = 16  # characters of one entry
_NOTE_WIDTH = 24  # a note below a narrow panel may be this wide
_LEADING_ZERO = re.compile(r"^(-?)0(?=\.\d)")

Marks = Mapping[Entry, str]


@dataclass(frozen=True, slots=True)
class Block:
    """One panel, laid out."""

    lines: list[Text]
    note: str

    @property
    def width(self) -> int:
        """Cells of its longest line."""
        return max((line.cell_len for line in self.lines), default=0)


def grid_lines(grids: Grids, width: int) -> list[Text]:
    """The panels as lines of at most `width` cells."""
    panels = [p for p in grids.panels if p.rows]
    if not panels:
        return []
    arrangement = _arranged(panels, width - _INDENT)
    lines: list[Text] = []
    for row in arrangement:
        lines += [Text(), *_beside(row)]
    notes = {block.note for row in arrangement for block in row if block.note}
    if len(notes) == 1 and len(panels) > 1:  # said once, above all of them
        note = wrapped(inert(notes.pop()), width - _INDENT)
        return [*(Text(" " * _INDENT).append(s, QUIET) for s in note), *lines]
    return lines[1:]


def _arranged(panels: Sequence[Panel], width: int) -> list[list[Block]]:
    """Rows of blocks: as much of each panel, and as many abreast, as the width allows.

    Everything below one another is best when that is short; else the most columns that
    bring the panels into one row; else the most that bring yours next to expected.
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
    alike = len(set(notes)) == 1 and len(notes) > 1
    return [
        _block(p, c, note, width, below=not alike)
        for p, c, note in zip(panels, parts, notes, strict=True)
    ]


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


def _beside(blocks: Sequence[Block]) -> list[Text]:
    lines: list[Text] = []
    for n in range(max(len(b.lines) for b in blocks)):
        line = Text(" " * _INDENT)
        for block in blocks:
            part = block.lines[n] if n < len(block.lines) else Text()
            line.append_text(part)
            line.append(" " * (block.width - part.cell_len + _GAP))
        line.rstrip()
        lines.append(line)
    return lines


def _block(panel: Panel, part: Clip, note: str, width: int, *, below: bool) -> Block:
    """One panel: title, rows, and unless it is said once for all, what part this is."""
    rows = _rows(panel, part)
    across = max((row.cell_len for row in rows), default=0)
    title = cut(inert(panel.title), width)
    room = max(across, cell_len(title), min(_NOTE_WIDTH, width))
    notes = wrapped(inert(note), room) if note and below else []
    return Block([Text(title, STRONG), *rows, *(Text(s, QUIET) for s in notes)], note)


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
    for c in part.columns:
        places = [(r, c) for r in part.rows]
        across = max(cell_len(shown.get(place, "")) for place in places)
        lead = 1 if focus and (c > part.columns.start or opening.keys() & places) else 0
        gap = _gap(c, part, lead, opening, closing)
        tail = max(len(closing.get(place, "")) for place in places)
        for line, place in zip(lines, places, strict=True):
            text, marks = shown.get(place, ""), closing.get(place, "")
            style = WRONG if place in panel.wrong else FOCUS if place in focus else ""
            line.append(" " * (gap + across - cell_len(text)))
            line.append(f"{opening.get(place, ''):{lead}}" if lead else "", FOCUS)
            line.append(text, style).append(f"{marks:{tail}}" if tail else "", style)
    for line in lines:
        line.append(" ..." if part.columns.stop < part.width else "", QUIET)
    above = [Text("...", QUIET)] if part.rows.start > 0 else []
    below = [Text("...", QUIET)] if part.rows.stop < part.height else []
    return [*above, *lines, *below]


def _gap(c: int, part: Clip, lead: int, opening: Marks, closing: Marks) -> int:
    """Cells before a column: two, less what marks take, but a mark never touches a bracket."""
    if c == part.columns.start:
        return 0
    before = [(r, c - 1) for r in part.rows]
    taken = max(len(closing.get(place, "")) for place in before)
    touching = any(closing.get((r, k)) and (r, k + 1) in opening for r, k in before)
    return max(0, 2 - taken - lead) + (1 if touching and taken + lead >= 2 else 0)


def _height(packed: Sequence[Sequence[Block]]) -> int:
    return sum(max(len(block.lines) for block in row) + 1 for row in packed)
