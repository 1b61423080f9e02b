"""Several programs in one file, each below a line `# %% NAME`, which editors know as a cell.

    # %% no-gate
    # killed_by: gate
    \"\"\"Your gradient ignores x. Where x is negative, nothing may flow back.\"\"\"

    def relu_backward(grad_y, x):
        return grad_y.copy()

    # %% no-gate / by-a-product
    def relu_backward(grad_y, x): ...

`# key: value` among the comments right below the name says something of the program, in YAML.
What would be swallowed, code above the first name for one, is refused.  The docstring is an idea's
feedback: lines are joined, an empty one ends a paragraph.  A name, a slash and another is a
further variant of an idea, and has a program alone.
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

from grader.bank import yaml_document
from grader.bank.yaml_document import Document
from grader.model.errors import BankError

CELL_MARK = re.compile(r"# %%[ \t]*(.*?)[ \t]*")
_OWN = "killed_by|parameters|part"
_KEY = re.compile(rf"#\s*((?:{_OWN})(?=:)|[a-z_]+(?=:(?:\s|$))):\s*(.*)")
# Where it is no mark, and no key.
_STRAY = re.compile(rf"#+\s*(%%|%\s*[a-z0-9-]+(?:\s*/\s*[\w-]+)?\s*$|(?:{_OWN}):)")
_DOCSTRING = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*([rR]?(\"\"\"|''').*?\2)", re.DOTALL)
_NO_CODE = re.compile(rf"(?:{_DOCSTRING.pattern})?(?:\s|#[^\n]*(?:\n|$))*", re.DOTALL)
IMPORTS = (ast.Import, ast.ImportFrom)
_BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, slots=True)
class ProgramCell:
    """One program."""

    name: str  # of a further variant the idea's, a slash and its own
    keys: Any  # by name, if the author has written them so
    feedback: str
    source: bytes  # below as many blank lines as there are above it in the file


def read_cells(data: bytes, path: Path) -> tuple[Document, list[ProgramCell]]:
    """The programs in a file that goes by a path; and their keys, by name, with their places.

    Raises:
        BankError: it is no text, a key is no YAML, two have one name, or something is of none.
    """
    lines = data.decode("utf-8-sig", "surrogateescape").splitlines()
    marks = [number for number, line in enumerate(lines) if CELL_MARK.fullmatch(line)]
    keys = [""] * len(lines)
    for number in marks:
        keys[number] = f"{json.dumps(cell_name(lines[number]))}:"
        for below, line in enumerate(lines[number + 1 :], number + 1):
            if not line.startswith("#") or below in marks:
                break
            if said := _KEY.fullmatch(line):
                keys[below] = f"  {said[1]}: {said[2]}"
    if strays := [
        yaml_document.one_line(f"{path}:{n + 1}:1: {s}") for n, s in _strays(lines, keys)
    ]:
        raise BankError(strays[0], problems=strays)
    doc = yaml_document.parse_yaml("\n".join([*keys, "{}" * (not marks)]).encode(), path)
    found = []
    for number, end in pairwise([*marks, len(lines)]):
        text, name = "\n".join(lines[number + 1 : end]).rstrip(), cell_name(lines[number])
        said = _DOCSTRING.match(text)
        source = "\n" * (number + 1) + text + "\n"
        found.append(
            ProgramCell(
                name,
                doc.data[name] or {},
                join_paragraph_lines(ast.literal_eval(said[1])) if said else "",
                source.encode("utf-8", "surrogateescape"),
            )
        )
    return doc, found


def _strays(lines: list[str], keys: list[str]) -> Iterator[tuple[int, str]]:
    """What is above the first name and no comment, and comments that are nearly a name or a key."""
    first = next((number for number, key in enumerate(keys) if key), len(lines))
    above = "".join(f"{line}\n" for line in lines[:first])
    plain = _NO_CODE.match(above).end()  # type: ignore[union-attr]
    if plain < len(above):
        yield above.count("\n", 0, plain), "expected a line `# %% NAME` above code, found none"
    for number, line in enumerate(lines):
        if not keys[number] and (near := _STRAY.match(line)):
            wanted = "`# %% NAME`" if near[1][0] == "%" else "keys right below the name"
            yield number, f"expected {wanted}, found {yaml_document.shorten(line)!r}"


def cell_name(mark: str) -> str:
    """The name in the line above a program."""
    return " / ".join(re.split(r"\s*/\s*", CELL_MARK.fullmatch(mark)[1]))  # type: ignore[index]


def join_paragraph_lines(docstring: str) -> str:
    """A text of which the lines of a paragraph are joined."""
    paragraphs = re.split(r"\n\s*\n", cleandoc(docstring))
    return "\n".join(" ".join(one.split()) for one in paragraphs).strip()


def layer_over(reference: bytes, idea: bytes) -> bytes:
    """The text of a reference with what an idea defines in its place, and below it what is new.

    Raises:
        SyntaxError: one of them is no Python.
    """
    lines, text = reference.decode().splitlines(), idea.decode().splitlines()
    known = ast.parse(reference).body
    imports = [node.end_lineno or 0 for node in known if isinstance(node, IMPORTS)]
    gone, below = set[int](), list[str]()
    after: dict[int, list[str]] = {max(imports, default=0): []}  # by line, what follows it
    (above,) = after.values()
    # Of statements that give the same names new values, such as parameters, the last one counts.
    own = {_replaced(node) or node: node for node in ast.parse(idea).body}
    for node in own.values():
        first, end = _lines(node)
        written, names = text[first:end], {*bound_names(node)}
        places = [one for one in known if not names.isdisjoint(bound_names(one))]
        if isinstance(node, IMPORTS):
            above += (line for line in written if line not in lines)
        elif places:
            after.setdefault(_lines(places[-1])[1], []).extend(written)
            for place in places:
                if _replaced(node).issuperset(bound_names(place)):
                    gone.update(range(*_lines(place)))
        elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            below += ["", "", *written]
    kept = list(after.get(0, ()))
    for number, line in enumerate(lines):
        kept += [line] * (number not in gone) + after.get(number + 1, [])
    return "\n".join([*kept, *below, ""]).encode()


def _replaced(node: ast.stmt) -> frozenset[str]:
    """The names that a statement gives values which do not depend on those before."""
    names = frozenset(bound_names(node))
    if isinstance(node, _BLOCKS):
        return names
    is_new = isinstance(node, ast.Assign | ast.AnnAssign) and names.isdisjoint(names_read(node))
    return names if is_new else frozenset()


def names_read(*nodes: ast.AST) -> set[str]:
    """The names that some nodes read."""
    found = (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))
    return {name.id for name in found if isinstance(name.ctx, ast.Load)}


def _lines(node: ast.stmt) -> tuple[int, int]:
    """Where a statement begins, decorators included, and ends; lines from 0."""
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    return first - 1, node.end_lineno or first


def definitions(source: bytes) -> dict[str, list[ast.stmt]]:
    """The statements at the left margin that bind or change each name."""
    found: dict[str, list[ast.stmt]] = {}
    for node in ast.parse(source).body:
        for name in dict.fromkeys(bound_names(node)):
            found.setdefault(name, []).append(node)
    return found


def bound_names(node: ast.AST) -> Iterator[str]:
    """What a statement binds or changes where it stands, also in tuples, imports and blocks."""
    inner: Iterable[ast.AST] = ast.iter_child_nodes(node)
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            inner = ()
        case ast.comprehension():  # its own names are not seen outside
            inner = node.ifs
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Subscript(value=of, ctx=ast.Store()) | ast.Attribute(value=of, ctx=ast.Store()):
            yield re.split(r"\W", ast.unparse(of), maxsplit=1)[0]
    for one in inner:
        yield from bound_names(one)


def comment_changes(starter: bytes, right: bytes, why: str) -> bytes:
    """A right program with one sentence above each run of lines that a starter has otherwise."""
    old, new = (one.decode().splitlines() for one in (starter, right))
    found, sentence = [], f"# why: {' '.join(why.split())}"
    for tag, _, _, first, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        found += [sentence] * (tag != "equal") + new[first:end]
    return "\n".join([*found, ""]).encode()
