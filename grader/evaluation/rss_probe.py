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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation, blame_bank
from grader.evaluation.exhibit import bars
from grader.evaluation.held import hold, prepared, unlike
from grader.evaluation.results import same_value
from grader.evaluation.tally import Finding, tally
from grader.model.keys import Check
from grader.model.numerals import bytes_text
from grader.model.question import Step
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.sandbox import probes
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.sandbox.sending import Inputs

OWN_OBJECTS = 16 << 10  # bytes of a graph's own nodes that a run may leave behind

# Bytes by which readings may differ for no reason; by whether torch is used.
GROWTH = {False: 1 << 20, True: 3 << 20}  # while runs are held; measured: 0.3 MB, 1.3 with torch
STANDING = 48 << 20  # of two processes: what a file imports of the standard library, 20 MB at most
PEAK = 64 << 20  # of their peaks: the same, and what libraries take in passing, 15 MB with torch
MOST_RUNS = {False: 256, True: 64}


def confirmed(
    evaluation: Evaluation,
    check: Check,
    counted: CheckResult,
    look: Callable[[CaseRecipe], Finding | None],
    large: str,
) -> CheckResult:
    """The result by the counts inside, unless it is a pass and the view from outside differs.

    Memory shows best on a large case: the one that is named, or the largest of the check's.
    """
    if counted.verdict is not Verdict.PASS or not evaluation.asks_system:
        return counted

    def size(case: CaseRecipe) -> int:
        return sum(getattr(value, "nbytes", 0) for value in evaluation.drawn(case).values())

    name = large or max(evaluation.cases_of(check), key=size).name
    if _is_wrong(evaluation, check.run, evaluation.cases[name]):
        return counted  # other checks say so, on every seed
    found = tally(evaluation, check.model_copy(update={"cases": name}), look)
    return counted if found.verdict is Verdict.PASS else found


def _is_wrong(evaluation: Evaluation, run: str, case: CaseRecipe) -> bool:
    """Whether the submission's results are wrong there, so that nothing need be witnessed."""
    try:
        found = evaluation.observed(run, case)
    except (ProgramError, WorkerError):
        return True
    right = evaluation.truth(run, case).values
    return any(
        not same_value(found.values.get(name), right[name], case.dtype)  # in doubt, by the band
        and fault_of(evaluation, run, case, name, found)
        for name in evaluation.wanted[run]
    )


def hidden_memory(
    evaluation: Evaluation,
    run: str,
    case: CaseRecipe,
    *,
    of: str,
    counted: float,
    budget: float,
    room: float,
    needed: Callable[[], float],
    go_on: bool = True,
) -> Finding | None:
    """What runs leave behind that the system sees, and the counts inside the process do not.

    Or that what they leave behind is of no use, see `held`.  The result `of` is kept, or all where
    it is empty.  In bytes a run: `counted` by the own account, `budget` of data and `room`
    for objects allowed, `needed` by the reference, whose own account is trusted.
    """
    torch = evaluation.question.spec.needs_torch
    allowed = budget + room
    runs = max(2, min(MOST_RUNS[torch], math.ceil(1.25 * GROWTH[torch] / allowed)))
    most = runs * allowed + GROWTH[torch], runs * allowed + STANDING
    plan = prepared(evaluation, run, case, of, runs, go_on=go_on)

    # In doubt for the submission: programs before it may have left something in its process, and
    # what libraries load when first used counts as the reference's, even if it was not the first.
    def held_by_reference(late: bool = False) -> tuple[int, int] | None:
        fresh = evaluation.reference.worker.fresh
        return evaluation.fact(
            ("held", run, case.name, of, str(runs), str(late)),
            lambda: hold(evaluation.reference, plan, fresh, go_on=False),
        )

    # Torch's own caches nearly always take what is held beyond that, so that both are needed.
    with ThreadPoolExecutor(1) as meanwhile:
        if torch and evaluation.submission.worker is not evaluation.reference.worker:
            meanwhile.submit(held_by_reference)  # what it raises is raised again below
        held = hold(evaluation.submission, plan, evaluation.submission.before, go_on=True)
    if held is None or not _beyond(held, most):
        return unlike(evaluation, plan)
    found = None
    for late in _attempts(evaluation):
        with blame_bank(f"the reference fails on case {case.name}"):
            reference = held_by_reference(late) or (0, 0)
            # What both hold is no finding: inputs and results in the graph, libraries' caches.
            less = runs * needed()
        more = tuple(h - max(0, int(r - less)) for h, r in zip(held, reference, strict=True))
        if not _beyond(more, most):
            return unlike(evaluation, plan)
        system = round(max(more) / runs)
        found = found or _disagreement(
            f"by its own account a run keeps {bytes_text(counted)}, "
            f"by the system's {bytes_text(system)}",
            case,
            (counted, system, budget),
            f"{runs} runs held at once",
        )
    return found


def _attempts(evaluation: Evaluation) -> Iterator[bool]:
    """Whether the reference's process has imported all that torch imports when it is used.

    At first it need not have, and a right program may have made torch do so.
    """
    yield False
    if evaluation.question.spec.needs_torch:
        with blame_bank("the reference's worker fails"):
            evaluation.reference.import_late()
        yield True


def _beyond(held: tuple[int, ...], most: tuple[float, float]) -> bool:
    return held[0] > most[0] or held[1] > most[1]


def hidden_peak(
    evaluation: Evaluation, run: str, case: CaseRecipe, *, counted: float, budget: float
) -> Finding | None:
    """A peak that the system sees, and the count inside the process does not."""
    steps, inputs = evaluation.steps(run), evaluation.inputs(case, run)
    most = budget + PEAK
    candidate = _peak(evaluation.submission, steps, inputs, evaluation.submission.before)
    if candidate is None or candidate <= most:
        return None
    found = None
    for late in _attempts(evaluation):
        with blame_bank(f"the reference fails on case {case.name}"):
            reference = evaluation.fact(
                ("peak", run, case.name, str(late)),
                lambda: _peak(
                    evaluation.reference, steps, inputs, evaluation.reference.worker.fresh
                ),
            )
        above = candidate - (reference or 0)
        if above <= most:
            return None
        found = found or _disagreement(
            f"by its own account a run peaks at {bytes_text(counted)}, by the system's at "
            f"{bytes_text(above)} more than the reference",
            case,
            (counted, above, budget),
            "the most that the process held, above what it held before the file was loaded",
        )
    return found


def _disagreement(
    sentence: str, case: CaseRecipe, figures: tuple[float, float, float], detail: str
) -> Finding:
    labels = ("by its own account", "by the system's", "allowed")
    return Finding(
        f"{sentence}; {bytes_text(figures[-1])} allowed (case {case.name})",
        exhibit=bars(bytes_text, *zip(labels, figures, strict=True), details=(detail,)),
        figures=dict(zip(("counted", "system", "allowed"), figures, strict=True)),
    )


def _peak(
    program: RemoteProgram, steps: tuple[Step, ...], inputs: Inputs, base: int | None
) -> int | None:
    """The most that the process holds during a run, above a base."""
    program.settle()
    pid = program.worker.pid
    if base is None or not probes.forget_peak(pid):
        return None
    program.timed(steps, inputs, ())  # what is measured inside runs twice
    highest = probes.peak_bytes(pid)
    return None if highest is None else highest - base
