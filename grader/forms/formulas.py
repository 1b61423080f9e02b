"""Formulas: read by descent, token by token, and written as Python of a few safe forms.

    expression = term {("+" | "-") term}
    term       = unary {("*" | "/") unary}
    unary      = ["-" | "+"] (unary | power)
    power      = atom ["**" unary]
    atom       = number | symbol ["[" index {"," index} "]"] | ("exp" | "log") "(" expression ")"
               | "d" "(" index "," index ")" | "sum" "(" index "," expression ")"
               | "(" expression ")"

`d(i, j)` is 1 where i = j, else 0; `sum(k, ...)` runs over all entries, k being a new index.
Every number becomes a float, so that no power can take all memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from keyword import iskeyword

MOST_TOKENS = 400
DEEPEST = 30
LONGEST = 240  # characters of what is said about one formula
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|[-+*/()\[\],]))", re.ASCII
)  # fmt: skip
FUNCTIONS = ("exp", "log")
WORDS = {*FUNCTIONS, "sum", "d"}
TAKEN = {*WORDS, "float", "range", "np", "n_", "dtype", "return", "len"}  # in the program, for us


class FormulaError(ValueError):
    """What is no formula, and the place in it, from 0."""

    def __init__(self, sentence: str, at: int) -> None:
        """Note the place; a sentence that quotes something endless is cut in the middle."""
        cut = len(sentence) > LONGEST
        super().__init__(f"{sentence[:40]}...{sentence[-100:]}" if cut else sentence)
        self.at = at


def python(text: str, symbols: Sequence[str], indices: Sequence[str]) -> tuple[str, set[str]]:
    """The same as Python over arrays of one axis, and the words that it uses: exp, log, sum, d.

    Raises:
        FormulaError: it is no formula over these names.
    """
    reader = _Reader(text, symbols, indices)
    written = reader.expression(0)
    reader.end()
    return written, reader.used


class _Reader:
    def __init__(self, text: str, symbols: Sequence[str], indices: Sequence[str]) -> None:
        self.tokens = [*_tokens(text), ("end", "the end", len(text))]
        self.place = 0
        self.symbols, self.indices = list(symbols), list(indices)
        self.used: set[str] = set()

    def expression(self, depth: int) -> str:
        if depth > DEEPEST:
            raise FormulaError(f"is nested deeper than {DEEPEST}", self.tokens[self.place][2])
        found = self._term(depth)
        while (sign := self._take("+", "-")) is not None:
            found = f"({found} {sign} {self._term(depth)})"
        return found

    def end(self) -> None:
        kind, text, at = self.tokens[self.place]
        if kind != "end":
            raise FormulaError(f"did not expect {text} here", at)

    def _term(self, depth: int) -> str:
        found = self._unary(depth)
        while (sign := self._take("*", "/")) is not None:
            found = f"({found} {sign} {self._unary(depth)})"
        return found

    def _unary(self, depth: int) -> str:
        sign = self._take("-", "+")
        if sign is None:
            return self._power(depth)
        if depth > DEEPEST:
            raise FormulaError(f"is nested deeper than {DEEPEST}", self.tokens[self.place][2])
        return f"({sign}{self._unary(depth + 1)})"

    def _power(self, depth: int) -> str:
        found = self._atom(depth)
        if self._take("**") is None:
            return found
        return f"({found} ** {self._unary(depth + 1)})"

    def _atom(self, depth: int) -> str:
        kind, text, at = self._next("a number, a symbol or (")
        if kind == "number":
            value = float(text)
            if math.isinf(value):
                raise FormulaError("is too large a number", at)
            return repr(value)
        if text == "(":
            found = self.expression(depth + 1)
            self._need(")")
            return found
        if kind != "name":
            raise FormulaError(f"expected a number, a symbol or (, found {text}", at)
        if text in WORDS:
            self.used.add(text)
            return self._call(text, depth)
        if text in self.indices:
            raise FormulaError(f"{text} is an index: it stands in [ ] or in d( )", at)
        if text not in self.symbols:
            meant = "; the natural logarithm is log" if text == "ln" else ""
            raise FormulaError(
                f"{text} is not a symbol; use {', '.join([*self.symbols, *self.indices])}{meant}",
                at,
            )
        if self._take("[") is None:
            entry = f"{text}[{self._some()}]" if self.indices else f"sum(k, {text}[k])"
            raise FormulaError(f"{text} has entries: write {entry}", at)
        index = self._index()
        self._need("]")
        return f"float({text}[{index}])"

    def _call(self, word: str, depth: int) -> str:
        self._need("(")
        if word in FUNCTIONS:
            found = f"{word}({self.expression(depth + 1)})"
        elif word == "d":
            one = self._index()
            self._need(",")
            found = f"float({one} == {self._index()})"
        else:
            found = self._sum(depth)
        self._need(")")
        return found

    def _sum(self, depth: int) -> str:
        _, name, here = self._next("a new index")
        if name in {*self.symbols, *TAKEN} or not name.isidentifier() or iskeyword(name):
            raise FormulaError(f"sum needs a new index first, as sum(k, ...), found {name}", here)
        if name in self.indices:
            raise FormulaError(f"{name} is an index already: sum needs a new one", here)
        self._need(",")
        self.indices.append(name)
        found = self.expression(depth + 1)
        self.indices.remove(name)
        return f"sum([{found} for {name} in range(n_)])"

    def _index(self) -> str:
        kind, text, at = self._next("an index")
        if text in self.indices:
            return text
        if kind == "number" and text.isdigit() and len(text) < 10:
            return str(int(text))
        raise FormulaError(f"{text} is no index; use {self._some()}", at)

    def _some(self) -> str:
        return " or ".join(self.indices) or "k, with sum(k, ...)"

    def _next(self, wanted: str) -> tuple[str, str, int]:
        kind, text, at = self.tokens[self.place]
        if kind == "end":
            raise FormulaError(f"expected {wanted} at the end", at)
        self.place += 1
        return kind, text, at

    def _take(self, *signs: str) -> str | None:
        text = self.tokens[self.place][1]
        if text not in signs:
            return None
        self.place += 1
        return text

    def _need(self, sign: str) -> None:
        if self._take(sign) is None:
            _, found, at = self.tokens[self.place]
            raise FormulaError(f"expected {sign}, found {found}", at)


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found: list[tuple[str, str, int]] = []
    at = 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            place = at + len(text[at:]) - len(text[at:].lstrip())
            meant = "; a power is **" if text[place] == "^" else ""
            raise FormulaError(f"{text[place]!r} is not part of the notation{meant}", place)
        kind = token.lastgroup or ""
        found.append((kind, token[kind], token.start(kind)))
        at = token.end()
        if len(found) > MOST_TOKENS:
            raise FormulaError(f"has more than {MOST_TOKENS} symbols", at)
    return found
