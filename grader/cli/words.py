"""Numbers with their nouns, for sentences."""

from __future__ import annotations


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
