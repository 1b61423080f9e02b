"""Prove a question: right passes, wrong does not, and every wrong idea is called by its name.

Every program goes through every check, needs or no needs, so that what each check can tell is
known; what a grade would have skipped is worked out afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.checks import run_check
from grader.checks.bench import BankFault, Bench
from grader.checks.tally import Stopped
from grader.judge.stage import Stage
from grader.model.audit import AuditReport, AuditRow, Cell
from grader.model.report import CheckResult
from grader.model.verdict import Verdict

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.model.spec import AnyCheck

FINE = {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}


@dataclass(slots=True)
class _Subject:
    """One program under audit, and what the seeds have shown of it."""

    name: str
    sources: Sequence[bytes]
    misconception: str | None = None
    results: list[Mapping[str, CheckResult]] = field(default_factory=list)
    graded: list[Sequence[CheckResult]] = field(default_factory=list)
    named: list[tuple[str, ...]] = field(default_factory=list)


def audit(
    question: Question, *, seeds: Sequence[int], progress: Callable[[str], None] | None = None
) -> AuditReport:
    """Audit one question.

    Args:
        question: the question.
        seeds: each draws all cases anew.
        progress: is told what is being done, for people who wait.
    """
    began = time.perf_counter()
    subjects = _subjects(question)
    problems: list[str] = []
    with Stage(question) as stage:
        for number, seed in enumerate(seeds):
            for subject in subjects:
                if progress is not None:
                    progress(f"{question.id}: seed {number + 1} of {len(seeds)}, {subject.name}")
                fault = _examine(stage, subject, seed)
                if fault is not None:
                    problems.append(f"seed {seed}, {subject.name}: {fault}")
                    break
            if problems:
                break
    rows = tuple(_row(question, s) for s in subjects if s.results)
    if not problems:
        problems = [*_problems(question, subjects), *_idle(question, rows)]
    return AuditReport(
        question=question.id,
        title=question.spec.title,
        seeds=tuple(seeds),
        seconds=time.perf_counter() - began,
        checks=tuple(c.id for c in question.spec.checks),
        rows=rows,
        problems=tuple(problems),
        remarks=tuple(_remarks(question)),
    )


def _subjects(question: Question) -> list[_Subject]:
    subjects = [
        _Subject("reference", [question.reference]),
        _Subject("starter", [question.starter]),
    ]
    for name, sources in question.variants.items():
        for i, source in enumerate(sources):
            label = name if i == 0 else f"{name} ({i + 1})"
            subjects.append(_Subject(label, [question.reference, source], name))
    return subjects


def _examine(stage: Stage, subject: _Subject, seed: int) -> str | None:
    """Put a program through every check on one seed; return what stopped the audit, if anything."""
    import numpy as np

    from grader.judge.diagnosis import diagnose

    question = stage.question
    try:
        bench = stage.bench(f"subject {subject.name}", subject.sources, seed)
        with np.errstate(all="ignore"):
            results = {c.id: _result(bench, c, subject) for c in question.spec.checks}
            graded = as_graded(question, results)
            named = diagnose(bench, graded)
    except BankFault as fault:
        return str(fault)
    subject.results.append(results)
    subject.graded.append(graded)
    subject.named.append(tuple(sorted(n.id for n in named)))
    return None


def _result(bench: Bench, check: AnyCheck, subject: _Subject) -> CheckResult:
    # Timing wrong answers proves nothing and takes long; the reference's own time does.
    if check.kind == "performance" and subject.name != "reference":
        return CheckResult(check.id, check.kind, Verdict.SKIPPED, "not run", stretch=check.stretch)
    try:
        return run_check(bench, check)
    except Stopped as stop:
        return stop.result


def as_graded(question: Question, results: Mapping[str, CheckResult]) -> tuple[CheckResult, ...]:
    """The results as a grade would report them: skipped where something needed did not pass."""
    graded: dict[str, CheckResult] = {}
    for check in question.spec.checks:
        result = results[check.id]
        blocking = next((n for n in check.needed if graded[n].verdict is not Verdict.PASS), None)
        if blocking is not None:
            result = replace(
                result,
                verdict=Verdict.SKIPPED,
                message=f"needs {blocking}",
                blocked_by=blocking,
                failing=(),
            )
        graded[check.id] = result
    return tuple(graded.values())


def _row(question: Question, subject: _Subject) -> AuditRow:
    expected = _expected(question, subject)
    always = set(subject.named[0])
    for named in subject.named:
        always &= set(named)
    return AuditRow(
        name=subject.name,
        misconception=subject.misconception,
        cells={c.id: _cell(subject, i, c.id) for i, c in enumerate(question.spec.checks)},
        named=tuple(sorted(always)),
        named_well=sum(set(named) == expected for named in subject.named),
        seeds=len(subject.named),
    )


def _expected(question: Question, subject: _Subject) -> set[str]:
    if subject.misconception is not None:
        return {subject.misconception}
    return set(question.spec.starter) if subject.name == "starter" else set()


def _cell(subject: _Subject, index: int, check: str) -> Cell:
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
    return kinds.pop() if len(kinds) == 1 else Cell.VARIES


def _problems(question: Question, subjects: Sequence[_Subject]) -> list[str]:
    problems: list[str] = []
    for subject in subjects:
        for i, results in enumerate(subject.results):
            bad = [r for r in results.values() if r.verdict not in FINE and not r.stretch]
            if subject.name == "reference":
                problems += [f"the reference does not pass {r.id}: {r.message}" for r in bad]
            elif not bad:
                problems.append(f"{subject.name} passes every check on seed number {i + 1}")
            if subject.misconception is not None:
                killers = question.spec.misconceptions[subject.misconception].killers
                graded = {r.id: r for r in subject.graded[i]}
                problems += [
                    f"{subject.name} is said to be killed by {killer}, "
                    f"which says {graded[killer].verdict} on seed number {i + 1}"
                    for killer in killers
                    if graded[killer].verdict in FINE
                ]
        expected = _expected(question, subject)
        if subject.name == "starter" and not expected:
            continue  # the spec does not say what the starter holds
        for i, named in enumerate(subject.named):
            if set(named) != expected:
                found = ", ".join(named) or "nothing"
                wanted = ", ".join(sorted(expected)) or "nothing"
                problems.append(
                    f"{subject.name} is diagnosed as {found} on seed number {i + 1}, "
                    f"expected {wanted}"
                )
    return list(dict.fromkeys(problems))


def _idle(question: Question, rows: Sequence[AuditRow]) -> list[str]:
    """Checks that decide and kill nothing: they cost time and prove nothing."""
    kills = {Cell.KILLS, Cell.WOULD_KILL, Cell.VARIES}
    return [
        f"the check {check.id} kills no variant: it is idle, or a misconception is missing"
        for check in question.spec.checks
        if not check.stretch and not any(row.cells[check.id] in kills for row in rows)
    ]


def _remarks(question: Question) -> list[str]:
    timed = [c.id for c in question.spec.checks if c.kind == "performance"]
    return [f"{name} was run on the reference only" for name in timed]
