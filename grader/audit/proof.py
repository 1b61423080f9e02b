"""Prove a question: right passes, wrong does not, and every wrong idea is called by its name.

Every program goes through every check, needs or no needs, so that what each check can tell is
known; what a grade would have skipped is worked out afterwards.  What else the proof consists of
is in `grader.audit`, a file each.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from grader.audit import hints, margins, matrix, raising, todo, trivial, twins, wording
from grader.audit.subjects import FINE, Subject, subjects
from grader.bench.bench import BankFault, Bench
from grader.bench.tally import Stopped
from grader.kinds import registry, run_check
from grader.model.audit import AuditReport, AuditRow, CheckFacts, Remark, Trivial, Twins
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.session import GradingSession
from grader.session.needs import unmet

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.model.spec import Check

__all__ = ["FINE", "as_graded", "audit"]

Progress = Callable[[str], None]
SLOW_SHARE = 0.4  # of an audit's CPU time: a check that takes more is worth a note
SLOW_SECONDS = 1.0  # and takes this long: shares of nothing mean nothing


@dataclass(slots=True)
class _Findings:
    """What the seeds have shown so far."""

    rights: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    wrongs: defaultdict[str, list[tuple[float, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    spent: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    trivial: list[Trivial] = field(default_factory=list)
    twins: list[Twins] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def audit(
    question: Question, *, seeds: Sequence[int], progress: Progress | None = None
) -> AuditReport:
    """Audit one question.

    Args:
        question: the question.
        seeds: each draws all cases again.
        progress: gets a line on what is being done, for people who wait.
    """
    began = time.perf_counter()
    tell = progress or (lambda _: None)
    programs = subjects(question)
    found = _Findings()
    try:
        with GradingSession(question) as session:
            session.bank.restore()
            _through_all_checks(session, programs, seeds, found, tell)
            if not found.problems and not matrix.rejected(programs):
                _beyond_the_matrix(session, programs, seeds, found, tell)
    except BankFault as fault:
        found.problems.append(str(fault))
    rows = tuple(matrix.row(question, s, seeds) for s in programs if s.results)
    facts = tuple(_facts(question, check, rows, found) for check in question.spec.checks)
    if not found.problems:
        sound = not matrix.rejected(programs)
        found.problems += [
            *matrix.problems(question, programs, seeds, found.twins),
            *(matrix.idle(question, rows) + trivial.problems(found.trivial) if sound else []),
        ]
        found.remarks += [
            *matrix.never_first(question, rows),
            *matrix.flaky(rows),
            *raising.remarks(question, programs),
            *margins.remarks([(f.id, f.margin) for f in facts if f.margin is not None]),
            *trivial.remarks(question, found.trivial),
            *hints.remarks(question),
        ]
    return AuditReport(
        question=question.id,
        title=question.spec.title,
        seeds=tuple(seeds),
        seconds=time.perf_counter() - began,
        checks=tuple(c.id for c in question.spec.checks),
        rows=rows,
        problems=tuple(found.problems),
        remarks=(*todo.remarks(question), *found.remarks),
        notes=tuple(_notes(question, facts, found)),
        facts=facts,
        trivial=tuple(found.trivial),
        twins=tuple(found.twins),
    )


def _through_all_checks(
    session: GradingSession,
    programs: Sequence[Subject],
    seeds: Sequence[int],
    found: _Findings,
    tell: Progress,
) -> None:
    """Put every program through every check on every seed, until the bank itself fails.

    Once the reference does not pass, it alone is looked at: nothing can be held against it.
    """
    for number, seed in enumerate(seeds):
        for subject in programs:
            if subject.name != "reference" and matrix.rejected(programs):
                break
            tell(f"{session.question.id}: seed {number + 1} of {len(seeds)}, {subject.name}")
            try:
                _examine(session, subject, seed, found, asks_system=number == 0)
            except BankFault as fault:
                found.problems.append(f"seed {seed}, {subject.name}: {fault}")
                return


def _examine(
    session: GradingSession, subject: Subject, seed: int, found: _Findings, *, asks_system: bool
) -> None:
    """Put a program through every check on one seed, and have it named.

    Sizes are the same on every seed, so the system is asked once what a program holds.
    """
    import numpy as np

    from grader.session.diagnosis import diagnose

    question = session.question
    bench = session.examine(
        f"subject {subject.name}", subject.sources, seed, called=subject.name, file=subject.file
    )
    bench.asks_system = asks_system
    with np.errstate(all="ignore"):
        results = {}
        for check in question.spec.checks:
            with _clocked(session, check.id, found):
                results[check.id] = _result(bench, check, subject)
        graded = as_graded(question, results)
        with _clocked(session, "", found):
            named = diagnose(bench, graded)
        _measure(bench, subject, results, found)
    subject.results.append(results)
    subject.graded.append(graded)
    subject.named.append(tuple(sorted(n.id for n in named)))
    if subject.misconception is not None:
        subject.raised.append(raising.always(bench, results))


def _measure(
    bench: Bench, subject: Subject, results: Mapping[str, CheckResult], found: _Findings
) -> None:
    """Hold a program against the tolerance of every check that has one."""
    for check in bench.question.spec.checks:
        verdict = results[check.id].verdict
        if not margins.has_tolerance(check):
            continue
        if subject.name == "reference":
            if verdict is Verdict.PASS:
                found.rights[check.id].append(margins.right(bench, check))
        elif verdict is Verdict.FAIL:
            found.wrongs[check.id].append((margins.wrong(bench, check), subject.name))


def _beyond_the_matrix(
    session: GradingSession,
    programs: Sequence[Subject],
    seeds: Sequence[int],
    found: _Findings,
    tell: Progress,
) -> None:
    """What one seed is enough for: trivial answers, twins, the wording."""
    import numpy as np

    question, seed = session.question, seeds[-1]
    tell(f"{question.id}: trivial answers")
    found.trivial = trivial.try_answers(session, seed)
    for one, other in twins.pairs([(s.misconception, s.named) for s in programs]):
        tell(f"{question.id}: a case to tell {one} from {other}")
        found.twins.append(twins.tell_apart(session, one, other))
    tell(f"{question.id}: the wording")
    bench = session.examine("subject reference", [question.reference], seed)
    with np.errstate(all="ignore"):
        found.remarks += wording.remarks(question, bench)


@contextmanager
def _clocked(session: GradingSession, name: str, found: _Findings) -> Iterator[None]:
    """Count the CPU time that the workers spend meanwhile."""
    before = session.bank.cpu_nanoseconds()
    try:
        yield
    finally:  # what a worker that has ended spent is not known
        found.spent[name] += max(0, session.bank.cpu_nanoseconds() - before) / 1e9


def _result(bench: Bench, check: Check, subject: Subject) -> CheckResult:
    # Timing wrong answers proves nothing and takes long; the reference's own time does.
    if registry.get(check.kind).timed and subject.name != "reference":
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
        blocking = unmet(check, graded)
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


def _facts(
    question: Question, check: Check, rows: Sequence[AuditRow], found: _Findings
) -> CheckFacts:
    total = sum(found.spent.values())
    seconds = found.spent.get(check.id) if total else None
    measured = check.id in found.rights
    return CheckFacts(
        id=check.id,
        kind=check.kind,
        stretch=check.stretch,
        stops=matrix.stops(rows, check.id),
        first=matrix.first(question, rows, check.id),
        seconds=seconds,
        share=None if seconds is None else seconds / total,
        margin=margins.margin(found.rights[check.id], found.wrongs[check.id]) if measured else None,
        lets_through=tuple(t.name for t in found.trivial if t.made and check.id in t.passes),
    )


def _notes(question: Question, facts: Sequence[CheckFacts], found: _Findings) -> list[str]:
    notes = [
        f"{c.id} was run on the reference only"
        for c in question.spec.checks
        if registry.get(c.kind).timed
    ]
    notes += [
        f"{f.id} takes {f.share:.0%} of the audit's CPU time, {f.seconds:.1f} s"
        for f in facts
        if f.share is not None
        and f.seconds is not None
        and f.share > SLOW_SHARE
        and f.seconds > SLOW_SECONDS
    ]
    unmade = [t.name for t in found.trivial if not t.made]
    if unmade:
        notes.append(
            f"the trivial answers {', '.join(unmade)} could not be made: what is checked is not "
            "what the functions return"
        )
    return notes
