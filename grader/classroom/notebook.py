"""The program in a notebook: its code cells in order, as Jupyter would run them from the top.

A notebook is JSON.  Nothing here parses Python: what is a line of IPython's shows in how it begins.
"""

from __future__ import annotations

import json
import re

from grader.model.errors import UsageError

FORMAT = 4
MOST_BYTES = 16_000_000  # with the pictures that cells have shown
MOST_NODES = 400_000  # lists and objects
MOST_CODE = 1_000_000  # characters
# Magics of a whole cell whose rest is Python all the same.
_RUNS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"})
# %magic, !command, ?help, help? and x = %magic; `% x` goes on with an expression.
_IPYTHON = re.compile(
    r"^([ \t]*)((?:%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}$"
    r"|[\w.,\[\] ]+=\s*(?:%[A-Za-z]|!(?!=))).*(?:(?<=\\)\n.*)*)$",
    re.MULTILINE,
)


def program(content: bytes) -> bytes:
    """Return the code cells of a notebook, with an empty line between two.

    Lines of IPython's own become comments, so that the others keep their places.

    Raises:
        UsageError: There is no program in it; the message is one sentence.
    """
    return "\n".join(_plain(cell) for cell in cells(content)).encode("utf-8", "replace")


def _plain(cell: str) -> str:
    """Return a cell with IPython's own lines as comments; a block does not become empty."""
    first = cell.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first[2:].split(" ")[0] not in _RUNS:
        return re.sub(r"(?m)^(?=.)", "# ", cell)
    return _IPYTHON.sub(_commented, cell)


def _commented(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    if before.count('"""') % 2 or before.count("'''") % 2:  # it is a line of a text
        return found[0]
    indent, line = found[1], found[2].replace("\n", "\n# ")
    return f"{indent}pass  # {line}" if indent else f"# {line}"


def cells(content: bytes) -> list[str]:
    """Return the sources of the code cells, each with its last line ended.

    Raises:
        UsageError: It is no notebook, or has no code.
    """
    if len(content) > MOST_BYTES:
        raise UsageError(f"expected a notebook of at most {MOST_BYTES:,} bytes, found more")
    if content.count(b"[") + content.count(b"{") > MOST_NODES:
        raise UsageError(f"expected a notebook of at most {MOST_NODES:,} values, found more")
    try:
        read = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise UsageError("expected a notebook, found no JSON that can be read") from None
    if not isinstance(read, dict) or "nbformat" not in read:
        raise UsageError("expected a notebook, found other JSON")
    version = read["nbformat"]
    if type(version) is not int or version != FORMAT:
        shown = version if type(version) is int and abs(version) < 1000 else "something else"
        raise UsageError(f"expected a notebook of format {FORMAT}, found {shown}: save it again")
    listed = read.get("cells")
    if not isinstance(listed, list):
        raise UsageError("expected a notebook with a list of cells, found none")
    found = [source for cell in listed if (source := _source(cell)) is not None]
    if not any(source.strip() for source in found):
        raise UsageError("expected a notebook with code, found no cell of it")
    if sum(map(len, found)) > MOST_CODE:
        raise UsageError(f"expected at most {MOST_CODE:,} characters of code, found more")
    return found


def _source(cell: object) -> str | None:
    """Return the code of a cell, None where it is of another kind."""
    if not isinstance(cell, dict):
        raise UsageError("expected a notebook, found a cell that is none")
    if cell.get("cell_type") != "code":
        return None
    source = cell.get("source")
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        raise UsageError("expected a notebook, found a cell of code without text")
    lines = source.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
    return f"{lines}\n"
