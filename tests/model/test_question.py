"""What a question asks for, from its steps."""

from __future__ import annotations

from pathlib import Path

from grader.grading.kinds import registry
from grader.model.question import Question
from grader.model.steps import Argument, Owner, Step
from tests.model.test_spec import SPEC


def step(owner: Owner, function: str, *arguments: Argument) -> Step:
    """Return a step that assigns y."""
    return Step("", ("y",), False, owner, function, arguments)


def test_a_question_asks_for_the_functions_of_all_its_runs_once() -> None:
    question = Question(
        id="q", bank=Path(), spec=registry.read_spec(SPEC),
        runs={
            "main": (step("submission", "f"), step("torch", "vjp"), step("submission", "g")),
            "other": (step("driver", "train"), step("submission", "f"), step("submission", "h")),
        },
        starter=b"", reference=b"", driver=None, ideas={}, variants={}, spec_path=Path(),
    )  # fmt: skip
    assert (question.functions, question.driver_functions) == (("f", "g", "h"), ("train",))
    assert question.functions_called_by_runs({"other"}) == ("f", "h")


def test_a_constant_of_the_interface_may_be_bound_with_others() -> None:
    question = Question(
        id="q", bank=Path(),
        spec=registry.read_spec({**SPEC, "interface": "LOW = ...\nNONE = ..."}),
        runs={}, starter=b"", reference=b"HIGH, (LOW, _) = 2, (1, 0)\n", driver=None, ideas={},
        variants={}, spec_path=Path(),
    )  # fmt: skip
    assert question.signatures_for_part() == {"LOW": "LOW"}


def test_a_step_reads_the_names_among_its_arguments() -> None:
    reading = step("submission", "f", Argument("x"), Argument(None, 3), Argument("k", None, "key"))
    assert reading.names_read == ("x", "k")
