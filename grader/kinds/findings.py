"""Check `findings`: which lines of a diff are wrong, and why; by recall and precision.

A fault is found where one of its lines is listed with its reason, half found with another one.  A
line that is listed and belongs to no fault is a false alarm.  What was not found is shown as what a
failing test would say of it, never by its line.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grader.kinds.base import Check, Written, api
from grader.model.spec import Keys, Name, Slug, Text

APPROVE = "approve"  # the answer that is no line
Line = Annotated[int, Field(ge=1, le=400)]


class Fault(Keys):
    """One thing that is wrong with a diff."""

    lines: Annotated[list[Line], Field(min_length=1, max_length=9)] = Field(
        description="Where it is; one of them is enough."
    )
    reason: Slug = Field(description="Why, one of the question's `reasons`.")
    symptom: Text = Field(description="What a test says of it; shown where it was not found.")


class FindingsCheck(Check):
    """Lines that are wrong, each with a reason."""

    kind: Literal["findings"]
    of: Name = Field(description="The result, a dict: a reason by the number of the line.")
    wrong: Annotated[list[Fault], Field(min_length=1)] = Field(description="All that is wrong.")
    innocent: dict[Annotated[str, Field(pattern=r"^[0-9]{1,3}$")], Text] = Field(
        default={}, description="Why a line is right that looks wrong; shown where it is listed."
    )
    false_alarms: Annotated[int, Field(ge=0, le=9)] = Field(
        default=1, description="How many lines that are right may be listed all the same."
    )

    @property
    def compared(self) -> tuple[str, ...]:
        return ()

    @property
    def wanted(self) -> tuple[str, ...]:
        return (self.of,)


class Findings(Written[FindingsCheck]):
    """Hold what was listed against the faults."""

    keys = FindingsCheck
    judges_values = True

    def judge(
        self, evaluation: api.Evaluation, check: FindingsCheck, case: api.Case
    ) -> api.Finding | None:
        given = evaluation.observed(check.run, case).values.get(check.of)
        if not isinstance(given, dict):
            return api.Finding(f"{check.of} is {api.describe(given)}, expected a dict")
        listed = {int(n): str(reason) for n, reason in given.items() if str(n).isdigit()}
        if given.get(APPROVE) == "yes":
            return api.Finding("you approved, and something is wrong with it")
        found = [f for f in check.wrong if any(listed.get(n) == f.reason for n in f.lines)]
        half = [f for f in check.wrong if f not in found and any(n in listed for n in f.lines)]
        faulty = {n for fault in check.wrong for n in fault.lines}
        alarms = sorted(listed.keys() - faulty)
        right = [n for n in listed if n in faulty]
        every = len(check.wrong)
        recall = (len(found) + 0.5 * len(half)) / every
        precision = len(right) / len(listed) if listed else 0.0
        figures = {"recall": recall, "precision": precision}
        said = f"{len(found)} of {every} faults"
        said += f" and {len(half)} with another reason" * bool(half)
        said += f", {len(alarms)} false alarm{'s' * (len(alarms) != 1)}"
        if len(found) == every and len(alarms) <= check.false_alarms:
            return api.Finding.passed(said, **figures)
        missed = [f.symptom for f in check.wrong if f not in found and f not in half][:1]
        why = [
            f"line {n} is right: {check.innocent[str(n)]}"
            for n in alarms
            if str(n) in check.innocent
        ][:2]
        more = "".join(f"; {' '.join(text.split()).rstrip('.')}" for text in (*missed, *why))
        return api.Finding(said + more, figures=figures)

    def observe(self, evaluation: api.Evaluation, check: FindingsCheck, case: api.Case) -> object:
        return evaluation.observed(check.run, case).values.get(check.of)
