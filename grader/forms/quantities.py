"""Quantities as people write them: a number and a unit.

The decimal prefixes of bytes are powers of 1000 (SI), the binary ones of 1024 (IEC 80000-13).
"""

from __future__ import annotations

import math
import re

_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12} | {
    f"{prefix}iB": 1024.0**power for power, prefix in enumerate("KMGT", 1)
}
_WORK = {"FLOP": 1.0, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "TFLOP": 1e12, "PFLOP": 1e15}
_TIMES = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}
UNITS: dict[str, tuple[str, dict[str, float]]] = {
    "1": ("a pure number", {"": 1.0, "1": 1.0}),
    "B": ("an amount of memory", _BYTES),
    "FLOP": ("an amount of work", _WORK),
    "s": ("a time", _TIMES),
    "FLOP/B": ("work per byte", {"FLOP/B": 1.0}),
    "B/s": ("a bandwidth", {f"{name}/s": size for name, size in _BYTES.items()}),
    "FLOP/s": ("a rate of work", {f"{name}/s": size for name, size in _WORK.items()}),
    "tok/s": ("a rate", {"tok/s": 1.0}),
}  # by the unit of an answer: what it measures, and each unit that may be written, in it
_NUMBER = re.compile(
    r"[+-]?(?:(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII
)
_COMMAS = re.compile(r"\d+(,\d+)+", re.ASCII)
_GROUPS = re.compile(r"\d{1,3}(,\d{3})+", re.ASCII)


class QuantityError(ValueError):
    """What is no quantity, and the place in it, from 0."""

    def __init__(self, sentence: str, at: int = 0) -> None:
        """Note the place."""
        super().__init__(sentence)
        self.at = at


def quantity(text: str, unit: str) -> float:
    """A quantity in its base unit, as 1.12e11 for `112 GB`.

    Raises:
        QuantityError: it is none; the sentence says what was expected.
    """
    what, known = UNITS[unit]
    commas = _COMMAS.match(text.lstrip("+-"))
    if commas and (commas[0][0] == "0" or not _GROUPS.fullmatch(commas[0])):
        parts = commas[0].replace(",", ".", 1)
        raise QuantityError(
            f"{commas[0]:.30} reads as two numbers; write {parts:.30}, and commas only between "
            "groups of three digits"
        )
    found = _NUMBER.match(text)
    digits = found[0] if found else ""
    named = text[len(digits) :].strip()
    if not digits:
        raise QuantityError(f"expected a number{_with(known)}, found {text[:40]!r:.60}")
    value = float(digits.replace(",", "").replace("_", ""))
    if not math.isfinite(value * known.get(named, 1.0)) or value < 0:
        raise QuantityError("a quantity is a finite number, 0 or more")
    if named in known:
        return value * known[named]
    listed = _listed([name for name in known if name])
    at = len(text) - len(named)  # of the unit: there are no spaces after it
    if not named:
        raise QuantityError(f"needs a unit: {listed}", len(digits))
    if unit == "1":
        raise QuantityError(f"is {what}: write it without {named[:20]}", at)
    if any(named in units for _, units in UNITS.values()):
        raise QuantityError(f"is {what}, which {named} is not; units are {listed}", at)
    if named.lower() in {"gb", "mb", "kb", "tb"} and unit == "B":
        raise QuantityError(
            f"{named} is no unit here; GB is 1e9 bytes, GiB is 2**30, and Gb would be bits", at
        )
    raise QuantityError(f"{named[:20]} is no unit here; units are {listed}", at)


def _with(known: dict[str, float]) -> str:
    return "" if "" in known else f" with a unit, as 1.5 {next(iter(known))}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
