"""Several programs in one file, each below a line `# %% NAME`, which editors know as a cell.

    # %% no-gate
    # killed_by: gate
    \"\"\"Your gradient ignores x. Where x is negative, nothing may flow back.\"\"\"

    def relu_backward(grad_y, x):
        return grad_y.copy()

    # %% no-gate / by-a-product
    def relu_backward(grad_y, x): ...

A comment `# key: value` right below the name is a key of the program, in YAML.  The docstring is
the feedback of an idea: lines are joined, an empty one ends a paragraph.  A name, a slash and
another name make a further variant of an idea, which has only a program.  Text that would be lost
is refused, such as code above the first name.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path
from typing import Any

from grader.bank.yaml_document import Document, one_line, parse_yaml, shorten
from grader.model.errors import BankError

CELL_MARK = re.compile(r"# %%[ \t]*(.*?)[ \t]*")
_KEYS = "killed_by|parameters|part"
_KEY = re.compile(rf"#\s*((?:{_KEYS})(?=:)|[a-z_]+(?=:(?:\s|$))):\s*(.*)")
# A comment that is nearly a mark or a key.
_STRAY = re.compile(rf"#+\s*(%%|%\s*[a-z0-9-]+(?:\s*/\s*[\w-]+)?\s*$|(?:{_KEYS}):)")
_DOCSTRING = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*([rR]?(\"\"\"|''').*?\2)", re.DOTALL)
_NO_CODE = re.compile(rf"(?:{_DOCSTRING.pattern})?(?:\s|#[^\n]*(?:\n|$))*", re.DOTALL)
IMPORTS = (ast.Import, ast.ImportFrom)
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class ProgramCell:
    """One program of a file."""

    name: str  # a further variant has the idea's name, a slash and its own
    keys: Any  # a mapping, unless the author has written something else
    feedback: str
    source: bytes  # below as many blank lines as there are lines above it in the file


def read_cells(data: bytes, path: Path) -> tuple[Document, list[ProgramCell]]:
    """Return the keys of all programs as a document, and the programs.

    Raises:
        BankError: a key is not YAML, two programs have one name, or text belongs to no program.
    """
    lines = data.decode("utf-8-sig", "surrogateescape").splitlines()
    marks = [number for number, line in enumerate(lines) if CELL_MARK.fullmatch(line)]
    keys = _key_lines(lines, marks)
    strays = [
        one_line(f"{path}:{number + 1}:1: {sentence}")
        for number, sentence in _strays(lines, marks, keys)
    ]
    if strays:
        raise BankError(strays[0], problems=strays)
    if not marks:
        keys.append("{}")
    document = parse_yaml("\n".join(keys).encode(), path)
    cells = []
    for number, end in pairwise([*marks, len(lines)]):
        name = cell_name(lines[number])
        above = "\n" * (number + 1)
        text = "\n".join(lines[number + 1 : end]).rstrip()
        source = f"{above}{text}\n".encode("utf-8", "surrogateescape")
        feedback = ""
        if docstring := _DOCSTRING.match(text):
            feedback = join_paragraph_lines(ast.literal_eval(docstring[1]))
        cells.append(ProgramCell(name, document.data[name] or {}, feedback, source))
    return document, cells


def _key_lines(lines: list[str], marks: list[int]) -> list[str]:
    """Return the names and keys of a file as lines of YAML, each at its line; others are empty."""
    keys = [""] * len(lines)
    for mark in marks:
        keys[mark] = f"{json.dumps(cell_name(lines[mark]))}:"
        for number in range(mark + 1, len(lines)):
            if not lines[number].startswith("#") or number in marks:
                break
            if key := _KEY.fullmatch(lines[number]):
                keys[number] = f"  {key[1]}: {key[2]}"
    return keys


def _strays(lines: list[str], marks: list[int], keys: list[str]) -> Iterator[tuple[int, str]]:
    """Yield code above the first name, and comments that are nearly a name or a key.

    Each is a line number, from 0, and a sentence.
    """
    first = min(marks, default=len(lines))
    above = "".join(f"{line}\n" for line in lines[:first])
    plain = _NO_CODE.match(above).end()  # type: ignore[union-attr]
    if plain < len(above):
        yield above.count("\n", 0, plain), "expected a line `# %% NAME` above code, found none"
    for number, line in enumerate(lines):
        if not keys[number] and (stray := _STRAY.match(line)):
            expected = "`# %% NAME`" if stray[1][0] == "%" else "keys right below the name"
            yield number, f"expected {expected}, found {shorten(line)!r}"


def cell_name(mark: str) -> str:
    """Return the name in a line `# %% NAME`, with one blank on both sides of a slash."""
    return " / ".join(re.split(r"\s*/\s*", CELL_MARK.fullmatch(mark)[1]))  # type: ignore[index]


def join_paragraph_lines(docstring: str) -> str:
    """Return a text with each paragraph on one line."""
    paragraphs = re.split(r"\n\s*\n", cleandoc(docstring))
    lines = [" ".join(paragraph.split()) for paragraph in paragraphs]
    return "\n".join(lines).strip()


# -- an idea on top of the reference --------------------------------------------------------------


def layer_over(reference: bytes, idea: bytes) -> bytes:
    """Return a reference in which the definitions of an idea replace the reference's.

    Imports of the idea follow the other imports; definitions with new names follow at the end.  A
    statement that reads the old value, such as `x = x + 1`, follows the old definition.

    Raises:
        SyntaxError: one of them is not Python.
    """
    lines = reference.decode().splitlines()
    idea_lines = idea.decode().splitlines()
    statements = ast.parse(reference).body
    last_import = 0
    for node in statements:
        if isinstance(node, IMPORTS):
            last_import = _line_range(node)[1]
    inserted: dict[int, list[str]] = {last_import: []}  # by the line that they follow
    removed: set[int] = set()
    appended: list[str] = []
    # If statements assign the same names, such as a parameter and its setting, the last one counts.
    idea_statements = {_replaced_names(node) or node: node for node in ast.parse(idea).body}
    for node in idea_statements.values():
        first, end = _line_range(node)
        written = idea_lines[first:end]
        names = set(bound_names(node))
        places = [place for place in statements if not names.isdisjoint(bound_names(place))]
        if isinstance(node, IMPORTS):
            inserted[last_import] += [line for line in written if line not in lines]
        elif places:
            _, last_line = _line_range(places[-1])
            inserted.setdefault(last_line, []).extend(written)
            for place in places:
                if _replaced_names(node).issuperset(bound_names(place)):
                    removed.update(range(*_line_range(place)))
        elif not _is_docstring(node):
            appended += ["", "", *written]
    layered = list(inserted.get(0, ()))
    for number, line in enumerate(lines):
        if number not in removed:
            layered.append(line)
        layered += inserted.get(number + 1, [])
    return "\n".join([*layered, *appended, ""]).encode()


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _replaced_names(node: ast.stmt) -> frozenset[str]:
    """Return the names that a definition or an assignment replaces; none for `x = x + 1`."""
    names = frozenset(bound_names(node))
    if isinstance(node, _BLOCKS):
        return names
    if isinstance(node, ast.Assign | ast.AnnAssign) and names.isdisjoint(names_read(node)):
        return names
    return frozenset()


def names_read(*nodes: ast.AST) -> set[str]:
    """Return the names that are read anywhere in these nodes."""
    return {
        name.id
        for node in nodes
        for name in ast.walk(node)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)
    }


def _line_range(node: ast.stmt) -> tuple[int, int]:
    """Return the first line of a statement, with its decorators, and the line after its end.

    Lines count from 0.
    """
    decorators = getattr(node, "decorator_list", ())
    first = min(part.lineno for part in (node, *decorators))
    return first - 1, node.end_lineno or first


def definitions(source: bytes) -> dict[str, list[ast.stmt]]:
    """Return, by name, the statements at the left margin that bind or change it."""
    statements: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(source).body:
        for name in dict.fromkeys(bound_names(node)):
            statements.setdefault(name, []).append(node)
    return statements


def bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement binds or changes, also in tuples, imports and blocks."""
    children: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            children = ()
        case ast.comprehension():  # its names are not visible outside
            children = node.ifs
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
            first_word, *_ = re.split(r"\W", ast.unparse(node.value))
            yield first_word
    for child in children:
        yield from bound_names(child)


def comment_changes(starter: bytes, right: bytes, why: str) -> bytes:
    """Return a right program with `# why: SENTENCE` above each change from a starter."""
    old = starter.decode().splitlines()
    new = right.decode().splitlines()
    sentence = f"# why: {' '.join(why.split())}"
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    lines = []
    for tag, _, _, first, end in matcher.get_opcodes():
        if tag != "equal":
            lines.append(sentence)
        lines += new[first:end]
    return "\n".join([*lines, ""]).encode()
