"""Why a submission is wrong: everything that can be said truthfully, the surest first.

What is remembered between calls comes first and makes every comparison of values worthless.  Then
come the misconceptions that compute the same, rules that the results follow, the cases on which
they are wrong, and what the check says where that is more than a count.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.evaluation.evaluation import BankFault, Evaluation
from grader.evaluation.rerun_alone import remembered
from grader.explain.classes import possible
from grader.explain.components import wrong_before
from grader.explain.fingerprint import fingerprint
from grader.explain.further import CALL_SECONDS, SEED, further_inputs, keeping_output
from grader.explain.naming import Failure, diagnose
from grader.explain.observation import Looked, Observation, looked_at, observations
from grader.explain.pairs import pair
from grader.explain.rules import propose
from grader.explain.statements import ResultObservations, statements, to_sentences
from grader.kinds import registry
from grader.model.keys import Check
from grader.model.numerals import quantity
from grader.model.report import STATE, CheckResult, Explanation, Named
from grader.model.verdict import Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.replies import ProgramError

WRONG = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT}
LATE = "the deadline left no time to look for the idea behind it"
MOST = 6  # explanations of one grade
LONGEST = 120  # characters of an exception's message that are worth repeating
MOST_RERUN = 12  # cases that are run anew
# Further inputs of one run: from each case that fails and each that does not, and of all.
FROM_FAILING, FROM_OTHERS, MOST_FAILING, MOST_OTHERS = 8, 3, 48, 40
# What a check says where it only counts, or shows one number.
_COUNT = re.compile(
    r"differs in |(is|are) wrong in case|disagrees with differences .* in |"
    r"^\S+ is [-\d.]\S*, expected"
)
_AGAIN = " is wrong on fresh inputs of "  # in the sentence of a check that measures


@dataclass(frozen=True, slots=True)
class Explained:
    """What is said of a submission that did not pass."""

    misconceptions: tuple[Named, ...] = ()
    explanations: tuple[Explanation, ...] = ()
    note: str = ""  # what there was no time for
    outputs: str = ""  # a digest of what is wrong, by which equal answers are found


def explain(evaluation: Evaluation, checks: Sequence[CheckResult]) -> Explained:
    """What is true of a submission that does not pass, the surest first.

    Args:
        evaluation: with the submission, after its checks.
        checks: what they came to.

    Returns:
        What was found until the deadline; nothing that happens here changes a verdict.

    Raises:
        BankFault: a misconception cannot be loaded.
    """
    failure, worker = Failure.of(evaluation, checks), evaluation.submission.worker
    failed = [check for check in checks if check.verdict in WRONG and not check.stretch]
    looked = looked_at(evaluation)
    roots, own = _roots(evaluation, failed, looked), list[Observation]()
    named, note, found = tuple[Named, ...](), "", list[Explanation]()
    with keeping_output(worker):
        outputs = fingerprint(failure)
        with _until_it_ends():
            if failed and worker.failure is None:
                own = observations(evaluation, looked, roots)
                found += _state(evaluation, [seen for seen in own if not seen.ok])
        if found:
            return Explained((), (*found, *_of_check(evaluation, failed, found)), "", outputs)
        try:
            named = diagnose(failure).named
        except OutOfTime:
            note = LATE
        with _until_it_ends():
            if own and worker.failure is None:
                for one in _of_values(evaluation, named, (looked, roots, own)):
                    found.append(one)  # so that a deadline leaves what there is
        found = [*found[: MOST - 1], *_of_check(evaluation, failed, found)]
        if not found and not named:
            with _until_it_ends():
                found += _direction(evaluation, failed)
        both = None
        if not note and not _is_whole(named) and evaluation.question.variants:
            with _until_it_ends():
                both = pair(failure)
        if both is not None:
            # One that was named by itself keeps what was found then.
            before = {idea.id: idea for idea in named}
            named = tuple(before.get(idea.id, idea) for idea in both[0])
            found.insert(0, both[1])
    return Explained(named, tuple(found[:MOST]), note, outputs)


def _until_it_ends() -> contextlib.AbstractContextManager[None]:
    """Leave what was found so far, where a process ends or time is over."""
    return contextlib.suppress(WorkerError, OutOfTime, BankFault)


def _is_whole(named: Sequence[Named]) -> bool:
    """Whether the names explain every failing case, one of them or several together."""
    exact = [idea for idea in named if idea.exact]
    seen = {case for idea in exact for case in idea.seen}
    return any(max(idea.cases, len(seen)) >= idea.failing for idea in exact)


def _roots(
    evaluation: Evaluation, failed: Sequence[CheckResult], looked: Looked
) -> list[tuple[str, str]]:
    """The runs and results that the checks that failed look at."""
    by_id = {check.id: check for check in evaluation.question.spec.checks}
    found = [(by_id[f.id].run, result) for f in failed for result in by_id[f.id].compared]
    return [root for root in dict.fromkeys(found) if root in looked]


def _state(evaluation: Evaluation, failing: Sequence[Observation]) -> Iterator[Explanation]:
    """What is said where failing cases are right when nothing was called before.

    A fault that goes away so is one of what is remembered between calls, and whatever the values
    look like is true by chance.
    """
    right: list[Observation] = []
    for run, name in list(dict.fromkeys((seen.run, seen.case) for seen in failing))[:MOST_RERUN]:
        mine = [seen for seen in failing if (seen.run, seen.case) == (run, name)]
        results = list(dict.fromkeys(seen.result for seen in mine))
        if remembered(evaluation, run, evaluation.cases[name], results):
            right += mine
    if not right:
        return
    cases = tuple(dict.fromkeys(seen.case for seen in right))
    names = list(dict.fromkeys(seen.result for seen in right))
    where = quantity(len(cases), "failing case", "failing cases")
    if len(cases) == len({seen.case for seen in failing}):
        where = "the failing case" if len(cases) == 1 else "every failing case"
    text = (
        f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} right on {where} when nothing "
        "was called before: your code remembers something from one call to the next."
    )
    yield Explanation(STATE, text, cases)


# -- what the check says --------------------------------------------------------------------------


def _of_check(
    evaluation: Evaluation, failed: Sequence[CheckResult], found: Sequence[Explanation]
) -> list[Explanation]:
    """The sentence of the first check that says more than what was found."""
    remembered = {case for one in found if one.kind == STATE for case in one.cases}
    informative = (
        check
        for check in failed
        if is_informative(check)
        and not _is_seen_elsewhere(check, failed)
        and not remembered.issuperset(_cases(check) or ("",))
    )
    check = next(informative, None)
    if check is None:
        return []
    call = f"`{check.raised.step}`" if check.raised is not None else ""
    if any(len(call) > 2 and call in one.text for one in found):
        return []
    text, worst = check.message, check.mismatch
    if worst is not None and _COUNT.search(text) and worst.observed not in text:
        text = f"{worst.result} is {worst.observed}, expected {worst.expected}"
    with _until_it_ends():
        if check.raised is not None and evaluation.submission.worker.failure is None:
            text = _where_it_raised(evaluation, check)
    return [Explanation("check", f"{text.strip().rstrip('.')}.", _cases(check))]


def _where_it_raised(evaluation: Evaluation, check: CheckResult) -> str:
    """The sentence of a check that failed by an exception, with the call and its message.

    A result of an earlier step that is wrong comes first: the step that raised may have been given
    nothing that it could work with.

    Raises:
        WorkerError: the submission's process did not survive being asked for that result.
    """
    raised, case = check.raised, next(iter(check.failing), "")
    assert raised is not None
    text = check.message.strip().rstrip(".")
    run = next(c.run for c in evaluation.question.spec.checks if c.id == check.id)
    if case in evaluation.cases and (
        already := wrong_before(evaluation, run, evaluation.cases[case])
    ):
        return f"{already} in case {case}; after that {text}"
    message = " ".join(raised.message.split())
    message = message if len(message) <= LONGEST else f"{message[:LONGEST]} [...]"
    if message and message not in text:
        text += f": {message}"
    return text if not raised.step or raised.step in text else f"{text}, in `{raised.step}`"


def is_informative(check: CheckResult) -> bool:
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


def _direction(evaluation: Evaluation, failed: Sequence[CheckResult]) -> list[Explanation]:
    """In which direction a number is off, where it is the same one in all failing cases.

    On other inputs it may be the other: it is said of these, and only where nothing else is said.
    """
    for result in failed:
        check = next(one for one in evaluation.checks if one.id == result.id)
        if result.estimate or len(result.failing) < 2:  # of an estimate, that says too much
            continue
        for name in check.compared:
            off = [_difference(evaluation, check, case, name) for case in result.failing]
            if min(off) > 0 or max(off) < 0:
                many = "both" if len(off) == 2 else f"all {len(off)}"
                side = "large" if off[0] > 0 else "small"
                text = f"{name} is too {side} in {many} failing cases."
                return [Explanation("check", text, result.failing)]
    return []


def _difference(evaluation: Evaluation, check: Check, case: str, name: str) -> float:
    """By how much one number is off; 0 where it is none."""
    observed = evaluation.observed(check.run, evaluation.cases[case]).values.get(name)
    right = evaluation.truth(check.run, evaluation.cases[case]).values[name]
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in (observed, right)):
        return 0.0
    off = float(observed) - float(right)  # type: ignore[arg-type]
    return off if math.isfinite(off) else 0.0


# -- what holds of the values ---------------------------------------------------------------------


def _of_values(
    evaluation: Evaluation,
    named: Sequence[Named],
    known: tuple[Looked, list[tuple[str, str]], list[Observation]],
) -> Iterator[Explanation]:
    """Rules, then classes: first on the question's own cases, then held against further ones."""
    looked, roots, own = known
    failing = [seen for seen in own if not seen.ok]
    if not failing:
        return
    # What an exact name explains, or what follows from a changed input, is not explained again.
    explained = {result for idea in named if idea.exact for result in idea.results}
    explained |= {name for seen in failing for name in _spoiled(evaluation, seen.run, seen.case)}
    every = [one for one in _by_result(own) if one.result.split("[")[0] not in explained]
    proposed = {
        one.result: {
            group: propose(mine) for group, mine in one.groups().items() if group != "raised"
        }
        for one in every
    }
    wanted = {
        seen.run
        for one in every
        if possible(one.failing, one.right) or any(proposed[one.result].values())
        for seen in one.observations
    }
    more = [
        part for seen in _further(evaluation, looked, roots, own, wanted) for part in seen.parts()
    ]
    for one in every:
        one.observations += [part for part in more if part.result == one.result]
    said = [s for one in every for s in statements(one, proposed[one.result])]
    yield from to_sentences([s for s in said if s.is_rule])
    yield from to_sentences([s for s in said if not s.is_rule])


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


