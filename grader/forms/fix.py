"""Form `fix`: code that looks right and is not, to be mended."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import Form, Path
from grader.model.question import Question
from grader.model.spec import Spec


class Fix(Form):
    """The submission is the program."""

    file = "submission.py"
    is_text = False

    def starter(self, spec: Spec) -> bytes:  # noqa: ARG002
        """None: the question brings it."""
        return b""

    def program(self, text: bytes, question: Question) -> bytes:  # noqa: ARG002
        """The file itself."""
        return text

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Keys that are of other forms."""
        if spec.answers:
            yield ("answers",), "answers: expected form: estimate, predict or derive, found none"
        for key in ("causes", "log", "experiments") if spec.form == "fix" else ():
            if getattr(spec, key):
                yield (key,), f"{key}: expected form: diagnose, found none"
