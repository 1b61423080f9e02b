"""The order of the checks, and the verdicts and points of the parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, PartResult, Verdict
from grader.model.spec import Check, Spec

SATISFIES_NEEDS = NON_FAILING_VERDICTS - {Verdict.SKIPPED}  # for a check that needs another


def resolve_counted_parts(question: Question, parts: Collection[int] | None) -> frozenset[int]:
    """The numbers of the parts that count in a grade; all, if none are given.

    Raises:
        ValueError: there is no such part, or none is named.
    """
    last = len(question.spec.parts)
    found = frozenset(range(1, last + 1) if parts is None else parts)
    if not found or not found <= set(range(1, last + 1)):
        listed = ", ".join(map(str, sorted(found, key=str))) or "none"
        raise ValueError(f"parts: expected numbers from 1 to {last}, found {listed}")
    return found


def execution_order(spec: Spec, counting: Collection[int]) -> list[tuple[int, Check]]:
    """Every check with the number of its part: those first that decide, and what they need.

    So nothing keeps anybody from passing that decides nothing and ends the process.
    """
    numbered = [(n, check) for n, part in enumerate(spec.parts, 1) for check in part.checks]
    deciding: set[str] = set()
    for number, check in reversed(numbered):  # which needs earlier ones only
        if check.id in deciding or (number in counting and not check.stretch):
            deciding |= {check.id, *check.needs}
    return sorted(numbered, key=lambda one: one[1].id not in deciding)


class CheckSchedule:
    """The way through the checks of a question, part by part, as their results come in."""

    def __init__(self, spec: Spec, counting: Collection[int]) -> None:
        """Ask the first part."""
        self.results_so_far: dict[str, CheckResult] = {}
        self.last_asked_part = 1  # parts
        self.order = execution_order(spec, counting)
        self._counting = counting

    def result_if_skipped(self, part: int, check: Check) -> CheckResult | None:
        """The result of the next check, where it is not to be carried out.

        Either its part is not asked, because one before it does not pass, or it needs a check that
        was not good enough.
        """
        held = (
            first_blocking_failure(self.results_so_far, self._counting)
            if part > self.last_asked_part
            else None
        )
        if held is not None:
            why = f"part {part} is asked when part {held.part} passes"
            return skipped_result(part, check, held.id, why)
        self.last_asked_part = max(part, self.last_asked_part)
        unmet = (n for n in check.needs if self.results_so_far[n].verdict not in SATISFIES_NEEDS)
        return next((skipped_result(part, check, need, f"needs {need}") for need in unmet), None)


def skipped_result(part: int, check: Check, by: str, message: str) -> CheckResult:
    """The result of a check that is not carried out for another."""
    skipped = Verdict.SKIPPED
    return CheckResult(
        check.id, check.kind, skipped, message, part=part, stretch=check.stretch, blocked_by=by
    )


def first_blocking_failure(
    done: Mapping[str, CheckResult], counting: Collection[int]
) -> CheckResult | None:
    """The first check that decides and is neither passed nor open; of one skipped, what did it."""
    for check in done.values():
        if check.stretch or check.part not in counting:
            continue
        root = check
        while root.verdict is Verdict.SKIPPED and root.blocked_by is not None:
            root = done[root.blocked_by]  # what was never tried is no better than what stopped it
        if root.verdict not in NON_FAILING_VERDICTS:
            return root
    return None


def overall_verdict(checks: Sequence[CheckResult], counting: Collection[int]) -> Verdict:
    """The verdict of all checks that decide."""
    root = first_blocking_failure({check.id: check for check in checks}, counting)
    return Verdict.PASS if root is None else root.verdict


def part_results(
    spec: Spec, checks: Sequence[CheckResult], counting: Collection[int]
) -> tuple[PartResult, ...]:
    """What became of each part."""
    verdicts = [_verdict_of(number, checks) for number in range(1, len(spec.parts) + 1)]
    return _with_points(spec, verdicts, counting, award_points(spec, checks, counting))


def award_points(
    spec: Spec, checks: Sequence[CheckResult], counting: Collection[int]
) -> tuple[CheckResult, ...]:
    """The checks with the points that they earn, where those of their part are shared.

    Those of a part that passes earn all.  Else a check earns its own where it passes or is too
    noisy to decide, which costs nobody anything, and else the share that it tells, if it does.
    They always add up to what the part earns.
    """
    passing = {n for n in counting if _verdict_of(n, checks) is Verdict.PASS}
    worth = {check.id: check.points or 0 for check in spec.checks}
    found = []
    for check in checks:
        of = worth[check.id] if check.part in counting else 0
        earned = check.part in passing or check.verdict in SATISFIES_NEEDS
        points = of if earned else int(of * check.figures.get("share", 0))
        found.append(replace(check, points=points, of=of) if of else check)
    return tuple(found)


def _verdict_of(number: int, checks: Sequence[CheckResult]) -> Verdict:
    """The verdict of a part."""
    untried = all(c.verdict is Verdict.SKIPPED for c in checks if c.part == number)
    return Verdict.SKIPPED if untried else overall_verdict(checks, {number})


def part_results_without_checks(
    spec: Spec, verdict: Verdict, counting: Collection[int]
) -> tuple[PartResult, ...]:
    """The parts where a grade ends before any check: the first one that counts has the verdict."""
    first, numbers = min(counting), range(1, len(spec.parts) + 1)
    verdicts = [verdict if number == first else Verdict.SKIPPED for number in numbers]
    return _with_points(spec, verdicts, counting)


def _with_points(
    spec: Spec,
    verdicts: Sequence[Verdict],
    counting: Collection[int],
    checks: Sequence[CheckResult] = (),
) -> tuple[PartResult, ...]:
    """The parts; one that does not pass earns what its checks do."""
    found = []
    for number, (part, verdict) in enumerate(zip(spec.parts, verdicts, strict=True), 1):
        points = part.points if number in counting else 0
        partly = sum(check.points for check in checks if check.part == number)
        earned = points if verdict is Verdict.PASS else partly
        found.append(PartResult(spec.part_ids[number - 1], verdict, earned, points))
    return tuple(found)
