"""The guide of a live interviewer: one page to lead the interview from, or everything.

An idea is a wrong idea of a candidate, which the question lists with feedback.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import NamedTuple

from grader import forms
from grader.bank import starter_repair
from grader.bank.starter_repair import RepairChange
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, Breakdown, CheckResult
from grader.model.spec import Check, FollowUp, Part, Spec
from grader.reports import grade_sentences
from grader.reports.blocks import (
    BlankLine,
    Blocks,
    CodeBlock,
    Figure,
    Heading,
    Item,
    Paragraph,
    Table,
    from_markdown,
    render_markdown,
)
from grader.reports.question import part_details, signatures
from grader.reports.text_layout import truncate

ROWS, WIDTH = 150, 100  # of the short guide, without blank rows
_MAX_ARRAYS, _MAX_ANSWER = 120, 110  # characters
_MAX_MINUTES = 40  # of the short guide to a question with several parts
_MIN_PART_MINUTES = 10  # a part that gets less is left out
_FIRST_HINT = 0.4  # of the minutes of a part
_NAMES = re.compile(r"[A-Za-z]\w*(?:\[[^]`]*\])+|\w+_\w+")  # shown as code
_YOURS = re.compile(r"\b[Yy]our (?:code )?|\bthe text (?=['\"])")  # the reader is not the candidate
_CODE_LINE = re.compile(r"\s*(?![\s#]|\"\"\")\S")
_HEAD = re.compile(r"\s*(?:async )?(?:def|class)\b")
LEVELS = (
    ("4", "says what must hold before touching the code, shows the fault on a case done by hand, "
          "repairs the cause, and names the test that would have caught it"),
    ("3", "finds and repairs it alone, and can say why afterwards"),
    ("2", "gets there with hints, or repairs what shows before what causes it"),
    ("1", "changes the code until a number agrees"),
)  # fmt: skip


class GuideDetail(NamedTuple):
    """How much a guide shows."""

    context_lines: int = 999  # lines of the starter around each change
    new_lines: int = 4  # of each change
    contract: bool = True  # show the clauses of each part
    ideas: int = 5  # of each part with a sentence; the ideas of the starter come on top
    follow_ups: int = 99  # of each part
    idea_evidence: Sequence[IdeaEvidence] | None = None  # to list the ideas by check


# Of the short guide: the first that fits.
DETAILS = (
    GuideDetail(),
    GuideDetail(context_lines=8, follow_ups=1),
    GuideDetail(context_lines=4, follow_ups=1, contract=False),
    GuideDetail(context_lines=2, follow_ups=1, contract=False, ideas=3, new_lines=2),
    GuideDetail(context_lines=0, follow_ups=0, contract=False, ideas=2, new_lines=1),
)


@dataclass(frozen=True, slots=True)
class IdeaEvidence:
    """How an idea shows in a check that stops it: the smallest failing case, and its result."""

    idea: str
    check: str
    feedback: str
    case: str  # the smallest that fails
    given: str  # a description of the case; empty if its numbers are too long to read out
    answer: str  # the actual and the expected result; empty if no case fails


def wrong_result_text(result: CheckResult) -> str:
    """Return the wrong and the right result of a check, to read out; "" if it does not fail."""
    if result.verdict in NON_FAILING_VERDICTS:
        return ""
    worst = result.mismatch and replace(result.mismatch, allowed=None, total=1)
    text = grade_sentences.worst_entry(replace(result, mismatch=worst), "")
    if not text:
        text = grade_sentences.short_message(result)
    if isinstance(result.exhibit, Breakdown):
        text = _differing_rows(result.exhibit) or text
    text = truncate(f"{_YOURS.sub('', text).rstrip('.')}.", _MAX_ANSWER)
    return _NAMES.sub(r"`\g<0>`", text)


def _differing_rows(breakdown: Breakdown) -> str:
    texts = []
    for row in breakdown.rows:
        if row.observed != row.expected:
            texts.append(f"{row.name} is {row.observed}, expected {row.expected}")
    most = 2 if len("; ".join(texts[:2])) < _MAX_ANSWER - 10 else 1
    if len(texts) > most:
        texts[most:] = [f"{len(texts) - most} more"]
    return "; ".join(texts)


def smallest_case_text(question: Question, result: CheckResult) -> str:
    """Describe the smallest failing case with its inputs; "" if these cannot be read out."""
    case = question.spec.cases.get(grade_sentences.smallest_case(result), {})
    texts = []
    for name, value in result.inputs.items():
        if value == "None":
            continue
        text = f"{name} {_short(value)}"
        if isinstance(case.get(name), list):
            text = f"`{name} = {_short(str(case[name]))}`"
        elif "(" in text and "`" not in text:  # a shape: its numbers were drawn
            return ""
        texts.append(text)
    if len("".join(texts)) > _MAX_ARRAYS:
        return ""
    parts = [str(case.get("about", "")), ", ".join(texts)]
    return ": ".join(filter(None, parts))


def _short(text: str) -> str:
    """Round the decimals in a text to six significant digits."""
    return re.sub(r"\d+\.\d+", lambda number: f"{float(number[0]):.6g}", text)


def interviewer_guide(
    question: Question, called: str = "", evidence: Sequence[IdeaEvidence] | None = None
) -> Blocks:
    """Yield the short guide to lead an interview from, or with `evidence` the full guide.

    The short guide has the most detail of `DETAILS` that fits `ROWS` rows, or else the least.
    `called` is the name of the question in commands (default: its id).
    """
    spec = question.spec
    called = called or question.id
    if evidence is not None:
        everything = GuideDetail(new_lines=999, idea_evidence=evidence)
        yield from _page(question, called, _ends(spec, spec.minutes), everything)
        return
    ends = _ends(spec, _MAX_MINUTES if len(spec.parts) > 1 else spec.minutes)
    for detail in DETAILS:
        page = [*_page(question, called, ends, detail)]
        lines = render_markdown(page).splitlines()
        if sum(math.ceil(len(line) / WIDTH) for line in lines) <= ROWS:
            break
    yield from page


def _ends(spec: Spec, limit: int) -> list[int]:
    """Return the minute at which each part ends, for the parts that fit the limit of minutes.

    The last of them is cut at the limit, but left out if the cut leaves less than 10 minutes.
    """
    ends: list[int] = []
    begin = 0
    for part in spec.parts:
        end = min(begin + part.minutes, limit)
        if end - begin < min(_MIN_PART_MINUTES, part.minutes):
            break
        ends.append(end)
        begin = end
    return ends


def _page(question: Question, called: str, ends: Sequence[int], detail: GuideDetail) -> Blocks:
    """Yield the guide: the starter, a part for each minute in `ends`, and a form for marks."""
    spec = question.spec
    terms = f"for the interviewer, {spec.minutes} min"
    if spec.given:
        terms += f", numbers of seed {question.number_set}"
    yield Heading(spec.title, terms, question.id, level=1)
    file = forms.form_of(spec).file
    text = f'The candidate edits `{file}` ("the file", "starter"), made by `drill start {called}`. '
    text += f"What they read, with the contract, is `drill show {called} --all`."
    yield BlankLine()
    yield Paragraph(text)
    if detail.idea_evidence is None:
        numbers = join_words(range(1, len(ends) + 1))
        text = f"`drill show {called} --interviewer --all` has every part, idea and follow-up."
        parts = "parts" if len(ends) > 1 else "part"
        yield Paragraph(text, f"{ends[-1]} minutes: {parts} {numbers}.")
    if not forms.form_of(spec).is_text:
        yield Heading("Starter")
        yield BlankLine()
        if question.repair:
            yield Paragraph("Part 1 removes lines `1-` and adds lines `1+`, and so on.")
        yield CodeBlock(tuple(_starter(question, len(ends), detail)))
    for number, _ in enumerate(ends, 1):
        yield from _part(question, number, ends, detail)
    yield from _marks(spec, ends)


def _differences(change: RepairChange) -> Iterator[tuple[range, Sequence[str]]]:
    """Yield ranges of line numbers of the starter, each with the lines that replace it.

    A range is empty if lines are only added before it.
    """
    matcher = SequenceMatcher(None, change.before, change.after, autojunk=False)
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag != "equal":
            yield range(change.line + begin, change.line + end), change.after[first:last]


def _starter(question: Question, last: int, detail: GuideDetail) -> Iterator[str]:
    """Yield the starter with line numbers, and the changes that the parts up to `last` need.

    Lines that are far from every change become "...", except heads of functions and classes.
    """
    starter = question.without_leading_blank_lines(question.starter).decode("utf-8", "replace")
    removed: dict[int, int] = {}  # the part that removes a line, by line number
    added: dict[int, list[str]] = {}  # new lines by the line above them
    for change in starter_repair.repair_changes(question):
        if change.part > last:
            continue
        room = detail.new_lines
        for old, new in _differences(change):
            removed.update(dict.fromkeys(old, change.part))
            code = [line for line in new if _CODE_LINE.match(line)]
            texts = code[:room]
            if hidden := len(code) - len(texts):
                texts[-1:] = [f"{' '.join(texts[-1:])}  ... {format_count(hidden, 'more line')}"]
            room -= min(room, len(code))
            above = added.setdefault(old.stop - 1, [])
            above += [f"{change.part}+      {text}" for text in texts]
    near: set[int] = set()
    for changed in {*removed, *added}:
        near.update(range(changed - detail.context_lines, changed + detail.context_lines + 1))
    yield from added.get(0, ())
    skipped = False
    for number, line in enumerate(starter.splitlines(), 1):
        if number in near or not near or _HEAD.match(line):
            mark = f"{removed[number]}-" if number in removed else "  "
            yield f"{mark}{number:>4}  {line}" if line.strip() else ""
            skipped = False
        elif not skipped:
            yield "     ..."
            skipped = True
        yield from added.get(number, ())


def _part(question: Question, number: int, ends: Sequence[int], detail: GuideDetail) -> Blocks:
    """Yield the prompt, the right answers, the ideas, the hints and the follow-ups of a part."""
    spec = question.spec
    part = spec.parts[number - 1]
    terms = f"{format_count(part.minutes, 'minute')}, {format_count(part.points, 'point')}"
    yield Heading(f"Part {number} of {len(spec.parts)}, {terms}")
    yield BlankLine()
    yield from from_markdown(f"Read out: {part.prompt}")
    if calls := _calls(part.interface):
        yield BlankLine()
        yield Paragraph(calls, "Interface:")
    if detail.contract:
        yield BlankLine()
        yield Paragraph("as the candidate reads it.", "Contract,")
        yield from part_details(question, number)
    if right := [*_right(question, number)]:
        yield BlankLine()
        yield Paragraph("each answer or change, and why.", "Right:")
        yield from right
    yield BlankLine()
    yield from _ideas(question, part, detail)
    yield BlankLine()
    yield from _hints(part, number, ends)
    if follow_ups := part.follow_ups[: detail.follow_ups]:
        yield BlankLine()
        yield Paragraph("with what a good answer says.", "Follow-ups,")
        yield from _list(f"{f.ask.strip()}{_choices(f)} - {f.answer}" for f in follow_ups)


def _ideas(question: Question, part: Part, detail: GuideDetail) -> Blocks:
    """Yield the ideas that checks of a part stop: those of the starter first, or by check."""
    checks = {check.id for check in part.checks}
    ideas = [name for name, idea in question.ideas.items() if checks & set(idea.killed_by)]
    starter = [name for name in ideas if name in question.spec.starter_holds]
    text = "wrong ideas, as the candidate is told of them."
    if starter:
        text += f" The starter holds {join_words(f'`{name}`' for name in starter)}."
    yield Paragraph(text, "Listen for")
    if detail.idea_evidence is not None:
        yield from _ideas_by_check(question, part, detail.idea_evidence)
        return
    ideas.sort(key=lambda name: name not in starter)
    most = len(starter) + detail.ideas
    for name in ideas[:most]:
        yield Item(_sentences(question.ideas[name].feedback_for(), 1), name)
    if ideas[most:]:
        yield Item(f"Others: {join_words(f'`{name}`' for name in ideas[most:])}.")


def _calls(interface: str) -> str:
    """Return the calls of an interface on one line, without comments."""
    calls = []
    for line in signatures(interface):
        code = line.split("  #")[0].strip()
        call = code.removesuffix(" ...").removesuffix(":").removeprefix("def ")
        if call and not call.startswith("#"):
            calls.append(f"`{call}`")
    return ", ".join(calls)


def _right(question: Question, number: int) -> Blocks:
    """Yield the right answers of a part, or the lines that it asks to change, and why."""
    is_text = forms.form_of(question.spec).is_text
    for change in starter_repair.repair_changes(question):
        why = " ".join(text for asks, text in change.why if asks == number)
        if is_text and (why or not change.why):
            lines = [f"`{truncate(line.strip(), _MAX_ANSWER)}`" for line in change.after[:1]]
            yield Item(" ".join([*lines, why]).strip())
        elif why:
            yield Item(f"{_place(change)}: {why}")


def _place(change: RepairChange) -> str:
    """Return the lines of the starter that a change replaces: "Lines 3 to 5", "After line 3"."""
    differing = [old for old, _ in _differences(change)]
    first = differing[0].start
    last = differing[-1].stop - 1
    if not any(differing):
        return f"After line {first - 1}"
    return f"Line {first}" if first == last else f"Lines {first} to {last}"


def _sentences(feedback: str, most: int) -> str:
    """Return the first `most` sentences of a feedback; one more if the first is very short."""
    if feedback.find(".") in range(16):  # such as "One is left."
        most += 1
    return re.sub(":$", ".", grade_sentences.first_sentences(feedback, most)[0])


def _ideas_by_check(question: Question, part: Part, evidence: Sequence[IdeaEvidence]) -> Blocks:
    """Yield the checks of a part with the ideas that each stops, and a case to ask about."""
    is_text = forms.form_of(question.spec).is_text
    described: set[str] = set()  # cases
    for check in part.checks:
        yield Item(_about(question, check), check.id)
        for idea in evidence:
            if idea.check != check.id:
                continue
            text = _sentences(idea.feedback, 2)
            if not is_text and idea.given and idea.answer:
                text += f" Ask `{idea.case}`"
                if idea.case not in described:
                    text += f" ({idea.given})"
                text += f": {idea.answer}"
                described.add(idea.case)
            yield Item(text, idea.idea, 2, inner=True)


def _hints(part: Part, number: int, ends: Sequence[int]) -> Blocks:
    """Yield the hints, and the minute to give each at if the candidate is stuck."""
    begin, end = [0, *ends][number - 1 : number + 1]
    texts = []
    for index, hint in enumerate(part.hints):
        share = _FIRST_HINT + (1 - _FIRST_HINT) * index / len(part.hints)
        texts.append(f"(minute {begin + round((end - begin) * share)}) {hint}")
    then = f"go on to part {number + 1}" if number < len(ends) else "stop"
    yield Paragraph(f"if they are stuck at these minutes. By minute {end}: {then}.", "Hints,")
    yield from _list(texts)


def _marks(spec: Spec, ends: Sequence[int]) -> Blocks:
    """Yield a form to fill in by hand, and the meaning of the marks."""
    marks = " ".join(mark for mark, _ in LEVELS)
    rows: list[tuple[str, ...]] = []
    for part, begin, end in zip(spec.parts, [0, *ends], ends, strict=False):
        hints = " ".join(map(str, range(len(part.hints) + 1)))
        rows.append((str(len(rows) + 1), f"{begin} to {end}", marks, hints, "yes / no"))
    yield Heading("Marks")
    yield Table(("part", "minutes", "mark", "hints", "passed"), rows)
    yield BlankLine()
    yield from (Item(text, f"mark {mark}") for mark, text in LEVELS)
    yield BlankLine()
    yield Paragraph("strong yes / yes / no / strong no. Notes:", "Decision:")
    yield Figure(lambda width: ["." * width] * 3)


def _choices(follow_up: FollowUp) -> str:
    """Return the choices of a follow-up and the right one as text; "" if it has none."""
    if not follow_up.choice:
        return ""
    choices = [f"({n}) {text.rstrip('.')}" for n, text in enumerate(follow_up.choice, 1)]
    return f" {'; '.join(choices)}. Right is {follow_up.right}"


def _about(question: Question, check: Check) -> str:
    """Return the description of a check (default: its clauses), and the numbers of its clauses."""
    text = check.about or " ".join(question.spec.contract[n - 1] for n in check.clause)
    if check.clause:
        clauses = "clauses" if len(check.clause) > 1 else "clause"
        text += f" ({clauses} {join_words(check.clause)})"
    if check.stretch:
        text += " (no points)"
    return text


def _list(texts: Iterable[str]) -> Blocks:
    for number, text in enumerate(texts, 1):
        first, *more = from_markdown(text)
        yield Item(first.text, f"{number}") if isinstance(first, Paragraph) else first
        yield from more
