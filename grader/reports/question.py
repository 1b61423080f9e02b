"""A question as the interviewer hands it over: on a terminal, and as QUESTION.md."""

from __future__ import annotations

from rich.console import RenderableType
from rich.text import Text

from grader.model.keys import Tolerance
from grader.model.question import Question
from grader.reports.inert import inert
from grader.reports.page import Line, Page, heading, measure
from grader.reports.palette import STRONG
from grader.reports.prose import code, prose_lines


def render_question(question: Question, width: int) -> RenderableType:
    """The prompt, the interface and the contract, within `width` columns."""
    spec = question.spec
    across = measure(width)
    lines: list[Line] = [*heading(inert(question.id), spec.title, _terms(question), across), Text()]
    lines += prose_lines(spec.prompt, across)
    lines += [Text(), Text("Interface", STRONG), Text(), code(spec.interface, across, indent=2)]
    if contract := _contract(question):
        lines += [Text(), Text("Contract", STRONG), Text()]
        for sentence in contract:
            lines += prose_lines(f"- {' '.join(sentence.split())}", across, indent=2)
    return Page(lines)


def question_markdown(question: Question) -> str:
    """The same as a Markdown file for the folder of the submission."""
    spec = question.spec
    parts = [
        f"# {spec.title}",
        f"`{question.id}`: {_terms(question)}",
        spec.prompt.strip(),
        "## Interface",
        "```python\n" + spec.interface.strip("\n") + "\n```",
    ]
    if contract := _contract(question):
        bullets = "\n".join(f"- {' '.join(s.split())}" for s in contract)
        parts += ["## Contract", bullets]
    parts.append(f"`drill grade` grades `submission.py`; `drill hint {question.id}` gives a hint.")
    return "\n\n".join(parts) + "\n"


def _contract(question: Question) -> list[str]:
    """The sentences of the contract, and what else decides that the spec says elsewhere."""
    spec = question.spec
    sentences = list(spec.contract)
    for check in spec.checks:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is not None:
            named = ", ".join(f"`{name}`" for name in tolerance.names or check.compared)
            sentences.append(f"{named} may be {tolerance.words}: {tolerance.because}")
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
