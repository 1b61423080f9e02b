"""Turn a notebook into a program: its code cells in order, as Jupyter would run them.

Nothing here parses Python: a line of IPython is recognized by its beginning.
"""

from __future__ import annotations

import json
import re

from grader.model.errors import UsageError
from grader.model.limits import MAX_NOTEBOOK_VALUES, MAX_SUBMISSION_FILE_BYTES
from grader.sandbox.notebook_cells import comment_out_ipython, program_of_cells

# Magics of a whole cell that leave the rest of the cell Python.
_PYTHON_MAGICS = frozenset(
    {"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"}
)


def notebook_code(content: bytes, *, skip: bool = False) -> bytes:
    """Return the code cells of a notebook, each below a line with its number.

    Lines of IPython become comments, and the other lines keep their numbers. With `skip`, a cell
    that raises does not stop the next ones. UsageError if it is not a notebook of format 4, has no
    code, or is too large.
    """
    if content.count(b"[") + content.count(b"{") > MAX_NOTEBOOK_VALUES:
        raise UsageError(
            f"expected a notebook of at most {MAX_NOTEBOOK_VALUES:,} values, found more"
        )
    try:
        notebook = json.loads(content.decode("utf-8-sig"))
        version = notebook["nbformat"]
        if version in {1, 2, 3}:
            raise UsageError(f"expected a notebook of format 4, found {version}: save it again")
        cells = [
            "".join(cell["source"]).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
            for cell in notebook["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise UsageError("expected a notebook, found something else in the file") from None
    if not any(map(str.strip, cells)):
        raise UsageError("expected a notebook with code, found no cell of it")
    code = program_of_cells([_python_cell(cell) for cell in cells], skip=skip)
    program = code.encode("utf-8", "replace")
    if len(program) > MAX_SUBMISSION_FILE_BYTES:
        raise UsageError(
            f"expected at most {MAX_SUBMISSION_FILE_BYTES:,} bytes of code, found more"
        )
    return program


def _python_cell(cell: str) -> str:
    """Turn the IPython lines of a cell into comments; if it begins with `%%bash`, all its lines."""
    first_line = cell.lstrip().split("\n", 1)[0]
    if first_line.startswith("%%") and first_line[2:].split(" ")[0] not in _PYTHON_MAGICS:
        return re.sub(r"(?m)^(?=.)", "# ", cell)
    return comment_out_ipython(cell)
