"""Small arrays side by side, with the wrong entries and the place that matters marked.

A wrong entry carries `*`; the focus (a window, a row, an entry) stands in brackets.  Where the
window is too narrow, panels go below one another, yours and expected last together, or show fewer
columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from grader.model.report import Grids, Panel
from grader.reports.inert import inert
from grader.reports.page import INDENT, cut, paragraph, wrapped
from grader.reports.palette import FOCUS, MARK
from grader.reports.sheet import cells
from grader.reports.text import Text

_GAP = 4  # cells between two panels
_FEWEST_COLUMNS = 3  # panels are set below one another before fewer are shown
_TALL = 16  # lines of panels that still leave room for the rest on one screen
_CELL_LIMIT = 16  # characters of one entry
_NOTE_WIDTH = 24  # a note below a narrow panel may be this wide
_LEADING_ZERO = re.compile(r"^(-?)0(?=\.\d)")

Block = list[Text]  # one panel, laid out


def grid_lines(grids: Grids, width: int, *, inputs: bool = True) -> list[Text]:
    """The panels as lines of at most `width` cells; what they have in common is said once.

    Without inputs there are only the last two, yours and expected.
    """
    panels = [p for p in (grids.panels if inputs else grids.panels[-2:]) if p.rows]
    if len(panels) > 1 and len({p.note for p in panels}) == 1:
        note = panels[0].note
        panels = [replace(p, note="") for p in panels]
    else:
        note = ""
    lines = paragraph(note, width, indent=INDENT) if note else []
    for blocks in _arranged(panels, width - INDENT):
        lines += [Text()] if len(lines) > bool(note) else []
        for parts in zip_longest(*blocks, fillvalue=Text()):
            line = Text(" " * INDENT)
            for block, part in zip(blocks, parts, strict=True):
                line.append_text(part).append(" " * (_across(block) - part.cell_len + _GAP))
            line.rstrip()
            lines.append(line)
    return lines


def _arranged(panels: Sequence[Panel], width: int) -> list[list[Block]]:
    """Rows of blocks: as much of each panel, and as many in a row, as the width allows.

    Everything below one another is best when that is short; else the most columns that
    bring the panels into one row; else the most that bring yours and expected into one.
    """
    widest = max((len(row) for p in panels for row in p.rows), default=0)
    best: list[list[Block]] = []
    for columns in range(max(widest, 1), 0, -1):
        if best and columns < _FEWEST_COLUMNS:
            break
        blocks = [_block(p, shown_columns(p, panels, columns), width) for p in panels]
        packed = _packed(blocks, width)
        fits = columns == 1 or all(_across(block) <= width for block in blocks)
        if fits and (not best or len(packed) < len(best)):
            best = packed
        if columns == widest and fits and sum(max(map(len, row)) + 1 for row in best) <= _TALL:
            break
    return best


def _block(panel: Panel, columns: range, width: int) -> Block:
    lines = [Text(cut(inert(panel.title), width)), *_rows(panel, columns)]
    if panel.note:
        room = max(min(_NOTE_WIDTH, width), _across(lines))
        lines += [Text(s) for s in wrapped(inert(panel.note), room)]
    return lines


def _packed(blocks: Sequence[Block], width: int) -> list[list[Block]]:
    """Blocks in rows, filled from the last one backwards: yours stays next to expected."""
    rows: list[list[Block]] = []
    used = 0
    for block in reversed(blocks):
        need = _across(block) + _GAP
        if rows and used + need <= width:
            rows[0].insert(0, block)
            used += need
        else:
            rows.insert(0, [block])
            used = need - _GAP
    return rows


def _across(block: Block) -> int:
    """Cells of the longest line."""
    return max(line.cell_len for line in block)


def _rows(panel: Panel, columns: range) -> Block:
    """The entries that are shown, with marks, and ellipses where something was cut."""
    shown = {
        (r, c): _LEADING_ZERO.sub(r"\1", inert(row[c], _CELL_LIMIT))
        for r, row in enumerate(panel.rows)
        for c in columns
        if c < len(row)
    }
    focus = panel.focus & shown.keys()
    if len(focus) == len(shown):  # all of it says nothing
        focus = frozenset()
    lines = [Text("... " if columns.start > 0 else "") for _ in panel.rows]
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
        across, tail = max(map(cells, texts)), max(map(len, ends))
        for line, place, start, text, end in zip(lines, places, starts, texts, ends, strict=True):
            style = FOCUS if place in focus else ""
            line.append(" " * (gap + across - cells(text))).append(start.ljust(lead), style)
            line.append(text, style)
            line.append("*" * end.count("*"), MARK).append(end.lstrip("*"), style)
            line.append(" " * (tail - len(end)))
    for line in lines:
        line.append(" ..." if columns.stop < max(map(len, panel.rows)) else "")
    return lines


def shown_columns(panel: Panel, panels: Sequence[Panel], most: int) -> range:
    """At most so many columns of a panel, around the entries that matter.

    Its focus; else that of a panel of the same width, so that yours and expected show the
    same part; else the wrong entries, by the same rule.
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
