"""The order of the checks, and the verdicts and points of the parts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, PartResult, Verdict
from grader.model.spec import Check, Spec

# A check runs only if each check in its `needs` has one of these verdicts.
SATISFIES_NEEDS = NON_FAILING_VERDICTS - {Verdict.SKIPPED}


def resolve_counted_parts(question: Question, parts: Collection[int] | None) -> frozenset[int]:
    """Return the numbers of the parts that count in a grade: `parts`, or all parts if it is None.

    Raises:
        ValueError: A part does not exist, or the list is empty.
    """
    last = len(question.spec.parts)
    existing = frozenset(range(1, last + 1))
    counted = existing if parts is None else frozenset(parts)
    if not counted or not counted <= existing:
        names = ", ".join(map(str, sorted(counted, key=str))) or "none"
        raise ValueError(f"parts: expected numbers from 1 to {last}, found {names}")
    return counted


def execution_order(spec: Spec, counted_parts: Collection[int]) -> list[tuple[int, Check]]:
    """Return every check with the number of its part, required checks first.

    A check is required if it decides, or if a check that decides needs it.  The others run last: a
    submission can still pass if its process ends in one of them.
    """
    checks = [(number, check) for number, part in enumerate(spec.parts, 1) for check in part.checks]
    required: set[str] = set()
    for number, check in reversed(checks):  # a check only needs earlier ones
        if check.id in required or (number in counted_parts and not check.stretch):
            required |= {check.id, *check.needs}
    return sorted(checks, key=lambda entry: entry[1].id not in required)


class CheckSchedule:
    """Decides which checks to run, part by part.

    The caller takes the checks from `order` and adds each result to `results_so_far`.
    """

    def __init__(self, spec: Spec, counted_parts: Collection[int]) -> None:
        """Start with part 1."""
        self.results_so_far: dict[str, CheckResult] = {}
        self.last_asked_part = 1
        self.stopped_by = ""  # id of the check in which the submission's process ended
        self.order = execution_order(spec, counted_parts)
        self._counted_parts = counted_parts

    def result_if_skipped(self, part: int, check: Check) -> CheckResult | None:
        """Return the result of the next check in `order` if it is skipped, else None.

        A check is skipped if an earlier part does not pass, if a check that it needs fails or was
        skipped, or if the submission's process has ended.  If the earlier parts pass,
        `last_asked_part` moves on to the part of the check.
        """
        if part > self.last_asked_part:
            blocking = first_blocking_failure(self.results_so_far, self._counted_parts)
            if blocking is not None:
                message = f"part {part} is asked when part {blocking.part} passes"
                return skipped_result(part, check, blocking.id, message)
            self.last_asked_part = part
        failed_needs = [
            need for need in check.needs if self.results_so_far[need].verdict not in SATISFIES_NEEDS
        ]
        if self.stopped_by and failed_needs[:1] in ([], [self.stopped_by]):
            message = f"the process was stopped in {self.stopped_by}"
            return skipped_result(part, check, self.stopped_by, message)
        if failed_needs:
            return skipped_result(part, check, failed_needs[0], f"needs {failed_needs[0]}")
        return None


def skipped_result(part: int, check: Check, blocked_by: str, message: str) -> CheckResult:
    """Return the result of a check that another one blocks."""
    return CheckResult(
        id=check.id,
        kind=check.kind,
        verdict=Verdict.SKIPPED,
        message=message,
        part=part,
        stretch=check.stretch,
        blocked_by=blocked_by,
    )


def first_blocking_failure(
    results: Mapping[str, CheckResult], counted_parts: Collection[int]
) -> CheckResult | None:
    """Return the first failing check that keeps these parts from passing; None if they pass.

    Stretch checks keep no part from passing.  For a check that was skipped, the failing check that
    blocked it is returned.
    """
    for result in results.values():
        if result.stretch or result.part not in counted_parts:
            continue
        root = result
        while root.verdict is Verdict.SKIPPED and root.blocked_by is not None:
            root = results[root.blocked_by]
        if root.verdict not in NON_FAILING_VERDICTS:
            return root
    return None


def overall_verdict(checks: Sequence[CheckResult], counted_parts: Collection[int]) -> Verdict:
    """Return PASS if these parts pass, else the verdict of the first check that blocks them."""
    root = first_blocking_failure({check.id: check for check in checks}, counted_parts)
    return Verdict.PASS if root is None else root.verdict


def part_results(
    spec: Spec, checks: Sequence[CheckResult], counted_parts: Collection[int]
) -> tuple[PartResult, ...]:
    """Return the verdict and the points of each part; `checks` come from `award_points`."""
    verdicts = [_part_verdict(number, checks) for number in range(1, len(spec.parts) + 1)]
    return _with_points(spec, verdicts, counted_parts, checks)


def award_points(
    spec: Spec, checks: Sequence[CheckResult], counted_parts: Collection[int]
) -> tuple[CheckResult, ...]:
    """Give points to the checks for which the spec has `points`.

    All checks of a passing part earn their points.  In another part a check earns its points if it
    passes or is too noisy to decide; otherwise it earns the share that it measured, if any.  In the
    spec, the points of all checks of a part add up to the points of the part.
    """
    passing_parts = {
        number for number in counted_parts if _part_verdict(number, checks) is Verdict.PASS
    }
    points_by_id = {check.id: check.points for check in spec.checks}
    awarded = []
    for check in checks:
        max_points = points_by_id[check.id]
        if not max_points or check.part not in counted_parts:
            awarded.append(check)
            continue
        points = max_points
        if check.part not in passing_parts and check.verdict not in SATISFIES_NEEDS:
            points = int(max_points * check.figures.get("share", 0))
        awarded.append(replace(check, points=points, of=max_points))
    return tuple(awarded)


def _part_verdict(number: int, checks: Sequence[CheckResult]) -> Verdict:
    of_part = [check for check in checks if check.part == number]
    if all(check.verdict is Verdict.SKIPPED for check in of_part):
        return Verdict.SKIPPED
    return overall_verdict(checks, {number})


def part_results_without_checks(
    spec: Spec, verdict: Verdict, counted_parts: Collection[int]
) -> tuple[PartResult, ...]:
    """Return the parts of a grade that ended before any check, with no points.

    The first part that counts has the verdict; all others are skipped.
    """
    verdicts = [Verdict.SKIPPED] * len(spec.parts)
    verdicts[min(counted_parts) - 1] = verdict
    return _with_points(spec, verdicts, counted_parts)


def _with_points(
    spec: Spec,
    verdicts: Sequence[Verdict],
    counted_parts: Collection[int],
    checks: Sequence[CheckResult] = (),
) -> tuple[PartResult, ...]:
    """Return the parts with their points; a failing part earns the points of its checks."""
    parts = []
    for number, (part, verdict) in enumerate(zip(spec.parts, verdicts, strict=True), 1):
        max_points = part.points if number in counted_parts else 0
        points = max_points
        if verdict is not Verdict.PASS:
            points = sum(check.points for check in checks if check.part == number)
        parts.append(PartResult(spec.part_ids[number - 1], verdict, points, max_points))
    return tuple(parts)
