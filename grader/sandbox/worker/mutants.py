"""Derive mutants of a program: small changes, one at a time, that people really make by mistake.

One statement changes and every other line of the source stays as it was, at the same line number.
What may change in an expression is in `mutation_rules`; here are the places, and what may happen to
a statement as a whole.  Messages of exceptions, annotations, decorators and documentation are left
alone: no question is about them.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from .mutant_words import Words, words
from .mutation_rules import Function, replacements, slots
from .protocol import Mutant, Mutants, Page
from .statement_rules import local_names, rewritten

TOP = "module"  # the scope of what stands in no function


@dataclass(slots=True)
class _Source:
    """A text by bytes, with places given as `ast` gives them."""

    data: bytes
    modules: set[str]  # that it imports
    starts: list[int] = field(init=False)  # of lines

    def __post_init__(self) -> None:
        lengths = (len(line) + 1 for line in self.data.split(b"\n"))
        self.starts = [0, *itertools.accumulate(lengths)]

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column


def page(asked: Mutants) -> Page:
    """Some of the mutants of a source."""
    found = derive(asked.source.tobytes())
    return Page(tuple(found[asked.first : asked.first + asked.most]), len(found))


@functools.lru_cache(maxsize=1)  # one source, page by page
def derive(data: bytes) -> list[Mutant]:
    """Return every mutant of a source, in its order, none twice.

    Args:
        data: UTF-8 with newlines, no byte order mark.

    Raises:
        SyntaxError: it is not Python.
    """
    tree = ast.parse(data)
    source = _Source(data, _modules(tree))
    found: dict[bytes, Mutant] = {}
    for mutant in _block(source, tree.body, TOP, None):
        mutated = data[: mutant.start] + mutant.text.encode() + data[mutant.end :]
        with suppress(SyntaxError, ValueError):
            if mutated not in found:
                compile(mutated, "mutant", "exec", dont_inherit=True)
                found[mutated] = mutant
    return list(found.values())


def _modules(tree: ast.Module) -> set[str]:
    """Names of imported modules: `np` in `np.sum(x)` is no operand."""
    imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
    return {(a.asname or a.name).split(".")[0] for node in imports for a in node.names}


def _block(
    source: _Source, body: list[ast.stmt], scope: str, function: Function | None
) -> Iterator[Mutant]:
    for index, node in enumerate(body):
        if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue  # documentation
        inner, owner = scope, function
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = node.name if scope == TOP else f"{scope}.{node.name}"
            owner = None if isinstance(node, ast.ClassDef) else node
        yield from _statement(source, node, inner, function)
        for name in ("body", "orelse", "finalbody"):
            yield from _block(source, getattr(node, name, []), inner, owner)
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from _block(source, part.body, inner, owner)


def _statement(
    source: _Source, node: ast.stmt, scope: str, function: Function | None
) -> Iterator[Mutant]:
    """Every mutant of one statement, without the statements inside it."""
    start, end = _span(source, node)
    elif_ = source.data[start : start + 4] == b"elif"
    was = _text(node, elif_=elif_)

    def mutant(rule: str, text: str, what: Words, upto: int = end, becomes: str = "") -> Mutant:
        tail = " " if upto != _end(source, node) and source.data[upto - 1 : upto] != b"\n" else ""
        # As many newlines as it replaces, so that lines keep their numbers.
        fill = "\n" * (source.data[start:upto].count(b"\n") - text.count("\n"))
        new = text + tail + fill
        return Mutant(scope, node.lineno, rule, was, becomes or text, start, upto, new, *what)

    if not isinstance(node, ast.Raise | ast.Import | ast.ImportFrom | ast.ClassDef | ast.Match):
        for slot in slots(node):
            original = slot.holder[slot.key]
            for rule, changed in replacements(original, slot.role, source.modules):
                slot.holder[slot.key] = changed
                text = _text(node, elif_=elif_)
                slot.holder[slot.key] = original
                if text != was:
                    yield mutant(rule, text, words(original, changed))
    for rule, new in rewritten(node, function):
        yield mutant(rule, ast.unparse(new), words(node, new))
    if _can_go(node, function) and not elif_:
        yield mutant("dropped statement", "pass", words(node), _end(source, node), "nothing")


def _span(source: _Source, node: ast.stmt) -> tuple[int, int]:
    """Where a statement stands; of a compound one, its head up to the first statement inside."""
    start = source.at(node.lineno, node.col_offset)
    body: list[ast.stmt] = getattr(node, "body", [])
    if not body or isinstance(node, ast.Expr):
        return start, _end(source, node)
    first = body[0]
    line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
    begin = source.at(line, 0)
    inside = source.at(first.lineno, first.col_offset)
    alone = not source.data[begin:inside].strip() or line != first.lineno
    return start, begin if alone else inside


def _end(source: _Source, node: ast.stmt) -> int:
    return source.at(node.end_lineno or node.lineno, node.end_col_offset or 0)


def _text(node: ast.stmt, *, elif_: bool) -> str:
    """One statement as text; of a compound one, its head."""
    if not isinstance(getattr(node, "body", None), list):
        return ast.unparse(node)
    head = copy.copy(node)
    head.body = [ast.Pass()]  # type: ignore[attr-defined]
    for name in ("orelse", "finalbody", "decorator_list", "handlers"):
        if hasattr(head, name) and not isinstance(node, ast.Try):
            setattr(head, name, [])
    text = ast.unparse(head).removesuffix("pass").rstrip()
    return f"el{text}" if elif_ else text


def _can_go(node: ast.stmt, function: Function | None) -> bool:
    """Whether a statement may be left out without a name being missing for that alone."""
    match node:
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
        case ast.AugAssign() | ast.For() | ast.While() | ast.Delete() | ast.Assert() | ast.Raise():
            return True
        case ast.If():
            return not node.orelse
        case ast.Assign(targets=[ast.Name(id=name)]):
            return function is not None and name in local_names(function, before=node.lineno)
        case ast.Assign():
            return not any(isinstance(t, ast.Name | ast.Tuple | ast.List) for t in node.targets)
        case _:
            return False
