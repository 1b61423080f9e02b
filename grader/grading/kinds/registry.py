"""The kinds of check by name, and the model of a spec with them.

A module is imported when a spec uses its kind, so that nothing pays for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any

from pydantic import Field, create_model

from grader.grading.kinds.base import Kind
from grader.model.spec import Check, Part, Spec, normalize_spec

# The module of each; the class has its name.
KINDS = {
    "outputs": "outputs", "gradcheck": "gradcheck_and_conservation", "conservation": "gradcheck_and_conservation",
    "side-effects": "side_effects", "state": "state_and_peak", "numbers": "numbers", "curve": "curve",
    "graph": "graph_flops_memory", "memory": "graph_flops_memory", "flops": "graph_flops_memory",
    "performance": "performance", "peak": "state_and_peak", "choices": "choices_causes_findings",
    "findings": "choices_causes_findings", "causes": "choices_causes_findings", "verdicts": "verdicts",
}  # fmt: skip


@cache
def kind_named(name: str) -> Kind[Any]:
    """The kind of a name; one with every default where a report has a kind that is not there."""
    if name not in KINDS:
        return Kind()
    module = import_module(f"grader.grading.kinds.{KINDS[name]}")
    found: type[Kind[Any]] = getattr(module, name.title().replace("-", "") + "Kind")
    return found()


def spec_model(kinds: Iterable[str]) -> type[Spec]:
    """The model of a spec with checks of these kinds; names of other kinds are left out."""
    # A union of one is none, and pydantic says nothing of its discriminator.
    names = dict.fromkeys([*kinds, "outputs", "side-effects"])
    return _spec_model(tuple(kind_named(name).keys for name in names if name in KINDS))


@cache
def _spec_model(several: tuple[type[Check], ...]) -> type[Spec]:
    one: Any = Annotated[reduce(or_, several), Field(discriminator="kind")]
    checks = list[one], copy(Part.model_fields["checks"])
    part: Any = create_model("Part", __base__=Part, __doc__=Part.__doc__, checks=checks)
    parts = list[part], copy(Spec.model_fields["parts"])
    return create_model("Spec", __base__=Spec, __doc__=Spec.__doc__, parts=parts)


def read_spec(data: Mapping[str, Any]) -> Spec:
    """The spec in parsed data, with or without `parts`.

    Raises:
        ValidationError: it is none.
    """
    whole = normalize_spec(data)
    checks = [check for part in _dicts(whole["parts"]) for check in _dicts(part.get("checks"))]
    kinds = dict.fromkeys(str(check.get("kind")) for check in checks)
    return spec_model(kinds).model_validate(whole)


def _dicts(listed: object) -> Iterator[dict[str, Any]]:
    yield from (one for one in listed if isinstance(one, dict)) if isinstance(listed, list) else ()
