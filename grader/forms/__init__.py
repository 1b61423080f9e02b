"""Forms of questions: code to fix, or a text file with numbers, formulas or a review.

A form's module is imported when the first question of this form is used.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from grader.forms.base import Form
from grader.model.question import Header
from grader.model.spec import Spec

_CLASSES = {  # module and class of each form
    "fix": "program_forms.FixForm",
    "estimate": "number_forms.EstimateForm",
    "predict": "number_forms.PredictForm",
    "derive": "derive.DeriveForm",
    "review": "review.ReviewForm",
    "diagnose": "program_forms.DiagnoseForm",
    "write-the-test": "program_forms.WriteTheTestForm",
}
FORM_NAMES = tuple(_CLASSES)


def form_of(spec: Spec | Header) -> Form:
    """Return the form that the key `form` of a question names; each form has one instance."""
    return _create_form(spec.form)


@cache
def _create_form(name: str) -> Form:
    module, _, class_name = _CLASSES[name].partition(".")
    form_class: type[Form] = getattr(import_module(f"grader.forms.{module}"), class_name)
    return form_class()
