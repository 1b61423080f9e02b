"""Audit a question: right programs pass, wrong ones do not, and every wrong idea is named.

Every program goes through every check, even if a grade would skip the check.  This shows which
programs each check stops.  The audit then works out which checks a grade would have skipped.
"""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from grader.audit.accepted_and_trivial import (
    check_accepted_solutions,
    check_repair,
    check_restyled_reference,
    try_trivial_answers,
)
from grader.audit.forgeable_parts import forgeable_parts
from grader.audit.kill_matrix import (
    AuditedProgram,
    Matrix,
    SeedResult,
    always_raised,
    budget_shares,
    result_of_check,
    results_as_graded,
)
from grader.audit.mutant_trials import try_mutants
from grader.audit.planted_ideas import plant_ideas
from grader.audit.uncombined_features import uncombined_features
from grader.audit.unvaried_inputs import unvaried_inputs
from grader.bank import load_question
from grader.explain.components import FailedGrade
from grader.explain.idea_matching import diagnose
from grader.explain.session import GradingSession
from grader.grading.bank_errors import BankProgramError, program_file
from grader.grading.kinds.registry import kind_of
from grader.grading.reruns import require_deterministic
from grader.grading.submission import LOG_SEED, run_experiment
from grader.model.audit import (
    AcceptedSolutionResult,
    AuditReport,
    Budget,
    CheckFacts,
    MutationReport,
    PlantingResult,
    Remark,
    TrivialAnswer,
)
from grader.model.number_format import format_count
from grader.model.question import Question

MAX_LISTED_TODOS = 5
MAX_LISTED_LINE_CHARS = 80  # of a line of a log, in a problem
# A candidate should be able to read part 1 in a minute.
MAX_PROMPT_WORDS = 90
MAX_FIRST_CLAUSES = 6

WIDE_TOLERANCE = 0.05  # relative: GB for GiB is 6.9 % off, and must be wrong
# A budget should be this many times what right solutions take, unless a wrong idea takes less.
BUDGET_FACTOR = 1.5
MIN_NAMED_SHARE = 0.9  # of the ideas planted in accepted solutions; below it there is a remark

# Tolerances of numbers in a log: machines round in different ways.
LOG_TOLERANCE = 0.02
LOG_ABSOLUTE_TOLERANCE = 1e-9

ReportProgress = Callable[[str], None]
AuditReports = tuple[AuditReport, MutationReport | None]  # None if no mutants were tried


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """Options of an audit of several questions."""

    seeds: Sequence[int] = range(3)
    mutants: bool = False  # try mutants if the audit finds no problem
    at_most: int | None = None  # number of mutants tried of each question (default: all)
    strict: bool = False  # a remark fails the audit, too
    ignores_proofs: bool = False  # prove all questions, also those with a current proof
    trusts_proofs: bool = False  # believe the proofs in any bank, because they are the user's own
    writes_proofs: bool = False  # write the new proofs
    writes_killed_by: bool = False  # write killed_by for ideas that have none
    jobs: int = 1  # number of questions that are audited at once


# -- several questions ----------------------------------------------------------------------------


def audit_questions(
    questions: Sequence[Question], plan: AuditPlan, progress: ReportProgress
) -> Iterator[AuditReports]:
    """Yield the reports of each question, in the order of the questions.

    An audit and its workers take turns, so one audit keeps hardly more than one core busy.  Up to
    `plan.jobs` audits run at once, each in a forked process.  The processes are forked before
    anything else starts, and only on Linux: elsewhere it is not safe to fork a program that has
    loaded numpy.

    `progress` gets a line on each step; with several processes, only the number of questions done.
    """
    jobs = min(plan.jobs, len(questions)) if sys.platform == "linux" else 1
    if jobs <= 1:
        for question in questions:
            yield _audit_with_mutants(question, plan, progress)
        return
    pool = ProcessPoolExecutor(
        jobs, multiprocessing.get_context("fork"), _start_process, (questions, plan)
    )
    try:
        # Questions that need torch take longest, so they come first.
        order = sorted(
            range(len(questions)), key=lambda index: not questions[index].spec.needs_torch
        )
        futures = {index: pool.submit(_audit_in_process, index) for index in order}
        for index, question in enumerate(questions):
            done = sum(future.done() for future in futures.values())
            progress(f"{done} of {len(questions)} questions done")
            try:
                reports = futures[index].result()
            except BrokenProcessPool:
                # Audit it here, where the same failure shows as an error.
                reports = _audit_with_mutants(question, plan, progress)
            yield reports
    finally:
        pool.shutdown(cancel_futures=True)


