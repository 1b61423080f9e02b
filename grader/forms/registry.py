"""The forms by name; a module is imported when a question of its form is met."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from grader.forms.base import Form
from grader.model.spec import Spec

NAMES = (  # each is a module
    "fix", "estimate", "predict", "derive", "review", "diagnose", "write-the-test",
)  # fmt: skip


@cache
def get(name: str) -> Form:
    """The form of a name that a spec may have."""
    module = import_module(f"grader.forms.{name.replace('-', '_')}")
    found: type[Form] = getattr(module, name.title().replace("-", ""))
    return found()


def of(spec: Spec) -> Form:
    """The form of a question."""
    return get(spec.form)
