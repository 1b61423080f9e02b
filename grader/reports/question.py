"""A question as the interviewer hands it over: on a terminal, and as QUESTION.md."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import RenderableType
from rich.text import Text

from grader.model.keys import Tolerance
from grader.model.question import Question
from grader.model.spec import Part
from grader.reports.inert import inert
from grader.reports.page import Line, Page, heading, measure
from grader.reports.palette import STRONG
from grader.reports.prose import code, prose_lines


def render_question(question: Question, width: int, *, parts: int | None = None) -> RenderableType:
    """The prompt, the interface and the contract of the first parts, within `width` columns.

    Args:
        question: what is asked.
        width: columns of the window.
        parts: how many parts are asked; all, if not given.
    """
    spec, across = question.spec, measure(width)
    title, terms = spec.title, _terms(question)
    lines: list[Line] = [*heading(inert(question.id), title, terms, across), Text()]
    for asked in _asked(question, parts):
        if asked.heading:
            gap = [Text()] if asked.number > 1 else []
            lines += [*gap, Text(asked.heading, STRONG), Text()]
        lines += _part_lines(asked, across)
    return Page(lines)


def part_lines(question: Question, number: int, across: int) -> list[Line]:
    """What the interviewer asks in one part."""
    asked = _asked(question, number)[-1]
    return [Text(asked.heading, STRONG), Text(), *_part_lines(asked, across)]


def question_markdown(question: Question, *, parts: int | None = None) -> str:
    """The same as a Markdown file for the folder of the submission."""
    texts = [f"# {question.spec.title}", f"`{question.id}`: {_terms(question)}"]
    for asked in _asked(question, parts):
        texts += [f"## {asked.heading}"] * bool(asked.heading)
        texts.append(asked.part.prompt.strip())
        level = "###" if asked.heading else "##"
        if interface := asked.part.interface.strip("\n"):
            texts += [f"{level} Interface", f"```python\n{interface}\n```"]
        if asked.contract:
            texts += [
                f"{level} Contract",
                "\n".join(f"{mark} {text}" for mark, text in asked.contract),
            ]
    texts.append(f"`drill grade` grades `submission.py`; `drill hint {question.id}` gives a hint.")
    return "\n\n".join(texts) + "\n"


@dataclass(frozen=True, slots=True)
class _Asked:
    number: int
    part: Part
    heading: str  # empty where there is but one part
    contract: list[tuple[str, str]]  # the mark of each clause, and the clause on one line


def _asked(question: Question, parts: int | None) -> list[_Asked]:
    """The first parts of a question, their clauses numbered through where there are several."""
    every, found, clauses = question.spec.parts, [], 0
    for number, part in enumerate(every[:parts], 1):
        several = len(every) > 1
        terms = f"Part {number} of {len(every)}, {part.points} points, {part.minutes} minutes"
        contract = _contract(question, part)
        marked = [
            (f"{clauses + n}." if several else "-", " ".join(clause.split()))
            for n, clause in enumerate(contract, 1)
        ]
        clauses += len(contract)
        found.append(_Asked(number, part, terms if several else "", marked))
    return found


def _part_lines(asked: _Asked, across: int) -> list[Line]:
    lines: list[Line] = [*prose_lines(asked.part.prompt, across)]
    if asked.part.interface:
        lines += [Text(), Text("Interface", STRONG), Text()]
        lines.append(code(asked.part.interface, across, indent=2))
    if asked.contract:
        lines += [Text(), Text("Contract", STRONG), Text()]
        for mark, clause in asked.contract:
            lines += prose_lines(f"{mark} {clause}", across, indent=2)
    return lines


def _contract(question: Question, part: Part) -> list[str]:
    """The sentences of the contract, and what else decides that the spec says elsewhere."""
    spec = question.spec
    sentences = list(part.contract)
    for check in part.checks:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is not None:
            named = ", ".join(f"`{name}`" for name in tolerance.names or check.compared)
            sentences.append(f"{named} may be {tolerance.words}: {tolerance.because}")
    if part is spec.parts[0]:
        if (seconds := spec.limits.cpu_seconds) is not None:
            sentences.append(f"A call may take {seconds:g} seconds of CPU time.")
        if spec.forbids:
            named = ", ".join(f"`{name}`" for name in spec.forbids)
            sentences.append(f"Write it yourself: a solution calls none of {named}.")
    return list(dict.fromkeys(sentences))


def _terms(question: Question) -> str:
    """What else is asked of the candidate: "core, 25 minutes, numpy"."""
    spec = question.spec
    uses = " and ".join(spec.uses)
    return ", ".join(filter(None, [spec.level, f"{spec.minutes} minutes", uses]))
