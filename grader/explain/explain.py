"""Explain why a submission is wrong: everything that is certainly true, the most certain first.

In this order:

1. State: the submission remembers something between calls.  Then nothing else is tried, because
   comparing values is worthless.
2. Ideas, which are known mistakes with feedback: one, or two together, give the same results.
3. Statements: a rule that wrong results follow ("dx is half the right one"), or the cases on which
   they are wrong ("y is wrong where n is above 1").
4. If nothing of this is found: which results are wrong while others are right.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from grader.explain.alternative_inputs import AlternativeInputs
from grader.explain.case_patterns import may_be_separable, separating_properties
from grader.explain.components import FAILED_VERDICTS, FailedGrade
from grader.explain.extra_cases import EXTRA_SEED, extra_cases, share_evenly
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
MAX_EXPLANATIONS = 5  # in one report
MAX_RERUN = 12  # cases that run again without earlier calls
MAX_LISTED_NAMES = 4  # results that one sentence lists

# Extra inputs of one run.
EXTRA_PER_FAILING_CASE = 8
EXTRA_PER_OTHER_CASE = 3
MAX_EXTRA_FROM_FAILING = 48
MAX_EXTRA_FROM_OTHERS = 40


def explain_report(evaluation: Evaluation, report: Report) -> Report:
    """Return a failing report with the ideas and up to five explanations found in time.

    All checks must have run.  The report also gets `outputs`, a digest of its wrong results.

    Raises:
        BankProgramError: a variant cannot be loaded.
    """
    checks = report.checks
    worker = evaluation.subject.worker
    failed = [check for check in checks if check.verdict in FAILED_VERDICTS and not check.stretch]
    grade = FailedGrade(evaluation, checks)
    values = _ValueExplainer(grade, failed)
    report = replace(report, outputs=failure_digest(grade))
    explanations: list[Explanation] = []
    with _until_interrupted():
        if failed and worker.failure is None:
            values.observe()
            explanations += _explain_state(evaluation, values.failing)
    if explanations:
        return replace(report, explanations=tuple(explanations))

    diagnosis = Diagnosis()
    try:
        diagnosis = diagnose(grade)
    except OutOfTime:
        report = replace(report, note=NO_TIME_NOTE)
    matches: Sequence[IdeaMatch] = diagnosis.matches
    with _until_interrupted():
        if values.own and worker.failure is None:
            explanations.extend(values.explanations(matches))

    is_explained = diagnosis.compares_in_float32 or _explain_all_cases(matches)
    if not report.note and not is_explained and evaluation.question.variants:
        with _until_interrupted():
            if pair := find_pair(grade):
                entries, explanation = pair
                explanations.insert(0, explanation)
                alone = {idea.id: idea for idea in matches}
                matches = [alone.get(idea.id, idea) for idea in entries]

    if not explanations and not matches and values.own:
        with _until_interrupted():
            explanations += _explain_wrong_results(evaluation, checks, values)
    shown_case = _shown_case(checks)
    # An idea that explains the shown case comes first.
    order = sorted(matches, key=lambda idea: (not idea.exact, shown_case not in idea.seen))
    return replace(
        report, misconceptions=tuple(order), explanations=tuple(explanations[:MAX_EXPLANATIONS])
    )


def _until_interrupted() -> contextlib.AbstractContextManager[None]:
    """Return a context that ends quietly if a process ends, time is over, or the bank fails."""
    return contextlib.suppress(WorkerError, OutOfTime, BankProgramError)


def _explain_all_cases(matches: Sequence[IdeaMatch]) -> bool:
    """Return True if exact matches, alone or together, explain every failing case."""
    exact = [idea for idea in matches if idea.exact]
    explained = {case for idea in exact for case in idea.seen}
    return any(max(idea.cases, len(explained)) >= idea.failing for idea in exact)


def _shown_case(checks: Sequence[CheckResult]) -> str:
    """Return the case that the report shows, the first of the first failing check; or ""."""
    required = [check for check in checks if not check.stretch]
    failing = [c.failing for c in required if c.verdict not in NON_FAILING_VERDICTS]
    return next((cases[0] for cases in failing if cases), "")


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
    where = format_count(len(cases), "failing case")
    if len(cases) == len({observation.case for observation in failing}):
        where = "the failing case" if len(cases) == 1 else "every failing case"
    text = (
        f"{' and '.join(names)} {_are(names)} right on {where} when nothing "
        "was called before: your code remembers something from one call to the next."
    )
    yield Explanation(STATE, text, cases)


def _explain_wrong_results(
    evaluation: Evaluation, checks: Sequence[CheckResult], values: _ValueExplainer
) -> Iterator[Explanation]:
    """Yield an explanation such as "Only dx is wrong; y is right in every case that was tried.".

    Yield none if a failing run raised, because its later results are unknown, or if a wrong result
    follows from an input that the submission has changed.
    """
    failing = values.failing
    for observation in failing:
        spoiled = values.spoiled_results(observation.run, observation.case)
        if observation.raised_type or observation.result in spoiled:
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


# -- statements about wrong values ----------------------------------------------------------------


class _ValueExplainer:
    """Explains wrong values: finds statements on the question's cases, tries them on extra ones."""

    def __init__(self, grade: FailedGrade, failed: Sequence[CheckResult]) -> None:
        self.grade = grade
        self.evaluation = grade.submission_evaluation
        self.compared = compared_cases_by_result(self.evaluation)
        failed_ids = {check.id for check in failed}
        run_results: list[RunResult] = []
        for check in self.evaluation.checks:
            if check.id in failed_ids:
                run_results += [(check.run, result) for result in check.compared_results]
        # The results that the failed checks compare.
        self.run_results = [key for key in dict.fromkeys(run_results) if key in self.compared]
        self.own: list[Observation] = []  # on the question's cases

    def observe(self) -> None:
        """Fill `own` with the submission's results on the question's own cases."""
        cases = self.evaluation.cases.values()
        self.own = observe_results(self.evaluation, self.compared, self.run_results, cases, {})

    @property
    def failing(self) -> list[Observation]:
        """The wrong results on the question's own cases."""
        return [observation for observation in self.own if not observation.is_right]

    def explanations(self, matches: Sequence[IdeaMatch]) -> Iterator[Explanation]:
        """Yield explanations of wrong results, except those that an exact match explains.

        Results that follow from an input that the submission has changed are left out as well.
        """
        explained = {result for idea in matches if idea.exact for result in idea.results}
        for observation in self.failing:
            explained |= self.spoiled_results(observation.run, observation.case)
        by_result: dict[str, ResultObservations] = {}
        for observation in self.own:
            if observation.result not in explained:
                for item in observation.split_items():
                    by_result.setdefault(item.result, ResultObservations(item.result)).add(item)
        failing = [result for result in by_result.values() if result.failing]
        runs: set[str] = set()
        proposed: dict[str, dict[str, list[Rule]]] = {}
        for result in failing:
            by_kind = result.failures_by_kind()
            rules_by_kind = {kind: propose_rules(failures) for kind, failures in by_kind.items()}
            proposed[result.result] = rules_by_kind
            if any(rules_by_kind.values()) or may_be_separable(result.failing, result.right):
                runs.update(observation.run for observation in result.failing + result.right)
        self._observe_extra_cases(runs, by_result)
        statements: list[Statement] = []
        for result in failing:
            statements += make_statements(result, proposed[result.result])

        strong = {statement.result for statement in statements if not statement.is_weak}
        with _until_interrupted(), contextlib.suppress(*UNUSABLE_VALUE_ERRORS):
            weak = [result for result in failing if result.result not in strong]
            alternatives = self._alternative_rules(weak)
            more_runs = {o.run for result, _ in alternatives for o in result.failing}
            self._observe_extra_cases(more_runs - runs, by_result)
            for result, rules in alternatives:
                better = list(make_statements(result, {"any": rules, "values": rules}))
                if better:
                    statements = [s for s in statements if s.result != result.result] + better
        yield from to_explanations(sorted(statements, key=lambda statement: not statement.is_rule))

    def _alternative_rules(
        self, results: Sequence[ResultObservations]
    ) -> list[tuple[ResultObservations, list[Rule]]]:
        """Return those of the results for which `AlternativeInputs` finds rules, with the rules.

        A rule is "is what would be right with n + 1 in place of n", or names an idea.
        """
        if not results:
            return []
        alternatives = AlternativeInputs(
            question_cases=self.evaluation,
            extra_cases=extra_cases(self.evaluation).evaluation,
            ideas=suspected_programs(self.grade),
        )
        with_rules = []
        for result in results:
            failing = result.failures_by_kind().get("values")
            rules = alternatives.matching_rules(failing) if failing else []
            if rules:
                with_rules.append((result, rules))
        return with_rules

    def spoiled_results(self, run: str, case: str) -> set[str]:
        """Return the results that follow from an input that the submission changed in place."""
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
        """Run the submission on extra cases of `runs`, and add what is observed to `by_result`."""
        if not runs:
            return
        extra = extra_cases(self.evaluation)
        program = replace(self.evaluation.subject, call_seconds=EXTRA_CALL_SECONDS)
        submission = extra.evaluation.with_subject(program, EXTRA_SEED)
        submission.reference = self.evaluation.reference
        observations: list[Observation] = []
        for run in sorted(runs):
            run_results = [run_result for run_result in self.run_results if run_result[0] == run]
            cases = extra.made_for(run, self._extra_counts(run))
            submission.prefetch([program], run, cases)
            observations += observe_results(
                submission, self.compared, run_results, cases, extra.origins
            )
            # A statement about a result must also hold on the cases of all other checks.
            compared = [set(self.compared[run_result]) for run_result in run_results]
            others = extra.cases_of_other_checks(run, set.intersection(*compared))
            submission.prefetch([program], run, others)
            names = {extra.origins[case.name] for case in others}
            not_compared = {
                run_result: dict.fromkeys(names - self.compared[run_result].keys(), Strictness())
                for run_result in run_results
            }
            observations += observe_results(
                submission, not_compared, run_results, others, extra.origins
            )
        for observation in observations:
            for item in observation.split_items():
                if item.result in by_result:
                    by_result[item.result].add(item)

    def _extra_counts(self, run: str) -> dict[str, int]:
        """Return how many extra inputs to make from each case of a run; more from failing cases."""
        of_run = [observation for observation in self.own if observation.run == run]
        failing = dict.fromkeys(o.origin for o in of_run if not o.is_right)
        others = dict.fromkeys(o.origin for o in of_run if o.origin not in failing)
        counts = share_evenly(failing, EXTRA_PER_FAILING_CASE, MAX_EXTRA_FROM_FAILING)
        return counts | share_evenly(others, EXTRA_PER_OTHER_CASE, MAX_EXTRA_FROM_OTHERS)


