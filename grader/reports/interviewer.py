"""The guide of a live interviewer: a page for each part, with all that a candidate does not see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from grader import forms
from grader.model.numerals import joined, quantity
from grader.model.question import Question
from grader.model.report import FINE, Breakdown, CheckResult
from grader.reports import words
from grader.reports.blocks import Block, Gap, Heading, Item, Paragraph, from_markdown
from grader.reports.blocks import render_markdown as markdown
from grader.reports.sheet import cut

ROWS, WIDTH = 60, 100  # of a page on paper
_ARRAYS, _ANSWER = 90, 110  # characters of arrays that are written out, of an answer
_MOST = 2  # of several numbers that are wrong
_ESCAPED = re.compile(r"[A-Za-z]\w*(?:\[[^]`]*\])+|\w+_\w+")  # by Markdown, were it no code


@dataclass(frozen=True, slots=True)
class Held:
    """How it shows that somebody holds a misconception, by a check that is to stop it."""

    idea: str
    check: str
    feedback: str
    case: str  # the smallest on which it shows
    given: str  # that case in words
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
    text = cut(f"{text.rstrip('.')}.", _ANSWER)
    return "" if result.verdict in FINE else _ESCAPED.sub(r"`\g<0>`", text)


def given(question: Question, result: CheckResult) -> str:
    """The smallest case in words: what it is about, its numbers, its arrays if all are short."""
    case = question.spec.cases.get(words.smallest(result), {})
    arrays = [
        f"`{name} = {re.sub(r'[.]0(?=[^0-9])', '', str(case[name]))}`"
        for name in result.inputs
        if isinstance(case.get(name), list)
    ]
    texts = arrays if len("".join(arrays)) <= _ARRAYS else []
    texts += [f"{name} {said}" for name, said in result.inputs.items() if "(" not in said]
    return ": ".join(filter(None, [str(case.get("about", "")), ", ".join(texts)]))


def guide(question: Question, held: Sequence[Held]) -> Iterator[Block]:
    """What an interviewer needs in each part, a page each: shorter where it takes too much room."""
    spec = question.spec
    yield Heading(spec.title, f"for the interviewer, {spec.minutes} min", question.id, level=1)
    for number, _ in enumerate(spec.parts, 1):
        pages = [tuple(_page(question, number, held, most)) for most in (2, 1, 0)]
        yield from (Gap(), *next((page for page in pages if _rows(page) <= ROWS), pages[-1]))


def _rows(page: Sequence[Block]) -> int:
    return sum(-(-len(line) // WIDTH) or 1 for line in markdown(page).splitlines())


def _page(question: Question, number: int, held: Sequence[Held], most: int) -> Iterator[Block]:
    """One part, with so many sentences on each idea; one at least where nothing else is said."""
    spec, part = question.spec, question.spec.parts[number - 1]
    terms = f"{quantity(part.minutes, 'minute')}, {quantity(part.points, 'point')}"
    yield Heading(f"Part {number} of {len(spec.parts)}, {terms}")
    yield from (Gap(), *from_markdown(f"Read out: {part.prompt}"), Gap())
    yield Paragraph("and what each wrong idea answers.", "Listen for,")
    told: set[str] = set()  # cases
    for check in part.checks:
        text = check.about or " ".join(spec.contract[n - 1] for n in check.clause) or check.kind
        if check.clause:
            text += f" (clause{'s'[: len(check.clause) - 1]} {joined(check.clause)})"
        yield Item(text + " (no points)" * check.stretch, check.id)
        caught = [one for one in held if one.check == check.id]
        cases, last = list(dict.fromkeys(one.case for one in caught)), ""
        for one in sorted(caught, key=lambda one: cases.index(one.case)):
            where = f"Ask `{one.case}`"
            where += "," if one.case in told or not one.given else f" ({one.given}):"
            asked = one.answer and one.case not in {"", last} and not forms.of(spec).is_text
            why = words.sentences(one.feedback, most if one.answer else 1)[0]
            said = (why, where * bool(asked), one.answer, one.apart)
            yield Item(" ".join(filter(None, said)), one.idea, 2, inner=True)
            last = one.case
            told.add(last)
    if part.hints:
        yield from (Gap(), Paragraph("none costs points.", "Hints, in order:"), *_list(part.hints))
    if asks := [f"{one.ask.strip()} - {one.answer}" for one in part.follow_ups]:
        yield from (Gap(), Paragraph("with what a good answer says.", "Follow-ups,"), *_list(asks))
    each = joined(f"{check.points} for {check.id}" for check in part.checks if check.points)
    earned = f"{quantity(part.points, 'point')} for all of these checks, else {each or 'none'}."
    hints = [f"with {quantity(n, 'hint')}" for n, _ in enumerate(part.hints, 1)]
    came = ["alone", *hints, "not"]
    yield from (Gap(), Paragraph(f"{earned} Came there: {' / '.join(came)}.", "Rubric:"))


def _list(texts: Iterable[str]) -> Iterator[Block]:
    for number, text in enumerate(texts, 1):
        first, *more = from_markdown(text)
        yield Item(first.text, f"{number}") if isinstance(first, Paragraph) else first
        yield from more
