"""A misconception with parameters: its programs with every value, and the one that matched."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load
from grader.model.errors import BankError
from grader.session import grade
from tests.bank.specs import edited, loaded

SPEC = """\
format: 2
title: A safe logarithm
track: basics
level: warm-up
minutes: 5
uses: [numpy]
prompt: Take logarithms.
interface: "def logs(x): ..."
run:
  - y = logs(x)
cases:
  some: {x: {uniform: [7], from: 0.01, to: 1}}
  tiny: {x: [1.0e-5, 1.0e-7, 1.0]}
checks:
  - {id: values, kind: outputs, of: y}
starter_holds: [plus-eps]
code:
  reference: |
    import numpy as np


    def logs(x):
        return np.log(x)
  starter: |
    import numpy as np


    def logs(x):
        return np.log(x + 1e-6)
misconceptions:
  plus-eps:
    killed_by: values
    feedback: You take the logarithm of x plus {EPS}, from {BELOW} to {OTHER}.
    parameters: {EPS: [1.0e-8, 1.0e-6, 1.0e-4], BELOW: [-.inf, 0.5]}
    code: |
      EPS = 1e-12
      BELOW = 0.0


      def logs(x):
          return np.log(np.where(x > BELOW, x + EPS, x))
"""


def written(folder: Path, spec: str) -> Path:
    """Write a bank of one file and return its folder."""
    (folder / "questions").mkdir()
    (folder / "questions" / "safe-log.yaml").write_text(spec, encoding="utf-8")
    return folder


def test_the_value_that_matches_is_said(tmp_path: Path) -> None:
    question = load([written(tmp_path, SPEC)], "safe-log")
    assert len(question.variants["plus-eps"]) == 6
    (named,) = grade(question, question.starter, seed=3).misconceptions
    assert (named.id, named.exact) == ("plus-eps", True)
    assert named.feedback == ("You take the logarithm of x plus 1e-6, from -inf to {OTHER}.")


def problems(tmp_path: Path, spec: str) -> str:
    with pytest.raises(BankError) as caught:
        load([written(tmp_path, spec)], "safe-log")
    return str(caught.value)


def test_a_parameter_that_no_program_assigns_is_a_fault(tmp_path: Path) -> None:
    found = problems(tmp_path, SPEC.replace("      EPS = 1e-12\n", ""))
    assert "misconceptions.plus-eps.parameters: expected EPS = ... at the left margin" in found
    assert ":34:" in found


def test_too_many_combinations_are_a_fault(tmp_path: Path) -> None:
    values = ", ".join(str(i / 4) for i in range(12))
    found = problems(tmp_path, SPEC.replace("[-.inf, 0.5]", f"[{values}]"))
    assert "expected at most 24 combinations of values, found 36" in found


@pytest.mark.parametrize("values", ["[]", "3", "[[1]]", "{a: 1}"])
def test_values_are_a_list_of_scalars(tmp_path: Path, values: str) -> None:
    assert "parameters" in problems(tmp_path, SPEC.replace("[-.inf, 0.5]", values))


def test_without_parameters_nothing_is_put_in(tmp_path: Path) -> None:
    question = loaded(tmp_path, edited("You add the factor.", '"You add the {factor}."'))
    idea = question.spec.misconceptions["adds-it"]
    assert idea.said_of({}) == "You add the {factor}."
    assert question.variants["adds-it"] == (b"",)
