"""Carry out one check of a miniature question on a source, in real workers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from grader.bank import load_question
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.model.question import Question
from grader.model.report import CheckResult
from grader.model.spec import Check
from grader.sandbox.client import WorkerClient
from grader.sandbox.remote_program import RemoteProgram
from tests.asking import with_checks

MINI = Path(__file__).parents[2] / "banks" / "mini"


def run_check(evaluation: Evaluation, check: Check) -> CheckResult:
    return registry.kind_named(check.kind).run_check(evaluation, check)


class Desk:
    def __init__(self, question_id: str, theirs: WorkerClient, ours: WorkerClient) -> None:
        self.question: Question = load_question([MINI], question_id)
        self.theirs = theirs
        self.reference = self._program(
            ours, f"reference of {question_id}", [self.question.reference]
        )

    def _program(self, worker: WorkerClient, name: str, sources: Sequence[bytes]) -> RemoteProgram:
        program = RemoteProgram(worker, name, sources, self.question.support, f"{name}.py")
        program.load(())
        return program

    def evaluation(self, source: str = "", seed: int = 1) -> Evaluation:
        layers = [self.question.reference, source.encode()]
        submission = self._program(self.theirs, "submission", layers)
        return Evaluation(self.question, seed, submission, self.reference)

    def check(self, check_id: str, **changes: Any) -> Check:
        check = next(c for c in self.question.spec.checks if c.id == check_id)
        return check.model_copy(update=changes)

    def result(
        self, check_id: str, source: str = "", *, seed: int = 1, **changes: Any
    ) -> CheckResult:
        check = self.check(check_id, **changes)
        checks = [check if c.id == check_id else c for c in self.question.spec.checks]
        evaluation = self.evaluation(source, seed)
        evaluation.question = with_checks(self.question, checks)
        return run_check(evaluation, check)
