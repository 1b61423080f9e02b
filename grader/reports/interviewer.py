"""The guide of a live interviewer: a page for each part, with all that a candidate does not see."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from grader import forms
from grader.bank import repair
from grader.model.numerals import joined, quantity
from grader.model.question import Question
from grader.model.report import FINE, Breakdown, CheckResult
from grader.model.spec import Check, FollowUp, Spec
from grader.reports import words
from grader.reports.blocks import Block, Gap, Heading, Item, Paragraph, from_markdown
from grader.reports.blocks import render_markdown as markdown
from grader.reports.question import asked
from grader.reports.sheet import cut

ROWS, WIDTH = 72, 100  # of a page on paper, in small print
_ARRAYS, _ANSWER = 120, 110  # characters of arrays that are written out, of an answer
_SHORT, _LEAST = 40, 10  # minutes for a question where time is short; that a part is begun for
_NAMES = re.compile(r"[A-Za-z]\w*(?:\[[^]`]*\])+|\w+_\w+")  # shown as code
_YOURS = re.compile(r"\b[Yy]our (?:code )?|\bthe text (?=['\"])")  # said of somebody else here
# Of the ideas of a check, from most to least: sentences on each, and how many have a case to ask.
_FULL = ((2, 99), (1, 99), (1, 2), (1, 1))
_SAYS = re.compile(r"\s*(?![\s#]|\"\"\")\S")  # a line of code
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
        several = [f"{r.name} is {r.observed}, expected {r.expected}" for r in rows]
        most = 2 if len("; ".join(several[:2])) < _ANSWER - 10 else 1
        several[most:] = [f"{len(rows) - most} more"] * (len(rows) > most)
        text = "; ".join(several) or text
    text = cut(f"{_YOURS.sub('', text).rstrip('.')}.", _ANSWER)
    return "" if result.verdict in FINE else _NAMES.sub(r"`\g<0>`", text)


def given(question: Question, result: CheckResult) -> str:
    """The smallest case in words, if all its numbers can be said: what it is about, and they."""
    case = question.spec.cases.get(words.smallest(result), {})
    texts = [
        f"`{name} = {_short(str(case[name]))}`"
        if isinstance(case.get(name), list)
        else f"{name} {_short(said)}"
        for name, said in result.inputs.items()
        if said != "None"
    ]
    drawn = any("(" in text and "`" not in text for text in texts)
    if drawn or len("".join(texts)) > _ARRAYS:
        return ""
    return ": ".join(filter(None, [str(case.get("about", "")), ", ".join(texts)]))


def _short(text: str) -> str:
    """A text with no more digits of its numbers than anybody says."""
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.6g}", text)


def guide(question: Question, held: Sequence[Held], called: str = "") -> Iterator[Block]:
    """What an interviewer needs in each part, a page each; commands name what is so `called`."""
    spec = question.spec
    terms = f"for the interviewer, {spec.minutes} min"
    terms += f", numbers of seed {question.numbers}" * bool(spec.given)
    yield Heading(spec.title, terms, question.id, level=1)
    file, called = forms.of(spec).file, called or question.id
    text = f'The candidate edits `{file}` ("the file", "starter"), made by `drill start {called}`. '
    text += f"What they read is `drill show {called} --all`. {_in_short(spec)}"
    yield from (Gap(), Paragraph(text))
    for number, _ in enumerate(spec.parts, 1):
        pages = [tuple(_page(question, number, held, *full)) for full in _FULL]
        yield from (Gap(), *next((page for page in pages if _rows(page) <= ROWS), pages[-1]))
    yield from (Gap(), Heading("How they worked"))
    yield from (Item(text, mark) for mark, text in LEVELS)


def _in_short(spec: Spec) -> str:
    """What to ask where the time is short and there are parts to leave out; else empty."""
    ends = [0, *accumulate(part.minutes for part in spec.parts)]
    fit = sum(end <= _SHORT for end in ends) - 1
    left = _SHORT - ends[fit]
    asked = [f"part{'s'[: fit - 1]} {joined(range(1, fit + 1))}"] * bool(fit)
    asked += [f"the first {left} minutes of part {fit + 1}"] * (left >= _LEAST)
    several = len(spec.parts) not in {1, fit}
    return f"In {_SHORT} minutes: {', then '.join(asked)}." * several


def _rows(page: Sequence[Block]) -> int:
    return sum(-(-len(line) // WIDTH) or 1 for line in markdown(page).splitlines())


def _page(
    question: Question, number: int, held: Sequence[Held], most: int, asks: int
) -> Iterator[Block]:
    """One part; on each idea so many sentences, on so many of each check what to ask."""
    spec, part = question.spec, question.spec.parts[number - 1]
    terms = f"{quantity(part.minutes, 'minute')}, {quantity(part.points, 'point')}"
    is_text = forms.of(spec).is_text
    yield Heading(f"Part {number} of {len(spec.parts)}, {terms}")
    yield from (Gap(), *from_markdown(f"Read out: {part.prompt}"), Gap())
    yield from (Paragraph("as the candidate reads it.", "Contract,"), *asked(question, number))
    yield Gap()
    if right := dict.fromkeys(_right(question, number)):
        what = "each answer, and why" if is_text else "what changes in the file, and why"
        yield from (Gap(), Paragraph(f"{what}.", "Right:"), *right)
    yield from (Gap(), Paragraph("wrong ideas, as the candidate is told of them.", "Listen for"))
    told: set[str] = set()  # cases
    for check in part.checks:
        caught = [one for one in held if one.check == check.id]
        yield Item(_about(question, check, alone=not caught), check.id)
        left = asks
        for one in caught:
            little = one.feedback.find(".") in range(16)  # no more than "One is left."
            said = [re.sub(":$", ".", words.sentences(one.feedback, most + little)[0])]
            if left and not is_text and one.given and one.answer:
                where = f"Ask `{one.case}`" + f" ({one.given})" * (one.case not in told)
                said += [f"{where}: {one.answer}", one.apart]
                told.add(one.case)
                left -= 1
            yield Item(" ".join(filter(None, said)), one.idea, 2, inner=True)
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


def _right(question: Question, number: int) -> Iterator[Block]:
    """The answers, or what a part changes in the starter: a line of it, the new one, and why."""
    for change in repair.changes(question):
        why = [text for asks, text in change.why if asks == number]
        if not why and (change.why or not forms.of(question.spec).is_text):
            continue
        old, new = (
            [one.strip() for one in c if _SAYS.match(one)] for c in (change.before, change.after)
        )
        shown = [f"`{cut(line, _ANSWER)}`" for line in new[:1]]
        starts = {lines[0].split()[0] for lines in (old, new) if lines}
        one_to_one = len(old) == len(new) and 1 in {len(old), len(starts)}
        if number == 1 and old and (one_to_one or not new):
            shown = [f"`{cut(old[0], _ANSWER)}` becomes {''.join(shown) or 'nothing'}."]
        yield Item(" ".join([*shown, *why]))


def _choices(one: FollowUp) -> str:
    """What there is to choose from, and which is right."""
    listed = "; ".join(f"({n}) {text.rstrip('.')}" for n, text in enumerate(one.choice, 1))
    return f" {listed}. Right is {one.right}" if listed else ""


def _about(question: Question, check: Check, *, alone: bool) -> str:
    """What a check is about, the clauses that it enforces; of one that is alone, what fails it."""
    text = check.about or " ".join(question.spec.contract[n - 1] for n in check.clause)
    if check.clause:
        text += f" (clause{'s'[: len(check.clause) - 1]} {joined(check.clause)})"
    text += " (no points)" * check.stretch
    names = [f"`{one}`" for one, idea in question.ideas.items() if check.id in idea.killed_by]
    also = f"{joined(names)}, above, fail{'s'[len(names) - 1 :]} it too" if names else ""
    return text + f"; {also or 'no wrong idea is listed'}" * alone


def _list(texts: Iterable[str]) -> Iterator[Block]:
    for number, text in enumerate(texts, 1):
        first, *more = from_markdown(text)
        yield Item(first.text, f"{number}") if isinstance(first, Paragraph) else first
        yield from more
