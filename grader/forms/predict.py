"""Form `predict`: some numbers by hand, before anything is run; then they are compared."""

from __future__ import annotations

import math
import re

from grader.forms import answers
from grader.forms.base import Unreadable
from grader.forms.estimate import Estimate
from grader.model.question import Question
from grader.model.spec import Spec

_FRACTION = re.compile(r"([+-]?\d{1,15}(?:\.\d{1,15})?)\s*(?:/\s*(\d{1,15}))?", re.ASCII)


class Predict(Estimate):
    """As an estimate, with decimals and fractions, and what is right is shown."""

    shows_expected = one_try = True

    def starter(self, spec: Spec) -> bytes:
        """Every number open."""
        said = (
            b"# Decimals or fractions, as 0.25 or 2/3. The first grade counts, and no later one.\n"
        )
        return said + super().starter(spec)

    def program(self, text: bytes, question: Question) -> bytes:
        """Likewise; a file that lacks a number is none yet, because the first one counts."""
        asked = question.spec.answers
        given = answers.read(text, asked)
        for name in asked:
            if name not in given:
                raise Unreadable(f"{name} has no answer yet; the first prediction counts")
        return super().program(text, question)

    def number(self, text: str, unit: str) -> float:  # noqa: ARG002
        """A decimal or a fraction."""
        found = _FRACTION.fullmatch(text)
        if found is None:
            raise ValueError("needs a number such as 0.25, -3 or 2/3")
        over = float(found[2] or 1)
        if not over:
            raise ValueError(f"{text} is no number")
        value = float(found[1]) / over
        if not math.isfinite(value):
            raise ValueError("is too large")
        return value
