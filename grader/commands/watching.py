"""A drill that is graded at every save: what happens to its file goes in, what to show comes out.

The session stays open and the seed stays the same from one grade to the next, so that nothing of
the bank is computed twice.  Whatever keeps a file from being graded ends no watch.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.commands import files, grading, interviews, schedule, solution
from grader.commands.context import Context, require_torch
from grader.commands.grading import GradeResult
from grader.explain.session import GradingSession
from grader.model.errors import DrillError, UsageError
from grader.model.report import Report
from grader.records import progress
from grader.reports import sentences
from grader.sandbox import Closeable

_STEP = 10  # milliseconds without a change after which a save is over; as often it is looked
_LOOK = 1000  # milliseconds after which is looked anyway, for what nobody was told of


class WatchedDrill(Closeable):
    """A drill that is watched, and what the last grade found."""

    def __init__(self, ctx: Context, question_id: str | None) -> None:
        """Find the drill, and grade nothing yet."""
        self._ctx, self._found = ctx, grading.resolve_target(ctx, question_id)
        self.resolved_drill, self.path, _ = self._found
        require_torch(self.resolved_drill.question)
        self.on_begin: Callable[[], None] = lambda: None  # called when a grade begins
        self.on_verdict: Callable[[Report], None] = lambda _: None  # as soon as there is a verdict
        self.confirm_answers: Callable[[bytes], bool] = lambda _: False  # of `grading.grade`
        self.last_grade: GradeResult | None = None
        self.fault: DrillError | None = None  # why the file as it is now is not graded
        self.news = ""  # what the last save changed
        self.graded_at = ""  # when it was graded
        self._moments: list[str] = []  # of the sitting, until it is over
        self._session: GradingSession | None = None
        self._seed: int | None = None
        self._seen: bytes | str = ""  # what the file held, or why it could not be read
        self._before = self.resolved_drill.question.without_leading_blank_lines(
            self.resolved_drill.question.starter
        )

    def grade_if_changed(self) -> bool:
        """Grade the file if it is another than was graded; return whether there is any news."""
        fault: UsageError | None = None
        seen: bytes | str
        try:
            seen = files.read_submission(self.path)
        except UsageError as unread:
            fault = unread
            seen = unread.message
        if seen == self._seen:
            return False
        self._seen = seen
        self.fault = fault
        if fault is None and (self.last_grade is None or seen != self.last_grade.submission):
            self._grade()
        return True

    @property
    def time_text(self) -> str:
        """The minutes of the sitting, and those planned; nothing once it is over."""
        planned = self.resolved_drill.question.spec.minutes
        took = int(schedule.minutes_spent([*self._moments, self._ctx.now()], planned))
        return f"{took} of {planned} min" if self._moments else ""

    def grade_again(self) -> None:
        """Grade the file, changed or not, on other inputs."""
        self._seed = None
        self._grade()

    def diff_since_last(self) -> tuple[solution.DiffLine, ...]:
        """Return what the file changes in the version that was graded before, or in the starter."""
        return solution.diff_code(self._before, files.read_submission(self.path))

    def _grade(self) -> None:
        """Grade in the session, which is opened anew where the one before fell over."""
        self.on_begin()
        question = self.resolved_drill.question
        last = self.last_grade
        if self._session is None:
            self._session = GradingSession(question)
        asked = self._ctx.parts_asked(question)
        blind = interviews.is_blind(self._ctx, question)

        def decided(report: Report) -> None:
            # What fails in a part that is not asked yet is not told.
            passes = report.verdict == "pass"
            if not blind and (passes or report.parts_passed < asked):
                self.on_verdict(report)

        self.fault = None
        try:
            graded = grading.grade_file(
                self._ctx, seed=self._seed, agreed=self.confirm_answers, found=self._found,
                session=self._session, on_verdict=decided,
            )  # fmt: skip
        except DrillError as fault:
            self.fault = fault
            if not isinstance(fault, UsageError):  # its processes may be gone
                self.close()
            return
        self._seed = graded.report.seed
        self.last_grade, self.graded_at, self.news = graded, self._ctx.now(), ""
        yours = self._ctx.progress(question)
        self._moments = [] if yours.is_finished else yours.moments
        if last and last.submission != graded.submission:
            self._before = last.submission
            until = graded.next_part - 1 if graded.next_part else len(question.spec.parts)
            self.news = sentences.changes_since(
                last.report, graded.report, until, self._lost(graded.report)
            )

    def _lost(self, report: Report) -> tuple[int, int] | None:
        """Return the part that fails now and passed in this sitting, and the last try that did."""
        question = self.resolved_drill.question
        part = report.parts_passed + 1
        many = len(question.spec.parts)
        yours = self._ctx.progress(question)
        if many == 1 or part > yours.count_parts_passed(many):
            return None
        every = self._ctx.attempts(question, bank=str(question.bank), kind="grade")
        mine = [
            one
            for one in every
            if one.id > yours.last_earlier_attempt and one.is_try and one.verdict
        ]
        tries = list(dict.fromkeys(one.sha256 for one in mine))
        passed = [one.sha256 for one in mine if progress.parts_passed(one.parts) >= part]
        return (part, tries.index(passed[-1]) + 1) if passed else None

    def close(self) -> None:
        """End the processes of the session."""
        if self._session:
            self._session.close()
            self._session = None


@contextmanager
def watch_saves(path: Path, saved: Callable[[], None]) -> Iterator[None]:
    """Call `saved`, in a thread, when a file may have changed; and every second, to be sure.

    Changes that follow each other at once are one.  A folder that was removed and made again is
    watched again; where the system tells of no changes, the second is what remains.
    """
    over = threading.Event()

    def look() -> None:
        from watchfiles import watch

        while not over.is_set():
            with suppress(OSError, RuntimeError):  # no folder, or no room for another watch
                folder = path.parent.stat()
                for _ in watch(
                    path.parent, watch_filter=None, step=_STEP, rust_timeout=_LOOK,
                    yield_on_timeout=True, stop_event=over, recursive=False,
                ):  # fmt: skip
                    saved()
                    if not os.path.samestat(path.parent.stat(), folder):
                        break
            saved()
            over.wait(_LOOK / 1000)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
