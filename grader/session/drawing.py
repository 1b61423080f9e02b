"""The inputs of one case, as a grade with a seed draws them, without a submission."""

from __future__ import annotations

from dataclasses import dataclass

from grader.cases.dataflow import case_names, free_names
from grader.cases.draw import DrawError, draw
from grader.cases.recipe import CaseRecipe, every_draw, read_cases
from grader.evaluation.values import encoded
from grader.model.question import Question
from grader.sandbox.sending import Inputs
from grader.session.bank_programs import BankPrograms
from grader.session.workers import Workers


@dataclass(frozen=True, slots=True)
class Used:
    """A run that a check has a case in."""

    check: str
    run: str
    results: tuple[str, ...]  # those that the check looks at


def cases(question: Question) -> dict[str, CaseRecipe]:
    """Every case of a question, and every further draw of one, by name."""
    return every_draw(read_cases(question.spec.cases)[0])


def uses(question: Question, case: str, asked: int) -> list[Used]:
    """The checks of the first `asked` parts that have a case, in their order."""
    known = cases(question)
    return [
        Used(check.id, check.run, check.results)
        for part in question.spec.parts[:asked]
        for check in part.checks
        if case == getattr(check, "large", "")
        or case in case_names(check, question.runs[check.run], known)
    ]


def inputs(question: Question, case: str, run: str, seed: int) -> Inputs:
    """The inputs of a run on a case, as a program takes them, by name.

    The reference is started where an input is shaped like a result, and only then.

    Returns:
        The fields of a `messages.Input` each.

    Raises:
        BankFault: they cannot be drawn.
    """
    recipe = cases(question)[case]
    names = free_names(question.runs[run])
    try:
        drawn = draw(recipe, seed, _no_shape)
    except _ShapeNeeded:
        with (
            Workers(torch=question.spec.needs_torch) as workers,
            BankPrograms(question, workers) as bank,
        ):
            return bank.evaluation(bank.reference, seed).inputs(recipe, run)
    except DrawError as error:
        from grader.evaluation.evaluation import BankFault

        raise BankFault(f"case {case} cannot be drawn: {error}") from None
    return {name: encoded(question, recipe, name, drawn[name]) for name in names}


class _ShapeNeeded(Exception):
    """An input is shaped like a result of the reference."""


def _no_shape(name: str, _: object) -> tuple[int, ...]:
    raise _ShapeNeeded(name)
