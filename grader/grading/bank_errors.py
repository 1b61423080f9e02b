"""Messages for an author on errors in the programs of a question, with file and line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from grader import forms
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.report import ExceptionRecord
from grader.model.spec import Library
from grader.sandbox.client import CallTimeout, WorkerError
from grader.sandbox.messages import ProgramError

MAX_QUOTED_LENGTH = 200  # characters of an exception's message
_MISSING_MODULE = re.compile(r"No module named '(\w+)")


class BankProgramError(Exception):
    """A program of the bank, or the spec, is at fault: the submission is not to blame."""


@contextlib.contextmanager
def blame_bank(problem: str) -> Iterator[None]:
    """Turn any error of a program inside the block into a BankProgramError.

    `problem` is the beginning of its message: "the reference fails on case odd-sizes".
    """
    try:
        yield
    except (ProgramError, WorkerError) as error:
        details = ""
        if isinstance(error, CallTimeout):
            details = "; limits in the spec says how long a call may take"
        if isinstance(error, ProgramError) and error.raised:
            details = f": {error.raised.message[:MAX_QUOTED_LENGTH]}"
            if error.where:
                details += f", in {error.where}"
            if error.is_from_support_code:
                problem = re.sub("^the reference ", "the driver, or a helper, ", problem)
        raise BankProgramError(f"{problem}: {error}{details}") from None


def program_file(question: Question, name: str) -> str:
    """Return the file of a program, relative to the bank; empty if the bank has no such file.

    The name is `reference`, `starter`, `repair`, `accepted/NAME`, or the id of an idea.
    """
    spec = question.spec
    form = forms.form_of(spec)
    stem = "ideas" if name in question.ideas else name.partition("/")[0]
    is_derived = stem in {"starter", "repair"} and spec.starter
    if stem not in {"reference", "starter", "ideas", "accepted", "repair"} or is_derived:
        return ""
    if getattr(spec.code, stem, ""):
        return question.spec_file
    from_form = {"starter": form.starter, "reference": form.reference}
    if stem in from_form and from_form[stem](spec):
        return question.spec_file
    suffix = Path(form.file).suffix if stem in {"accepted", "repair"} else ".py"
    return f"drills/{question.id}/{stem}{suffix}"


def error_in_one_sentence(error: Exception, file: str) -> str:
    """Return a sentence with the error, the message of its exception, file, line and code."""
    raised = error.raised if isinstance(error, ProgramError) else None
    if not isinstance(error, ProgramError) or raised is None:
        return str(error)
    sentence = f"{error}{message_suffix(raised)}"
    if error.is_from_support_code:
        return f"{sentence}, in {error.where}"
    sentence += line_suffix(raised, file)
    source = _shorten(raised.frames[-1].source) if raised.frames else ""
    return f"{sentence}: {source}" if source else sentence


def message_suffix(raised: ExceptionRecord) -> str:
    """Return `: ` and the text of an exception, with advice if a module is missing, or ""."""
    text = _shorten(raised.message)
    missing = _MISSING_MODULE.match(text)
    if raised.type == "ModuleNotFoundError" and missing:
        text += f" ({_advice_on_module(missing[1])})"
    return f": {text}" if text else ""


def _advice_on_module(module: str) -> str:
    """Return advice for the author on a module that cannot be imported."""
    if module == "torch":
        return "add torch to uses"
    similar = did_you_mean(module, get_args(Library)).removeprefix("; ")
    return similar or "only numpy, torch if uses has it, and modules in helpers can be imported"


def line_suffix(raised: ExceptionRecord, file: str) -> str:
    """Return `, in FILE:LINE`, as editors open it; empty if the line is not known."""
    if not raised.frames:
        return ""
    line = raised.frames[-1].line
    return f", in {file}:{line}" if file else f", at line {line}"


def _shorten(text: str) -> str:
    """Return a text on one line, short enough for a sentence."""
    one_line = " ".join(text.split())
    if len(one_line) <= MAX_QUOTED_LENGTH:
        return one_line
    return one_line[: MAX_QUOTED_LENGTH - 3] + "..."
