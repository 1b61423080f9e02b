"""Plant listed ideas in accepted solutions, and count those that are named.

A variant stands on top of the reference, so the matrix shows only that the reference with an idea
in it is named.  A candidate writes another program.  Here the functions that a variant redefines
replace those of an accepted solution.  In everything else the program stays the accepted solution,
also on inputs that the contract does not cover.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice

from grader import forms
from grader.audit.accepted_and_trivial import opaque_results
from grader.audit.kill_matrix import result_of_check, results_as_graded, same_code
from grader.bank.idea_cells import IMPORTS, definitions, names_read
from grader.explain.components import Failure, is_fault, observe_component
from grader.explain.idea_matching import diagnose
from grader.explain.session import GradingSession
from grader.grading.bank_programs import accepted_program
from grader.grading.evaluation import BankProgramError
from grader.model.audit import PlantingResult
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS

MAX_STYLES = 2  # accepted solutions in which a variant is planted
MAX_TRIED_SOLUTIONS = 5  # accepted solutions that are tried for it at most
PLANT_PASSES = ""  # a plant: its accepted solution does not use what is replaced

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
    named, passing, impossible, missed = 0, 0, 0, list[str]()
    variants = [(name, n) for name, all_ in question.variants.items() for n in range(len(all_))]
    for number, (idea, index) in enumerate(variants):
        progress(f"{idea} in accepted solutions")
        plants = islice(_plants(question, idea, index, number), MAX_TRIED_SOLUTIONS)
        graded = (
            (style, _named(session, idea, index, sources, style, seed)) for style, sources in plants
        )
        outcomes = list(islice((one for one in graded if one[1] is not None), MAX_STYLES))
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


def _plants(
    question: Question, idea: str, index: int, first: int
) -> Iterator[tuple[str, list[bytes]]]:
    """Give each accepted solution that takes a variant, and the sources with it."""
    styles, variant = list(question.accepted), question.variants[idea][index]
    for turn in range(len(styles)):  # begins with another style for each variant
        style = styles[(first + turn) % len(styles)]
        sources = plant_idea(question, accepted_program(question, style), variant)
        if sources is not None:
            yield style, sources


def plant_idea(question: Question, accepted: bytes, idea: bytes) -> list[bytes] | None:
    """Return an accepted solution with a variant on top; None if it does not take the variant.

    It has to define all that the variant redefines.  A function that is written anew must not share
    what only the two of them know, such as a ctx, with one that stays the solution's.  Helpers of
    the reference that the variant calls are brought along.  A helper of the same name has to be the
    same, because a name says little of what a helper takes and returns.
    """
    reference, theirs, own = map(definitions, (question.reference, accepted, idea))
    redefined = own.keys() & reference.keys()
    replaces = any(not isinstance(reference[name][-1], IMPORTS) for name in redefined)
    if not replaces or not redefined <= theirs.keys():
        return None
    # What a variant wraps, as in `_before = forward`, takes and returns the same as before.
    statements = ast.parse(idea).body
    wrapped = (node for node in statements if isinstance(node, _ASSIGNMENTS))
    public = set(question.functions)
    anew = (public & redefined) - names_read(*wrapped)
    if any((one in anew) != (other in anew) for one, other in _handovers(question)):
        return None
    needed, helpers = list(names_read(*statements) | redefined), set[str]()
    for name in needed:
        if name in helpers or name not in reference or name in public:
            continue
        helpers.add(name)
        if name not in theirs:
            needed += names_read(*reference[name])
        elif not same_code(theirs[name], reference[name]):
            return None
    missing = helpers - theirs.keys()
    brought = {node for name in missing for node in reference[name]}
    in_order = sorted(brought, key=lambda node: (node.lineno, node.col_offset))
    layer = "\n".join(map(ast.unparse, in_order)).encode()
    return [accepted, layer, idea] if brought else [accepted, idea]


def _handovers(question: Question) -> set[tuple[str, str]]:
    """Return pairs of functions, the first of which returns what no check compares to the other."""
    found = set[tuple[str, str]]()
    for steps in question.runs.values():
        for number, step in enumerate(steps):
            if step.owner == "submission" and (hidden := opaque_results(question, step.function)):
                names = {step.targets[i] for i in hidden if i < len(step.targets)}
                later = (s for s in steps[number + 1 :] if s.owner == "submission")
                found |= {(step.function, s.function) for s in later if names & {*s.names_read}}
    return found


def _named(
    session: GradingSession, idea: str, index: int, sources: list[bytes], style: str, seed: int
) -> str | None:
    """Return the ideas that a plant is graded to have; None if the two programs do not fit.

    They do not if the plant cannot be loaded, fails a check that the idea itself passes, or returns
    nothing where the idea does: then more is wrong with it than the idea.
    """
    question, last = session.question, session.question.accepted_until_part[style]
    try:
        evaluation = session.evaluate_bank_program(
            f"{idea}/{index} in {style}", sources, seed, parts=last
        )
        graded, asked = results_as_graded(
            question, lambda c: result_of_check(evaluation, c), parts=last
        )
        failing = [
            c for c in graded.values() if c.verdict not in NON_FAILING_VERDICTS and not c.stretch
        ]
        if not failing:
            return PLANT_PASSES
        alone = evaluation.with_bank_program(session.bank.variant_program(idea, index))
        checks = {check.id: check for check in question.spec.checks}
        if any(
            result_of_check(alone, checks[c.id]).verdict in NON_FAILING_VERDICTS for c in failing
        ):
            return None
        evaluation.parts_asked = alone.parts_asked = asked
        failure = Failure(evaluation, tuple(graded.values()), based_on_accepted=style)
        for cell in failure.failing_cells:
            if is_fault(observe_component(evaluation, *cell)) and not is_fault(
                observe_component(alone, *cell)
            ):
                return None
        named = diagnose(failure).matches
    except BankProgramError:
        return None
    return ", ".join(sorted(one.id for one in named if not one.doubt)) or "nothing"
