"""What went wrong in a program of the bank, for its author: the message, the file, the line."""

from __future__ import annotations

from pathlib import Path

from grader.forms import registry as forms
from grader.model.question import Question
from grader.model.report import Raised
from grader.sandbox.replies import ProgramError

ACCEPTED = "accepted/"
LONGEST = 200  # characters of a message or a line of code: enough to find it by


def file_of(question: Question, name: str, variant: int = 0) -> str:
    """The file that holds a program, from the bank's root; empty where it is no file of the bank.

    Args:
        question: whose program it is.
        name: `reference`, `starter`, `accepted/NAME`, or the id of a misconception.
        variant: which of the misconception's.
    """
    spec = question.spec
    if name in {"reference", "starter"}:
        in_spec, file = bool(getattr(spec.code, name)), name
    elif name.startswith(ACCEPTED):
        file = name
        in_spec = name.removeprefix(ACCEPTED) in spec.code.accepted
    elif name in spec.misconceptions:
        idea = spec.misconceptions[name]
        file_number = variant // len(idea.settings)
        several = file_number < len(idea.variants)
        stem = idea.variants[file_number] if several else name.replace("-", "_")
        in_spec, file = bool(idea.programs), f"misconceptions/{stem}"
    else:
        return ""
    if not in_spec:
        form = forms.of(spec)
        suffix = Path(form.file).suffix if file.startswith(ACCEPTED) else ".py"
        made = {"starter": form.starter, "reference": form.reference}
        if file in made and made[file](spec):
            return question.spec_file
        return f"drills/{question.id}/{file}{suffix}"
    return question.spec_file


def in_one_sentence(error: Exception, file: str) -> str:
    """An error with what the exception says, where it is, and the line itself."""
    raised = error.raised if isinstance(error, ProgramError) else None
    if not isinstance(error, ProgramError) or raised is None:
        return str(error)
    if error.where:
        return f"{error}{message_of(raised)}, in {error.where}"
    source = _short(raised.frames[-1].source) if raised.frames else ""
    return f"{error}{message_of(raised)}{line_of(raised, file)}" + (source and f": {source}")


def message_of(raised: Raised) -> str:
    """`: ` and the text of an exception; nothing where it has none."""
    text = _short(raised.message)
    return f": {text}" if text else ""


def line_of(raised: Raised, file: str) -> str:
    """`, in FILE:LINE`, as editors open it; nothing where the line is not known."""
    if not raised.frames:
        return ""
    line = raised.frames[-1].line
    return f", in {file}:{line}" if file else f", at line {line}"


def _short(text: str) -> str:
    """A text on one line, and not too long for a sentence."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "..."
