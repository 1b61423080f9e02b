"""Runs that are held all at once, each on inputs of its own, some of which then go on to their end.

What a process holds tells nothing unless what it holds is of use.  Nobody in the process can know
which runs will go on: the judge has drawn them, and has inputs for them that nobody has seen yet.
So a program must keep, of every run, all that the rest of it needs; and because no two runs have
the same inputs, it cannot keep it once for all of them.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from grader.bench.bench import Bench, trusting
from grader.bench.compare import fault_of
from grader.bench.results import Value, same_value
from grader.bench.tally import Finding
from grader.cases.dataflow import free_names, producing, results
from grader.cases.recipe import CaseRecipe
from grader.model.question import Step
from grader.model.verdict import Verdict
from grader.sandbox.remote import Inputs, RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError

WARM_UP = 2  # runs before the first reading: what they import or cache, the others find there
FINISHED = 3  # runs that go on; who keeps nothing of a third of them is found out in 7 of 10
_DRAWS = 1 << 12  # beyond the secret: other draws of the same case lie before


@dataclass(slots=True)
class Held:
    """Runs to be held, and how those that are chosen go on."""

    run: str
    case: CaseRecipe
    first: tuple[Step, ...]
    rest: tuple[Step, ...]
    keep: tuple[str, ...]  # of each run
    inputs: list[Inputs]
    going_on: list[tuple[tuple[int, Inputs], int]]  # number and inputs of the rest; the draw
    want: tuple[str, ...]  # results of the rest
    found: list[tuple[int, Outcome | None]] = field(default_factory=list)  # by draw; None: failed


def prepared(bench: Bench, run: str, case: CaseRecipe, of: str, count: int) -> Held:
    """Choose what is held and which of it goes on, all of it drawn anew.

    Held are the steps that give the result `of`, or where it is empty all before torch is called to
    differentiate.
    """
    every = bench.steps(run)
    first = producing(every, of) if of else tuple(s for s in every if not _backward(s))
    rest = tuple(step for step in every if step not in first)
    read, made, given = free_names(rest), results(first), free_names(first)
    # Torch finds its inputs again by what they are, not by their values.
    again = () if of else tuple(name for name in read if name in given)
    keep = (of, *(n for n in made if n in read and n != of)) if of else tuple(made)
    draws = [bench.secret + _DRAWS + number for number in range(WARM_UP + count)]
    late = [name for name in read if name not in (*made, *again)]
    chosen = random.SystemRandom().sample(range(WARM_UP, WARM_UP + count), min(FINISHED, count))
    want = tuple(name for name in bench.wanted[run] if name in results(rest))
    return Held(
        run,
        case,
        first,
        rest,
        (*keep, *again),
        [bench.fresh_inputs(case, given, draw) for draw in draws],
        [((n, bench.fresh_inputs(case, late, draws[n])), draws[n]) for n in chosen if want],
        want,
    )


def _backward(step: Step) -> bool:
    return step.owner == "torch" and step.function == "vjp"


def hold(
    program: RemoteProgram, held: Held, base: int | None, *, go_on: bool
) -> tuple[int, int] | None:
    """Bytes that the process holds when it holds the runs; None where nobody knows.

    Returns:
        How many more than before, and than the base.
    """
    try:
        program.hold(held.first, held.inputs[:WARM_UP], held.keep)
        program.settle()
        before = program.worker.occupied_bytes()
        program.hold(held.first, held.inputs[WARM_UP:], held.keep)
        program.settle()
        after = program.worker.occupied_bytes()
        if go_on:
            held.found = [(draw, _end(program, held, *one)) for one, draw in held.going_on]
    finally:
        if program.worker.failure is None:
            program.drop()
    if before is None or after is None or base is None:
        return None
    return after - before, after - base


def _end(program: RemoteProgram, held: Held, number: int, late: Inputs) -> Outcome | None:
    try:
        return program.finish(number, held.rest, late, held.want)
    except ProgramError:
        return None


def unlike(bench: Bench, held: Held) -> Finding | None:
    """What runs came to that went on after they were held, where it is neither right nor usual.

    Where the reference does not repeat its own results, chance is part of the question.
    """
    case, run = held.case, held.run
    for draw, outcome in held.found:
        right = bench.truth(run, case, draw_index=draw).values
        for name in held.want:
            value = None if outcome is None else outcome.values.get(name)
            if same_value(value, right.get(name), case.dtype):
                continue
            if outcome is not None and not fault_of(
                bench, run, case, name, outcome, draw_index=draw
            ):
                continue
            if _usual(bench, held, name, draw, value) or not _repeats(bench, held, name, draw):
                continue
            what = "your code fails" if outcome is None else f"{name} is another"
            return Finding(
                f"flagged for review: {what} when {len(held.inputs)} runs are held at once and one "
                f"of them goes on, and only then (case {case.name})",
                Verdict.POLICY,
            )
    return None


def _usual(bench: Bench, held: Held, name: str, draw: int, value: Value) -> bool:
    """Whether the submission comes to the same, or fails, without any other run."""
    try:
        found = bench.outcome(bench.submission, held.run, held.case, draw_index=draw)
    except ProgramError:
        return True
    if same_value(value, found.values.get(name), held.case.dtype):
        return True
    return fault_of(bench, held.run, held.case, name, found, draw_index=draw) is not None


def _repeats(bench: Bench, held: Held, name: str, draw: int) -> bool:
    """Whether the reference comes to the same result again."""
    first = bench.truth(held.run, held.case, draw_index=draw).values
    inputs = bench.inputs(held.case, held.run, draw_index=draw)
    with trusting(f"the reference fails on case {held.case.name}"):
        again = bench.reference.run(bench.steps(held.run), inputs, [name]).values
    return same_value(again.get(name), first.get(name), held.case.dtype)
