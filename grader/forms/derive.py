"""Form `derive`: formulas line by line, each evaluated on every case.

A formula is parsed by recursive descent and translated to Python of a few safe forms:

    expression = term {("+" | "-") term}        term  = unary {("*" | "/") unary}
    unary      = ("-" | "+") unary | atom ["**" unary]
    atom       = number | symbol "[" index "]" | "(" expression ")" | ("exp" | "log") "("
                 expression ")" | "d" "(" index "," index ")" | "sum" "(" index "," expression ")"

`d(i, j)` is 1 if i = j, else 0.  `sum(k, ...)` runs over all entries; k is a new index.
Every number becomes a float, because a power of whole numbers could fill the memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from keyword import iskeyword
from typing import NamedTuple, NoReturn

from grader.forms.base import (
    Form,
    UnreadableAnswer,
    UnreadLines,
    WrittenAnswer,
    answer_template,
    raise_or_collect,
    read_answers,
)
from grader.model.errors import SpecErrors
from grader.model.question import Question
from grader.model.spec import Answer, Spec

MAX_TOKENS = 400
MAX_NESTING = 30
MAX_INDEX_DIGITS = 9
FUNCTIONS = ("exp", "log")
WORDS = {*FUNCTIONS, "sum", "d"}
RESERVED_NAMES = {*WORDS, "float", "range", "np", "n_", "dtype", "len", "repr", "found_"}
_TOKEN = re.compile(
    r"(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>\*\*|[-+*/()\[\],^\u00d7\u00b7\u2212])|(?P<other>\S)", re.ASCII
)  # fmt: skip
_SYNONYMS = {"^": "**", "\u00d7": "*", "\u00b7": "*", "\u2212": "-", "ln": "log"}
_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2}

# The Python expression of an answer; the position is its number of indices.
_ARRAYS = (
    "{formula}",
    "np.array([{formula} for {i} in range(n_)], dtype=float)",
    "np.array([[{formula} for {j} in range(n_)] for {i} in range(n_)], dtype=float)",
)
_BODY = (
    "import numpy as np; from math import exp, log; n_ = len({first}); found_ = {array}; "
    "{tests}return found_"
)
# The test of a required word adds 0.37 to its value.  If the result does not change, the formula
# does not need the word.
_WORD_VALUE = "(-0.0 + {word}("
_MOVED_VALUE = "(0.37 + {word}("
_TEST = "assert repr(found_) != repr({moved}), {message!r}; "


class DeriveForm(Form):
    """Formulas, one a line: `dp_dz[i,j] = p[i] * (d(i, j) - p[j])`.

    Each becomes a function of its symbols, here p: the inputs that its step in the run passes.
    The key `over` of an answer lists its indices, here i and j.
    """

    def starter(self, spec: Spec) -> bytes:
        """Return a file with the notation as a comment, and each formula as `dp_dz[i,j] = ?`."""
        rule = "A formula: numbers, p[i], + - * / **, exp( ), log( ), sum(k, ...), d(i, j)."
        answers = {line_name(name, answer.over): answer for name, answer in spec.answers.items()}
        return answer_template(answers, [rule])

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """Return functions that compute the formulas, each in the line where its formula stands."""
        answers = question.spec.answers
        line_names = {name: line_name(name, answer.over) for name, answer in answers.items()}
        written = read_answers(text, list(line_names.values()), unread=unread, literal=literal)
        lines = [""] * max((formula.line for formula in written.values()), default=0)
        faults: list[UnreadableAnswer] = []
        for name, answer in answers.items():
            formula = written.get(line_names[name])
            if formula is None:
                continue
            symbols = _symbols(question, name)
            with formula.collect_errors(faults=faults):
                body = _function_body(formula, line_names[name], answer, symbols)
                lines[formula.line - 1] = f"def {name}({', '.join(symbols)}): {body}"
        raise_or_collect(faults, unread)
        return "\n".join([*lines, ""]).encode()

    def answers_for_function(self, function: str, question: Question) -> list[str]:
        """Return the name of the line that defines a function, as `dp_dz[i,j]` (always one)."""
        answer = question.spec.answers.get(function)
        return [line_name(function, answer.over) if answer else function]

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield answers with a unit, too many or equal indices, or a name that cannot be used."""
        yield from super().spec_errors(spec)
        for name, answer in spec.answers.items():
            expected = []
            if len(answer.over) > 2 or len(set(answer.over)) < len(answer.over):
                expected.append("at most two indices, each once, in over")
            if answer.unit != "1":
                expected.append(f"no unit in a formula, found {answer.unit}")
            if not name.isidentifier():
                expected.append("a name; indices stand in over")
            for word in (name, *answer.over):
                if _is_reserved(word):
                    expected.append(f"another name than {word}")
            for text in expected:
                yield ("answers", name), f"expected {text}"


