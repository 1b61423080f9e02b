"""`drill interview debrief`: the time, the tries and the ideas of an interview that is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from grader import bank
from grader.commands import output, schedule
from grader.commands.context import Context
from grader.commands.open_interview import CandidateOption, candidate_context, end_interview
from grader.commands.options import JsonOption, argument, option
from grader.model.errors import DrillError, UsageError
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS
from grader.records import interviews
from grader.records.events import Event
from grader.records.interviews import Interview, InterviewQuestion
from grader.records.progress import NO_TRY_MARK, UNCHANGED_MARK, parts_passed
from grader.reports.debrief import Debrief, IdeaDuration, PartTime, QuestionDebrief


def make_debrief(ctx: Context, number: int | None = None) -> Debrief:
    """Return the debrief of the interview with this number, by default of the latest.

    If its time is up but nobody ended it, this ends it.  UsageError if the interview is unknown, or
    time is left.
    """
    recorded = ctx.store.read(interviews.all_interviews, empty=[])
    matches = [interview for interview in recorded if number in {None, interview.number}]
    if not matches:
        raise UsageError("there is no such interview", hint=f"Next: {ctx.interview()}")
    interview = matches[-1]
    if interview is recorded[-1] and not interview.closed:
        if left := interview.time_left_text(ctx.now()):
            hint = f"Next: {ctx.interview('end')}"
            raise UsageError(f"the interview is open, {left}", hint=hint)
        end_interview(ctx)
    end = interview.minute_of(interview.closed or ctx.now())
    first_asked = {
        entry.question: interview.minute_of(entry.at) for entry in reversed(interview.asked)
    }
    questions = {question.id: question for question in interview.questions}
    asked = [question for question in questions.values() if question.id in first_asked]
    ends = [*(first_asked[question.id] for question in asked[1:]), end]
    return Debrief(
        number=interview.number,
        at=ctx.to_local(datetime.fromisoformat(interview.at)),
        candidate=interview.candidate,
        minutes=end,
        of=interview.minutes,
        questions=tuple(
            _debrief_question(ctx, interview, question, until)
            for question, until in zip(asked, ends, strict=False)
        ),
        not_asked=tuple(
            question.title for question in interview.questions if question.id not in first_asked
        ),
        notes=tuple(
            (interview.minute_of(entry.at), entry.question, entry.part, entry.text)
            for entry in interview.noted
        ),
        decision=interview.decision,
    )


def _debrief_question(
    ctx: Context, interview: Interview, asked: InterviewQuestion, until: float
) -> QuestionDebrief:
    """Return the debrief of one question; `until` is the minute in which it was left."""
    rows = ctx.store.read(lambda db: interviews.events_during(db, interview, asked.id), empty=[])
    grades = _Grades(interview, asked)
    versions = {row.attempt: row.sha256 for row in rows if row.what == "begun"}
    for row in rows:
        if row.what == "graded" and row.attempt in versions and row.parts != NO_TRY_MARK:
            grades.add(row, versions[row.attempt])
    grades.update_ideas({}, until)  # the question was left
    parts = grades.part_times(asked.minutes, until)
    review = ""
    follow_ups: tuple[str, ...] = ()
    with suppress(DrillError):  # for example, its bank is gone
        question = bank.load_question([ctx.bank_of(asked.bank, asked.id)], asked.id)
        if not interview.candidate:  # the schedule is that of the host
            review = _review_text(ctx, asked.id, question)
        follow_ups = tuple(
            part.follow_ups[0].ask
            for part, part_time in zip(question.spec.parts, parts, strict=False)
            if part_time.passed and part.follow_ups
        )
    last_marks = {
        entry.part: entry.text for entry in interview.marked if entry.question == asked.id
    }
    saw_solution = any(row.what == "solution" for row in rows)
    return QuestionDebrief(
        id=asked.id,
        title=asked.title,
        parts=parts,
        hints=len({row.hint for row in rows if row.what == "hint"}),
        gave_up=saw_solution and not parts[-1].passed,
        right=tuple(name for name, is_right in grades.never_failed.items() if is_right),
        wrong=grades.last_fault or "",
        ideas=tuple(grades.ideas.values()),
        review=review,
        follow_ups=follow_ups,
        marks=tuple((part, int(text[0]), text[2:]) for part, text in sorted(last_marks.items())),
    )


def _review_text(ctx: Context, question_id: str, question: Question) -> str:
    """Return when a question comes back, and why: "Dec 3: passed today in 2 tries, no hints"."""
    question_progress = ctx.progress(question)
    day = schedule.due_date(ctx, bank.header([question.bank], question_id), question_progress)
    if question_progress.is_finished and day:
        reason = schedule.return_reason(ctx, question_progress)
        return f"{schedule.format_day(day, ctx.today)}: {reason}"
    state = "begun again" if question_progress.passed else "not passed yet"
    return f"now, as it is {state}"


class _Grades:
    """Adds up the grades of one question in an interview: times and tries by part, and ideas.

    A part begins when the part before it passes; in a blind interview when it is asked.
    """

    def __init__(self, interview: Interview, asked: InterviewQuestion) -> None:
        entries = [entry for entry in interview.asked if entry.question == asked.id]
        self._interview = interview
        self._first_part = entries[0].part
        self._last_part = len(asked.minutes)
        if not interview.blind:
            entries = entries[:1]
        self._begun = {entry.part: interview.minute_of(entry.at) for entry in reversed(entries)}
        self._versions: set[str | None] = set()
        # The most parts that passed, and the first file that passed them.
        self._best: tuple[int, str | None] = (self._first_part - 1, None)
        self._shown_since: dict[str, float] = {}  # minute, by idea that the last page shows
        self._tries: Counter[int] = Counter()
        self.ideas: dict[str, IdeaDuration] = {}
        self.never_failed: dict[str, bool] = {}  # by check that ran; False: a try failed it
        self.last_fault: str | None = ""  # first failure of the last grade, as a sentence

    def add(self, row: Event, version: str | None) -> None:
        """Add a grade, the event `row`, of the file with the sha256 `version`.

        Only the first grade of a version counts as a try.
        """
        import json

        minute = self._interview.minute_of(row.at)
        report = json.loads(row.report or "{}")
        parts_begun = [part for part, begun in self._begun.items() if begun <= minute]
        part = min(max(parts_begun, default=self._first_part), self._last_part)
        highest_passed = parts_passed(row.parts)
        is_same = row.parts == UNCHANGED_MARK or (highest_passed, version) == self._best
        is_new_try = not is_same and version not in self._versions
        self._versions.add(version)
        if highest_passed > self._best[0]:
            self._best = (highest_passed, version)
        if is_new_try:
            self._tries[part] += 1
        if not self._interview.blind:
            for passed_part in range(part, highest_passed + 1):
                self._begun.setdefault(passed_part + 1, minute)
        checks = [
            check
            for check in report.get("checks", ())
            if check["part"] <= max(part, highest_passed) and not check.get("stretch")
        ]
        failed = {
            check["id"]: check["message"]
            for check in checks
            if check["verdict"] not in NON_FAILING_VERDICTS
        }
        if is_new_try:
            for check in checks:
                if check["verdict"] != "skipped":
                    self.never_failed.setdefault(check["id"], True)
            self.never_failed |= dict.fromkeys(failed, False)
        feedback = {}
        if not is_same:
            faults = [f"{name}: {message}" for name, message in failed.items()]
            self.last_fault = faults[0] if faults else report.get("message")
            feedback = {
                idea["id"]: idea["feedback"]
                for idea in report.get("misconceptions", ())
                if failed and (not idea["checks"] or failed.keys() & set(idea["checks"]))
            }
        self.update_ideas(feedback, minute, is_new_try=is_new_try)

    def update_ideas(
        self, feedback: Mapping[str, str], minute: float, *, is_new_try: bool = False
    ) -> None:
        """Note that from this minute on the page shows exactly the ideas of `feedback`.

        `feedback` has the text of each idea.  An idea that is shown no more gets the minutes for
        which it was shown.  `is_new_try` counts a try for each idea that is shown.
        """
        from grader.reports.grade_sentences import first_sentences  # loads pydantic

        for name in self._shown_since.keys() - feedback.keys():
            idea = self.ideas[name]
            minutes = max(minute - self._shown_since.pop(name), 0.0)
            self.ideas[name] = idea._replace(minutes=idea.minutes + minutes)
        for name, text in feedback.items():
            self._shown_since.setdefault(name, minute)
            idea = self.ideas.get(name, IdeaDuration(name, 0.0, 0, first_sentences(text, 1)[0]))
            self.ideas[name] = idea._replace(tries=max(idea.tries + is_new_try, 1))

    def part_times(self, planned_minutes: tuple[int, ...], until: float) -> tuple[PartTime, ...]:
        """Return the time and the tries of each part, if the question was left at `until`.

        `until` is a minute of the interview.
        """
        times = []
        for number, planned in enumerate(planned_minutes, 1):
            minutes = None
            if number in self._begun:
                end = min(self._begun.get(number + 1, until), until)
                minutes = max(end - self._begun[number], 0.0)
            times.append(
                PartTime(
                    number=number,
                    planned=planned,
                    passed=number <= self._best[0],
                    minutes=minutes,
                    tries=self._tries[number],
                )
            )
        return tuple(times)


def debrief(
    ctx: typer.Context,
    number: Annotated[
        int | None, argument("N", "Number of the interview (default: the last).")
    ] = None,
    out: Annotated[Path | None, option("FILE", "Write it to a .md or .html file.")] = None,
    candidate: CandidateOption = "",
    json: JsonOption = False,
) -> None:
    """Show the debrief of an interview that is over."""
    context = candidate_context(ctx, candidate)
    if out and out.suffix not in {".md", ".html"}:
        raise UsageError(f"--out: expected a name that ends in .md or .html, found {out}")
    result = make_debrief(context, number)
    if out:
        _write_page(result, out)
        output.info(f"the debrief is in {out}")
    if json or out is None:
        show_debrief(result, context, json=json)


def _write_page(result: Debrief, path: Path) -> None:
    """Write a debrief as HTML or Markdown, depending on the name of the file."""
    from grader.bank.bank_files import write_atomically
    from grader.reports.blocks import Heading, render_markdown
    from grader.reports.debrief import page
    from grader.reports.html import standalone_page

    blocks = [*page(result)]
    if path.suffix == ".html":
        write_atomically(path, standalone_page(result.title, blocks))
    else:
        write_atomically(path, [render_markdown([Heading(result.title, level=1), *blocks])])


def show_debrief(result: Debrief, context: Context, *, json: bool) -> None:
    """Show a debrief, or write it as JSON."""
    from grader.reports.blocks import Heading
    from grader.reports.debrief import page

    if json:
        output.write_json(**asdict(result) | {"at": result.at.isoformat()})
        return
    commands = [context.interview("debrief --out FILE.html")]
    if not result.candidate:
        commands.insert(0, "drill next")
    blocks = [Heading(result.title, level=1), *page(result)]
    output.show_page(blocks, commands=commands, paged=True)
