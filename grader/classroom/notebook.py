"""The program of a notebook: its code cells in order, as Jupyter would run them from the top.

Nothing here parses Python: what is a line of IPython's shows in how it begins.
"""

from __future__ import annotations

import json
import re

from grader.model.errors import UsageError
from grader.model.limits import MAX_NOTEBOOK_VALUES, MAX_SUBMISSION_FILE_BYTES
from grader.sandbox.notebook_cells import comment_out_ipython, program_of_cells

# Magics of a whole cell whose rest is Python all the same.
_RUNS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"})


def notebook_code(content: bytes, *, skip: bool = False) -> bytes:
    """Return the code cells of a notebook, each below a line with its number.

    Lines of IPython's own become comments, so that the others keep their places.  With `skip`, a
    cell that raises is passed over.
    """
    if content.count(b"[") + content.count(b"{") > MAX_NOTEBOOK_VALUES:
        raise UsageError(
            f"expected a notebook of at most {MAX_NOTEBOOK_VALUES:,} values, found more"
        )
    try:
        read = json.loads(content.decode("utf-8-sig"))
        version = read["nbformat"]
        if version in {1, 2, 3}:
            raise UsageError(f"expected a notebook of format 4, found {version}: save it again")
        cells = [
            "".join(cell["source"]).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
            for cell in read["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise UsageError("expected a notebook, found something else in the file") from None
    if not any(map(str.strip, cells)):
        raise UsageError("expected a notebook with code, found no cell of it")
    program = program_of_cells([_plain(cell) for cell in cells], skip=skip)
    found = program.encode("utf-8", "replace")
    if len(found) > MAX_SUBMISSION_FILE_BYTES:
        raise UsageError(
            f"expected at most {MAX_SUBMISSION_FILE_BYTES:,} bytes of code, found more"
        )
    return found


def _plain(cell: str) -> str:
    """Return a cell with IPython's own lines as comments."""
    first = cell.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first[2:].split(" ")[0] not in _RUNS:
        return re.sub(r"(?m)^(?=.)", "# ", cell)
    return comment_out_ipython(cell)
