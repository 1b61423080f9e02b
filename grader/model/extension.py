"""Kinds of check and generators of inputs that other installed packages add, by entry point.

A package names them in the groups `drill.checks` and `drill.inputs`; `docs/extending.md` shows one.
Looking for them reads the metadata of everything that is installed, so nobody looks before a spec
says a word that is not built in.  They run in the judging process: installing one is trusting it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from grader.model.report import CheckResult
    from grader.model.spec import Check

CHECKS, INPUTS = "drill.checks", "drill.inputs"
T = TypeVar("T")


class ExtensionError(Exception):
    """An extension is installed and cannot be used."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of check: its keys in a spec, and how it is carried out."""

    model: type[Check]  # with `kind: Literal[...]`, the name of the entry point
    run: Callable[[Any, Any], CheckResult]  # (bench, check): see grader.kinds


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator of inputs: what it draws, and which options it takes beside its shape.

    `draw` gets the shape, the options as written and a numpy generator, and returns float64 values
    of that shape.  `refuse` gets the options when a spec is read and returns what is wrong with
    them, as 'expected ..., found ...'.
    """

    draw: Callable[[tuple[int, ...], Mapping[str, Any], Any], Any]
    options: tuple[str, ...] = ()
    refuse: Callable[[Mapping[str, Any]], str] | None = None


def kind(name: str) -> Kind | None:
    """The kind of check that an extension gives a name, if one does.

    Raises:
        ExtensionError: one does, and it cannot be used.
    """
    found: Kind | None = _loaded(CHECKS, name, Kind)
    if found is None:
        return None
    from typing import get_args

    from grader.model.spec import Check

    given: object = found.model  # as it is declared, or anything
    fields = given.model_fields if isinstance(given, type) and issubclass(given, Check) else {}
    info = fields.get("kind")
    if info is None or get_args(info.annotation) != (name,):
        raise ExtensionError(
            f"the entry point {name} of {CHECKS}: expected a model derived from "
            f"grader.model.spec.Check with kind: Literal[{name!r}], found {given!r}"
        )
    return found


def generator(name: str) -> Generator | None:
    """The generator of inputs that an extension gives a name, if one does.

    Raises:
        ExtensionError: one does, and it cannot be used.
    """
    found: Generator | None = _loaded(INPUTS, name, Generator)
    return found


def names(group: str) -> tuple[str, ...]:
    """The names that installed packages give in a group."""
    from importlib.metadata import entry_points

    return tuple(sorted({point.name for point in entry_points(group=group)}))


@cache
def _loaded(group: str, name: str, wanted: type[T]) -> T | None:
    from importlib.metadata import entry_points

    points = entry_points(group=group, name=name)
    if not points:
        return None
    if len({point.value for point in points}) > 1:
        who = " and ".join(sorted({point.value for point in points}))
        raise ExtensionError(f"expected one entry point {name} of {group}, found {who}")
    point = next(iter(points))
    where = f"the entry point {name} = {point.value} of {group}"
    try:
        found = point.load()
    except Exception as error:  # noqa: BLE001 whatever a module raises while it is imported
        said = " ".join(str(error).split())
        raise ExtensionError(
            f"{where}: expected it to load, found {type(error).__name__}: {said}"
        ) from None
    if not isinstance(found, wanted):
        raise ExtensionError(
            f"{where}: expected a grader.model.extension.{wanted.__name__}, "
            f"found a {type(found).__name__}"
        )
    return found
