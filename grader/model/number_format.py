"""How numbers read: four significant digits, words for what is not finite, units in full.

Everything here takes Python or numpy scalars alike (through `float` and `__index__`), so
that no caller needs numpy to print what it measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import SupportsFloat

DIGITS = 4
_FEWEST_FIXED, _MOST_FIXED = 1e-3, 1e6  # outside a number reads better with an exponent
_MOST_EXACT = 1e15  # whole numbers up to here are exact in a float64 and short enough to read
_ALIGNED_DECIMALS = 3
_UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def format_number(value: SupportsFloat, digits: int = DIGITS) -> str:
    """A number to `digits` significant digits; integers exactly, with separators.

    0.1111, 1.000, 12.35, 1,048,576, 1.235e-7, NaN, inf, -inf; zero is a plain 0.
    """
    if isinstance(value, bool):
        return str(value)
    if hasattr(value, "__index__"):
        whole = int(value.__index__())
        return f"{whole:,}" if abs(whole) < _MOST_EXACT else _exponent(float(whole), digits)
    v = float(value)
    if not math.isfinite(v) or v == 0:
        return _word(v)
    size = abs(float(f"{v:.{digits - 1}e}"))  # rounded first: 0.99996 is 1.000, not 1.0000
    if v.is_integer() and 10**digits <= abs(v) < _MOST_EXACT:
        return f"{int(v):,}"
    if not _FEWEST_FIXED <= size < _MOST_FIXED:
        return _exponent(v, digits)
    return f"{v:,.{max(0, digits - 1 - math.floor(math.log10(size)))}f}"


def format_distinct_numbers(observed: SupportsFloat, expected: SupportsFloat) -> tuple[str, str]:
    """Two numbers with as many digits as it takes to see that they differ, four at least."""
    return _apart(format_number, observed, expected, range(DIGITS, 18))


def format_aligned_numbers(values: Iterable[SupportsFloat]) -> list[str]:
    """Numbers of one small array, alike in form so that they can stand in a column.

    Whole numbers stay whole.  Otherwise all have the same decimals, chosen for the largest; what
    would round to zero keeps one digit ("3e-9"), so that "0" always means zero.
    """
    listed = [float(v) for v in values]
    finite = [abs(v) for v in listed if math.isfinite(v)]
    largest = max(finite, default=0.0)
    decimals: int | None = None  # an exponent instead
    if all(v.is_integer() for v in finite) and largest < _MOST_FIXED:
        decimals = 0
    elif _FEWEST_FIXED <= largest < _MOST_FIXED:
        room = _ALIGNED_DECIMALS - math.floor(math.log10(largest))
        decimals = min(max(room, 0), 5 if largest < 0.1 else _ALIGNED_DECIMALS)
    return [_aligned(v, decimals) for v in listed]


def format_bytes(n: SupportsFloat) -> str:
    """A number of bytes in full: "1,179,648 bytes"; one decimal when it is an average."""
    v = float(n)
    return "1 byte" if v == 1 else f"{v:,.{0 if v.is_integer() else 1}f} bytes"


def format_amount(n: SupportsFloat, unit: str, decimals: int = 1) -> str:
    """A number of bytes in KB to GB, or KiB to GiB: "14.0 GB"; GB is 1e9 and GiB 2**30."""
    v = float(n) / _UNITS[unit]
    tiny = v and abs(v) < 0.5 * 10**-decimals
    return f"{format_number(v) if tiny else f'{v:,.{decimals}f}'} {unit}"


def format_distinct_amounts(
    observed: SupportsFloat, expected: SupportsFloat, unit: str
) -> tuple[str, str]:
    """Two amounts in the same unit, with enough decimals to see that they differ."""
    return _apart(lambda n, d: format_amount(n, unit, d), observed, expected, range(1, 13))


def format_band(allowed: SupportsFloat) -> str:
    """The width of a tolerance: "+-1e-7"."""
    v = float(allowed)
    return f"+-{_trim(f'{v:.2g}') if math.isfinite(v) else _word(v)}"


def short(v: float) -> str:
    """A number without zeros at its end: "3", "0.005", "1e-7"."""
    return _trim(f"{v:.3g}")


def format_ratio(ratio: SupportsFloat) -> str:
    """A ratio: "0.71x", "1.30x", "7.2x", "120x"."""
    v = float(ratio)
    return f"{v:.2f}x" if v < 2 else f"{v:.1f}x" if v < 20 else f"{v:,.0f}x"


def format_duration(seconds: float) -> str:
    """A duration: "0.41 s", "1.9 s", "42 s", "3 min 20 s"."""
    v = min(max(0.0, seconds), 1e9)  # a broken clock says anything
    if v < 9.95:
        return f"{v:.2f} s" if v < 0.995 else f"{v:.1f} s"
    whole = round(v)
    return f"{whole} s" if whole < 120 else f"{whole // 60} min {whole % 60} s"


def format_count(number: int, singular: str, plural: str = "") -> str:
    """A number with its noun: 1 hint, 2 hints."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def join_words(words: Iterable[object], most: int | None = None) -> str:
    """Words in a row: "one", "one and two", "one, two and three"; after `most` come "4 more"."""
    texts = [str(word) for word in words]
    if most is not None and len(texts) > most:
        texts[most:] = [f"{len(texts) - most:,} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def format_minutes(minutes: float) -> str:
    """A stretch of time in the unit a person would use."""
    whole = max(0, round(minutes))
    for most, size, unit in ((120, 1, "minute"), (48 * 60, 60, "hour")):
        if whole < most:
            return format_count(round(whole / size), unit)
    return format_count(round(whole / 1440), "day")


def format_shape(shape: Iterable[int]) -> str:
    """A shape as Python writes it: "(2, 3)", "(4,)", "()"."""
    return str(tuple(int(n) for n in shape))


def _apart(
    write: Callable[[SupportsFloat, int], str],
    observed: SupportsFloat,
    expected: SupportsFloat,
    precisions: range,
) -> tuple[str, str]:
    """Two numbers at the first precision at which they differ, else at the lowest."""
    texts = [(write(observed, p), write(expected, p)) for p in precisions]
    return next((pair for pair in texts if pair[0] != pair[1]), texts[0])


def _word(v: float) -> str:
    """What has no digits."""
    return "0" if v == 0 else "NaN" if math.isnan(v) else str(v)


def _aligned(v: float, decimals: int | None) -> str:
    if not math.isfinite(v) or v == 0:
        return _word(v)
    if decimals is None:
        return _exponent(v, 3)
    text = f"{v:.{decimals}f}"
    return text if float(text) else _exponent(v, 1)


def _exponent(v: float, digits: int) -> str:
    return _trim(f"{v:.{digits - 1}e}")


def _trim(text: str) -> str:
    """Drop the padding of an exponent: 1e-07 is 1e-7."""
    mantissa, e, power = text.partition("e")
    return f"{mantissa}e{int(power)}" if e else text
