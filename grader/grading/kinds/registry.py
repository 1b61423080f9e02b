"""The kinds of check by name, and the model of a spec that uses some of them.

The module of a kind is imported when a spec uses it, which keeps start-up short.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from functools import cache, reduce
from importlib import import_module
from operator import or_
from typing import Annotated, Any

from pydantic import Field, create_model

from grader.grading.kinds.base import Kind
from grader.model.report import CheckResult
from grader.model.spec import Check, Part, Spec, normalize_spec

# The module of each kind.  Its class is named after the kind: `SideEffectsKind`.
KINDS = {
    "outputs": "outputs",
    "gradcheck": "gradcheck_and_conservation",
    "conservation": "gradcheck_and_conservation",
    "side-effects": "side_effects",
    "state": "state_and_peak",
    "numbers": "numbers",
    "curve": "curve",
    "graph": "graph_flops_memory",
    "memory": "graph_flops_memory",
    "flops": "graph_flops_memory",
    "performance": "performance",
    "peak": "state_and_peak",
    "choices": "choices_causes_findings",
    "findings": "choices_causes_findings",
    "causes": "choices_causes_findings",
    "verdicts": "verdicts",
}


@cache
def kind_named(name: str) -> Kind[Any]:
    """Return the kind of this name, or a `Kind` with all defaults for a name in an old report."""
    if name not in KINDS:
        return Kind()
    module = import_module(f"grader.grading.kinds.{KINDS[name]}")
    class_name = name.title().replace("-", "") + "Kind"
    kind: type[Kind[Any]] = getattr(module, class_name)
    return kind()


def kind_of(check: Check | CheckResult) -> Kind[Any]:
    """Return the kind of a check, or of the check that a result is about."""
    return kind_named(check.kind)


def spec_model(kinds: Iterable[str]) -> type[Spec]:
    """Return the model of a spec with checks of these kinds; unknown kinds are left out."""
    # pydantic reports a wrong discriminator only in a union of two models or more.
    names = dict.fromkeys([*kinds, "outputs", "side-effects"])
    return _spec_model(tuple(kind_named(name).check_model for name in names if name in KINDS))


@cache
def _spec_model(check_models: tuple[type[Check], ...]) -> type[Spec]:
    check: Any = Annotated[reduce(or_, check_models), Field(discriminator="kind")]
    checks = list[check], copy(Part.model_fields["checks"])
    part: Any = create_model("Part", __base__=Part, __doc__=Part.__doc__, checks=checks)
    parts = list[part], copy(Spec.model_fields["parts"])
    return create_model("Spec", __base__=Spec, __doc__=Spec.__doc__, parts=parts)


def read_spec(data: Mapping[str, Any]) -> Spec:
    """Read a spec from parsed YAML, with or without `parts`.

    Raises:
        ValidationError: the data is not a spec.
    """
    normalized = normalize_spec(data)
    kinds: list[str] = []
    for part in _dicts_in(normalized["parts"]):
        for check in _dicts_in(part.get("checks")):
            kinds.append(str(check.get("kind")))
    return spec_model(kinds).model_validate(normalized)


def _dicts_in(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, dict)]
