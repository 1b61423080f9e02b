"""What is not listed is explained all the same, as far as it can be done truthfully.

The surest comes first: what is remembered between calls, which makes every comparison of values
worthless; a rule that the results follow; the cases on which it is wrong; and what the check says,
where that is more than a count.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain import raising, rules_digits, rules_entries, rules_whole, state
from grader.explain.cells import Cell, Looked, cells, looked_at
from grader.explain.classes import possible
from grader.explain.further import SEED, further_inputs, keeping_output
from grader.explain.rules import surviving
from grader.explain.speaking import Component, sentences, spoken
from grader.kinds import registry
from grader.model.keys import Check
from grader.model.report import STATE, CheckResult, Explanation, Named
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.replies import ProgramError

WRONG = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT, Verdict.POLICY}
PROPOSALS = (*rules_whole.PROPOSALS, *rules_digits.PROPOSALS, *rules_entries.PROPOSALS)
MOST = 6  # explanations of one grade
# Further inputs of one run: from each case that fails and each that does not, and of all.
FROM_FAILING, FROM_OTHERS, MOST_FAILING, MOST_OTHERS = 8, 3, 48, 40
SECONDS = 2.0  # of CPU time for the inputs of one request
# What a check says where it only counts, or shows one number.
_COUNT = re.compile(
    r"differs in |(is|are) wrong in case|disagrees with differences .* in |"
    r"^\S+ is [-\d.]\S*, expected"
)
_AGAIN = " is wrong on fresh inputs of "  # in the sentence of a check that measures


def explain(
    evaluation: Evaluation,
    checks: Sequence[CheckResult],
    names: Callable[[], Sequence[Named]],
) -> tuple[Explanation, ...]:
    """What is true of a submission that does not pass, the surest first.

    Args:
        evaluation: with the submission, after its checks.
        checks: what they came to.
        names: gives the misconceptions that it holds, when values are worth comparing; what an
            exact one explains is not explained again.

    Returns:
        What was found until the deadline; nothing that happens here changes a verdict.
    """
    found: list[Explanation] = []
    failed = [check for check in checks if check.verdict in WRONG and not check.stretch]
    worker = evaluation.submission.worker
    with keeping_output(worker), contextlib.suppress(WorkerError, OutOfTime, BankFault):
        if failed and worker.failure is None:
            for one in _of_values(evaluation, failed, names):
                found.append(one)  # so that a deadline leaves what there is
                if one.kind == STATE:
                    break
    remembered = {case for one in found if one.kind == STATE for case in one.cases}
    telling = (
        c
        for c in failed
        if is_telling(c)
        and not _is_seen_elsewhere(c, failed)
        and not remembered.issuperset(_cases(c) or ("",))
    )
    told = next(telling, None)
    call = f"`{told.raised.step}`" if told is not None and told.raised is not None else ""
    if told is not None and not any(len(call) > 2 and call in one.text for one in found):
        text = _told(told)
        with keeping_output(worker), contextlib.suppress(WorkerError, OutOfTime, BankFault):
            if told.raised is not None and worker.failure is None:
                text = raising.sentence(evaluation, told) + "."
        found = [*found[: MOST - 1], Explanation("check", text, _cases(told))]
    elif not found and not names():
        with keeping_output(worker), contextlib.suppress(WorkerError, OutOfTime, BankFault):
            found += _sides(evaluation, failed)
    return tuple(found[:MOST])


def _sides(evaluation: Evaluation, failed: Sequence[CheckResult]) -> Iterator[Explanation]:
    """To which side a number is off, where it is the same one in all failing cases.

    On other inputs it may be the other: it is said of these, and only where nothing else is said.
    """
    for result in failed:
        check = next(one for one in evaluation.checks if one.id == result.id)
        if result.estimate or len(result.failing) < 2:  # of an estimate, that says too much
            continue
        for name in check.compared:
            off = [_difference(evaluation, check, case, name) for case in result.failing]
            for side, has in (("large", min(off) > 0), ("small", max(off) < 0)):
                if has:
                    many = "both" if len(off) == 2 else f"all {len(off)}"
                    text = f"{name} is too {side} in {many} failing cases."
                    yield Explanation("check", text, result.failing)
                    return


def _difference(evaluation: Evaluation, check: Check, case: str, name: str) -> float:
    """By how much one number is off; 0 where it is none."""
    observed = evaluation.observed(check.run, evaluation.cases[case]).values.get(name)
    right = evaluation.truth(check.run, evaluation.cases[case]).values[name]
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in (observed, right)):
        return 0.0
    off = float(observed) - float(right)  # type: ignore[arg-type]
    return off if math.isfinite(off) else 0.0


def is_telling(check: CheckResult) -> bool:
    """Whether the sentence of a check says more than how many entries are wrong, or one number."""
    counts = check.verdict is Verdict.FAIL and _COUNT.search(check.message) is not None
    return not counts or (check.mismatch is not None and not _is_number(check.mismatch.observed))


def _is_seen_elsewhere(check: CheckResult, failed: Sequence[CheckResult]) -> bool:
    """Whether a check measures, and says of results only that they are wrong, as others do."""
    others = (registry.get(one.kind).judges_values for one in failed if one is not check)
    return _AGAIN in check.message and any(others)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.split(" ")[0].replace(",", "")))
    except ValueError:
        return False


def _cases(check: CheckResult) -> tuple[str, ...]:
    """The case that the sentence of a check is about; others fail in their own way."""
    return (check.mismatch.case,) if check.mismatch else check.failing[:1]


def _told(check: CheckResult) -> str:
    """The sentence of a check; where it counts, what its worst entry is."""
    text, worst = check.message, check.mismatch
    if worst is not None and _COUNT.search(text) and worst.observed not in text:
        text = f"{worst.result} is {worst.observed}, expected {worst.expected}"
    return text.strip().rstrip(".") + "."


def _of_values(
    evaluation: Evaluation, failed: Sequence[CheckResult], names: Callable[[], Sequence[Named]]
) -> Iterator[Explanation]:
    looked = looked_at(evaluation)
    roots = _roots(evaluation, failed, looked)
    own = cells(evaluation, looked, roots)
    failing = [cell for cell in own if not cell.ok]
    if not failing:
        return
    alone = state.right_when_alone(evaluation, failing)
    if alone:
        cases = tuple(dict.fromkeys(cell.case for cell in alone))
        yield Explanation("state", state.sentence(alone, failing), cases)
        return
    explained = {result for name in names() if name.exact for result in name.results}
    explained |= {name for cell in failing for name in _spoiled(evaluation, cell.run, cell.case)}
    components = [c for c in _components(own) if c.result.split("[")[0] not in explained]
    proposed = {
        (c.result, group): surviving(PROPOSALS, mine)
        for c in components
        for group, mine in c.groups().items()
        if group != "raised"
    }
    wanted = {
        cell.run
        for c in components
        if possible(c.failing, c.right) or any(proposed.get((c.result, g)) for g in c.groups())
        for cell in c.cells
    }
    more = _further(evaluation, looked, roots, own, wanted)
    for component in components:
        component.cells += [
            part for cell in more for part in cell.parts() if part.result == component.result
        ]
    told = [s for c in components for s in spoken(c, proposed)]
    yield from sentences([s for s in told if s.kind == "rule"])
    classes = list(sentences([s for s in told if s.kind == "class"]))
    yield from classes or raising.whenever(evaluation, failed)


def _spoiled(evaluation: Evaluation, run: str, case: str) -> set[str]:
    """Results of a case that follow from an input after the submission has changed it."""
    try:
        changed = evaluation.observed(run, evaluation.cases[case]).changed
    except ProgramError:
        return set()
    steps, found = evaluation.steps(run), set[str]()
    for number, name in changed:
        for step in steps[number + 1 :]:
            if name in step.reads or found & set(step.reads):
                found.update(step.targets)
    return found


def _roots(
    evaluation: Evaluation, failed: Sequence[CheckResult], looked: Looked
) -> list[tuple[str, str]]:
    """The runs and results that the checks that failed look at."""
    by_id = {check.id: check for check in evaluation.question.spec.checks}
    found = [(by_id[f.id].run, result) for f in failed for result in by_id[f.id].compared]
    return [root for root in dict.fromkeys(found) if root in looked]


def _components(own: Sequence[Cell]) -> list[Component]:
    """By result, or by number of it, those that are wrong on some case of the question."""
    found: dict[str, Component] = {}
    for cell in own:
        for part in cell.parts():
            found.setdefault(part.result, Component(part.result, [])).cells.append(part)
    return [component for component in found.values() if component.failing]


def _further(
    evaluation: Evaluation,
    looked: Looked,
    roots: Sequence[tuple[str, str]],
    own: Sequence[Cell],
    runs: set[str],
) -> list[Cell]:
    """What the submission does on further inputs of the runs in which something is to be found."""
    if not runs or evaluation.bank is None:
        return []
    made = further_inputs(evaluation)
    program = replace(evaluation.submission, call_seconds=SECONDS)
    theirs = made.evaluation.with_submission(program, SEED)
    found = []
    for run in sorted(runs):
        wrong = dict.fromkeys(c.origin for c in own if c.run == run and not c.ok)
        others = dict.fromkeys(c.origin for c in own if c.run == run and c.origin not in wrong)
        most = {
            origin: max(1, min(each, limit // len(origins)))
            for origins, each, limit in (
                (wrong, FROM_FAILING, MOST_FAILING),
                (others, FROM_OTHERS, MOST_OTHERS),
            )
            for origin in origins
        }
        places = made.of(run, most)
        theirs.ask_all(program, run, [case for case, _ in places])
        mine = [root for root in roots if root[0] == run]
        found += cells(theirs, looked, mine, places)
        # Whatever check a case is of, what is said of a result has to be true there too.
        known = set[str].intersection(*(set(looked[root]) for root in mine))
        whole = made.others(run, known)
        theirs.ask_all(program, run, [case for case, _ in whole])
        beyond = {
            root: {name: (False, False) for _, name in whole if name not in looked[root]}
            for root in mine
        }
        found += cells(theirs, beyond, mine, whole)
    return found
