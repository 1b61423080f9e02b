"""Runs that are held all at once, each on inputs of its own, some of which then go on to their end.

What a process holds tells nothing unless what it holds is of use.  Nobody in the process can know
which runs will go on: the judge has drawn them, and has inputs for them that nobody has seen yet.
So a program must keep, of every run, all that the rest of it needs; and because no two runs have
the same inputs, it cannot keep it once for all of them.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.cases.dataflow import divided, free_names, results
from grader.cases.draw import several
from grader.cases.recipe import CaseRecipe
from grader.evaluation.encoding import encoded
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.results import Value, same_value
from grader.evaluation.tally import Finding
from grader.model.question import Step
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.sending import Inputs, ManyInputs

WARM_UP = 2  # runs before the first reading: what they import or cache, the others find there
LARGEST = 0.75  # of the largest input's bytes: what is that large counts as the largest too
FINISHED = 2  # runs that go on; who keeps nothing of half of them is found out in 3 of 4


@dataclass(slots=True)
class Held:
    """Runs to be held, and how those that are chosen go on."""

    run: str
    case: CaseRecipe
    first: tuple[Step, ...]
    rest: tuple[Step, ...]
    keep: tuple[str, ...]  # of each run
    want: tuple[str, ...]  # results of the rest
    warm_up: ManyInputs
    inputs: ManyInputs  # of the first steps
    late: ManyInputs  # of the rest, by the place among the chosen
    chosen: list[int]
    found: list[Outcome | None] = field(default_factory=list)  # of the chosen; None: failed


def prepared(
    evaluation: Evaluation, run: str, case: CaseRecipe, of: str, count: int, *, go_on: bool
) -> Held:
    """Choose what is held and which of it goes on, all of it drawn anew.

    Held are the steps that give the result `of`, or where it is empty all before torch is called to
    differentiate.  None of them goes on where that is not asked for.
    """
    every = evaluation.steps(run)
    first, rest = divided(every, of)
    if not of:
        first = tuple(step for step in every if not step.backward)
        rest = tuple(step for step in every if step.backward)
    read, made, given = free_names(rest), results(first), free_names(first)
    keep = (of, *(n for n in made if n in read and n != of)) if of else tuple(made)
    # Torch finds its inputs again by what they are, not by their values.
    again = tuple(name for name in read if name in given and not of)
    want = tuple(name for name in evaluation.wanted[run] if name in results(rest))
    finished = min(FINISHED, count) if want and go_on else 0
    chosen = random.SystemRandom().sample(range(count), finished)
    late = [name for name in read if name not in made and name not in given]
    return Held(
        run,
        case,
        first,
        rest,
        (*keep, *again),
        want,
        many_inputs(evaluation, case, run, given, WARM_UP),
        many_inputs(evaluation, case, run, given, count),
        many_inputs(evaluation, case, run, late, len(chosen))
        if chosen
        else ManyInputs({}, frozenset(), 0),
        chosen,
    )


def many_inputs(
    evaluation: Evaluation, case: CaseRecipe, run: str, names: Iterable[str], count: int
) -> ManyInputs:
    """Some inputs, drawn again so many times that no two of the largest arrays are the same.

    Smaller ones, weights say, are drawn once for all.
    """
    names, rng = list(names), np.random.default_rng(secrets.randbits(128))
    drawn, usual = evaluation.drawn(case), evaluation.inputs(case, run)
    arrays = {name: drawn[name] for name in names if case.inputs[name].is_array}
    largest = max((array.nbytes for array in arrays.values()), default=0)
    found: dict[str, Mapping[str, Any]] = {name: usual[name] for name in names}
    each = {name for name, array in arrays.items() if array.nbytes >= LARGEST * largest}
    for name, array in arrays.items():
        fresh = several(case.inputs[name], case, array.shape, rng, count if name in each else 1)
        value = np.stack(fresh) if name in each else fresh[0]
        found[name] = encoded(evaluation.question, case, name, value)
    return ManyInputs(found, frozenset(each), count)


def hold(
    program: RemoteProgram, held: Held, base: int | None, *, go_on: bool
) -> tuple[int, int] | None:
    """Bytes that the process holds when it holds the runs; None where nobody knows.

    Then the chosen ones go on, where that is asked for.

    Returns:
        How many more than before, and than the base.
    """
    try:
        program.hold(held.first, held.warm_up, held.keep)
        program.settle()
        before = program.worker.occupied_bytes()
        program.hold(held.first, held.inputs, held.keep)
        program.settle()
        after = program.worker.occupied_bytes()
        if go_on:
            held.found = [_end(program, held, place) for place in range(len(held.chosen))]
    finally:
        if program.worker.failure is None:
            program.drop()
    if before is None or after is None or base is None:
        return None
    return after - before, after - base


def _end(program: RemoteProgram, held: Held, place: int) -> Outcome | None:
    number = held.chosen[place]
    given = {**held.inputs.part(number), **held.late.part(place)}
    # What is kept of the run is what it was, an input of torch's too.
    late = {n: given[n] for n in free_names(held.rest) if n in given and n not in held.keep}
    try:
        return program.finish(WARM_UP + number, held.rest, late, held.want)
    except ProgramError:
        return None


def unlike(evaluation: Evaluation, held: Held) -> Finding | None:
    """What runs came to that went on after they were held, where it is neither right nor usual.

    Where the reference does not repeat its own results, chance is part of the question.
    """
    case = held.case
    # A step after those has inputs of its own, which were not drawn.
    steps = [s for s in evaluation.steps(held.run) if s in held.first or s in held.rest]
    for place, outcome in enumerate(held.found):
        inputs = {**held.inputs.part(held.chosen[place]), **held.late.part(place)}

        def right(inputs: Inputs = inputs) -> Mapping[str, Value]:
            with blame_bank(f"the reference fails on case {case.name}"):
                return evaluation.reference.run(steps, inputs, held.want).values

        expected = right()
        for name in held.want:
            value = None if outcome is None else outcome.values.get(name)
            if same_value(value, expected.get(name), case.dtype):
                continue
            try:
                usual = evaluation.submission.run(steps, inputs, held.want).values
            except ProgramError:
                continue  # the same inputs make it fail, and other checks say so
            if same_value(value, usual.get(name), case.dtype):
                continue
            if not same_value(right().get(name), expected.get(name), case.dtype):
                continue
            what = "your code does something else" if outcome is None else f"{name} is another"
            return Finding(
                f"{what} when {held.inputs.count} runs are under way and one of them goes on than "
                f"when it is alone (case {case.name})"
            )
    return None
