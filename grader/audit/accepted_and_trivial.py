"""Try right programs that must pass, and trivial answers that must not.

A question that rejects right solutions is worse than one that accepts wrong ones.  So the audit
grades the solutions that the author has written in other *styles*, with loops for example
(`accepted`).  It derives more styles from the reference, such as float64.  Their values are right
by construction.  They may exceed budgets of bytes or FLOPs, so only the checks that judge values
run on them.

A question that accepts zeros proves nothing.  So the audit also makes *trivial answers*: the
reference with its results replaced, by zeros for example (`audit/stand_ins.py`).  One seed is
enough for them, because they hardly depend on it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from grader import forms
from grader.audit.kill_matrix import (
    SeedProblem,
    budget_shares,
    failure_message,
    problem_sentences,
    required_failures,
    result_of_check,
)
from grader.bank import starter_repair
from grader.explain.session import GradingSession
from grader.grading.bank_errors import BankProgramError, program_file
from grader.grading.bank_programs import ACCEPTED_PREFIX, accepted_program
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.registry import kind_of
from grader.grading.values import same_value
from grader.model.audit import AcceptedSolutionResult, TrivialAnswer
from grader.model.question import Question
from grader.model.report import CheckResult, Verdict
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
NO_FUNCTION_MESSAGE = "what is called is no function"  # raised by `install` of stand_ins
_STAND_INS_FILE = Path(__file__).with_name("stand_ins.py")

StepProgress = Callable[[str], None]


class SolutionCheck(NamedTuple):
    """The results of right programs that were tried, and the problems that they show."""

    results: list[AcceptedSolutionResult]
    problems: list[str]  # a sentence on each check that rejects one


def stand_in_sources(session: GradingSession, kind: str) -> list[bytes]:
    """Return the reference, and code on top that replaces the functions that runs or drivers call.

    Args:
        session: session of the question.
        kind: a key of STYLES (how the replacements compute) or of ANSWERS (what they return).
    """
    question = session.question
    loaded = session.bank.reference.loaded
    driver = (question.driver or b"").decode(errors="replace")
    called_by_driver = set(re.findall(r"\bprogram\.(\w+)", driver))
    names = list(question.functions)
    if loaded is not None:
        names += [name for name in loaded.defined if name in called_by_driver]
    opaque = {name: opaque_results(question, name) for name in names}
    code = json.dumps(_STAND_INS_FILE.read_text("utf-8"))
    layer = (
        '_layer = {"__name__": "layer"}\n'
        f"exec({code}, _layer)\n"
        f'_layer["install"]({kind!r}, {json.dumps(opaque)}, globals())\n'
    )
    return [question.reference, layer.encode()]


# -- right programs -------------------------------------------------------------------------------


def check_accepted_solutions(
    session: GradingSession,
    seeds: Sequence[int],
    progress: StepProgress,
    budgets: dict[str, Mapping[str, float]],
) -> SolutionCheck:
    """Run the required checks on every accepted solution.

    Checks that measure time run on the first seed only.  `budgets` gets the share of each budget
    that a solution takes on the first seed on which it runs, by the name of the solution.
    """
    problems: dict[str, list[SeedProblem]] = {}
    for name in session.question.accepted:
        progress(f"accepted {name}")
        problems[name] = [
            problem
            for seed in seeds
            for problem in _rejections(session, name, seed, budgets, timed=seed == seeds[0])
        ]
    return _solution_check(problems, len(seeds), derived=False)


def check_repair(
    session: GradingSession, seeds: Sequence[int], progress: StepProgress = lambda _: None
) -> list[str]:
    """Return a sentence on each fault of the repair (`repair.py`: the starter, made right).

    The starter with the changes of parts 1 to n must pass these parts: on every seed if n is the
    last part, else on the first.  The first n that fails ends the search.
    """
    question = session.question
    if not question.repair:
        return []
    progress("the repair of the starter")
    file = program_file(question, "repair") or "the repair"
    errors = [f"{file}: {error}" for error in starter_repair.repair_errors(question)]
    last_part = len(question.spec.parts)
    for parts in range(1, last_part + 1):
        changes = f"parts 1 to {parts}" if parts > 1 else "part 1"
        before = f"{file}: the starter with the changes of {changes} is stopped"
        tried_seeds = seeds if parts == last_part else seeds[:1]
        problems: list[SeedProblem] = []
        for seed in tried_seeds:
            report = session.grade(starter_repair.repaired_starter(question, parts), seed=seed)
            if report.parts_passed < parts:
                failures = required_failures(report.checks)
                message = report.message
                if failures:
                    message = f"{failures[0].id}: {failure_message(failures[0])}"
                problems.append((seed, before, f": {message}"))
        if problems:  # a fault of one part shows in all later ones
            return [*errors, *problem_sentences(problems, len(tried_seeds))]
    return errors


def _solution_check(
    problems_by_name: Mapping[str, Sequence[SeedProblem]], seeds: int, *, derived: bool
) -> SolutionCheck:
    """Return on how many seeds each solution passes, and its problems as sentences.

    `seeds` is the number of seeds tried.  `derived` says that the audit made the solutions.
    """
    results = []
    sentences = []
    for name, problems in problems_by_name.items():
        failing_seeds = {seed for seed, _, _ in problems}
        passed = seeds - len(failing_seeds)
        results.append(AcceptedSolutionResult(name, passed, seeds, derived))
        sentences += problem_sentences(problems, seeds)
    return SolutionCheck(results, sentences)


def _rejections(
    session: GradingSession,
    name: str,
    seed: int,
    budgets: dict[str, Mapping[str, float]],
    *,
    timed: bool,
) -> Iterator[SeedProblem]:
    """Yield a problem for each required check that rejects an accepted solution on one seed.

    Of checks that fail by the same exception, only the first counts.  A solution that cannot run is
    a problem, too.  `budgets` gets the solution's shares unless an earlier seed has added them.
    """
    question = session.question
    file = program_file(question, ACCEPTED_PREFIX + name)
    last_part = question.accepted_until_part[name]
    try:
        evaluation = session.evaluate_bank_program(
            f"the accepted {name}",
            [accepted_program(question, name)],
            seed,
            called=f"the accepted {name}",
            file=file,
            parts=last_part,
        )
        checks = [
            check
            for part in question.spec.parts[:last_part]
            for check in part.checks
            if not check.stretch
        ]
        results = {check.id: result_of_check(evaluation, check, timed=timed) for check in checks}
        known_causes: set[object] = set()
        for check_id, result in results.items():
            cause = _cause(result)
            if result.fails and cause not in known_causes:
                before = f"{file}: {check_id} stops {name}, which is right,"
                yield seed, before, f": {failure_message(result, file)}"
            known_causes.add(cause)
        budgets.setdefault(name, budget_shares(evaluation, results))
    except BankProgramError as error:
        yield seed, f"{file}: {name} is of no use", f": {error}"


def _cause(result: CheckResult) -> object:
    """Return a key that is equal for results of one exception; else it is the check's id."""
    raised = result.raised
    if raised is None:
        return result.id
    return raised.type, raised.message, raised.frames


