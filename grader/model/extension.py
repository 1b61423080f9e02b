"""Kinds of check and generators of inputs that other installed packages add, by entry point.

A package names them in the groups `drill.checks` and `drill.inputs`; `docs/extending.md` shows one.
Looking for them reads the metadata of everything that is installed, so nobody looks before a spec
says a word that is not built in.  They run in the judging process: installing one is blame_bank it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

CHECKS, INPUTS = "drill.checks", "drill.inputs"


class ExtensionError(Exception):
    """An extension is installed and cannot be used."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of inputs: what it draws, and which options it takes besides its shape.

    `draw` gets the shape, the options as written and a numpy generator, and returns float64 values
    of that shape.  `refuse` gets the options when a spec is read and returns what is wrong with
    them, as 'expected ..., found ...'.
    """

    draw: Callable[[tuple[int, ...], Mapping[str, Any], Any], Any]
    options: tuple[str, ...] = ()
    refuse: Callable[[Mapping[str, Any]], str] | None = None


def generator(name: str) -> Generator | None:
    """The generator of inputs that an extension gives a name, if one does.

    Raises:
        ExtensionError: one does, and it cannot be used.
    """
    found = load(INPUTS, name)
    if not isinstance(found, Generator | None):
        raise ExtensionError(
            f"the entry point {name} of {INPUTS}: expected a grader.api.Generator, found {found!r}"
        )
    return found


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages give in a group."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=group)}))


@cache
def load(group: str, name: str) -> object:
    """What an entry point names; None where there is none.

    Raises:
        ExtensionError: there are two, or it does not load.
    """
    from importlib.metadata import entry_points

    points = entry_points(group=group, name=name)
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        who = " and ".join(sorted({point.value for point in points}))
        raise ExtensionError(f"expected one entry point {name} of {group}, found {who}")
    point = next(iter(points))
    try:
        return point.load()
    except Exception as error:  # noqa: BLE001 whatever a module raises while it is imported
        raise ExtensionError(
            f"the entry point {name} = {point.value} of {group}: expected it to load, "
            f"found {what(error)}"
        ) from None


def what(error: Exception) -> str:
    """What somebody else's code raised, on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
