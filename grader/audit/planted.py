"""Plant listed ideas in accepted solutions, and count those that are named.

A variant stands on top of the reference, so the matrix shows only that the reference with an idea
in it is named.  A candidate writes another program.  Here the functions that a variant redefines
replace those of an accepted solution.  In everything else the program stays the accepted solution,
also on inputs that the contract does not cover.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice

from grader import forms
from grader.audit.derived import handed_on
from grader.audit.matrix import result_of
from grader.evaluation.evaluation import BankFault
from grader.explain.components import Failure, is_fault, observed
from grader.explain.naming import diagnose
from grader.model.audit import Planted
from grader.model.question import Question
from grader.model.report import FINE
from grader.session import GradingSession
from grader.session.bank_programs import accepted_program
from grader.session.order import CheckSchedule

STYLES = 2  # accepted solutions in which a variant is planted
TRIED = 5  # accepted solutions that are tried for it at most

_IMPORTS = (ast.Import, ast.ImportFrom)


@dataclass(frozen=True, slots=True)
class Plant:
    """A variant in an accepted solution that has all functions that the variant redefines."""

    idea: str
    index: int  # of the variant
    style: str
    sources: list[bytes]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of grading a plant."""

    passes: bool  # the accepted solution does not use what is replaced
    names: frozenset[str] = frozenset()  # of the ideas that are named without a doubt


def plant_ideas(
    session: GradingSession, seed: int, progress: Callable[[str], None] = lambda _: None
) -> Planted | None:
    """Plant every variant in accepted solutions, and grade these programs.

    Returns:
        How many are named; None if no plant fails a check.
    """
    named, passing, impossible, missed = 0, 0, 0, list[str]()
    for idea, plants in _plants_of_variants(session.question):
        progress(f"{idea} in accepted solutions")
        tried = ((plant.style, _grade(session, plant, seed)) for plant in islice(plants, TRIED))
        grown = islice(((style, found) for style, found in tried if found is not None), STYLES)
        outcomes = list(grown)
        if not outcomes:
            impossible += 1
        for style, outcome in outcomes:
            if outcome.passes:
                passing += 1
            elif outcome.names == {idea}:
                named += 1
            else:
                names = ", ".join(sorted(outcome.names)) or "nothing"
                missed.append(f"{idea} in {style} (named: {names})")
    if not named and not missed:
        return None
    return Planted(named, tuple(missed), passing, impossible)


def _plants_of_variants(question: Question) -> Iterator[tuple[str, Iterator[Plant]]]:
    """Give the idea of each variant with its plants, which begin with another style each time."""
    styles = list(question.accepted)
    if not styles or forms.of(question.spec).is_text:  # text has no functions to replace
        return
    variants = [(name, n) for name, all_ in question.variants.items() for n in range(len(all_))]
    for number, (idea, index) in enumerate(variants):
        first = number % len(styles)
        yield idea, _plants(question, idea, index, [*styles[first:], *styles[:first]])


def _plants(question: Question, idea: str, index: int, styles: Iterable[str]) -> Iterator[Plant]:
    """Give the plants of a variant in those of some styles that take it."""
    for style in styles:
        variant = question.variants[idea][index]
        layers = planted(question, accepted_program(question, style), variant)
        if layers is not None:
            yield Plant(idea, index, style, layers)


