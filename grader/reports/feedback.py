"""What a student is told of a grade, question by question, as a page of HTML or as Markdown.

A student's name, file and exception are text and nothing else, wherever they are shown.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from grader.model.classroom import Entry, Posed, Terms
from grader.model.numerals import quantity
from grader.model.report import CheckResult, Report
from grader.model.verdict import Verdict
from grader.reports import words
from grader.reports.around import Around
from grader.reports.exhibits import exhibit_lines
from grader.reports.hiding import Seen, seen
from grader.reports.inert import inert
from grader.reports.page import INDENT
from grader.reports.prose import blocks
from grader.reports.text import Text
from grader.reports.trace import raised_lines
from grader.reports.withheld import hides, withheld

if TYPE_CHECKING:
    from jinja2 import Template

_WIDTH = 80  # cells of what is set in columns
_ROWS = 12  # of a table
_LONGEST = 4000  # characters of a paragraph
_ALL = 10**6  # characters of a list of names
_EARNED = "Earned:"  # stands with the verdict here
_TEMPLATES = Path(__file__).parent / "templates"
_CODE = re.compile(r"`([^`\n]+)`")
NOT_GRADED = (
    "Not graded yet, and that is not your fault: the grader has not come to an end. "
    "It will be tried again."
)
UNSEEN = "A hidden check does not pass."


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, an item of a list, or lines in which every space counts."""

    text: str = ""
    lead: str = ""
    item: bool = False
    code: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What is said of one question."""

    id: str
    title: str
    state: str  # "passes", "does not pass", "not graded yet", "nothing handed in"
    points: str  # "40 of 100 points"; empty where nobody knows yet
    late: str = ""
    parts: tuple[str, ...] = ()
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class Feedback:
    """What is said to one student."""

    student: str
    title: str  # of the class
    total: str
    answers: tuple[Answer, ...]


def feedback(terms: Terms, entries: Sequence[Entry]) -> Feedback:
    """Say what came of everything that a student handed in.

    Args:
        terms: what the class is asked.
        entries: those of one student, at least one: what counts of each question.
    """
    found = {entry.posed.id: entry for entry in entries}
    handed = entries[0].handed
    answers = tuple(_answer(terms, posed, found.get(posed.id)) for posed in terms.posed)
    total = _total(terms, found)
    return Feedback(handed.name or handed.student, terms.title, total, answers)


def _total(terms: Terms, found: dict[str, Entry]) -> str:
    """The weighted points of all questions, exactly."""
    earned = possible = Decimal(0)
    waiting = 0
    for posed in terms.posed:
        entry, weight = found.get(posed.id), Decimal(str(posed.weight))
        points = 0 if entry is None else entry.points
        waiting += points is None
        earned += weight * (points or 0)
        possible += weight * posed.of
    text = f"{_exact(earned)} of {_exact(possible)} points"
    return f"{text} so far: {quantity(waiting, 'question')} not graded yet" if waiting else text


def _exact(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _answer(terms: Terms, posed: Posed, entry: Entry | None) -> Answer:
    if entry is None:
        return _plain(posed, "nothing handed in", 0)
    late = _late(entry, terms) if entry.late else ""
    report = entry.report
    if entry.handed.fault:
        text = f"There is no program in {entry.handed.path}: {entry.handed.fault}."
        return _plain(posed, "no program", 0, late, Block(text))
    if report is None:
        return _plain(posed, "not graded yet", None, late, Block(NOT_GRADED))
    shown = seen(withheld(report), posed.hidden)
    return Answer(
        posed.id,
        posed.title,
        "passes" if report.verdict is Verdict.PASS else "does not pass",
        _points(entry.points, posed),
        late,
        tuple(_parts(report)),
        tuple(told(shown)),
    )


def _plain(posed: Posed, state: str, points: int | None, late: str = "", *said: Block) -> Answer:
    return Answer(posed.id, posed.title, state, _points(points, posed), late, blocks=said)


def _points(points: int | None, posed: Posed) -> str:
    if points is None:
        return ""
    times = "" if posed.weight == 1 else f", which count {_exact(Decimal(str(posed.weight)))} times"
    return f"{points} of {quantity(posed.of, 'point')}{times}"


def _late(entry: Entry, terms: Terms) -> str:
    if entry.handed.late or not (entry.handed.at and terms.deadline):
        return "Late, as the learning platform says."
    try:
        deadline = datetime.fromisoformat(terms.deadline)
        at = datetime.fromisoformat(entry.handed.at).astimezone(deadline.tzinfo)
    except (ValueError, OverflowError):  # the last hours of the year 9999, in another zone
        return "Late."
    form = "%Y-%m-%d %H:%M"
    return f"Late: handed in {at:{form}}, the deadline was {deadline:{form} %z}."


def _parts(report: Report) -> Iterator[str]:
    """What became of each part that counts, where there are several or points are shared."""
    if len(report.parts) < 2 and not any(check.of for check in report.checks):
        return
    for number, part in enumerate(report.parts, 1):
        if part.of:
            word = "passes" if part.verdict is Verdict.PASS else "does not pass"
            word = "not asked yet" if part.verdict is Verdict.SKIPPED else word
            yield f"Part {number} {word}: {part.points} of {quantity(part.of, 'point')}"


def told(shown: Seen) -> Iterator[Block]:
    """What a grade has found, of as much of a report as may be seen."""
    report = shown.report
    yield from (Block(text) for text in _unseen(shown))
    if report.verdict is Verdict.PASS:
        said = [check for check in report.checks if check.message]
        measured = Report(
            report.question, report.title, report.verdict, 0, "", 0.0, checks=tuple(said)
        )
        yield from (Block(f"{text}.") for text in list(words.earned(measured, ""))[1:])
        yield from _passing(report)
        if report.follow_up:
            yield Block(" ".join(report.follow_up.split()), "One more, without code:")
        return
    if report.message:
        yield Block(words.about_the_file(report))
    if report.raised is not None:
        yield _set(raised_lines(report.raised, _WIDTH, ""))
    failing = words.deciding(report)
    if words.keeps_back(report, Around()):
        yield Block(words.STARTER)
        yield from (Block(words.symptom(check), f"{check.id}:") for check in failing[:1])
        return
    if failing:
        yield from _finding(failing[0])
    yield from _ideas(shown)
    if report.note:
        yield Block(report.note)
    if not failing:
        yield from _passing(report)
    for lead, rest in words.others(report, _ALL):
        if lead != _EARNED:
            yield Block(rest, lead)


def _unseen(shown: Seen) -> Iterator[str]:
    if len(shown.report.parts) < 2:
        yield from [UNSEEN] * bool(shown.unseen)
        return
    yield from (f"{UNSEEN.removesuffix('.')} in part {number}." for number in shown.unseen)


def _passing(report: Report) -> Iterator[Block]:
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    if passed:
        yield Block(f"{words.joined(passed)}.", "Right:")


def _finding(check: CheckResult) -> Iterator[Block]:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    hidden, sentence = hides(check), words.finding(check)
    yield Block(sentence, f"{check.id}:")
    yield from (Block(text) for text in words.clauses(check))
    if check.exhibit is not None:
        yield _set(exhibit_lines(check.exhibit, _WIDTH, most=_ROWS, hidden=hidden))
    worst = check.mismatch
    if worst is not None and not hidden and (said := words.entry(worst, sentence)):
        yield Block(f"{said}.")
    if check.raised is not None:
        yield _set(raised_lines(check.raised, _WIDTH, ""))


def _ideas(shown: Seen) -> Iterator[Block]:
    # Where an idea is left out, nothing is said of there being none.
    for idea in words.ideas(shown.report, over=not (shown.left_out or shown.unseen)):
        yield Block(idea.text, idea.lead)
        for block in blocks(idea.feedback):
            if block.kind == "code":
                yield Block(code=tuple(map(inert, block.lines)))
            else:
                yield Block(" ".join(block.lines), item=block.kind == "item")


def _set(lines: Sequence[Text]) -> Block:
    return Block(code=tuple(line.plain.rstrip().removeprefix(" " * INDENT) for line in lines))


def pieces(text: str) -> list[tuple[str, bool]]:
    """A text in pieces, each with whether it is code (in backticks), without what acts."""
    found = []
    safe = inert(text.replace("\xa0", " "), _LONGEST)
    for number, piece in enumerate(_CODE.split(safe)):
        if piece:
            found.append((piece, number % 2 == 1))
    return found


def to_html(said: Feedback) -> str:
    """A page that stands alone, runs nothing and asks for nothing."""
    return _template().render(said=said, pieces=pieces)


@functools.cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return found.get_template("feedback.html")


_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$&!^])")
_BEGINS = re.compile(r"^(\s*)([-+=:]|\d+(?=[.)]))")
_LINKS = re.compile(r"(?i)(?<=www)\.|:(?=//)|@")


def to_markdown(said: Feedback) -> str:
    """The same as Markdown."""
    return "\n".join(_lines(said)).rstrip("\n") + "\n"


def _lines(said: Feedback) -> Iterator[str]:
    yield f"# {_inline(said.student)}"
    yield from ["", _inline(said.title)] if said.title else []
    yield from ("", f"**Total:** {_inline(said.total)}")
    for answer in said.answers:
        yield from ("", f"## {_inline(answer.title)} ({_inline(answer.id)})", "")
        earned = f", {_inline(answer.points)}" if answer.points else ""
        yield f"**{_inline(answer.state[0].upper() + answer.state[1:])}**{earned}"
        yield from ["", _inline(answer.late)] if answer.late else []
        yield from ["", *(f"- {_inline(part)}" for part in answer.parts)] if answer.parts else []
        yield from _written(answer.blocks)


def _written(said: Iterable[Block]) -> Iterator[str]:
    for block in said:
        if block.code:
            fence = "`" * max(3, 1 + max(map(_ticks, block.code)))
            yield from ("", f"{fence}text", *block.code, fence)
            continue
        lead = f"**{_inline(block.lead)}** " if block.lead else ""
        yield from ("", f"{'- ' if block.item else ''}{lead}{_inline(block.text)}")


def _inline(text: str) -> str:
    """A text in which nothing is markup but code in backticks."""
    return "".join(f"`{part}`" if code else _escaped(part) for part, code in pieces(text)).strip()


def _escaped(text: str) -> str:
    text = _MARKUP.sub(r"\\\1", text)
    text = _LINKS.sub(lambda m: f"&#{ord(m[0])};", text)
    begins = _BEGINS.match(text)
    if begins is None:
        return text
    end = begins.end()
    mark = begins[2]
    return f"{text[:end]}\\{text[end:]}" if mark.isdigit() else f"{begins[1]}\\{mark}{text[end:]}"


def _ticks(line: str) -> int:
    return max(map(len, re.findall("`+", line)), default=0)
