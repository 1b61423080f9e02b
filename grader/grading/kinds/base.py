"""The base class of a kind of check, and a trial of a check on one case.

A kind has two classes.  Its `Kind` judges, and holds every other fact about the kind; `registry`
finds it by name.  Its *keys*, a subclass of `grader.model.spec.Check`, hold the YAML of one check.
They also tell which results the check needs, and which names it mentions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from grader.grading.case_finding import CaseFinding
from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check

if TYPE_CHECKING:
    from grader.grading import toolkit as api
else:

    class _Toolkit:
        """Stands for `grader.grading.toolkit`, and imports it when a name of it is first used.

        So reading a spec does not load numpy.
        """

        def __getattr__(self, name: str) -> object:
            return getattr(import_module("grader.grading.toolkit"), name)

    api = _Toolkit()

__all__ = [
    "CaseFinding",
    "CaseTrial",
    "Check",
    "CheckResult",
    "Count",
    "Kind",
    "WrittenAnswerKind",
    "api",
    "without_cases",
]

K = TypeVar("K", bound=Check)


@dataclass(frozen=True, slots=True)
class Count:
    """A measured number of bytes or operations; diagnosis takes two nearly equal ones as equal."""

    value: float
    kept: tuple[str, ...] | None = None  # descriptions of the counted items, if known


@dataclass(frozen=True, slots=True)
class CaseTrial(Generic[K]):
    """One check on one case: the results of the submission and the reference, and their inputs."""

    evaluation: api.Evaluation
    check: K
    case: api.Case

    @property
    def steps(self) -> tuple[api.Step, ...]:
        return self.evaluation.steps(self.check.run)

    @property
    def subject_outcome(self) -> api.Outcome:
        return self.evaluation.subject_outcome(self.check.run, self.case)

    @property
    def reference_outcome(self) -> api.Outcome:
        return self.evaluation.reference_outcome(self.check.run, self.case)

    def subject_result(self, name: str) -> api.Value:
        """Return a result of the submission; None if it has no such result."""
        return self.subject_outcome.values.get(name)

    def inputs(self, *, draw_index: int = 0, mode: str = "native") -> api.Inputs:
        """Return the inputs of the check's run, encoded for a program."""
        return self.evaluation.inputs(self.case, self.check.run, draw_index=draw_index, mode=mode)

    def find_mismatch(
        self,
        name: str,
        outcome: api.Outcome,
        *,
        draw_index: int = 0,
    ) -> api.ResultMismatch | None:
        """Return how an outcome's result differs from the reference's; None if it agrees."""
        expected = api.expected_result(
            self.evaluation, self.check.run, self.case, name, draw_index=draw_index
        )
        return api.compare_result(name, outcome.values.get(name), expected)

    def side_effects(self, outcome: api.Outcome, *, shared: bool = False) -> Iterator[str]:
        """Describe each side effect of the outcome's calls that the reference does not have.

        A call may change an argument, or a result that an earlier call returned.  With `shared`, a
        result may not share memory with an input either.
        """
        expected = self.reference_outcome
        compared = self.check.compared_results
        for index, name in outcome.changed:
            if (index, name) not in expected.changed:
                yield f"{self.function_name(index)} changes its caller's {name}"
        for result, name in outcome.shared if shared else ():
            if result in compared and (result, name) not in expected.shared:
                yield f"{result} shares its memory with {name}: writing to one changes the other"
        for result, index in outcome.stale:
            if result in compared and (result, index) not in expected.stale:
                yield f"{result} is changed afterwards by {self.function_name(index)}"

    def function_name(self, index: int) -> str:
        """Return a name of a step's function for messages: "pool", "your backward", "your code".

        A bad index stands for the last step.
        """
        step = self.steps[index if 0 <= index < len(self.steps) else -1]
        names = {"torch": "your backward", "driver": "your code", "judge": "your code"}
        return names.get(step.owner, step.function)

    def failing_finding(self, sentence: str, **fields: Any) -> CaseFinding:  # noqa: ANN401 fields of a CaseFinding
        """Return a failing finding, with the case added: "y holds NaN (case small)"."""
        return CaseFinding(f"{sentence} (case {self.case.name})", **fields)


