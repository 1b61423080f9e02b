"""Parse the quantity of an answer: `14 GB`, `about 37 users`, `8192 * 131072 B = 1.07 GB`.

An answer is an equation of amounts.  The last amount counts:

    answer  = amount {"=" amount}
    amount  = sum [unit]                       a single unit at the end is that of the whole sum
    sum     = product {("+" | "-") product}
    product = factor {("*" | "/") factor}
    factor  = ("+" | "-") factor | (number | "(" sum ")") {unit | "**" factor}

The text is data: it is read token by token and never run.  Every number is a float: no power can
take all memory.  docs/forms.md has the rules.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from grader.forms.base import UnreadableAnswer
from grader.forms.units import (
    BIT_UNIT,
    COUNTED_NOUNS,
    DIMENSION_SCALES,
    PHYSICAL_SCALES,
    PHYSICAL_UNITS,
    UNITS,
    UNITS_BY_NAME,
    Unit,
    find_unit,
)

MAX_ANSWER_LETTERS = 300
EQUATION_TOLERANCE = 0.01  # relative; the sides of an equation may also differ in the last digit

_MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "thousand": 1e3,
              "million": 1e6, "billion": 1e9, "trillion": 1e12}  # fmt: skip
_PRECEDENCE = {"unit of sum": 0, "+": 1, "-": 1, "*": 2, "/": 2, "unit": 3, "**": 4}
_SIGN_PRECEDENCE = 3  # -2**2 is -4
_OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}

# Characters that mean the same in an answer.
_SAME = str.maketrans(
    "\u00a0\u2007\u2009\u202f`\u00d7\u00b7\u22c5\u2219\u2212\u00f7\u2019\u03bc",
    "     ****-/'\u00b5",
)
_RAISED = str.maketrans(
    "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b\u207a", "0123456789-+"
)
_TOKEN = re.compile(
    r"""(?P<number>(?:
      [1-9]\d{0,2}(?P<by>[,'_\ ])\d{3}(?:(?P=by)\d{3})*(?!\d)    # 1,234,567.8 and 1 234 567,8
        (?:\.\d*|(?<!,\d{3}),\d+(?![,\d]))?
    | (?:\d+,(?:\d{1,2}|\d{4,})|(?:0|\d{4,}),\d+)(?![,\d])       # 1,07
    | \d[\d_]*(?:\.\d*)? | \.\d+
    )(?:[eE][+-]?\d{1,3})?)
    | (?P<raised>[\u207a\u207b]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+)
    | (?P<sign>\*\*|[-+*/()^]|(?<!\b0)[xX](?=\s*[\d(.]))""",
    re.ASCII | re.VERBOSE,
)
_SIGNS = {"^": "**", "x": "*", "X": "*"}
_COMMAS = re.compile(r"\d+(?:,\d+)+", re.ASCII)
_WORD = r"[A-Za-z\u00b5]+(?:_[A-Za-z]+)*"
_UNIT = re.compile(rf"(?:%|{_WORD})(?:(?:\s*/\s*|\s+per\s+){_WORD})*")
_PER = re.compile(r"\s*/\s*|\s+per\s+")
_MULTIPLE = re.compile(r"\s*([A-Za-z]+?)(s?)(?![\w/])")
_REMARK = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)?")
_ARITHMETIC = re.compile(r"[\d\s.,*x^+/()-]*\d[\d\s.,*x^+/()-]*")  # in a remark
_ABOUT = re.compile(r"\b(?:about|approx(?:imately|\.)?|roughly|around|ca\.?|circa)(?!\w)", re.I)
_LEADING_DASH = re.compile(r"^(\s*)\u2013")
_EQUALS = re.compile(
    r"(?<![<>!])(?::?=+>?|[-~]>|[\u2192\u21d2]|[~\u2248\u223c]=?)(?:\s*[~\u2248\u223c])*"
)
_PRODUCT = re.compile(r"[*/xX]\s*[\d.(]")
_RANGE = re.compile(
    r"\s*\d[\d.,]*(?:\s*(?:[\u2013\u2014]|\.\.+|to\b|or\b)\s*|-)\d[\d.,]*(?![\d.,]|\s*[-+*/^(x])"
)
_LITERAL = re.compile(
    r"(?:[-+*/()^\u00d7\u2212\s]|(?<!\d\s)[\d._]|(?<!\b0),(?=\d{3}(?!\d))|(?<=\d)[eE](?=[-+\d]))*"
    rf"(?:{'|'.join(UNITS_BY_NAME)}|bytes?|sec|seconds|[\u00b5\u03bc]s)?\s*"
)
_REMARK_WORDS = {"of", "the", "in", "all", "total", "each", "a", "an", "per", "only", "exactly",
                 "rounded", "up", "down"}  # fmt: skip
_MAYBE_UNIT = re.compile(  # words that are not taken for nouns
    r"\w|or|[kmgtp]i?bs?|.*(?:bits?|bps)|(?:day|week|month|year)s?", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class RequestedQuantity:
    """The quantity that a question asks for, and how freely it may be written."""

    expected_form: str = ""  # beginning of the message if the answer is not a number
    unit: str = "1"  # base unit
    about: str = ""  # name and question: their nouns may follow a number
    is_literal: bool = False  # refuse remarks, nouns and equations
    any_noun: bool = False  # let any noun follow a number, and take counts for pure numbers

    def is_noun(self, word: str) -> bool:
        """Return True if a word behind a number may be ignored.

        Nouns of the question may, and remarks such as "each".  With `any_noun`, so may any word
        that does not look like a unit.
        """
        unit = find_unit(word)
        nouns = (_stem(noun) for noun in re.findall("[a-z]+", self.about.lower()))
        if word in _REMARK_WORDS or _stem(word.lower()) in nouns:
            return unit is None or unit.base not in PHYSICAL_UNITS
        return self.any_noun and unit is None and not _MAYBE_UNIT.fullmatch(word)

    def asks_for_unit(self, word: str) -> bool:
        """Return True if the question asks for an answer in a unit, such as "in percent"."""
        return bool(re.search(rf"\bin {re.escape(word)}(?!\w)", self.about))

    def find_unit(self, words: str) -> Unit | None:
        """Return the unit that words spell, or None if they do not.

        Nouns at the end are left out, as in `96 KiB per token`.  If only nouns are written, as in
        `32 layers`, the base unit is "".
        """
        if self.unit == "1" and self.asks_for_unit(words):
            return Unit(1.0, "1")
        parts = _PER.split(words)
        if self.unit == "FLOP/s" and words.endswith(("flops", "FLOPs")):
            parts.append("s")
        while parts:
            unit = find_unit("/".join(parts))
            is_right = unit is not None and unit.base == self.unit
            if is_right or not self.is_noun(parts[-1]):
                return unit
            parts.pop()
        return Unit(1.0, "")

    def multiplier(self, word: str) -> float:
        """Return the factor of k, M or billion; 0 if the word is none of these.

        If the question asks for an answer "in billions", `billion` has the factor 1.  B is a
        billion if the question asks for a pure number or a count; otherwise it is bytes.
        """
        if word == "B" and self.unit not in {"1", *COUNTED_NOUNS}:
            return 0.0  # bytes
        if self.asks_for_unit(f"{word}s"):
            return 1.0
        return _MULTIPLES.get(word, 0.0)


class ParsedQuantity(NamedTuple):
    """The value of an amount in its base unit, and how exactly it was written."""

    value: float
    unit: str  # base unit; "" if no unit is written
    size: float  # factor of the unit at the end of the amount; 1 without such a unit
    digit: float  # value of one unit in the last digit; 0 for the result of arithmetic


class _Token(NamedTuple):
    """A number, a sign, or a unit."""

    kind: str  # "number", "unit", "unit of sum", "end" or the sign
    column: int
    value: float = 0.0  # of a unit: its factor
    base: str = ""  # of a unit: its base unit; "" for a multiple such as k
    digit: float = 0.0  # of a number: value of one unit in its last digit


def parse_quantity(text: str, unit: str, about: str = "", *, literal: bool = False) -> float:
    """Return a quantity in its base unit, as 1.12e11 for `112 GB`, `112e9` or `2 * 56 GB`.

    Raises:
        UnreadableAnswer: it is not a quantity; the sentence says how to write one.
    """
    names = UNITS[unit].factors
    expected = "expected a number"
    if "" not in names:
        expected += f", as 1.5 {next(iter(names))}"
    value = read_quantity(text, RequestedQuantity(expected, unit, about, literal)).value
    if value < 0:
        raise UnreadableAnswer("a quantity is a finite number, 0 or more")
    return value


def parse_fraction(text: str, unit: str = "1", about: str = "", *, literal: bool = False) -> float:
    """Return the value of a decimal, a fraction or other arithmetic: -0.5 for `-1/2`.

    Raises:
        UnreadableAnswer: it is not such a number.
    """
    expected = "needs a number such as 0.25, -3 or 2/3"
    return read_quantity(text, RequestedQuantity(expected, unit, about, literal)).value


def read_quantity(text: str, requested: RequestedQuantity) -> ParsedQuantity:
    """Return the last amount of an answer, if all sides of its equation agree.

    Raises:
        UnreadableAnswer: it is not a number, or more than one; the column counts from 0.
    """
    too_long = len(text) > MAX_ANSWER_LETTERS
    if too_long or (requested.is_literal and not _LITERAL.fullmatch(text)):
        raise UnreadableAnswer(f"{requested.expected_form}, found {text.strip()[:40]!r:.60}")
    text = _LEADING_DASH.sub(r"\1-", text.translate(_SAME))
    text = _ABOUT.sub(lambda word: " " * len(word[0]), text)  # columns stay the same
    *other_sides, answer = _sides(text, requested)
    for side in other_sides:
        if not _agrees_with_answer(side, answer):
            equation = " ".join(text.split())
            raise UnreadableAnswer(
                f"two numbers in {equation:.60} are not equal; write one of them"
            )
    return answer


def _sides(text: str, requested: RequestedQuantity) -> list[ParsedQuantity]:
    """Return the amount of each side of an equation, from left to right."""
    sides = []
    start = 0
    for equals in _EQUALS.finditer(text):
        if text[: equals.start()].strip():
            side = text[start : equals.start()]
            any_noun = bool(_PRODUCT.search(side))
            sides.append(_parse_amount(" " * start + side, replace(requested, any_noun=any_noun)))
        start = equals.end()
    sides.append(_parse_amount(" " * start + text[start:], requested))
    return sides


def _agrees_with_answer(side: ParsedQuantity, answer: ParsedQuantity) -> bool:
    """Return True if a side equals the answer; in `112 = 112 GB` the first 112 means GB, too."""
    if _agree(side, answer):
        return True
    return not side.unit and _agree(side._replace(value=side.value * answer.size), answer)


def _agree(first: ParsedQuantity, second: ParsedQuantity) -> bool:
    """Return True if two numbers differ by less than 1 %, or one unit in a last digit of either."""
    larger = max(abs(first.value), abs(second.value))
    tolerance = min(max(first.digit, second.digit, EQUATION_TOLERANCE * larger), larger / 2)
    difference = abs(first.value - second.value)
    return difference == 0 or difference < tolerance * (1 - 1e-9)


def _parse_amount(text: str, requested: RequestedQuantity) -> ParsedQuantity:
    """Return the value of arithmetic such as `2 * 56 GB`, if its units make the requested one."""
    if numbers := _RANGE.match(text):
        raise UnreadableAnswer(
            f"{numbers[0].strip():.40} may be two numbers; write one, and a minus between spaces"
        )
    tokens = _tokenize(text, requested)
    end = tokens[-1].column
    units = [token for token in tokens if token.base]
    size = 1.0
    if len(units) == 1 and tokens[-2] is units[0]:  # 2 * 3 / 4 GB
        size = units[0].value
        tokens[-2] = units[0]._replace(kind="unit of sum")
    scales = PHYSICAL_SCALES if requested.any_noun else DIMENSION_SCALES
    try:
        value = _calculate(text, tokens, requested.expected_form, {})
        scaled = _calculate(text, tokens, requested.expected_form, scales)
        scaled_answer = value * scales[requested.unit]
    except (ArithmeticError, TypeError, ValueError):  # TypeError: a root of a negative number
        raise UnreadableAnswer(f"{text.strip()[:40]} is no number") from None
    if rest := text[end:].strip(" .,;"):
        raise _wrong_unit(rest, requested, end)
    is_pure = requested.any_noun and math.isclose(scaled, value, rel_tol=1e-12)
    if units and not is_pure and not math.isclose(scaled, scaled_answer, rel_tol=1e-12):
        if len(units) == 1:
            column = units[0].column
            raise _wrong_unit(text[column:end].strip(), requested, column)
        raise UnreadableAnswer(f"the units of {text.strip():.60} do not make {requested.unit}")
    if not math.isfinite(value):
        raise UnreadableAnswer("a quantity is a finite number, 0 or more")
    unit = requested.unit if units else ""
    return ParsedQuantity(value, unit, size, _last_digit(tokens, value))


def _last_digit(tokens: list[_Token], value: float) -> float:
    """Return what 1 in the last digit is worth: 1e8 B in `1.5 GB`; 0 for several numbers."""
    numbers = [token for token in tokens if token.kind == "number"]
    if len(numbers) != 1 or not numbers[0].value:
        return 0.0
    return numbers[0].digit * abs(value / numbers[0].value)


# -- tokens ---------------------------------------------------------------------------------------


def _tokenize(text: str, requested: RequestedQuantity) -> list[_Token]:
    """Return the tokens of an amount, without remarks; `end` marks where its text stops."""
    tokens: list[_Token] = []
    column = len(text) - len(text.lstrip())
    while column < len(text):
        follows_value = bool(tokens) and tokens[-1].kind in {"number", "unit", ")"}
        if follows_value and (remark := _match_remark(text, column, tokens[-1], requested)):
            end = remark.end()
        elif match := _TOKEN.match(text, column):
            end = match.end()
            tokens += _number_or_sign(match)
            multiple = _MULTIPLE.match(text, end) if match["number"] else None
            if multiple and (factor := requested.multiplier(multiple[1])):
                tokens.append(_Token("unit", end, factor))
                end = multiple.end()
        elif follows_value and (words := _UNIT.match(text, column)):
            unit = requested.find_unit(words[0])
            if unit is None:
                break
            if unit.base:
                tokens.append(_Token("unit", column, unit.factor, unit.base))
            end = words.end()
        else:
            break
        column = len(text) - len(text[end:].lstrip())
    return [*tokens, _Token("end", column)]


def _match_remark(
    text: str, column: int, last: _Token, requested: RequestedQuantity
) -> re.Match[str] | None:
    """Return the remark in parentheses after a token, if there is one.

    Parentheses with arithmetic are a remark only after a unit.
    """
    remark = _REMARK.match(text, column)
    if remark is None or requested.is_literal:
        return None
    if last.kind != "unit" and _ARITHMETIC.fullmatch(remark[1]):
        return None
    return remark


def _number_or_sign(match: re.Match[str]) -> list[_Token]:
    """Return the token of a number or a sign; a raised 2 becomes ** and 2."""
    column = match.start()
    if sign := match["sign"]:
        return [_Token(_SIGNS.get(sign, sign), column)]
    if raised := match["raised"]:
        exponent = float(raised.translate(_RAISED))
        return [_Token("**", column), _Token("number", column, exponent)]
    commas = _COMMAS.match(match.string, column)
    if commas and commas.end() > match.end():
        decimal = commas[0].replace(",", ".", 1)
        raise UnreadableAnswer(
            f"{commas[0]:.30} reads as two numbers; write {decimal:.30},"
            " and commas only between groups of three digits",
            column=column,
        )
    number = match["number"].replace(match["by"] or "_", "")
    number = number.replace(",", ".").replace("_", "").lower()
    mantissa, _, exponent_text = number.partition("e")
    decimals = len(mantissa.partition(".")[2])
    digit = float(f"1e{int(exponent_text or 0) - decimals}")
    return [_Token("number", column, float(number), digit=digit)]


# -- arithmetic -----------------------------------------------------------------------------------


def _calculate(
    text: str, tokens: list[_Token], expected_form: str, scales: Mapping[str, float]
) -> float:
    """Return the value of all tokens; a unit counts as its factor times its scale (default: 1)."""
    pending = tokens[::-1]

    def evaluate(min_precedence: int) -> float:
        """Return the value of the tokens before the next operator below `min_precedence`."""
        token = pending.pop()
        column = token.column
        if token.kind == "number":
            value = token.value
        elif token.kind == "+":
            value = evaluate(_SIGN_PRECEDENCE)
        elif token.kind == "-":
            value = -evaluate(_SIGN_PRECEDENCE)
        elif token.kind == "(":
            value = evaluate(1)
            if pending.pop().kind != ")":
                raise UnreadableAnswer("expected ) after what ( began", column=column)
        else:
            rest = text[column:].strip()[:40]
            raise UnreadableAnswer(f"{expected_form}, found {rest!r:.60}", column=column)
        while (precedence := _PRECEDENCE.get(pending[-1].kind, -1)) >= min_precedence:
            token = pending.pop()
            if token.kind in {"unit", "unit of sum"}:
                value *= token.value * scales.get(token.base, 1.0)
            else:
                # A power binds to the right: 2**3**2 is 2**9.
                right_precedence = precedence if token.kind == "**" else precedence + 1
                value = _OPERATIONS[token.kind](value, evaluate(right_precedence))
        return value

    value = evaluate(0)
    token = pending[-1]
    if token.kind != "end":
        word = text[token.column :].split()[0]
        hint = "; write * for a product" if token.kind == "(" else ""
        raise UnreadableAnswer(f"did not expect {word:.20} here{hint}", column=token.column)
    return float(value)


# -- units ----------------------------------------------------------------------------------------


def _stem(word: str) -> str:
    """Return a noun without its ending: singular and plural become equal."""
    return re.sub("(?:ies|y|es|e|s)$", "", word)


def _wrong_unit(rest: str, requested: RequestedQuantity, column: int) -> UnreadableAnswer:
    """Return the error for words behind a number that are not a unit of the answer."""
    first = re.split(r"[*(,;]|(?<!per)\s+(?!per\b)", rest)[0]
    description, names = UNITS[requested.unit]
    *others, last = (name for name in names if name)
    choices = " or ".join(filter(None, [", ".join(others), last]))
    if requested.unit == "1":
        sentence = f"is {description}: write it without {first[:20]}"
    elif find_unit("/".join(_PER.split(first))):
        sentence = f"is {description}, which {first[:20]} is not; units are {choices}"
    elif requested.unit == "B" and BIT_UNIT.fullmatch(first):
        sentence = f"{first} is no unit here; GB is 1e9 bytes, GiB is 2**30, and Gb would be bits"
    else:
        sentence = f"{first[:20]} is no unit here; units are {choices}"
    return UnreadableAnswer(sentence, column=column)
