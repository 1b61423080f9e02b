"""Check `side-effects`: a call does nothing but return its results.

- Inputs are as they were after every step, not only at the end.
- A result shares no memory with an input, keeps its value through later steps and calls, and is not
  the same object that another call returns.
- Two callers in turn do not disturb each other: what one step leaves for the next is in no global.
- Any strides, and inputs that may not be written to, give the same values.

That inputs stay and results keep their value is looked at by every check of values as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from grader.grading.kinds.base import CaseTrial, Check, Kind, api
from grader.model.spec import ArrayLayout, Name, yaml_key

_WORDS = {
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
    """Try every clause on every case; the first breach of a case is its finding."""

    keys: type[SideEffectsCheck] = SideEffectsCheck
    is_slow_to_observe = True  # a call for each layout and turn

    def judge(self, trial: CaseTrial[SideEffectsCheck]) -> api.CaseFinding:
        good = f"inputs, ownership, repeated calls, {len(trial.check.layouts)} layouts"
        return next(
            _breaches(trial, self.layouts_tried(trial.check)), api.CaseFinding.for_pass(good)
        )

    def observe(self, trial: CaseTrial[SideEffectsCheck]) -> str | None:
        found = next(_breaches(trial, self.layouts_tried(trial.check)), None)
        return None if found is None else found.sentence

    def layouts_tried(self, check: SideEffectsCheck) -> tuple[str, ...]:
        return tuple(name for name in check.layouts if name != "broadcast")


_Trial = CaseTrial[SideEffectsCheck]


def _breaches(trial: _Trial, layouts: Sequence[str]) -> Iterator[api.CaseFinding]:
    """What each clause finds on one case."""
    yield from _side_effects(trial, trial.submission_outcome)
    yield from _in_turn(trial)
    evaluation = trial.evaluation
    evaluation.prefetch([evaluation.submission], trial.check.run, [trial.case], modes=layouts)
    for layout in layouts:
        yield from _with_layout(trial, layout)


def _side_effects(trial: _Trial, outcome: api.Outcome) -> Iterator[api.CaseFinding]:
    yield from map(trial.failing_finding, trial.side_effects(outcome, shared=True))


def _in_turn(trial: _Trial) -> Iterator[api.CaseFinding]:
    """The case itself, another of the same shape, and the first again, in lockstep."""
    evaluation, case, draws = trial.evaluation, trial.case, (0, 1, 0)
    wanted = evaluation.wanted_results[trial.check.run]
    given = [trial.inputs(draw_index=draw) for draw in draws]
    outcomes, common = evaluation.ask_program(
        case, lambda program: program.interleave(trial.steps, given, wanted)
    )
    for name in common:
        if name in trial.check.results:
            yield trial.failing_finding(
                f"two calls return the same memory for {name}: what happens to one result "
                "happens to the other"
            )
    for draw, inputs, outcome in zip(draws, given, outcomes, strict=True):
        yield from _side_effects(trial, outcome)
        for name, fault in _caused(trial, outcome, draw):
            sentence = (
                f"{name} is right in a first call and wrong when calls take turns: "
                f"something is kept outside of what the steps hand on (case {case.name})"
            )
            if draw:
                # Loaded anew, nothing was called before: then no memory is to blame.
                program = replace(evaluation.submission, name=f"{evaluation.submission.name}, anew")
                program.load(())
                first = program.run(trial.steps, inputs, wanted)
                if trial.find_mismatch(name, first, draw_index=draw) is not None:
                    sentence = f"{fault.sentence} on another draw of case {case.name}"
            yield api.CaseFinding(sentence, mismatch=fault.to_report(case.name))


def _caused(
    trial: _Trial, outcome: api.Outcome, draw_index: int
) -> Iterator[tuple[str, api.ResultMismatch]]:
    """Results that are wrong in an outcome, and right on the case as it is."""
    for name in trial.check.results:
        fault = trial.find_mismatch(name, outcome, draw_index=draw_index)
        if fault is not None and trial.find_mismatch(name, trial.submission_outcome) is None:
            yield name, fault


def _with_layout(trial: _Trial, layout: str) -> Iterator[api.CaseFinding]:
    evaluation, case, run = trial.evaluation, trial.case, trial.check.run
    when = f"when the arrays are {_WORDS[layout]}"
    try:
        outcome = evaluation.ask_program(
            case, lambda program: evaluation.outcome(program, run, case, mode=layout)
        )
    except api.ProgramError as error:
        what = error.message
        if error.raised is not None:
            who = (
                "your code"
                if error.step is None
                else trial.function_name(trial.steps.index(error.step))
            )
            what = f"{who} raises {error.raised.type}"
        yield trial.failing_finding(f"{what} {when}", raised=error.raised)
        return
    yield from _side_effects(trial, outcome)
    for name, fault in _caused(trial, outcome, 0):
        yield trial.failing_finding(f"{name} is wrong {when}", mismatch=fault.to_report(case.name))
