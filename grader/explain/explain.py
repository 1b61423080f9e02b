"""Explain why a submission is wrong: everything that is certainly true, the most certain first.

State between calls comes first, because it makes comparing values worthless.  Then come ideas with
the same results, rules that the results follow, the cases on which they are wrong, and results that
were wrong before a call raised.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from grader.explain.alternative_inputs import AlternativeInputs
from grader.explain.case_patterns import may_be_separable, separating_properties
from grader.explain.components import (
    FAILED_VERDICTS,
    Failure,
    wrong_results_before_failure,
)
from grader.explain.extra_cases import EXTRA_SEED, extra_cases
from grader.explain.failure_digest import failure_digest
from grader.explain.idea_matching import Diagnosis, diagnose, suspected_programs
from grader.explain.idea_pairs import find_pair
from grader.explain.observation import (
    Observation,
    RunResult,
    Strictness,
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
from grader.grading.bank_errors import BankProgramError
from grader.grading.evaluation import Evaluation
from grader.grading.reruns import depends_on_earlier_calls
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

NO_TIME_NOTE = "the deadline left no time to look for the idea behind it"
MAX_EXPLANATIONS = 6  # in one report
MAX_RERUN = 12  # cases that run again without earlier calls
MAX_LISTED_NAMES = 4  # results that one sentence lists

# Extra inputs of one run.
EXTRA_PER_FAILING_CASE = 8
EXTRA_PER_OTHER_CASE = 3
MAX_EXTRA_FROM_FAILING = 48
MAX_EXTRA_FROM_OTHERS = 40


def explain_report(evaluation: Evaluation, report: Report) -> Report:
    """Return the report of a failing submission with all explanations found before the deadline.

    All checks have run, and no verdict changes.

    Raises:
        BankProgramError: a variant cannot be loaded.
    """
    checks = report.checks
    worker = evaluation.subject.worker
    failed = [check for check in checks if check.verdict in FAILED_VERDICTS and not check.stretch]
    failure = Failure(evaluation, checks)
    values = _ValueExplainer(failure, failed)
    report = replace(report, outputs=failure_digest(failure))
    explanations: list[Explanation] = []
    with _until_interrupted():
        if failed and worker.failure is None:
            values.observe()
            explanations += _explain_state(evaluation, values.failing)
    if explanations:
        return replace(report, explanations=tuple(explanations))

    diagnosis = Diagnosis()
    try:
        diagnosis = diagnose(failure)
    except OutOfTime:
        report = replace(report, note=NO_TIME_NOTE)
    matches: Sequence[IdeaMatch] = diagnosis.matches
    with _until_interrupted():
        if values.own and worker.failure is None:
            explanations.extend(values.explanations(matches))
            # The explanation of an exception gets the last place, if there are too many.
            explanations[MAX_EXPLANATIONS - 1 :] = _explain_exception(evaluation, failed)

    is_explained = diagnosis.compares_in_float32 or _explain_all_cases(matches)
    if not report.note and not is_explained and evaluation.question.variants:
        with _until_interrupted():
            matches = _add_pair(failure, matches, explanations)

    if not explanations and not matches and values.own:
        with _until_interrupted():
            explanations += _explain_wrong_results(evaluation, checks, values)
    shown_case = _shown_case(checks)
    # An idea that explains the shown case comes first.
    order = sorted(matches, key=lambda idea: (not idea.exact, shown_case not in idea.seen))
    return replace(
        report, misconceptions=tuple(order), explanations=tuple(explanations[:MAX_EXPLANATIONS])
    )


def _add_pair(
    failure: Failure, matches: Sequence[IdeaMatch], explanations: list[Explanation]
) -> Sequence[IdeaMatch]:
    """Return the ideas of a pair and add its explanation; the same matches if no pair is found."""
    pair = find_pair(failure)
    if pair is None:
        return matches
    entries, explanation = pair
    explanations.insert(0, explanation)
    # An idea that was matched alone keeps its entry.
    alone = {idea.id: idea for idea in matches}
    return [alone.get(idea.id, idea) for idea in entries]


def _until_interrupted() -> contextlib.AbstractContextManager[None]:
    """Return a context that ends quietly if a process ends or time is over."""
    return contextlib.suppress(WorkerError, OutOfTime, BankProgramError)


def _explain_all_cases(matches: Sequence[IdeaMatch]) -> bool:
    """Return True if exact matches, alone or together, explain every failing case."""
    exact = [idea for idea in matches if idea.exact]
    explained = {case for idea in exact for case in idea.seen}
    return any(max(idea.cases, len(explained)) >= idea.failing for idea in exact)


def _shown_case(checks: Sequence[CheckResult]) -> str:
    """Return the case that the report shows: the first one of the first failing check."""
    for check in checks:
        if check.verdict not in NON_FAILING_VERDICTS and not check.stretch and check.failing:
            return check.failing[0]
    return ""


def _are(names: Collection[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _explain_state(evaluation: Evaluation, failing: Sequence[Observation]) -> Iterator[Explanation]:
    """Yield an explanation if failing cases are right when no call came before.

    Then the submission keeps state between calls, and any pattern in its values is chance.
    """
    by_run_and_case: dict[tuple[str, str], list[Observation]] = {}
    for observation in failing:
        by_run_and_case.setdefault((observation.run, observation.case), []).append(observation)
    stateful: list[Observation] = []
    for (run, case), observations in list(by_run_and_case.items())[:MAX_RERUN]:
        results = list(dict.fromkeys(observation.result for observation in observations))
        if depends_on_earlier_calls(evaluation, run, evaluation.cases[case], results):
            stateful += observations
    if not stateful:
        return
    cases = tuple(dict.fromkeys(observation.case for observation in stateful))
    names = list(dict.fromkeys(observation.result for observation in stateful))
    where = format_count(len(cases), "failing case", "failing cases")
    if len(cases) == len({observation.case for observation in failing}):
        where = "the failing case" if len(cases) == 1 else "every failing case"
    text = (
        f"{' and '.join(names)} {_are(names)} right on {where} when nothing "
        "was called before: your code remembers something from one call to the next."
    )
    yield Explanation(STATE, text, cases)


def _explain_exception(
    evaluation: Evaluation, failed: Sequence[CheckResult]
) -> Iterator[Explanation]:
    """Yield an explanation if a result was wrong before a call raised, and may be the cause.

    Raises:
        WorkerError: the submission's process ended when asked for that result.
    """
    for check in failed:
        if check.raised is None or not check.failing:
            continue
        case = check.failing[0]
        if case in evaluation.cases:
            runs = {spec.id: spec.run for spec in evaluation.checks}
            recipe = evaluation.cases[case]
            sentence = wrong_results_before_failure(evaluation, runs[check.id], recipe)
            if sentence:
                text = f"{sentence} in case {case}; after that {check.message.strip().rstrip('.')}."
                yield Explanation("before", text, (case,))
        return


def _explain_wrong_results(
    evaluation: Evaluation, checks: Sequence[CheckResult], values: _ValueExplainer
) -> Iterator[Explanation]:
    """Yield which results are wrong, if other results of the same run are always right.

    Nothing is certain if a run raised, because later results are unknown, or if a result follows
    from an input that the submission has changed.
    """
    failing = values.failing
    for observation in failing:
        if observation.raised_type or values.is_spoiled(observation):
            return
    wrong = list(dict.fromkeys(observation.result for observation in failing))
    passed = {check.id for check in checks if check.verdict is Verdict.PASS}
    tried = [observation.result for observation in values.own]
    for check in evaluation.checks:
        if check.id in passed:
            tried += check.compared_results
    of_same_runs: set[str] = set()
    for observation in failing:
        of_same_runs.update(compared_results_of_run(evaluation, observation.run))
    right = [name for name in dict.fromkeys(tried) if name in of_same_runs and name not in wrong]
    if wrong and right:
        wrong_names = join_words(wrong, MAX_LISTED_NAMES)
        right_names = join_words(right, MAX_LISTED_NAMES)
        text = (
            f"Only {wrong_names} {_are(wrong)} wrong; "
            f"{right_names} {_are(right)} right in every case that was tried."
        )
        cases = tuple(dict.fromkeys(observation.case for observation in failing))
        yield Explanation("results", text, cases)


# -- rules and classes of wrong values ------------------------------------------------------------


class _ValueExplainer:
    """Explains wrong values: finds statements on the question's cases, tries them on extra ones."""

    def __init__(self, failure: Failure, failed: Sequence[CheckResult]) -> None:
        self.failure = failure
        self.evaluation = failure.submission_evaluation
        self.compared = compared_cases_by_result(self.evaluation)
        specs = {check.id: check for check in self.evaluation.question.spec.checks}
        run_results: dict[RunResult, None] = {}
        for check in failed:
            spec = specs[check.id]
            for result in spec.compared_results:
                if (spec.run, result) in self.compared:
                    run_results[spec.run, result] = None
        self.run_results = list(run_results)  # that the failed checks compare
        self.own: list[Observation] = []  # on the question's cases

    def observe(self) -> None:
        """Observe the submission's results on the question's own cases."""
        self.own = observe_results(self.evaluation, self.compared, self.run_results)

    @property
    def failing(self) -> list[Observation]:
        """The wrong results on the question's own cases."""
        return [observation for observation in self.own if not observation.is_right]

    def explanations(self, matches: Sequence[IdeaMatch]) -> Iterator[Explanation]:
        """Yield explanations of the wrong results that no exact match explains."""
        explained = {result for idea in matches if idea.exact for result in idea.results}
        for observation in self.failing:
            explained |= self._spoiled_results(observation.run, observation.case)
        by_result: dict[str, ResultObservations] = {}
        for observation in self.own:
            if observation.result not in explained:
                for item in observation.split_items():
                    result = by_result.setdefault(item.result, ResultObservations(item.result))
                    result.observations.append(item)
        failing = [result for result in by_result.values() if result.failing_observations]
        proposed = {result.result: result.proposed_rules() for result in failing}
        runs: set[str] = set()
        for result in failing:
            if any(proposed[result.result].values()) or result.may_be_separable():
                runs.update(observation.run for observation in result.observations)
        self._observe_extra_cases(runs, by_result)
        statements: list[Statement] = []
        for result in failing:
            statements += make_statements(result, proposed[result.result])

        strong = {statement.result for statement in statements if not statement.is_weak}
        with _until_interrupted(), contextlib.suppress(*UNUSABLE_VALUE_ERRORS):
            weak = [result for result in failing if result.result not in strong]
            alternatives = self._alternative_rules(weak)
            more_runs = {o.run for result, _ in alternatives for o in result.failing_observations}
            self._observe_extra_cases(more_runs - runs, by_result)
            for result, rules in alternatives:
                better = list(make_statements(result, {"any": rules, "values": rules}))
                if better:
                    statements = [s for s in statements if s.result != result.result] + better
        yield from to_explanations(sorted(statements, key=lambda statement: not statement.is_rule))

    def _alternative_rules(
        self, results: Sequence[ResultObservations]
    ) -> list[tuple[ResultObservations, list[Rule]]]:
        """Return rules that a result is that of an idea, or the right one for other inputs."""
        if self.evaluation.bank is None or not results:
            return []
        alternatives = AlternativeInputs(
            question_cases=self.evaluation,
            extra_cases=extra_cases(self.evaluation).evaluation,
            ideas=suspected_programs(self.failure),
        )
        with_rules = []
        for result in results:
            failing = [o for o in result.failing_observations if o.failure_kind == "values"]
            rules = alternatives.matching_rules(failing) if failing else []
            if rules:
                with_rules.append((result, rules))
        return with_rules

    def is_spoiled(self, observation: Observation) -> bool:
        """Return True if a result follows from an input that the submission has changed."""
        return observation.result in self._spoiled_results(observation.run, observation.case)

    def _spoiled_results(self, run: str, case: str) -> set[str]:
        """Return the results that follow from an input that the submission has changed."""
        try:
            outcome = self.evaluation.subject_outcome(run, self.evaluation.cases[case])
        except ProgramError:
            return set()
        steps = self.evaluation.steps(run)
        spoiled: set[str] = set()
        for index, name in outcome.changed:
            for step in steps[index + 1 :]:
                if name in step.names_read or not spoiled.isdisjoint(step.names_read):
                    spoiled.update(step.targets)
        return spoiled

    def _observe_extra_cases(
        self, runs: set[str], by_result: Mapping[str, ResultObservations]
    ) -> None:
        """Add observations of the submission on extra cases of some runs."""
        if not runs or self.evaluation.bank is None:
            return
        extra = extra_cases(self.evaluation)
        program = replace(self.evaluation.subject, call_seconds=EXTRA_CALL_SECONDS)
        submission = extra.evaluation.with_subject(program, EXTRA_SEED)
        submission.reference = self.evaluation.reference
        observations: list[Observation] = []
        for run in sorted(runs):
            run_results = [run_result for run_result in self.run_results if run_result[0] == run]
            cases = extra.made_for(run, self._extra_counts(run))
            submission.prefetch([program], run, [case for case, _ in cases])
            observations += observe_results(submission, self.compared, run_results, cases)

            # A statement about a result must also hold on the cases of all other checks.
            compared = [set(self.compared[run_result]) for run_result in run_results]
            others = extra.cases_of_other_checks(run, set.intersection(*compared))
            submission.prefetch([program], run, [case for case, _ in others])
            not_compared = {
                run_result: {
                    name: Strictness()
                    for _, name in others
                    if name not in self.compared[run_result]
                }
                for run_result in run_results
            }
            observations += observe_results(submission, not_compared, run_results, others)
        for observation in observations:
            for item in observation.split_items():
                if item.result in by_result:
                    by_result[item.result].observations.append(item)

    def _extra_counts(self, run: str) -> dict[str, int]:
        """Return how many extra inputs to make from each case; more from failing cases."""
        of_run = [observation for observation in self.own if observation.run == run]
        failing = dict.fromkeys(o.origin for o in of_run if not o.is_right)
        others = dict.fromkeys(o.origin for o in of_run if o.origin not in failing)
        counts = _share_evenly(failing, EXTRA_PER_FAILING_CASE, MAX_EXTRA_FROM_FAILING)
        return counts | _share_evenly(others, EXTRA_PER_OTHER_CASE, MAX_EXTRA_FROM_OTHERS)