@dataclass
class ResultObservations:
    """All observations of one result, "grad_x", or of one item of it, "mixed['weights']"."""

    result: str
    failing: list[Observation] = field(default_factory=list)
    right: list[Observation] = field(default_factory=list)

    def add(self, observation: Observation) -> None:
        """Add one observation to the right or the failing ones."""
        (self.right if observation.is_right else self.failing).append(observation)

    def failures_by_kind(self) -> dict[str, list[Observation]]:
        """Return the failing observations that did not raise: all under "any", then by kind."""
        failing = [observation for observation in self.failing if not observation.raised_type]
        by_kind = {"any": failing}
        for observation in failing:
            by_kind.setdefault(observation.failure_kind, []).append(observation)
        return by_kind


class Scope(Enum):
    """The cases on which a statement is true."""

    ANY_CASE = "any"
    SEPARATED_CASES = "separated"  # the cases with the separating property, as "x is empty"
    FAILING_CASES = "failing"  # on other cases the statement may be false


@dataclass(frozen=True)
class Statement:
    """A statement about one result, such as "is half the right one"."""

    is_rule: bool  # if False, it only says on which cases the result is wrong
    result: str
    text: str  # what follows the name of the result
    cases: tuple[str, ...]
    is_weak: bool = False  # it only says where the wrong entries are, or what their sum is
    only_if_wrong: bool = False  # on right cases the text may be false
    raises: bool = False  # the text says that the code raises


