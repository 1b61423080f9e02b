"""What runs take, by the system's account: no code in the process has a say in it.

Counts made inside a worker can be evaded by who runs there: memory that Python did not allocate, a
file, a meter that is replaced.  So the same run is repeated, everything it leaves is kept,
and the system says how much larger the process has become, its files included.  Two readings of
the same may differ by a megabyte, so many runs are held, and in doubt there is no finding.

Memory set aside beforehand makes no process grow.  Therefore what it holds above what it held
before the program was loaded is held against the same of the reference's process.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from grader.bench.bench import Bench, trusting
from grader.bench.tally import Finding, tally
from grader.cases.dataflow import free_names, producing
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import bytes_text
from grader.model.question import Step
from grader.model.report import Bar, Bars, CheckResult
from grader.model.spec import Check
from grader.model.verdict import Verdict
from grader.sandbox.remote import Inputs, RemoteProgram

OWN_OBJECTS = 16 << 10  # bytes of a graph's own nodes that a run may leave behind
WARM_UP = 2  # runs before the first reading: what they import or cache, the others find there


@dataclass(frozen=True, slots=True)
class _Noise:
    """By how many bytes readings may differ for no reason."""

    growth: int  # of one process, while runs are held; measured: 0.3 MB with numpy, 1.3 with torch
    standing: int  # of two processes: what a file imports of the standard library, 20 MB at most
    peak: int  # of their peaks: the same, and what libraries take in passing, 15 MB with torch
    most_runs: int


_NUMPY = _Noise(1 << 20, 48 << 20, 64 << 20, 256)
_TORCH = _Noise(3 << 20, 48 << 20, 64 << 20, 64)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a process holds while runs are held, in bytes."""

    growth: int  # more than before
    standing: int  # more than before the program was loaded


def confirmed(
    bench: Bench,
    check: Check,
    passed: CheckResult,
    look: Callable[[CaseRecipe], Finding | None],
    large: str,
) -> CheckResult:
    """A pass by the counts inside, unless what is seen from outside contradicts it.

    Memory shows best on a large case: the one that is named, or the largest of the check's.
    """
    if not bench.asks_system:
        return passed
    case = (
        bench.cases[large]
        if large
        else max(bench.cases_of(check), key=lambda c: _input_bytes(bench, c))
    )
    found = tally(bench, check.model_copy(update={"cases": case.name}), look)
    return passed if found.verdict is Verdict.PASS else found


def _input_bytes(bench: Bench, case: CaseRecipe) -> int:
    return sum(getattr(value, "nbytes", 0) for value in bench.drawn(case).values())


def hidden_memory(
    bench: Bench,
    run: str,
    case: CaseRecipe,
    *,
    of: str,
    counted: float,
    budget: float,
    room: float,
    needed: Callable[[], float],
) -> Finding | None:
    """What runs leave behind that the system sees, and the counts inside the process do not.

    Args:
        bench: the programs.
        run: its forward steps are repeated.
        case: the inputs.
        of: the result that is kept; all results where it is empty.
        counted: bytes kept by the process's own account.
        budget: bytes that one run may keep.
        room: bytes of objects besides.
        needed: bytes of the budget that the reference keeps, by the account of its own process,
            which is trusted.
    """
    steps = producing(bench.steps(run), of) if of else bench.steps(run)
    inputs = _inputs(bench, run, case, steps)
    noise = _noise(bench)
    runs = max(2, min(noise.most_runs, math.ceil(1.25 * noise.growth / (budget + room))))
    most = runs * (budget + room)
    candidate = _hold(bench.submission, steps, inputs, of, runs, bench.submission.before)
    if candidate is None or not _beyond(candidate, most, noise):
        return None
    with trusting(f"the reference fails on case {case.name}"):
        reference = bench.fact(
            ("held", run, case.name, of, str(runs)),
            lambda: _hold(bench.reference, steps, inputs, of, runs, bench.reference.worker.fresh),
        )
        # What both hold is no finding: inputs and results in the graph, libraries' caches.
        less = runs * needed()
    if reference is not None:
        candidate = _Reading(
            candidate.growth - max(0, int(reference.growth - less)),
            candidate.standing - max(0, int(reference.standing - less)),
        )
    if not _beyond(candidate, most, noise):
        return None
    system = round(max(candidate.growth, candidate.standing) / runs)
    return _disagreement(
        f"by its own account a run keeps {bytes_text(counted)}, "
        f"by the system's {bytes_text(system)}",
        case,
        (counted, system, budget),
        f"{runs} runs held at once",
    )


