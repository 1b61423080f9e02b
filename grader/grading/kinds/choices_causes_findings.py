"""Kinds that judge a written answer: `choices`, `causes` and `findings`.

A missed cause or fault is counted, or described by the symptom that a test would report.  It is
never named, because then trial and error would find the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from grader.grading.kinds.base import CaseFinding, CaseTrial, Check, WrittenAnswerKind, api
from grader.model.errors import KeyPath, did_you_mean
from grader.model.number_format import format_count
from grader.model.spec import LongText, Name, Slug, StrictModel, yaml_key

MAX_NAMED_CAUSES = 2  # innocent causes; picking all causes must not reveal the answer
MAX_EXPLAINED_ALARMS = 2
APPROVE = "approve"  # an answer to `findings` in place of a line
Letter = Annotated[str, Field(pattern=r"^[a-z0-9]$")]
LineNumber = Annotated[int, Field(ge=1, le=400)]


class _WrittenCheck(Check):
    """A check whose result does not help to tell ideas apart."""

    @property
    def compared_results(self) -> tuple[str, ...]:
        return ()


class ChoiceQuestion(StrictModel):
    """One question, and the answers that can be chosen."""

    ask: LongText = yaml_key("The question.")
    answers: dict[Letter, LongText] = yaml_key(
        "What can be chosen, by a letter or a digit each.", min_length=2, max_length=10
    )


class ChoicesCheck(_WrittenCheck):
    """Questions to be answered by a letter each."""

    kind: Literal["choices"]
    of: Name = yaml_key("The result, a dict: the letter that is chosen, by the question's id.")
    questions: dict[Slug, ChoiceQuestion] = yaml_key(
        "What is asked, by id; the reference says what is right.", min_length=1
    )

    def choice_questions(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        for name, question in self.questions.items():
            yield name, question.ask, question.answers


class ChoicesKind(WrittenAnswerKind[ChoicesCheck]):
    """Compare every answer with the reference's, and never tell which one is wrong."""

    check_model = ChoicesCheck

    def varies_with_style(self, check: ChoicesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(self, trial: CaseTrial[ChoicesCheck]) -> CaseFinding:
        check = trial.check
        right_letters = _right_letters(trial)
        answers = trial.subject_result(check.of)
        ids = ", ".join(check.questions)
        if not isinstance(answers, dict):
            return CaseFinding(
                f"{check.of} is {api.describe_value(answers)}, expected a dict with {ids}"
            )
        unknown = [str(name) for name in answers if name not in check.questions]
        if unknown:
            return CaseFinding(f"{check.of} answers {unknown[0]!r:.60}; asked are {ids}")
        letters = {name: _letter(answers.get(name)) for name in check.questions}
        missing = [name for name, letter in letters.items() if not letter]
        if missing:
            verb = "is" if len(missing) == 1 else "are"
            return CaseFinding(f"{', '.join(missing)} {verb} not answered")
        for name, question in check.questions.items():
            if letters[name] not in question.answers:
                return CaseFinding(
                    f"{name} is answered by {f'{answers[name]!r:.40}'}, "
                    f"expected one of {', '.join(question.answers)}"
                )
        count = len(letters)
        if letters == right_letters:
            return CaseFinding.for_pass(f"{count} of {count} right" if count > 1 else "right")
        if count > 1:
            return CaseFinding(f"not all {count} answers are right")
        return CaseFinding("the answer is not right")


def _right_letters(trial: CaseTrial[ChoicesCheck]) -> dict[str, str]:
    """Return the letter that the reference gives for each question.

    Raises:
        BankProgramError: an answer is missing, or its letter cannot be chosen.
    """
    check = trial.check
    answers = trial.reference_outcome.values.get(check.of)
    if not isinstance(answers, dict):
        answers = {}
    letters = {}
    for name, question in check.questions.items():
        letters[name] = _letter(answers.get(name))
        if letters[name] not in question.answers:
            raise api.BankProgramError(
                f"{check.id}: expected the reference's {check.of} to answer {name} by one of "
                f"{', '.join(question.answers)}, found {api.describe_value(answers.get(name))}"
            )
    return letters


def _letter(answer: object) -> str:
    """Return the letter of an answer in lower case, or "" if the answer is not a text."""
    return answer.strip().lower() if isinstance(answer, str) else ""


class CausesCheck(_WrittenCheck):
    """The causes that are picked."""

    kind: Literal["causes"]
    of: Name = yaml_key("The result, a list: the ids that are picked of `causes`.")
    exactly: list[Slug] = yaml_key("Those that were at work.", min_length=1)
    allowed: list[Slug] = yaml_key("Those that may be picked or not.", [])
    innocent: dict[Slug, LongText] = yaml_key(
        "The others: the experiment that clears each, a sentence, shown where it is picked.", {}
    )

    @property
    def known_causes(self) -> tuple[str, ...]:
        return (*self.exactly, *self.allowed, *self.innocent)

    def spec_errors(self) -> Iterator[tuple[KeyPath, str]]:
        yield from super().spec_errors()
        for name in dict.fromkeys(self.known_causes):
            if self.known_causes.count(name) > 1:
                yield ("exactly",), f"expected {name} once in exactly, allowed and innocent"


class CausesKind(WrittenAnswerKind[CausesCheck]):
    """Compare the picked causes with those at work.

    Innocent causes that are picked are named, each with the experiment that clears it, unless there
    are more than two.
    """

    check_model = CausesCheck
    judges_values = True
    always_reported = True

    def varies_with_style(self, check: CausesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(self, trial: CaseTrial[CausesCheck]) -> CaseFinding:
        check = trial.check
        answer = trial.subject_result(check.of)
        if not isinstance(answer, (list, tuple)) or not all(isinstance(n, str) for n in answer):
            return CaseFinding(
                f"{check.of} is {api.describe_value(answer)}, expected a list of ids"
            )
        picked = list(dict.fromkeys(name.strip() for name in answer))
        for name in picked:
            if name not in check.known_causes:
                hint = did_you_mean(name, list(check.known_causes))
                return CaseFinding(f"{name!r:.60} is not among the causes{hint}")
        innocent = [name for name in picked if name in check.innocent]
        right = sum(name in check.exactly for name in picked)
        total = len(check.exactly)
        figures = {
            "recall": right / total,
            "precision": right / max(1, right + len(innocent)),
            "share": max(0, right - len(innocent)) / total,
        }
        sentence = f"{right} of {format_count(total, 'cause')}"
        if right == total and not innocent:
            return CaseFinding.for_pass(sentence, **figures)
        if innocent:
            sentence += f", {len(innocent)} too many"
        if len(innocent) <= MAX_NAMED_CAUSES:
            for name in innocent:
                sentence += f"; {name} is innocent: {_as_phrase(check.innocent[name])}"
        return CaseFinding(sentence, figures=figures)


def _as_phrase(text: str) -> str:
    """Put a text on one line, without the period at its end."""
    return " ".join(text.split()).rstrip(".")


class DiffDefect(StrictModel):
    """One thing that is wrong with a diff."""

    lines: list[LineNumber] = yaml_key(
        "Where it is; one of them is enough.", min_length=1, max_length=9
    )
    reason: Slug = yaml_key("Why, one of the question's `reasons`.")
    symptom: LongText = yaml_key("What a test says of it; shown where it was not found.")


class FindingsCheck(_WrittenCheck):
    """Lines that are wrong, each with a reason."""

    kind: Literal["findings"]
    of: Name = yaml_key("The result, a dict: a reason by the number of the line.")
    wrong: list[DiffDefect] = yaml_key("All that is wrong.", min_length=1)
    innocent: dict[Annotated[str, Field(pattern=r"^[0-9]{1,3}$")], LongText] = yaml_key(
        "Why a line is right that looks wrong; shown where it is listed.", {}
    )
    false_alarms: int = yaml_key(
        "How many lines that are right may be listed all the same.", 1, ge=0, le=9
    )


class FindingsKind(WrittenAnswerKind[FindingsCheck]):
    """Compare the listed lines of a diff with its faults.

    A fault is found if one of its lines is listed with its reason, and half found if only the
    reason differs.  A listed line that belongs to no fault is a false alarm.  A pass needs all
    faults, and no more false alarms than the check allows.
    """

    check_model = FindingsCheck
    judges_values = True
    shows_measurement = True  # a pass may have false alarms

    def judge(self, trial: CaseTrial[FindingsCheck]) -> CaseFinding:
        check = trial.check
        answer = trial.subject_result(check.of)
        if not isinstance(answer, dict):
            return CaseFinding(f"{check.of} is {api.describe_value(answer)}, expected a dict")
        reasons = {int(n): str(reason) for n, reason in answer.items() if str(n).isdigit()}
        if answer.get(APPROVE) == "yes":
            return CaseFinding("you approved, and something is wrong with it")
        complete, half, missed = _sort_faults(check.wrong, reasons)
        faulty_lines = {line for fault in check.wrong for line in fault.lines}
        alarms = sorted(reasons.keys() - faulty_lines)
        total = len(check.wrong)
        worth = len(complete) + 0.5 * len(half)
        penalty = max(0, len(alarms) - check.false_alarms)
        precision = len(reasons.keys() & faulty_lines) / len(reasons) if reasons else 0.0
        figures = {
            "recall": worth / total,
            "precision": precision,
            "share": max(0.0, worth - penalty) / total,
        }
        passed = len(complete) == total and not penalty
        sentence = f"{len(complete)} of {total} faults"
        if half:
            sentence += f" and {len(half)} with another reason"
        sentence += f", {format_count(len(alarms), 'false alarm')}"
        remarks = [fault.symptom for fault in missed[:1]]
        remarks += _remarks_on_alarms(check, alarms, name_all=passed)
        for remark in remarks:
            sentence += f"; {_as_phrase(remark)}"
        if passed:
            return CaseFinding.for_pass(sentence, **figures)
        return CaseFinding(sentence, figures=figures)

    def observe(self, trial: CaseTrial[FindingsCheck]) -> object:
        return trial.subject_result(trial.check.of)


def _sort_faults(
    faults: Sequence[DiffDefect], reasons: Mapping[int, str]
) -> tuple[list[DiffDefect], list[DiffDefect], list[DiffDefect]]:
    """Split the faults into three lists: found, half found and missed."""
    complete, half, missed = [], [], []
    for fault in faults:
        if any(reasons.get(line) == fault.reason for line in fault.lines):
            complete.append(fault)
        elif any(line in reasons for line in fault.lines):
            half.append(fault)
        else:
            missed.append(fault)
    return complete, half, missed


def _remarks_on_alarms(check: FindingsCheck, alarms: Sequence[int], *, name_all: bool) -> list[str]:
    """Return remarks on false alarms: "line 7 is right: ...", for the first two with a reason.

    The check gives reasons in `innocent`.  With `name_all`, each other false alarm has the remark
    "line 9 is right".
    """
    explained = [line for line in alarms if str(line) in check.innocent][:MAX_EXPLAINED_ALARMS]
    remarks = [f"line {line} is right: {check.innocent[str(line)]}" for line in explained]
    if name_all:
        remarks += [f"line {line} is right" for line in alarms if line not in explained]
    return remarks