def make_statements(
    result: ResultObservations, proposed: Mapping[str, Sequence[Rule]]
) -> Iterator[Statement]:
    """Yield a statement that holds on all failures of a result, or else one for each kind of them.

    A kind is, for example, a wrong shape.  If no rule holds on any kind, the only statement says on
    which cases the result is wrong; there is none if no property separates these cases.

    Args:
        result: All observations, on the question's cases and on extra ones.
        proposed: By kind of failure, the rules that hold on the question's cases.
    """
    separating = ""
    if any(o.raised_type or not is_right_to_digits(o, 5) for o in result.failing):
        separating = separating_properties(result.failing, result.right)
    has_rule = False
    for kind, observations in result.failures_by_kind().items():
        statement = _rule_statement(result, observations, proposed.get(kind, ()), separating)
        if statement is not None:
            has_rule = True
            yield statement
            if kind == "any":
                break
    if separating and not has_rule:
        raised_type, *other_types = {observation.raised_type for observation in result.failing}
        # A text with spaces does not name a type; it says that a returned value is unusable.
        raises = not other_types and raised_type.isidentifier()
        verb = f"raises {raised_type}" if raises else "is wrong"
        yield Statement(
            is_rule=False,
            result=result.result,
            text=f"{verb} where {separating}, and in no other case that was tried",
            cases=tuple(dict.fromkeys(case for _, case in _own_cases(result.failing))),
            raises=raises,
        )


