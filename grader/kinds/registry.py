"""The kinds of check by name: those built in, and those of installed packages.

A module is imported when a spec uses its kind, so that nothing pays for the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter, ValidationError, create_model

from grader.kinds.base import Kind
from grader.model import extension
from grader.model.extension import CHECKS, ExtensionError
from grader.model.spec import Check, Mention, Spec

# Each is the module of its name, and in it the class of its name.
BUILT_IN = (
    "outputs", "gradcheck", "contract", "state", "numbers", "curve", "graph", "memory", "flops",
    "performance", "peak", "choices",
)  # fmt: skip
STAND_IN: dict[str, object] = {"kind": "outputs", "of": []}  # keys in place of a wrong check's
_PATH = tuple[str | int, ...]
_HOOKS: Mapping[str, tuple[Any, str]] = {  # by method of the keys: each value, and that in words
    "mentions": (Mention, "yield a Mention of a path, a name and what it is of"),
    "faults": (
        tuple[_PATH, str], "yield a pair of the path of a key, as a tuple, and a sentence",
    ),
    "lacks": (str, "return a text"),
}  # fmt: skip


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
        module = import_module(f"grader.kinds.{name}")
        built_in: type[Kind[Any]] = getattr(module, name.capitalize())
        return built_in()
    given: object = extension.load(CHECKS, name)
    if given is None:
        return None
    where = f"the entry point {name} of {CHECKS}"
    if not (isinstance(given, type) and issubclass(given, Kind)):
        raise ExtensionError(f"{where}: expected a subclass of grader.api.Kind, found {given!r}")
    keys: Any = getattr(given, "keys", None)
    derived = isinstance(keys, type) and issubclass(keys, Check)
    words = get_args(keys.model_fields["kind"].annotation) if derived else ()
    if words != (name,):
        raise ExtensionError(
            f"{where}: expected keys derived from grader.api.Check with kind: Literal[{name!r}], "
            f"found {keys!r}"
        )
    return given()


def usable(name: str) -> Kind[Any] | None:
    """The kind of a name, if anything gives it that can be used."""
    try:
        return find(name)
    except ExtensionError:
        return None


def get_or_plain(name: str) -> Kind[Any]:
    """The kind of a name, or one with every default: a report outlives the package of its kind."""
    return usable(name) or Kind()


def fault_of(check: Check) -> str:
    """What is wrong with what the keys of an extension say of themselves; empty if nothing is."""
    if check.kind in BUILT_IN:
        return ""
    for method, (form, expected) in _HOOKS.items():
        where = f"{method}() of the extension of kind {check.kind}"
        try:
            value = getattr(check, method)()
            for item in value if expected.startswith("yield") else (value,):
                try:
                    TypeAdapter(form).validate_python(item, strict=True)
                except ValidationError:
                    return f"expected {where} to {expected}, found {item!r:.200}"
        except Exception as error:  # noqa: BLE001 whatever somebody else's code raises
            return f"{where} raised {extension.what(error)}"
    return ""


def names() -> list[str]:
    """Every kind that there is, those of packages last."""
    return list(dict.fromkeys([*BUILT_IN, *extension.names(CHECKS)]))


def spec_model(kinds: Iterable[str]) -> type[Spec]:
    """The model of a spec whose checks are of these kinds; those that cannot be used are not."""
    # A union of one is none, and pydantic says nothing of its discriminator.
    names = dict.fromkeys([*kinds, "outputs", "contract"])
    return _spec_model(tuple(kind.keys for kind in map(usable, names) if kind is not None))


@cache
def _spec_model(several: tuple[type[Check], ...]) -> type[Spec]:
    one: Any = Annotated[reduce(or_, several), Field(discriminator="kind")]
    checks = list[one], copy(Spec.model_fields["checks"])
    return create_model("Spec", __base__=Spec, __doc__=Spec.__doc__, checks=checks)


def read(data: Mapping[str, Any]) -> Spec:
    """The spec in parsed data.

    Raises:
        ValidationError: it is none.
    """
    checks = data.get("checks")
    listed = checks if isinstance(checks, list) else []
    kinds = dict.fromkeys(str(check.get("kind")) for check in listed if isinstance(check, dict))
    return spec_model(kinds).model_validate(data)


def schema(*, extended: bool) -> str:
    """The JSON Schema of a question, by which editors complete and check a spec.

    Args:
        extended: with the kinds of check of installed extensions.
    """
    whole: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    whole |= spec_model(names() if extended else BUILT_IN).model_json_schema()
    kind = Check.model_fields["kind"].description
    for part in whole["$defs"].values():
        if "const" in part.get("properties", {}).get("kind", ()):
            part["properties"]["kind"]["description"] = kind
    return json.dumps(whole, indent=2) + "\n"
