"""What is left of a spec without its wrong parts, so that the rest can be looked at too.

A misspelt key must not hide a misspelt name further down. What is left out stays known by name: a
check that needs a broken check needs something that is there.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from grader.bank.document import Keys

_STAND_INS: dict[str, Any] = {
    "format": 1, "title": "x", "track": "x", "level": "core", "minutes": 1,
    "uses": ["numpy", "torch"], "prompt": "x", "interface": "x",
}  # fmt: skip
_STAND_IN = "_ = _()"  # for the steps of a run
_CODE = "pass"
_NEEDED = {"run", "cases", "checks"}  # without one of these nothing more can be said


@dataclass(frozen=True, slots=True)
class Gaps:
    """What was left out, by name, and where the checks that are left stood."""

    places: tuple[int, ...] | None = None  # of the checks that are left; None: all are
    checks: frozenset[str] = frozenset()  # ids
    misconceptions: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()  # with a step that cannot be read

    def place(self, number: int) -> int:
        """Where in the file the check stands that is number `number` of those left."""
        return number if self.places is None else self.places[number]


def without(
    data: dict[str, Any], faulty: Iterable[tuple[Keys, str]]
) -> tuple[dict[str, Any] | None, Gaps]:
    """Leave wrong parts out.

    Args:
        data: the document.
        faulty: for each fault its path and pydantic's word for it.

    Returns:
        What is left, None where it says nothing, and what was left out.
    """
    left = copy.deepcopy(data)
    lost: dict[str, set[str]] = {"checks": set(), "misconceptions": set(), "cases": set()}
    broken: set[str] = set()
    dropped: set[int] = set()
    for at, kind in faulty:
        if kind == "extra_forbidden":
            with suppress(LookupError, AttributeError):  # what it was in may be gone by now
                _inside(left, at[:-1]).pop(at[-1], None)
            continue
        match at:
            case ("checks", int() as i, *_):
                dropped.add(i)
                lost["checks"].update(_names(_inside(data, ("checks", i)), "id"))
            case ("misconceptions" | "cases" as part, str() as name, *_):
                left[part].pop(name, None)
                lost[part].add(name)
            case ("code", str() as part, *_):
                left["code"][part] = _CODE
            case ("code",):
                left["code"] = dict.fromkeys(("reference", "starter", "driver"), _CODE)
            case ("run", int(), *_):
                left["run"] = [_STAND_IN]
                broken.add("main")
            case ("run", str() as name, *_):
                left["run"].pop(name, None)
                broken.add(name)
                left["run"]["_"] = [_STAND_IN]
            case (str() as key, *_) if key in _STAND_INS:
                left[key] = _STAND_INS[key]
            case (str() as key, *_) if key not in _NEEDED:
                left.pop(key, None)
                if key == "misconceptions":
                    left.pop("starter", None)
            case _:
                return None, Gaps()
    checks = left.get("checks")
    if not isinstance(checks, list):
        return None, Gaps()
    places = tuple(i for i in range(len(checks)) if i not in dropped)
    left["checks"] = [checks[i] for i in places]
    return left, Gaps(
        places,
        frozenset(lost["checks"]),
        frozenset(lost["misconceptions"]),
        frozenset(lost["cases"]),
        frozenset(broken),
    )


def _inside(data: Any, at: Keys) -> Any:  # noqa: ANN401 parsed YAML
    for step in at:
        data = data[step]
    return data


def _names(part: Any, key: str) -> list[str]:  # noqa: ANN401 parsed YAML
    """The text under a key, if that is one."""
    value = part.get(key) if isinstance(part, dict) else None
    return [value] if isinstance(value, str) else []
