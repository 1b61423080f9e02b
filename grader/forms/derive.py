"""Form `derive`: formulas line by line, each evaluated on every case.

They are read by descent, token by token, and written as Python of a few safe forms:

    expression = term {("+" | "-") term}        term  = unary {("*" | "/") unary}
    unary      = ("-" | "+") unary | atom ["**" unary]
    atom       = number | symbol "[" index "]" | "(" expression ")" | ("exp" | "log") "("
                 expression ")" | "d" "(" index "," index ")" | "sum" "(" index "," expression ")"

`d(i, j)` is 1 where i = j, else 0; `sum(k, ...)` runs over all entries, k being a new index.
Every number becomes a float, so that no power can take all memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from typing import NoReturn

from grader.forms.base import (
    Form,
    UnreadableAnswer,
    UnreadLines,
    WrittenAnswer,
    answer_template,
    raise_or_collect,
    read_answers,
)
from grader.model.question import Question
from grader.model.spec import Answer, KeyPath, Spec

MAX_TOKENS = 400
MAX_NESTING = 30
FUNCTIONS = ("exp", "log")
WORDS = {*FUNCTIONS, "sum", "d"}
# In the program, for us; __debug__ is a name that Python lets nobody use.
RESERVED_NAMES = {
    *WORDS,
    "float",
    "range",
    "np",
    "n_",
    "dtype",
    "len",
    "repr",
    "found_",
    "__debug__",
}
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|[-+*/()\[\],^\u00d7\u00b7\u2212]))", re.ASCII
)  # fmt: skip
_SIGNS = {"^": "**", "\u00d7": "*", "\u00b7": "*", "\u2212": "-", "ln": "log"}
_BINDS = {"+": 1, "-": 1, "*": 2, "/": 2}
_ARRAYS = (  # by number of indices
    "{formula}",
    "np.array([{formula} for {i} in range(n_)], dtype=float)",
    "np.array([[{formula} for {j} in range(n_)] for {i} in range(n_)], dtype=float)",
)
_BODY = (
    "import numpy as np; from math import exp, log; n_ = len({first}); found_ = {array}; "
    "{tests}return found_"
)
# What a word gives can be moved: a formula that stays the same does not need the word.
_PLACE, _MOVED = "(-0.0 + {word}(", "(0.37 + {word}("
_TEST = "assert repr(found_) != repr({moved}), {why!r}; "


class DeriveForm(Form):
    """Each answer is a function of the symbols that its step passes; `over` are its indices."""

    def starter(self, spec: Spec) -> bytes:
        """Every line open."""
        rule = "A formula: numbers, p[i], + - * / **, exp( ), log( ), sum(k, ...), d(i, j)."
        return answer_template({line_name(n, a.over): a for n, a in spec.answers.items()}, [rule])

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """Functions that compute what was written, each in the line in which it was."""
        asked = question.spec.answers
        marks = [line_name(n, one.over) for n, one in asked.items()]
        given = read_answers(text, marks, unread=unread, literal=literal)
        faults: list[UnreadableAnswer] = []
        lines = [""] * max((one.line for one in given.values()), default=0)
        for name, one in asked.items():
            symbols, mark = _symbols(question, name), line_name(name, one.over)
            if (answer := given.get(mark)) is None:
                continue
            with answer.collect_errors(faults=faults):
                body = _body(answer, mark, one, symbols)
                lines[answer.line - 1] = f"def {name}({', '.join(symbols)}): {body}"
        raise_or_collect(faults, unread)
        return "\n".join([*lines, ""]).encode()

    def answers_for_function(self, function: str, question: Question) -> list[str]:
        """Its line."""
        one = question.spec.answers.get(function)
        return [function if one is None else line_name(function, one.over)]

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """Lines with more indices than two, or a unit."""
        yield from super().spec_errors(spec)
        for name, one in spec.answers.items():
            wrong = []
            if len(one.over) > 2 or len(set(one.over)) < len(one.over):
                wrong.append("at most two indices, each once, in over")
            if one.unit != "1":
                wrong.append(f"no unit in a formula, found {one.unit}")
            if not name.isidentifier():
                wrong.append("a name; indices stand in over")
            taken = [
                word for word in (name, *one.over) if word in RESERVED_NAMES or _is_pythons(word)
            ]
            wrong += [f"another name than {word}" for word in taken]
            yield from ((("answers", name), f"expected {text}") for text in wrong)


def line_name(name: str, over: list[str]) -> str:
    """What a line is called in the file: `dp_dz[i,j]`."""
    return f"{name}[{','.join(over)}]" if over else name


def _body(answer: WrittenAnswer, mark: str, asked: Answer, symbols: list[str]) -> str:
    """What a function does that computes an answer."""
    formula, used = to_python(answer.value, symbols, asked.over)
    for words, how in ((asked.must_use, "with"), (asked.may_not_use, "without")):
        for word in words:
            if (word in used) != (how == "with"):
                raise UnreadableAnswer(f"{mark} is to be written {how} {word}")
    indices = dict(zip("ij", asked.over, strict=False))
    array, tests = _ARRAYS[len(asked.over)].format(formula=formula, **indices), ""
    for word in asked.must_use:
        called = "float" if word == "d" else word
        moved = array.replace(_PLACE.format(word=called), _MOVED.format(word=called))
        why = f"{mark} is to be written with {word}, and here {word} can be left out"
        tests += _TEST.format(moved=moved, why=why)
    return _BODY.format(first=symbols[0], array=array, tests=tests)


def _symbols(question: Question, name: str) -> list[str]:
    """What the step of an answer passes."""
    steps = (step for steps in question.runs.values() for step in steps)
    own = (step for step in steps if step.owner == "submission" and step.function == name)
    return next(([read for part in s.arguments for read in part.names_read] for s in own), ["_"])


# -- formulas -------------------------------------------------------------------------------------


def to_python(text: str, symbols: Sequence[str], indices: Sequence[str]) -> tuple[str, set[str]]:
    """The same as Python over arrays of one axis, and the words that it uses: exp, log, sum, d.

    Raises:
        Unreadable: it is no formula over these names; its column counts from 0.
    """
    reader = _FormulaParser(text, symbols, indices)
    written = reader.expression(0)
    if reader.kind != "end":
        reader.refuse(f"did not expect {reader.sign} here")
    return written, reader.used


class _FormulaParser:
    def __init__(self, text: str, symbols: Sequence[str], indices: Sequence[str]) -> None:
        self.tokens = iter([*_tokens(text), ("end", "the end", len(text))])
        self.kind, self.sign, self.at = next(self.tokens)  # of the token to read
        self.symbols, self.indices = list(symbols), list(indices)
        self.used: set[str] = set()

    def _next(self) -> str:
        sign = self.sign
        self.kind, self.sign, self.at = next(self.tokens, ("end", "the end", self.at))
        return sign

    def need(self, sign: str) -> None:
        if self.sign != sign:
            self.refuse(f"expected {sign}, found {self.sign}")
        self._next()

    def refuse(self, sentence: str) -> NoReturn:
        raise UnreadableAnswer(sentence, column=self.at)

    def expression(self, depth: int, least: int = 1) -> str:
        found = self._unary(depth)
        while (binds := _BINDS.get(self.sign, 0)) >= least:
            found = f"({found} {self._next()} {self.expression(depth, binds + 1)})"
        return found

    def _unary(self, depth: int) -> str:
        if depth > MAX_NESTING:
            self.refuse(f"is nested deeper than {MAX_NESTING}")
        if self.sign in {"-", "+"}:
            return f"({self._next()}{self._unary(depth + 1)})"
        found = self._atom(depth)
        if self.sign != "**":
            return found
        return f"({found} {self._next()} {self._unary(depth + 1)})"

    def _atom(self, depth: int) -> str:
        if self.kind == "number":
            if math.isinf(float(self.sign)):
                self.refuse("is too large a number")
            return repr(float(self._next()))
        if self.sign == "(":
            self._next()
            found = self.expression(depth + 1)
            self.need(")")
            return found
        if self.kind != "name":
            self.refuse(f"expected a number, a symbol or (, found {self.sign}")
        if self.sign in WORDS:
            return self._call(depth)
        if self.sign in self.indices:
            self.refuse(f"{self.sign} is an index: it stands in [ ] or in d( )")
        if self.sign not in self.symbols:
            known = ", ".join([*self.symbols, *self.indices])
            self.refuse(f"{self.sign} is not a symbol; use {known}")
        at, symbol = self.at, self._next()
        if self.sign != "[":
            entry = f"{symbol}[{self._some()}]" if self.indices else f"sum(k, {symbol}[k])"
            raise UnreadableAnswer(f"{symbol} has entries: write {entry}", column=at)
        self._next()
        index = self._index()
        self.need("]")
        return f"float({symbol}[{index}])"

    def _call(self, depth: int) -> str:
        word = self._next()
        self.used.add(word)
        self.need("(")
        if word in FUNCTIONS:
            found = f"{word}({self.expression(depth + 1)})"
        elif word == "d":
            one = self._index()
            self.need(",")
            found = f"float({one} == {self._index()})"
        else:
            found = self._sum(depth)
        self.need(")")
        return f"(-0.0 + {found})"

    def _sum(self, depth: int) -> str:
        taken = self.sign in {*self.symbols, *RESERVED_NAMES} or _is_pythons(self.sign)
        if self.kind != "name" or taken:
            self.refuse(f"sum needs a new index first, as sum(k, ...), found {self.sign}")
        if self.sign in self.indices:
            self.refuse(f"{self.sign} is an index already: sum needs a new one")
        self.indices.append(name := self._next())
        self.need(",")
        found = self.expression(depth + 1)
        self.indices.remove(name)
        return f"sum([{found} for {name} in range(n_)])"

    def _index(self) -> str:
        if self.sign in self.indices:
            return self._next()
        if self.kind == "number" and self.sign.isdigit() and len(self.sign) < 10:
            return str(int(self._next()))
        return self.refuse(f"{self.sign} is no index; use {self._some()}")

    def _some(self) -> str:
        return " or ".join(self.indices) or "k, with sum(k, ...)"


def _is_pythons(name: str) -> bool:
    """Whether Python does not let a name be assigned: a keyword, or `__debug__`."""
    return iskeyword(name) or name.startswith("__")


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """The sort, the text and the place of each."""
    found: list[tuple[str, str, int]] = []
    at = 0
    while text[at:].strip():
        token = _TOKEN.match(text, at)
        if token is None:
            place = at + len(text[at:]) - len(text[at:].lstrip())
            raise UnreadableAnswer(f"{text[place]!r} is not part of the notation", column=place)
        kind = token.lastgroup or ""
        sign = _SIGNS.get(token[kind], token[kind])
        found.append((kind, sign, token.start(kind)))
        at = token.end()
        if len(found) > MAX_TOKENS:
            raise UnreadableAnswer(f"has more than {MAX_TOKENS} symbols", column=at)
    return found
