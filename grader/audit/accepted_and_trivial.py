"""Right programs that must pass, and answers that take no thought and must not.

A question that turns down right solutions is worse than one that lets wrong ones through.  It may
come with solutions in other styles (`accepted`).  The audit derives more from the reference, right
by construction wherever values are compared; what is counted (bytes, FLOPs) is another matter.  And
a question that accepts zeros proves nothing about anybody: trivial answers are derived as well
(`audit/stand_ins.py`), for which one seed is enough, they hardly depend on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader import forms
from grader.audit.kill_matrix import (
    SeedProblem,
    budget_shares,
    failure_message,
    problem_sentences,
    result_of_check,
)
from grader.bank import starter_repair
from grader.explain.session import GradingSession
from grader.grading.bank_programs import ACCEPTED_PREFIX, accepted_program, program_file
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.grading.kinds import registry
from grader.grading.values import same_value
from grader.model.audit import AcceptedSolutionResult, TrivialAnswer
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError

FLOAT64 = "float64"
STYLES = {
    FLOAT64: "computed in float64 and cast back",
    "longdouble": "computed in long double and cast back",
}
ANSWERS = {
    "zeros": "zeros of the right form",
    "ones": "ones of the right form",
    "nan": "NaN in the right form",
    "none": "None",
    "first-argument": "its first array argument for every array",
    "arguments": "its array arguments, in order",
    "first-call": "every time what the first call gave",
}
NO_FUNCTION_MESSAGE = "what is called is no function"  # says the stand-in
_CODE = Path(__file__).with_name("stand_ins.py")

StepProgress = Callable[[str], None]
SolutionCheck = tuple[
    list[AcceptedSolutionResult], list[str]
]  # with seeds that pass; a sentence per check that does not


def stand_in_sources(session: GradingSession, kind: str) -> list[bytes]:
    """The reference, every function that steps or the driver call in a style or trivial."""
    question, loaded = session.question, session.bank.reference.loaded
    called = set(re.findall(r"\bprogram\.(\w+)", (question.driver or b"").decode(errors="replace")))
    driven = [] if loaded is None else [name for name in loaded.defined if name in called]
    functions = {name: opaque_results(question, name) for name in [*question.functions, *driven]}
    code, given = json.dumps(_CODE.read_text("utf-8")), json.dumps(functions)
    layer = f'_layer = {{"__name__": "layer"}}\nexec({code}, _layer)\n'
    return [
        question.reference,
        f'{layer}_layer["install"]({kind!r}, {given}, globals())\n'.encode(),
    ]


# -- what is right ---------------------------------------------------------------------------------


def check_accepted_solutions(
    session: GradingSession,
    seeds: Sequence[int],
    progress: StepProgress,
    taken: dict[str, Mapping[str, float]],
) -> SolutionCheck:
    """Put the right solutions that come with a question through every check that decides.

    What each takes of budgets, on the first seed, goes into `taken`.
    """
    found = []
    for name in session.question.accepted:
        progress(f"accepted {name}")
        faults = [
            fault
            for seed in seeds
            for fault in _turned_down(session, name, seed, taken, timed=seed == seeds[0])
        ]
        found.append((name, faults))
    return _held(found, len(seeds), derived=False)


def check_repair(
    session: GradingSession, seeds: Sequence[int], progress: StepProgress = lambda _: None
) -> list[str]:
    """What is wrong with the repair of the starter: it passes, and so does each part's share."""
    question = session.question
    if not question.repair:
        return []
    progress("the repair of the starter")
    file = program_file(question, "repair") or "the repair"
    found = [f"{file}: {fault}" for fault in starter_repair.repair_errors(question)]
    last = len(question.spec.parts)
    for parts in range(1, last + 1):
        upto, failing = f"parts 1 to {parts}" if parts > 1 else "part 1", list[SeedProblem]()
        before = f"{file}: the starter with the changes of {upto} is stopped"
        for seed in (tried := seeds if parts == last else seeds[:1]):
            report = session.grade(starter_repair.repaired_starter(question, parts), seed=seed)
            if report.parts_passed < parts:
                failed = (
                    c
                    for c in report.checks
                    if not c.stretch and c.verdict not in NON_FAILING_VERDICTS
                )
                said = next((f"{c.id}: {failure_message(c)}" for c in failed), report.message)
                failing.append((seed, before, f": {said}"))
        if failing:  # what is wrong in a part is wrong in those after it
            return [*found, *problem_sentences(failing, len(tried))]
    return found


def _held(
    found: Sequence[tuple[str, list[SeedProblem]]], seeds: int, *, derived: bool
) -> SolutionCheck:
    passed = {name: seeds - len({seed for seed, *_ in faults}) for name, faults in found}
    accepted = [
        AcceptedSolutionResult(name, count, seeds, derived) for name, count in passed.items()
    ]
    return accepted, [text for _, faults in found for text in problem_sentences(faults, seeds)]