def _beyond(reading: _Reading, most: float, noise: _Noise) -> bool:
    return reading.growth > most + noise.growth or reading.standing > most + noise.standing


def hidden_peak(
    bench: Bench, run: str, case: CaseRecipe, *, counted: float, budget: float
) -> Finding | None:
    """A peak that the system sees, and the count inside the process does not."""
    steps = bench.steps(run)
    inputs = _inputs(bench, run, case, steps)
    most = budget + _noise(bench).peak
    candidate = _peak(bench.submission, steps, inputs, bench.submission.before)
    if candidate is None or candidate <= most:
        return None
    with trusting(f"the reference fails on case {case.name}"):
        reference = bench.fact(
            ("peak", run, case.name),
            lambda: _peak(bench.reference, steps, inputs, bench.reference.worker.fresh),
        )
    above = candidate - (reference or 0)
    if above <= most:
        return None
    return _disagreement(
        f"by its own account a run peaks at {bytes_text(counted)}, by the system's at "
        f"{bytes_text(above)} more than the reference",
        case,
        (counted, above, budget),
        "the most that the process held, above what it held before the file was loaded",
    )


def _disagreement(
    sentence: str, case: CaseRecipe, figures: tuple[float, float, float], detail: str
) -> Finding:
    labels = ("by its own account", "by the system's", "allowed")
    bars = tuple(Bar(w, v, bytes_text(v)) for w, v in zip(labels, figures, strict=True))
    return Finding(
        f"{sentence}; {bytes_text(figures[-1])} allowed (case {case.name})",
        exhibit=Bars(bars, (detail,)),
        figures=dict(zip(("counted", "system", "allowed"), figures, strict=True)),
    )


# In doubt for the submission: programs before it may have left something in its process, and what
# libraries load when first used counts as the reference's, even if the submission was first.
def _hold(
    program: RemoteProgram,
    steps: tuple[Step, ...],
    inputs: Inputs,
    of: str,
    runs: int,
    base: int | None,
) -> _Reading | None:
    """What the process holds when it keeps the results of runs; None where that is not known."""
    try:
        program.hold(steps, inputs, of=of, count=WARM_UP)
        before = program.worker.occupied_bytes()
        program.hold(steps, inputs, of=of, count=runs)
        after = program.worker.occupied_bytes()
    finally:
        if program.worker.failure is None:
            program.drop()
    if before is None or after is None or base is None:
        return None
    return _Reading(after - before, after - base)


def _peak(
    program: RemoteProgram, steps: tuple[Step, ...], inputs: Inputs, base: int | None
) -> int | None:
    """The most that the process holds during a run, above a base."""
    program.drop()
    probe, pid = program.worker.probe, program.worker.pid
    if base is None or not probe.forget_peak(pid):
        return None
    program.measure("peak", steps, inputs)
    highest = probe.peak_bytes(pid)
    return None if highest is None else highest - base


def _inputs(bench: Bench, run: str, case: CaseRecipe, steps: tuple[Step, ...]) -> Inputs:
    every = bench.inputs(case, run)
    return {name: every[name] for name in free_names(steps)}


def _noise(bench: Bench) -> _Noise:
    return _TORCH if bench.question.spec.needs_torch else _NUMPY
