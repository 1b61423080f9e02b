"""Form `estimate`: numbers with units; what would be right is not shown before all are."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms import answers
from grader.forms.base import Form, Path
from grader.forms.quantities import UNITS, quantity
from grader.model.question import Question
from grader.model.spec import Spec


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
        yield from of_text(spec)
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


def of_text(spec: Spec) -> Iterator[tuple[Path, str]]:
    """What is wrong in any form of which the answers are text."""
    if not spec.answers:
        yield ("form",), f"form: expected answers, which a question to {spec.form} asks for"
    if len(spec.parts) > 1:
        found = f"found {len(spec.parts)}"
        yield ("parts",), f"parts: expected one, which an answers file is about, {found}"


def _functions(question: Question) -> dict[str, list[str]]:
    """By function of the submission, the answers that it gives."""
    found: dict[str, list[str]] = {}
    for check in question.spec.checks:
        for step in question.runs[check.run]:
            if getattr(check, "of", None) in step.targets and step.owner == "submission":
                found.setdefault(step.function, []).extend(getattr(check, "parts", ()))
    return found
