"""One question, graded as often as wanted: what never changes is started, loaded and computed once.

Every submission gets a worker of its own, in which nothing has run before.  The reference has one
worker and the misconceptions another, both for as long as the session lasts; what they compute is
remembered by seed.  See docs/adr/0015-sessions.md.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from grader import forms
from grader.forms.base import UnreadableAnswer
from grader.grading.bank_programs import BankPrograms
from grader.grading.case_by_case import CaseFinding
from grader.grading.check_order import (
    award_points,
    overall_verdict,
    part_results,
    part_results_without_checks,
    resolve_counted_parts,
)
from grader.grading.determinism import require_deterministic
from grader.grading.evaluation import BankProgramError, Evaluation, new_secret_draw
from grader.grading.run_checks import deadline_note, missing_functions_note, run_checks
from grader.grading.submission import (
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

MAX_SEED = 2**63 - 1  # what is recorded of a grade has it as a whole number of 64 bits
RERUN_SECONDS = 1.0  # seconds for running the reference a second time, in the first grade
MOST_COMPARED = 1 << 16  # bytes of a submission whose code is compared with what it was


class JudgingSession(Closeable):
    """Grades submissions of one question, one after another.

    `explain` is for a subclass above this room, `grader.explain.session.GradingSession`.  A session
    serves one thread at a time: threads that grade side by side open a session each.
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
            question: what is asked.
            workers: started ahead for this session alone; the caller closes them, after it.
            clock: tells when the deadline of a grade has passed, in seconds.
            proved: the question was graded before: whether its reference is steady is not tried.
            parts: the numbers of the parts that count, all if not given; the others decide nothing.

        Raises:
            ValueError: there is no such part, or none is named.
        """
        self.question = question
        self._counting = resolve_counted_parts(question, parts)
        self._form = forms.form_of(question.spec)
        self._clock = clock
        self._proved = proved
        self._in_use = threading.Lock()
        self._closed = False
        self._stack = contextlib.ExitStack()
        torch = question.spec.needs_torch
        if workers is None or workers.torch != torch:
            workers = self._stack.enter_context(WorkerPool(torch=torch))
        self._workers = workers
        # The bank's own programs; none is loaded before it is needed.
        self.bank = self._stack.enter_context(BankPrograms(question, workers))

    def grade(
        self,
        submission: bytes,
        *,
        seed: int,
        filename: str = "submission.py",
        progress: Callable[[int, int], None] = lambda _done, _all: None,
        is_program: bool = False,
        modules: Mapping[str, bytes] = MappingProxyType({}),
        stretched: bool = True,
        decided: Callable[[Report], None] | None = None,
        explain_starter: bool = True,
        lenient: bool = False,
        literal: bool = False,
        passed: bytes = b"",
    ) -> Report:
        """Grade a submission.

        Args:
            submission: the file's bytes; they are never decoded, parsed or run in this process.
            seed: from which every input is drawn.
            filename: what tracebacks call the file.
            progress: called with how many checks are done, and of how many.
            is_program: whether it is a program already, where the form asks for a text.
            modules: further files of a program, by the name under which it imports each; one that
                another imports comes before that.
            stretched: whether what is only reported is measured.
            decided: called with a report as soon as there is a verdict: before what is only
                reported is measured, and before a failure is explained.
            explain_starter: whether an untouched starter is explained as well; a page shows
                no more of one than that it is wrong, unless that is asked for.
            lenient: whether a line of answers that cannot be read is passed over, and what a file
                defines before it raises counts, as in a class.
            literal: whether answers are read literally: `37 users` is no number then.
            passed: the version that passed the parts before; the submission is `unchanged` if it
                has the same code, see `worker.syntax`. Otherwise the starter's code counts.

        Returns:
            The report; whatever the submission does, it becomes a verdict.

        Raises:
            RuntimeError: another thread is using the session, or it is closed.
            TypeError: the submission is not bytes, or the seed no whole number.
            ValueError: the seed is negative or too large.
        """
        _refuse(submission, seed)
        began, question, is_text = time.perf_counter(), self.question, self._form.is_text
        report = Report(
            question=question.id,
            title=question.spec.title,
            verdict=Verdict.ERROR,
            seed=seed,
            isolation="",  # until a process has shown what it is refused
            seconds=0.0,
            sha256=hashlib.sha256(submission).hexdigest(),
            bank=str(question.bank),
            digest=question.digest,
            program=__version__,
            unchanged=question.is_starter(submission),
        )
        unread: list[UnreadableAnswer] = []
        source: bytes | CaseFinding = byte_problem(submission, question) or submission
        if source is submission and not is_program:
            passed_over = unread if lenient else None
            source = submission_program(
                submission, question, filename, passed_over, literal=literal
            )
        if isinstance(source, CaseFinding):
            return self._stopped(report, source)
        # No numpy warnings: infinities and NaN are what comparing is about.
        with (
            self._alone(),
            np.errstate(all="ignore"),
            self._workers.take_worker() as worker,
        ):
            program = self._program(worker, source, filename, modules, keep=lenient)
            report = replace(report, isolation=worker.isolation.level)
            worker.deadline = Deadline(GRADE_SECONDS, self._clock)
            self.bank.set_deadline(worker.deadline)
            try:
                if not is_text and len(submission) < MOST_COMPARED:
                    program.before = passed or question.starter
                    program.code = question.code_names
                wrong = self._load(program)
                if program.loaded and program.loaded.same:
                    report = replace(report, unchanged=True)
                if wrong is not None:
                    report = self._stopped(report, wrong)
                else:
                    report = replace(report, stopped=load_exception_notes(program))
                    evaluation = self.bank.new_evaluation(program, seed)
                    is_explained = explain_starter or not report.unchanged
                    # The misconceptions' process starts during other checks.
                    expect = self.bank.start_variants_process if is_explained else (lambda: None)

                    def judged(*, stretched: bool) -> Report:
                        evaluation.measures_stretch = stretched
                        # Where no speed is measured the reference runs on one secret draw, once.
                        drawn = new_secret_draw() if stretched else self.bank.secret_draw
                        evaluation.secret_draw, evaluation.keeps_secret_draw = drawn, not stretched
                        checks = run_checks(evaluation, expect, self._counting, progress)
                        return self._judged(report, evaluation, checks)

                    early = None if decided is None else judged(stretched=False)
                    if decided and early:
                        decided(early)
                    # What was found out once is remembered; a process that is gone says no more.
                    more = worker.failure is None and any(c.stretch for c in question.spec.checks)
                    report = judged(stretched=stretched) if more or not early else early
                    # Of what is not written yet there is nothing to explain.
                    is_wrong = report.verdict is not Verdict.PASS and not report.message
                    if is_wrong and is_explained:
                        with discarding_output(worker):
                            report = self.explain(evaluation, report)
            except BankProgramError as fault:
                invalid = CaseFinding(f"{question.spec_path}: {fault}", Verdict.INVALID)
                report = self._stopped(report, invalid)
            finally:
                self.bank.set_deadline(None)
            if is_text and not is_program:
                report = with_answer_lines(report, submission, unread)
            elif cell_starts(submission):
                report = map_exceptions(
                    report, lambda raised: with_cell_numbers(raised, submission)
                )
            printed = worker.printed[-MAX_REPORTED_OUTPUT:].decode("utf-8", "replace")
            return replace(report, printed=printed, seconds=time.perf_counter() - began)

    def _program(
        self,
        worker: WorkerClient,
        source: bytes,
        filename: str,
        modules: Mapping[str, bytes],
        *,
        keep: bool,
    ) -> RemoteProgram:
        """A submission, not loaded yet."""
        support = self.question.support
        support = replace(support, modules={**modules, **support.modules})
        if not self._form.runs_in_two_processes:
            # The first calls of torch may load what the reference, used before, has already loaded.
            slowest = None if worker.torch else self.bank.slowest_call
            return RemoteProgram(
                worker, "submission", [source], support, filename,
                slowest_call=slowest, untrusted=True, keeps_partial_load=keep,
                judge_program=self.bank.living_reference,
            )  # fmt: skip
        return TesterProgram(
            worker, "submission", [source], replace(support, driver=None), filename,
            untrusted=True, keeps_partial_load=keep, reference_program=self.bank.living_reference,
        )  # fmt: skip

    def _load(self, program: RemoteProgram) -> CaseFinding | None:
        """Load a submission and the reference; what is wrong where that cannot be done.

        Raises:
            BankFault: the reference cannot be loaded.
        """
        # What a part asks for that does not count decides nothing.
        # What is not answered yet leaves the rest of a file of answers as it is.
        whole = 1 in self._counting and not self._form.is_text
        required = self.question.signatures_for_part(1) if whole else {}
        try:
            wrong = load_submission(program, self.question, required, self.bank.restore_reference)
            if wrong is None:
                self.bank.restore_reference()
        except OutOfTime:
            wrong = CaseFinding(deadline_note(program.worker), Verdict.LIMIT)
        return wrong

    def _judged(
        self, report: Report, evaluation: Evaluation, checks: tuple[CheckResult, ...]
    ) -> Report:
        """The report with the checks, and what follows from them.

        Raises:
            BankFault: the reference fails, or computes something else the second time.
        """
        spec = self.question.spec
        if not self._proved:
            with contextlib.suppress(OutOfTime):
                require_deterministic(evaluation, self.bank.reference, patience=RERUN_SECONDS)
            self._proved = True
        parts = part_results(spec, checks, self._counting)
        checks = award_points(spec, checks, self._counting)
        verdict = overall_verdict(checks, self._counting)
        message = missing_functions_note(evaluation, checks, self._counting)
        report = replace(report, verdict=verdict, parts=parts, checks=checks, message=message)
        if verdict is Verdict.PASS:
            asks = [one.ask for one in spec.follow_ups]
            return replace(report, follow_up=asks[report.seed % len(asks)] if asks else "")
        return report

    def _stopped(self, report: Report, wrong: CaseFinding) -> Report:
        """The report of a grade that never got as far as a check."""
        parts = part_results_without_checks(self.question.spec, wrong.verdict, self._counting)
        return replace(
            report, verdict=wrong.verdict, message=wrong.sentence, raised=wrong.raised, parts=parts
        )

    def explain(self, evaluation: Evaluation, report: Report) -> Report:  # noqa: ARG002
        """Return the report of a failure with what explains it: here, nothing."""
        return report

    def evaluate_bank_program(
        self, name: str, sources: Sequence[bytes], seed: int, *, called: str = "", file: str = "",
        parts: int | None = None,
    ) -> Evaluation:  # fmt: skip
        """Evaluate a program of the bank's own: what an audit does, without a deadline.

        Such programs share a process; a submission never runs there.  Messages say what it is
        `called` and its `file`.  It has to define what so many `parts` call, or all.

        Raises:
            BankFault: the reference or the program cannot be loaded.
            RuntimeError: another thread is using the session, or it is closed.
        """
        with self._alone():
            return self.bank.evaluate_bank_program(name, sources, seed, called or name, file, parts)

    def close(self) -> None:
        """End every process of the session."""
        self._closed = True
        self._stack.close()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        if self._closed:
            raise RuntimeError("this GradingSession is closed: open another one")
        if not self._in_use.acquire(blocking=False):
            raise RuntimeError("a GradingSession serves one thread at a time: open one for each")
        try:
            yield
        finally:
            self._in_use.release()


@contextlib.contextmanager
def discarding_output(worker: WorkerClient) -> Iterator[None]:
    """Keep what is printed in this block out of the grade: the report shows what was before."""
    printed = worker.printed
    size = worker.output_bytes
    try:
        yield
    finally:
        worker.printed = printed
        worker.output_bytes = size


def _refuse(submission: object, seed: object) -> None:
    """Refuse what a caller may pass by mistake, before anything is started for it."""
    if not isinstance(submission, bytes):
        raise TypeError(
            f"submission: expected bytes, found {type(submission).__name__}; pass the file's "
            "Path.read_bytes(), or encode the text"
        )
    wanted = f"seed: expected a whole number from 0 to {MAX_SEED:,}"
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise TypeError(f"{wanted}, found {type(seed).__name__}; pass an int")
    if not 0 <= seed <= MAX_SEED:
        raise ValueError(f"{wanted}, found {seed:,}; pass another one")
