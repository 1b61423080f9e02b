"""Check `side-effects`: a call does nothing but return its results.  `contract` in format 1.

- Inputs are as they were after every step, not only at the end.
- A result shares no memory with an input, keeps its value through later steps and calls, and is not
  the same object that another call returns.
- Two callers in turn do not disturb each other: what one step leaves for the next is in no global.
- Any strides, and inputs that may not be written to, give the same values.

The first two hold wherever the run is: on every case of every check that looks at its results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from pydantic import Field

from grader.kinds import registry
from grader.kinds.base import Check, CheckResult, Kind, api
from grader.model.keys import Layout, Name
from grader.model.verdict import Verdict

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
        """Look for a breach on every case, and in what the run did in other checks."""
        good = f"inputs, ownership, repeated calls, {len(check.layouts)} layouts"
        found = api.tally(
            evaluation, check, lambda case: self.judge(evaluation, check, case), good=good
        )
        others = _others(evaluation, check)
        if found.verdict is not Verdict.PASS or not others:
            return found
        wider = check.model_copy(update={"cases": others})
        seen = api.tally(evaluation, wider, lambda case: _in_passing(evaluation, check, case))
        return found if seen.verdict is Verdict.PASS else seen

    def judge(
        self, evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
    ) -> api.Finding | None:
        """The first breach."""
        return next(_breaches(evaluation, check, case), None)

    def observe(
        self, evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
    ) -> str | None:
        """The sentence of the first breach."""
        found = self.judge(evaluation, check, case)
        return None if found is None else found.sentence

    def layouts(self, check: SideEffectsCheck) -> tuple[str, ...]:
        """Those that leave the values as they are; `broadcast` changes them and is a case."""
        return tuple(name for name in check.layouts if name != "broadcast")


def _others(evaluation: api.Evaluation, check: SideEffectsCheck) -> list[str]:
    """The cases, besides its own, on which other checks look at results of the same run."""
    own = {case.name for case in evaluation.cases_of(check)}
    names: dict[str, None] = {}
    for other in evaluation.checks:
        if other.run == check.run and registry.get(other.kind).judges_values:
            names.update(dict.fromkeys(case.name for case in evaluation.cases_of(other)))
    return [name for name in names if name not in own]


def _in_passing(
    evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
) -> api.Finding | None:
    """The first side effect of a plain run that the reference's has not."""
    try:
        outcome = evaluation.observed(check.run, case)
    except api.ProgramError:
        return None  # the check whose case it is says so
    right = evaluation.truth(check.run, case)
    mine = outcome._replace(
        changed=tuple(pair for pair in outcome.changed if pair not in right.changed),
        stale=tuple(pair for pair in outcome.stale if pair not in right.stale),
        shared=tuple(pair for pair in outcome.shared if pair not in right.shared),
    )
    return next(_side_effects(evaluation, check, case, mine), None)


def _breaches(
    evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
) -> Iterator[api.Finding]:
    yield from _side_effects(evaluation, check, case, evaluation.observed(check.run, case))
    yield from _in_turn(evaluation, check, case)
    for layout in SideEffects().layouts(check):
        yield from _with_layout(evaluation, check, case, layout)


def _side_effects(
    evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case, outcome: api.Outcome
) -> Iterator[api.Finding]:
    steps, on = evaluation.steps(check.run), f"(case {case.name})"

    def who(index: int) -> str:
        return _who(steps[index] if 0 <= index < len(steps) else steps[-1])

    for index, name in outcome.changed:
        yield api.Finding(f"{who(index)} changes its caller's {name} {on}")
    for result, name in outcome.shared:
        if result in check.results:
            yield api.Finding(
                f"{result} shares its memory with {name}: writing to one changes the other {on}"
            )
    for result, index in outcome.stale:
        if result in check.results:
            yield api.Finding(f"{result} is changed afterwards by {who(index)} {on}")


def _who(step: api.Step) -> str:
    return "your backward" if step.owner == "torch" else step.function


def _in_turn(
    evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case
) -> Iterator[api.Finding]:
    """The case itself, another of the same shape, and the first again, in lockstep."""
    draws = (0, 1, 0)
    given = [evaluation.inputs(case, check.run, draw_index=draw_index) for draw_index in draws]
    steps, wanted = evaluation.steps(check.run), evaluation.wanted[check.run]
    outcomes, common = evaluation.asked(
        case, lambda program: program.interleave(steps, given, wanted)
    )
    for name in common:
        if name in check.results:
            yield api.Finding(
                f"two calls return the same memory for {name}: what happens to one result "
                f"happens to the other (case {case.name})"
            )
    for draw_index, inputs, outcome in zip(draws, given, outcomes, strict=True):
        yield from _side_effects(evaluation, check, case, outcome)
        for name, fault in _caused(evaluation, check, case, outcome, draw_index):
            sentence = (
                f"{name} is right in a first call and wrong when calls take turns: "
                f"something is kept outside of what the steps hand on (case {case.name})"
            )
            if draw_index:  # wrong though nothing was called before: then no memory is to blame
                program = replace(evaluation.submission, name=f"{evaluation.submission.name}, anew")
                program.load(())
                first = program.run(steps, inputs, wanted)
                if api.fault_of(evaluation, check.run, case, name, first, draw_index=draw_index):
                    sentence = f"{fault.sentence} on another draw of case {case.name}"
            yield api.Finding(sentence, mismatch=fault.mismatch(case.name))


def _caused(
    evaluation: api.Evaluation,
    check: SideEffectsCheck,
    case: api.Case,
    outcome: api.Outcome,
    draw_index: int,
) -> Iterator[tuple[str, api.Fault]]:
    """Results that are wrong in an outcome, and right on the case as it is."""
    usual = evaluation.observed(check.run, case)
    for name in check.results:
        fault = api.fault_of(evaluation, check.run, case, name, outcome, draw_index=draw_index)
        if fault is not None and api.fault_of(evaluation, check.run, case, name, usual) is None:
            yield name, fault


def _with_layout(
    evaluation: api.Evaluation, check: SideEffectsCheck, case: api.Case, layout: str
) -> Iterator[api.Finding]:
    steps, inputs = evaluation.steps(check.run), evaluation.inputs(case, check.run, layout=layout)
    when = f"when the arrays are {_WORDS[layout]} (case {case.name})"
    try:
        outcome = evaluation.asked(
            case, lambda program: program.run(steps, inputs, evaluation.wanted[check.run])
        )
    except api.ProgramError as error:
        what = error.message
        if error.raised is not None:
            who = "your code" if error.step is None else _who(error.step)
            what = f"{who} raises {error.raised.type}"
        yield api.Finding(f"{what} {when}", raised=error.raised)
        return
    yield from _side_effects(evaluation, check, case, outcome)
    for name, fault in _caused(evaluation, check, case, outcome, 0):
        yield api.Finding(f"{name} is wrong {when}", mismatch=fault.mismatch(case.name))
