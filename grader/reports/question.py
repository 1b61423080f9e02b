"""What a question asks, part by part, and the same as QUESTION.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader.forms import registry as forms
from grader.model.question import Question
from grader.model.spec import Part
from grader.reports.around import Request

if TYPE_CHECKING:
    from grader.model.keys import Tolerance


def requested(question: Question, number: int) -> Request:
    """What the interviewer asks in one part, as the page of the grade before it says it."""
    part, before = question.spec.parts[number - 1], question.spec.parts[: number - 1]
    return Request(
        number,
        len(question.spec.parts),
        part.minutes,
        part.points,
        part.prompt,
        tuple(" ".join(clause.split()) for clause in part.contract),
        first=1 + sum(len(one.contract) for one in before),
        questions=sum(len(list(check.asks())) for check in part.checks),
    )


def question_markdown(question: Question, *, parts: int | None = None) -> str:
    """The same as a Markdown file for the folder of the submission."""
    texts = [f"# {question.spec.title}", f"`{question.id}`: {_terms(question)}"]
    for asked in asked_parts(question, parts):
        texts += [f"## {asked.heading}"] * bool(asked.heading)
        texts.append(asked.part.prompt.strip())
        level = "###" if asked.heading else "##"
        if interface := asked.part.interface.strip("\n"):
            texts += [f"{level} Interface", f"```python\n{interface}\n```"]
        if asked.clauses:
            texts += [
                f"{level} Contract",
                "\n".join(f"{mark} {text}" for mark, text in asked.clauses),
            ]
        texts += [f"{level} Questions"] * bool(asked.questions)
        texts += [
            "\n".join([f"**{asks[0]}** {asks[1]}", "", *_choices(asks[2], "- ")])
            for asks in asked.questions
        ]
    form = forms.of(question.spec)
    for one in form.materials(question.spec):
        rows = [f"- `{name}`: {' '.join(text.split())}" for name, text in one.rows]
        whole = "\n".join(rows) or f"```{one.language}\n{one.text}\n```"
        texts += [f"## {one.heading}", whole]
    texts += [runs(question)] * bool(question.spec.experiments)
    texts.append(f"`drill grade` grades `{form.file}`; `drill hint {question.id}` gives a hint.")
    texts += ["The first grade counts, and no later one."] * form.one_try
    return "\n\n".join(texts) + "\n"


def runs(question: Question) -> str:
    """What a candidate may run, and how often; empty where there is nothing to run."""
    asked = question.spec.experiments
    if asked is None:
        return ""
    times = f"{asked.budget} time{'s' * (asked.budget > 1)}"
    return (
        f"`drill run` runs `{forms.of(question.spec).file}` as it is, {times} in all and up to "
        f"{asked.seconds:g} seconds of CPU time each; `--seed N` chooses the seed, else it is 0."
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """One part of a question, as it is asked."""

    number: int
    part: Part
    heading: str  # empty where there is but one part
    clauses: list[tuple[str, str]]  # the mark of each, "4." or "-", and the clause on one line
    # To be answered by choosing: an id, the question, the answers by letter.
    questions: list[tuple[str, str, Mapping[str, str]]]


def asked_parts(question: Question, parts: int | None) -> list[Asked]:
    """The first parts of a question; all, if no number is given.

    The clauses of the contract are numbered through; what else decides has a dash.
    """
    every, found, before = question.spec.parts, [], 0
    for number, part in enumerate(every[:parts], 1):
        heading = f"Part {number} of {len(every)}, {part.points} points, {part.minutes} minutes"
        clauses = [(f"{before + n}.", text) for n, text in enumerate(part.contract, 1)]
        clauses += [("-", text) for text in dict.fromkeys(_allowances(question, part))]
        before += len(part.contract)
        whole = [(mark, " ".join(text.split())) for mark, text in clauses]
        questions = [asks for check in part.checks for asks in check.asks()]
        found.append(Asked(number, part, heading if len(every) > 1 else "", whole, questions))
    return found


def _choices(answers: Mapping[str, str], mark: str) -> list[str]:
    return [f"{mark}{letter}: {' '.join(text.split())}" for letter, text in answers.items()]


def _allowances(question: Question, part: Part) -> Iterator[str]:
    """What decides besides the contract, and stands elsewhere in the spec."""
    spec = question.spec
    alike: dict[str, list[str]] = {}
    is_text = forms.of(spec).is_text
    for check in part.checks:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is not None:
            asked = getattr(check, "parts", ()) if is_text else ()
            names = alike.setdefault(f"may be {tolerance.words}: {tolerance.because}", [])
            names += asked or tolerance.names or check.compared
    for words, names in alike.items():
        yield f"{', '.join(f'`{name}`' for name in dict.fromkeys(names))} {words}"
    if part is not spec.parts[0]:
        return
    if (seconds := spec.limits.cpu_seconds) is not None:
        yield f"A call may take {seconds:g} seconds of CPU time."


def _terms(question: Question) -> str:
    """What else is asked of the candidate: "core, 25 minutes, numpy"."""
    spec = question.spec
    uses = " and ".join(spec.uses)
    after = f"better after {' and '.join(spec.prerequisites)}" if spec.prerequisites else ""
    return ", ".join(filter(None, [spec.level, f"{spec.minutes} minutes", uses, after]))