def planted(question: Question, accepted: bytes, idea: bytes) -> list[bytes] | None:
    """Return an accepted solution with a variant on top; None if it does not take the variant.

    It has to define all that the variant redefines.  A function that is written anew must not share
    what only the two of them know, such as a ctx, with one that stays the solution's.  Helpers of
    the reference that the variant calls are brought along.  A helper of the same name has to be the
    same, because a name says little of what a helper takes and returns.
    """
    reference, theirs, own = (definitions(one) for one in (question.reference, accepted, idea))
    public = set(question.functions)
    redefined = own.keys() & reference.keys()
    replaces = any(not isinstance(reference[name], _IMPORTS) for name in redefined)
    if not replaces or not redefined <= theirs.keys():
        return None
    captured = _captured(idea)  # wrapped, that is: what it takes and returns stays the same
    anew = (public & redefined) - captured
    if any((one in anew) != (other in anew) for one, other in _handovers(question)):
        return None
    needed, seen = _names(*own.values()) | redefined, set[str]()
    brought = set[str]()
    while needed:
        name = needed.pop()
        if name in seen or name not in reference or name in public:
            continue
        seen.add(name)
        if name not in theirs:
            brought.add(name)
            needed |= _names(reference[name])
        elif ast.dump(theirs[name]) != ast.dump(reference[name]):
            return None
    text = question.reference.decode().splitlines()
    nodes = {id(reference[name]): reference[name] for name in brought}
    pieces = [
        "\n".join(text[_first_line(node) - 1 : node.end_lineno])
        for node in sorted(nodes.values(), key=lambda node: node.lineno)
    ]
    return [accepted, *["\n".join([*pieces, ""]).encode()] * bool(pieces), idea]


def _handovers(question: Question) -> set[tuple[str, str]]:
    """Return pairs of functions, the first of which returns what no check compares to the other."""
    found = set[tuple[str, str]]()
    for steps in question.runs.values():
        for number, step in enumerate(steps):
            if step.owner == "submission" and (hidden := handed_on(question, step.function)):
                names = {step.targets[i] for i in hidden if i < len(step.targets)}
                later = (s for s in steps[number + 1 :] if s.owner == "submission")
                found |= {(step.function, s.function) for s in later if names & {*s.reads}}
    return found


def _captured(idea: bytes) -> set[str]:
    """Return the names that a variant reads at the left margin, as in `_before = forward`."""
    nodes = (node for node in ast.parse(idea).body if isinstance(node, (ast.Assign, ast.AnnAssign)))
    return _names(*nodes)


def definitions(source: bytes) -> dict[str, ast.stmt]:
    """Return the statements that bind names at the left margin, by name."""
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        elif isinstance(node, _IMPORTS):
            found |= {alias.asname or alias.name.partition(".")[0]: node for alias in node.names}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
            found |= dict.fromkeys((name.id for name in names), node)
    return found


def _names(*nodes: ast.stmt) -> set[str]:
    """Return the names that some statements read."""
    found = (n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name))
    return {name.id for name in found if isinstance(name.ctx, ast.Load)}


def _first_line(node: ast.stmt) -> int:
    """Return the line at which a statement begins, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _grade(session: GradingSession, plant: Plant, seed: int) -> Outcome | None:
    """Grade a plant; None if the two programs do not fit together.

    They do not if the plant cannot be loaded, fails a check that the idea itself passes, or returns
    nothing where the idea does: then more is wrong with it than the idea.
    """
    question, last = session.question, session.question.right_until[plant.style]
    called = f"{plant.idea}/{plant.index} in {plant.style}"
    try:
        evaluation = session.examine(called, plant.sources, seed, parts=last)
        course = CheckSchedule(question.spec, range(1, last + 1))
        for part, check in course.order:
            if part <= last:
                result = course.skipped(part, check) or result_of(evaluation, check)
                course.done[check.id] = replace(result, part=part)
        evaluation.parts_asked = course.asked
        checks = tuple(course.done.values())
        failing = {check.id for check in checks if check.verdict not in FINE and not check.stretch}
        if not failing:
            return Outcome(passes=True)
        idea = evaluation.with_bank_program(session.bank.variant(plant.idea, plant.index))
        if any(result_of(idea, c).verdict in FINE for c in evaluation.checks if c.id in failing):
            return None
        idea.parts_asked = course.asked
        failure = Failure(evaluation, checks, made_of=plant.style)
        for cell in failure.evidence:
            if is_fault(observed(evaluation, *cell)) and not is_fault(observed(idea, *cell)):
                return None
        named = diagnose(failure).named
    except BankFault:
        return None
    return Outcome(passes=False, names=frozenset(one.id for one in named if not one.doubt))