def _by_result(own: Sequence[Observation]) -> list[ResultObservations]:
    """By result, or by number of it, those that are wrong on some case of the question."""
    found: dict[str, ResultObservations] = {}
    for seen in own:
        for part in seen.parts():
            known = found.setdefault(part.result, ResultObservations(part.result, []))
            known.observations.append(part)
    return [known for known in found.values() if known.failing]


def _further(
    evaluation: Evaluation,
    looked: Looked,
    roots: Sequence[tuple[str, str]],
    own: Sequence[Observation],
    runs: set[str],
) -> list[Observation]:
    """What the submission does on further inputs of the runs in which something is to be found."""
    if not runs or evaluation.bank is None:
        return []
    made = further_inputs(evaluation)
    program = replace(evaluation.submission, call_seconds=CALL_SECONDS)
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
        theirs.values([program], run, [case for case, _ in places])
        mine = [root for root in roots if root[0] == run]
        found += observations(theirs, looked, mine, places)
        # Whatever check a case is of, what is said of a result has to be true there too.
        known = set[str].intersection(*(set(looked[root]) for root in mine))
        whole = made.others(run, known)
        theirs.values([program], run, [case for case, _ in whole])
        beyond = {
            root: {name: (False, False) for _, name in whole if name not in looked[root]}
            for root in mine
        }
        found += observations(theirs, beyond, mine, whole)
    return found
