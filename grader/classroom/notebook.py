"""The program in a notebook: its code cells in order, as Jupyter would run them from the top.

A notebook is JSON.  Nothing here parses Python; what is a line of IPython's is found by looking at
brackets, strings and comments alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from grader.model.errors import UsageError

FORMAT = 4
MOST_BYTES = 16_000_000  # with the pictures that cells have shown
MOST_NODES = 400_000  # lists and objects
MOST_CODE = 1_000_000  # characters
# Magics of a whole cell whose rest is Python all the same.
_RUNS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"})
_ASSIGNED = re.compile(r"\s*[A-Za-z_][\w.,\[\] ]*=\s*[%!](?!=)")
_TOKEN = re.compile(
    r"""(?P<triple>\"{3}|'{3})|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?|(?P<comment>\#.*)"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<code>[^\s"'\#()\[\]{}])"""
)


def program(content: bytes) -> bytes:
    """Return the code cells of a notebook, with an empty line between two.

    Lines of IPython's own (`%`, `!`, `?`) become comments, so that the others keep their places.

    Raises:
        UsageError: There is no program in it; the message is one sentence.
    """
    return "\n".join(_plain(cell) for cell in cells(content)).encode("utf-8", "replace")


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
    found = [source for cell in _listed(read, "cells") if (source := _source(cell)) is not None]
    if not any(source.strip() for source in found):
        raise UsageError("expected a notebook with code, found no cell of it")
    if sum(map(len, found)) > MOST_CODE:
        raise UsageError(f"expected at most {MOST_CODE:,} characters of code, found more")
    return found


def _listed(read: dict[str, object], key: str) -> list[object]:
    value = read.get(key)
    if not isinstance(value, list):
        raise UsageError(f"expected a notebook with a list of {key}, found none")
    return value


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


def _plain(cell: str) -> str:
    """Return a cell with IPython's own lines as comments."""
    first = cell.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first[2:].split(" ")[0] not in _RUNS:
        return "".join(f"# {line}".rstrip() + "\n" for line in _split(cell))
    return "".join(f"{line}\n" for line in _lines(cell))


def _lines(cell: str) -> Iterator[str]:
    scan = _Scan()
    goes_on = False  # whether a line of IPython's goes on with this one
    last = ""  # code of the last line that has some
    for line in _split(cell):
        if not goes_on and not (scan.at_start and _is_ipython(line)):
            last = scan.read(line) or last
            yield line
            continue
        text = line.lstrip(" \t")
        indent = line[: len(line) - len(text)]
        if last.endswith(":") and not goes_on:  # a block must not become empty
            last = ""
            yield f"{indent}pass  # {text}"
        else:
            yield f"{indent}# {text}".rstrip()
        goes_on = line.endswith("\\")


def _split(cell: str) -> list[str]:
    return cell.removesuffix("\n").split("\n")


def _is_ipython(line: str) -> bool:
    text = line.strip()
    if text.startswith(("%", "!", "?")) or _ASSIGNED.match(line):
        return True
    return text.endswith("?") and _Scan().read(line).endswith("?")


class _Scan:
    """Whether the next line begins a statement."""

    def __init__(self) -> None:
        """At the first line."""
        self._depth = 0  # of brackets
        self._quote = ""  # of a string over several lines
        self._joined = False  # by a backslash

    @property
    def at_start(self) -> bool:
        """Whether nothing goes on from the lines before."""
        return not (self._depth or self._quote or self._joined)

    def read(self, line: str) -> str:
        """Read one more line; return what of it is code, without spaces, strings and brackets."""
        code, at = "", 0
        while at < len(line):
            if self._quote:
                at = self._after_string(line, at)
                continue
            found = _TOKEN.match(line, at)
            if found is None:
                at += 1
                continue
            at = found.end()
            self._quote = found["triple"] or ""
            self._depth += bool(found["open"]) - bool(found["close"] and self._depth)
            code += found["code"] or ""
            if found["comment"]:
                break
        self._joined = code.endswith("\\") and line.endswith("\\")
        return code

    def _after_string(self, line: str, at: int) -> int:
        """Return where a string over several lines ends, the end of the line if not in it."""
        while at < len(line):
            if line[at] == "\\":
                at += 2
            elif line.startswith(self._quote, at):
                self._quote, at = "", at + 3
                return at
            else:
                at += 1
        return at
