"""The kill matrix: what every check made of every program, and what is wrong with that."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.audit.subjects import FINE, Subject
from grader.model.audit import AuditRow, Cell, Remark, Twins
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.session.locations import file_of, line_of, message_of

if TYPE_CHECKING:
    from grader.model.question import Question

STOPPING = {Cell.KILLS, Cell.WOULD_KILL, Cell.VARIES}


def row(question: Question, subject: Subject, seeds: Sequence[int]) -> AuditRow:
    """One program's line of the matrix."""
    expected = subject.expected(question)
    always = set(subject.named[0])
    for named in subject.named:
        always &= set(named)
    checks = question.spec.checks
    cells = {c.id: _cell(subject, i, c.id) for i, c in enumerate(checks)}
    claimed: tuple[str, ...] = ()
    if subject.misconception is not None:
        claimed = question.spec.misconceptions[subject.misconception].killers
    return AuditRow(
        name=subject.name,
        misconception=subject.misconception,
        cells=cells,
        named=tuple(sorted(always)),
        named_well=sum(set(named) == expected for named in subject.named),
        seeds=len(subject.named),
        claimed=claimed,
        passing={
            check: tuple(
                seed
                for seed, results in zip(seeds, subject.results, strict=False)
                if results[check].verdict in FINE
            )
            for check, cell in cells.items()
            if cell is Cell.VARIES
        },
    )


def _cell(subject: Subject, index: int, check: str) -> Cell:
    if all(r[check].verdict is Verdict.SKIPPED for r in subject.results):
        return Cell.NOT_RUN
    kinds = set()
    for results, graded in zip(subject.results, subject.graded, strict=True):
        if results[check].verdict in FINE:
            kinds.add(Cell.PASSES)
        elif graded[index].verdict is Verdict.SKIPPED:
            kinds.add(Cell.WOULD_KILL)
        else:
            kinds.add(Cell.KILLS)
    if kinds == {Cell.KILLS, Cell.WOULD_KILL}:  # it stops it on every seed, first or not
        return Cell.KILLS
    return kinds.pop() if len(kinds) == 1 else Cell.VARIES


def problems(
    question: Question,
    subjects: Sequence[Subject],
    seeds: Sequence[int],
    twins: Sequence[Twins] = (),
) -> list[str]:
    """What the matrix must say and does not; each cause once, without what follows from it."""
    faults = _Faults(seeds)
    for subject in subjects:
        if subject.name == "reference":
            _of_reference(question, subject, faults)
    if faults.found:  # what is not right itself says nothing of the others
        return faults.sentences()
    for subject in subjects:
        if subject.name != "reference":
            _of_wrong(question, subject, faults, twins)
    shared = [
        f"{t.one} and {t.other} compute the same on every case: nobody can know which they hold"
        for t in twins
    ]
    return shared + faults.sentences()


def rejected(subjects: Sequence[Subject]) -> bool:
    """Whether a check that decides does not pass the reference."""
    return any(
        r.verdict not in FINE and not r.stretch
        for subject in subjects
        if subject.name == "reference"
        for results in subject.results
        for r in results.values()
    )


@dataclass(slots=True)
class _Faults:
    """Sentences in two halves, and the seeds, which stand between them."""

    seeds: Sequence[int]
    found: dict[tuple[str, ...], tuple[str, str, list[int]]] = field(default_factory=dict)

    def add(self, index: int, before: str, after: str = "", key: tuple[str, ...] = ()) -> None:
        """Note a fault on the seed of that index; one with the same key is the same fault."""
        fault = self.found.setdefault(key or (before, after), (before, after, []))
        fault[2].append(self.seeds[index])

    def sentences(self) -> list[str]:
        """One sentence per fault."""
        return [f"{a}{self._when(on)}{b}" for a, b, on in self.found.values()]

    def _when(self, on: Sequence[int]) -> str:
        count = len(self.seeds)
        if len(on) == count:
            return "" if count == 1 else f" on all {count} seeds"
        return f" on seed{'' if len(on) == 1 else 's'} {_some(on)} of {count}"


def _of_reference(question: Question, subject: Subject, faults: _Faults) -> None:
    """Checks that the reference does not pass."""
    file = file_of(question, "reference")
    for i, results in enumerate(subject.results):
        bad = [r for r in results.values() if r.verdict not in FINE and not r.stretch]
        skipped = {r.id for r in subject.graded[i] if r.verdict is Verdict.SKIPPED}
        for r in [r for r in bad if r.id not in skipped] or bad:  # one fault, one report
            sentence = re.sub(r"\byour\b", "its", re.sub(r"\byour code\b", "it", r.message))
            if r.raised is not None:
                sentence += message_of(r.raised) + line_of(r.raised, file)
            faults.add(i, f"the reference does not pass {r.id}", f": {sentence}", key=(r.id,))


