"""What a live interviewer has in hand: how it shows which misconception somebody holds."""

from __future__ import annotations

import numpy as np

from grader.commands.context import require_torch
from grader.explain.session import GradingSession
from grader.grading.case_by_case import SubmissionStopped
from grader.grading.evaluation import BankProgramError
from grader.grading.kinds import registry
from grader.model.errors import BankError
from grader.model.question import Question
from grader.model.report import CheckResult
from grader.model.spec import Check, Part
from grader.reports.interviewer import IdeaEvidence, smallest_case_text, wrong_result_text
from grader.reports.sentences import smallest_case


def collect_evidence(question: Question) -> list[IdeaEvidence]:
    """Run a program of each misconception through the first check of a part that is to stop it.

    UsageError where torch is needed and not there; BankError where a program of the bank fails.
    """
    require_torch(question)
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            return [one for part in question.spec.parts for one in _of_part(session, part)]
    except BankProgramError as fault:
        raise BankError(f"{question.spec_path}: {fault}") from None


def _of_part(session: GradingSession, part: Part) -> list[IdeaEvidence]:
    """The misconceptions that the checks of a part are to stop, each once."""
    found: dict[str, IdeaEvidence] = {}
    for check in part.checks:
        for name, idea in session.question.ideas.items():
            if check.id in idea.killed_by and name not in found:
                result = _tried(session, check, name)
                words = smallest_case_text(session.question, result)
                found[name] = IdeaEvidence(
                    name,
                    check.id,
                    idea.feedback_for(),
                    smallest_case(result),
                    words,
                    wrong_result_text(result),
                )
    return list(found.values())


def _tried(session: GradingSession, check: Check, name: str) -> CheckResult:
    """What a check finds in the first program that holds an idea."""
    programs = [session.question.reference, session.question.variants[name][0]]
    evaluation = session.evaluate_bank_program(
        name, programs, 0, called=f"the misconception {name}"
    )
    try:
        return registry.kind_named(check.kind).run_check(evaluation, check)
    except SubmissionStopped as stop:
        return stop.result
