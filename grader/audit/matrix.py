"""The kill matrix: what every check made of every program, and what is wrong with that."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Self

from grader import forms
from grader.bank.cells import definitions
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.tally import Stopped
from grader.kinds import registry
from grader.kinds.base import Trial
from grader.model.audit import AuditRow, Budget, Cell, Remark
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.report import FINE, CheckResult, Raised, Verdict
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError
from grader.session.bank_programs import file_of, line_of, message_of
from grader.session.order import CheckSchedule
from grader.session.submission import lacks

STOPPING = {Cell.KILLS, Cell.WOULD_KILL, Cell.VARIES}
Fault = tuple[int, str, str]  # a seed that shows it; a sentence, broken where the seeds stand
SURER = "give the case more draws, or numbers that are written out"
SHOWN = 8  # seeds of a longer list
_CRASH = "crash"  # no remark but a fault
_MEANT = r"\brais(?:e|es|ed|ing)\b|\bexceptions?\b|\bcrash(?:es|ed)?\b"  # by an idea that raises


# -- programs and what they are seen to do ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    """What one seed has shown of a program."""

    seed: int
    results: Mapping[str, CheckResult]  # by check, needs or no needs
    graded: Mapping[str, CheckResult]  # the same as a grade reports them
    named: frozenset[str]  # misconceptions that diagnosis named
    raised: Raised | None = None  # of a program that raises on every case it fails
    shares: Mapping[str, float] = field(default_factory=dict)  # of budgets, by check

    @property
    def stopping(self) -> list[CheckResult]:
        """The results that keep the program from passing."""
        return [r for r in self.results.values() if r.verdict not in FINE and not r.stretch]


@dataclass(slots=True)
class Subject:
    """One program under audit."""

    name: str
    sources: Sequence[bytes]
    file: str  # in the bank
    expected: set[str] = field(default_factory=set)  # misconceptions that diagnosis should name
    misconception: str | None = None
    killers: tuple[str, ...] = ()  # checks that are said to stop it
    seen: list[Seen] = field(default_factory=list)  # one for each seed
    parts: int | None = None  # whose functions it has to define; all, if not given

    @property
    def named(self) -> frozenset[str]:
        """Misconceptions that diagnosis named on every seed."""
        return frozenset.intersection(*(seen.named for seen in self.seen))

    @property
    def passing(self) -> list[int]:
        """The seeds on which every check passes it."""
        return [seen.seed for seen in self.seen if not seen.stopping]

    def row(self, checks: Sequence[str]) -> AuditRow:
        """Its line of the matrix."""
        cells = {check: self._cell(check) for check in checks}
        return AuditRow(
            name=self.name,
            misconception=self.misconception,
            cells=cells,
            named=tuple(sorted(self.named)),
            named_well=sum(seen.named == self.expected for seen in self.seen),
            seeds=len(self.seen),
            claimed_by=self.killers,
            passing_seeds={
                check: tuple(s.seed for s in self.seen if s.results[check].verdict in FINE)
                for check, cell in cells.items()
                if cell is Cell.VARIES
            },
        )

    def _cell(self, check: str) -> Cell:
        verdicts = {seen.results[check].verdict for seen in self.seen}
        if verdicts == {Verdict.SKIPPED}:
            return Cell.NOT_RUN
        if verdicts & FINE:
            return Cell.PASSES if verdicts <= FINE else Cell.VARIES
        late = all(seen.graded[check].verdict is Verdict.SKIPPED for seen in self.seen)
        return Cell.WOULD_KILL if late else Cell.KILLS


def result_of(evaluation: Evaluation, check: Check, *, timed: bool = False) -> CheckResult:
    """What a check makes of the evaluation's submission, also where that ends its process.

    As in a grade, nothing is asked by then of a later part than the check's.  A check of time is
    left out unless it is `timed`: timing wrong answers proves nothing and takes long.
    """
    if registry.get(check.kind).timed and not timed:
        return CheckResult(check.id, check.kind, Verdict.SKIPPED, "not run", stretch=check.stretch)
    question = evaluation.question
    evaluation.parts_asked = question.spec.part_of(check.id)
    submission = evaluation.submission
    called = {name: name for name in question.functions_of_runs({check.run})}
    # A stub is run, so that its author sees what it raises.
    loaded = submission.loaded._replace(stubs=()) if submission.loaded else None
    lacking = lacks(loaded, called, question, submission.filename)
    if lacking is not None:
        return CheckResult(
            check.id, check.kind, lacking.verdict, lacking.sentence, stretch=check.stretch
        )
    try:
        return registry.get(check.kind).carry_out(evaluation, check)
    except Stopped as stop:
        return stop.result


def as_graded(
    question: Question, result: Callable[[Check], CheckResult], *, parts: int | None = None
) -> tuple[dict[str, CheckResult], int]:
    """Return the results of checks as a grade reports them, and how many parts it asks.

    A grade skips some checks. The `parts` are those of the program (default: all).
    """
    last = parts or len(question.spec.parts)
    course = CheckSchedule(question.spec, range(1, last + 1))
    for part, check in course.order:
        if part <= last:
            found = course.skipped(part, check) or result(check)
            course.done[check.id] = replace(found, part=part)
    done = course.done
    return {
        check.id: done[check.id] for check in question.spec.checks if check.id in done
    }, course.asked


def shares_of(evaluation: Evaluation, results: Mapping[str, CheckResult]) -> dict[str, float]:
    """How much of each budget a program takes in its worst case, where that was measured."""
    found = {}
    for check in evaluation.question.spec.checks:
        kind, result = registry.get(check.kind), results.get(check.id)
        if check.stretch or result is None or not result.figures:
            continue
        with suppress(ProgramError, WorkerError):
            shares = [kind.share(Trial(evaluation, check, c)) for c in evaluation.cases_of(check)]
            if measured := [share for share in shares if share is not None]:
                found[check.id] = max(measured)
    return found


def always_raised(evaluation: Evaluation, results: Mapping[str, CheckResult]) -> Raised | None:
    """The first exception of a program that raises on every case it fails; None for another.

    The evaluation has been through every check; only the parts count that its program is asked.
    """

    def raises(run: str, case: str) -> bool:
        try:
            evaluation.observed(run, evaluation.cases[case])
        except ProgramError as error:
            return error.raised is not None and not error.out_of_memory
        except WorkerError:
            pass
        return False

    failed = [c for c in evaluation.checks if results[c.id].verdict not in FINE]
    for check in failed:
        result = results[check.id]
        everywhere = all(raises(check.run, case) for case in result.failing)
        if result.raised is None or not result.failing or not everywhere:
            return None
    return results[failed[0].id].raised if failed else None


# -- the matrix ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Matrix:
    """All programs of a question, and what is wrong with what the checks make of them."""

    question: Question
    seeds: Sequence[int]
    subjects: Sequence[Subject]  # the reference, the starter, every variant of every misconception

    @classmethod
    def of(cls, question: Question, seeds: Sequence[int]) -> Self:
        """The matrix before anything is run."""
        spec, reference = question.spec, question.reference
        start = question.starter
        if forms.of(spec).is_text:  # of a file of answers, a program that returns nothing
            nothing = (f"def {name}(*_, **__):\n    return None\n" for name in question.functions)
            start = "".join(nothing).encode()
        holds, file = set(spec.starter_holds), file_of(question, "starter")
        found = [
            Subject("reference", [reference], file_of(question, "reference")),
            Subject("starter", [start], file, holds, parts=1),
        ]
        for name, sources in question.variants.items():
            for i, source in enumerate(sources):
                label = name if i == 0 else f"{name} ({i + 1})"
                layers, file = [reference, source], file_of(question, name)
                killers = tuple(question.ideas[name].killed_by)
                found.append(Subject(label, layers, file, {name}, name, killers))
        return cls(question, seeds, found)

    @property
    def is_sound(self) -> bool:
        """Whether the reference passes, so that others can be held against it."""
        return not any(seen.stopping for seen in self.subjects[0].seen)

    def rows(self) -> list[AuditRow]:
        """One line for each program that was run."""
        checks = [check.id for check in self.question.spec.checks]
        return [subject.row(checks) for subject in self.subjects if subject.seen]

    def stops(self, check: str, after: Iterable[str] = ()) -> int:
        """Wrong programs that a check stops on some seed, and none of others does before."""
        return sum(
            row.cells[check] in STOPPING
            and not any(row.cells[one] in {Cell.KILLS, Cell.WOULD_KILL} for one in after)
            for row in self.rows()
            if row.name != "reference"
        )

    def first(self, check: str) -> int:
        """Wrong programs that a check stops and no deciding check before it does."""
        order = [c.id for c in self.question.spec.checks if not c.stretch or c.id == check]
        return self.stops(check, order[: order.index(check)])

    def problems(self) -> list[str]:
        """What it must say and does not; each cause once, without what follows from it."""
        if faults := sentences(self._of_reference(), len(self.seeds)):
            return faults  # what is not right itself says nothing of the others
        twins = pairs(self.subjects)
        for subject in self.subjects[1:]:
            if (passing := subject.passing) and len(passing) < len(subject.seen):
                stopped = f"{len(self.seeds) - len(passing)} of {len(self.seeds)} seeds"
                faults.append(
                    f"{subject.name} is stopped on {stopped}, and passes every check on "
                    f"{listed(passing)}: {SURER}"
                )
            faults += sentences(self._of_wrong(subject, twins), len(subject.seen))
        shared = [
            f"{' and '.join(ids)} cannot be told apart on any case: add one on which they differ, "
            "or make them variants of one misconception"
            for ids in twins
        ]
        return shared + faults + [r.text for r in self._breaking() if r.about == _CRASH]

    def _of_reference(self) -> Iterator[Fault]:
        """Checks that the reference does not pass."""
        for seen in self.subjects[0].seen:
            bad = seen.stopping
            first = [r for r in bad if seen.graded[r.id].verdict is not Verdict.SKIPPED]
            for result in first or bad:  # one fault, one report
                sentence = told(result, self.subjects[0].file)
                yield seen.seed, f"{result.id} stops the reference", f": {sentence}"

    def _of_wrong(self, subject: Subject, twins: Iterable[tuple[str, str]]) -> Iterator[Fault]:
        """What stops a wrong program not at all, not as claimed, or under another name."""
        partners = {b for t in twins for a, b in (t, t[::-1]) if a in subject.expected}
        part_of = self.question.spec.part_of
        for seen in subject.seen:
            graded = [r for r in seen.graded.values() if r.verdict not in FINE and not r.stretch]
            if not seen.stopping:
                if len(subject.passing) == len(subject.seen):
                    yield seen.seed, f"{subject.name} passes every check", _lost(subject)
                if all(seen.results[k].verdict in FINE for k in subject.killers):
                    continue  # that no check claims it rightly, and that it has no name, follow
            elif subject.misconception is None and all(r.part > 1 for r in graded):
                yield seen.seed, f"{subject.name} passes part 1", ", in which it has to fail"
            for killer in subject.killers:
                # Nobody who holds the idea comes as far as a later part than that of its first.
                later = part_of(killer) > part_of(subject.killers[0])
                if (seen.results if later else seen.graded)[killer].verdict in FINE:
                    why, then = _unkilled(seen, killer)
                    yield seen.seed, f"{subject.name} is said to be killed by {killer}, {why}", then
            if any(r.part < part_of(killer) for r in graded for killer in subject.killers[:1]):
                continue  # an idea is not looked for before its part
            # The spec need not say what the starter holds.
            if subject.expected and seen.named - partners != subject.expected - partners:
                wanted = f", expected {', '.join(sorted(subject.expected))}"
                given = ", ".join(sorted(seen.named)) or "nothing"
                yield seen.seed, f"{subject.name} is diagnosed as {given}", wanted

    def idle(self) -> Iterator[str]:
        """Checks that decide and kill nothing, and implementations that no wrong test gets wrong.

        Only programs count that come as far as the part of a check.  One that a misconception
        claims and is not stopped by is left out: that has been said.  So is one that no idea can be
        named by, a peak of memory or letters: no misconception could be about it.
        """
        missing = "it is idle, or a misconception is missing"
        for check in self.question.spec.checks:
            if getattr(check, "reject", None) is not None:  # what a test is tried on
                results = [seen.results[check.id] for s in self.subjects[1:] for seen in s.seen]
                wrong = {case for result in results for case in result.failing}
                for case in check.cases:
                    if case not in wrong:
                        yield f"{check.id}: no variant gets {case} wrong: {missing}"
        said = {k for row in self.rows() for k in row.claimed_by if row.cells[k] not in STOPPING}
        earlier: list[str] = []
        for part in self.question.spec.parts:
            deciding = [check for check in part.checks if not check.stretch]
            for check in deciding:
                named = check.id not in said and not registry.get(check.kind).by_style(check)
                if named and not self.stops(check.id, earlier):
                    yield f"the check {check.id} kills no variant: {missing}"
            earlier += [check.id for check in deciding]

    def budgets(self, accepted: Mapping[str, Mapping[str, float]]) -> Iterator[Budget]:
        """Every budget, and the nearest of the right and wrong programs; seeds hardly matter.

        Args:
            accepted: what right solutions take of each, by name.
        """
        taken = {s.name: s.seen[0].shares for s in self.subjects if s.seen}
        reference = {"reference": taken.pop("reference", {})}
        for check in self.question.spec.checks:
            right, wrong = (
                sorted(
                    (shares[check.id], name) for name, shares in some.items() if check.id in shares
                )
                for some in ({**reference, **accepted}, taken)
            )
            if right and right[-1][0] > 0:
                above = next((one for one in wrong if one[0] > 1), (0.0, ""))
                yield Budget(check.id, right[-1][1], right[-1][0], above[1], above[0])

    def remarks(self) -> Iterator[Remark]:
        """Checks that nothing needs, and ideas that only break."""
        claimed = {killer for subject in self.subjects for killer in subject.killers}
        late = [
            c.id
            for c in self.question.spec.checks
            if not registry.get(c.kind).is_law
            and not (c.stretch or c.id in claimed or registry.get(c.kind).by_style(c))
            and self.stops(c.id)
            and not self.first(c.id)
        ]
        if late:
            yield Remark(
                "redundant",
                f"{', '.join(late)}: no known wrong idea is stopped here first, and none claims to "
                "be (killed_by): write one that nothing else stops",
            )
        if open_ := [name for name, one in self.question.ideas.items() if not one.killed_by]:
            yield Remark(
                "unclaimed",
                f"{', '.join(open_)}: no killed_by says which check is about it; --write-killed-by "
                "writes the first that stops it",
            )
        yield from (remark for remark in self._breaking() if remark.about != _CRASH)

    def _breaking(self) -> Iterator[Remark]:
        """Wrong programs that raise wherever they fail, on every seed, and are not said to.

        A misspelled name in a variant raises wherever it is called, so that every check stops it,
        and since diagnosis compares it with itself it is named as well: the matrix looks proved.  A
        starter is to look plausible: who runs it should see wrong values.
        """
        spec = self.question.spec
        for subject in self.subjects:
            raised = subject.seen[0].raised if subject.seen else None
            if raised is None or any(seen.raised is None for seen in subject.seen):
                continue
            if subject.name == "starter" and forms.of(spec).is_text:
                continue  # nothing is answered in it
            known = self.question.ideas
            ideas = subject.expected & known.keys()
            meant = " ".join(known[name].feedback for name in ideas)
            if re.search(rf"{_MEANT}|\b{re.escape(raised.type)}\b", meant, re.IGNORECASE):
                continue
            inner = raised.frames[-1] if raised.frames else None
            where = ""
            if inner is not None:
                # Of two layers, the upper one has the functions that it defines.
                own = inner.function in definitions(subject.sources[-1]) and subject.file
                where = f" in {inner.function}, {f'{own}:' if own else 'line '}{inner.line},"
            to_do = raised.type == "NotImplementedError"  # nobody takes that for a mistake
            about = "starter" if to_do and subject.misconception is None else _CRASH
            advice = "a starter runs, looks plausible and fails by its values"
            if subject.misconception is not None:
                advice = (
                    "only a submission that raises the same is named: fix it, or say in the "
                    "feedback that it raises"
                )
            yield Remark(
                about,
                f"{subject.name} raises {raised.type}{where} on every case that it fails"
                f"{message_of(raised)}; {advice}",
            )


def pairs(subjects: Iterable[Subject]) -> list[tuple[str, str]]:
    """Misconceptions that go by each other's names on every seed."""
    found = {
        (min(own, other), max(own, other))
        for subject in subjects
        if (own := subject.misconception) in subject.named
        for other in subject.named - {own}
    }
    return sorted(found)