def _share_evenly(names: Collection[str], max_each: int, max_total: int) -> dict[str, int]:
    """Return one count for all names: `max_each`, or an even share of `max_total` if less."""
    return {name: max(1, min(max_each, max_total // len(names))) for name in names}


@dataclass
class ResultObservations:
    """All observations of one result, "grad_x", or of one item of it, "mixed['weights']"."""

    result: str
    observations: list[Observation] = field(default_factory=list)

    @property
    def failing_observations(self) -> list[Observation]:
        """The observations of a wrong result."""
        return [observation for observation in self.observations if not observation.is_right]

    @property
    def right_observations(self) -> list[Observation]:
        """The observations of a right result."""
        return [observation for observation in self.observations if observation.is_right]

    def may_be_separable(self) -> bool:
        """Return True if more cases may show a property that only failing ones have."""
        return may_be_separable(self.failing_observations, self.right_observations)

    def failures_by_kind(self) -> dict[str, list[Observation]]:
        """Return the failing observations by kind of failure; "any" has all that did not raise."""
        failing = self.failing_observations
        by_kind = {"any": [observation for observation in failing if not observation.raised_type]}
        for observation in failing:
            by_kind.setdefault(observation.failure_kind, []).append(observation)
        return by_kind

    def proposed_rules(self) -> dict[str, list[Rule]]:
        """Return the rules that hold on all failures of a kind."""
        by_kind = self.failures_by_kind()
        by_kind.pop("raised", None)
        return {kind: propose_rules(observations) for kind, observations in by_kind.items()}


class Scope(Enum):
    """The cases on which a statement is true."""

    ANY_CASE = "any"
    SEPARATED_CASES = "separated"  # the cases with the separating property
    FAILING_CASES = "failing"  # on other cases the statement may be false


@dataclass(frozen=True)
class Statement:
    """A statement about one result."""

    is_rule: bool  # if False, it only says on which cases the result is wrong
    result: str
    text: str  # what follows the name of the result
    cases: tuple[str, ...]
    is_weak: bool = False  # it only says where the wrong entries are, or what their sum is
    scope: Scope = Scope.ANY_CASE
    raises: bool = False  # the text says that the code raises


def make_statements(
    result: ResultObservations, proposed: Mapping[str, Sequence[Rule]]
) -> Iterator[Statement]:
    """Yield at most one statement for each kind of failure of a result.

    Args:
        result: All observations, on the question's cases and on extra ones.
        proposed: By kind of failure, the rules that hold on the question's cases.
    """
    failing = result.failing_observations
    is_rounding = all(not o.raised_type and is_right_to_digits(o, 5) for o in failing)
    separating = ""
    if not is_rounding:
        separating = separating_properties(failing, result.right_observations)
    has_rule = False
    for kind, observations in result.failures_by_kind().items():
        statement = _rule_statement(result, observations, proposed.get(kind, ()), separating)
        if statement is not None:
            has_rule = True
            yield statement
            if kind == "any":
                break
    if separating and not has_rule:
        yield _class_statement(result, separating)


def _class_statement(result: ResultObservations, separating: str) -> Statement:
    """Return the statement that a result is wrong in exactly the cases with a property."""
    failing = result.failing_observations
    raised_types = {observation.raised_type for observation in failing}
    raised_type = raised_types.pop()
    # A text with spaces is no type: it says that the returned value cannot be used.
    raises = not raised_types and raised_type.isidentifier()
    verb = f"raises {raised_type}" if raises else "is wrong"
    return Statement(
        is_rule=False,
        result=result.result,
        text=f"{verb} where {separating}, and in no other case that was tried",
        cases=tuple(dict.fromkeys(case for _, case in _own_cases(failing))),
        raises=raises,
    )


def _own_cases(observations: Sequence[Observation]) -> dict[tuple[str, str], None]:
    """Return the question's cases among some observations, each with its run."""
    return dict.fromkeys((o.run, o.case) for o in observations if o.is_own_case)


def _rule_statement(
    result: ResultObservations,
    observations: Sequence[Observation],
    proposed: Sequence[Rule],
    separating: str,
) -> Statement | None:
    """Return the statement of the rule that says most about some failures; None if no rule holds.

    Args:
        result: All observations.
        observations: The failures of one kind.
        proposed: The rules that hold on these failures, as far as they are in the question's cases.
        separating: The property that only failing cases have; empty if there is none.
    """
    failing = result.failing_observations
    own_cases = _own_cases(observations)
    if not own_cases:
        return None
    cases = tuple(dict.fromkeys(case for _, case in own_cases))
    rules = [rule for rule in proposed if len(cases) >= rule.min_failing_cases]
    rules = confirmed_rules(rules_holding_on(rules, observations), observations)
    if len(observations) < len(failing):
        separating = ""
    choice = _choose_rule(rules, observations, result.right_observations, separating)
    if choice is None:
        return None
    rule, scope = choice
    if rule.rank >= WEAK_RANK and any(observation.raised_type for observation in failing):
        return None  # if other cases raise, a pattern in the rest may be chance
    text = rule.text
    if scope is Scope.SEPARATED_CASES:
        text += f" where {separating}, and is right in every other case that was tried"
    is_untested = scope is Scope.ANY_CASE and rule.contradicts_right_result is None
    if (is_untested or scope is Scope.FAILING_CASES) and len({o.origin for o in observations}) == 1:
        # A pattern in one case need not hold on others.
        text += f" in case {observations[0].origin}"
        scope = Scope.ANY_CASE
    elif len(own_cases) < len(_own_cases(failing)):
        text += f" in {len(own_cases)} of {len(_own_cases(failing))} failing cases"
        scope = Scope.ANY_CASE
    return Statement(
        is_rule=True,
        result=result.result,
        text=text,
        cases=cases,
        is_weak=rule.rank >= PLACE_RANK,
        scope=scope,
    )


def _choose_rule(
    rules: Sequence[Rule],
    failing: Sequence[Observation],
    right: Sequence[Observation],
    separating: str,
) -> tuple[Rule, Scope] | None:
    """Return the rule that says most, and on which cases it is true."""
    for rule in rules:
        refuted = is_refuted(rule, right)
        if rule.contradicts_right_result is not None and not refuted:
            return rule, Scope.ANY_CASE
        if separating and not rule.holds_on_any_cases:
            return rule, Scope.SEPARATED_CASES
        if rule.is_about_wrong_entries or not right:
            return rule, Scope.ANY_CASE
        if not refuted or (is_beyond_chance(failing) and not rule.is_one_of_many):
            return rule, Scope.FAILING_CASES
    return None


def to_explanations(statements: Sequence[Statement]) -> Iterator[Explanation]:
    """Yield one explanation for each text; it names all results of which the text is true."""
    groups: dict[tuple[str, bool], list[Statement]] = {}
    for statement in statements:
        key = (statement.text, statement.scope is Scope.FAILING_CASES)
        groups.setdefault(key, []).append(statement)
    for group in groups.values():
        names = list(dict.fromkeys(statement.result for statement in group))
        cases = tuple(dict.fromkeys(case for statement in group for case in statement.cases))
        kind = "rule" if group[0].is_rule else "class"
        yield Explanation(kind, _sentence(names, group[0]), cases)  # type: ignore[arg-type]
        if group[0].raises:
            return  # the exception also explains why later results are missing


def _sentence(names: Sequence[str], statement: Statement) -> str:
    """Return one sentence about the results of which a statement is true."""
    text = statement.text
    if statement.raises:
        return f"Your code {text}."
    subject = join_words(names, MAX_LISTED_NAMES)
    if statement.scope is Scope.FAILING_CASES:
        pronoun = "it" if len(names) == 1 else "each"
        return f"Wherever {subject} {_are(names)} wrong, {pronoun} {text}."
    return f"{subject} {text}." if len(names) == 1 else f"Of {subject}, each {text}."
