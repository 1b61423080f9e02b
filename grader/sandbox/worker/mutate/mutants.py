"""Derive mutants of a program: small changes, one at a time, that people really make by mistake.

One statement changes and every other line of the source stays as it was, at the same line number.
What may change is in `rules`; here are the places.  Messages of exceptions, annotations, decorators
and documentation are left alone: no question is about them.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections.abc import Iterator
from contextlib import suppress

from ..protocol import Mutant, Mutants, Page
from .rules import Function, can_go, replacements, rewritten, slots

TOP = "module"  # the scope of what stands in no function
_UNCHANGED = (ast.Raise, ast.Import, ast.ImportFrom, ast.ClassDef, ast.Match)


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
    found: dict[bytes, Mutant] = {}
    for mutant in _Deriver(data, tree).of_block(tree.body, TOP, None):
        mutated = data[: mutant.start] + mutant.text.encode() + data[mutant.end :]
        with suppress(SyntaxError, ValueError):
            if mutated not in found:
                compile(mutated, "mutant", "exec", dont_inherit=True)
                found[mutated] = mutant
    return list(found.values())


class _Deriver:
    """One source, and the mutants of its statements."""

    def __init__(self, data: bytes, tree: ast.Module) -> None:
        self.data = data
        lengths = (len(line) + 1 for line in data.split(b"\n"))
        self.starts = [0, *itertools.accumulate(lengths)]  # of lines, in bytes
        imports = (n for n in ast.walk(tree) if isinstance(n, ast.Import | ast.ImportFrom))
        # Names of imported modules: `np` in `np.sum(x)` is no operand.
        self.modules = {(a.asname or a.name).split(".")[0] for n in imports for a in n.names}

    def of_block(
        self, body: list[ast.stmt], scope: str, function: Function | None
    ) -> Iterator[Mutant]:
        for index, node in enumerate(body):
            if index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue  # documentation
            inner, owner = scope, function
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inner = node.name if scope == TOP else f"{scope}.{node.name}"
                owner = None if isinstance(node, ast.ClassDef) else node
            yield from self._of_statement(node, inner, function)
            for name in ("body", "orelse", "finalbody"):
                yield from self.of_block(getattr(node, name, []), inner, owner)
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                yield from self.of_block(part.body, inner, owner)

    def _of_statement(
        self, node: ast.stmt, scope: str, function: Function | None
    ) -> Iterator[Mutant]:
        """Every mutant of one statement, without the statements inside it."""
        start, end = self._span(node)
        elif_ = self.data[start : start + 4] == b"elif"
        was = _text(node, elif_=elif_)

        def mutant(rule: str, text: str, upto: int = end, becomes: str = "") -> Mutant:
            glued = upto != self._end(node) and self.data[upto - 1 : upto] != b"\n"
            # As many newlines as it replaces, so that lines keep their numbers.
            fill = "\n" * (self.data[start:upto].count(b"\n") - text.count("\n"))
            new = text + " " * glued + fill
            return Mutant(scope, node.lineno, rule, was, becomes or text, start, upto, new)

        if not isinstance(node, _UNCHANGED):
            for slot in slots(node):
                original = slot.holder[slot.key]
                for rule, changed in replacements(original, slot.role, self.modules):
                    slot.holder[slot.key] = changed
                    text = _text(node, elif_=elif_)
                    slot.holder[slot.key] = original
                    if text != was:
                        yield mutant(rule, text)
        for rule, new in rewritten(node, function):
            yield mutant(rule, ast.unparse(new))
        if can_go(node, function) and not elif_:
            yield mutant("dropped statement", "pass", self._end(node), "nothing")

    def _span(self, node: ast.stmt) -> tuple[int, int]:
        """Where a statement stands; of a compound one, its head up to the first statement in it."""
        start = self._at(node.lineno, node.col_offset)
        body: list[ast.stmt] = getattr(node, "body", [])
        if not body or isinstance(node, ast.Expr):
            return start, self._end(node)
        first = body[0]
        line = min([first.lineno, *(d.lineno for d in getattr(first, "decorator_list", ()))])
        begin = self._at(line, 0)
        inside = self._at(first.lineno, first.col_offset)
        alone = not self.data[begin:inside].strip() or line != first.lineno
        return start, begin if alone else inside

    def _end(self, node: ast.stmt) -> int:
        return self._at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        """The byte of a place as `ast` gives it."""
        return self.starts[line - 1] + column


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