def _own_cases(observations: Sequence[Observation]) -> dict[tuple[str, str], None]:
    """Return each (run, case) of the observations on the question's cases, without extra ones."""
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
        proposed: The rules that hold on these failures in the question's cases.
        separating: The property that only failing cases have; empty if no property is.
    """
    own_cases = _own_cases(observations)
    if not own_cases:
        return None
    cases = tuple(dict.fromkeys(case for _, case in own_cases))
    rules = [rule for rule in proposed if len(cases) >= rule.min_failing_cases]
    rules = confirmed_rules(rules_holding_on(rules, observations), observations)
    if len(observations) < len(result.failing):
        separating = ""
    choice = _choose_rule(rules, observations, result.right, separating)
    if choice is None:
        return None
    rule, scope = choice
    if rule.rank >= WEAK_RANK and any(observation.raised_type for observation in result.failing):
        return None  # if other cases raise, a pattern in the rest may be chance
    text = rule.text
    if scope is Scope.SEPARATED_CASES:
        text += f" where {separating}, and is right in every other case that was tried"
    is_untested = scope is Scope.ANY_CASE and rule.contradicts_right_result is None
    if (is_untested or scope is Scope.FAILING_CASES) and len({o.origin for o in observations}) == 1:
        # A pattern in one case need not hold on others.
        text += f" in case {observations[0].origin}"
        scope = Scope.ANY_CASE
    elif len(own_cases) < (failing := len(_own_cases(result.failing))):
        text += f" in {len(own_cases)} of {failing} failing cases"
        scope = Scope.ANY_CASE
    return Statement(
        is_rule=True,
        result=result.result,
        text=text,
        cases=cases,
        is_weak=rule.rank >= PLACE_RANK,
        only_if_wrong=scope is Scope.FAILING_CASES,
    )


def _choose_rule(
    rules: Sequence[Rule],
    failing: Sequence[Observation],
    right: Sequence[Observation],
    separating: str,
) -> tuple[Rule, Scope] | None:
    """Return the first rule that may be stated, and of which cases; None if no rule may be.

    `rules` hold on all failing cases, the most telling first.  Right cases may refute them.
    """
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
    """Yield one explanation for each text, with the names of all results for which it is true.

    Stop after one that says that the code raises: later results are missing for that reason.
    """
    groups: dict[tuple[str, bool], list[Statement]] = {}
    for statement in statements:
        groups.setdefault((statement.text, statement.only_if_wrong), []).append(statement)
    for group in groups.values():
        names = list(dict.fromkeys(statement.result for statement in group))
        cases = tuple(dict.fromkeys(case for statement in group for case in statement.cases))
        kind = "rule" if group[0].is_rule else "class"
        yield Explanation(kind, _sentence(names, group[0]), cases)  # type: ignore[arg-type]
        if group[0].raises:
            return  # the exception also explains why later results are missing


def _sentence(names: Sequence[str], statement: Statement) -> str:
    """Return one sentence, such as "Of dx and dw, each is half the right one."."""
    text = statement.text
    if statement.raises:
        return f"Your code {text}."
    subject = join_words(names, MAX_LISTED_NAMES)
    if statement.only_if_wrong:
        pronoun = "it" if len(names) == 1 else "each"
        return f"Wherever {subject} {_are(names)} wrong, {pronoun} {text}."
    return f"{subject} {text}." if len(names) == 1 else f"Of {subject}, each {text}."
