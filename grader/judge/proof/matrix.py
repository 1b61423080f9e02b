"""The kill matrix: what every check made of every program, and what is wrong with that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.judge.proof.subjects import FINE, Subject
from grader.model.audit import AuditRow, Cell, Remark, Twins
from grader.model.verdict import Verdict

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
    if kinds == {Cell.KILLS, Cell.WOULD_KILL}:  # it stops it on every seed, whoever comes first
        return Cell.KILLS
    return kinds.pop() if len(kinds) == 1 else Cell.VARIES


def problems(
    question: Question, subjects: Sequence[Subject], twins: Sequence[Twins] = ()
) -> list[str]:
    """What the matrix must say and does not; what two ideas share is said once."""
    found = [
        f"{t.one} and {t.other} compute the same on every case: nobody can be told which they hold"
        for t in twins
    ]
    alike = {(t.one, t.other) for t in twins} | {(t.other, t.one) for t in twins}
    for subject in subjects:
        for i, results in enumerate(subject.results):
            bad = [r for r in results.values() if r.verdict not in FINE and not r.stretch]
            if subject.name == "reference":
                found += [f"the reference does not pass {r.id}: {r.message}" for r in bad]
            elif not bad:
                found.append(f"{subject.name} passes every check on seed number {i + 1}")
            if subject.misconception is not None:
                killers = question.spec.misconceptions[subject.misconception].killers
                graded = {r.id: r for r in subject.graded[i]}
                found += [
                    f"{subject.name} is said to be killed by {killer}, "
                    f"which says {graded[killer].verdict} on seed number {i + 1}"
                    for killer in killers
                    if graded[killer].verdict in FINE
                ]
        expected = subject.expected(question)
        if subject.name == "starter" and not expected:
            continue  # the spec does not say what the starter holds
        partners = {b for a, b in alike if a in expected}
        for i, named in enumerate(subject.named):
            if set(named) - partners != expected - partners:
                given = ", ".join(named) or "nothing"
                wanted = ", ".join(sorted(expected)) or "nothing"
                found.append(
                    f"{subject.name} is diagnosed as {given} on seed number {i + 1}, "
                    f"expected {wanted}"
                )
    return list(dict.fromkeys(found))


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
    """Checks that decide and kill nothing: they cost time and prove nothing."""
    return [
        f"the check {check.id} kills no variant: it is idle, or a misconception is missing"
        for check in question.spec.checks
        if not check.stretch and not stops(rows, check.id)
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
            "idle",
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
