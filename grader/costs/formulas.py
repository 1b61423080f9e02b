"""Formulas as text, which Python works out and the script of a page does too: written once.

A formula is arithmetic over whole numbers with names: `2 * tokens * width`, with + - * // %, `min`,
`max` and `divisor`; nothing in it is ever negative.  Integers have any length, so that no count is
rounded; `cases.size_expr`, which reads amounts of a spec, works in floats.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

Values = Mapping[str, int]
Settings = Mapping[str, int | str]  # what each setting of a model is set to


def nearest_divisor(number: int, near: int) -> int:
    """The divisor of a number that is nearest to another one, of two the smaller."""
    around = (n for away in range(near) for n in (near - away, near + away))
    return next(n for n in around if number % n == 0)


_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "min": min,
    "max": max,
    "divisor": nearest_divisor,
}
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
}  # fmt: skip
_tree = cache(lambda formula: ast.parse(formula, mode="eval").body)


def evaluate_formula(formula: str, known: Values) -> int:
    """Work a formula out."""
    return _value(_tree(formula), known)


def _value(node: ast.expr, known: Values) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return known[name]
        case ast.BinOp(left, op, right):
            return _OPERATIONS[type(op)](_value(left, known), _value(right, known))
        case ast.Call(func=ast.Name(id=name), args=[one, other]):
            return _FUNCTIONS[name](_value(one, known), _value(other, known))
    raise ValueError(f"no formula: {ast.unparse(node)}")


def to_javascript(formula: str) -> str:
    """The same formula as a function in JavaScript, over BigInt, the names as fields of `s`."""
    named = re.sub(r"\b[a-z]\w*\b(?!\()", r"s.\g<0>", formula)
    return "s => " + re.sub(r"(?<!\w)\d+\b", r"\g<0>n", named).replace("//", "/")


class Setting(NamedTuple):
    """A whole number from `least` to `most`, or a word, which gives values to other names."""

    name: str
    about: str
    words: Mapping[str, Values] = {}
    least: int = 1
    most: int = 10**9

    def slider_values(self) -> Sequence[int | str]:
        """What arrows and sliders go through: words, or powers of two and one and a half times."""
        numbers = sorted({1, *(n << power for n in (2, 3) for power in range(30))})
        return [*self.words] or [n for n in numbers if self.least <= n <= self.most]


class CostCell(NamedTuple):
    """What is shown of a formula, maybe over another one, or of the formulas of a shape."""

    unit: str
    formulas: tuple[str, ...]
    over: str = "1"

    def text(self, values: Values) -> str:
        """Exact, or with two decimals below 1,000, a half rounded up.

        `text` of costs.js does the same.
        """
        numbers = [evaluate_formula(one, values) for one in self.formulas]
        unit = self.unit
        if unit == "shape":
            return f"({', '.join(map(str, numbers))})"
        number = numbers[0]
        over = evaluate_formula(self.over, values)
        if base := {"B": 1000, "iB": 1024, "FLOP": 1000}.get(unit):
            if not number:
                return "-"
            power = next(n for n in range(7) if number < base ** (n + 1) or n == 6)
            unit = " KMGTPE"[power].strip() + (unit if power else unit.removeprefix("i"))
            over = base**power
        if over == 1:
            return f"{number:,} {unit}".rstrip()
        hundredths = (200 * number + over) // (2 * over)
        if hundredths >= 100_000:
            return f"{(2 * number + over) // (2 * over):,} {unit}".rstrip()
        return f"{hundredths // 100:,}.{hundredths % 100:02} {unit}".rstrip()


class CostRow(NamedTuple):
    """Texts and cells; not there where `there` is 0, and with a bar of so many thousandths."""

    cells: tuple[str | CostCell, ...]
    condition: str
    bar: str = "0"


class CostTable(NamedTuple):
    """Rows below a head, in one of the views of a model."""

    view: str
    title: str
    head: tuple[str, ...]
    rows: Sequence[CostRow]
    note: str = ""


class CostModel(NamedTuple):
    """A model: what can be set, what cannot be, and what it costs."""

    name: str
    about: str
    settings: tuple[Setting, ...]
    presets: Mapping[str, Settings]  # by name; the first is what is set if nothing is
    # What cannot be: a setting, when (where not 0), what is taken instead, and why.
    rules: tuple[tuple[str, str, str, str], ...]
    costs: Mapping[str, str]  # formulas by name; each may use those before it
    tables: Sequence[CostTable]

    def resolve_settings(self, wanted: Settings) -> tuple[Settings, list[str]]:
        """What is counted where these are wanted, and a sentence for each that cannot be."""
        numbers = {name: one for name, one in wanted.items() if isinstance(one, int)}
        notes = {}

        def take(name: str, instead: int, why: str) -> None:
            notes[name] = f"{name} {wanted[name]:,}: {why}; {instead:,} is counted."
            numbers[name] = instead

        for name, _, words, least, most in self.settings:
            if not words and not least <= numbers[name] <= most:
                take(name, min(max(numbers[name], least), most), f"from {least:,} to {most:,}")
        for name, broken, instead, why in self.rules:
            if evaluate_formula(broken, numbers):
                shown = {name: f"{number:,}" for name, number in numbers.items()}
                take(name, evaluate_formula(instead, numbers), why.format_map(shown))
        return {**wanted, **numbers}, [*notes.values()]

    def formula_values(self, taken: Settings) -> Values:
        """Every number that formulas name, of settings that can be."""
        found: dict[str, int] = {}
        for one in self.settings:
            match taken[one.name]:
                case int() as number:
                    found[one.name] = number
                case word:
                    found |= one.words[word]
        for name, formula in self.costs.items():
            found[name] = evaluate_formula(formula, found)
        return found
