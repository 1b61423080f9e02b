"""The guide of a live interviewer: a page for each part, with all that a candidate does not see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader import forms
from grader.bank import repair
from grader.model.numerals import joined, quantity
from grader.model.question import Question
from grader.model.report import FINE, Breakdown, CheckResult
from grader.model.spec import Check, FollowUp
from grader.reports import words
from grader.reports.blocks import Block, Gap, Heading, Item, Paragraph, from_markdown
from grader.reports.blocks import render_markdown as markdown
from grader.reports.question import asked
from grader.reports.sheet import cut

ROWS, WIDTH = 72, 100  # of a page on paper, in small print
_ARRAYS, _ANSWER = 120, 110  # characters of arrays that are written out, of an answer
_MOST = 2  # of several numbers that are wrong
_ESCAPED = re.compile(r"[A-Za-z]\w*(?:\[[^]`]*\])+|\w+_\w+")  # by Markdown, were it no code
_YOURS = re.compile(r"\b[Yy]our (?:code )?")  # what is read here is said of somebody else
# How much is said of the ideas of a check, from most to least: sentences on each, how many have a
# case to ask, and how many have more than their name.
_FULL = ((2, 99, 99), (1, 99, 99), (1, 2, 99), *((1, 1, ideas) for ideas in (99, 5, 3, 2, 1)))
LEVELS = (
    ("4", "says what must hold before touching the code, shows the fault on a case done by hand, "
          "repairs the cause, and names the test that would have caught it"),
    ("3", "finds and repairs it alone, and can say why afterwards"),
    ("2", "gets there with hints, or repairs what shows before what causes it"),
    ("1", "changes the code until a number agrees"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Held:
    """How it shows that somebody holds a misconception, by a check that is to stop it."""

    idea: str
    check: str
    feedback: str
    case: str  # the smallest on which it shows
    given: str  # that case in words; empty where its numbers cannot be said across a table
    answer: str  # what comes of it, and what should; empty where it does not show
    apart: str  # from an idea that is named before, with the same answer


def answer(result: CheckResult) -> str:
    """What is wrong on the smallest case; empty where nothing is."""
    worst = result.mismatch and replace(result.mismatch, allowed=None, total=1)
    text = words.entry(replace(result, mismatch=worst), "") or words.in_short(result)
    if isinstance(result.exhibit, Breakdown):
        rows = [row for row in result.exhibit.rows if row.observed != row.expected]
        several = [f"{r.name} is {r.observed}, expected {r.expected}" for r in rows[:_MOST]]
        several += [f"{len(rows) - _MOST} more"] * (len(rows) > _MOST)
        text = "; ".join(several) or text
    text = cut(f"{_YOURS.sub('', text).rstrip('.')}.", _ANSWER)
    return "" if result.verdict in FINE else _ESCAPED.sub(r"`\g<0>`", text)


def given(question: Question, result: CheckResult) -> str:
    """The smallest case in words, if all its numbers can be said: what it is about, and they."""
    case = question.spec.cases.get(words.smallest(result), {})
    texts = [
        f"`{name} = {re.sub(r'[.]0(?=[^0-9])', '', str(case[name]))}`"
        if isinstance(case.get(name), list)
        else f"{name} {said}"
        for name, said in result.inputs.items()
        if said != "None"
    ]
    drawn = any("(" in text and "`" not in text for text in texts)
    if drawn or len("".join(texts)) > _ARRAYS:
        return ""
    return ": ".join(filter(None, [str(case.get("about", "")), ", ".join(texts)]))


def guide(question: Question, held: Sequence[Held]) -> Iterator[Block]:
    """What an interviewer needs in each part, a page each: shorter where it takes too much room."""
    spec = question.spec
    terms = f"for the interviewer, {spec.minutes} min"
    terms += f", numbers of seed {question.numbers}" * bool(spec.given)
    yield Heading(spec.title, terms, question.id, level=1)
    for number, _ in enumerate(spec.parts, 1):
        pages = [tuple(_page(question, number, held, *full)) for full in _FULL]
        yield from (Gap(), *next((page for page in pages if _rows(page) <= ROWS), pages[-1]))
    yield from (Gap(), Heading("How they worked"))
    yield from (Item(text, mark) for mark, text in LEVELS)


def _rows(page: Sequence[Block]) -> int:
    return sum(-(-len(line) // WIDTH) or 1 for line in markdown(page).splitlines())


def _page(
    question: Question, number: int, held: Sequence[Held], most: int, asks: int, ideas: int
) -> Iterator[Block]:
    """One part; on so many ideas of each check so many sentences, on some of them what to ask."""
    spec, part = question.spec, question.spec.parts[number - 1]
    terms = f"{quantity(part.minutes, 'minute')}, {quantity(part.points, 'point')}"
    yield Heading(f"Part {number} of {len(spec.parts)}, {terms}")
    yield from (Gap(), *from_markdown(f"Read out: {part.prompt}"), Gap())
    yield from (Paragraph("as the candidate reads it.", "Contract,"), *asked(question, number))
    yield Gap()
    is_text = forms.of(spec).is_text
    for change in repair.changes(question):
        right = [f"`{line.strip()}`" for line in change.after if is_text]
        why = [text for asks, text in change.why if asks == number]
        if why and not is_text:  # the sentence is on a line that is not shown here
            first = next(filter(None, map(str.strip, change.after)), "")
            why = [f"`{cut(first, _ANSWER)}`", *why] if first else why
        if why or (right and not change.why):
            yield Item(" ".join([*right, *why]), "right")
    yield from (Gap(), Paragraph("and what each wrong idea does.", "Listen for,"))
    told: set[str] = set()  # cases
    for check in part.checks:
        caught = [one for one in held if one.check == check.id]
        if not (caught or check.about):
            continue
        yield Item(_about(question, check), check.id)
        full, rest = caught[:ideas], caught[ideas:]
        left = asks
        for one in full:
            said = [words.sentences(one.feedback, most)[0]]
            if left and not is_text and one.given and one.answer:
                where = f"Ask `{one.case}`" + f" ({one.given})" * (one.case not in told)
                said += [f"{where}: {one.answer}", one.apart]
                told.add(one.case)
                left -= 1
            yield Item(" ".join(filter(None, said)), one.idea, 2, inner=True)
        if rest:
            names = ", ".join(f"`{one.idea}`" for one in rest)
            yield Item(names, "also", 2, inner=True)
    if part.hints:
        yield from (Gap(), Paragraph("none costs points.", "Hints, in order:"), *_list(part.hints))
    if further := [f"{one.ask.strip()}{_choices(one)} - {one.answer}" for one in part.follow_ups]:
        yield from (Gap(), Paragraph("with what a good answer says.", "Follow-ups,"))
        yield from _list(further)
    each = joined(f"{check.points} for {check.id}" for check in part.checks if check.points)
    earned = f"{quantity(part.points, 'point')} for all of these checks, else {each or 'none'}."
    hints = [f"with {quantity(n, 'hint')}" for n, _ in enumerate(part.hints, 1)]
    came = ["alone", *hints, "not"]
    yield from (Gap(), Paragraph(f"{earned} Came there: {' / '.join(came)}.", "Rubric:"))


def _choices(one: FollowUp) -> str:
    """What there is to choose from, and which is right."""
    listed = "; ".join(f"({n}) {text.rstrip('.')}" for n, text in enumerate(one.choice, 1))
    return f" {listed}. Right is {one.right}" if listed else ""


def _about(question: Question, check: Check) -> str:
    """What a check is about, and the clauses that it enforces."""
    text = check.about or " ".join(question.spec.contract[n - 1] for n in check.clause)
    if check.clause:
        text += f" (clause{'s'[: len(check.clause) - 1]} {joined(check.clause)})"
    return text + " (no points)" * check.stretch


def _list(texts: Iterable[str]) -> Iterator[Block]:
    for number, text in enumerate(texts, 1):
        first, *more = from_markdown(text)
        yield Item(first.text, f"{number}") if isinstance(first, Paragraph) else first
        yield from more