def line_name(name: str, over: list[str]) -> str:
    """Return the name of an answer as the file has it: `dp_dz[i,j]`, or `loss` without indices."""
    return f"{name}[{','.join(over)}]" if over else name


def _function_body(
    formula: WrittenAnswer, line_name: str, answer: Answer, symbols: list[str]
) -> str:
    """Return the body of the function that computes a formula.

    Symbols are arrays of one axis, and indices run over the length of the first symbol.  The body
    asserts that each word of `must_use` makes a difference to the result.

    Raises:
        UnreadableAnswer: it is not a formula, lacks a word of `must_use`, or has a forbidden one.
    """
    expression, words = to_python(formula.value, symbols, answer.over)
    for word in answer.must_use:
        if word not in words:
            raise UnreadableAnswer(f"{line_name} is to be written with {word}")
    for word in answer.may_not_use:
        if word in words:
            raise UnreadableAnswer(f"{line_name} is to be written without {word}")
    indices = dict(zip("ij", answer.over, strict=False))
    array = _ARRAYS[len(answer.over)].format(formula=expression, **indices)
    tests = ""
    for word in answer.must_use:
        function = "float" if word == "d" else word
        value = _WORD_VALUE.format(word=function)
        moved = array.replace(value, _MOVED_VALUE.format(word=function))
        message = f"{line_name} is to be written with {word}, and here {word} can be left out"
        tests += _TEST.format(moved=moved, message=message)
    return _BODY.format(first=symbols[0], array=array, tests=tests)


def _symbols(question: Question, function: str) -> list[str]:
    """Return the names that a step passes to a function: [z, y] for `dz = dl_dz(z, y)`.

    The first step that calls the function counts; if no step does, the result is ["_"].
    """
    for steps in question.runs.values():
        for step in steps:
            if step.owner == "submission" and step.function == function:
                return list(step.names_read)
    return ["_"]


# -- formulas -------------------------------------------------------------------------------------


def to_python(text: str, symbols: Sequence[str], indices: Sequence[str]) -> tuple[str, set[str]]:
    """Translate a formula to Python, where each symbol is an array of one axis.

    The second result is the set of words that the formula uses, of exp, log, sum and d.

    Raises:
        UnreadableAnswer: it is not a formula over these names; the column counts from 0.
    """
    parser = _FormulaParser(text, symbols, indices)
    python = parser.expression(0)
    if parser.token.kind != "end":
        parser.refuse(f"did not expect {parser.token.text} here")
    return python, parser.words


class _FormulaToken(NamedTuple):
    kind: str  # "number", "name", "sign" or "end"
    text: str
    column: int


