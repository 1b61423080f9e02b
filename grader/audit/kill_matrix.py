"""The kill matrix: the result of every check on every program, and the problems that it shows.

The programs are the *reference*, the *starter* and every *variant* of every idea.  A check *stops*
or *kills* a program that does not pass it.  The spec *claims* kills: `killed_by` names the checks
that should stop an idea.  A problem is a sentence with the seeds that show it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Self

from grader import forms
from grader.bank.idea_cells import definitions
from grader.grading.bank_errors import line_suffix, message_suffix, program_file
from grader.grading.case_by_case import SubmissionStopped
from grader.grading.check_order import CheckSchedule
from grader.grading.evaluation import Evaluation
from grader.grading.kinds.base import CaseTrial
from grader.grading.kinds.registry import kind_of
from grader.grading.submission import missing_functions
from grader.model.audit import AuditRow, Budget, MatrixCell, Remark
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.report import CheckResult, ExceptionRecord, Verdict
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError

KILLING_CELLS = {MatrixCell.KILLS, MatrixCell.WOULD_KILL}  # the check fails on every seed
STOPPING_CELLS = {*KILLING_CELLS, MatrixCell.VARIES}
SeedProblem = tuple[int, str, str]  # a seed, and a sentence in two halves: the seeds go between
MORE_DRAWS_ADVICE = "give the case more draws, or numbers that are written out"
MAX_LISTED_SEEDS = 8

# Feedback with one of these words says that code with the idea raises an exception.
_RAISING_WORDS = r"\brais(?:e|es|ed|ing)\b|\bexceptions?\b|\bcrash(?:es|ed)?\b"


# -- audited programs and their results -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeedResult:
    """Results of a program on one seed."""

    seed: int
    results: Mapping[str, CheckResult]  # by check; every check has run
    graded_results: Mapping[str, CheckResult]  # by check; a grade skips some of them
    named_ideas: frozenset[str]
    raised: ExceptionRecord | None  # if the program raises on every case that it fails
    budget_shares: Mapping[str, float]  # by check; 1 is the whole budget

    @property
    def failing_results(self) -> list[CheckResult]:
        """Results that keep the program from passing."""
        return required_failures(self.results.values())


def required_failures(results: Iterable[CheckResult]) -> list[CheckResult]:
    """Return the results of required checks that fail."""
    return [result for result in results if result.fails and not result.stretch]


@dataclass(slots=True)
class AuditedProgram:
    """One program of the matrix, with its results so far."""

    name: str
    sources: Sequence[bytes]
    file: str  # its path in the bank, for messages
    expected_ideas: set[str] = field(default_factory=set)  # that diagnosis should name
    misconception: str | None = None  # the idea of a variant
    killers: tuple[str, ...] = ()  # checks that the spec claims stop it
    seed_results: list[SeedResult] = field(default_factory=list)
    parts: int | None = None  # it must define the functions of the first parts (default: all)

    @property
    def named_ideas(self) -> frozenset[str]:
        """Ideas that diagnosis named on every seed."""
        return frozenset.intersection(*(result.named_ideas for result in self.seed_results))

    @property
    def passing_seeds(self) -> list[int]:
        """Seeds on which it passes every required check."""
        return [result.seed for result in self.seed_results if not result.failing_results]

    @property
    def passes(self) -> bool:
        """True if it passes every required check on every seed."""
        return len(self.passing_seeds) == len(self.seed_results)

    def row(self, checks: Sequence[str]) -> AuditRow:
        """Return the row of the program in the matrix: a cell for each check."""
        cells = {check: self._cell(check) for check in checks}
        passing_seeds = {
            check: tuple(
                result.seed for result in self.seed_results if not result.results[check].fails
            )
            for check, cell in cells.items()
            if cell is MatrixCell.VARIES
        }
        return AuditRow(
            name=self.name,
            misconception=self.misconception,
            cells=cells,
            named=tuple(sorted(self.named_ideas)),
            named_well=sum(
                result.named_ideas == self.expected_ideas for result in self.seed_results
            ),
            seeds=len(self.seed_results),
            claimed_by=self.killers,
            passing_seeds=passing_seeds,
        )

    def _cell(self, check: str) -> MatrixCell:
        """Return the cell for one check, which sums up its verdicts on all seeds."""
        results = [result.results[check] for result in self.seed_results]
        if all(result.verdict is Verdict.SKIPPED for result in results):
            return MatrixCell.NOT_RUN
        if not any(result.fails for result in results):
            return MatrixCell.PASSES
        if not all(result.fails for result in results):
            return MatrixCell.VARIES
        graded = [result.graded_results[check].verdict for result in self.seed_results]
        if all(verdict is Verdict.SKIPPED for verdict in graded):
            return MatrixCell.WOULD_KILL
        return MatrixCell.KILLS


def result_of_check(evaluation: Evaluation, check: Check, *, timed: bool = False) -> CheckResult:
    """Return the result of a check on the submission, even if the check ends its process.

    As in a grade, the submission needs no functions of parts after the check's: `parts_asked` of
    the evaluation becomes the part of the check.  A check that measures time runs only if `timed`:
    timing wrong answers proves nothing and takes long.
    """
    kind = kind_of(check)
    if kind.is_timed and not timed:
        return CheckResult(check.id, check.kind, Verdict.SKIPPED, "not run", stretch=check.stretch)
    question = evaluation.question
    evaluation.parts_asked = question.spec.part_of(check.id)
    submission = evaluation.subject
    called = {name: name for name in question.functions_called_by_runs({check.run})}
    # A stub runs: its author should see the exception that it raises.
    loaded = submission.loaded._replace(stubs=()) if submission.loaded else None
    missing = missing_functions(loaded, called, question, submission.filename)
    if missing is not None:
        return CheckResult(
            check.id, check.kind, missing.verdict, missing.sentence, stretch=check.stretch
        )
    try:
        return kind.run_check(evaluation, check)
    except SubmissionStopped as stop:
        return stop.result


def results_as_graded(
    question: Question, result: Callable[[Check], CheckResult], *, parts: int | None = None
) -> tuple[dict[str, CheckResult], int]:
    """Return the results of checks as in a grade, which skips some, and the last part it asks.

    Args:
        question: its checks run in the order of a grade.
        result: function that returns the result of one check.
        parts: how many parts the program is asked (default: all).
    """
    last_part = parts or len(question.spec.parts)
    schedule = CheckSchedule(question.spec, range(1, last_part + 1))
    results = schedule.results_so_far
    for part, check in schedule.order:
        if part <= last_part:
            check_result = schedule.result_if_skipped(part, check) or result(check)
            results[check.id] = replace(check_result, part=part)
    in_order = {
        check.id: results[check.id] for check in question.spec.checks if check.id in results
    }
    return in_order, schedule.last_asked_part


def budget_shares(evaluation: Evaluation, results: Mapping[str, CheckResult]) -> dict[str, float]:
    """Return, by check, the share of its budget that a program takes in its most expensive case.

    Stretches and checks that measured nothing are left out.
    """
    shares_by_check = {}
    for check in evaluation.question.spec.checks:
        kind = kind_of(check)
        result = results.get(check.id)
        if check.stretch or result is None or not result.figures:
            continue
        with suppress(ProgramError, WorkerError):
            shares = [
                kind.budget_share(CaseTrial(evaluation, check, case))
                for case in evaluation.cases_of(check)
            ]
            measured = [share for share in shares if share is not None]
            if measured:
                shares_by_check[check.id] = max(measured)
    return shares_by_check


def always_raised(
    evaluation: Evaluation, results: Mapping[str, CheckResult]
) -> ExceptionRecord | None:
    """Return the first exception of a program that raises on every case it fails; else None.

    All checks have run before.  Only checks of the parts that the program is asked count.
    """
    failing = [check for check in evaluation.checks if results[check.id].fails]
    for check in failing:
        result = results[check.id]
        raises_everywhere = all(_raises(evaluation, check.run, case) for case in result.failing)
        if result.raised is None or not result.failing or not raises_everywhere:
            return None
    return results[failing[0].id].raised if failing else None


def _raises(evaluation: Evaluation, run: str, case: str) -> bool:
    """Return True if a program raises on a case, for another reason than a lack of memory."""
    try:
        evaluation.subject_outcome(run, evaluation.cases[case])
    except ProgramError as error:
        return error.raised is not None and not error.is_out_of_memory
    except WorkerError:
        pass
    return False


# -- the matrix ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matrix:
    """All programs of a question with their results."""

    question: Question
    seeds: Sequence[int]
    programs: Sequence[AuditedProgram]  # the reference, the starter, then all variants

    @classmethod
    def for_question(cls, question: Question, seeds: Sequence[int]) -> Self:
        """Return the matrix before anything has run."""
        reference = question.reference
        starter = question.starter
        if forms.form_of(question.spec).is_text:
            # A file of answers cannot run: a program that answers nothing takes its place.
            stubs = (f"def {name}(*_, **__):\n    return None\n" for name in question.functions)
            starter = "".join(stubs).encode()
        programs = [
            AuditedProgram("reference", [reference], program_file(question, "reference")),
            AuditedProgram(
                name="starter",
                sources=[starter],
                file=program_file(question, "starter"),
                expected_ideas=set(question.spec.starter_holds),
                parts=1,
            ),
        ]
        for idea, sources in question.variants.items():
            for number, source in enumerate(sources, 1):
                variant = AuditedProgram(
                    name=idea if number == 1 else f"{idea} ({number})",
                    sources=[reference, source],
                    file=program_file(question, idea),
                    expected_ideas={idea},
                    misconception=idea,
                    killers=tuple(question.ideas[idea].killed_by),
                )
                programs.append(variant)
        return cls(question, seeds, programs)

    @property
    def reference(self) -> AuditedProgram:
        """The right program."""
        return self.programs[0]

    @property
    def is_sound(self) -> bool:
        """True if the reference passes; only then the other programs prove anything."""
        return not any(result.failing_results for result in self.reference.seed_results)

    def rows(self) -> list[AuditRow]:
        """Return a row for each program that has run."""
        checks = [check.id for check in self.question.spec.checks]
        return [program.row(checks) for program in self.programs if program.seed_results]

    def count_stopped(self, check: str, after: Collection[str] = ()) -> int:
        """Count the wrong programs that a check stops on some seed and no check in `after` kills.

        Args:
            check: its id.
            after: ids of checks that come before it.
        """
        count = 0
        for row in self.rows():
            stops = row.name != "reference" and row.cells[check] in STOPPING_CELLS
            if stops and not any(row.cells[earlier] in KILLING_CELLS for earlier in after):
                count += 1
        return count

    def count_stopped_first(self, check_id: str) -> int:
        """Count the wrong programs that a check stops and no earlier required check kills."""
        checks = [c.id for c in self.question.spec.checks if not c.stretch or c.id == check_id]
        return self.count_stopped(check_id, checks[: checks.index(check_id)])

    # -- problems

    def problems(self) -> list[str]:
        """Return a sentence on each fault of the question, unless it follows from another one."""
        reference_problems = problem_sentences(self._reference_problems(), len(self.seeds))
        if reference_problems:
            return reference_problems  # compared with a wrong reference, the others prove nothing
        twins = confused_ideas(self.programs)
        problems = [
            f"{' and '.join(ids)} cannot be told apart on any case: add one on which they differ, "
            "or make them variants of one misconception"
            for ids in twins
        ]
        for program in self.programs[1:]:
            passing_seeds = program.passing_seeds
            if passing_seeds and not program.passes:
                stopped = len(self.seeds) - len(passing_seeds)
                problems.append(
                    f"{program.name} is stopped on {stopped} of {len(self.seeds)} seeds, and "
                    f"passes every check on {list_seeds(passing_seeds)}: {MORE_DRAWS_ADVICE}"
                )
            wrong_problems = self._wrong_program_problems(program, twins)
            problems += problem_sentences(wrong_problems, len(program.seed_results))
        problems += self._raising_programs(stubs=False)
        return problems

    def _reference_problems(self) -> Iterator[SeedProblem]:
        """Yield a problem for each required check that the reference does not pass.

        Checks that a grade would skip are left out if another check fails, because they may fail by
        the same fault.
        """
        for seed_result in self.reference.seed_results:
            failing = seed_result.failing_results
            not_skipped = [
                result
                for result in failing
                if seed_result.graded_results[result.id].verdict is not Verdict.SKIPPED
            ]
            for result in not_skipped or failing:
                sentence = failure_message(result, self.reference.file)
                yield seed_result.seed, f"{result.id} stops the reference", f": {sentence}"

    def _wrong_program_problems(
        self, program: AuditedProgram, twins: Iterable[tuple[str, str]]
    ) -> Iterator[SeedProblem]:
        """Yield a problem if a wrong program passes, is not stopped as claimed, or is not named.

        `twins` are pairs of ideas that cannot be told apart: in a program with one of them, the
        other may be named, too.
        """
        partners = {
            other
            for first, second in twins
            for idea, other in ((first, second), (second, first))
            if idea in program.expected_ideas
        }
        # A grade does not look for an idea before the part of its first killer.
        idea_part = self.question.spec.part_of(program.killers[0]) if program.killers else 1
        for seed_result in program.seed_results:
            graded_failures = required_failures(seed_result.graded_results.values())
            if not seed_result.failing_results:
                if program.passes:
                    sentence = f"{program.name} passes every check"
                    yield seed_result.seed, sentence, _why_passing(program)
                results = seed_result.results
                if not any(results[killer].fails for killer in program.killers):
                    continue  # wrong claims and a missing name only follow from this
            elif program.misconception is None and all(r.part > 1 for r in graded_failures):
                sentence = f"{program.name} passes part 1"
                yield seed_result.seed, sentence, ", in which it has to fail"
            yield from self._wrong_claims(program, seed_result, idea_part)
            if all(result.part >= idea_part for result in graded_failures):
                yield from _wrong_names(program, seed_result, partners)

    def _wrong_claims(
        self, program: AuditedProgram, seed_result: SeedResult, idea_part: int
    ) -> Iterator[SeedProblem]:
        """Yield a problem for each check of `killed_by` that does not stop a program on one seed.

        In parts up to `idea_part`, the check must fail in a grade, which skips some checks.  In
        later parts, it is enough that it fails when no check is skipped.
        """
        for killer in program.killers:
            # Nobody with the idea reaches a later part: a grade would skip the checks there.
            is_later = self.question.spec.part_of(killer) > idea_part
            results = seed_result.results if is_later else seed_result.graded_results
            if not results[killer].fails:
                reason, advice = _why_not_killed(seed_result, killer)
                claim = f"{program.name} is said to be killed by {killer}, {reason}"
                yield seed_result.seed, claim, advice

    def idle_checks(self) -> Iterator[str]:
        """Yield a sentence on each required check that stops no wrong program.

        A check of the candidate's tests has wrong implementations as cases (`reject`).  Also yield
        a sentence on each of these cases that no wrong program gets wrong.

        Only programs that reach the part of a check count.  A check is left out if it does not stop
        an idea that claims it: that is a problem already.  A check that varies with style, such as
        of peak memory or of chosen letters, is left out too: diagnosis cannot name ideas by it.
        """
        missing = "it is idle, or a misconception is missing"
        for check in self.question.spec.checks:
            if getattr(check, "reject", None) is None:
                continue  # only a check of the candidate's tests has implementations as cases
            wrong_cases = {
                case
                for program in self.programs[1:]
                for seed_result in program.seed_results
                for case in seed_result.results[check.id].failing
            }
            for case in check.cases:
                if case not in wrong_cases:
                    yield f"{check.id}: no variant gets {case} wrong: {missing}"

        wrongly_claimed = {
            killer
            for row in self.rows()
            for killer in row.claimed_by
            if row.cells[killer] not in STOPPING_CELLS
        }
        earlier: list[str] = []
        for part in self.question.spec.parts:
            required = [check for check in part.checks if not check.stretch]
            for check in required:
                varies_with_style = kind_of(check).varies_with_style(check)
                if check.id in wrongly_claimed or varies_with_style:
                    continue
                if not self.count_stopped(check.id, earlier):
                    yield f"the check {check.id} kills no variant: {missing}"
            earlier += [check.id for check in required]

    # -- budgets and remarks

    def budgets(self, accepted: Mapping[str, Mapping[str, float]]) -> Iterator[Budget]:
        """Yield for each budget which right and which wrong program come nearest to its limit.

        Of the wrong programs, only those above the limit count.  They and the reference are
        measured on the first seed.

        Args:
            accepted: by accepted solution, the share that it takes of each check's budget.
        """
        wrong_programs = {
            program.name: program.seed_results[0].budget_shares
            for program in self.programs
            if program.seed_results
        }
        right_programs = {"reference": wrong_programs.pop("reference", {}), **accepted}
        for check in self.question.spec.checks:
            right = _shares_of_budget(right_programs, check.id)
            above = [pair for pair in _shares_of_budget(wrong_programs, check.id) if pair[0] > 1]
            right_share, right_name = max(right, default=(0.0, ""))
            wrong_share, wrong_name = min(above, default=(0.0, ""))
            if right_share > 0:
                yield Budget(check.id, right_name, right_share, wrong_name, wrong_share)

    def remarks(self) -> Iterator[Remark]:
        """Yield remarks on redundant checks, on ideas without a claim, and on starter stubs."""
        claimed = {killer for program in self.programs for killer in program.killers}
        redundant = [
            check.id
            for check in self.question.spec.checks
            if check.id not in claimed and self._is_redundant(check)
        ]
        if redundant:
            yield Remark(
                "redundant",
                f"{', '.join(redundant)}: no known wrong idea is stopped here first, and none "
                "claims to be (killed_by): write one that nothing else stops",
            )
        unclaimed = [name for name, idea in self.question.ideas.items() if not idea.killed_by]
        if unclaimed:
            yield Remark(
                "unclaimed",
                f"{', '.join(unclaimed)}: no killed_by says which check is about it; "
                "--write-killed-by writes the first that stops it",
            )
        for sentence in self._raising_programs(stubs=True):
            yield Remark("starter", sentence)

    def _is_redundant(self, check: Check) -> bool:
        """Return True if a check stops programs, and earlier required checks kill all of these.

        Laws, stretches and checks that vary with style are never redundant.
        """
        kind = kind_of(check)
        if kind.is_law or check.stretch or kind.varies_with_style(check):
            return False
        return bool(self.count_stopped(check.id)) and not self.count_stopped_first(check.id)

    def _raising_programs(self, *, stubs: bool) -> Iterator[str]:
        """Yield a sentence on each wrong program that raises on all cases it fails, on every seed.

        Programs whose feedback says that they raise are left out.  The matrix does not show this
        fault.  If a name in a variant is misspelled, the variant raises wherever it is called, so
        every check stops it; and diagnosis names it, because it compares the variant with itself.
        A starter should look plausible: anyone who runs it should see wrong values.

        If `stubs`, the only program is a starter that raises NotImplementedError, which is allowed.
        Otherwise this starter is left out.
        """
        for program in self.programs:
            raised = program.seed_results[0].raised if program.seed_results else None
            if raised is None or any(result.raised is None for result in program.seed_results):
                continue
            is_stub = program.misconception is None and raised.type == "NotImplementedError"
            if is_stub != stubs or self._may_raise(program, raised):
                continue
            advice = (
                "only a submission that raises the same is named: fix it, or say in the feedback "
                "that it raises"
            )
            if program.misconception is None:
                advice = "a starter runs, looks plausible and fails by its values"
            yield (
                f"{program.name} raises {raised.type}{_place_of(raised, program)} on every case "
                f"that it fails{message_suffix(raised)}; {advice}"
            )

    def _may_raise(self, program: AuditedProgram, raised: ExceptionRecord) -> bool:
        """Return True if a program is a starter without answers, or its feedback says it raises."""
        if program.name == "starter" and forms.form_of(self.question.spec).is_text:
            return True
        ideas = self.question.ideas
        names = program.expected_ideas & ideas.keys()
        feedback = " ".join(ideas[name].feedback for name in names)
        words = rf"{_RAISING_WORDS}|\b{re.escape(raised.type)}\b"
        return re.search(words, feedback, re.IGNORECASE) is not None


def confused_ideas(programs: Iterable[AuditedProgram]) -> list[tuple[str, str]]:
    """Return pairs of ideas that are both named, on every seed, in a variant of one of them."""
    pairs = set()
    for program in programs:
        idea = program.misconception
        if idea not in program.named_ideas:
            continue
        for other in program.named_ideas - {idea}:
            pairs.add((min(idea, other), max(idea, other)))
    return sorted(pairs)


def _wrong_names(
    program: AuditedProgram, seed_result: SeedResult, partners: Collection[str]
) -> Iterator[SeedProblem]:
    """Yield a problem if diagnosis does not name exactly the ideas of a program.

    Its `partners`, which cannot be told apart from its ideas, are ignored.  There is no problem if
    no idea is expected, because a spec need not say which ideas the starter has.
    """
    expected = program.expected_ideas.difference(partners)
    if not program.expected_ideas or seed_result.named_ideas.difference(partners) == expected:
        return
    named = ", ".join(sorted(seed_result.named_ideas)) or "nothing"
    all_expected = ", ".join(sorted(program.expected_ideas))
    yield seed_result.seed, f"{program.name} is diagnosed as {named}", f", expected {all_expected}"


def _why_passing(program: AuditedProgram) -> str:
    """Return the likely reason why a variant passes; "" for the starter.

    It may define only names that the reference has not, be a copy, or need other cases.
    """
    if program.misconception is None:
        return ""
    reference, variant = (definitions(source) for source in program.sources[:2])
    if not variant:
        return ""
    changed = [name for name in variant if not same_code(variant[name], reference.get(name, []))]
    if changed and reference.keys().isdisjoint(changed):
        suggestion = did_you_mean(changed[-1], reference)
        return f": it defines {', '.join(changed)}, which the reference has not{suggestion}"
    first_name = [*changed, *variant][0]
    line = variant[first_name][0].lineno
    place = f"{program.file}:{line}" if program.file else f"line {line}"
    if not changed:
        return f": {place} equals the reference"
    return f": {place} gives the reference's results on every case; change it, or add a case"


def same_code(statements: Iterable[ast.stmt], others: Iterable[ast.stmt]) -> bool:
    """Return True if statements differ only in comments and layout."""
    return [ast.dump(node) for node in statements] == [ast.dump(node) for node in others]


def _why_not_killed(seed_result: SeedResult, killer: str) -> tuple[str, str]:
    """Return why a check does not kill a program although the spec says so, and a fix or ""."""
    graded = seed_result.graded_results
    root = graded[killer]
    while root.blocked_by is not None:
        root = graded[root.blocked_by]
    if root.verdict is Verdict.SKIPPED:
        return f"but {root.id} is run on the reference only", ": claim another check"
    if root.id == killer:
        reason = "which it passes" if root.verdict is Verdict.PASS else "which decides nothing"
        return reason, ""

    part = graded[killer].part
    if root.part < part:
        blocker = f"{root.id} of part {root.part}"
        advice = f"an idea of part {part} passes the parts before"
    else:
        blocker = f"{root.id}, which {killer} needs,"
        advice = f"use cases on which it passes {root.id}"
    if not seed_result.results[killer].fails:
        return f"which it passes, and {blocker} stops it", f": claim {root.id}"
    return f"but {blocker} stops it first", f": {advice}, or claim {root.id}"


def _shares_of_budget(
    programs: Mapping[str, Mapping[str, float]], check: str
) -> list[tuple[float, str]]:
    """Return (share, name) for each program whose share of a check's budget is known."""
    return [(shares[check], name) for name, shares in programs.items() if check in shares]


