"""Audit a question: right passes, wrong does not, and every wrong idea is called by its name.

Every program goes through every check, needs or no needs, so that what each check can tell is
known; what a grade would have skipped is worked out afterwards.
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

import numpy as np

from grader.audit import accepted_and_trivial, forgeable_parts
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
from grader.bank import load
from grader.explain.components import Failure
from grader.explain.idea_matching import diagnose
from grader.explain.session import GradingSession
from grader.grading.bank_programs import program_file
from grader.grading.determinism import require_deterministic
from grader.grading.evaluation import BankProgramError
from grader.grading.kinds import registry
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

MAX_LISTED_TODOS = 5  # places marked TODO
MAX_PROMPT_WORDS, MAX_FIRST_CLAUSES = 90, 6  # of the first part, which is read in a minute
WIDE = 0.05  # a tolerance: GB for GiB is 6.9 % off, and has to be wrong
BUDGET_FACTOR = 1.5  # times what right solutions take: a budget, if wrong ideas are far enough away
MIN_NAMED_SHARE = 0.9  # of the ideas that are planted in accepted solutions
LOG_TOLERANCE = 0.02  # relative, of numbers in a log: machines round in other ways

ReportProgress = Callable[[str], None]
AuditReports = tuple[AuditReport, MutationReport | None]  # with mutants, where these were tried


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What is to be done with each question, and with its proof."""

    seeds: Sequence[int] = range(3)
    mutants: bool = False  # of every question whose audit has no problem
    at_most: int | None = None  # mutants of a question
    strict: bool = False  # whether a remark fails it too
    everything: bool = False  # prove all, whatever proofs say
    mine: bool = False  # believe the proofs of any bank that is looked at
    write: bool = False  # write the proofs of what is proved
    write_killed_by: bool = False  # where an idea does not say it
    jobs: int = 1  # questions at once


def audit_questions(
    questions: Sequence[Question], plan: AuditPlan, progress: ReportProgress
) -> Iterator[AuditReports]:
    """Give the reports of each question, in this order; `progress` gets a line on each step.

    A judge and its workers take turns, so that one audit keeps hardly more than one core busy:
    several run at once, a process for each.  These are forked before anything else is started, and
    only on Linux: elsewhere a fork of a program that has loaded numpy is not safe.
    """
    jobs = min(plan.jobs, len(questions)) if sys.platform == "linux" else 1
    if jobs <= 1:
        yield from (_one(question, plan, progress) for question in questions)
        return
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, (questions, plan))
    try:
        # Those that need torch take longest.
        order = sorted(range(len(questions)), key=lambda i: not questions[i].spec.needs_torch)
        tried = {number: pool.submit(_of_number, number) for number in order}
        for number, question in enumerate(questions):
            progress(f"{sum(f.done() for f in tried.values())} of {len(questions)} questions done")
            try:
                found = tried[number].result()
            except BrokenProcessPool:  # what ended a process is met again here
                found = _one(question, plan, progress)
            yield found
    finally:
        pool.shutdown(cancel_futures=True)


def _one(question: Question, plan: AuditPlan, progress: ReportProgress) -> AuditReports:
    report = audit_question(question, seeds=plan.seeds, progress=progress)
    for number in range(1, len(question.spec.given)) if report.ok else ():
        other = load([question.bank], question.id, number)
        faults = audit_question(other, seeds=plan.seeds[:1], progress=progress).problems
        said = (f"with the numbers of seed {number}: {text}" for text in faults)
        report = replace(report, problems=(*report.problems, *said))
    if not plan.mutants or not report.ok:
        return report, None
    return report, try_mutants(question, seeds=plan.seeds, at_most=plan.at_most, progress=progress)


_given: tuple[Sequence[Question], AuditPlan]  # in a process of the pool, inherited


def _begin(questions: Sequence[Question], plan: AuditPlan) -> None:
    global _given
    _given = questions, plan


def _of_number(number: int) -> AuditReports:
    questions, plan = _given
    return _one(questions[number], plan, lambda _: None)


# -- one question ----------------------------------------------------------------------------------


