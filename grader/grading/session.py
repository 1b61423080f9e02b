"""A session: it loads a question's programs once and grades any number of submissions.

Every submission gets a new worker, in which nothing has run before.  The reference has one worker
and the variants have another, as long as the session lasts; their results are remembered by seed.
See docs/adr/0015-sessions.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader import forms
from grader.forms.base import UnreadableAnswer
from grader.grading.bank_errors import BankProgramError
from grader.grading.bank_programs import BankPrograms
from grader.grading.check_order import (
    award_points,
    overall_verdict,
    part_results,
    part_results_without_checks,
    resolve_counted_parts,
)
from grader.grading.evaluation import Evaluation, new_secret_draw
from grader.grading.reruns import require_deterministic
from grader.grading.run_checks import deadline_note, missing_functions_note, run_checks
from grader.grading.submission import (
    SubmissionProblem,
    byte_problem,
    load_exception_notes,
    load_submission,
    map_exceptions,
    submission_program,
    with_answer_lines,
)
from grader.model.limits import GRADE_SECONDS, MAX_REPORTED_OUTPUT
from grader.model.question import Question
from grader.model.report import CheckResult, Report, Verdict
from grader.model.version import __version__
from grader.sandbox import Closeable, Deadline, OutOfTime
from grader.sandbox.client import WorkerClient
from grader.sandbox.notebook_cells import cell_starts, with_cell_numbers
from grader.sandbox.remote_program import RemoteProgram, TesterProgram
from grader.sandbox.worker_pool import WorkerPool

MAX_SEED = 2**63 - 1  # records store a seed as a signed integer of 64 bits
RERUN_SECONDS = 1.0  # seconds for running the reference a second time, in the first grade
MAX_COMPARED_SIZE = 1 << 16  # of a submission whose code is compared with an earlier version


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """Options of one grade."""

    # Called before each check that runs, with its number and the number of checks.
    progress: Callable[[int, int], None] = lambda _done, _all: None
    # Called with a report as soon as there is a verdict, before stretch checks and explanations.
    on_verdict: Callable[[Report], None] | None = None
    is_program: bool = False  # the file is a program, though the form asks for a text
    # Other files of a program by module name; imported modules come first.
    modules: Mapping[str, bytes] = field(default_factory=dict)
    measures_stretch: bool = True  # run stretch checks, too
    explain_starter: bool = True  # explain failures of an unchanged starter, too
    # As in a class: skip unreadable answers, and grade what was defined before an exception.
    lenient: bool = False
    literal: bool = False  # read answers literally: `37 users` is not a number
    # The version that passed the earlier parts; a submission with the same code is `unchanged`.
    # If empty, the starter is compared; see `worker.syntax`.
    passed_version: bytes = b""


DEFAULT_OPTIONS = GradeOptions()


class JudgingSession(Closeable):
    """Grades submissions of one question, one after another.

    It explains nothing: the subclass `grader.explain.session.GradingSession` does.  A session
    serves one thread at a time; threads that grade side by side need a session each.
    """

    def __init__(
        self,
        question: Question,
        *,
        workers: WorkerPool | None = None,
        clock: Callable[[], float] = time.monotonic,
        proved: bool = False,
        parts: Collection[int] | None = None,
    ) -> None:
        """Start the first workers, unless they were started ahead.

        Args:
            question: The question to grade.
            workers: Workers that were started ahead for this session; the caller closes them.
            clock: Returns the time in seconds, for the deadline of a grade.
            proved: Skip the check that the reference gives the same results twice, because an
                earlier session made it.
            parts: The numbers of the parts that decide (default: all).

        Raises:
            ValueError: A part does not exist, or the list of parts is empty.
        """
        self.question = question
        self._counted_parts = resolve_counted_parts(question, parts)
        self._form = forms.form_of(question.spec)
        self._clock = clock
        self._proved = proved
        self._in_use = threading.Lock()
        self._closed = False
        self._secret_draw = new_secret_draw()  # while stretch checks are left out
        self._stack = contextlib.ExitStack()
        torch = question.spec.needs_torch
        if workers is None or workers.torch != torch:
            workers = self._stack.enter_context(WorkerPool(torch=torch))
        self._workers = workers
        self.bank = self._stack.enter_context(BankPrograms(question, workers))

    def grade(
        self,
        submission: bytes,
        *,
        seed: int,
        filename: str = "submission.py",
        options: GradeOptions = DEFAULT_OPTIONS,
    ) -> Report:
        """Grade a submission.  Its faults lead to a verdict in the report, never to an exception.

        Raises:
            RuntimeError: Another thread is using the session, or it is closed.
            TypeError: The submission is not bytes, or the seed is not an int.
            ValueError: The seed is below 0 or above MAX_SEED.
        """
        _require_bytes_and_seed(submission, seed)
        start = time.perf_counter()
        report = self._new_report(submission, seed)
        unread: list[UnreadableAnswer] = []
        source = self._program_source(submission, filename, options, unread)
        if isinstance(source, SubmissionProblem):
            return self._with_problem(report, source)
        with (
            self._exclusive_use(),
            np.errstate(all="ignore"),  # comparing meets infinities and NaN
            self._workers.take_worker() as worker,
        ):
            program = self._new_program(worker, source, filename, options)
            report = replace(report, isolation=worker.isolation.level)
            worker.deadline = Deadline(GRADE_SECONDS, self._clock)
            self.bank.set_deadline(worker.deadline)
            try:
                problem = self._load(program, submission, options)
                if program.loaded and program.loaded.same:
                    report = replace(report, unchanged=True)
                if problem is not None:
                    report = self._with_problem(report, problem)
                else:
                    report = replace(report, stopped=load_exception_notes(program))
                    evaluation = self.new_evaluation(program, seed)
                    report = self._judge(report, evaluation, options)
                    report = self._explain_failure(report, evaluation, options)
            except BankProgramError as error:
                sentence = f"{self.question.spec_path}: {error}"
                report = self._with_problem(report, SubmissionProblem(sentence, Verdict.INVALID))
            finally:
                self.bank.set_deadline(None)
            report = self._with_lines_of_file(report, submission, options, unread)
            output = worker.printed[-MAX_REPORTED_OUTPUT:].decode("utf-8", "replace")
            return replace(report, printed=output, seconds=time.perf_counter() - start)

    def _new_report(self, submission: bytes, seed: int) -> Report:
        question = self.question
        return Report(
            question=question.id,
            title=question.spec.title,
            verdict=Verdict.ERROR,
            seed=seed,
            isolation="",  # known when a worker has started
            seconds=0.0,
            sha256=hashlib.sha256(submission).hexdigest(),
            bank=str(question.bank),
            digest=question.digest,
            program=__version__,
            unchanged=question.is_starter(submission),
        )

    def _program_source(
        self,
        submission: bytes,
        filename: str,
        options: GradeOptions,
        unread: list[UnreadableAnswer],
    ) -> bytes | SubmissionProblem:
        """Return the source to run for a file: its text, or the program made from its answers.

        In a lenient grade, unreadable answers are added to `unread`.
        """
        problem = byte_problem(submission, self.question)
        if problem is not None:
            return problem
        if options.is_program:
            return submission
        return submission_program(
            submission,
            self.question,
            filename,
            unread if options.lenient else None,
            literal=options.literal,
        )

    def _new_program(
        self, worker: WorkerClient, source: bytes, filename: str, options: GradeOptions
    ) -> RemoteProgram:
        """Return the program of a submission, not loaded yet."""
        support = self.question.support
        support = replace(support, modules={**options.modules, **support.modules})
        if self._form.runs_in_two_processes:
            return TesterProgram(
                worker,
                "submission",
                [source],
                replace(support, driver=None),
                filename,
                untrusted=True,
                keeps_partial_load=options.lenient,
                reference_program=self.bank.living_reference,
            )
        return RemoteProgram(
            worker,
            "submission",
            [source],
            support,
            filename,
            # The first calls with torch load code, so the reference's calls set no limit for them.
            slowest_call=None if worker.torch else self.bank.slowest_call,
            untrusted=True,
            keeps_partial_load=options.lenient,
            judge_program=self.bank.living_reference,
        )

    def _load(
        self, program: RemoteProgram, submission: bytes, options: GradeOptions
    ) -> SubmissionProblem | None:
        """Load a submission and the reference; return why the submission cannot be graded.

        Raises:
            BankProgramError: The reference cannot be loaded.
        """
        if not self._form.is_text and len(submission) < MAX_COMPARED_SIZE:
            program.before = options.passed_version or self.question.starter
            program.code = self.question.code_names
        required: Mapping[str, str] = {}
        # A missing function of a part that does not count, or an open answer, stops nothing.
        if 1 in self._counted_parts and not self._form.is_text:
            required = self.question.signatures_for_part(1)
        restore_reference = self.bank.restore_reference
        try:
            problem = load_submission(program, self.question, required, restore_reference)
            if problem is None:
                restore_reference()
            return problem
        except OutOfTime:
            return SubmissionProblem(deadline_note(program.worker), Verdict.LIMIT)

    def _judge(self, report: Report, evaluation: Evaluation, options: GradeOptions) -> Report:
        """Run the checks and return the report with their results.

        If the caller waits for the verdict, the checks run without stretch checks first.  Results
        are remembered, so the second time measures only the stretch checks.
        """
        worker = evaluation.subject.worker
        has_stretch = any(check.stretch for check in self.question.spec.checks)
        is_explained = options.explain_starter or not report.unchanged

        def start_variants() -> None:
            if is_explained:  # the process starts while other checks run
                self.bank.start_variants_process()

        on_verdict = options.on_verdict
        stages = [options.measures_stretch]
        if on_verdict is not None:
            stages.insert(0, False)
        for measures_stretch in stages:
            evaluation.measures_stretch = measures_stretch
            # For the secret draw of the session, the reference runs only once.
            evaluation.keeps_secret_draw = not measures_stretch
            evaluation.secret_draw = new_secret_draw() if measures_stretch else self._secret_draw
            checks = run_checks(evaluation, start_variants, self._counted_parts, options.progress)
            report = self._with_checks(report, evaluation, checks)
            if on_verdict is not None:
                on_verdict(report)
                on_verdict = None
                # A process that has ended cannot be measured any more.
                if not has_stretch or worker.failure is not None:
                    break
        return report

    def _explain_failure(
        self, report: Report, evaluation: Evaluation, options: GradeOptions
    ) -> Report:
        """Return the report with explanations, unless there is nothing to explain."""
        if report.verdict is Verdict.PASS or report.message:  # the message: functions are missing
            return report
        if report.unchanged and not options.explain_starter:
            return report
        worker = evaluation.subject.worker
        printed = worker.printed
        size = worker.output_bytes
        try:
            return self.explain(evaluation, report)
        finally:  # the report does not show output of explanations
            worker.printed = printed
            worker.output_bytes = size

    def _with_checks(
        self, report: Report, evaluation: Evaluation, checks: tuple[CheckResult, ...]
    ) -> Report:
        """Return the report with the checks, the parts and the verdict.

        In the first grade of the session, it also requires that the reference is deterministic.

        Raises:
            BankProgramError: The reference fails, or is not deterministic.
        """
        spec = self.question.spec
        if not self._proved:
            with contextlib.suppress(OutOfTime):
                require_deterministic(evaluation, self.bank.reference, max_seconds=RERUN_SECONDS)
            self._proved = True
        checks = award_points(spec, checks, self._counted_parts)
        parts = part_results(spec, checks, self._counted_parts)
        verdict = overall_verdict(checks, self._counted_parts)
        follow_up = ""
        if verdict is Verdict.PASS and spec.follow_ups:
            follow_up = spec.follow_ups[report.seed % len(spec.follow_ups)].ask
        return replace(
            report,
            verdict=verdict,
            parts=parts,
            checks=checks,
            message=missing_functions_note(evaluation, checks, self._counted_parts),
            follow_up=follow_up,
        )

    def _with_problem(self, report: Report, problem: SubmissionProblem) -> Report:
        """Return the report of a grade that ends before any check."""
        parts = part_results_without_checks(
            self.question.spec, problem.verdict, self._counted_parts
        )
        return replace(
            report,
            verdict=problem.verdict,
            message=problem.sentence,
            raised=problem.raised,
            parts=parts,
        )

    def _with_lines_of_file(
        self,
        report: Report,
        submission: bytes,
        options: GradeOptions,
        unread: Sequence[UnreadableAnswer],
    ) -> Report:
        """Return the report with exceptions that point at lines of the file, or at its cells."""
        if self._form.is_text and not options.is_program:
            return with_answer_lines(report, submission, unread)
        if cell_starts(submission):
            return map_exceptions(report, lambda raised: with_cell_numbers(raised, submission))
        return report

    def explain(self, evaluation: Evaluation, report: Report) -> Report:  # noqa: ARG002
        """Return the report of a failure with explanations; this class has none."""
        return report

    def evaluate_bank_program(
        self,
        name: str,
        sources: Sequence[bytes],
        seed: int,
        *,
        called: str = "",
        file: str = "",
        parts: int | None = None,
    ) -> Evaluation:
        """Load a program of the bank, and return an evaluation of it without a deadline.

        An audit uses this.  Audited programs share a process; a submission never runs there.

        Args:
            name: The name of the program in memory.
            sources: Its sources, each executed on top of those before it.
            seed: Every input is drawn from it.
            called: What messages call it (default: its name).
            file: Its file, for messages.
            parts: It has to define the functions of this many parts (default: all).

        Raises:
            BankProgramError: The reference or the program cannot be loaded.
            RuntimeError: Another thread is using the session, or it is closed.
        """
        with self._exclusive_use():
            program = self.bank.load_audited_program(name, sources, called or name, file, parts)
            evaluation = self.new_evaluation(program, seed)
            evaluation.runs_reference_first = False  # the program may be the reference itself
            return evaluation

    def new_evaluation(self, program: RemoteProgram, seed: int) -> Evaluation:
        """Return an evaluation of a program; results for all but the latest seeds are forgotten."""
        self.bank.forget_old_seeds(seed)
        return self._first_evaluation.with_subject(program, seed)

    @cached_property
    def _first_evaluation(self) -> Evaluation:
        reference = self.bank.reference
        return Evaluation(self.question, 0, reference, reference, bank=self.bank)

    def close(self) -> None:
        """End every process of the session, except unused workers that were started ahead."""
        self._closed = True
        self._stack.close()

    @contextlib.contextmanager
    def _exclusive_use(self) -> Iterator[None]:
        """Refuse a second thread inside the block, and any use of a closed session."""
        if self._closed:
            raise RuntimeError("this GradingSession is closed: open another one")
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError("a GradingSession serves one thread at a time: open one for each")
        try:
            yield
        finally:
            self._in_use.release()


def _require_bytes_and_seed(submission: object, seed: object) -> None:
    """Refuse a wrong argument before anything is started."""
    if not isinstance(submission, bytes):
        raise TypeError(
            f"submission: expected bytes, found {type(submission).__name__}; pass the file's "
            "Path.read_bytes(), or encode the text"
        )
    rule = f"seed: expected a whole number from 0 to {MAX_SEED:,}"
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"{rule}, found {type(seed).__name__}; pass an int")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"{rule}, found {seed:,}; pass another one")
