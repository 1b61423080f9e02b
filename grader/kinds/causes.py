"""Check `causes`: which of the causes in a list were at work, judged by recall and precision.

A cause that was missed is counted and never named: that could be found by trying.  One that is
innocent is named with the experiment that clears it, unless many are picked.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from grader.kinds.base import Check, Written, api
from grader.model.errors import did_you_mean
from grader.model.spec import Name, Slug, Text

MOST_NAMED = 2  # innocent ones: who picks everything is not given the answer


class CausesCheck(Check):
    """The causes that are picked."""

    kind: Literal["causes"]
    of: Name = Field(description="The result, a list: the ids that are picked of `causes`.")
    exactly: Annotated[list[Slug], Field(min_length=1)] = Field(
        description="Those that were at work."
    )
    allowed: list[Slug] = Field(default=[], description="Those that may be picked or not.")
    innocent: dict[Slug, Text] = Field(
        default={},
        description="The others: the experiment that clears each, a sentence, shown where it is "
        "picked.",
    )

    @property
    def known(self) -> tuple[str, ...]:
        return (*self.exactly, *self.allowed, *self.innocent)

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    def faults(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from super().faults()
        for name in dict.fromkeys(self.known):
            if self.known.count(name) > 1:
                yield ("exactly",), f"expected {name} once in exactly, allowed and innocent"


class Causes(Written[CausesCheck]):
    """Hold what is picked against what was at work."""

    keys = CausesCheck
    judges_values = True
    always_said = True

    def by_style(self, check: CausesCheck) -> bool:  # noqa: ARG002
        return True

    def judge(
        self, evaluation: api.Evaluation, check: CausesCheck, case: api.Case
    ) -> api.Finding | None:
        given = evaluation.observed(check.run, case).values.get(check.of)
        if not isinstance(given, (list, tuple)) or not all(isinstance(n, str) for n in given):
            return api.Finding(f"{check.of} is {api.describe(given)}, expected a list of ids")
        picked = list(dict.fromkeys(n.strip() for n in given))
        for name in picked:
            if name not in check.known:
                near = did_you_mean(name, list(check.known))
                return api.Finding(f"{name!r:.60} is not among the causes{near}")
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
            return api.Finding.passed(said, **figures)
        for name in many if len(many) <= MOST_NAMED else ():
            said += f"; {name} is innocent: {' '.join(check.innocent[name].split()).rstrip('.')}"
        return api.Finding(said, figures=figures)
