"""Do answers that take no thought get through?

A question that accepts zeros proves nothing about anybody.  The answers are made from the question
itself: `sandbox/worker/mutate/trivial.py` is executed over the reference, in a worker, and calls
it for the form of each result.  One seed is enough: they hardly depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from grader import forms
from grader.audit.subjects import called_functions, layer, result_of
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.results import same_value
from grader.kinds import registry
from grader.model.audit import Remark, Trivial
from grader.model.question import Question
from grader.model.report import Verdict
from grader.model.spec import Spec
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError
from grader.session import GradingSession

ANSWERS = {
    "zeros": "zeros of the right form",
    "ones": "ones of the right form",
    "nan": "NaN in the right form",
    "none": "None",
    "first-argument": "its first array argument for every array",
    "arguments": "its array arguments, in order",
    "first-call": "every time what the first call gave",
}


def try_answers(session: GradingSession, seed: int) -> list[Trivial]:
    """Put every trivial answer through every check.

    Where zeros, ones and NaN all compute what the reference does, nothing of it was replaced: what
    is checked is what the functions change, not what they return.  Then none of these is counted.
    """
    is_text = forms.of(session.question.spec).is_text  # which remembers nothing
    names = [name for name in ANSWERS if not (is_text and name == "first-call")]
    tried = {name: _tried(session, seed, name) for name in names}
    found = [answer for answer, _ in tried.values()]
    if all(tried[name][1] for name in ("zeros", "ones", "nan")):
        found = [
            a if a.name == "first-call" else replace(a, made=False, accepted=False) for a in found
        ]
    return found


def _tried(session: GradingSession, seed: int, name: str) -> tuple[Trivial, bool]:
    """An answer, and whether it computes what the reference does."""
    checks = session.question.spec.checks
    try:
        functions = {f: handed_on(session.question, f) for f in called_functions(session)}
        layers = layer(session.question, "trivial.py", name, functions)
        evaluation = session.examine(f"trivial {name}", layers, seed)
        verdicts = {check.id: result_of(evaluation, check).verdict for check in checks}
    except BankFault:  # it does not load, or breaks a check: nothing to fear
        return Trivial(name, ANSWERS[name], (), accepted=False), False
    deciding = {verdicts[check.id] for check in checks if not check.stretch}
    accepted = deciding - {Verdict.SKIPPED} == {Verdict.PASS}
    passes = tuple(check for check, verdict in verdicts.items() if verdict is Verdict.PASS)
    answer = Trivial(name, ANSWERS[name], passes, accepted=accepted)
    return answer, accepted and _is_reference(evaluation)


def handed_on(question: Question, function: str) -> list[int]:
    """The indices in a function's result that later steps take and no check looks at by value."""
    looked_at = {(check.run, name) for check in question.spec.checks for name in check.wanted}
    taken: set[int] = set()
    seen: set[int] = set()
    for run, steps in question.runs.items():
        for number, step in enumerate(steps):
            if step.function != function or step.owner != "submission":
                continue
            later = {name for other in steps[number + 1 :] for name in other.reads}
            taken |= {i for i, target in enumerate(step.targets) if target in later}
            seen |= {i for i, target in enumerate(step.targets) if (run, target) in looked_at}
    return sorted(taken - seen)


def _is_reference(evaluation: Evaluation) -> bool:
    """Whether the answer computes what the reference does, on every case of every check."""
    try:
        return all(
            same_value(value, evaluation.truth(run, case).values[name], case.dtype)
            for check in evaluation.question.spec.checks
            for run in [check.run]
            for case in evaluation.cases_of(check)
            for name, value in evaluation.observed(run, case).values.items()
        )
    except (ProgramError, WorkerError, BankFault):
        return False


def problems(trivial: Iterable[Trivial]) -> list[str]:
    """The answers that the whole question accepts."""
    return [
        f"the trivial answer {t.name} passes every check: a submission that returns {t.about} "
        "would pass; add a case or a check that it cannot pass"
        for t in trivial
        if t.accepted
    ]


def remarks(question: Question, trivial: Iterable[Trivial]) -> list[Remark]:
    """Checks that let a trivial answer through with no needed check to stop it."""
    checks = {c.id: c for c in question.spec.checks}
    before = needed(question.spec)
    found: dict[str, list[str]] = {}
    for answer in trivial:
        # The first call is the right one: a check of a single case cannot tell.
        if answer.accepted or not answer.made or answer.name == "first-call":
            continue
        for name in answer.passes:
            by_value = registry.get(checks[name].kind).judges_values and not checks[name].stretch
            if by_value and before[name] <= set(answer.passes):
                found.setdefault(name, []).append(answer.name)
    return [
        Remark(
            "trivial",
            f"{check} lets {', '.join(names)} through, and no check that it needs stops such an "
            "answer: let it need one that does, or give it a case",
        )
        for check, names in found.items()
    ]


def needed(spec: Spec) -> dict[str, set[str]]:
    """By check, every other that must pass before it is tried."""
    found: dict[str, set[str]] = {}
    earlier: set[str] = set()
    for part in spec.parts:
        for check in part.checks:
            found[check.id] = earlier.union(*({need} | found[need] for need in check.needed))
        earlier |= {check.id for check in part.checks if not check.stretch}
    return found