def _lost(subject: Subject) -> str:
    """Why an idea passes: it redefines nothing of the reference, or equals it, and where."""
    if subject.misconception is None:
        return ""
    known, own = (definitions(source) for source in subject.sources[:2])
    if not own:
        return ""
    changed = [name for name in own if not same_code(own[name], known.get(name, []))]
    if changed and known.keys().isdisjoint(changed):
        lacking = f"{', '.join(changed)}, which the reference has not"
        return f": it defines {lacking}{did_you_mean(changed[-1], known)}"
    line = own[[*changed, *own][0]][0].lineno
    place = f"{subject.file}:{line}" if subject.file else f"line {line}"
    if not changed:
        return f": {place} equals the reference"
    return f": {place} gives the reference's results on every case; change it, or add a case"


def same_code(some: Iterable[ast.stmt], others: Iterable[ast.stmt]) -> bool:
    """Whether statements are the same but for comments and layout."""
    return [*map(ast.dump, some)] == [*map(ast.dump, others)]


def _unkilled(seen: Seen, killer: str) -> tuple[str, str]:
    """Why a check does not stop what it claims, and what to do about it."""
    root = seen.graded[killer]
    while root.blocked_by is not None:
        root = seen.graded[root.blocked_by]
    if root.verdict is Verdict.SKIPPED:
        return f"but {root.id} is run on the reference only", ": claim another check"
    if root.id == killer:
        return "which it passes" if root.verdict is Verdict.PASS else "which decides nothing", ""
    part = seen.graded[killer].part
    earlier = root.part < part
    needed = f"{root.id} of part {root.part}" if earlier else f"{root.id}, which {killer} needs,"
    if seen.results[killer].verdict in FINE:
        return f"which it passes, and {needed} stops it", f": claim {root.id}"
    cases = f"use cases on which it passes {root.id}"
    advice = f"an idea of part {part} passes the parts before" if earlier else cases
    return f"but {needed} stops it first", f": {advice}, or claim {root.id}"


# -- in words --------------------------------------------------------------------------------------


def sentences(faults: Iterable[Fault], count: int) -> list[str]:
    """One sentence per fault, with those of so many seeds that show it."""
    found: dict[str, tuple[str, list[int]]] = {}
    for seed, before, after in faults:
        found.setdefault(before, (after, []))[1].append(seed)
    everywhere = "" if count == 1 else f" on all {count} seeds"
    return [
        f"{before}{everywhere if len(on) == count else f' on {listed(on)} of {count}'}{after}"
        for before, (after, on) in found.items()
    ]


def told(result: CheckResult, file: str = "") -> str:
    """The message to a submission's author, about a program of the bank; with what it raised."""
    message = re.sub(r"\byour\b", "its", re.sub(r"\byour code\b", "it", result.message))
    if result.raised is None or not file:
        return message
    return message + message_of(result.raised) + line_of(result.raised, file)


def listed(seeds: Sequence[int]) -> str:
    """Some seeds in words."""
    more = f" and {len(seeds) - SHOWN} more" if len(seeds) > SHOWN else ""
    return f"seed{'s'[: len(seeds) - 1]} {', '.join(map(str, seeds[:SHOWN]))}{more}"