_inherited: tuple[Sequence[Question], AuditPlan]  # set in each process of the pool


def _start_process(questions: Sequence[Question], plan: AuditPlan) -> None:
    global _inherited
    _inherited = questions, plan


def _audit_in_process(index: int) -> AuditReports:
    questions, plan = _inherited
    return _audit_with_mutants(questions[index], plan, lambda _: None)


def _audit_with_mutants(
    question: Question, plan: AuditPlan, progress: ReportProgress
) -> AuditReports:
    """Audit a question with every set of its `given` numbers, then try mutants if planned.

    The other sets are audited if the first has no problem, and on one seed only.  Mutants are tried
    if no set has a problem.
    """
    report = audit_question(question, seeds=plan.seeds, progress=progress)
    if not report.ok:
        return report, None
    problems: list[str] = []
    for number in range(1, len(question.spec.given)):
        other = load_question([question.bank], question.id, number)
        other_report = audit_question(other, seeds=plan.seeds[:1], progress=progress)
        for text in other_report.problems:
            problems.append(f"with the numbers of seed {number}: {text}")
    report = replace(report, problems=tuple(problems))
    if not plan.mutants or problems:
        return report, None
    return report, try_mutants(question, seeds=plan.seeds, at_most=plan.at_most, progress=progress)


# -- one question ---------------------------------------------------------------------------------


def audit_question(
    question: Question, *, seeds: Sequence[int], progress: ReportProgress = lambda _: None
) -> AuditReport:
    """Audit one question; each seed draws its cases again.  `progress` gets a line per step."""
    return _QuestionAudit(question, seeds, progress).run()


