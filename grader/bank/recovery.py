"""What is left of a spec without its wrong parts, so that the rest can be looked at too.

A misspelt key must not hide a misspelt name further down. What is left out stays known by name: a
check that needs a broken check needs something that is there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from grader.bank.document import Keys

Part = Literal["checks", "misconceptions", "cases", "run"]
_CODE = "pass"
_STEPS = ["_ = _()"]
_STAND_INS: dict[str, Any] = {
    "format": 1, "title": "x", "track": "x", "level": "core", "minutes": 1,
    "uses": ["numpy", "torch"], "prompt": "x", "interface": "x",
}  # fmt: skip
_NEEDED = {"run", "cases", "checks"}  # without one of these nothing more can be said


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was left out, by name, and where the checks that are left stood."""

    named: frozenset[tuple[Part, str]] = frozenset()
    indexes: tuple[int, ...] | None = None  # of the checks that are left; None: all are

    def of(self, part: Part) -> list[str]:
        """The names of what was left out of a part."""
        return sorted(name for where, name in self.named if where == part)

    def index(self, number: int) -> int:
        """Where in the file the check stands that is number `number` of those left."""
        return number if self.indexes is None else self.indexes[number]


def without(
    data: dict[str, Any], faulty: Iterable[tuple[Keys, str]]
) -> tuple[dict[str, Any] | None, LeftOut]:
    """Leave wrong parts out.

    Args:
        data: the document.
        faulty: for each fault its path and pydantic's word for it.

    Returns:
        What is left, None where it says nothing, and what was left out.
    """
    left = copy.deepcopy(data)
    lost: set[tuple[Part, str]] = set()
    dropped: set[int] = set()
    for at, kind in faulty:
        match at:
            case (*around, key) if kind == "extra_forbidden":
                with suppress(LookupError, AttributeError):  # what it was in may be gone by now
                    inside: Any = left
                    for step in around:
                        inside = inside[step]
                    inside.pop(key, None)
            case ("checks", int() as i, *_):
                dropped.add(i)
                if isinstance(data["checks"][i], dict):
                    lost.add(("checks", str(data["checks"][i].get("id"))))
            case ("misconceptions" | "cases" | "run" as part, str() as name, *_):
                left[part].pop(name, None)
                lost.add((part, name))
                if part == "run":
                    left["run"]["_"] = _STEPS
            case ("run", int(), *_):
                left["run"] = _STEPS
                lost.add(("run", "main"))
            case ("code", str() as name, *_):
                left["code"][name] = _CODE
            case ("code",):
                left["code"] = dict.fromkeys(("reference", "starter", "driver"), _CODE)
            case (str() as key, *_) if key in _STAND_INS:
                left[key] = _STAND_INS[key]
            case (str() as key, *_) if key not in _NEEDED:
                left.pop(key, None)
                if key == "misconceptions":
                    left.pop("starter", None)
            case _:
                return None, LeftOut()
    checks = left.get("checks")
    if not isinstance(checks, list):
        return None, LeftOut()
    indexes = tuple(i for i in range(len(checks)) if i not in dropped)
    left["checks"] = [checks[i] for i in indexes]
    return left, LeftOut(frozenset(lost), indexes)
