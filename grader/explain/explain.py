"""Why a submission is wrong: everything that can be said truthfully, the surest first.

What is remembered between calls comes first and makes every comparison of values worthless.  Then
come the misconceptions that compute the same, rules that the results follow, the cases on which
they are wrong, and what was wrong before a call raised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from grader.evaluation.again import remembers
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.explain.classes import possible
from grader.explain.components import wrong_before
from grader.explain.fingerprint import fingerprint
from grader.explain.further import CALL_SECONDS, SEED, further_inputs, keeping_output
from grader.explain.naming import Failure, diagnose
from grader.explain.observation import Looked, Observation, looked_at, observations
from grader.explain.pairs import pair
from grader.explain.rules import propose
from grader.explain.statements import ResultObservations, statements, to_sentences
from grader.model.numerals import quantity
from grader.model.report import STATE, CheckResult, Explanation, Named, Verdict
from grader.sandbox.client import WorkerError
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.replies import ProgramError

WRONG = {Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT}
LATE = "the deadline left no time to look for the idea behind it"
MOST = 6  # explanations of one grade
MOST_RERUN = 12  # cases that are run anew
# Further inputs of one run: from each case that fails and each that does not, and of all.
FROM_FAILING, FROM_OTHERS, MOST_FAILING, MOST_OTHERS = 8, 3, 48, 40


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
        checks: their results.

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
            return Explained((), tuple(found), "", outputs)
        try:
            named = diagnose(failure).named
        except OutOfTime:
            note = LATE
        with _until_it_ends():
            if own and worker.failure is None:
                for one in _of_values(evaluation, named, (looked, roots, own)):
                    found.append(one)  # so that a deadline leaves what there is
                found[MOST - 1 :] = _before_it_raised(evaluation, failed)
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
        if remembers(evaluation, run, evaluation.cases[name], results):
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


def _before_it_raised(
    evaluation: Evaluation, failed: Sequence[CheckResult]
) -> Iterator[Explanation]:
    """What was wrong before a call raised: it may have been given nothing that it can work with.

    Raises:
        WorkerError: the submission's process did not survive being asked for that result.
    """
    check = next((one for one in failed if one.raised is not None and one.failing), None)
    if check is None or check.failing[0] not in evaluation.cases:
        return
    run = next(c.run for c in evaluation.checks if c.id == check.id)
    case = check.failing[0]
    if wrong := wrong_before(evaluation, run, evaluation.cases[case]):
        text = f"{wrong} in case {case}; after that {check.message.strip().rstrip('.')}."
        yield Explanation("before", text, (case,))


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
