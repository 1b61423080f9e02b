"""Forms whose answers are numbers: `estimate`, with units, and `predict`, by hand."""

from __future__ import annotations

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
from grader.model.errors import SpecErrors
from grader.model.question import Question
from grader.model.spec import Spec, Tolerance


class EstimateForm(Form):
    """Numbers with units, one a line: `weights = 14 GB`.

    The program has functions that return dicts of these numbers in base units, here bytes.  A
    check of kind `numbers` compares such a dict.
    """

    parse_number = staticmethod(parse_quantity)
    rules = (
        "A number, arithmetic, or a number with a unit: 14 GB, 2*48*128, 1.12e11 B.",
        "Use a decimal point: 1.5 GB. GB is 1e9 bytes, GiB is 2**30 bytes.",
    )

    def starter(self, spec: Spec) -> bytes:
        """Return a file with the rules as comments, and every answer open: `weights = ?`."""
        return answer_template(spec.answers, [*self.rules, _rounding_rule(spec)])

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """Return a program whose functions return dicts such as {"weights": 1.4e10}.

        An open answer is left out of its dict.
        """
        answers = question.spec.answers
        written = read_answers(text, answers, unread=unread, literal=literal)
        faults: list[UnreadableAnswer] = []
        open_names = [name for name in answers if name not in written]
        if self.allows_one_try and open_names and unread is None:
            sentence = f"{open_answers_text(open_names)}; the first prediction counts"
            faults.append(UnreadableAnswer(sentence))
        numbers: dict[str, float] = {}
        for name, line in written.items():
            with line.collect_errors(f"{name}: ", faults=faults):
                unit = base_unit(answers[name].unit)
                about = f"{name} {answers[name].ask}"
                numbers[name] = self.parse_number(line.value, unit, about, literal=literal)
        raise_or_collect(faults, unread)
        functions = []
        for function, names in _answers_by_function(question).items():
            results = {name: numbers[name] for name in names if name in numbers}
            if results:
                functions.append(f"def {function}(*_, **__):\n    return {results!r}\n")
        return "\n".join(functions).encode()

    def answers_for_function(self, function: str, question: Question) -> list[str]:
        """Return the names of the answers in the dict that a function returns."""
        return _answers_by_function(question).get(function, [function])

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield answers without a check or a base unit, and checks of anything but the answers."""
        yield from super().spec_errors(spec)
        checks_by_answer = {
            part: check.id for check in spec.checks for part in getattr(check, "parts", ())
        }
        for name, answer in spec.answers.items():
            if name not in checks_by_answer:
                yield ("answers", name), "expected a numbers check of it, found none"
            if not base_unit(answer.unit):
                expected = f"a unit of {', '.join(UNITS)}"
                base = unit_of(f"1 {answer.unit}")
                if base != "1":
                    expected = f"{base}, in which an answer of {answer.unit} is read too"
                yield ("answers", name, "unit"), f"expected {expected}, found {answer.unit}"
        for number, check in enumerate(spec.checks):
            if not getattr(check, "parts", ()) and not list(check.choice_questions()):
                yield ("checks", number), "expected a check of answers by name, as numbers is"
        for name, check_id in checks_by_answer.items():
            if name not in spec.answers:
                yield ("answers",), f"expected {name}, which {check_id} looks at"


class PredictForm(EstimateForm):
    """Numbers that a candidate works out by hand: decimals, fractions and arithmetic.

    Only the first grade counts, and it shows the right numbers; so a file with an open answer is
    refused (in a class, such an answer is wrong).
    """

    shows_expected = True
    allows_one_try = True
    parse_number = staticmethod(parse_fraction)
    rules = (
        "A number, a fraction or arithmetic: 0.25, -3, 2/3, 2*4. Use a decimal point.",
        "Only the first grade counts.",
    )


def prediction_as_read(text: bytes, question: Question) -> list[str]:
    """Return the lines of a prediction, as `half = 1/2   read as 0.5`; plain decimals as they are.

    Raises:
        UnreadableAnswer: a line cannot be read.
    """
    lines = answer_lines(text)
    answers = question.spec.answers
    for name, answer in read_answers(text, answers).items():
        if not answer.value.lstrip("-").replace(".", "", 1).isdigit():
            value = parse_fraction(answer.value, "1", f"{name} {answers[name].ask}")
            lines[answer.line - 1] += f"   read as {value:.6g}"
    return lines


def _rounding_rule(spec: Spec) -> str:
    """Return a sentence: how far answers may be rounded in every check, or that they may not."""
    tolerances: list[Tolerance | None] = [
        getattr(check, "tolerance", None) for check in spec.checks if getattr(check, "parts", ())
    ]
    allowed = [tolerance for tolerance in tolerances if tolerance is not None]
    if not allowed or len(allowed) < len(tolerances):
        return "Do not round: an answer has to be exact."
    tightest = min(allowed, key=lambda width: (width.relative or 0, width.absolute or 0))
    return f"You may round: an answer may be {tightest.allowed_in_words}."


def _answers_by_function(question: Question) -> dict[str, list[str]]:
    """Map each function of the submission to the names of the answers in the dict it returns."""
    answers: dict[str, list[str]] = {}
    for check in question.spec.checks:
        for step in question.runs[check.run]:
            if getattr(check, "of", None) in step.targets and step.owner == "submission":
                answers.setdefault(step.function, []).extend(getattr(check, "parts", ()))
    return answers
