"""What a question asks for: code to fix, or a text file with numbers or formulas.

The forms by name; a module is imported when a question of its form is met.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from grader.forms.base import Form
from grader.model.question import Header
from grader.model.spec import Spec

_HOMES = {  # the module and the class of each
    "fix": "program_forms.FixForm",
    "estimate": "number_forms.EstimateForm",
    "predict": "number_forms.PredictForm",
    "derive": "derive.DeriveForm",
    "review": "review.ReviewForm",
    "diagnose": "program_forms.DiagnoseForm",
    "write-the-test": "program_forms.WriteTheTestForm",
}
FORM_NAMES = tuple(_HOMES)


def form_of(spec: Spec | Header) -> Form:
    """The form of a question."""
    return _made(spec.form)


@cache
def _made(name: str) -> Form:
    module, _, kind = _HOMES[name].partition(".")
    found: type[Form] = getattr(import_module(f"grader.forms.{module}"), kind)
    return found()