class _QuestionAudit:
    """Audits one question, and holds the results so far."""

    def __init__(self, question: Question, seeds: Sequence[int], progress: ReportProgress) -> None:
        self.question = question
        self.seeds = seeds
        self.progress = progress
        self.matrix = Matrix.for_question(question, seeds)
        self.trivial: list[TrivialAnswer] = []
        self.accepted: list[AcceptedSolutionResult] = []
        self.accepted_budgets: dict[str, Mapping[str, float]] = {}
        self.planted: PlantingResult | None = None
        self.reference_doubts: list[str] = []
        # Sentences on right programs that are rejected, and on faults that are not in the matrix.
        self.rejections: list[str] = []
        self.notes = [
            f"{check.id} was run on the reference only"
            for check in question.spec.checks
            if kind_of(check).is_timed
        ]

    def run(self) -> AuditReport:
        """Run all programs, and return the report.

        If a program of the bank cannot run, the report has this as its only problem.
        """
        began = time.perf_counter()
        bank_error: str | None = None
        try:
            with GradingSession(self.question) as session, np.errstate(all="ignore"):
                session.bank.restore_reference()
                _rerun_reference(session, self.seeds[0])
                self._fill_matrix(session)
                if self.matrix.is_sound:
                    self._try_other_programs(session)
        except BankProgramError as error:
            bank_error = str(error)
        self._note_impossible_answers()
        budgets = tuple(self.matrix.budgets(self.accepted_budgets))
        remarks = list(_remarks_on_text(self.question))
        planted = self.planted
        if planted is not None and planted.named_share < MIN_NAMED_SHARE:
            count = planted.named + len(planted.missed)
            text = f"{planted.named} of {count} ideas planted in accepted solutions are named"
            remarks.append(Remark("planted", text))
        if bank_error is not None:
            problems = [bank_error]
        else:
            problems = self._problems(budgets)
            remarks += self.matrix.remarks()
        return AuditReport(
            question=self.question.id,
            title=self.question.spec.title,
            seeds=tuple(self.seeds),
            seconds=time.perf_counter() - began,
            checks=self._check_facts(),
            programs=tuple(self.matrix.rows()),
            problems=tuple(problems),
            remarks=tuple(remarks),
            notes=tuple(self.notes),
            trivial=tuple(self.trivial),
            accepted=tuple(self.accepted),
            budgets=budgets,
            planted=planted,
        )

    def _say(self, line: str) -> None:
        self.progress(f"{self.question.id}: {line}")

    def _fill_matrix(self, session: GradingSession) -> None:
        """Run every check on every program; once the reference fails, only on the reference.

        Raises:
            BankProgramError: a program cannot be run.
        """
        matrix = self.matrix
        for number, seed in enumerate(self.seeds, 1):
            for program in matrix.programs:
                if program is not matrix.reference and not matrix.is_sound:
                    break
                self._say(f"seed {number} of {len(self.seeds)}, {program.name}")
                try:
                    program.seed_results.append(_run_all_checks(session, program, seed))
                except BankProgramError as error:
                    raise BankProgramError(f"seed {seed}, {program.name}: {error}") from error

    def _try_other_programs(self, session: GradingSession) -> None:
        """Try the programs that are not in the matrix, and look for gaps in the inputs.

        They are right programs, forged results, accepted solutions with an idea, trivial answers.
        """
        question = self.question
        first_seed = self.seeds[0]
        written = check_accepted_solutions(session, self.seeds, self._say, self.accepted_budgets)
        styles, style_notes = check_restyled_reference(session, self.seeds, self._say)
        self.accepted = written.results + styles.results
        repair_problems = check_repair(session, self.seeds, self._say)
        self._say("values that are known in advance")
        self.rejections = [
            *written.problems,
            *styles.problems,
            *repair_problems,
            *_experiment_problems(question),
            *forgeable_parts(session, first_seed),
        ]
        self.reference_doubts = _doubts_of_reference(question, written.results, repair_problems)
        self.planted = plant_ideas(session, first_seed, self._say)
        self._say("trivial answers")
        self.trivial = try_trivial_answers(session, self.seeds[-1])
        self.notes += style_notes
        reference = session.new_evaluation(session.bank.reference, first_seed)
        self.notes += [f"never varied: {text}" for text in unvaried_inputs(question, reference)]
        self._say("features that are never combined")
        self.notes += [f"never combined: {text}" for text in uncombined_features(reference)]

    def _note_impossible_answers(self) -> None:
        names = [answer.name for answer in self.trivial if not answer.made]
        if names:
            self.notes.append(
                f"the trivial answers {', '.join(names)} could not be made: what is checked is not "
                "what the functions return"
            )

    def _problems(self, budgets: Iterable[Budget]) -> list[str]:
        """Return all problems; if the reference fails, only those of the matrix.

        Doubts about the reference come first, because a wrong reference causes other problems.
        """
        problems = self.matrix.problems()
        if not self.matrix.is_sound:
            return problems
        accepted_answers = [
            f"the trivial answer {answer.name} passes every check: a submission that returns "
            f"{answer.about} would pass; add a case or a check that it cannot pass"
            for answer in self.trivial
            if answer.accepted
        ]
        return [
            *self.reference_doubts,
            *problems,
            *self.rejections,
            *self.matrix.idle_checks(),
            *_tight_budgets(budgets),
            *accepted_answers,
        ]

    def _check_facts(self) -> tuple[CheckFacts, ...]:
        return tuple(
            CheckFacts(
                id=check.id,
                kind=check.kind,
                stretch=check.stretch,
                stops=self.matrix.count_stopped(check.id),
                first=self.matrix.count_stopped_first(check.id),
                lets_through=tuple(
                    answer.name
                    for answer in self.trivial
                    if answer.made and check.id in answer.passes
                ),
            )
            for check in self.question.spec.checks
        )


