"""Read the number of an answer: `14 GB`, `about 37 users`, `8192 * 131072 B = 1.07 GB`.

The text is data: it is read token by token and never run.  Every number is a float, so that no
power can take all memory.  docs/forms.md has the rules.

The decimal prefixes of bytes are powers of 1000 (SI), the binary ones of 1024 (IEC 80000-13).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from grader.forms.base import UnreadableAnswer

_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_WORK = {f"{letter}FLOP": size for letter, size in _DECIMAL.items()}
_BYTES = {f"{letter}B": size for letter, size in _DECIMAL.items()} | {
    f"{letter}iB": 1024.0**power for power, letter in enumerate("KMGTP", 1)
}
UNITS: dict[str, tuple[str, dict[str, float]]] = {
    "1": ("a pure number", {"": 1.0, "1": 1.0, "%": 0.01}),
    "B": ("an amount of memory", _BYTES),
    "FLOP": ("an amount of work", _WORK),
    "s": ("a time", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}),
    "FLOP/B": ("work per byte", {"FLOP/B": 1.0}),
    "B/s": ("a bandwidth", {f"{name}/s": size for name, size in _BYTES.items()}),
    "FLOP/s": (
        "a rate of work",
        {f"{name}{per}": size for per in ("/s", "S") for name, size in _WORK.items()},
    ),
}  # by the unit of an answer: what it measures, and each unit that may be written, in it
_COUNTED = ("tok", "user", "sample", "sequence", "request", "step")
for _noun in _COUNTED:
    UNITS[_noun] = ("a count", {_noun: 1.0})
    UNITS[f"{_noun}/s"] = ("a rate", {f"{_noun}/s": 1.0})
    UNITS[f"B/{_noun}"] = ("memory", {f"{name}/{_noun}": size for name, size in _BYTES.items()})
_FACTORS = {
    name: (size, unit) for unit, (_, known) in UNITS.items() for name, size in known.items()
}
_PHYSICAL = ("B", "FLOP", "s")


def _scales(*bases: str) -> dict[str, float]:
    """Return a size for every unit, made of one for each base unit."""
    sizes = {name: math.log(n) for n, name in enumerate(bases, 3)}
    return {
        unit: sizes.get(whole, 1.0) / sizes.get(per, 1.0)
        for unit in UNITS
        for whole, _, per in [unit.partition("/")]
    }


# Units are checked by numbers: a result must scale as its unit does.
_SCALES = _scales(*_PHYSICAL, *_COUNTED)
_UNCOUNTED = _scales(*_PHYSICAL)  # tokens and users are pure numbers
_PREFIXED = re.compile(
    r"((?:kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|[kmgtp]i?)?)"
    r"(?:(?P<B>b(?:ytes?|s?))|(?P<FLOP>flops?))",
    re.IGNORECASE,
)
_BITS = re.compile(r"b|[KMGTP]i?bs?")  # Gb may be gigabits
_NO_NOUN = re.compile(
    r"\w|or|[kmgtp]i?bs?|.*(?:bits?|bps)|(?:day|week|month|year)s?", re.IGNORECASE
)
_SPELLED = {
    word: unit
    for unit, words in {
        "%": "percent",
        "s": "sec secs second seconds",
        "ms": "msec millisecond milliseconds",
        "us": "\u00b5s usec microsecond microseconds",
        "ns": "nsec nanosecond nanoseconds",
        "min": "mins minute minutes",
        "h": "hr hrs hour hours",
        "tok": "token tokens",
    }.items()
    for word in words.split()
} | {f"{noun}s": noun for noun in _COUNTED}
_MULTIPLES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12, "thousand": 1e3,
              "million": 1e6, "billion": 1e9, "trillion": 1e12}  # fmt: skip

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
_COMMAS = re.compile(r"\d+(?:,\d+)+", re.ASCII)
_WORD = r"[A-Za-z\u00b5]+(?:_[A-Za-z]+)*"
_UNIT = re.compile(rf"(?:%|{_WORD})(?:(?:\s*/\s*|\s+per\s+){_WORD})*")
_PER = re.compile(r"\s*/\s*|\s+per\s+")
_MULTIPLE = re.compile(r"\s*([A-Za-z]+?)(s?)(?![\w/])")
_ABOUT = re.compile(r"\b(?:about|approx(?:imately|\.)?|roughly|around|ca\.?|circa)(?!\w)", re.I)
_EQUALS = re.compile(
    r"(?<![<>!])(?::?=+>?|[-~]>|[\u2192\u21d2]|[~\u2248\u223c]=?)(?:\s*[~\u2248\u223c])*"
)
_RANGE = re.compile(
    r"\s*\d[\d.,]*(?:\s*(?:[\u2013\u2014]|\.\.+|to\b|or\b)\s*|-)\d[\d.,]*(?![\d.,]|\s*[-+*/^(x])"
)
_PRODUCT = re.compile(r"[*/xX]\s*[\d.(]")
_ARITHMETIC = re.compile(r"[\d\s.,*x^+/()-]*\d[\d\s.,*x^+/()-]*")
_REMARK = re.compile(r"\(((?:[^()]|\([^()]*\))*)\)?")
_LITERAL = re.compile(
    r"(?:[-+*/()^\u00d7\u2212\s]|(?<!\d\s)[\d._]|(?<!\b0),(?=\d{3}(?!\d))|(?<=\d)[eE](?=[-+\d]))*"
    rf"(?:{'|'.join(_FACTORS)}|bytes?|sec|seconds|[\u00b5\u03bc]s)?\s*"
)
_REMARKS = set(re.findall(r"\w+", "of the in all total each a an per only exactly rounded up down"))
_MOST_LETTERS = 300  # of an answer
_OPERATIONS: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "whole": (0, operator.mul),  # a unit behind all of it
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "unit": (3, operator.mul),
    "**": (4, operator.pow),
}
_UNARY = 3
_AGREE = 0.01  # two sides of an equation may differ by this share, or in the last digit written


@dataclass(frozen=True, slots=True)
class RequestedQuantity:
    """An answer as it is asked for."""

    expected_form: str = ""  # what is said if there is no number
    unit: str = "1"
    about: str = ""  # its name and the question: their words may stand behind the number
    is_literal: bool = False  # whether nothing is forgiven
    any_noun: bool = False  # whether nouns need not be of the question, and are pure numbers

    def is_noun_of_question(self, word: str) -> bool:
        """Return True if a word is a noun of the question, or says nothing, and is no unit."""
        base = _FACTORS.get(_canonical(word), (1.0, ""))[1]
        nouns = map(_stem, re.findall("[a-z]+", self.about.lower()))
        if word in _REMARKS or _stem(word.lower()) in nouns:
            return base not in _PHYSICAL
        return self.any_noun and not base and not _NO_NOUN.fullmatch(word)

    def asks_for_unit(self, word: str) -> bool:
        """Return True if the question asks for a number of these: "in percent"."""
        return bool(re.search(rf"\bin {re.escape(word)}(?!\w)", self.about))

    def unit_factor(self, words: str) -> tuple[float, str] | None:
        """Return the size and the base unit of what was written, or None if it is no unit.

        Nouns of the question have no unit: `37 users`, `96 KiB per token`.
        """
        if self.unit == "1" and self.asks_for_unit(words):
            return 1.0, "1"
        parts, known = _PER.split(words), UNITS[self.unit][1]
        if self.unit == "FLOP/s" and words.endswith(("flops", "FLOPs")):
            parts.append("s")
        while (unit := _canonical("/".join(parts))) not in known and self.is_noun_of_question(
            parts[-1]
        ):
            parts.pop()
            if not parts:
                return 1.0, ""
        return (known[unit], self.unit) if unit in known else _FACTORS.get(unit)

    def multiplier(self, word: str) -> float:
        """Return what k, M or billion multiplies by; 0 if a word is another."""
        if word == "B" and self.unit not in {"1", *_COUNTED}:
            return 0.0
        return 1.0 if self.asks_for_unit(f"{word}s") else _MULTIPLES.get(word, 0.0)


class _Token(NamedTuple):
    """A number, a sign, or a unit, with its place."""

    sign: str  # "number", "unit", or the sign
    at: int
    value: float = 0.0
    unit: str = ""  # of a unit: its base unit; "" of a multiple, as k
    digit: float = 0.0  # what one unit in the last digit of a number is


class ParsedQuantity(NamedTuple):
    """A number that was read."""

    value: float
    unit: str  # its base unit, "" if none is written
    size: float  # of its only unit
    digit: float  # what one unit in its last digit is, 0 if it is the result of arithmetic


def base_unit(written: str) -> str:
    """Return the unit of UNITS that an author means: B for `bytes`; "" if there is none."""
    size, unit = _FACTORS.get(_canonical(written), (0.0, ""))
    return unit if size == 1 else ""


def unit_of(number: str) -> str:
    """Return the base unit of what a number of a spec measures; "1" if it has none."""
    return _FACTORS.get(_canonical(number.partition(" ")[2]), (1.0, "1"))[1]


def parse_quantity(text: str, unit: str, about: str = "", *, literal: bool = False) -> float:
    """Return a quantity in its base unit, as 1.12e11 for `112 GB`, `112e9` or `2 * 56 GB`.

    Raises:
        Unreadable: it is none; the sentence says what was expected, the column counts from 0.
    """
    known = UNITS[unit][1]
    example = "" if "" in known else f", as 1.5 {next(iter(known))}"
    value = read_quantity(
        text, RequestedQuantity(f"expected a number{example}", unit, about, literal)
    ).value
    if value < 0:
        raise UnreadableAnswer("a quantity is a finite number, 0 or more")
    return value


def parse_fraction(text: str, unit: str = "1", about: str = "", *, literal: bool = False) -> float:
    """Return a decimal, a fraction, or the value of other arithmetic.

    Raises:
        Unreadable: it is none.
    """
    wanted = "needs a number such as 0.25, -3 or 2/3"
    return read_quantity(text, RequestedQuantity(wanted, unit, about, literal)).value


def read_quantity(text: str, asked: RequestedQuantity) -> ParsedQuantity:
    """Return the number of an answer: of an equation the last, if all of it agrees.

    Raises:
        Unreadable: it is no number, or more than one.
    """
    if len(text) > _MOST_LETTERS or (asked.is_literal and not _LITERAL.fullmatch(text)):
        raise UnreadableAnswer(f"{asked.expected_form}, found {text.strip()[:40]!r:.60}")
    text = re.sub(r"^(\s*)\u2013", r"\1-", text.translate(_SAME))
    text = _ABOUT.sub(lambda word: " " * len(word[0]), text)
    sides, start = list[ParsedQuantity](), 0
    for equals in _EQUALS.finditer(text):
        if text[: equals.start()].strip():
            side = text[start : equals.start()]
            is_product = bool(_PRODUCT.search(side))
            # Spaces in place of what stands before keep the columns.
            sides.append(_amount(" " * start + side, replace(asked, any_noun=is_product)))
        start = equals.end()
    sides.append(_amount(" " * start + text[start:], asked))
    *others, last = sides
    for one in others:
        in_its_unit = one._replace(value=one.value * last.size)
        if not _agree(one, last) and (one.unit or not _agree(in_its_unit, last)):
            shown = " ".join(text.split())
            raise UnreadableAnswer(f"two numbers in {shown:.60} are not equal; write one of them")
    return last


def _amount(text: str, asked: RequestedQuantity) -> ParsedQuantity:
    """Return the value of arithmetic with units in it, or with one behind it."""
    if found := _RANGE.match(text):
        two = found[0].strip()
        raise UnreadableAnswer(
            f"{two:.40} may be two numbers; write one, and a minus between spaces"
        )
    tokens, end = _tokens(text, asked)
    units = [token for token in tokens if token.unit]
    size = 1.0
    if len(units) == 1 and tokens[-1] is units[0]:  # 2 * 3 / 4 GB
        size = units[0].value
        tokens[-1] = units[0]._replace(sign="whole")
    rest = text[end:].strip(" .,;")
    try:
        value = _value(tokens, text, end, asked, {})
        scales = _UNCOUNTED if asked.any_noun else _SCALES
        scaled = _value(tokens, text, end, asked, scales)
        expected = value * scales[asked.unit]
    except (ArithmeticError, TypeError, ValueError):  # TypeError: a root of what is negative
        raise UnreadableAnswer(f"{text.strip()[:40]} is no number") from None
    if rest:
        raise _no_unit(rest, asked, end)
    is_pure = asked.any_noun and math.isclose(scaled, value, rel_tol=1e-12)
    if units and not is_pure and not math.isclose(scaled, expected, rel_tol=1e-12):
        if len(units) == 1:
            raise _no_unit(text[units[0].at : end].strip(), asked, units[0].at)
        raise UnreadableAnswer(f"the units of {text.strip():.60} do not make {asked.unit}")
    if not math.isfinite(value):
        raise UnreadableAnswer("a quantity is a finite number, 0 or more")
    numbers = [token for token in tokens if token.sign == "number"]
    digit = 0.0
    if len(numbers) == 1 and numbers[0].value:
        digit = numbers[0].digit * abs(value / numbers[0].value)
    return ParsedQuantity(value, asked.unit if units else "", size, digit)


def _tokens(text: str, asked: RequestedQuantity) -> tuple[list[_Token], int]:
    """Return the tokens that a text begins with, and where they end; no remarks."""
    found, at = list[_Token](), 0
    while (at := len(text) - len(text[at:].lstrip())) < len(text):
        is_behind = bool(found) and found[-1].sign in {"number", "unit", ")"}
        remark = _REMARK.match(text, at) if is_behind and not asked.is_literal else None
        if remark and (found[-1].sign == "unit" or not _ARITHMETIC.fullmatch(remark[1])):
            at = remark.end()
        elif token := _TOKEN.match(text, at):
            found += _read_token(token)
            at = token.end()
            many = _MULTIPLE.match(text, at) if token["number"] else None
            if many and (size := asked.multiplier(many[1])):
                found.append(_Token("unit", at, size))
                at = many.end()
        elif (
            is_behind
            and (words := _UNIT.match(text, at))
            and (factor := asked.unit_factor(words[0]))
        ):
            if factor != (1.0, ""):
                found.append(_Token("unit", at, *factor))
            at = words.end()
        else:
            break
    return found, at


def _read_token(token: re.Match[str]) -> list[_Token]:
    """Return the number or the sign that was found; of a raised number, the power."""
    at, number, sign = token.start(), token["number"], token["sign"]
    if sign:
        return [_Token({"^": "**", "x": "*", "X": "*"}.get(sign, sign), at)]
    if not number:
        power = float(token["raised"].translate(_RAISED))
        return [_Token("**", at), _Token("number", at, power)]
    if (commas := _COMMAS.match(token.string, at)) and commas.end() > token.end():
        raise UnreadableAnswer(
            f"{commas[0]:.30} reads as two numbers; write {commas[0].replace(',', '.', 1):.30},"
            " and commas only between groups of three digits",
            column=at,
        )
    plain = number.replace(token["by"] or "_", "").replace(",", ".").replace("_", "").lower()
    mantissa, _, power_of_ten = plain.partition("e")
    decimals = len(mantissa.partition(".")[2])
    digit = float(f"1e{int(power_of_ten or 0) - decimals}")
    return [_Token("number", at, float(plain), digit=digit)]


def _value(
    tokens: list[_Token], text: str, end: int, asked: RequestedQuantity, scales: Mapping[str, float]
) -> float:
    """Return the value of the arithmetic.

    `scales` has the sizes of base units; the size of any other is 1.
    """
    left = [_Token("", end), *reversed(tokens)]

    def expression(least: int) -> float:
        token = left.pop()
        if token.sign in {"+", "-"}:
            value = expression(_UNARY) * (1 if token.sign == "+" else -1)
        elif token.sign == "(":
            value = expression(1)
            if left.pop().sign != ")":
                raise UnreadableAnswer("expected ) after what ( began", column=token.at)
        elif token.sign == "number":
            value = token.value
        else:
            found = text[token.at :].strip()[:40]
            raise UnreadableAnswer(f"{asked.expected_form}, found {found!r:.60}", column=token.at)
        while (known := _OPERATIONS.get(left[-1].sign)) and known[0] >= least:
            token = left.pop()
            if token.sign in {"unit", "whole"}:
                value *= token.value * scales.get(token.unit, 1.0)
            else:
                value = known[1](value, expression(known[0] + (known[0] < _UNARY)))
        return value

    value = expression(0)
    if len(left) > 1:
        at = left[-1].at
        hint = "; write * for a product" if left[-1].sign == "(" else ""
        raise UnreadableAnswer(f"did not expect {text[at:].split()[0]:.20} here{hint}", column=at)
    return float(value)


def _agree(one: ParsedQuantity, other: ParsedQuantity) -> bool:
    """Return True if two numbers are equal, as exactly as they are written."""
    larger = max(abs(one.value), abs(other.value))
    within = min(max(one.digit, other.digit, _AGREE * larger), larger / 2)
    apart = abs(one.value - other.value)
    return apart == 0 or apart < within * (1 - 1e-9)


def _canonical(written: str) -> str:
    """Return the name in UNITS of a unit, or what was written."""
    if "/" in written:
        return "/".join(map(_canonical, written.split("/")))
    prefixed = _PREFIXED.fullmatch(written)
    if written in _FACTORS or _BITS.fullmatch(written):
        return written
    if prefixed is None:
        return _SPELLED.get(written.lower(), written)
    binary = "i" if prefixed[1].lower().endswith("i") else ""
    return f"{prefixed[1][:1].upper()}{binary}{prefixed.lastgroup}"


def _stem(word: str) -> str:
    """Return a noun without its ending, so that singular and plural are alike."""
    return re.sub("(?:ies|y|es|e|s)$", "", word)


def _no_unit(named: str, asked: RequestedQuantity, column: int) -> UnreadableAnswer:
    """Say why what stands behind a number is no unit of the answer."""
    named = re.split(r"[*(,;]|(?<!per)\s+(?!per\b)", named)[0]  # the first is enough
    what, known = UNITS[asked.unit]
    *several, last = (name for name in known if name)
    listed = f"{', '.join(several)} or {last}" if several else last
    wrong = f"{named[:20]} is no unit here; units are {listed}"
    if asked.unit == "1":
        wrong = f"is {what}: write it without {named[:20]}"
    elif _canonical("/".join(_PER.split(named))) in _FACTORS:
        wrong = f"is {what}, which {named[:20]} is not; units are {listed}"
    elif asked.unit == "B" and _BITS.fullmatch(named):
        wrong = f"{named} is no unit here; GB is 1e9 bytes, GiB is 2**30, and Gb would be bits"
    return UnreadableAnswer(wrong, column=column)
