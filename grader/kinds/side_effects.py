"""Check `side-effects`: a call does nothing but return its results.

- Inputs are as they were after every step, not only at the end.
- A result shares no memory with an input, keeps its value through later steps and calls, and is not
  the same object that another call returns.
- Two callers in turn do not disturb each other: what one step leaves for the next is in no global.
- Any strides, and inputs that may not be written to, give the same values.

The first two hold wherever the run is: on every case of every check that looks at its results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import Field

from grader.kinds import registry
from grader.kinds.base import Check, CheckResult, Kind, api
from grader.model.report import Verdict
from grader.model.spec import Layout, Name

_WORDS = {
    "fortran": "in Fortran order",
    "reversed": "reversed views",
    "strided": "strided views",
    "readonly": "read-only",
}


class SideEffectsCheck(Check):
    """Inputs stay unchanged, results are the caller's own, and calls leave no trace for others."""

    kind: Literal["side-effects"]
    of: Name | list[Name] = Field(description="The result, or a list of results, that it looks at.")
    layouts: list[Layout] = Field(
        default=["fortran", "reversed", "strided", "readonly"],
        description="In which ways arrays are laid out in memory for the same values.",
    )


class SideEffects(Kind[SideEffectsCheck]):
    """Try every clause on every case; the first breach of a case is its finding."""

    keys: type[SideEffectsCheck] = SideEffectsCheck
    slow = True  # a call for each layout and turn

    def carry_out(self, evaluation: api.Evaluation, check: SideEffectsCheck) -> CheckResult:
        good = f"inputs, ownership, repeated calls, {len(check.layouts)} layouts"
        found = api.tally(
            evaluation, check, lambda case: self.judge(evaluation, check, case), good=good
        )
        own = {case.name for case in evaluation.cases_of(check)}
        others = {
            case.name: None
            for other in evaluation.checks
            if other.run == check.run and registry.get(other.kind).judges_values
            for case in evaluation.cases_of(other)
            if case.name not in own
        }
        if found.verdict is not Verdict.PASS or not others:
            return found
        wider = check.model_copy(update={"cases": list(others)})
        seen = api.tally(
            evaluation, wider, lambda case: _Trial(evaluation, check, case).in_passing()
        )
        return found if seen.verdict is Verdict.PASS else seen

    def judge(
        self, evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
    ) -> api.Finding | None:
        return next(_Trial(evaluation, check, case).breaches(self.layouts(check)), None)

    def observe(
        self, evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
    ) -> str | None:
        found = self.judge(evaluation, check, case)
        return None if found is None else found.sentence

    def layouts(self, check: SideEffectsCheck) -> tuple[str, ...]:
        return tuple(name for name in check.layouts if name != "broadcast")