def _doubts_of_reference(
    question: Question, accepted: Sequence[AcceptedSolutionResult], repair_problems: Sequence[str]
) -> list[str]:
    """Return a sentence if at least two other right solutions exist and none of them passes.

    They are the accepted solutions and the repaired starter.  The reference is probably wrong then.
    """
    names = [f"accepted {result.name}" for result in accepted]
    if question.repair and not question.spec.starter:
        names.append("the repair of the starter")
        if not repair_problems:
            return []
    if len(names) < 2 or any(result.passed for result in accepted):
        return []
    file = program_file(question, "reference")
    return [
        f"{file}: the reference disagrees with every other right solution ({', '.join(names)}): if "
        "it is wrong, fix it first, and the faults below may go"
    ]


def _rerun_reference(session: GradingSession, seed: int) -> None:
    """Require that the reference gives the same results when it runs again, in another process.

    Raises:
        BankProgramError: it gives other results, or fails.
    """
    evaluation = session.evaluate_bank_program(
        "again", [session.question.reference], seed, called="the reference"
    )
    for _ in range(2):
        require_deterministic(evaluation, evaluation.subject)


def _run_all_checks(session: GradingSession, program: AuditedProgram, seed: int) -> SeedResult:
    """Run every check on a program on one seed, and let diagnosis name its ideas."""
    question = session.question
    is_reference = program.name == "reference"
    evaluation = session.evaluate_bank_program(
        f"subject {program.name}",
        program.sources,
        seed,
        called=program.name,
        file=program.file,
        parts=program.parts,
    )
    results = {
        check.id: result_of_check(evaluation, check, timed=is_reference)
        for check in question.spec.checks
    }
    graded, evaluation.parts_asked = results_as_graded(question, lambda check: results[check.id])
    diagnosis = diagnose(FailedGrade(evaluation, tuple(graded.values())))
    raised = None if is_reference else always_raised(evaluation, results)
    return SeedResult(
        seed=seed,
        results=results,
        graded_results=graded,
        named_ideas=diagnosis.ambiguous_ideas.union(match.id for match in diagnosis.matches),
        raised=raised,
        budget_shares=budget_shares(evaluation, results),
    )


def _tight_budgets(budgets: Iterable[Budget]) -> Iterator[str]:
    """Yield a sentence on each budget that another right solution may exceed.

    A budget should be 1.5 times what the known right solutions take (BUDGET_FACTOR).  If a wrong
    idea takes little more than they do, midway between both is enough.
    """
    for budget in budgets:
        factor = 1 / budget.right_share
        min_factor = BUDGET_FACTOR
        if budget.wrong:
            midway = math.sqrt(budget.wrong_share / budget.right_share)
            min_factor = min(BUDGET_FACTOR, midway)
        if factor < min_factor:
            yield (
                f"{budget.check}: its budget is {factor:.2f}x what {budget.right} takes, which is "
                f"right; expected at least {min_factor:.2f}x, midway to what the nearest wrong "
                "idea takes"
            )


# -- remarks on the text, and the log -------------------------------------------------------------


