"""The kinds of check by name: those of the model, and those of installed extensions."""

from __future__ import annotations

from functools import cache, reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field, create_model

from grader.model import extension
from grader.model import spec as model
from grader.model.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

BUILT_IN: Mapping[str, type[model.Check]] = {
    str(get_args(kind.model_fields["kind"].annotation)[0]): kind
    for kind in get_args(get_args(model.AnyCheck)[0])
}


def written_in(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The kinds that a spec uses and the model does not know, as written; often none."""
    checks = data.get("checks")
    found = [
        kind
        for check in (checks if isinstance(checks, list) else [])
        if isinstance(check, dict)
        and isinstance(kind := check.get("kind"), str)
        and kind not in BUILT_IN
    ]
    return tuple(dict.fromkeys(found))


def known(words: Iterable[str]) -> tuple[dict[str, type[model.Check]], dict[str, str]]:
    """The kinds of the model and those of the words that extensions give.

    Returns:
        The kinds by name, and by name what is wrong with an extension that cannot be used.
    """
    found, broken = dict(BUILT_IN), {}
    for word in words:
        try:
            kind = extension.kind(word)
        except extension.ExtensionError as error:
            broken[word] = str(error)
        else:
            if kind is not None:
                found[word] = kind.model
    return found, broken


def spec_with(kinds: Mapping[str, type[model.Check]]) -> type[Spec]:
    """The model of a spec whose checks may be of these kinds."""
    added = tuple(kind for name, kind in kinds.items() if name not in BUILT_IN)
    return _extended(added) if added else Spec


@cache
def _extended(added: tuple[type[model.Check], ...]) -> type[Spec]:
    union: Any = reduce(or_, added, get_args(model.AnyCheck)[0])
    one: Any = Annotated[union, Field(discriminator="kind")]
    checks: Any = (Annotated[list[one], Field(min_length=1)], ...)
    return create_model("Spec", __base__=Spec, checks=checks)


def extended_spec() -> type[Spec]:
    """The model of a spec with the kinds of every extension that can be used."""
    return spec_with(known(extension.names(extension.CHECKS))[0])
