"""Units of quantities: spellings, factors and dimensions.

Every unit has a *base unit* and a *factor*: a GiB is 2**30 B.  The decimal prefixes of bytes are
powers of 1000 (SI), the binary ones powers of 1024 (IEC 80000-13).
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit, as the factor and base unit of GiB: 2**30 B."""

    factor: float
    base: str  # "" for a noun such as layers, not a unit


class UnitFamily(NamedTuple):
    """All units with one base unit, such as B, GB and KiB."""

    description: str  # of the quantity that they measure
    factors: dict[str, float]  # by the name of a unit


COUNTED_NOUNS = ("tok", "user", "sample", "sequence", "request", "step")
PHYSICAL_UNITS = ("B", "FLOP", "s")
_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_BINARY = {f"{prefix}i": 1024.0**power for power, prefix in enumerate("KMGTP", 1)}
_BYTES = {f"{prefix}B": factor for prefix, factor in (_DECIMAL | _BINARY).items()}
_WORK = {f"{prefix}FLOP": factor for prefix, factor in _DECIMAL.items()}
_WORK_RATES = {
    **{f"{name}/s": factor for name, factor in _WORK.items()},
    **{f"{name}S": factor for name, factor in _WORK.items()},
}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}

# By base unit; the unit of each answer in a spec is one of these keys.
UNITS = {
    "1": UnitFamily("a pure number", {"": 1.0, "1": 1.0, "%": 0.01}),
    "B": UnitFamily("an amount of memory", _BYTES),
    "FLOP": UnitFamily("an amount of work", _WORK),
    "s": UnitFamily("a time", _TIMES),
    "FLOP/B": UnitFamily("work per byte", {"FLOP/B": 1.0}),
    "B/s": UnitFamily("a bandwidth", {f"{name}/s": factor for name, factor in _BYTES.items()}),
    "FLOP/s": UnitFamily("a rate of work", _WORK_RATES),
}
for _noun in COUNTED_NOUNS:
    _bytes_per_noun = {f"{name}/{_noun}": factor for name, factor in _BYTES.items()}
    UNITS[_noun] = UnitFamily("a count", {_noun: 1.0})
    UNITS[f"{_noun}/s"] = UnitFamily("a rate", {f"{_noun}/s": 1.0})
    UNITS[f"B/{_noun}"] = UnitFamily("memory", _bytes_per_noun)

UNITS_BY_NAME = {
    name: Unit(factor, base)
    for base, family in UNITS.items()
    for name, factor in family.factors.items()
}

# By the name in UNITS: other spellings.  Those with a prefix, as gigabytes, match _PREFIXED.
_SPELLINGS = {
    "%": ["percent"],
    "s": ["sec", "secs", "second", "seconds"],
    "ms": ["msec", "millisecond", "milliseconds"],
    "us": ["\u00b5s", "usec", "microsecond", "microseconds"],
    "ns": ["nsec", "nanosecond", "nanoseconds"],
    "min": ["mins", "minute", "minutes"],
    "h": ["hr", "hrs", "hour", "hours"],
    "tok": ["token", "tokens"],
}
_NAMES_BY_SPELLING = {word: name for name, words in _SPELLINGS.items() for word in words}
_NAMES_BY_SPELLING |= {f"{noun}s": noun for noun in COUNTED_NOUNS}
_PREFIXED = re.compile(
    r"((?:kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi|[kmgtp]i?)?)"
    r"(?:(?P<B>b(?:ytes?|s?))|(?P<FLOP>flops?))",
    re.IGNORECASE,
)
BIT_UNIT = re.compile(r"b|[KMGTP]i?bs?")  # Gb may mean gigabits


def canonical_unit(written: str) -> str:
    """Return the usual spelling of a unit, as GB for `gigabytes`; other words stay as they are."""
    if "/" in written:
        return "/".join(canonical_unit(part) for part in written.split("/"))
    if written in UNITS_BY_NAME or BIT_UNIT.fullmatch(written):
        return written
    prefixed = _PREFIXED.fullmatch(written)
    if prefixed is None:
        return _NAMES_BY_SPELLING.get(written.lower(), written)
    binary = "i" if prefixed[1].lower().endswith("i") else ""
    return f"{prefixed[1][:1].upper()}{binary}{prefixed.lastgroup}"


def find_unit(written: str) -> Unit | None:
    """Return the unit that a text spells, or None if it is not a unit."""
    return UNITS_BY_NAME.get(canonical_unit(written))


def base_unit(written: str) -> str:
    """Return the base unit that an author means: B for `bytes`; "" if it is not a base unit."""
    unit = find_unit(written)
    return unit.base if unit and unit.factor == 1 else ""


def unit_of(number: str) -> str:
    """Return the base unit of a number in a spec: B for `67.1 MB`; "1" without a known unit."""
    unit = find_unit(number.partition(" ")[2])
    return unit.base if unit else "1"


def _dimension_scales(*base_units: str) -> dict[str, float]:
    """Return an arbitrary scale for each of `base_units`, and the matching one for B/s and so on.

    Other units, such as tok if it is not given, count as pure numbers and have the scale 1.

    To check the unit of a result, it is calculated twice, the second time with every unit
    multiplied by its scale.  The unit is right if the result grows by the scale of that unit.
    """
    sizes = {unit: math.log(number) for number, unit in enumerate(base_units, 3)}
    scales = {}
    for unit in UNITS:
        whole, _, per = unit.partition("/")
        scales[unit] = sizes.get(whole, 1.0) / sizes.get(per, 1.0)
    return scales


DIMENSION_SCALES = _dimension_scales(*PHYSICAL_UNITS, *COUNTED_NOUNS)
PHYSICAL_SCALES = _dimension_scales(*PHYSICAL_UNITS)  # tokens and users count as pure numbers
