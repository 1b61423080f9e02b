"""Why a submission is wrong: everything that can be said truthfully, the surest first.

What is remembered between calls comes first and makes every comparison of values worthless.  Then
come the misconceptions that compute the same, rules that the results follow, the cases on which
they are wrong, and what was wrong before a call raised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.explain.alternative_inputs import AlternativeInputs
from grader.explain.case_patterns import may_be_separable, separating_properties
from grader.explain.components import (
    FAILED_VERDICTS,
    Failure,
    failure_digest,
    wrong_results_before_failure,
)
from grader.explain.extra_cases import EXTRA_SEED, extra_cases
from grader.explain.idea_matching import Diagnosis, diagnose, find_pair, suspected_programs
from grader.explain.observation import (
    Observation,
    compared_cases_by_result,
    compared_results_of_run,
    observe_results,
)
from grader.explain.rules import (
    PLACE_RANK,
    UNUSABLE_VALUE_ERRORS,
    WEAK_RANK,
    Rule,
    confirmed_rules,
    is_beyond_chance,
    is_refuted,
    is_right_to_digits,
    propose_rules,
    rules_holding_on,
)
from grader.grading.determinism import depends_on_earlier_calls
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.model.limits import EXTRA_CALL_SECONDS
from grader.model.number_format import format_count, join_words
from grader.model.report import (
    NON_FAILING_VERDICTS,
    STATE,
    CheckResult,
    Explanation,
    IdeaMatch,
    Report,
    Verdict,
)
from grader.sandbox import OutOfTime
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram

NO_TIME_NOTE = "the deadline left no time to look for the idea behind it"
MAX_EXPLANATIONS = 6  # explanations of one grade
MAX_RERUN = 12  # cases that are run anew
# Further inputs of one run: from each case that fails and each that does not, and of all.
EXTRA_PER_FAILING_CASE, EXTRA_PER_OTHER_CASE, MAX_EXTRA_FROM_FAILING, MAX_EXTRA_FROM_OTHERS = (
    8,
    3,
    48,
    40,
)
FAILING_CASES_PREFIX = "wherever it is wrong: "  # before what is true of the failing cases alone
RAISES_PREFIX = "raises "
NAMES_AT_MOST = 4  # results that one sentence lists


def explain_report(evaluation: Evaluation, report: Report) -> Report:
    """The report with what is true of a submission that does not pass, found until the deadline.

    Its checks are done; nothing here changes a verdict.

    Raises:
        BankFault: a misconception cannot be loaded.
    """
    checks = report.checks
    failure, worker = Failure(evaluation, checks), evaluation.submission.worker
    failed = [check for check in checks if check.verdict in FAILED_VERDICTS and not check.stretch]
    values = _Values(evaluation, failed, lambda: suspected_programs(failure))
    diagnosis, note, found = Diagnosis(), "", list[Explanation]()
    outputs = failure_digest(failure)
    with _until_it_ends():
        if failed and worker.failure is None:
            values.observe()
            found += _state(evaluation, [seen for seen in values.own if not seen.is_right])
    if found:
        return replace(report, explanations=tuple(found), outputs=outputs)
    try:
        diagnosis = diagnose(failure)
    except OutOfTime:
        note = NO_TIME_NOTE
    named = diagnosis.matches
    with _until_it_ends():
        if values.own and worker.failure is None:
            found.extend(values.explanations(named))  # a deadline leaves what there is
            found[MAX_EXPLANATIONS - 1 :] = _before_it_raised(evaluation, failed)
    both = None
    if (
        not note
        and (not _is_whole(named) or diagnosis.compares_in_float32)
        and evaluation.question.variants
    ):
        with _until_it_ends():
            both = None if diagnosis.compares_in_float32 else find_pair(failure)
    if both is not None:
        # One that was named by itself keeps what was found then.
        before = {idea.id: idea for idea in named}
        named = tuple(before.get(idea.id, idea) for idea in both[0])
        found.insert(0, both[1])
    if not found and not named and values.own:
        with _until_it_ends():
            found += _which_results(evaluation, checks, values)
    failing = (c for c in checks if c.verdict not in NON_FAILING_VERDICTS and not c.stretch)
    shown = next((case for c in failing for case in c.failing), "")
    return replace(
        report,
        # What explains the case that is shown comes first.
        misconceptions=tuple(sorted(named, key=lambda m: (not m.exact, shown not in m.seen))),
        explanations=tuple(found[:MAX_EXPLANATIONS]),
        note=note,
        outputs=outputs,
    )


def _until_it_ends() -> contextlib.AbstractContextManager[None]:
    """Leave what was found so far, where a process ends or time is over."""
    return contextlib.suppress(WorkerError, OutOfTime, BankProgramError)


def _is_whole(named: Sequence[IdeaMatch]) -> bool:
    """Whether the names explain every failing case, one of them or several together."""
    exact = [idea for idea in named if idea.exact]
    seen = {case for idea in exact for case in idea.seen}
    return any(max(idea.cases, len(seen)) >= idea.failing for idea in exact)


def _state(evaluation: Evaluation, failing: Sequence[Observation]) -> Iterator[Explanation]:
    """What is said where failing cases are right when nothing was called before.

    A fault that goes away so is one of what is remembered between calls, and whatever the values
    look like is true by chance.
    """
    right: list[Observation] = []
    for run, name in list(dict.fromkeys((seen.run, seen.case) for seen in failing))[:MAX_RERUN]:
        mine = [seen for seen in failing if (seen.run, seen.case) == (run, name)]
        results = list(dict.fromkeys(seen.result for seen in mine))
        if depends_on_earlier_calls(evaluation, run, evaluation.cases[name], results):
            right += mine
    if not right:
        return
    cases = tuple(dict.fromkeys(seen.case for seen in right))
    names = list(dict.fromkeys(seen.result for seen in right))
    where = format_count(len(cases), "failing case", "failing cases")
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
    if wrong := wrong_results_before_failure(evaluation, run, evaluation.cases[case]):
        text = f"{wrong} in case {case}; after that {check.message.strip().rstrip('.')}."
        yield Explanation("before", text, (case,))


def _which_results(
    evaluation: Evaluation, checks: Sequence[CheckResult], values: _Values
) -> Iterator[Explanation]:
    """Which results are wrong, where others of the same run are right wherever they were tried.

    Nothing is said where a run raised, because what it would have computed next was not tried, nor
    of what follows from an input that the submission has changed.
    """
    failing = [seen for seen in values.own if not seen.is_right]
    if any(
        seen.raised_type or seen.result in values.spoiled(seen.run, seen.case) for seen in failing
    ):
        return
    wrong = list(dict.fromkeys(seen.result for seen in failing))
    passed = {check.id for check in checks if check.verdict is Verdict.PASS}
    tried = [seen.result for seen in values.own]
    tried += [n for c in evaluation.checks if c.id in passed for n in c.compared_results]
    beside = {n for seen in failing for n in compared_results_of_run(evaluation, seen.run)}
    right = [name for name in dict.fromkeys(tried) if name in beside and name not in wrong]
    if wrong and right:
        are = "is" if len(right) == 1 else "are"
        bad, good = (join_words(names, NAMES_AT_MOST) for names in (wrong, right))
        text = f"Only {bad} {'is' if len(wrong) == 1 else 'are'} wrong; "
        text += f"{good} {are} right in every case that was tried."
        yield Explanation("results", text, tuple(dict.fromkeys(seen.case for seen in failing)))


# -- what holds of the values ---------------------------------------------------------------------


class _Values:
    """Rules, then classes: first on the question's own cases, then held against further ones."""

    def __init__(
        self,
        evaluation: Evaluation,
        failed: Sequence[CheckResult],
        ideas: Callable[[], Sequence[tuple[str, str, RemoteProgram]]] | None = None,
    ) -> None:
        self.ideas = ideas  # that may be behind it
        self.evaluation, self.looked = evaluation, compared_cases_by_result(evaluation)
        by_id = {check.id: check for check in evaluation.question.spec.checks}
        found = [
            (by_id[f.id].run, result) for f in failed for result in by_id[f.id].compared_results
        ]
        # The runs and results that the checks that failed look at.
        self.roots = [root for root in dict.fromkeys(found) if root in self.looked]
        self.own: list[Observation] = []

    def observe(self) -> None:
        """Have the submission's results on the question's own cases."""
        self.own = observe_results(self.evaluation, self.looked, self.roots)

    def explanations(self, named: Sequence[IdeaMatch]) -> Iterator[Explanation]:
        """What is said of each result that is wrong; results share a sentence where they can."""
        failing = [seen for seen in self.own if not seen.is_right]
        # What an exact name explains, or follows from a changed input, is not explained again.
        explained = {result for idea in named if idea.exact for result in idea.results}
        explained |= {name for seen in failing for name in self.spoiled(seen.run, seen.case)}
        results: dict[str, ResultObservations] = {}
        for part in (part for seen in self.own for part in seen.split_items()):
            if part.result.split("[")[0] not in explained:
                results.setdefault(part.result, ResultObservations(part.result)).add(part)
        every = [one for one in results.values() if one.failing_observations]
        proposed = {one.result: one.proposed_rules() for one in every}
        wanted = {
            seen.run
            for one in every
            if any(proposed[one.result].values())
            or may_be_separable(one.failing_observations, one.right_observations)
            for seen in one.observations
        }
        self._add_further(wanted, results)
        said = [s for one in every for s in make_statements(one, proposed[one.result])]
        known = {one.result for one in said if not one.is_weak}
        with _until_it_ends(), contextlib.suppress(*UNUSABLE_VALUE_ERRORS):
            more = self._of_others([one for one in every if one.result not in known])
            runs = {seen.run for one, _ in more for seen in one.failing_observations}
            self._add_further(runs - wanted, results)
            for some, rules in more:
                if better := list(make_statements(some, rules)):
                    said = [one for one in said if one.result != some.result] + better
        yield from to_explanations(sorted(said, key=lambda one: not one.is_rule))

    def _add_further(self, runs: set[str], results: Mapping[str, ResultObservations]) -> None:
        for seen in self._further(runs):
            for part in seen.split_items():
                if part.result in results:
                    results[part.result].add(part)

    def _of_others(
        self, unsaid: Sequence[ResultObservations]
    ) -> list[tuple[ResultObservations, dict[str, list[Rule]]]]:
        """Results that are what other inputs or ideas give, as far as it is known by now."""
        if self.evaluation.bank is None or self.ideas is None or not unsaid:
            return []
        others = AlternativeInputs(
            self.evaluation, extra_cases(self.evaluation).evaluation, self.ideas()
        )
        found = []
        for one in unsaid:
            failing = [seen for seen in one.failing_observations if seen.failure_kind == "values"]
            if failing and (rules := others.matching_rules(failing)):
                found.append((one, {"any": rules, "values": rules}))
        return found

    def spoiled(self, run: str, case: str) -> set[str]:
        """Results of a case that follow from an input after the submission has changed it."""
        try:
            changed = self.evaluation.submission_outcome(run, self.evaluation.cases[case]).changed
        except ProgramError:
            return set()
        steps, found = self.evaluation.steps(run), set[str]()
        for number, name in changed:
            for step in steps[number + 1 :]:
                if name in step.names_read or found & set(step.names_read):
                    found.update(step.targets)
        return found

    def _further(self, runs: set[str]) -> list[Observation]:
        """What the submission does on further inputs of the runs in which something may hold."""
        if not runs or self.evaluation.bank is None:
            return []
        made, looked, found = extra_cases(self.evaluation), self.looked, list[Observation]()
        program = replace(self.evaluation.submission, call_seconds=EXTRA_CALL_SECONDS)
        theirs = made.evaluation.with_submission(program, EXTRA_SEED)
        theirs.reference = self.evaluation.reference
        for run in sorted(runs):
            wrong = dict.fromkeys(c.origin for c in self.own if c.run == run and not c.is_right)
            every = dict.fromkeys(c.origin for c in self.own if c.run == run)
            others = [origin for origin in every if origin not in wrong]
            most = {
                origin: max(1, min(each, limit // len(origins)))
                for origins, each, limit in (
                    (wrong, EXTRA_PER_FAILING_CASE, MAX_EXTRA_FROM_FAILING),
                    (others, EXTRA_PER_OTHER_CASE, MAX_EXTRA_FROM_OTHERS),
                )
                for origin in origins
            }
            places = made.made_for(run, most)
            theirs.prefetch([program], run, [case for case, _ in places])
            mine = [root for root in self.roots if root[0] == run]
            found += observe_results(theirs, looked, mine, places)
            # Whatever check a case is of, what is said of a result has to be true there too.
            whole = made.cases_of_other_checks(
                run, set[str].intersection(*(set(looked[root]) for root in mine))
            )
            theirs.prefetch([program], run, [case for case, _ in whole])
            beyond = {
                root: {name: (False, False) for _, name in whole if name not in looked[root]}
                for root in mine
            }
            found += observe_results(theirs, beyond, mine, whole)
        return found


class ResultObservations:
    """One result, "grad_x", or one number of it, "mixed['weights']", of whatever run."""

    def __init__(self, result: str, known: Sequence[Observation] = ()) -> None:
        """Begin with what is known of it."""
        self.result, self.observations = result, list(known)
        self.add = self.observations.append

    @property
    def failing_observations(self) -> list[Observation]:
        """Those that are wrong."""
        return [seen for seen in self.observations if not seen.is_right]

    @property
    def right_observations(self) -> list[Observation]:
        """Those that are right."""
        return [seen for seen in self.observations if seen.is_right]

    def failures_by_kind(self) -> dict[str, list[Observation]]:
        """The failing ones by sort; first all of them that gave a result."""
        found = {"any": [seen for seen in self.failing_observations if not seen.raised_type]}
        for seen in self.failing_observations:
            found.setdefault(seen.failure_kind, []).append(seen)
        return found

    def proposed_rules(self) -> dict[str, list[Rule]]:
        """By sort of failure the rules that it follows."""
        return {
            name: propose_rules(mine)
            for name, mine in self.failures_by_kind().items()
            if name != "raised"
        }


@dataclass(frozen=True)
class Statement:
    """One statement about one result."""

    is_rule: bool  # else it says on which cases the result is wrong
    result: str
    text: str  # what follows its name
    cases: tuple[str, ...]
    is_weak: bool = False  # it says no more than where the wrong entries are, or their sum


def make_statements(
    known: ResultObservations, proposed: Mapping[str, Sequence[Rule]]
) -> Iterator[Statement]:
    """What to say of a result: at most one statement on each sort of failure.

    Of what is proposed, by sort, for the question's own cases all that is known decides.
    """
    failing, name = known.failing_observations, known.result
    is_rounding = all(not seen.raised_type and is_right_to_digits(seen, 5) for seen in failing)
    when = "" if is_rounding else separating_properties(failing, known.right_observations)
    own = {(seen.run, seen.case): seen.case for seen in failing if seen.is_own_case}
    said = False
    for group, mine in known.failures_by_kind().items():
        cases = {(seen.run, seen.case): seen.case for seen in mine if seen.is_own_case}
        if not cases or not proposed.get(group):
            continue
        several, whole = len(set(cases.values())), len(mine) == len(failing)
        rules = rules_holding_on(
            [rule for rule in proposed[group] if several >= rule.min_failing_cases], mine
        )
        best = _best(
            confirmed_rules(rules, mine), mine, known.right_observations, when if whole else ""
        )
        rule, text = best or (None, "")
        if rule is None or (rule.rank >= WEAK_RANK and any(seen.raised_type for seen in failing)):
            continue  # where others raise, what the rest have in common may be chance
        bare = text == FAILING_CASES_PREFIX + rule.text or (
            text == rule.text and rule.contradicts_right_result is None
        )
        if bare and len({seen.origin for seen in mine}) == 1:
            # What one case shows need not be so on others.
            text = f"{text.removeprefix(FAILING_CASES_PREFIX)} in case {mine[0].origin}"
        elif len(cases) < len(own):
            text = (
                text.removeprefix(FAILING_CASES_PREFIX)
                + f" in {len(cases)} of {len(own)} failing cases"
            )
        said = True
        is_weak = rule.rank >= PLACE_RANK
        yield Statement(True, name, text, tuple(dict.fromkeys(cases.values())), is_weak)
        if group == "any":
            break
    if when and not said:
        raised, *others = {seen.raised_type for seen in failing}
        # Other texts say that what was returned cannot be used.
        verb = f"{RAISES_PREFIX}{raised}" if not others and raised.isidentifier() else "is wrong"
        text = f"{verb} where {when}, and in no other case that was tried"
        yield Statement(False, name, text, tuple(dict.fromkeys(own.values())))


def _best(
    rules: Sequence[Rule], mine: Sequence[Observation], right: Sequence[Observation], when: str
) -> tuple[Rule, str] | None:
    """The most informative rule that no right case refutes, with where it applies."""
    only = f" where {when}, and is right in every other case that was tried" if when else ""
    for rule in rules:
        refuted = is_refuted(rule, right)
        if rule.contradicts_right_result is not None and not refuted:
            return rule, rule.text
        if only and not rule.holds_on_any_cases:
            return rule, rule.text + only
        if rule.is_about_wrong_entries or not right:
            return rule, rule.text
        if not refuted or (is_beyond_chance(mine) and not rule.is_one_of_many):
            return rule, FAILING_CASES_PREFIX + rule.text
    return None


def to_explanations(said: Sequence[Statement]) -> Iterator[Explanation]:
    """One explanation for each text; results share one where the same is true of them."""
    texts: dict[str, list[Statement]] = {}
    for one in said:
        texts.setdefault(one.text, []).append(one)
    for text, several in texts.items():
        names = list(dict.fromkeys(one.result for one in several))
        cases = tuple(dict.fromkeys(case for one in several for case in one.cases))
        kind = "rule" if several[0].is_rule else "class"
        yield Explanation(kind, _sentence(names, text), cases)  # type: ignore[arg-type]
        if text.startswith(RAISES_PREFIX):
            return  # that one result is not computed is why the next one is not


def _sentence(names: Sequence[str], text: str) -> str:
    """One sentence about results that share a text."""
    if text.startswith(RAISES_PREFIX):
        return f"Your code {text}."
    one, who = len(names) == 1, join_words(names, NAMES_AT_MOST)
    if text.startswith(FAILING_CASES_PREFIX):
        text = text.removeprefix(FAILING_CASES_PREFIX)
        return f"Wherever {who} {'is wrong, it' if one else 'are wrong, each'} {text}."
    return f"{who} {text}." if one else f"Of {who}, each {text}."
