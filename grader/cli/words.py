"""Numbers with their nouns, for sentences, and advice that several commands give."""

from __future__ import annotations

# The version of constraints.txt; a looser request may fetch gigabytes of CUDA packages.
GET_TORCH = "pip install torch==2.13.0 (a build for the CPU will do, and any version from 2.4)"


def quantity(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: 1 hint, 2 hints."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def span(minutes: float) -> str:
    """Return a stretch of time in the unit a person would use."""
    whole = max(0, round(minutes))
    if whole < 120:
        return quantity(whole, "minute")
    if whole < 48 * 60:
        return quantity(round(whole / 60), "hour")
    return quantity(round(whole / 1440), "day")
