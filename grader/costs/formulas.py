"""Formulas as text, which both Python and the script of a page evaluate.

A formula is arithmetic over integers and names: `2 * tokens * width`, with + - * // %, `min`, `max`
and `divisor`.  No value in it is ever negative.  Integers have any length, and no count is rounded.
(`cases.amounts`, which reads amounts of a spec, computes in floats.)
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

Values = Mapping[str, int]
Settings = Mapping[str, int | str]  # the value of each setting of a model


def nearest_divisor(number: int, target: int) -> int:
    """Return the divisor of a number that is nearest to the target; of two, the smaller one."""
    candidates = (n for distance in range(target) for n in (target - distance, target + distance))
    return next(n for n in candidates if number % n == 0)


_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "min": min,
    "max": max,
    "divisor": nearest_divisor,
}
_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@cache
def _parse(formula: str) -> ast.expr:
    return ast.parse(formula, mode="eval").body


def evaluate_formula(formula: str, values: Values) -> int:
    """Evaluate a formula; `values` has an integer for each name in it."""
    return _evaluate(_parse(formula), values)


def _evaluate(node: ast.expr, values: Values) -> int:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left, operation, right):
            return _OPERATIONS[type(operation)](_evaluate(left, values), _evaluate(right, values))
        case ast.Call(func=ast.Name(id=name), args=[first, second]):
            return _FUNCTIONS[name](_evaluate(first, values), _evaluate(second, values))
    raise ValueError(f"no formula: {ast.unparse(node)}")


def to_javascript(formula: str) -> str:
    """Return a formula in JavaScript, over BigInt: `s => 2n * s.width` for `2 * width`."""
    with_fields = re.sub(r"\b[a-z]\w*\b(?!\()", r"s.\g<0>", formula)
    with_bigints = re.sub(r"(?<!\w)\d+\b", r"\g<0>n", with_fields)
    return "s => " + with_bigints.replace("//", "/")


class Setting(NamedTuple):
    """An integer from `least` to `most`, or a word that sets values of other names."""

    name: str
    about: str
    words: Mapping[str, Values] = {}
    least: int = 1
    most: int = 10**9

    def slider_values(self) -> Sequence[int | str]:
        """Return the stops of a slider: the words, or powers of two and 1.5 times these."""
        if self.words:
            return list(self.words)
        numbers = {1, *(n << power for n in (2, 3) for power in range(30))}
        return [n for n in sorted(numbers) if self.least <= n <= self.most]


_UNIT_BASES = {"B": 1000, "iB": 1024, "FLOP": 1000}
_UNIT_PREFIXES = ("", "K", "M", "G", "T", "P", "E")


class CostCell(NamedTuple):
    """A cell of a table: a number, or a shape with a formula for each size.

    A number is its only formula divided by the formula `over`.  A number of bytes or FLOPs has a
    prefix, such as GiB, and `over` is ignored.
    """

    unit: str
    formulas: tuple[str, ...]
    over: str = "1"

    def text(self, values: Values) -> str:
        """Format the cell as `text` of costs.js does; no bytes and no FLOPs are `-`."""
        numbers = [evaluate_formula(formula, values) for formula in self.formulas]
        if self.unit == "shape":
            return f"({', '.join(map(str, numbers))})"
        number = numbers[0]
        unit = self.unit
        divisor = evaluate_formula(self.over, values)
        if unit in _UNIT_BASES:
            if not number:
                return "-"
            unit, divisor = _scaled_unit(number, unit)
        return f"{_format_quotient(number, divisor)} {unit}".rstrip()


def _scaled_unit(number: int, unit: str) -> tuple[str, int]:
    """Return the unit with the prefix that suits the number, and its divisor: ("KB", 1000)."""
    base = _UNIT_BASES[unit]
    power = 0
    while number >= base ** (power + 1) and power + 1 < len(_UNIT_PREFIXES):
        power += 1
    if power == 0:
        return unit.removeprefix("i"), 1
    return _UNIT_PREFIXES[power] + unit, base**power


def _format_quotient(number: int, divisor: int) -> str:
    """Format a quotient: without decimals from 1,000 on or for divisor 1, else with two.

    A half is rounded up.
    """
    if divisor == 1:
        return f"{number:,}"
    hundredths = (200 * number + divisor) // (2 * divisor)
    if hundredths >= 100_000:
        return f"{(2 * number + divisor) // (2 * divisor):,}"
    return f"{hundredths // 100:,}.{hundredths % 100:02}"


class CostRow(NamedTuple):
    """A row of a table, hidden if the formula `condition` is 0.

    `bar` is a formula for the length of the row's bar, in thousandths of the whole.
    """

    cells: tuple[str | CostCell, ...]
    condition: str
    bar: str = "0"


class CostTable(NamedTuple):
    """Rows below a head, in one of the views of a model."""

    view: str  # memory, work, activations, parameters or serving; "" is the summary
    title: str
    head: tuple[str, ...]
    rows: Sequence[CostRow]
    note: str = ""


class CostModel(NamedTuple):
    """A model: its settings, the rules on their values, and its costs."""

    name: str
    about: str
    settings: tuple[Setting, ...]
    presets: Mapping[str, Settings]  # by name; the first is the default
    # A setting, a formula that is not 0 if its value is invalid, the value to use instead, and why.
    rules: tuple[tuple[str, str, str, str], ...]
    costs: Mapping[str, str]  # formulas by name; each may use those before it
    tables: Sequence[CostTable]

    def resolve_settings(self, requested: Settings) -> tuple[Settings, list[str]]:
        """Replace invalid numbers; return all settings and a sentence on each replacement.

        `requested` has a value for every setting.
        """
        numbers = {name: value for name, value in requested.items() if isinstance(value, int)}
        notes = {}

        def replace_number(name: str, number: int, why: str) -> None:
            notes[name] = f"{name} {requested[name]:,}: {why}; {number:,} is counted."
            numbers[name] = number

        for name, _, words, least, most in self.settings:
            if not words and not least <= numbers[name] <= most:
                nearest = min(max(numbers[name], least), most)
                replace_number(name, nearest, f"from {least:,} to {most:,}")
        for name, invalid, replacement, why in self.rules:
            if evaluate_formula(invalid, numbers):
                texts = {name: f"{number:,}" for name, number in numbers.items()}
                number = evaluate_formula(replacement, numbers)
                replace_number(name, number, why.format_map(texts))
        return {**requested, **numbers}, list(notes.values())

    def formula_values(self, settings: Settings) -> Values:
        """Return every number that formulas may name, for valid settings."""
        values: dict[str, int] = {}
        for setting in self.settings:
            value = settings[setting.name]
            if isinstance(value, int):
                values[setting.name] = value
            else:
                values |= setting.words[value]
        for name, formula in self.costs.items():
            values[name] = evaluate_formula(formula, values)
        return values
