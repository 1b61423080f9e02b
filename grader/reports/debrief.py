"""The page of an interview that is over, which a mentor may read: no grade, no verdict."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grader.model.number_format import format_count, format_minutes, join_words
from grader.reports.blocks import BlankLine, Blocks, Heading, Item, Paragraph, Table


class PartTime(NamedTuple):
    """A part, and the minutes until it passed, or the question was left."""

    number: int
    planned: int
    passed: bool
    minutes: float | None  # None: it was not asked
    tries: int


class IdeaDuration(NamedTuple):
    """An idea, and for how long it was held: until a try did not show it, or to the end."""

    name: str
    minutes: float
    tries: int
    text: str  # what is said of it


@dataclass(frozen=True, slots=True)
class QuestionDebrief:
    """What came of one question."""

    id: str
    title: str
    parts: tuple[PartTime, ...]
    hints: int
    gave_up: bool
    right: tuple[str, ...]  # checks that no try failed
    wrong: str  # in the last try
    ideas: tuple[IdeaDuration, ...]
    review: str  # when it comes back, and why; empty: its bank is gone
    follow_ups: tuple[str, ...]  # the first of each part that passed
    marks: tuple[tuple[int, int, str], ...]  # part (0: the question), mark and note


@dataclass(frozen=True, slots=True)
class Debrief:
    """What came of an interview."""

    number: int
    at: datetime
    candidate: str
    minutes: float
    of: int
    questions: tuple[QuestionDebrief, ...]
    not_asked: tuple[str, ...]  # titles
    notes: tuple[tuple[float, str, int, str], ...]  # minute, question, part and text
    decision: str

    @property
    def title(self) -> str:
        """What it is called."""
        of = f" of {self.candidate}" if self.candidate else ""
        return f"Interview {self.number}{of}, {self.at:%Y-%m-%d %H:%M}"


def page(debrief: Debrief) -> Blocks:
    """All that is said of an interview, below its title."""
    yield Paragraph(f"{round(debrief.minutes)} of {format_count(debrief.of, 'minute')}.")
    if debrief.decision:
        yield Paragraph(debrief.decision, "Decision:", hang=4)
    if debrief.not_asked:
        yield Paragraph(f"{'; '.join(debrief.not_asked)}.", "Not asked:", hang=4)
    for one in debrief.questions:
        yield Heading(one.title, format_count(one.hints, "hint"), one.id)
        yield from _question(one)
    if debrief.notes:
        yield Heading("Notes")
        for minute, question, part, text in debrief.notes:
            yield Item(f"{question}, part {part}: {text}", f"{round(minute):>3} min")


def _question(one: QuestionDebrief) -> Blocks:
    head = ("part", "", "minutes", "planned", "tries")
    rows = []
    for number, planned, passed, minutes, tries in one.parts:
        state = "passed" if passed else "not asked" if minutes is None else "not passed"
        took = "" if minutes is None else str(round(minutes))
        rows.append((str(number), state, took, str(planned), str(tries)))
    yield BlankLine()
    yield Table(head, rows, ("part", *head[2:]), 2)
    yield BlankLine()
    for part, mark, note in one.marks:
        lead = f"Mark, part {part}:" if part else "Mark:"
        yield Paragraph(f"{mark} of 4. {note}".rstrip(), lead, hang=4)
    first = join_words(part.number for part in one.parts if part.passed and part.tries < 2)
    for text, lead in (
        (first, "Parts passed at the first try:"),
        (join_words(one.right), "Never failed:"),
        (one.wrong, "Wrong at the end:"),
        ("before a pass" * one.gave_up, "Looked at the solution:"),
        (one.review, "To review:"),
    ):
        if text:
            yield Paragraph(f"{text}.", lead, hang=4)
    if one.ideas:
        yield Paragraph("Ideas held, and for how long:")
        for name, minutes, tries, text in one.ideas:
            yield Item(
                f"{format_minutes(minutes)}, {format_count(tries, 'try', 'tries')}: {text}", name, 2
            )
    if one.follow_ups:
        yield Paragraph("To discuss:")
        yield from (Item(ask, indent=2) for ask in one.follow_ups)
