"""Forms of which the answers are numbers: `estimate`, with units, and `predict`, by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from grader.forms import answers
from grader.forms.base import Form, Path, Unreadable
from grader.forms.quantities import UNITS, quantity
from grader.model.question import Question
from grader.model.spec import Spec

_FRACTION = re.compile(r"([+-]?\d{1,15}(?:\.\d{1,15})?)\s*(?:/\s*(\d{1,15}))?", re.ASCII)


class Estimate(Form):
    """Each `numbers` check looks at what one function returns: a dict of its answers."""

    def starter(self, spec: Spec) -> bytes:
        """Every answer open, with its unit."""
        units = {name: f"in {one.unit}" for name, one in spec.answers.items() if one.unit != "1"}
        return answers.template(spec.answers, units)

    def program(self, text: bytes, question: Question) -> bytes:
        """Functions that give what was written; an open answer is left out of its dict."""
        asked = question.spec.answers
        found: dict[str, float] = {}
        for name, given in answers.read(text, asked).items():
            try:
                found[name] = self.number(given.value, asked[name].unit)
            except ValueError as error:
                raise given.wrong(f"{name}: {error}", getattr(error, "at", 0)) from None
        lines = []
        for function, names in _functions(question).items():
            if told := {name: found[name] for name in names if name in found}:
                lines.append(f"def {function}(*_, **__):\n    return {told!r}\n")
        return "\n".join(lines).encode()

    def number(self, text: str, unit: str) -> float:
        """The number that was written.

        Raises:
            ValueError: it is none.
        """
        return quantity(text, unit)

    def asked_by(self, function: str, question: Question) -> list[str]:
        """Those that its dict has."""
        return _functions(question).get(function, [function])

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Answers that no check looks at, checks of what is not asked, and units."""
        yield from answers.faults(spec)
        looked_at = {part for check in spec.checks for part in getattr(check, "parts", ())}
        for name, one in spec.answers.items():
            if name not in looked_at:
                yield ("answers", name), f"{name}: expected a numbers check of it, found none"
            if one.unit not in UNITS:
                known = ", ".join(UNITS)
                yield ("answers", name), f"{name}: expected a unit of {known}, found {one.unit}"
        for check in spec.checks:
            if not getattr(check, "parts", ()) and not list(check.asks()):
                at = ("checks", spec.checks.index(check))
                yield at, f"{check.id}: expected a check of answers by name, as numbers is"
            for part in getattr(check, "parts", ()):
                if part not in spec.answers:
                    yield ("answers",), f"answers: expected {part}, which {check.id} looks at"


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


def _functions(question: Question) -> dict[str, list[str]]:
    """By function of the submission, the answers that it gives."""
    found: dict[str, list[str]] = {}
    for check in question.spec.checks:
        for step in question.runs[check.run]:
            if getattr(check, "of", None) in step.targets and step.owner == "submission":
                found.setdefault(step.function, []).extend(getattr(check, "parts", ()))
    return found