class _FormulaParser:
    """Recursive-descent parser: each method reads a rule of the grammar and returns Python."""

    def __init__(self, text: str, symbols: Sequence[str], indices: Sequence[str]) -> None:
        self.tokens = _tokenize(text)
        self.token = next(self.tokens)  # the token to read next
        self.symbols = list(symbols)
        self.indices = list(indices)
        self.words: set[str] = set()

    def take(self) -> str:
        """Read the next token and return its text."""
        text = self.token.text
        self.token = next(self.tokens, self.token)
        return text

    def expect(self, sign: str) -> None:
        """Read the given sign, or refuse the formula if another token comes."""
        if self.token.text != sign:
            self.refuse(f"expected {sign}, found {self.token.text}")
        self.take()

    def refuse(self, sentence: str) -> NoReturn:
        """Raise an `UnreadableAnswer` with the column of the next token."""
        raise UnreadableAnswer(sentence, column=self.token.column)

    def expression(self, depth: int, min_precedence: int = 1) -> str:
        """Read operands joined by + - * /; stop at an operator below `min_precedence`."""
        python = self.unary(depth)
        while (precedence := _PRECEDENCE.get(self.token.text, 0)) >= min_precedence:
            python = f"({python} {self.take()} {self.expression(depth, precedence + 1)})"
        return python

    def unary(self, depth: int) -> str:
        """Read a factor with its sign and power, as `-p[i]**2`."""
        if depth > MAX_NESTING:
            self.refuse(f"is nested deeper than {MAX_NESTING}")
        if self.token.text in {"-", "+"}:
            return f"({self.take()}{self.unary(depth + 1)})"
        python = self.atom(depth)
        if self.token.text != "**":
            return python
        return f"({python} {self.take()} {self.unary(depth + 1)})"

    def atom(self, depth: int) -> str:
        """Read one operand: `2.5`, `p[i]`, `exp(...)` or `(...)`."""
        if self.token.kind == "number":
            if math.isinf(float(self.token.text)):
                self.refuse("is too large a number")
            return repr(float(self.take()))
        if self.token.text == "(":
            self.take()
            python = self.expression(depth + 1)
            self.expect(")")
            return python
        if self.token.kind != "name":
            self.refuse(f"expected a number, a symbol or (, found {self.token.text}")
        if self.token.text in WORDS:
            return self.call(depth)
        return self.entry()

    def entry(self) -> str:
        """Read a symbol with its index, as `p[i]`."""
        if self.token.text in self.indices:
            self.refuse(f"{self.token.text} is an index: it stands in [ ] or in d( )")
        if self.token.text not in self.symbols:
            names = ", ".join([*self.symbols, *self.indices])
            self.refuse(f"{self.token.text} is not a symbol; use {names}")
        column = self.token.column
        symbol = self.take()
        if self.token.text != "[":
            entry = f"sum(k, {symbol}[k])"
            if self.indices:
                entry = f"{symbol}[{self.index_choices()}]"
            raise UnreadableAnswer(f"{symbol} has entries: write {entry}", column=column)
        self.take()
        index = self.index()
        self.expect("]")
        return f"float({symbol}[{index}])"

    def call(self, depth: int) -> str:
        """Read `exp(...)`, `log(...)`, `d(i, j)` or `sum(k, ...)`, and note the word as used."""
        word = self.take()
        self.words.add(word)
        self.expect("(")
        if word in FUNCTIONS:
            python = f"{word}({self.expression(depth + 1)})"
        elif word == "d":
            first = self.index()
            self.expect(",")
            python = f"float({first} == {self.index()})"
        else:
            python = self.sum(depth)
        self.expect(")")
        return f"(-0.0 + {python})"

    def sum(self, depth: int) -> str:
        """Read `k, ...` of `sum(k, ...)`; k is an index only within it."""
        index = self.token.text
        if self.token.kind != "name" or index in self.symbols or _is_reserved(index):
            self.refuse(f"sum needs a new index first, as sum(k, ...), found {index}")
        if index in self.indices:
            self.refuse(f"{index} is an index already: sum needs a new one")
        self.take()
        self.indices.append(index)
        self.expect(",")
        python = self.expression(depth + 1)
        self.indices.remove(index)
        return f"sum([{python} for {index} in range(n_)])"

    def index(self) -> str:
        """Read an index: a name such as i, or a whole number."""
        text = self.token.text
        if text in self.indices:
            return self.take()
        if self.token.kind == "number" and text.isdigit() and len(text) <= MAX_INDEX_DIGITS:
            return str(int(self.take()))
        return self.refuse(f"{text} is no index; use {self.index_choices()}")

    def index_choices(self) -> str:
        """Return the indices that may be used here, for messages, as "i or j"."""
        return " or ".join(self.indices) or "k, with sum(k, ...)"


def _is_reserved(name: str) -> bool:
    """Return True if a name cannot be a symbol or index: the program or Python uses it already."""
    return name in RESERVED_NAMES or iskeyword(name) or name.startswith("__")


def _tokenize(text: str) -> Iterator[_FormulaToken]:
    """Return the tokens of a formula, then one for its end; refuse a character without meaning."""
    tokens: list[_FormulaToken] = []
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        token = _FormulaToken(kind, _SYNONYMS.get(match[0], match[0]), match.start())
        if kind == "other":
            raise UnreadableAnswer(
                f"{token.text!r} is not part of the notation", column=token.column
            )
        tokens.append(token)
        if len(tokens) > MAX_TOKENS:
            raise UnreadableAnswer(f"has more than {MAX_TOKENS} symbols", column=match.end())
    return iter([*tokens, _FormulaToken("end", "the end", len(text))])