def _turned_down(
    session: GradingSession,
    name: str,
    seed: int,
    taken: dict[str, Mapping[str, float]],
    *,
    timed: bool,
) -> Iterator[SeedProblem]:
    question, called = session.question, f"the accepted {name}"
    file = program_file(question, ACCEPTED_PREFIX + name)
    program = [accepted_program(question, name)]
    last = question.accepted_until_part[name]
    try:
        evaluation = session.evaluate_bank_program(
            called, program, seed, called=called, file=file, parts=last
        )
        checks = [c for part in question.spec.parts[:last] for c in part.checks if not c.stretch]
        results = {check.id: result_of_check(evaluation, check, timed=timed) for check in checks}
        known: set[object] = set()  # what it raises at one place is said once
        for check, result in results.items():
            cause = (r.type, r.message, r.frames) if (r := result.raised) else check
            if result.verdict not in NON_FAILING_VERDICTS and cause not in known:
                before = f"{file}: {check} stops {name}, which is right,"
                yield seed, before, f": {failure_message(result, file)}"
            known.add(cause)
        taken.setdefault(name, budget_shares(evaluation, results))
    except BankProgramError as fault:
        yield seed, f"{file}: {name} is of no use", f": {fault}"


def check_restyled_reference(
    session: GradingSession, seeds: Sequence[int], progress: StepProgress
) -> tuple[SolutionCheck, list[str]]:
    """Put the reference in every style through the checks that compare values.

    Returns:
        What became of them, and a sentence per style that there is none of.
    """
    spec, found = session.question.spec, []
    unmade: dict[str, list[str]] = {}  # styles by the reason
    for name, about in STYLES.items() if not spec.needs_torch else ():
        if name == FLOAT64 and not any(n in str(spec.cases) for n in ("float32", "bfloat16")):
            continue
        progress(f"the reference {about}")
        try:
            faults = [f for seed in seeds for f in _styled_faults(session, name, about, seed)]
            found.append((name, faults))
        except BankProgramError as fault:
            reason = NO_FUNCTION_MESSAGE if NO_FUNCTION_MESSAGE in str(fault) else str(fault)
            unmade.setdefault(reason, []).append(name)
    notes = [
        f"there is no right program in the style {' or '.join(names)}: {reason}"
        for reason, names in unmade.items()
    ]
    return _held(found, len(seeds), derived=True), notes


def _styled_faults(
    session: GradingSession, name: str, about: str, seed: int
) -> Iterator[SeedProblem]:
    """What turns a style down on one seed.

    Raises:
        BankFault: there is no such style of this reference: it raises, or takes too long.
    """
    evaluation = session.evaluate_bank_program(
        f"style {name}", stand_in_sources(session, name), seed, called="it"
    )
    for check in session.question.spec.checks:
        if check.stretch or not registry.kind_named(check.kind).judges_values:
            continue
        result = result_of_check(evaluation, check)
        if result.verdict is Verdict.FAIL:
            before = f"{check.id} stops the reference {about}, which is right,"
            yield seed, before, f": {failure_message(result)}"
        elif result.verdict not in NON_FAILING_VERDICTS:
            raise BankProgramError(failure_message(result))


# -- what takes no thought -------------------------------------------------------------------------


def try_trivial_answers(session: GradingSession, seed: int) -> list[TrivialAnswer]:
    """Put every trivial answer through every check.

    Where zeros, ones and NaN all compute what the reference does, nothing of it was replaced: what
    is checked is what the functions change, not what they return.  Then none of these is counted.
    """
    is_text = forms.form_of(session.question.spec).is_text  # which remembers nothing
    names = [name for name in ANSWERS if not (is_text and name == "first-call")]
    tried = {name: _tried(session, seed, name) for name in names}
    unmade = all(tried[name][1] for name in ("zeros", "ones", "nan"))
    return [
        replace(a, made=False, accepted=False) if unmade and a.name != "first-call" else a
        for a, _ in tried.values()
    ]


def _tried(session: GradingSession, seed: int, name: str) -> tuple[TrivialAnswer, bool]:
    """An answer, and whether it computes what the reference does."""
    checks = session.question.spec.checks
    try:
        evaluation = session.evaluate_bank_program(
            f"trivial {name}", stand_in_sources(session, name), seed
        )
        verdicts = {check.id: result_of_check(evaluation, check).verdict for check in checks}
    except BankProgramError:  # it does not load, or breaks a check: nothing to fear
        return TrivialAnswer(name, ANSWERS[name], (), accepted=False), False
    deciding = {verdicts[check.id] for check in checks if not check.stretch}
    accepted = deciding - {Verdict.SKIPPED} == {Verdict.PASS}
    passes = tuple(check for check, verdict in verdicts.items() if verdict is Verdict.PASS)
    answer = TrivialAnswer(name, ANSWERS[name], passes, accepted=accepted)
    return answer, accepted and _is_reference(evaluation)


def opaque_results(question: Question, function: str) -> list[int]:
    """The indices in a function's result that later steps take and no check looks at by value."""
    looked_at = {
        (check.run, name) for check in question.spec.checks for name in check.required_results
    }
    taken: set[int] = set()
    seen: set[int] = set()
    for run, steps in question.runs.items():
        for number, step in enumerate(steps):
            if step.function != function or step.owner != "submission":
                continue
            later = {name for other in steps[number + 1 :] for name in other.names_read}
            taken |= {i for i, target in enumerate(step.targets) if target in later}
            seen |= {i for i, target in enumerate(step.targets) if (run, target) in looked_at}
    return sorted(taken - seen)


def _is_reference(evaluation: Evaluation) -> bool:
    """Whether the answer computes what the reference does, on every case of every check."""
    try:
        return all(
            same_value(
                value, evaluation.reference_outcome(check.run, case).values[name], case.dtype
            )
            for check in evaluation.question.spec.checks
            for case in evaluation.cases_of(check)
            for name, value in evaluation.submission_outcome(check.run, case).values.items()
        )
    except (ProgramError, WorkerError, BankProgramError):
        return False
