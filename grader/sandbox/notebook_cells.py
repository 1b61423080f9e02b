"""A notebook as a program: its cells as one text, with lines for IPython turned into comments.

The text begins with one of two mark lines, and each cell follows a line with its number, such as
`# ---- cell 3 ----`.  Workers run the text cell by cell; messages name the cell and the line in
the cell.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from grader.model.report import ExceptionRecord

STOPPING_MARK = "# The cells of a notebook."
SKIPPING_MARK = "# The cells of a notebook. Those that raise are passed over."
_FIRST_LINES = re.compile(rb"^# ---- cell \d+ ----$", re.MULTILINE)


def program_of_cells(cells: Sequence[str], *, skip: bool) -> str:
    """Join cells of code to a program.

    With `skip`, the mark line says that a cell that raises does not stop the next ones.
    """
    texts = [SKIPPING_MARK if skip else STOPPING_MARK]
    for number, cell in enumerate(cells, start=1):
        texts.append(f"# ---- cell {number} ----\n{cell}\n")
    return "\n".join(texts)


def is_skipping(program: bytes) -> bool:
    """Return True if the program is a notebook's, and later cells run after one that raises."""
    return program.startswith(f"{SKIPPING_MARK}\n".encode())


def cell_starts(program: bytes) -> tuple[int, ...]:
    """Return the number of the line `# ---- cell N ----` above each cell; () for no notebook."""
    if not program.startswith((f"{STOPPING_MARK}\n".encode(), f"{SKIPPING_MARK}\n".encode())):
        return ()
    marks = _FIRST_LINES.finditer(program)
    return tuple(program.count(b"\n", 0, mark.start()) + 1 for mark in marks)


def cell_and_line(program: bytes, line: int) -> tuple[int, int]:
    """Return the number of the cell that contains a line, and the number of the line in the cell.

    If no cell contains the line: 0, and the number of the line in the program.
    """
    starts = [start for start in cell_starts(program) if start <= line]
    if not starts:
        return 0, line
    return len(starts), line - starts[-1]


def line_in_words(program: bytes, line: int) -> str:
    """Return the name of a line: `line 7`, or `cell 5, line 7`."""
    cell, line_in_cell = cell_and_line(program, line)
    return f"cell {cell}, line {line_in_cell}" if cell else f"line {line_in_cell}"


# %magic, !command, ?help, help? and x = %magic.  A line `% x` continues an expression.
_IPYTHON = re.compile(
    r"^([ \t]*)((?:%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}$"
    r"|[\w.,\[\] ]+=\s*(?:%[A-Za-z]|!(?!=))).*(?:(?<=\\)\n.*)*)$",
    re.MULTILINE,
)


def comment_out_ipython(text: str) -> str:
    """Return the text with lines for IPython, such as `%time`, turned into comments.

    An indented one also gets a `pass`, because its block may have no other line.  Lines within
    triple quotes stay.
    """
    return _IPYTHON.sub(_to_comment, text)


def _to_comment(match: re.Match[str]) -> str:
    before = match.string[: match.start()]
    is_in_string = before.count('"""') % 2 or before.count("'''") % 2
    if is_in_string:
        return match[0]
    indent = match[1]
    comment = "# " + match[2].replace("\n", "\n# ")
    return f"{indent}pass  {comment}" if indent else comment


def with_cell_numbers(raised: ExceptionRecord, program: bytes) -> ExceptionRecord:
    """Return the exception with each frame's cell, and its line counted within that cell.

    Frames that already have a cell stay.
    """
    frames = []
    for frame in raised.frames:
        if not frame.cell:
            cell, line = cell_and_line(program, frame.line)
            frame = replace(frame, cell=cell, line=line)
        frames.append(frame)
    return replace(raised, frames=tuple(frames))
