"""The inputs of one case, without a submission."""

from __future__ import annotations

from grader.cases.draw import DrawError, draw_inputs
from grader.cases.recipe import cases_of_check, run_inputs
from grader.grading.bank_errors import BankProgramError
from grader.grading.bank_programs import BankPrograms
from grader.grading.evaluation import Evaluation, cases_and_draws
from grader.grading.values import encode_input
from grader.model.question import Question
from grader.model.spec import Check
from grader.sandbox.messages import Inputs
from grader.sandbox.worker_pool import WorkerPool


def checks_using_case(question: Question, case: str, parts_asked: int) -> list[Check]:
    """Return the checks that use a case, in their order, from the first `parts_asked` parts."""
    cases = cases_and_draws(question)
    return [
        check
        for part in question.spec.parts[:parts_asked]
        for check in part.checks
        if case in cases_of_check(check, question.runs[check.run], cases)
    ]


def case_inputs(question: Question, case: str, run: str, seed: int) -> Inputs:
    """Return the inputs of a run on a case, by name, as a grade with that seed draws them.

    Each value has the fields of a `protocol.Input`.  The reference is started only if an input is
    shaped like a result.

    Raises:
        BankProgramError: The inputs cannot be drawn.
    """
    recipe = cases_and_draws(question)[case]
    inputs = recipe.inputs
    if any(own.like is not None and own.like not in inputs for own in inputs.values()):
        with (
            WorkerPool(torch=question.spec.needs_torch) as workers,
            BankPrograms(question, workers) as bank,
        ):
            reference = bank.reference
            evaluation = Evaluation(question, seed, reference, reference, bank=bank)
            return evaluation.inputs(recipe, run)
    try:
        drawn = draw_inputs(recipe, seed, _refuse_shape)
    except DrawError as error:
        raise BankProgramError(f"case {case} cannot be drawn: {error}") from None
    names = run_inputs(question.runs[run])
    return {name: encode_input(question, recipe, name, drawn[name]) for name in names}


def _refuse_shape(name: str, _: object) -> tuple[int, ...]:
    raise DrawError(f"only the reference knows the shape of {name}")
