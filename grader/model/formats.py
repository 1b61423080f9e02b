"""The forms that a spec may have, turned into the one that the model knows: that of several parts.

A question of one part has the keys of its part at the top, and format 1 has other words for some.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Keys = tuple[str | int, ...]

OF_A_PART = ("minutes", "prompt", "interface", "contract", "checks", "hints", "follow_ups")
NEW_IN_2 = (
    "parts", "starter_holds", "defaults", "display", "helpers", "data", "form", "answers",
    "diff", "reasons", "prerequisites", "then", "causes", "log", "experiments",
)  # fmt: skip
WORDS_OF_1 = {"starter": "starter_holds"}


def unified(data: Mapping[str, Any]) -> dict[str, Any]:
    """Parsed data of a spec with `parts`, and the words of format 2."""
    found = dict(data)
    if is_of_1(data):
        for old, new in WORDS_OF_1.items():
            if old in found and new not in found:
                found[new] = found.pop(old)
    if "parts" not in found:
        part = {key: found.pop(key) for key in OF_A_PART if key in found}
        found["parts"] = [{"points": 100, **part}]
    return found


def as_written(at: Keys, data: Mapping[str, Any]) -> Keys:
    """The path of keys, in the data as it was written, of something in the unified data."""
    if at[:2] == ("parts", 0) and "parts" not in data:
        return at[2:]
    if at and at[0] not in data:
        old = next((old for old, new in WORDS_OF_1.items() if new == at[0] and old in data), None)
        return at if old is None else (old, *at[1:])
    return at


def is_of_1(data: Mapping[str, Any]) -> bool:
    """Whether a spec says that it is of format 1."""
    return data.get("format") == 1