def _remarks_on_text(question: Question) -> Iterator[Remark]:
    """Yield the remarks that need no run, such as on TODOs, unused cases and wide tolerances."""
    places = question.todos
    if places:
        count = format_count(len(places), "TODO is", "TODOs are")
        text = f"{count} left: {', '.join(places[:MAX_LISTED_TODOS])}"
        if len(places) > MAX_LISTED_TODOS:
            text += f" and {len(places) - MAX_LISTED_TODOS} more"
        yield Remark("todo", text)
    for problem in question.unused_case_problems:
        yield Remark("unused", problem)
    for name in question.spec.prerequisites:
        if name == question.id or not question.spec_path.with_name(f"{name}.yaml").is_file():
            text = f"prerequisites: there is no other question {name} in this bank"
            yield Remark("prerequisites", text)
    may_have_files = question.bank.is_dir()
    if may_have_files and len(question.spec.parts) > 1 and not question.repair:
        yield Remark(
            "repair",
            f"there is no drills/{question.id}/repair.py, so that `drill solution` shows the whole "
            "reference: write the starter with the least changes, `# why: SENTENCE` above each",
        )
    for check in question.spec.checks:
        tolerance = getattr(check, "tolerance", None)
        relative = tolerance.relative if tolerance else None
        if relative and relative > WIDE_TOLERANCE:
            yield Remark(
                "tolerance",
                f"{check.id}: {100 * relative:g} % is a wide tolerance: at 7 % GB passes for GiB; "
                f"expected {100 * WIDE_TOLERANCE:g} % or less",
            )
    yield from _remarks_on_first_part(question)


def _remarks_on_first_part(question: Question) -> Iterator[Remark]:
    """Yield a remark if the prompt of part 1 is too long, or if it has too many clauses."""
    first_part = question.spec.parts[0]
    words = len(first_part.prompt.split())
    if words > MAX_PROMPT_WORDS:
        yield Remark(
            "parts",
            f"the prompt of part 1 has {words} words; more than {MAX_PROMPT_WORDS} are not read: "
            "tell the symptom, and leave the rest to the contract",
        )
    clauses = len(first_part.contract)
    if clauses > MAX_FIRST_CLAUSES:
        yield Remark(
            "parts",
            f"the contract of part 1 has {clauses} clauses; nobody keeps more than "
            f"{MAX_FIRST_CLAUSES} in mind: what is about edges belongs to a later part",
        )


def _experiment_problems(question: Question) -> Iterator[str]:
    """Yield a sentence if an experiment does not finish, or if `log` is not the starter's output.

    A question with experiments lets the candidate run a script; `log` shows one such run.
    """
    if question.spec.experiments is None:
        return
    for name, source in (("starter", question.starter), ("reference", question.reference)):
        experiment = run_experiment(question, source, seed=LOG_SEED)
        if experiment.fault:
            yield f"experiments: the {name} did not finish: {experiment.fault}"
        elif name == "starter" and question.spec.log:
            yield from _log_problem(question.spec.log, experiment.printed)


def _log_problem(log: str, printed: str) -> Iterator[str]:
    """Yield a sentence on the first line in which a log differs from the starter's output."""
    lines = zip_longest(log.strip().splitlines(), printed.strip().splitlines(), fillvalue="")
    for number, (expected, actual) in enumerate(lines, 1):
        if not _is_same_line(expected, actual):
            yield (
                f"log: expected what the starter prints with seed {LOG_SEED}; line {number} is "
                f"{expected.strip()[:MAX_LISTED_LINE_CHARS]!r}, and it prints "
                f"{actual.strip()[:MAX_LISTED_LINE_CHARS]!r}"
            )
            return


def _is_same_line(expected: str, actual: str) -> bool:
    """Return True if two lines have the same words, and nearly the same numbers."""
    expected_words = expected.split()
    actual_words = actual.split()
    if len(expected_words) != len(actual_words):
        return False
    pairs = zip(expected_words, actual_words, strict=True)
    return all(_is_same_word(*pair) for pair in pairs)


def _is_same_word(expected: str, actual: str) -> bool:
    try:
        numbers = float(expected), float(actual)
    except ValueError:
        return expected == actual
    return math.isclose(*numbers, rel_tol=LOG_TOLERANCE, abs_tol=LOG_ABSOLUTE_TOLERANCE)