@dataclass(frozen=True, slots=True)
class _Trial:
    """The clauses, tried on one case."""

    evaluation: api.Evaluation
    check: SideEffectsCheck
    case: api.Case

    @property
    def steps(self) -> tuple[api.Step, ...]:
        return self.evaluation.steps(self.check.run)

    @property
    def wanted(self) -> tuple[str, ...]:
        return self.evaluation.wanted[self.check.run]

    def breaches(self, layouts: Iterable[str]) -> Iterator[api.Finding]:
        yield from self.side_effects(self.evaluation.observed(self.check.run, self.case))
        yield from self.in_turn()
        for layout in layouts:
            yield from self.with_layout(layout)

    def in_passing(self) -> api.Finding | None:
        """The first side effect of a plain run that the reference's has not."""
        try:
            mine = self.evaluation.observed(self.check.run, self.case)
        except api.ProgramError:
            return None  # the check whose case it is says so
        right = self.evaluation.truth(self.check.run, self.case)
        own: dict[str, Any] = {
            effect: tuple(p for p in getattr(mine, effect) if p not in getattr(right, effect))
            for effect in ("changed", "stale", "shared")
        }
        return next(self.side_effects(mine._replace(**own)), None)

    def side_effects(self, outcome: api.Outcome) -> Iterator[api.Finding]:
        steps, on = self.steps, f"(case {self.case.name})"

        def who(index: int) -> str:
            return _who(steps[index] if 0 <= index < len(steps) else steps[-1])

        for index, name in outcome.changed:
            yield api.Finding(f"{who(index)} changes its caller's {name} {on}")
        for result, name in outcome.shared:
            if result in self.check.results:
                yield api.Finding(
                    f"{result} shares its memory with {name}: writing to one changes the other {on}"
                )
        for result, index in outcome.stale:
            if result in self.check.results:
                yield api.Finding(f"{result} is changed afterwards by {who(index)} {on}")

    def in_turn(self) -> Iterator[api.Finding]:
        """The case itself, another of the same shape, and the first again, in lockstep."""
        evaluation, case, draws = self.evaluation, self.case, (0, 1, 0)
        given = [evaluation.inputs(case, self.check.run, draw_index=draw) for draw in draws]
        outcomes, common = evaluation.asked(
            case, lambda program: program.interleave(self.steps, given, self.wanted)
        )
        for name in common:
            if name in self.check.results:
                yield api.Finding(
                    f"two calls return the same memory for {name}: what happens to one result "
                    f"happens to the other (case {case.name})"
                )
        for draw, inputs, outcome in zip(draws, given, outcomes, strict=True):
            yield from self.side_effects(outcome)
            for name, fault in self.caused(outcome, draw):
                sentence = (
                    f"{name} is right in a first call and wrong when calls take turns: "
                    f"something is kept outside of what the steps hand on (case {case.name})"
                )
                if draw and self.is_wrong_alone(name, inputs, draw):
                    sentence = f"{fault.sentence} on another draw of case {case.name}"
                yield api.Finding(sentence, mismatch=fault.mismatch(case.name))

    def is_wrong_alone(self, name: str, inputs: api.Inputs, draw_index: int) -> bool:
        """Whether a result is wrong though nothing was called before: no memory is to blame."""
        submission = self.evaluation.submission
        program = replace(submission, name=f"{submission.name}, anew")
        program.load(())
        first = program.run(self.steps, inputs, self.wanted)
        return self.fault(name, first, draw_index) is not None

    def caused(self, outcome: api.Outcome, draw_index: int) -> Iterator[tuple[str, api.Fault]]:
        """Results that are wrong in an outcome, and right on the case as it is."""
        usual = self.evaluation.observed(self.check.run, self.case)
        for name in self.check.results:
            fault = self.fault(name, outcome, draw_index)
            if fault is not None and self.fault(name, usual, 0) is None:
                yield name, fault

    def fault(self, name: str, outcome: api.Outcome, draw_index: int) -> api.Fault | None:
        run = self.check.run
        return api.fault_of(self.evaluation, run, self.case, name, outcome, draw_index=draw_index)

    def with_layout(self, layout: str) -> Iterator[api.Finding]:
        inputs = self.evaluation.inputs(self.case, self.check.run, layout=layout)
        when = f"when the arrays are {_WORDS[layout]} (case {self.case.name})"
        try:
            outcome = self.evaluation.asked(
                self.case, lambda program: program.run(self.steps, inputs, self.wanted)
            )
        except api.ProgramError as error:
            what = error.message
            if error.raised is not None:
                who = "your code" if error.step is None else _who(error.step)
                what = f"{who} raises {error.raised.type}"
            yield api.Finding(f"{what} {when}", raised=error.raised)
            return
        yield from self.side_effects(outcome)
        for name, fault in self.caused(outcome, 0):
            yield api.Finding(f"{name} is wrong {when}", mismatch=fault.mismatch(self.case.name))


def _who(step: api.Step) -> str:
    return "your backward" if step.owner == "torch" else step.function