def _of_wrong(
    question: Question, subject: Subject, faults: _Faults, twins: Sequence[Twins]
) -> None:
    """What stops a wrong program not at all, not as claimed, or under another name."""
    expected = subject.expected(question)
    alike = {(t.one, t.other) for t in twins} | {(t.other, t.one) for t in twins}
    partners = {b for a, b in alike if a in expected}
    killers: tuple[str, ...] = ()
    if subject.misconception is not None:
        killers = question.spec.misconceptions[subject.misconception].killers
    for i, results in enumerate(subject.results):
        if all(r.verdict in FINE or r.stretch for r in results.values()):
            faults.add(i, f"{subject.name} passes every check")
            if not any(results[k].verdict not in FINE for k in killers):
                continue  # that no check claims it rightly, and that it has no name, follow
        graded = {r.id: r for r in subject.graded[i]}
        for killer in killers:
            if graded[killer].verdict in FINE:
                why, then = _unkilled(graded, results, killer)
                faults.add(i, f"{subject.name} is said to be killed by {killer}, {why}", then)
        # The spec need not say what the starter holds.
        named = subject.named[i]
        if (expected or subject.name != "starter") and set(named) - partners != expected - partners:
            given = ", ".join(named) or "nothing"
            wanted = ", ".join(sorted(expected)) or "nothing"
            faults.add(i, f"{subject.name} is diagnosed as {given}", f", expected {wanted}")


def _unkilled(
    graded: Mapping[str, CheckResult], results: Mapping[str, CheckResult], killer: str
) -> tuple[str, str]:
    """Why a check does not stop what it claims, and what to do about it."""
    result = graded[killer]
    if result.verdict is not Verdict.SKIPPED:
        return (
            "which it passes" if result.verdict is Verdict.PASS else "which decides nothing"
        ), ""
    if result.blocked_by is None:
        return "which is run on the reference only", ": claim another check"
    root = result
    while root.verdict is Verdict.SKIPPED and root.blocked_by is not None:
        root = graded[root.blocked_by]
    if root.verdict is Verdict.SKIPPED:
        return f"but {root.id}, which {killer} needs, is run on the reference only", ""
    if results[killer].verdict in FINE:
        return (
            f"which it passes, and {root.id}, which {killer} needs, stops it",
            f": claim {root.id}",
        )
    does = "decides nothing" if root.verdict is Verdict.INCONCLUSIVE else "stops it first"
    return (
        f"but {root.id}, which {killer} needs, {does}",
        f": use cases on which it passes {root.id}, or claim {root.id}",
    )


def stops(rows: Sequence[AuditRow], check: str) -> int:
    """Wrong programs that a check stops, on some seed at least."""
    return sum(row.cells[check] in STOPPING for row in rows if row.name != "reference")


def first(question: Question, rows: Sequence[AuditRow], check: str) -> int:
    """Wrong programs that a check stops and no deciding check before it does."""
    order = [c.id for c in question.spec.checks if not c.stretch or c.id == check]
    before = order[: order.index(check)]
    return sum(
        row.cells[check] in STOPPING
        and not any(row.cells[earlier] in {Cell.KILLS, Cell.WOULD_KILL} for earlier in before)
        for row in rows
        if row.name != "reference"
    )


def idle(question: Question, rows: Sequence[AuditRow]) -> list[str]:
    """Checks that decide and kill nothing: they cost time and prove nothing.

    One that a misconception claims and is not stopped by is left out: that has been said.
    """
    said_before = {k for r in rows for k in r.claimed if r.cells[k] not in STOPPING}
    return [
        f"the check {check.id} kills no variant: it is idle, or a misconception is missing"
        for check in question.spec.checks
        if not check.stretch and not stops(rows, check.id) and check.id not in said_before
    ]


def never_first(question: Question, rows: Sequence[AuditRow]) -> list[Remark]:
    """Checks that stop only what an earlier one stops, and that no misconception claims."""
    claimed = {killer for row in rows for killer in row.claimed}
    late = [
        check.id
        for check in question.spec.checks
        if not check.stretch
        and check.id not in claimed
        and stops(rows, check.id)
        and not first(question, rows, check.id)
    ]
    if not late:
        return []
    one = len(late) == 1
    return [
        Remark(
            "redundant",
            f"{', '.join(late)}: {'this check stops' if one else 'these checks stop'} no known "
            "wrong idea before another check does, and no misconception names "
            f"{'it' if one else 'them'}: write one that only {'it' if one else 'they'} can stop",
        )
    ]


def flaky(rows: Sequence[AuditRow]) -> list[Remark]:
    """Verdicts that depend on the seed."""
    return [
        Remark(
            "flaky",
            f"{check} passes {row.name} on seed{'' if len(seeds) == 1 else 's'} "
            f"{_some(seeds)} of {row.seeds} and stops it on the others: "
            "use a larger random case, or a literal one",
        )
        for row in rows
        if row.name != "reference"
        for check, seeds in row.passing.items()
    ]


def _some(seeds: Sequence[int]) -> str:
    shown = ", ".join(map(str, seeds[:8]))
    return shown + (f" and {len(seeds) - 8} more" if len(seeds) > 8 else "")
