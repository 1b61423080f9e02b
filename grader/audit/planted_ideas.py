"""Plant listed ideas in accepted solutions, and count the plants that grading names.

A *variant* stands on top of the reference, so the matrix shows only that the reference with an idea
in it is named.  A candidate writes another program.  In a *plant*, the functions that a variant
redefines replace the functions of an accepted solution.  The rest of the plant is the accepted
solution, which may differ from the reference on inputs that the contract does not cover.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from grader import forms
from grader.audit.accepted_and_trivial import opaque_results
from grader.audit.kill_matrix import (
    required_failures,
    result_of_check,
    results_as_graded,
    same_code,
)
from grader.bank.idea_cells import IMPORTS, definitions, names_read
from grader.explain.components import FailedGrade, is_fault, observe_component
from grader.explain.idea_matching import diagnose
from grader.explain.session import GradingSession
from grader.grading.bank_errors import BankProgramError
from grader.grading.bank_programs import accepted_program
from grader.grading.evaluation import Evaluation
from grader.model.audit import PlantingResult
from grader.model.question import Question
from grader.model.report import CheckResult

MAX_STYLES = 2  # accepted solutions in which a variant is planted
MAX_TRIED_SOLUTIONS = 5  # accepted solutions that are tried to find MAX_STYLES that fit
PLANT_PASSES = ""  # outcome of a plant that passes: its solution does not use the replaced code

_ASSIGNMENTS = (ast.Assign, ast.AnnAssign)


def plant_ideas(
    session: GradingSession, seed: int, progress: Callable[[str], None] = lambda _: None
) -> PlantingResult | None:
    """Plant every variant in accepted solutions, and grade these programs.

    Returns:
        How many are named; None if no plant fails a check.
    """
    question = session.question
    if forms.form_of(question.spec).is_text:  # text has no functions to replace
        return None
    named = 0
    passing = 0
    impossible = 0
    missed: list[str] = []
    variants = [
        (idea, index)
        for idea, sources in question.variants.items()
        for index in range(len(sources))
    ]
    for number, (idea, index) in enumerate(variants):
        progress(f"{idea} in accepted solutions")
        outcomes = _plant_outcomes(session, idea, index, seed, first_style=number)
        if not outcomes:
            impossible += 1
        for style, outcome in outcomes:
            if outcome == PLANT_PASSES:
                passing += 1
            elif outcome == idea:
                named += 1
            else:
                missed.append(f"{idea} in {style} (named: {outcome})")
    if not named and not missed:
        return None
    return PlantingResult(named, tuple(missed), passing, impossible)


def _plant_outcomes(
    session: GradingSession, idea: str, index: int, seed: int, *, first_style: int
) -> list[tuple[str, str]]:
    """Return the accepted solutions in which a variant was planted, with the ideas named there.

    The search starts at solution number `first_style`, because variants should use different ones.
    """
    question = session.question
    styles = list(question.accepted)
    start = first_style % max(len(styles), 1)
    outcomes: list[tuple[str, str]] = []
    tried = 0
    for style in styles[start:] + styles[:start]:
        if len(outcomes) == MAX_STYLES or tried == MAX_TRIED_SOLUTIONS:
            break
        solution = accepted_program(question, style)
        sources = plant_idea(question, solution, question.variants[idea][index])
        if sources is None:
            continue
        tried += 1
        outcome = _named_ideas(session, idea, index, sources, style, seed)
        if outcome is not None:
            outcomes.append((style, outcome))
    return outcomes


def plant_idea(question: Question, accepted: bytes, idea: bytes) -> list[bytes] | None:
    """Return an accepted solution with a variant on top; None if it does not take the variant.

    The solution must define all that the variant redefines.  A function that the variant writes
    from scratch must not share an opaque result, such as a ctx, with a function of the solution.
    Helpers of the reference that the variant calls are brought along.  If the solution has a helper
    of the same name, it must be the same, because a name does not show parameters and results.
    """
    reference = definitions(question.reference)
    solution = definitions(accepted)
    variant = definitions(idea)
    redefined = variant.keys() & reference.keys()
    replaces_code = any(not isinstance(reference[name][-1], IMPORTS) for name in redefined)
    if not replaces_code or not redefined <= solution.keys():
        return None

    # A function that a variant wraps, as in `_before = forward`, takes and returns the same as
    # before.
    statements = ast.parse(idea).body
    wrapped = names_read(*(node for node in statements if isinstance(node, _ASSIGNMENTS)))
    public = set(question.functions)
    rewritten = (public & redefined) - wrapped
    if any((giver in rewritten) != (taker in rewritten) for giver, taker in _handovers(question)):
        return None

    helpers: set[str] = set()
    pending = list(names_read(*statements) | redefined)
    for name in pending:
        if name in helpers or name not in reference or name in public:
            continue
        helpers.add(name)
        if name not in solution:
            pending += names_read(*reference[name])
        elif not same_code(solution[name], reference[name]):
            return None

    missing = {node for name in helpers - solution.keys() for node in reference[name]}
    if not missing:
        return [accepted, idea]
    in_order = sorted(missing, key=lambda node: (node.lineno, node.col_offset))
    layer = "\n".join(ast.unparse(node) for node in in_order)
    return [accepted, layer.encode(), idea]


def _handovers(question: Question) -> set[tuple[str, str]]:
    """Return pairs of functions in which the first hands an opaque result to the second."""
    pairs: set[tuple[str, str]] = set()
    for steps in question.runs.values():
        for number, step in enumerate(steps):
            if step.owner != "submission":
                continue
            indices = opaque_results(question, step.function)
            opaque = {step.targets[index] for index in indices if index < len(step.targets)}
            for later in steps[number + 1 :]:
                if later.owner == "submission" and not opaque.isdisjoint(later.names_read):
                    pairs.add((step.function, later.function))
    return pairs


def _named_ideas(
    session: GradingSession, idea: str, index: int, sources: list[bytes], style: str, seed: int
) -> str | None:
    """Return the ideas that grading names in a plant, as text, or "nothing".

    Return PLANT_PASSES if the plant passes, and None if the two programs do not fit.  They do not
    fit if the plant cannot be loaded, fails a check that the variant itself passes, or raises where
    the variant does not: then the idea is not all that is wrong with the plant.
    """
    question = session.question
    last_part = question.accepted_until_part[style]
    try:
        plant = session.evaluate_bank_program(
            f"{idea}/{index} in {style}", sources, seed, parts=last_part
        )
        graded, parts_asked = results_as_graded(
            question, lambda check: result_of_check(plant, check), parts=last_part
        )
        failing = required_failures(graded.values())
        if not failing:
            return PLANT_PASSES
        variant = plant.with_bank_program(session.bank.variant_program(idea, index))
        if not _fails_all(variant, failing):
            return None
        plant.parts_asked = parts_asked
        variant.parts_asked = parts_asked
        grade = FailedGrade(plant, tuple(graded.values()), based_on_accepted=style)
        if _raises_more(plant, variant, grade):
            return None
        matches = diagnose(grade).matches
    except BankProgramError:
        return None
    return ", ".join(sorted(match.id for match in matches if not match.doubt)) or "nothing"


def _fails_all(variant: Evaluation, failing: Sequence[CheckResult]) -> bool:
    """Return True if a variant fails all checks that its plant fails."""
    checks = {check.id: check for check in variant.question.spec.checks}
    results = (result_of_check(variant, checks[result.id]) for result in failing)
    return all(result.fails for result in results)


def _raises_more(plant: Evaluation, variant: Evaluation, grade: FailedGrade) -> bool:
    """Return True if, in some failing cell, the plant has no result and the variant has one.

    A cell is one aspect of a result, such as its values, on one case.
    """
    for component, case in grade.failing_cells:
        if not is_fault(observe_component(plant, component, case)):
            continue
        if not is_fault(observe_component(variant, component, case)):
            return True
    return False