def check_restyled_reference(
    session: GradingSession, seeds: Sequence[int], progress: StepProgress
) -> tuple[SolutionCheck, list[str]]:
    """Run the checks that judge values on the reference in every style.

    No style is tried if the question needs torch, nor float64 if all cases are float64 already.

    Returns:
        The results, and a sentence on the styles that cannot be made, for each reason.
    """
    spec = session.question.spec
    if spec.needs_torch:
        return SolutionCheck([], []), []
    cases = str(spec.cases)
    has_narrow_case = "float32" in cases or "bfloat16" in cases
    problems: dict[str, list[SeedProblem]] = {}
    impossible: dict[str, list[str]] = {}  # styles by the reason
    for style, about in STYLES.items():
        if style == FLOAT64 and not has_narrow_case:
            continue
        progress(f"the reference {about}")
        try:
            problems[style] = [
                problem
                for seed in seeds
                for problem in _style_rejections(session, style, about, seed)
            ]
        except BankProgramError as error:
            reason = str(error)
            if NO_FUNCTION_MESSAGE in reason:
                reason = NO_FUNCTION_MESSAGE
            impossible.setdefault(reason, []).append(style)
    notes = [
        f"there is no right program in the style {' or '.join(styles)}: {reason}"
        for reason, styles in impossible.items()
    ]
    return _solution_check(problems, len(seeds), derived=True), notes