def audit_question(
    question: Question, *, seeds: Sequence[int], progress: ReportProgress = lambda _: None
) -> AuditReport:
    """Audit one question, its cases drawn anew by each seed; `progress` gets a line per step."""
    began = time.perf_counter()
    checks, matrix = question.spec.checks, Matrix.for_question(question, seeds)
    trivial: list[TrivialAnswer] = []
    accepted: list[AcceptedSolutionResult] = []
    planted: PlantingResult | None = None
    turned_down: list[str] = []
    doubts: list[str] = []  # of the reference, said before what follows from it
    taken: dict[str, Mapping[str, float]] = {}  # of budgets, by accepted solutions
    timed = [check.id for check in checks if registry.kind_named(check.kind).is_timed]
    notes = [f"{check} was run on the reference only" for check in timed]
    faults: list[str] = []

    def say(line: str) -> None:
        progress(f"{question.id}: {line}")

    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            session.bank.restore_reference()
            _run_again(session, seeds[0])
            _put_through_all_checks(session, matrix, say)
            if matrix.is_sound:
                own, rejected = accepted_and_trivial.check_accepted_solutions(
                    session, seeds, say, taken
                )
                (others, odd), unmade = accepted_and_trivial.check_restyled_reference(
                    session, seeds, say
                )
                accepted = own + others
                repair = accepted_and_trivial.check_repair(session, seeds, say)
                say("values that are known in advance")
                known = forgeable_parts.forgeable_parts(session, seeds[0])
                turned_down = [*rejected, *odd, *repair, *_faulty_log(question), *known]
                doubts = _doubts_of_reference(question, own, repair)
                planted = plant_ideas(session, seeds[0], say)
                say("trivial answers")
                trivial = accepted_and_trivial.try_trivial_answers(session, seeds[-1])
                notes += unmade
                first = session.bank.new_evaluation(session.bank.reference, seeds[0])
                notes += [f"never varied: {text}" for text in unvaried_inputs(question, first)]
                say("features that are never combined")
                notes += [f"never combined: {text}" for text in uncombined_features(first)]
    except BankProgramError as fault:
        faults.append(str(fault))
    if unmade := [t.name for t in trivial if not t.made]:
        notes.append(
            f"the trivial answers {', '.join(unmade)} could not be made: what is checked is not "
            "what the functions return"
        )
    remarks = list(_remarks_on_text(question))
    if planted is not None and planted.named_share < MIN_NAMED_SHARE:
        count = planted.named + len(planted.missed)
        text = f"{planted.named} of {count} ideas planted in accepted solutions are named"
        remarks.append(Remark("planted", text))
    budgets = tuple(matrix.budgets(taken))
    if not faults:
        faults = matrix.problems()
        if matrix.is_sound:
            faults = [*doubts, *faults, *turned_down, *matrix.idle_checks(), *_tight(budgets)]
            faults += [
                f"the trivial answer {t.name} passes every check: a submission that returns "
                f"{t.about} would pass; add a case or a check that it cannot pass"
                for t in trivial
                if t.accepted
            ]
        remarks += matrix.remarks()
    facts = (
        CheckFacts(
            id=check.id,
            kind=check.kind,
            stretch=check.stretch,
            stops=matrix.count_stopped(check.id),
            first=matrix.count_stopped_first(check.id),
            lets_through=tuple(t.name for t in trivial if t.made and check.id in t.passes),
        )
        for check in checks
    )
    return AuditReport(
        budgets=budgets,
        question=question.id,
        title=question.spec.title,
        seeds=tuple(seeds),
        seconds=time.perf_counter() - began,
        checks=tuple(facts),
        programs=tuple(matrix.rows()),
        problems=tuple(faults),
        remarks=tuple(remarks),
        notes=tuple(notes),
        trivial=tuple(trivial),
        accepted=tuple(accepted),
        planted=planted,
    )


def _doubts_of_reference(
    question: Question, written: Sequence[AcceptedSolutionResult], repair: Sequence[str]
) -> list[str]:
    """Say that a reference is likely wrong: no right solution, of two or more, passes."""
    names = [f"accepted {one.name}" for one in written]
    if question.repair and not question.spec.starter:
        names.append("the repair of the starter")
        if not repair:
            return []
    if len(names) < 2 or any(one.passed for one in written):
        return []
    file = program_file(question, "reference")
    return [
        f"{file}: the reference disagrees with every other right solution ({', '.join(names)}): if "
        "it is wrong, fix it first, and the faults below may go"
    ]


def _run_again(session: GradingSession, seed: int) -> None:
    """See that the reference computes the same in a process of its own, and once more there.

    Raises:
        BankFault: it does not, or fails.
    """
    reference = [session.question.reference]
    evaluation = session.evaluate_bank_program("again", reference, seed, called="the reference")
    for _ in range(2):
        require_deterministic(evaluation, evaluation.submission)


