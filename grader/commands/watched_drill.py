"""A drill that is graded at every save.

A session (worker processes and results of the reference) stays open between grades: the reference
does not run twice on the same inputs.  A file that cannot be graded does not end the watch.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from grader.commands import files, schedule
from grader.commands.context import Context, require_torch
from grader.commands.grade import GradeResult, GradeSettings, grade_file
from grader.commands.grade_target import resolve_target
from grader.commands.solution import DiffLine, diff_code
from grader.model.errors import DrillError, UsageError
from grader.sandbox import Closeable

if TYPE_CHECKING:
    from grader.explain.session import GradingSession
    from grader.model.report import Report

SAVE_PAUSE = 0.01  # seconds without a change, after which a save is complete
EMPTY_PAUSE = 0.2  # the same if the file is empty: most editors empty it before they write


class WatchedDrill(Closeable):
    """A drill that is watched, and the result of the last grade."""

    def __init__(self, ctx: Context, question_id: str | None) -> None:
        """Find the drill; grade nothing yet."""
        self._ctx = ctx
        self._target = resolve_target(ctx, question_id)
        self.resolved_drill = self._target.resolved_drill
        self.path = self._target.path
        question = self.resolved_drill.question
        require_torch(question)
        self.on_begin: Callable[[], None] = lambda: None  # called when a grade begins
        self.on_verdict: Callable[[Report], None] = lambda _: None  # as soon as there is a verdict
        self.confirm_answers: Callable[[bytes], bool] = lambda _: False  # see `GradeSettings`
        self.last_grade: GradeResult | None = None
        self.fault: DrillError | None = None  # why the file as it is now is not graded
        self.news = ""  # what the last save changed
        self.graded_at = ""
        self._moments: list[str] = []  # times of the sitting's events; empty once it is finished
        self._session: GradingSession | None = None
        self._seed: int | None = None
        self._last_read: bytes | str = ""  # the content of the file, or why it cannot be read
        self._version_before = question.without_leading_blank_lines(question.starter)

    def grade_if_changed(self) -> bool:
        """Grade the file after a save that changed it; return True if the page may have changed.

        Wait until the save is complete.  A file that cannot be read becomes `fault`.
        """
        content, fault = self._read_file()
        if content == self._last_read:
            return False
        before: bytes | str | None = None
        while content != before:  # an editor may still be writing
            time.sleep(SAVE_PAUSE if content else EMPTY_PAUSE)
            before = content
            content, fault = self._read_file()
        self._last_read = content
        self.fault = fault
        is_new = self.last_grade is None or content != self.last_grade.submission
        if fault is None and is_new:
            self._grade()
        return True

    def _read_file(self) -> tuple[bytes | str, UsageError | None]:
        """Return the file's content and no fault, or the fault's message and the fault."""
        try:
            return files.read_submission(self.path), None
        except UsageError as fault:
            return fault.message, fault

    @property
    def time_text(self) -> str:
        """Time in this sitting, "12 of 15 min"; empty before the first grade and after a pass."""
        if not self._moments:
            return ""
        planned = self.resolved_drill.question.spec.minutes
        minutes = schedule.minutes_spent([*self._moments, self._ctx.now()], planned)
        return f"{int(minutes)} of {planned} min"

    def grade_again(self) -> None:
        """Grade the file on other inputs, even if it has not changed."""
        self._seed = None
        self._grade()

    def diff_since_last(self) -> tuple[DiffLine, ...]:
        """Return the changes since the version that was graded before, or since the starter."""
        return diff_code(self._version_before, files.read_submission(self.path))

    def _grade(self) -> None:
        """Grade the file, and keep the result or the fault.

        If a fault may have ended the worker processes, the next grade opens a new session.
        """
        from grader.explain.session import GradingSession

        self.on_begin()
        if self._session is None:
            self._session = GradingSession(self.resolved_drill.question)
        on_verdict = self._early_verdict_hook()
        settings = GradeSettings(
            confirm_answers=self.confirm_answers, on_verdict=on_verdict, session=self._session
        )
        self.fault = None
        try:
            graded = grade_file(self._ctx, self._target, seed=self._seed, settings=settings)
        except DrillError as fault:
            self.fault = fault
            if not isinstance(fault, UsageError):  # the processes of the session may have ended
                self.close()
            return
        self._take_result(graded)

    def _early_verdict_hook(self) -> Callable[[Report], None]:
        """Return a function that passes a verdict to `on_verdict` before the full report is ready.

        It withholds verdicts in a blind interview, and the failure of a part not asked yet.
        """
        from grader.commands import open_interview

        question = self.resolved_drill.question
        asked = self._ctx.parts_asked(question)
        is_blind = open_interview.is_blind(self._ctx, question)

        def show_verdict(report: Report) -> None:
            is_about_asked = report.verdict == "pass" or report.parts_passed < asked
            if is_about_asked and not is_blind:
                self.on_verdict(report)

        return show_verdict

    def _take_result(self, graded: GradeResult) -> None:
        """Keep the result of a grade, and put into `news` what has changed since the last one."""
        from grader.reports import grade_sentences

        question = self.resolved_drill.question
        last = self.last_grade
        self._seed = graded.report.seed
        self.last_grade = graded
        self.graded_at = self._ctx.now()
        self.news = ""
        question_progress = self._ctx.progress(question)
        self._moments = [] if question_progress.is_finished else question_progress.moments
        if last and last.submission != graded.submission:
            self._version_before = last.submission
            last_part = graded.next_part - 1 if graded.next_part else len(question.spec.parts)
            self.news = grade_sentences.changes_since(last.report, graded.report, last_part)

    def close(self) -> None:
        """End the worker processes; the next grade starts new ones."""
        if self._session:
            self._session.close()
            self._session = None