def _style_rejections(
    session: GradingSession, style: str, about: str, seed: int
) -> Iterator[SeedProblem]:
    """Yield a problem for each check of values that rejects the reference in one style.

    Raises:
        BankProgramError: the reference raises in this style, or takes too long.
    """
    evaluation = session.evaluate_bank_program(
        f"style {style}", stand_in_sources(session, style), seed, called="it"
    )
    for check in session.question.spec.checks:
        if check.stretch or not kind_of(check).judges_values:
            continue
        result = result_of_check(evaluation, check)
        if result.verdict is Verdict.FAIL:
            before = f"{check.id} stops the reference {about}, which is right,"
            yield seed, before, f": {failure_message(result)}"
        elif result.fails:
            raise BankProgramError(failure_message(result))


# -- trivial answers ------------------------------------------------------------------------------


def try_trivial_answers(session: GradingSession, seed: int) -> list[TrivialAnswer]:
    """Return every trivial answer with the checks that it passes on one seed.

    If zeros, ones and NaN all pass and equal the reference, nothing was replaced: the checks look
    at changed arguments and not at results.  Then no answer counts but `first-call`.
    """
    names = list(ANSWERS)
    if forms.form_of(session.question.spec).is_text:  # a file of answers calls nothing
        names.remove("first-call")
    answers: list[TrivialAnswer] = []
    equal_to_reference: set[str] = set()
    for name in names:
        answer, equals_reference = _try_trivial_answer(session, seed, name)
        answers.append(answer)
        if equals_reference:
            equal_to_reference.add(name)
    if not equal_to_reference >= {"zeros", "ones", "nan"}:
        return answers
    return [
        answer if answer.name == "first-call" else replace(answer, made=False, accepted=False)
        for answer in answers
    ]


def _try_trivial_answer(
    session: GradingSession, seed: int, name: str
) -> tuple[TrivialAnswer, bool]:
    """Run every check on one trivial answer.

    Returns:
        The answer with the checks it passes, and True if it passes all that decide and computes the
        reference's results.
    """
    checks = session.question.spec.checks
    try:
        evaluation = session.evaluate_bank_program(
            f"trivial {name}", stand_in_sources(session, name), seed
        )
        verdicts = {check.id: result_of_check(evaluation, check).verdict for check in checks}
    except BankProgramError:  # it does not load, or breaks a check: no question accepts it
        return TrivialAnswer(name, ANSWERS[name], (), accepted=False), False
    required = {verdicts[check.id] for check in checks if not check.stretch}
    accepted = required - {Verdict.SKIPPED} == {Verdict.PASS}
    passes = tuple(check for check, verdict in verdicts.items() if verdict is Verdict.PASS)
    answer = TrivialAnswer(name, ANSWERS[name], passes, accepted=accepted)
    return answer, accepted and _equals_reference(evaluation)


def opaque_results(question: Question, function: str) -> list[int]:
    """Return the indices of a function's opaque results, such as a ctx.

    A result is opaque if a later step reads it and no check compares it.
    """
    compared = {
        (check.run, name) for check in question.spec.checks for name in check.required_results
    }
    read_later: set[int] = set()
    checked: set[int] = set()
    for run, steps in question.runs.items():
        for number, step in enumerate(steps):
            if step.function != function or step.owner != "submission":
                continue
            later_names = {name for later in steps[number + 1 :] for name in later.names_read}
            for index, target in enumerate(step.targets):
                if target in later_names:
                    read_later.add(index)
                if (run, target) in compared:
                    checked.add(index)
    return sorted(read_later - checked)


def _equals_reference(evaluation: Evaluation) -> bool:
    """Return True if a program computes the reference's results on every case of every check.

    Return False if one of the two fails on a case.
    """
    try:
        for check in evaluation.question.spec.checks:
            for case in evaluation.cases_of(check):
                results = evaluation.subject_outcome(check.run, case).values
                for name, value in results.items():
                    expected = evaluation.reference_outcome(check.run, case).values[name]
                    if not same_value(value, expected, case.dtype):
                        return False
    except (ProgramError, WorkerError, BankProgramError):
        return False
    return True