class Kind(Generic[K]):
    """A kind of check, such as `outputs`: how it judges a submission, and facts about it.

    A kind needs only its keys and `judge`.  The defaults of all other members fit a check that
    compares the values of results.
    """

    check_model: type[K]  # with `kind: Literal[...]`, the name of the kind

    needs_torch: ClassVar[bool] = False  # it uses the autograd graph
    without_torch: ClassVar[bool] = False  # for numpy only: it cannot see what torch allocates
    needs_drawn_inputs: ClassVar[bool] = False  # results of fixed inputs could be remembered
    judges_values: ClassVar[bool] = False  # it judges values of results: zeros should not pass
    is_law: ClassVar[bool] = False  # it tests a law of right results, not expected values
    compares_final_value_only: ClassVar[bool] = False  # audits compare only a series' last value
    hides_expected: ClassVar[bool] = False  # an estimate: no expected value is shown before a pass
    is_timed: ClassVar[bool] = False  # it measures time: an audit runs it on the reference only
    stops_late: ClassVar[bool] = False  # a call that hangs is stopped late
    is_slow_to_observe: ClassVar[bool] = False  # diagnosis observes it after the other kinds
    shows_measurement: ClassVar[bool] = False  # a passing report has a line on the measurement
    always_reported: ClassVar[bool] = False  # each failure is reported, not only the first one
    missed_stretch_word: ClassVar[str] = "missed"  # for a stretch check that does not pass

    def run_check(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        """Judge the submission on every case of the check.

        The reference runs on each case first, unless the evaluation turns this off.  A ProgramError
        or WorkerError that leaves `judge` is the submission's fault.

        Raises:
            SubmissionStopped: The submission's process has ended; its result tells how.
            BankProgramError: The reference or the spec fails.
        """
        cases = evaluation.cases_of(check)
        findings = []
        for case in cases:
            if evaluation.runs_reference_first:
                evaluation.reference_outcome(check.run, case)
            trial = CaseTrial(evaluation, check, case)
            finding: CaseFinding | None
            try:
                with evaluation.limits_applied(case):
                    finding = self.judge(trial)
                    if self.judges_values:
                        finding = _with_side_effect(trial, finding)
            except api.ProgramError as error:
                finding = api.exception_finding(evaluation, check.run, case, error)
            except api.WorkerError as failure:
                sentence = f"your code {failure}"
                verdict = api.verdict_of_process_end(failure)
                finding = CaseFinding(f"{sentence} (case {case.name})", verdict)
                result = api.check_result(evaluation, check, cases, [(case, finding)])
                raise api.SubmissionStopped(result, sentence) from None
            if finding is not None:
                findings.append((case, finding))
        return api.check_result(evaluation, check, cases, findings)

    def judge(self, trial: CaseTrial[K]) -> CaseFinding | None:
        """Return a fault or a measurement on one case; None if there is neither.

        A ProgramError or WorkerError that leaves this method is reported as the submission's fault.
        """
        raise NotImplementedError

    # -- diagnosis --------------------------------------------------------------------------

    def uses_observation(self, check: K) -> bool:
        """Return True if diagnosis compares values from `observe` in place of the results."""
        return type(self).observe is not Kind.observe and self.decides_on_every_machine(check)

    def observe(self, trial: CaseTrial[K]) -> Any:  # noqa: ANN401
        """Return the value that diagnosis compares between programs on one case.

        It is a result, a `Count`, a text or None.  Default: the first side effect.
        """
        return next(trial.side_effects(trial.subject_outcome), None)

    def budget_share(self, trial: CaseTrial[K]) -> float | None:  # noqa: ARG002
        """Return the used share of the submission's budget, as 0.8; None without a budget."""
        return None

    def varies_with_style(self, check: K) -> bool:  # noqa: ARG002
        """Return True if programs with the same idea may give other values, as of peak memory."""
        return False

    # -- audit ------------------------------------------------------------------------------

    def decides_on_every_machine(self, check: K) -> bool:  # noqa: ARG002
        """Return False if the verdict depends on a machine's speed or on its CUDA device."""
        return not self.is_timed

    def layouts_tried(self, check: K) -> tuple[str, ...]:  # noqa: ARG002
        """Return the array layouts that the check tries."""
        return ()


def _with_side_effect(trial: CaseTrial[Any], finding: CaseFinding | None) -> CaseFinding | None:
    """Add the first side effect of the submission's calls, if any, to the finding on a case.

    Without a side effect, the finding stays as it is.  With one, it fails even if all results are
    right.
    """
    effect = next(trial.side_effects(trial.subject_outcome), None)
    if effect is None:
        return finding
    if finding is None or finding.verdict is Verdict.PASS:
        return trial.failing_finding(effect, effect=True)
    sentence = f"{effect}, and {finding.sentence}"
    if finding.wrong_result:
        sentence += f" in case {trial.case.name}"
    return replace(finding, sentence=sentence, wrong_result="")


class WrittenAnswerKind(Kind[K]):
    """A kind that judges a written answer.

    The answer is the same for all cases: only the first is judged, and the result names no case.
    """

    def run_check(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        first = evaluation.cases_of(check)[0].name
        result = super().run_check(evaluation, check.model_copy(update={"cases": first}))
        return without_cases(result)


def without_cases(result: CheckResult) -> CheckResult:
    """Return the result without the names, inputs and calls of its cases."""
    return replace(result, cases=(), failing=(), case_line="", about="", inputs={}, call="")