def _put_through_all_checks(session: GradingSession, matrix: Matrix, say: ReportProgress) -> None:
    """Examine every program on every seed; once the reference does not pass, it alone.

    Raises:
        BankFault: one of them cannot be examined.
    """
    for number, seed in enumerate(matrix.seeds, 1):
        for subject in matrix.programs:
            if subject is not matrix.programs[0] and not matrix.is_sound:
                break
            say(f"seed {number} of {len(matrix.seeds)}, {subject.name}")
            try:
                subject.seed_results.append(_examined(session, subject, seed))
            except BankProgramError as fault:
                raise BankProgramError(f"seed {seed}, {subject.name}: {fault}") from fault


def _examined(session: GradingSession, subject: AuditedProgram, seed: int) -> SeedResult:
    """Put a program through every check on one seed, and have it named."""
    is_reference = subject.name == "reference"
    evaluation = session.evaluate_bank_program(
        f"subject {subject.name}", subject.sources, seed,
        called=subject.name, file=subject.file, parts=subject.parts,
    )  # fmt: skip
    question = session.question
    results = {
        c.id: result_of_check(evaluation, c, timed=is_reference) for c in question.spec.checks
    }
    graded, evaluation.parts_asked = results_as_graded(question, lambda check: results[check.id])
    found = diagnose(Failure(evaluation, tuple(graded.values())))
    raised = None if is_reference else always_raised(evaluation, results)
    named = found.ambiguous_ideas.union(n.id for n in found.matches)
    return SeedResult(seed, results, graded, named, raised, budget_shares(evaluation, results))


def _tight(budgets: Iterable[Budget]) -> Iterator[str]:
    """Budgets that the next right style may miss."""
    for one in budgets:
        room, gap = 1 / one.right_share, one.wrong_share / one.right_share
        wanted = min(BUDGET_FACTOR, math.sqrt(gap)) if one.wrong else BUDGET_FACTOR
        if room < wanted:
            yield (
                f"{one.check}: its budget is {room:.2f}x what {one.right} takes, which is right; "
                f"expected at least {wanted:.2f}x, midway to what the nearest wrong idea takes"
            )


# -- what the text promises ------------------------------------------------------------------------


def _remarks_on_text(question: Question) -> Iterator[Remark]:
    """What can be said before anything is run."""
    if places := question.todos:
        more = (
            f" and {len(places) - MAX_LISTED_TODOS} more" if len(places) > MAX_LISTED_TODOS else ""
        )
        count = format_count(len(places), "TODO is", "TODOs are")
        yield Remark("todo", f"{count} left: {', '.join(places[:MAX_LISTED_TODOS])}{more}")
    yield from (Remark("unused", text) for text in question.unused_case_problems)
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
        if tolerance and (share := tolerance.relative or 0) > WIDE:
            text = f"{check.id}: {100 * share:g} % is a wide tolerance: at 7 % GB passes for GiB"
            yield Remark("tolerance", f"{text}; expected {100 * WIDE:g} % or less")
    first = question.spec.parts[0]
    if (words := len(first.prompt.split())) > MAX_PROMPT_WORDS:
        yield Remark(
            "parts",
            f"the prompt of part 1 has {words} words; more than {MAX_PROMPT_WORDS} are not read: tell "
            "the symptom, and leave the rest to the contract",
        )
    if (clauses := len(first.contract)) > MAX_FIRST_CLAUSES:
        yield Remark(
            "parts",
            f"the contract of part 1 has {clauses} clauses; nobody keeps more than {MAX_FIRST_CLAUSES} "
            "in mind: what is about edges belongs to a later part",
        )


def _faulty_log(question: Question) -> Iterator[str]:
    """What is wrong with the runs that a candidate can make, and with the log that is shown."""
    if question.spec.experiments is None:
        return
    for name, source in (("starter", question.starter), ("reference", question.reference)):
        ran = run_experiment(question, source, seed=LOG_SEED)
        if ran.fault:
            yield f"experiments: the {name} did not finish: {ran.fault}"
        elif name == "starter" and question.spec.log:
            shown, made = (text.strip().splitlines() for text in (question.spec.log, ran.printed))
            for number in range(max(len(shown), len(made))):
                one, other = ("".join(lines[number : number + 1]) for lines in (shown, made))
                if not _alike(one, other):
                    yield (
                        f"log: expected what the starter prints with seed {LOG_SEED}; line "
                        f"{number + 1} is {one.strip()[:80]!r}, and it prints "
                        f"{other.strip()[:80]!r}"
                    )
                    break


def _alike(one: str, other: str) -> bool:
    """Whether two lines have the same words, and nearly the same numbers."""

    def same(word: str, printed: str) -> bool:
        try:
            return math.isclose(float(word), float(printed), rel_tol=LOG_TOLERANCE, abs_tol=1e-9)
        except ValueError:
            return word == printed

    words, others = one.split(), other.split()
    return len(words) == len(others) and all(map(same, words, others))
