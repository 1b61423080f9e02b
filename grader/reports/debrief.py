"""The page of a finished interview, for a mentor: no grade and no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grader.model.number_format import format_count, format_minutes, join_words
from grader.reports.blocks import BlankLine, Blocks, Heading, Item, Paragraph, Table


class PartTime(NamedTuple):
    """One part of a question: tries, and the minutes until it passed or was left."""

    number: int
    planned: int
    passed: bool
    minutes: float | None  # None if it was not asked
    tries: int


class IdeaDuration(NamedTuple):
    """Time that a candidate had an idea: until a try without it, or to the end."""

    name: str
    minutes: float
    tries: int
    text: str  # its feedback


@dataclass(frozen=True, slots=True)
class QuestionDebrief:
    """Facts on one question of an interview."""

    id: str
    title: str
    parts: tuple[PartTime, ...]
    hints: int
    gave_up: bool
    right: tuple[str, ...]  # checks that no try failed
    wrong: str  # in the last try
    ideas: tuple[IdeaDuration, ...]
    review: str  # when it comes back, and why; empty if its bank is missing
    follow_ups: tuple[str, ...]  # the first of each part that passed
    marks: tuple[tuple[int, int, str], ...]  # part (0: the question), mark and note


@dataclass(frozen=True, slots=True)
class Debrief:
    """Facts on a finished interview."""

    number: int
    at: datetime
    candidate: str
    minutes: float
    of: int  # minutes planned
    questions: tuple[QuestionDebrief, ...]
    not_asked: tuple[str, ...]  # titles
    notes: tuple[tuple[float, str, int, str], ...]  # minute, question, part and text
    decision: str

    @property
    def title(self) -> str:
        """Number, candidate and time: "Interview 3 of Ann, 2026-11-20 10:00"."""
        candidate = f" of {self.candidate}" if self.candidate else ""
        return f"Interview {self.number}{candidate}, {self.at:%Y-%m-%d %H:%M}"


def page(debrief: Debrief) -> Blocks:
    """Yield the page of an interview, below its title."""
    yield Paragraph(f"{round(debrief.minutes)} of {format_count(debrief.of, 'minute')}.")
    if debrief.decision:
        yield Paragraph(debrief.decision, "Decision:", hang=4)
    if debrief.not_asked:
        yield Paragraph(f"{'; '.join(debrief.not_asked)}.", "Not asked:", hang=4)
    for question in debrief.questions:
        yield Heading(question.title, format_count(question.hints, "hint"), question.id)
        yield from _question(question)
    if debrief.notes:
        yield Heading("Notes")
        for minute, id_, part, text in debrief.notes:
            yield Item(f"{id_}, part {part}: {text}", f"{round(minute):>3} min")


def _question(question: QuestionDebrief) -> Blocks:
    head = ("part", "", "minutes", "planned", "tries")
    rows = []
    for number, planned, passed, minutes, tries in question.parts:
        state = "passed" if passed else "not passed"
        spent = ""
        if minutes is not None:
            spent = str(round(minutes))
        elif not passed:
            state = "not asked"
        rows.append((str(number), state, spent, str(planned), str(tries)))
    yield BlankLine()
    yield Table(head, rows, ("part", *head[2:]), 2)
    yield BlankLine()
    for part, mark, note in question.marks:
        lead = f"Mark, part {part}:" if part else "Mark:"
        yield Paragraph(f"{mark} of 4. {note}".rstrip(), lead, hang=4)
    first_tries = [p.number for p in question.parts if p.passed and p.tries < 2]
    for text, lead in (
        (join_words(first_tries), "Parts passed at the first try:"),
        (join_words(question.right), "Never failed:"),
        (question.wrong, "Wrong at the end:"),
        ("before a pass" if question.gave_up else "", "Looked at the solution:"),
        (question.review, "To review:"),
    ):
        if text:
            yield Paragraph(f"{text}.", lead, hang=4)
    if question.ideas:
        yield Paragraph("Ideas held, and for how long:")
        for name, minutes, tries, text in question.ideas:
            duration = f"{format_minutes(minutes)}, {format_count(tries, 'try', 'tries')}"
            yield Item(f"{duration}: {text}", name, 2)
    if question.follow_ups:
        yield Paragraph("To discuss:")
        yield from (Item(ask, indent=2) for ask in question.follow_ups)
