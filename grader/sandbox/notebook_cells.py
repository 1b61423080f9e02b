"""The cells of a notebook in the text of its program, and lines that only IPython understands.

The text begins with one of two head lines, and a line with its number stands above each cell.
Workers run such a text cell by cell; messages name the cell and the line in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.model.report import ExceptionRecord, Frame

STOPPING_MARK = "# The cells of a notebook."
SKIPPING_MARK = "# The cells of a notebook. Those that raise are passed over."
_FIRST_LINES = re.compile(rb"^# ---- cell \d+ ----$", re.MULTILINE)


def program_of_cells(cells: Sequence[str], *, skip: bool) -> str:
    """Return the program of some cells of code."""
    marked = [f"# ---- cell {number} ----\n{cell}\n" for number, cell in enumerate(cells, 1)]
    return "\n".join([SKIPPING_MARK if skip else STOPPING_MARK, *marked])


def is_skipping(program: bytes) -> bool:
    """Return True if cells of a notebook's program that raise are passed over."""
    return program.startswith(f"{SKIPPING_MARK}\n".encode())


def cell_starts(program: bytes) -> tuple[int, ...]:
    """Return the number of the line above each cell; nothing if the program is no notebook's."""
    if not program.startswith((f"{STOPPING_MARK}\n".encode(), f"{SKIPPING_MARK}\n".encode())):
        return ()
    return tuple(program.count(b"\n", 0, m.start()) + 1 for m in _FIRST_LINES.finditer(program))


def cell_and_line(program: bytes, line: int) -> tuple[int, int]:
    """Return the cell in which a line of a program is, and its number there; else 0 and itself."""
    above = [first for first in cell_starts(program) if first <= line]
    return (len(above), line - above[-1]) if above else (0, line)


def line_in_words(program: bytes, line: int) -> str:
    """Return the words for a line: `line 7`, or `cell 5, line 7`."""
    cell, own = cell_and_line(program, line)
    return f"cell {cell}, line {own}" if cell else f"line {own}"


# %magic, !command, ?help, help? and x = %magic; `% x` goes on with an expression.
_IPYTHON = re.compile(
    r"^([ \t]*)((?:%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}$"
    r"|[\w.,\[\] ]+=\s*(?:%[A-Za-z]|!(?!=))).*(?:(?<=\\)\n.*)*)$",
    re.MULTILINE,
)


def comment_out_ipython(text: str) -> str:
    """Return a text with IPython's own lines as comments; a block does not become empty."""
    return _IPYTHON.sub(_commented, text)


def _commented(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    if before.count('"""') % 2 or before.count("'''") % 2:  # it is a line of a text
        return found[0]
    indent, line = found[1], found[2].replace("\n", "\n# ")
    return f"{indent}pass  # {line}" if indent else f"# {line}"


def with_cell_numbers(raised: ExceptionRecord, program: bytes) -> ExceptionRecord:
    """Return an exception whose frames name the cell and the line in it."""

    def placed(frame: Frame) -> Frame:
        if frame.cell:
            return frame
        cell, line = cell_and_line(program, frame.line)
        return replace(frame, cell=cell, line=line)

    return replace(raised, frames=tuple(map(placed, raised.frames)))
