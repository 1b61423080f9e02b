"""The page of what came of an interview, which may be shown to a mentor: no grade, no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from grader.model.numerals import joined, quantity, span
from grader.reports.blocks import Block, Gap, Heading, Item, Paragraph, Table

_INDENT = 4


class PartTime(NamedTuple):
    """A part, and the minutes from when it was asked until it passed, or nothing more came."""

    number: int
    planned: int
    passed: bool
    minutes: float | None  # None: it was not asked
    tries: int


class Held(NamedTuple):
    """An idea that tries held, and for how long: until one did not, or to the end."""

    name: str
    minutes: float
    tries: int
    text: str  # what is said of it


class Note(NamedTuple):
    """What the interviewer noted."""

    minute: float
    question: str
    part: int
    text: str


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of one question."""

    id: str
    title: str
    parts: tuple[PartTime, ...]
    minutes: float
    hints: int
    gave_up: bool
    right: tuple[str, ...]  # checks that no try failed
    wrong: str  # in the last try
    ideas: tuple[Held, ...]
    review: str  # when it comes back, and why; empty: its bank is gone
    follow_ups: tuple[str, ...]  # of the parts that passed


@dataclass(frozen=True, slots=True)
class Debrief:
    """What came of an interview."""

    number: int
    at: datetime
    candidate: str
    minutes: float
    of: int
    questions: tuple[Looked, ...]
    not_asked: tuple[str, ...]  # titles
    notes: tuple[Note, ...]

    @property
    def title(self) -> str:
        """What it is called."""
        of = f" of {self.candidate}" * bool(self.candidate)
        return f"Interview {self.number}{of}, {self.at:%Y-%m-%d %H:%M}"


def page(debrief: Debrief) -> Iterator[Block]:
    """All that is said of an interview, below its title."""
    yield Paragraph(f"{round(debrief.minutes)} of {quantity(debrief.of, 'minute')}.")
    head = ("question", "parts", "minutes", "planned", "tries", "hints")
    rows = [
        (
            one.id,
            f"{sum(part.passed for part in one.parts)}/{len(one.parts)}",
            _whole(one.minutes),
            str(sum(part.planned for part in one.parts)),
            str(sum(part.tries for part in one.parts)),
            str(one.hints),
        )
        for one in debrief.questions
    ]
    yield from (Gap(), Table(head, tuple(rows), head[1:])) if rows else ()
    if debrief.not_asked:
        yield Paragraph(f"{'; '.join(debrief.not_asked)}.", "Not asked:", hang=_INDENT)
    for one in debrief.questions:
        yield from (Gap(), *_question(one))
    if debrief.notes:
        yield from (Gap(), Heading("Notes"))
        for note in debrief.notes:
            where = f"{note.question}, part {note.part}: " if note.question else ""
            yield Item(f"{where}{note.text}", f"{_whole(note.minute):>3} min")


def _question(one: Looked) -> Iterator[Block]:
    yield Heading(one.title, name=one.id)
    if len(one.parts) > 1:
        rows = [
            (
                str(part.number),
                _state(part),
                _whole(part.minutes),
                str(part.planned),
                str(part.tries),
            )
            for part in one.parts
        ]
        head = ("part", "", "minutes", "planned", "tries")
        yield Table(head, tuple(rows), ("part", *head[2:]), 2)
    first = [str(p.number) for p in one.parts if p.passed and p.tries == 1]
    if len(one.parts) > 1 and first:
        text = f"{'parts' if len(first) > 1 else 'part'} {joined(first)}."
        yield Paragraph(text, "Passed at the first try:", hang=_INDENT)
    if one.right:
        yield Paragraph(f"{joined(one.right)}.", "Never failed:", hang=_INDENT)
    if one.wrong:
        yield Paragraph(one.wrong, "Wrong at the end:", hang=_INDENT)
    if one.ideas:
        yield Paragraph("", "Ideas held, and for how long:")
        for idea in one.ideas:
            held = f"{span(idea.minutes)}, {quantity(idea.tries, 'try', 'tries')}"
            yield Item(f"{held}: {idea.text}", idea.name, 2)
    if one.gave_up:
        yield Paragraph("The solution was looked at before a pass.")
    if one.review:
        yield Paragraph(f"{one.review}.", "To review:", hang=_INDENT)
    if one.follow_ups:
        yield Paragraph("", "To discuss:")
        yield from (Item(ask, "-", 2) for ask in one.follow_ups)


def _state(part: PartTime) -> str:
    if part.passed:
        return "passed"
    return "not asked" if part.minutes is None else "not passed"


def _whole(minutes: float | None) -> str:
    return "" if minutes is None else str(round(minutes))
