"""What a kind of check is: its keys, how it is carried out, and what is made of it elsewhere.

Everything that the program knows of a kind stands in one class; `registry` finds it by its name.
What follows from the keys alone (the results it needs, the names that have to exist) is said by
the keys, which derive from `grader.model.spec.Check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check

if TYPE_CHECKING:
    from grader.grading import toolkit as api
else:

    class _Toolkit:
        """`grader.grading.toolkit`, imported when first used: a spec is read without numpy."""

        def __getattr__(self, name: str) -> object:
            return getattr(import_module("grader.grading.toolkit"), name)

    api = _Toolkit()

__all__ = ["CaseTrial", "Check", "CheckResult", "Count", "Kind", "WrittenAnswerKind", "api"]

K = TypeVar("K", bound=Check)


@dataclass(frozen=True, slots=True)
class Count:
    """An observation that is a number of bytes or operations: nearly the same is the same."""

    value: float
    kept: tuple[str, ...] | None = None  # what the bytes are of, sorted, where that is known


@dataclass(frozen=True, slots=True)
class CaseTrial(Generic[K]):
    """A check on one case, with the submission of an evaluation."""

    evaluation: api.Evaluation
    check: K
    case: api.Case

    @property
    def steps(self) -> tuple[api.Step, ...]:
        return self.evaluation.steps(self.check.run)

    @property
    def submission_outcome(self) -> api.Outcome:
        return self.evaluation.submission_outcome(self.check.run, self.case)

    @property
    def reference_outcome(self) -> api.Outcome:
        return self.evaluation.reference_outcome(self.check.run, self.case)

    def submission_result(self, name: str) -> api.Value:
        """A result of the submission; None where there is none."""
        return self.submission_outcome.values.get(name)

    def inputs(self, **how: Any) -> api.Inputs:  # noqa: ANN401 see Evaluation.inputs
        return self.evaluation.inputs(self.case, self.check.run, **how)

    def find_mismatch(
        self, name: str, outcome: api.Outcome, **how: Any
    ) -> api.ResultMismatch | None:
        """How a result in an outcome differs from the reference's; see `compare.fault_of`."""
        return api.find_mismatch(self.evaluation, self.check.run, self.case, name, outcome, **how)

    def side_effects(self, outcome: api.Outcome, *, shared: bool = False) -> Iterator[str]:
        """What steps did beside returning results, and the reference's do not, in words."""
        truth, ours = self.reference_outcome, self.check.compared_results
        for index, name in outcome.changed:
            if (index, name) not in truth.changed:
                yield f"{self.function_name(index)} changes its caller's {name}"
        for result, name in outcome.shared if shared else ():
            if result in ours and (result, name) not in truth.shared:
                yield f"{result} shares its memory with {name}: writing to one changes the other"
        for result, index in outcome.stale:
            if result in ours and (result, index) not in truth.stale:
                yield f"{result} is changed afterwards by {self.function_name(index)}"

    def function_name(self, index: int) -> str:
        """The function that a step calls; the last one's where there is no such step."""
        step = self.steps[index if 0 <= index < len(self.steps) else -1]
        named = {"torch": "your backward", "driver": "your code", "judge": "your code"}
        return named.get(step.owner, step.function)

    def failing_finding(self, sentence: str, **more: Any) -> api.CaseFinding:  # noqa: ANN401 fields of a Finding
        """A finding whose sentence ends with the name of the case."""
        return api.CaseFinding(f"{sentence} (case {self.case.name})", **more)


class Kind(Generic[K]):
    """A kind of check.

    The keys and `judge` are all that a kind needs.  Whatever else there is has a default that fits
    a check of results by value.
    """

    keys: type[K]  # with `kind: Literal[...]`, the name of the kind

    needs_torch: ClassVar[bool] = False  # it asks the autograd graph
    without_torch: ClassVar[bool] = False  # it does not see what torch allocates
    needs_drawn_inputs: ClassVar[bool] = False  # fixed ones could be remembered
    judges_values: ClassVar[bool] = False  # by themselves: zeros or ones should not pass
    is_law: ClassVar[bool] = False  # it holds whatever the values are, so that others see it first
    compares_final_value_only: ClassVar[bool] = (
        False  # of a series: where it goes, not each of its values
    )
    hides_expected: ClassVar[bool] = False  # an estimate: what is right is not shown before a pass
    is_timed: ClassVar[bool] = False  # on the reference only in an audit, and never on mutants
    stops_late: ClassVar[bool] = False  # a call that hangs is stopped late
    is_slow_to_observe: ClassVar[bool] = False  # to observe: the others rule most ideas out
    shows_measurement: ClassVar[bool] = False  # what it measured is worth a line of a pass
    always_reported: ClassVar[bool] = False  # it fails: that is worth a line of its own
    missed_stretch_word: ClassVar[str] = "missed"  # the word for a stretch that is not reached

    def run_check(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        """Try the evaluation's submission on every case of the check.

        Raises:
            Stopped: the submission's process is gone; its result says how.
            BankFault: the reference or the spec fails.
        """
        return api.judge_all_cases(
            evaluation, check, lambda case: self._look(CaseTrial(evaluation, check, case))
        )

    def _look(self, trial: CaseTrial[K]) -> api.CaseFinding | None:
        """What is wrong on one case; wherever values are judged, side effects are as well."""
        found = self.judge(trial)
        effect = (
            next(trial.side_effects(trial.submission_outcome), None) if self.judges_values else None
        )
        if effect is None:
            return found
        if found is None or found.verdict is Verdict.PASS:
            return trial.failing_finding(effect, effect=True)
        where = f" in case {trial.case.name}" if found.subject else ""
        return replace(found, sentence=f"{effect}, and {found.sentence}{where}", subject="")

    def judge(self, trial: CaseTrial[K]) -> api.CaseFinding | None:
        """What is wrong on one case, or was measured there; what it raises, the submission did."""
        raise NotImplementedError

    # -- diagnosis --------------------------------------------------------------------------

    def uses_observation(self, check: K) -> bool:
        """Whether ideas are recognized by `observe`, rather than by the values of `compared`."""
        return type(self).observe is not Kind.observe and self.decides_on_every_machine(check)

    def observe(self, trial: CaseTrial[K]) -> Any:  # noqa: ANN401
        """What the submission shows on one case: a result, a `Count`, a text or None."""
        return next(trial.side_effects(trial.submission_outcome), None)

    def budget_share(self, trial: CaseTrial[K]) -> float | None:  # noqa: ARG002
        """How much of its budget the submission takes on one case; None where there is none."""
        return None

    def varies_with_style(self, check: K) -> bool:  # noqa: ARG002
        """Whether what is observed depends on how an idea is written, as peaks of memory do."""
        return False

    # -- audit ------------------------------------------------------------------------------

    def decides_on_every_machine(self, check: K) -> bool:  # noqa: ARG002
        """Whether it can turn a submission down on every machine."""
        return not self.is_timed

    def layouts_tried(self, check: K) -> tuple[str, ...]:  # noqa: ARG002
        """The layouts of arrays that it tries."""
        return ()


class WrittenAnswerKind(Kind[K]):
    """A kind that judges what a person has written: it looks once, and speaks of no case."""

    def run_check(self, evaluation: api.Evaluation, check: K) -> CheckResult:
        first = evaluation.cases_of(check)[0].name
        found = super().run_check(evaluation, check.model_copy(update={"cases": first}))
        return replace(found, cases=(), failing=(), case_line="", about="", inputs={})
