"""Check `choices`: questions with several answers to choose from, a letter each.

What is asked and what can be chosen stands in the check, where the candidate reads it; which answer
is right is what the reference gives.  A report says what is not answered and whether all is right,
never which answer is wrong: that could be found by trying.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from grader.kinds.base import Check, Written, api
from grader.model.spec import Keys, Name, Slug, Text

Letter = Annotated[str, Field(pattern=r"^[a-z0-9]$")]


class Choice(Keys):
    """One question, and the answers that can be chosen."""

    ask: Text = Field(description="The question.")
    answers: Annotated[dict[Letter, Text], Field(min_length=2, max_length=10)] = Field(
        description="What can be chosen, by a letter or a digit each."
    )


class ChoicesCheck(Check):
    """Questions to be answered by a letter each."""

    kind: Literal["choices"]
    of: Name = Field(
        description="The result, a dict: the letter that is chosen, by the question's id."
    )
    questions: Annotated[dict[Slug, Choice], Field(min_length=1)] = Field(
        description="What is asked, by id; the reference says what is right."
    )

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    def asks(self) -> Iterator[tuple[str, str, Mapping[str, str]]]:
        for name, one in self.questions.items():
            yield name, one.ask, one.answers


class Choices(Written[ChoicesCheck]):
    """Hold every answer against the reference's."""

    keys = ChoicesCheck

    def by_style(self, check: ChoicesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(
        self, evaluation: api.Evaluation, check: ChoicesCheck, case: api.Case
    ) -> api.Finding | None:
        right = _right(evaluation, check, case)
        given = evaluation.observed(check.run, case).values.get(check.of)
        if not isinstance(given, dict):
            wanted = ", ".join(check.questions)
            return api.Finding(
                f"{check.of} is {api.describe(given)}, expected a dict with {wanted}"
            )
        unknown = [str(name) for name in given if name not in check.questions]
        if unknown:
            asked = ", ".join(check.questions)
            return api.Finding(f"{check.of} answers {unknown[0]!r:.60}; asked are {asked}")
        missing = [name for name in check.questions if not _chosen(given.get(name))]
        if missing:
            be = "is" if len(missing) == 1 else "are"
            return api.Finding(f"{', '.join(missing)} {be} not answered")
        for name, one in check.questions.items():
            if _chosen(given[name]) not in one.answers:
                letters = ", ".join(one.answers)
                found = f"{given[name]!r:.40}"
                return api.Finding(f"{name} is answered by {found}, expected one of {letters}")
        wrong = sum(_chosen(given[name]) != letter for name, letter in right.items())
        count = len(check.questions)
        if not wrong:
            return api.Finding.passed(f"{count} of {count} right" if count > 1 else "right")
        said = f"not all {count} answers are right" if count > 1 else "the answer is not right"
        return api.Finding(said)


def _right(evaluation: api.Evaluation, check: ChoicesCheck, case: api.Case) -> dict[str, str]:
    """The reference's answers.

    Raises:
        BankFault: it leaves one out, or chooses what nobody can.
    """
    found = evaluation.truth(check.run, case).values.get(check.of)
    answers = found if isinstance(found, dict) else {}
    for name, one in check.questions.items():
        if _chosen(answers.get(name)) not in one.answers:
            raise api.BankFault(
                f"{check.id}: expected the reference's {check.of} to answer {name} by one of "
                f"{', '.join(one.answers)}, found {api.describe(answers.get(name))}"
            )
    return {name: _chosen(answers[name]) for name in check.questions}


def _chosen(answer: object) -> str:
    """The letter that somebody wrote, in any case; empty where it is none."""
    return answer.strip().lower() if isinstance(answer, str) else ""
