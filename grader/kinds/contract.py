"""Check `contract`: what a caller relies on.

- Inputs are as they were after every step, not only at the end.
- A result shares no memory with an input, keeps its value through later steps and calls, and is not
  the same object that another call returns.
- Two callers in turn do not disturb each other: what one step leaves for the next is in no global.
- Any strides, and inputs that may not be written to, give the same values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from grader.kinds.base import Kind
from grader.model.spec import Check, Layout, Name

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.recipe import CaseRecipe
    from grader.model.question import Step
    from grader.model.report import CheckResult
    from grader.sandbox.replies import Outcome

_WORDS = {
    "fortran": "in Fortran order",
    "reversed": "reversed views",
    "strided": "strided views",
    "readonly": "read-only",
}


class ContractCheck(Check):
    """What a caller relies on: unchanged inputs, results of its own, no trace of other calls."""

    kind: Literal["contract"]
    of: Name | list[Name] = Field(description="The result, or a list of results, that it looks at.")
    layouts: list[Layout] = Field(
        default=["fortran", "reversed", "strided", "readonly"],
        description="In which ways arrays are laid out in memory for the same values.",
    )

    def lacks(self) -> str:
        """Results."""
        return "" if self.results else "the name of a result"


class Contract(Kind[ContractCheck]):
    """Try every clause on every case; the first breach of a case is its finding."""

    keys = ContractCheck

    def carry_out(self, bench: Bench, check: ContractCheck) -> CheckResult:
        """Look for a breach on every case."""
        from grader.bench.tally import tally

        good = f"inputs, ownership, repeated calls, {len(check.layouts)} layouts"
        return tally(bench, check, lambda case: _breach(bench, check, case), good=good)

    def observe(self, bench: Bench, check: ContractCheck, case: CaseRecipe) -> str | None:
        """The sentence of the first breach."""
        found = _breach(bench, check, case)
        return None if found is None else found.sentence

    def cost(self, check: ContractCheck) -> int:  # noqa: ARG002
        """A call for each layout and turn."""
        return 1

    def layouts(self, check: ContractCheck) -> tuple[str, ...]:
        """Those that leave the values as they are; `broadcast` changes them and is a case."""
        return tuple(name for name in check.layouts if name != "broadcast")


def _breach(bench: Bench, check: ContractCheck, case: CaseRecipe) -> Finding | None:
    return next(_breaches(bench, check, case), None)


def _breaches(bench: Bench, check: ContractCheck, case: CaseRecipe) -> Iterator[Finding]:
    once = bench.observed(check.run, case)
    yield from _manners(bench, check, case, once)
    yield from _in_turn(bench, check, case)
    yield from _layouts(bench, check, case)


def _manners(
    bench: Bench, check: ContractCheck, case: CaseRecipe, outcome: Outcome
) -> Iterator[Finding]:
    from grader.bench.tally import Finding

    steps = bench.steps(check.run)
    for index, name in outcome.changed:
        step = steps[index] if 0 <= index < len(steps) else steps[-1]
        yield Finding(f"{_who(step)} changes its caller's {name} (case {case.name})")
    for result, name in outcome.shared:
        if result in check.results:
            yield Finding(
                f"{result} shares its memory with {name}: "
                f"writing to one changes the other (case {case.name})"
            )
    for result, index in outcome.stale:
        if result in check.results:
            step = steps[index] if 0 <= index < len(steps) else steps[-1]
            yield Finding(f"{result} is changed afterwards by {_who(step)} (case {case.name})")


def _who(step: Step) -> str:
    return "your backward" if step.owner == "torch" else step.function


def _in_turn(bench: Bench, check: ContractCheck, case: CaseRecipe) -> Iterator[Finding]:
    """The case itself, another of the same shape, and the first again, in lockstep."""
    from grader.bench.compare import compare
    from grader.bench.deviation import expected
    from grader.bench.exhibit import mismatch
    from grader.bench.tally import Finding

    draws = (0, 1, 0)
    given = [bench.inputs(case, check.run, draw_index=draw_index) for draw_index in draws]
    steps, wanted = bench.steps(check.run), bench.wanted[check.run]
    outcomes, common = bench.asked(case, lambda program: program.interleave(steps, given, wanted))
    for name in common:
        if name in check.results:
            yield Finding(
                f"{name} of one call is overwritten by the next: "
                f"two calls return the same memory (case {case.name})"
            )
    for draw_index, outcome in zip(draws, outcomes, strict=True):
        yield from _manners(bench, check, case, outcome)
        for name in check.results:
            want = expected(bench, check.run, case, name, draw_index=draw_index)
            fault = compare(name, outcome.values.get(name), want)
            if fault is None or _wrong_anyway(bench, check.run, case, name):
                continue
            if draw_index and _wrong_when_loaded_anew(bench, check, case, name, draw_index):
                yield Finding(
                    f"{fault.sentence} on another draw of case {case.name}",
                    mismatch=mismatch(fault, case),
                )
                continue
            yield Finding(
                f"{name} is right in a first call and wrong when calls take turns: "
                f"something is kept outside of what the steps hand on (case {case.name})",
                mismatch=mismatch(fault, case),
            )


def _wrong_when_loaded_anew(
    bench: Bench, check: ContractCheck, case: CaseRecipe, name: str, draw_index: int
) -> bool:
    """Whether a result is wrong even when nothing was called before: then no memory is to blame."""
    from grader.bench.compare import compare
    from grader.bench.deviation import expected

    inputs = bench.inputs(case, check.run, draw_index=draw_index)
    outcome = bench.loaded_anew().run(bench.steps(check.run), inputs, bench.wanted[check.run])
    want = expected(bench, check.run, case, name, draw_index=draw_index)
    return compare(name, outcome.values.get(name), want) is not None


def _wrong_anyway(bench: Bench, run: str, case: CaseRecipe, name: str) -> bool:
    """Whether a result is wrong on the case as it is: then nothing else is to blame."""
    from grader.bench.compare import compare
    from grader.bench.deviation import expected

    value = bench.observed(run, case).values.get(name)
    return compare(name, value, expected(bench, run, case, name)) is not None


def _layouts(bench: Bench, check: ContractCheck, case: CaseRecipe) -> Iterator[Finding]:
    from grader.bench.compare import compare
    from grader.bench.deviation import expected
    from grader.bench.exhibit import mismatch
    from grader.bench.tally import Finding
    from grader.sandbox.replies import ProgramError

    for layout in Contract().layouts(check):
        try:
            outcome = _laid_out(bench, check.run, case, layout)
        except ProgramError as error:
            if error.raised is None:
                yield Finding(
                    f"{error.message} when the arrays are {_WORDS[layout]} (case {case.name})"
                )
                return
            step = _who(error.step) if error.step is not None else "your code"
            yield Finding(
                f"{step} raises {error.raised.type} when the arrays are {_WORDS[layout]} "
                f"(case {case.name})",
                raised=error.raised,
            )
            continue
        yield from _manners(bench, check, case, outcome)
        for name in check.results:
            observed: Any = outcome.values.get(name)
            fault = compare(name, observed, expected(bench, check.run, case, name))
            if fault is not None and not _wrong_anyway(bench, check.run, case, name):
                yield Finding(
                    f"{name} is wrong when the arrays are {_WORDS[layout]} (case {case.name})",
                    mismatch=mismatch(fault, case),
                )


def _laid_out(bench: Bench, run: str, case: CaseRecipe, layout: str) -> Outcome:
    """What the submission computes from arrays of a layout."""
    steps, inputs = bench.steps(run), bench.inputs(case, run, layout=layout)
    return bench.asked(case, lambda program: program.run(steps, inputs, bench.wanted[run]))
