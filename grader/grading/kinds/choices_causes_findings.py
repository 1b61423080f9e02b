"""Kinds that judge what a person has written: `choices`, `causes` and `findings`.

What was missed is counted, or shown by what a test would say of it, and never named: that could be
found by trying.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from grader.grading.kinds.base import CaseTrial, Check, WrittenAnswerKind, api
from grader.model.errors import did_you_mean
from grader.model.spec import LongText, Name, Slug, StrictModel, yaml_key

MAX_NAMED = 2  # innocent causes: who picks everything is not given the answer
APPROVE = "approve"  # the answer to `findings` that is no line
Letter = Annotated[str, Field(pattern=r"^[a-z0-9]$")]
LineNumber = Annotated[int, Field(ge=1, le=400)]


class _WrittenCheck(Check):
    """A check whose result is no value that ideas could be told apart by."""

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
        for name, one in self.questions.items():
            yield name, one.ask, one.answers


class ChoicesKind(WrittenAnswerKind[ChoicesCheck]):
    """Hold every answer against the reference's, and never say which is wrong."""

    keys = ChoicesCheck

    def varies_with_style(self, check: ChoicesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(self, trial: CaseTrial[ChoicesCheck]) -> api.CaseFinding | None:
        right, check = _right(trial), trial.check
        given, asked = trial.submission_result(check.of), ", ".join(check.questions)
        if not isinstance(given, dict):
            return api.CaseFinding(
                f"{check.of} is {api.describe_value(given)}, expected a dict with {asked}"
            )
        if unknown := [str(name) for name in given if name not in check.questions]:
            return api.CaseFinding(f"{check.of} answers {unknown[0]!r:.60}; asked are {asked}")
        if missing := [name for name in check.questions if not _chosen(given.get(name))]:
            be = "is" if len(missing) == 1 else "are"
            return api.CaseFinding(f"{', '.join(missing)} {be} not answered")
        for name, one in check.questions.items():
            if _chosen(given[name]) not in one.answers:
                found, letters = f"{given[name]!r:.40}", ", ".join(one.answers)
                return api.CaseFinding(f"{name} is answered by {found}, expected one of {letters}")
        count = len(right)
        if all(_chosen(given[name]) == letter for name, letter in right.items()):
            return api.CaseFinding.for_pass(f"{count} of {count} right" if count > 1 else "right")
        said = f"not all {count} answers are right" if count > 1 else "the answer is not right"
        return api.CaseFinding(said)


def _right(trial: CaseTrial[ChoicesCheck]) -> dict[str, str]:
    """The reference's answers.

    Raises:
        BankFault: it leaves one out, or chooses what nobody can.
    """
    check = trial.check
    found = trial.reference_outcome.values.get(check.of)
    answers = found if isinstance(found, dict) else {}
    for name, one in check.questions.items():
        if _chosen(answers.get(name)) not in one.answers:
            raise api.BankProgramError(
                f"{check.id}: expected the reference's {check.of} to answer {name} by one of "
                f"{', '.join(one.answers)}, found {api.describe_value(answers.get(name))}"
            )
    return {name: _chosen(answers[name]) for name in check.questions}


def _chosen(answer: object) -> str:
    """The letter that somebody wrote, in any case; empty where it is none."""
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

    def spec_errors(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().spec_errors()
        for name in dict.fromkeys(self.known_causes):
            if self.known_causes.count(name) > 1:
                yield ("exactly",), f"expected {name} once in exactly, allowed and innocent"


class CausesKind(WrittenAnswerKind[CausesCheck]):
    """Hold what is picked against what was at work.

    One that is innocent is named with the experiment that clears it, unless many are picked.
    """

    keys = CausesCheck
    judges_values = True
    always_reported = True

    def varies_with_style(self, check: CausesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(self, trial: CaseTrial[CausesCheck]) -> api.CaseFinding | None:
        check, given = trial.check, trial.submission_result(trial.check.of)
        if not isinstance(given, (list, tuple)) or not all(isinstance(n, str) for n in given):
            return api.CaseFinding(
                f"{check.of} is {api.describe_value(given)}, expected a list of ids"
            )
        picked = list(dict.fromkeys(n.strip() for n in given))
        for name in picked:
            if name not in check.known_causes:
                near = did_you_mean(name, list(check.known_causes))
                return api.CaseFinding(f"{name!r:.60} is not among the causes{near}")
        many = [name for name in picked if name in check.innocent]
        right, every = sum(name in check.exactly for name in picked), len(check.exactly)
        figures = {
            "recall": right / every,
            "precision": right / max(1, right + len(many)),
            "share": max(0, right - len(many)) / every,
        }
        said = f"{right} of {every} cause{'s' * (every > 1)}"
        said += f", {len(many)} too many" * bool(many)
        if right == every and not many:
            return api.CaseFinding.for_pass(said, **figures)
        for name in many if len(many) <= MAX_NAMED else ():
            said += f"; {name} is innocent: {' '.join(check.innocent[name].split()).rstrip('.')}"
        return api.CaseFinding(said, figures=figures)


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
    """Hold the lines of a diff that were listed against its faults, by recall and precision.

    A fault is found where one of its lines is listed with its reason, half found with another one.
    A line that is listed and belongs to no fault is a false alarm.
    """

    keys = FindingsCheck
    judges_values = True
    shows_measurement = True  # a pass may have false alarms

    def judge(self, trial: CaseTrial[FindingsCheck]) -> api.CaseFinding | None:
        check, given = trial.check, trial.submission_result(trial.check.of)
        if not isinstance(given, dict):
            return api.CaseFinding(f"{check.of} is {api.describe_value(given)}, expected a dict")
        listed = {int(n): str(reason) for n, reason in given.items() if str(n).isdigit()}
        if given.get(APPROVE) == "yes":
            return api.CaseFinding("you approved, and something is wrong with it")
        found = [f for f in check.wrong if any(listed.get(n) == f.reason for n in f.lines)]
        half = [f for f in check.wrong if f not in found and any(n in listed for n in f.lines)]
        faulty = {n for fault in check.wrong for n in fault.lines}
        alarms, every = sorted(listed.keys() - faulty), len(check.wrong)
        right = len(listed.keys() & faulty)
        worth = len(found) + 0.5 * len(half)
        figures = {
            "recall": worth / every,
            "precision": right / len(listed) if listed else 0.0,
            "share": max(0.0, worth - max(0, len(alarms) - check.false_alarms)) / every,
        }
        said = f"{len(found)} of {every} faults"
        said += f" and {len(half)} with another reason" * bool(half)
        said += f", {len(alarms)} false alarm{'s' * (len(alarms) != 1)}"
        known = [n for n in alarms if str(n) in check.innocent][:2]
        why = [f"line {n} is right: {check.innocent[str(n)]}" for n in known]
        passed = len(found) == every and len(alarms) <= check.false_alarms
        if passed:
            why += [f"line {n} is right" for n in alarms if n not in known]
        missed = [f.symptom for f in check.wrong if f not in found and f not in half][:1]
        said += "".join(f"; {' '.join(text.split()).rstrip('.')}" for text in (*missed, *why))
        return (
            api.CaseFinding.for_pass(said, **figures)
            if passed
            else api.CaseFinding(said, figures=figures)
        )

    def observe(self, trial: CaseTrial[FindingsCheck]) -> object:
        return trial.submission_result(trial.check.of)
