"""A question as QUESTION.md, and what its spec allows or excludes besides the contract."""

from __future__ import annotations

from collections.abc import Iterator

from grader.model.keys import Tolerance
from grader.model.question import Question


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
    parts = len(question.spec.parts)
    return list(dict.fromkeys([*question.spec.contract, *allowances(question, 1, parts)]))


def allowances(question: Question, first: int, last: int) -> Iterator[str]:
    """What decides in some parts, from 1 on, and does not stand in their contracts."""
    spec = question.spec
    for check in [check for part in spec.parts[first - 1 : last] for check in part.checks]:
        tolerance: Tolerance | None = getattr(check, "tolerance", None)
        if tolerance is not None:
            named = ", ".join(f"`{name}`" for name in tolerance.names or check.compared)
            yield f"{named} may be {tolerance.words}: {tolerance.because}"
    if first > 1:
        return
    if (seconds := spec.limits.cpu_seconds) is not None:
        yield f"A call may take {seconds:g} seconds of CPU time."
    if spec.forbids:
        named = ", ".join(f"`{name}`" for name in spec.forbids)
        yield f"Write it yourself: a solution calls none of {named}."


def _terms(question: Question) -> str:
    """What else is asked of the candidate: "core, 25 minutes, numpy"."""
    spec = question.spec
    uses = " and ".join(spec.uses)
    return ", ".join(filter(None, [spec.level, f"{spec.minutes} minutes", uses]))
