"""Check `state`: bytes that one function keeps for another.

Three accounts: every byte reachable from the object; the bytes that the steps left allocated,
which include what hides in a global (less an allowance for the interpreter's own small objects);
and the system's account of the process, in which nobody inside it has a say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from grader.cases import size_expr
from grader.cases.dataflow import producing
from grader.kinds.base import Check, CheckResult, Count, Kind, kit
from grader.model.numerals import bytes_text, times
from grader.model.spec import Amount, Mention, Name, Slug
from grader.model.verdict import Verdict

OWN_OBJECTS = 4 << 10  # bytes that a step may leave behind without being asked: caches, an iterator


class StateCheck(Check):
    """Bytes reachable from an object that one step hands to another."""

    kind: Literal["state"]
    of: Name = Field(description="What one step hands to another.")
    at_most: Amount = Field(
        description="The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )
    large: Slug | Literal[""] = Field(
        default="",
        description="Another case, on which only the system's own account is taken; tens of "
        "kilobytes or more.",
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: the object stays in the worker."""
        return ()

    def mentions(self) -> Iterator[Mention]:
        """The object, the large case, and what the budget is made of."""
        yield from super().mentions()
        if self.large:
            yield Mention(("large",), self.large, "case")
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size")


class State(Kind[StateCheck]):
    """Count bytes in the worker, and believe the system if it sees more."""

    keys = StateCheck
    long_limit = True
    slow = True  # every allocation is traced
    shows_measurement = True

    def carry_out(self, bench: kit.Bench, check: StateCheck) -> CheckResult:
        """Hold the bytes kept against the budget on every case."""
        result = kit.tally(bench, check, lambda case: _judge(bench, check, case))
        if result.verdict is not Verdict.PASS:
            return result
        return kit.rss_probe.confirmed(
            bench, check, result, lambda case: _outside(bench, check, case), check.large
        )

    def observe(self, bench: kit.Bench, check: StateCheck, case: kit.Case) -> Count:
        """Bytes."""
        return Count(_size(_kept(bench, bench.submission, check, case)))


def _judge(bench: kit.Bench, check: StateCheck, case: kit.Case) -> kit.Finding:
    allowed = kit.amount(bench, check, check.at_most, case)
    found = _kept(bench, bench.submission, check, case)
    kept = _size(found)
    figures = {"kept": float(kept), "allowed": allowed}
    if kept <= allowed:
        return kit.unless_it_differs(
            bench,
            check.run,
            case,
            found.results,
            lambda: _kept(bench, bench.reference, check, case).results,
            kit.Finding.passed(
                f"{bytes_text(kept)} kept, {bytes_text(allowed)} allowed", **figures
            ),
        )
    sentence = f"{bytes_text(kept)} kept in {check.of}, {bytes_text(allowed)} allowed"
    if allowed > 0:
        sentence += f" ({times(kept / allowed)})"
    exhibit = kit.bars(bytes_text, ("yours", kept), ("allowed", allowed))
    return kit.Finding(f"{sentence} in case {case.name}", exhibit=exhibit, figures=figures)


def _outside(bench: kit.Bench, check: StateCheck, case: kit.Case) -> kit.Finding | None:
    """What the system sees of it, and the counts inside do not."""
    found = _kept(bench, bench.submission, check, case)
    allowed = kit.amount(bench, check, check.at_most, case)
    return kit.rss_probe.hidden_memory(
        bench,
        check.run,
        case,
        of=check.of,
        counted=_size(found),
        budget=allowed,
        # A list of numbers takes five times its data.
        room=OWN_OBJECTS + min(found.added, 5 * allowed),
        needed=lambda: _size(_kept(bench, bench.reference, check, case)),
    )


def _kept(
    bench: kit.Bench, program: kit.RemoteProgram, check: StateCheck, case: kit.Case
) -> kit.Kept:
    """What a program keeps, and what its run comes to with it."""
    every = bench.steps(check.run)
    steps = producing(every, check.of)
    rest = tuple(step for step in every if step not in steps)
    want = bench.wanted[check.run]
    inputs = bench.inputs(case, check.run)

    def ask(asked: kit.RemoteProgram) -> kit.Kept:
        return asked.state(steps, inputs, check.of, rest=rest, want=want)

    return bench.asked(case, ask) if program is bench.submission else ask(program)


def _size(kept: kit.Kept) -> int:
    return max(kept.reachable, kept.allocated - OWN_OBJECTS)
