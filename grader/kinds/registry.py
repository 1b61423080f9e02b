"""The kinds of check by name: those built in, and those of installed packages.

A module is imported when a spec uses its kind, so that nothing pays for the others.
"""

from __future__ import annotations

from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

from pydantic import Field, create_model

from grader.kinds.base import Kind, kind_of
from grader.model import extension
from grader.model.extension import CHECKS, ExtensionError
from grader.model.spec import Check, Mention, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

BUILT_IN = {
    "outputs": "outputs:Outputs",
    "gradcheck": "gradcheck:Gradcheck",
    "contract": "contract:Contract",
    "state": "state:State",
    "numbers": "numbers:Numbers",
    "curve": "curve:Curve",
    "graph": "graph:Graph",
    "memory": "memory:Memory",
    "flops": "flops:Flops",
    "performance": "performance:Performance",
}


def get(name: str) -> Kind[Any]:
    """The kind of a name.

    Raises:
        ExtensionError: nothing gives it, or a package does and it cannot be used.
    """
    found = find(name)
    if found is None:
        raise ExtensionError(f"no installed package gives the kind of check {name!r}")
    return found


@cache
def find(name: str) -> Kind[Any] | None:
    """The kind of a name, if anything gives it.

    Raises:
        ExtensionError: a package does, and it cannot be used.
    """
    if name in BUILT_IN:
        module, _, word = BUILT_IN[name].partition(":")
        built_in: type[Kind[Any]] = getattr(import_module(f"grader.kinds.{module}"), word)
        return built_in()
    given: object = extension.load(CHECKS, name)
    if given is None:
        return None
    where = f"the entry point {name} of {CHECKS}"
    if not (isinstance(given, type) and issubclass(given, Kind)):
        raise ExtensionError(f"{where}: expected a subclass of grader.api.Kind, found {given!r}")
    keys = getattr(given, "keys", None)
    if kind_of(keys) != name:
        raise ExtensionError(
            f"{where}: expected keys derived from grader.api.Check with kind: Literal[{name!r}], "
            f"found {keys!r}"
        )
    return given()


def get_or_plain(name: str) -> Kind[Any]:
    """The kind of a name, or one with every default: a report outlives the package of its kind."""
    try:
        return find(name) or Kind()
    except ExtensionError:
        return Kind()


def fault_of(check: Check) -> str:
    """What is wrong with what the keys of an extension say of themselves; empty if nothing is."""
    if check.kind in BUILT_IN:
        return ""
    for method, (fits, expected) in _SAID.items():
        try:
            value = getattr(check, method)()
            for item in value if method in _YIELDED else (value,):
                if not fits(item):
                    found = f"{expected}, found {item!r:.200}"
                    return f"expected {method}() of the extension of kind {check.kind} to {found}"
        except Exception as error:  # noqa: BLE001 whatever somebody else's code raises
            said = " ".join(str(error).split())
            raised = f"raised {type(error).__name__}: {said}"
            return f"{method}() of the extension of kind {check.kind} {raised}"
    return ""


def _is_path(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(key, str | int) for key in value)


def _is_fault(value: object) -> bool:
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return _is_path(value[0]) and isinstance(value[1], str)


def _is_mention(value: object) -> bool:
    if not isinstance(value, Mention) or value.of not in get_args(get_type_hints(Mention)["of"]):
        return False
    return _is_path(value.path) and isinstance(value.name, str)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


_YIELDED = ("mentions", "faults")
_SAID: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "mentions": (_is_mention, "yield a Mention of a path, a name and what it is of"),
    "faults": (_is_fault, "yield a pair of the path of a key, as a tuple, and a sentence"),
    "lacks": (_is_text, "return a text"),
}


def names() -> list[str]:
    """Every kind that there is, those of packages last."""
    return list(dict.fromkeys([*BUILT_IN, *extension.names(CHECKS)]))


def used(data: Mapping[str, Any]) -> tuple[dict[str, type[Check]], dict[str, str]]:
    """The kinds that a spec uses, as parsed.

    Returns:
        The keys by kind, and by kind what is wrong with a package's that cannot be used.
    """
    checks = data.get("checks")
    listed = checks if isinstance(checks, list) else []
    return usable(dict.fromkeys(str(c.get("kind")) for c in listed if isinstance(c, dict)))


def usable(words: Iterable[str]) -> tuple[dict[str, type[Check]], dict[str, str]]:
    """The keys of kinds by name, and by name what is wrong with those that cannot be used."""
    found: dict[str, type[Check]] = {}
    faults: dict[str, str] = {}
    for word in words:
        try:
            kind = find(word)
        except ExtensionError as error:
            faults[word] = str(error)
        else:
            if kind is not None:
                found[word] = kind.keys
    return found, faults


@cache
def spec_model(*keys: type[Check]) -> type[Spec]:
    """The model of a spec whose checks have these keys."""
    # A union of one is none, and pydantic says nothing of its discriminator.
    several = dict.fromkeys([*keys, *(get(name).keys for name in ("outputs", "contract"))])
    one: Any = Annotated[reduce(or_, several), Field(discriminator="kind")]
    checks: Any = Annotated[list[one], Field(min_length=1)]
    described = Field(description=Spec.model_fields["checks"].description)
    return create_model("Spec", __base__=Spec, __doc__=Spec.__doc__, checks=(checks, described))


def read(data: Mapping[str, Any]) -> Spec:
    """The spec in parsed data.

    Raises:
        ValidationError: it is none.
    """
    return spec_model(*used(data)[0].values()).model_validate(data)
