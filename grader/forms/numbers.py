"""Forms of which the answers are numbers: `estimate`, with units, and `predict`, by hand.

The decimal prefixes of bytes are powers of 1000 (SI), the binary ones of 1024 (IEC 80000-13).
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator

from grader.forms.base import Form, Unread, Unreadable, lines, read, refuse, template, unanswered
from grader.model.question import Question
from grader.model.spec import Path, Spec

_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12} | {
    f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGT", 1)
}
_WORK = {"FLOP": 1.0, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15}
UNITS: dict[str, tuple[str, dict[str, float]]] = {
    "1": ("a pure number", {"": 1.0, "1": 1.0}),
    "B": ("an amount of memory", _BYTES),
    "FLOP": ("an amount of work", _WORK),
    "s": ("a time", {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}),
    "FLOP/B": ("work per byte", {"FLOP/B": 1.0}),
    "B/s": ("a bandwidth", {f"{name}/s": size for name, size in _BYTES.items()}),
    "FLOP/s": ("a rate of work", {f"{name}/s": size for name, size in _WORK.items()}),
    "tok/s": ("a rate", {"tok/s": 1.0}),
}  # by the unit of an answer: what it measures, and each unit that may be written, in it
_SPELLED = {"byte": "B", "bytes": "B", "sec": "s", "seconds": "s", "\u00b5s": "us", "\u03bcs": "us"}
_SIGNS = {"\u00d7": "*", "^": "**", "\u2212": "-"}
_NUMBER = r"(?:(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_TOKEN = re.compile(rf"\s*({_NUMBER}|\*\*|[-+*/()^\u00d7\u2212])", re.ASCII)
_COMMAS = re.compile(r"\d+(?:,\d+)+", re.ASCII)
_MOST_LETTERS = 200  # of an answer
_OPERATIONS: dict[str, tuple[int, Callable[[float, float], float]]] = {
    "+": (1, operator.add),
    "-": (1, operator.sub),
    "*": (2, operator.mul),
    "/": (2, operator.truediv),
    "**": (4, operator.pow),
}
_UNARY = 3


def quantity(text: str, unit: str) -> float:
    """A quantity in its base unit, as 1.12e11 for `112 GB`, `112e9` or `2 * 56 GB`.

    Raises:
        Unreadable: it is none; the sentence says what was expected, the column counts from 0.
    """
    what, known = UNITS[unit]
    example = "" if "" in known else f", as 1.5 {next(iter(known))}"
    value, end = _reckoned(text, f"expected a number{example}")
    named = text[end:].strip() or unit
    size = known.get(_SPELLED.get(named, named))
    if not math.isfinite(value * (size or 1.0)) or value < 0:
        raise Unreadable("a quantity is a finite number, 0 or more")
    if size is not None:
        return value * size
    *several, last = (name for name in known if name)
    listed = f"{', '.join(several)} or {last}" if several else last
    if unit == "1":
        wrong = f"is {what}: write it without {named[:20]}"
    elif any(named in units for _, units in UNITS.values()):
        wrong = f"is {what}, which {named} is not; units are {listed}"
    elif unit == "B" and named.lower() in {"gb", "mb", "kb", "tb"}:
        wrong = f"{named} is no unit here; GB is 1e9 bytes, GiB is 2**30, and Gb would be bits"
    else:
        wrong = f"{named[:20]} is no unit here; units are {listed}"
    raise Unreadable(wrong, column=len(text) - len(named))  # there are no spaces after it


def fraction(text: str, unit: str) -> float:  # noqa: ARG001
    """A decimal, a fraction, or other arithmetic.

    Raises:
        Unreadable: it is none.
    """
    said = "needs a number such as 0.25, -3 or 2/3"
    value, end = _reckoned(text, said)
    if text[end:].strip() or not math.isfinite(value):
        raise Unreadable(said, column=end)
    return value


def _reckoned(text: str, wanted: str) -> tuple[float, int]:
    """The value of the arithmetic that a text begins with, and where it ends."""
    for commas in _COMMAS.finditer(text[:_MOST_LETTERS]):
        if not re.fullmatch(r"[1-9]\d{0,2}(,\d{3})+", commas[0]):
            parts = commas[0].replace(",", ".", 1)
            raise Unreadable(
                f"{commas[0]:.30} reads as two numbers; write {parts:.30}, and commas only between"
                " groups of three digits"
            )
    tokens: list[tuple[str, int]] = []
    end = 0
    while end < _MOST_LETTERS and (found := _TOKEN.match(text, end)):
        tokens.append((_SIGNS.get(found[1], found[1]), found.start(1)))
        end = found.end()
    left = [("", end), *reversed(tokens)]

    def expression(least: int) -> float:
        sign, at = left.pop()
        if sign in {"+", "-"}:
            value = expression(_UNARY) * (1 if sign == "+" else -1)
        elif sign == "(":
            value = expression(1)
            if left.pop()[0] != ")":
                raise Unreadable("expected ) after what ( began", column=at)
        elif not sign or sign in _OPERATIONS or sign == ")":
            raise Unreadable(f"{wanted}, found {text[at:].strip()[:40]!r:.60}", column=at)
        else:
            value = float(sign.replace(",", "").replace("_", ""))
        while left and (known := _OPERATIONS.get(left[-1][0])) and known[0] >= least:
            left.pop()
            value = known[1](value, expression(known[0] + (known[0] < _UNARY)))
        return value

    try:
        value = expression(1)
        if left != [("", end)]:
            raise Unreadable(f"did not expect {left[-1][0]} here", column=left[-1][1])
        return float(value), end
    except (ArithmeticError, TypeError, ValueError):  # TypeError: a root of what is negative
        raise Unreadable(f"{text[:40]} is no number") from None


class Estimate(Form):
    """Each `numbers` check looks at what one function returns: a dict of its answers."""

    number = staticmethod(quantity)  # that was written, with its unit

    def starter(self, spec: Spec) -> bytes:
        """Every answer open, with its unit."""
        units = {name: f"in {one.unit}" for name, one in spec.answers.items() if one.unit != "1"}
        return template(spec.answers, units)

    def program(self, text: bytes, question: Question, unread: Unread = None) -> bytes:
        """Functions that give what was written; an open answer is left out of its dict."""
        asked, found = question.spec.answers, dict[str, float]()
        written = read(text, asked, unread=unread)
        faults = list[Unreadable]()
        open_ = [name for name in asked if name not in written]
        if self.one_try and open_ and unread is None:
            faults.append(Unreadable(f"{unanswered(open_)}; the first prediction counts"))
        for name, given in written.items():
            with given.read(f"{name}: ", faults=faults):
                found[name] = self.number(given.value, asked[name].unit)
        refuse(faults, unread)
        lines = []
        for function, names in _functions(question).items():
            if told := {name: found[name] for name in names if name in found}:
                lines.append(f"def {function}(*_, **__):\n    return {told!r}\n")
        return "\n".join(lines).encode()

    def asked_by(self, function: str, question: Question) -> list[str]:
        """Those that its dict has."""
        return _functions(question).get(function, [function])

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Answers that no check looks at, checks of what is not asked, and units."""
        yield from super().faults(spec)
        looked_at = {part: c.id for c in spec.checks for part in getattr(c, "parts", ())}
        for name, one in spec.answers.items():
            if name not in looked_at:
                yield ("answers", name), "expected a numbers check of it, found none"
            if one.unit not in UNITS:
                known = ", ".join(UNITS)
                yield ("answers", name), f"expected a unit of {known}, found {one.unit}"
        for number, check in enumerate(spec.checks):
            if not getattr(check, "parts", ()) and not list(check.asks()):
                wrong = "expected a check of answers by name, as numbers is"
                yield ("checks", number), wrong
        for part in (part for part in looked_at if part not in spec.answers):
            yield ("answers",), f"expected {part}, which {looked_at[part]} looks at"


class Predict(Estimate):
    """As an estimate, with decimals and fractions; what is right is shown, so none may be open."""

    shows_expected = one_try = True
    number = staticmethod(fraction)

    def starter(self, spec: Spec) -> bytes:
        """Every number open."""
        said = "# Decimals or fractions, as 0.25 or 2/3. Only the first grade counts."
        return f"{said}\n".encode() + super().starter(spec)


def as_read(text: bytes, question: Question) -> list[str]:
    """The lines of a prediction; what is no plain number has behind it as which it was read."""
    found = lines(text)
    for one in read(text, question.spec.answers).values():
        if not one.value.lstrip("-").replace(".", "", 1).isdigit():
            found[one.line - 1] += f"   read as {fraction(one.value, '1'):.6g}"
    return found


def _functions(question: Question) -> dict[str, list[str]]:
    """By function of the submission, the answers that it gives."""
    found: dict[str, list[str]] = {}
    for check in question.spec.checks:
        for step in question.runs[check.run]:
            if getattr(check, "of", None) in step.targets and step.owner == "submission":
                found.setdefault(step.function, []).extend(getattr(check, "parts", ()))
    return found
