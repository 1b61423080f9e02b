"""Forms of which the answers are numbers: `estimate`, with units, and `predict`, by hand."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import (
    Form,
    UnreadableAnswer,
    UnreadLines,
    answer_lines,
    answer_template,
    open_answers_text,
    raise_or_collect,
    read_answers,
)
from grader.forms.quantities import parse_fraction, parse_quantity
from grader.forms.units import UNITS, base_unit, unit_of
from grader.model.question import Question
from grader.model.spec import KeyPath, Spec


class EstimateForm(Form):
    """Each `numbers` check looks at what one function returns: a dict of its answers."""

    number = staticmethod(parse_quantity)  # that was written, with its unit
    rules = (
        "A number, arithmetic, or a number with a unit: 14 GB, 2*48*128, 1.12e11 B.",
        "Use a decimal point: 1.5 GB. GB is 1e9 bytes, GiB is 2**30 bytes.",
    )

    def starter(self, spec: Spec) -> bytes:
        """Every answer open, with its unit."""
        return answer_template(spec.answers, [*self.rules, _rounding(spec)])

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """Functions that give what was written; an open answer is left out of its dict."""
        asked, found = question.spec.answers, dict[str, float]()
        written = read_answers(text, asked, unread=unread, literal=literal)
        faults = list[UnreadableAnswer]()
        open_ = [name for name in asked if name not in written]
        if self.allows_one_try and open_ and unread is None:
            faults.append(
                UnreadableAnswer(f"{open_answers_text(open_)}; the first prediction counts")
            )
        for name, given in written.items():
            with given.collect_errors(f"{name}: ", faults=faults):
                unit, about = base_unit(asked[name].unit), f"{name} {asked[name].ask}"
                found[name] = self.number(given.value, unit, about, literal=literal)
        raise_or_collect(faults, unread)
        lines = []
        for function, names in _functions(question).items():
            if told := {name: found[name] for name in names if name in found}:
                lines.append(f"def {function}(*_, **__):\n    return {told!r}\n")
        return "\n".join(lines).encode()

    def answers_for_function(self, function: str, question: Question) -> list[str]:
        """Those that its dict has."""
        return _functions(question).get(function, [function])

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """Answers that no check looks at, checks of what is not asked, and units."""
        yield from super().spec_errors(spec)
        looked_at = {part: c.id for c in spec.checks for part in getattr(c, "parts", ())}
        for name, one in spec.answers.items():
            if name not in looked_at:
                yield ("answers", name), "expected a numbers check of it, found none"
            if not base_unit(one.unit):
                base, wanted = unit_of(f"1 {one.unit}"), f"a unit of {', '.join(UNITS)}"
                if base != "1":
                    wanted = f"{base}, in which an answer of {one.unit} is read too"
                yield ("answers", name, "unit"), f"expected {wanted}, found {one.unit}"
        for number, check in enumerate(spec.checks):
            if not getattr(check, "parts", ()) and not list(check.choice_questions()):
                wrong = "expected a check of answers by name, as numbers is"
                yield ("checks", number), wrong
        for part in (part for part in looked_at if part not in spec.answers):
            yield ("answers",), f"expected {part}, which {looked_at[part]} looks at"


class PredictForm(EstimateForm):
    """As an estimate, with decimals and fractions; what is right is shown, so none may be open."""

    shows_expected = allows_one_try = True
    number = staticmethod(parse_fraction)
    rules = (
        "A number, a fraction or arithmetic: 0.25, -3, 2/3, 2*4. Use a decimal point.",
        "Only the first grade counts.",
    )


def prediction_as_read(text: bytes, question: Question) -> list[str]:
    """The lines of a prediction; what is no plain number has behind it as which it was read."""
    found = answer_lines(text)
    for name, one in read_answers(text, question.spec.answers).items():
        if not one.value.lstrip("-").replace(".", "", 1).isdigit():
            value = parse_fraction(one.value, "1", f"{name} {question.spec.answers[name].ask}")
            found[one.line - 1] += f"   read as {value:.6g}"
    return found


def _rounding(spec: Spec) -> str:
    """Say how far an answer may be off; the tightest, if checks differ."""
    allowed = [getattr(c, "tolerance", None) for c in spec.checks if getattr(c, "parts", ())]
    if not allowed or None in allowed:
        return "Do not round: an answer has to be exact."
    tightest = min(filter(None, allowed), key=lambda one: (one.relative or 0, one.absolute or 0))
    return f"You may round: an answer may be {tightest.allowed_in_words}."


def _functions(question: Question) -> dict[str, list[str]]:
    """By function of the submission, the answers that it gives."""
    found: dict[str, list[str]] = {}
    for check in question.spec.checks:
        for step in question.runs[check.run]:
            if getattr(check, "of", None) in step.targets and step.owner == "submission":
                found.setdefault(step.function, []).extend(getattr(check, "parts", ()))
    return found
