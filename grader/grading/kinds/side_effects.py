"""Check `side-effects`: a call returns its results and changes nothing else.

- Inputs are unchanged after every step, not only at the end.
- A result shares no memory with an input, keeps its value through later steps and calls, and is not
  the same object that another call returns.
- Two callers in turn do not disturb each other: no step leaves a value for the next in a global.
- The values are the same for any strides, and for read-only inputs.

Every check of values also tests that inputs stay unchanged and results keep their value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from grader.grading.kinds.base import CaseFinding, CaseTrial, Check, Kind, api
from grader.model.spec import ArrayLayout, Name, yaml_key

_LAYOUT_PHRASES = {
    "fortran": "in Fortran order",
    "reversed": "reversed views",
    "strided": "strided views",
    "readonly": "read-only",
}


class SideEffectsCheck(Check):
    """Inputs stay unchanged, results are the caller's own, and calls leave no trace for others."""

    kind: Literal["side-effects"]
    of: Name | list[Name] = yaml_key(
        "The results that it looks at; those that no later step takes.", ""
    )
    layouts: list[ArrayLayout] = yaml_key(
        "In which ways arrays are laid out in memory for the same values.",
        ["fortran", "reversed", "strided", "readonly"],
    )


class SideEffectsKind(Kind[SideEffectsCheck]):
    """Test every rule on every case; the first violation on a case is its finding."""

    check_model: type[SideEffectsCheck] = SideEffectsCheck
    is_slow_to_observe = True  # a call for each layout and turn

    def judge(self, trial: CaseTrial[SideEffectsCheck]) -> CaseFinding:
        violation = self._first_violation(trial)
        if violation is not None:
            return violation
        layouts = len(trial.check.layouts)
        return CaseFinding.for_pass(f"inputs, ownership, repeated calls, {layouts} layouts")

    def observe(self, trial: CaseTrial[SideEffectsCheck]) -> str | None:
        violation = self._first_violation(trial)
        return None if violation is None else violation.sentence

    def layouts_tried(self, check: SideEffectsCheck) -> tuple[str, ...]:
        return tuple(name for name in check.layouts if name != "broadcast")

    def _first_violation(self, trial: CaseTrial[SideEffectsCheck]) -> CaseFinding | None:
        return next(_violations(trial, self.layouts_tried(trial.check)), None)


_Trial = CaseTrial[SideEffectsCheck]


def _violations(trial: _Trial, layouts: Sequence[str]) -> Iterator[CaseFinding]:
    yield from _side_effects(trial, trial.subject_outcome)
    yield from _violations_in_turn(trial)
    evaluation = trial.evaluation
    evaluation.prefetch([evaluation.subject], trial.check.run, [trial.case], modes=layouts)
    for layout in layouts:
        yield from _violations_with_layout(trial, layout)


def _side_effects(trial: _Trial, outcome: api.Outcome) -> Iterator[CaseFinding]:
    for sentence in trial.side_effects(outcome, shared=True):
        yield trial.failing_finding(sentence)


def _violations_in_turn(trial: _Trial) -> Iterator[CaseFinding]:
    """Yield a finding on each fault that shows when three runs take turns after each step.

    The runs are the case, another draw of it, and the case again.
    """
    evaluation = trial.evaluation
    case = trial.case
    draws = (0, 1, 0)
    results = evaluation.wanted_results[trial.check.run]
    inputs_of_draws = [trial.inputs(draw_index=draw) for draw in draws]
    outcomes, shared_results = evaluation.ask_program(
        case, lambda program: program.interleave(trial.steps, inputs_of_draws, results)
    )
    for name in shared_results:
        if name in trial.check.results:
            yield trial.failing_finding(
                f"two calls return the same memory for {name}: what happens to one result "
                "happens to the other"
            )
    for draw, inputs, outcome in zip(draws, inputs_of_draws, outcomes, strict=True):
        yield from _side_effects(trial, outcome)
        for name, mismatch in _new_mismatches(trial, outcome, draw):
            sentence = (
                f"{name} is right in a first call and wrong when calls take turns: "
                f"something is kept outside of what the steps hand on (case {case.name})"
            )
            # If freshly loaded code is wrong on this draw too, earlier calls are not the cause.
            if draw and _is_wrong_when_fresh(trial, name, inputs, draw):
                sentence = f"{mismatch.sentence} on another draw of case {case.name}"
            yield CaseFinding(sentence, mismatch=mismatch.to_report(case.name))


def _is_wrong_when_fresh(trial: _Trial, name: str, inputs: api.Inputs, draw: int) -> bool:
    """Load the submission again; return True if the result `name` of its first run is wrong."""
    program = api.load_again(trial.evaluation.subject)
    outcome = program.run(trial.steps, inputs, trial.evaluation.wanted_results[trial.check.run])
    return trial.find_mismatch(name, outcome, draw_index=draw) is not None


def _new_mismatches(
    trial: _Trial, outcome: api.Outcome, draw_index: int = 0
) -> Iterator[tuple[str, api.ResultMismatch]]:
    """Yield each wrong result that is right in a usual run of the case: its name and mismatch."""
    for name in trial.check.results:
        mismatch = trial.find_mismatch(name, outcome, draw_index=draw_index)
        if mismatch is None:
            continue
        if trial.find_mismatch(name, trial.subject_outcome) is None:
            yield name, mismatch


def _violations_with_layout(trial: _Trial, layout: str) -> Iterator[CaseFinding]:
    evaluation = trial.evaluation
    case = trial.case
    condition = f"when the arrays are {_LAYOUT_PHRASES[layout]}"
    try:
        outcome = evaluation.ask_program(
            case, lambda program: evaluation.outcome(program, trial.check.run, case, mode=layout)
        )
    except api.ProgramError as error:
        message = error.message
        if error.raised is not None:
            function = "your code"
            if error.step is not None:
                function = trial.function_name(trial.steps.index(error.step))
            message = f"{function} raises {error.raised.type}"
        yield trial.failing_finding(f"{message} {condition}", raised=error.raised)
        return
    yield from _side_effects(trial, outcome)
    for name, mismatch in _new_mismatches(trial, outcome):
        yield trial.failing_finding(
            f"{name} is wrong {condition}", mismatch=mismatch.to_report(case.name)
        )