def _place_of(raised: ExceptionRecord, program: AuditedProgram) -> str:
    """Return where a program raises, such as ` in forward, FILE:12,`; empty if unknown."""
    if not raised.frames:
        return ""
    frame = raised.frames[-1]
    # Of two layers, the upper one has the functions that it defines.
    if program.file and frame.function in definitions(program.sources[-1]):
        return f" in {frame.function}, {program.file}:{frame.line},"
    return f" in {frame.function}, line {frame.line},"


# -- sentences ------------------------------------------------------------------------------------


def problem_sentences(problems: Iterable[SeedProblem], seeds: int) -> list[str]:
    """Return a sentence for all problems with the same first half; it lists their seeds.

    Its second half is that of the first of them.  `seeds` is the number of seeds that were tried.
    """
    grouped: dict[str, tuple[str, list[int]]] = {}
    for seed, before, after in problems:
        _, showing = grouped.setdefault(before, (after, []))
        showing.append(seed)
    sentences = []
    for before, (after, showing) in grouped.items():
        extent = f" on all {seeds} seeds" if seeds > 1 else ""
        if len(showing) != seeds:
            extent = f" on {list_seeds(showing)} of {seeds}"
        sentences.append(f"{before}{extent}{after}")
    return sentences


def failure_message(result: CheckResult, file: str = "") -> str:
    """Return the message of a result, reworded for the question's author ("your" is "its").

    If the program's `file` is given and it raised, the exception and its line in the file follow.
    """
    message = re.sub(r"\byour\b", "its", re.sub(r"\byour code\b", "it", result.message))
    if result.raised is None or not file:
        return message
    return message + message_suffix(result.raised) + line_suffix(result.raised, file)


def list_seeds(seeds: Sequence[int]) -> str:
    """Return seeds as text, such as `seeds 0, 2`; from the ninth on, only `and 5 more`."""
    word = "seeds" if len(seeds) > 1 else "seed"
    text = f"{word} {', '.join(str(seed) for seed in seeds[:MAX_LISTED_SEEDS])}"
    if len(seeds) > MAX_LISTED_SEEDS:
        text += f" and {len(seeds) - MAX_LISTED_SEEDS} more"
    return text
