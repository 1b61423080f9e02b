"""Numbers as text: four significant digits, words for infinity and NaN, units in full.

Python and numpy scalars are accepted alike (through `float` and `__index__`): no caller needs numpy
to print a measurement.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import SupportsFloat

DIGITS = 4
# Outside these limits a number reads better with an exponent.
_MIN_FIXED = 1e-3
_MAX_FIXED = 1e6
_MAX_EXACT = 1e15  # integers up to here are exact in a float64 and short enough to read
_ALIGNED_DECIMALS = 3
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def format_number(value: SupportsFloat, digits: int = DIGITS) -> str:
    """Return a number with `digits` significant digits; integers exactly, with separators.

    0.1111, 1.000, 12.35, 1,048,576, 1.235e-7, NaN, inf, -inf; zero is a plain 0.
    """
    if isinstance(value, bool):
        return str(value)
    if hasattr(value, "__index__"):
        integer = int(value.__index__())
        if abs(integer) < _MAX_EXACT:
            return f"{integer:,}"
        return _exponent(float(integer), digits)
    number = float(value)
    if not math.isfinite(number) or number == 0:
        return _word(number)
    size = abs(float(f"{number:.{digits - 1}e}"))  # rounded first: 0.99996 is 1.000, not 1.0000
    if number.is_integer() and 10**digits <= abs(number) < _MAX_EXACT:
        return f"{int(number):,}"
    if not _MIN_FIXED <= size < _MAX_FIXED:
        return _exponent(number, digits)
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{number:,.{decimals}f}"


def format_distinct_numbers(observed: SupportsFloat, expected: SupportsFloat) -> tuple[str, str]:
    """Return two numbers with enough digits to see that they differ, at least four."""
    return _distinct_texts(format_number, observed, expected, range(DIGITS, 18))


def format_aligned_numbers(values: Iterable[SupportsFloat]) -> list[str]:
    """Return the numbers of a small array in one form, for a column.

    Integers stay integers.  Otherwise all have the same decimals, chosen for the largest.  "0"
    always means zero: a number that would round to it keeps one digit ("3e-9").
    """
    numbers = [float(value) for value in values]
    finite = [abs(number) for number in numbers if math.isfinite(number)]
    largest = max(finite, default=0.0)
    decimals: int | None = None  # None: an exponent
    if all(number.is_integer() for number in finite) and largest < _MAX_FIXED:
        decimals = 0
    elif _MIN_FIXED <= largest < _MAX_FIXED:
        needed = _ALIGNED_DECIMALS - math.floor(math.log10(largest))
        decimals = min(max(needed, 0), 5 if largest < 0.1 else _ALIGNED_DECIMALS)
    return [_aligned(number, decimals) for number in numbers]


def format_bytes(n: SupportsFloat) -> str:
    """Return a number of bytes in full: "1,179,648 bytes"; an average has one decimal."""
    count = float(n)
    if count == 1:
        return "1 byte"
    return f"{count:,.0f} bytes" if count.is_integer() else f"{count:,.1f} bytes"


def format_amount(n: SupportsFloat, unit: str, decimals: int = 1) -> str:
    """Return a number of bytes in KB to GB, or KiB to GiB: "14.0 GB"; GB is 1e9, GiB 2**30."""
    amount = float(n) / _UNITS[unit]
    if amount and abs(amount) < 0.5 * 10**-decimals:
        return f"{format_number(amount)} {unit}"
    return f"{amount:,.{decimals}f} {unit}"


def format_distinct_amounts(
    observed: SupportsFloat, expected: SupportsFloat, unit: str
) -> tuple[str, str]:
    """Return two amounts in one unit, with enough decimals to see that they differ."""
    return _distinct_texts(
        lambda n, decimals: format_amount(n, unit, decimals), observed, expected, range(1, 13)
    )


def format_band(allowed: SupportsFloat) -> str:
    """Return the width of a tolerance: "+-1e-7"."""
    width = float(allowed)
    text = _trim(f"{width:.2g}") if math.isfinite(width) else _word(width)
    return f"+-{text}"


def short(v: float) -> str:
    """Return a number with at most three significant digits: "3", "0.005", "1e-7"."""
    return _trim(f"{v:.3g}")


def format_ratio(ratio: SupportsFloat) -> str:
    """Return a ratio: "0.71x", "1.30x", "7.2x", "120x"."""
    factor = float(ratio)
    if factor < 2:
        return f"{factor:.2f}x"
    return f"{factor:.1f}x" if factor < 20 else f"{factor:,.0f}x"


def format_duration(seconds: float) -> str:
    """Return a duration: "0.41 s", "1.9 s", "42 s", "3 min 20 s"."""
    duration = min(max(0.0, seconds), 1e9)  # a broken clock can give any number
    if duration < 9.95:
        return f"{duration:.2f} s" if duration < 0.995 else f"{duration:.1f} s"
    rounded = round(duration)
    return f"{rounded} s" if rounded < 120 else f"{rounded // 60} min {rounded % 60} s"


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: 1 hint, 2 hints."""
    noun = singular if number == 1 else plural or f"{singular}s"
    return f"{number:,} {noun}"


def join_words(words: Iterable[object], most: int | None = None) -> str:
    """Join words to one text: "one", "one and two", "one, two and three".

    Of more than `most` words the rest is counted: "one, two and 4 more" with `most` 2.
    """
    texts = [str(word) for word in words]
    if most is not None and len(texts) > most:
        texts[most:] = [f"{len(texts) - most:,} more"]
    if len(texts) < 2:
        return "".join(texts)
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def format_minutes(minutes: float) -> str:
    """Return a duration in its largest fitting unit: "90 minutes", "3 hours", "2 days"."""
    rounded = max(0, round(minutes))
    if rounded < 120:
        return format_count(rounded, "minute")
    hours = rounded / 60
    if hours < 48:
        return format_count(round(hours), "hour")
    return format_count(round(rounded / 1440), "day")


def format_shape(shape: Iterable[int]) -> str:
    """Return a shape as Python writes it: "(2, 3)", "(4,)", "()"."""
    return str(tuple(int(size) for size in shape))


def _distinct_texts(
    format_value: Callable[[SupportsFloat, int], str],
    observed: SupportsFloat,
    expected: SupportsFloat,
    precisions: range,
) -> tuple[str, str]:
    """Format two numbers at the first precision at which the texts differ, else at the lowest."""
    for precision in precisions:
        texts = (format_value(observed, precision), format_value(expected, precision))
        if texts[0] != texts[1]:
            return texts
    return format_value(observed, precisions[0]), format_value(expected, precisions[0])


def _word(number: float) -> str:
    """Return the text of zero, infinity or NaN."""
    if number == 0:
        return "0"
    return "NaN" if math.isnan(number) else str(number)


def _aligned(number: float, decimals: int | None) -> str:
    if not math.isfinite(number) or number == 0:
        return _word(number)
    if decimals is None:
        return _exponent(number, 3)
    text = f"{number:.{decimals}f}"
    return text if float(text) else _exponent(number, 1)


def _exponent(number: float, digits: int) -> str:
    return _trim(f"{number:.{digits - 1}e}")


def _trim(text: str) -> str:
    """Return a number with a short exponent: 1e-07 is 1e-7."""
    mantissa, e, power = text.partition("e")
    return f"{mantissa}e{int(power)}" if e else text
