"""The kinds of check by name: those built in, and those of installed packages.

A module is imported when a spec uses its kind, so that nothing pays for the others.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any, get_args

from pydantic import Field, TypeAdapter, ValidationError, create_model

from grader.kinds.base import Kind
from grader.model import extension, formats
from grader.model.extension import CHECKS, ExtensionError
from grader.model.keys import Check, Mention
from grader.model.spec import Part, Spec

# Each is the module of its name, and in it the class of its name.
BUILT_IN = (
    "outputs", "gradcheck", "conservation", "side-effects", "state", "numbers", "curve", "graph",
    "memory", "flops", "performance", "peak", "choices", "findings",
    "causes", "verdicts",
)  # fmt: skip
OF_FORMAT_1 = {"contract": "side_effects"}  # kinds by other words, and the module of each
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


def is_built_in(name: str) -> bool:
    """Whether a kind comes with the program."""
    return name in BUILT_IN or name in OF_FORMAT_1


@cache
def find(name: str) -> Kind[Any] | None:
    """The kind of a name, if anything gives it.

    Raises:
        ExtensionError: a package does, and it cannot be used.
    """
    if is_built_in(name):
        module = import_module(f"grader.kinds.{OF_FORMAT_1.get(name, name.replace('-', '_'))}")
        built_in: type[Kind[Any]] = getattr(module, name.title().replace("-", ""))
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
    if is_built_in(check.kind):
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
    """The model of a spec with checks of these kinds, but those that cannot be used."""
    # A union of one is none, and pydantic says nothing of its discriminator.
    names = dict.fromkeys([*kinds, "outputs", "side-effects"])
    return _spec_model(tuple(kind.keys for kind in map(usable, names) if kind is not None))


@cache
def _spec_model(several: tuple[type[Check], ...]) -> type[Spec]:
    one: Any = Annotated[reduce(or_, several), Field(discriminator="kind")]
    checks = list[one], copy(Part.model_fields["checks"])
    part: Any = create_model("Part", __base__=Part, __doc__=Part.__doc__, checks=checks)
    parts = list[part], copy(Spec.model_fields["parts"])
    return create_model("Spec", __base__=Spec, __doc__=Spec.__doc__, parts=parts)


def read(data: Mapping[str, Any]) -> Spec:
    """The spec in parsed data, of any form.

    Raises:
        ValidationError: it is none.
    """
    whole = formats.unified(data)
    checks = [check for part in _dicts(whole["parts"]) for check in _dicts(part.get("checks"))]
    kinds = dict.fromkeys(str(check.get("kind")) for check in checks)
    return spec_model(kinds).model_validate(whole)


def _dicts(listed: object) -> Iterator[dict[str, Any]]:
    yield from (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()


def schema(*, extended: bool) -> str:
    """The JSON Schema of a question, by which editors complete and check a spec.

    Args:
        extended: with the kinds of check of installed extensions.
    """
    from grader.kinds import case_schema  # which only editors and the documentation need

    whole: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    whole |= spec_model([*(names() if extended else BUILT_IN), *OF_FORMAT_1]).model_json_schema()
    # A question of one part has the keys of the part itself.
    part = whole["$defs"]["Part"]
    whole["properties"] |= {key: part["properties"][key] for key in formats.OF_A_PART}
    for old, new in formats.WORDS_OF_1.items():
        about = {"description": f"In format 1: {new}.", "deprecated": True}
        whole["properties"][old] = whole["properties"][new] | about
    whole["required"].remove("parts")
    needed = [key for key in formats.OF_A_PART if key in part["required"]]
    whole["oneOf"] = [{"required": ["parts"]}, {"required": [*needed, "interface"]}]
    case_schema.add(whole, extended=extended)
    kind = Check.model_fields["kind"].description
    for part in whole["$defs"].values():
        if "const" in part.get("properties", {}).get("kind", ()):
            word = part["properties"]["kind"]
            word |= {"description": kind}
            if word["const"] in OF_FORMAT_1:
                word |= {"deprecated": True}
    return json.dumps(whole, indent=2) + "\n"
