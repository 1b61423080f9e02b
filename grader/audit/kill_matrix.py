"""The kill matrix: what every check made of every program, and what is wrong with that."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Self

from grader import forms
from grader.bank.idea_cells import definitions
from grader.grading.bank_programs import line_suffix, message_suffix, program_file
from grader.grading.case_by_case import SubmissionStopped
from grader.grading.check_order import CheckSchedule
from grader.grading.evaluation import Evaluation
from grader.grading.kinds import registry
from grader.grading.kinds.base import CaseTrial
from grader.grading.submission import missing_functions
from grader.model.audit import AuditRow, Budget, MatrixCell, Remark
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, CheckResult, ExceptionRecord, Verdict
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import ProgramError

STOPPING_CELLS = {MatrixCell.KILLS, MatrixCell.WOULD_KILL, MatrixCell.VARIES}
SeedProblem = tuple[int, str, str]  # a seed that shows it; a sentence, broken where the seeds stand
MORE_DRAWS_ADVICE = "give the case more draws, or numbers that are written out"
MAX_LISTED_SEEDS = 8  # seeds of a longer list
_CRASH = "crash"  # no remark but a fault
_MEANT = r"\brais(?:e|es|ed|ing)\b|\bexceptions?\b|\bcrash(?:es|ed)?\b"  # by an idea that raises


# -- programs and what they are seen to do ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SeedResult:
    """What one seed has shown of a program."""

    seed: int
    results: Mapping[str, CheckResult]  # by check, needs or no needs
    graded_results: Mapping[str, CheckResult]  # the same as a grade reports them
    named_ideas: frozenset[str]  # misconceptions that diagnosis named
    raised: ExceptionRecord | None = None  # of a program that raises on every case it fails
    budget_shares: Mapping[str, float] = field(default_factory=dict)  # of budgets, by check

    @property
    def failing_results(self) -> list[CheckResult]:
        """The results that keep the program from passing."""
        return [
            r
            for r in self.results.values()
            if r.verdict not in NON_FAILING_VERDICTS and not r.stretch
        ]


@dataclass(slots=True)
class AuditedProgram:
    """One program under audit."""

    name: str
    sources: Sequence[bytes]
    file: str  # in the bank
    expected_ideas: set[str] = field(
        default_factory=set
    )  # misconceptions that diagnosis should name
    misconception: str | None = None
    killers: tuple[str, ...] = ()  # checks that are said to stop it
    seed_results: list[SeedResult] = field(default_factory=list)  # one for each seed
    parts: int | None = None  # whose functions it has to define; all, if not given

    @property
    def named_ideas(self) -> frozenset[str]:
        """Misconceptions that diagnosis named on every seed."""
        return frozenset.intersection(*(seen.named_ideas for seen in self.seed_results))

    @property
    def passing_seeds(self) -> list[int]:
        """The seeds on which every check passes it."""
        return [seen.seed for seen in self.seed_results if not seen.failing_results]

    def row(self, checks: Sequence[str]) -> AuditRow:
        """Its line of the matrix."""
        cells = {check: self._cell(check) for check in checks}
        return AuditRow(
            name=self.name,
            misconception=self.misconception,
            cells=cells,
            named=tuple(sorted(self.named_ideas)),
            named_well=sum(seen.named_ideas == self.expected_ideas for seen in self.seed_results),
            seeds=len(self.seed_results),
            claimed_by=self.killers,
            passing_seeds={
                check: tuple(
                    s.seed
                    for s in self.seed_results
                    if s.results[check].verdict in NON_FAILING_VERDICTS
                )
                for check, cell in cells.items()
                if cell is MatrixCell.VARIES
            },
        )

    def _cell(self, check: str) -> MatrixCell:
        verdicts = {seen.results[check].verdict for seen in self.seed_results}
        if verdicts == {Verdict.SKIPPED}:
            return MatrixCell.NOT_RUN
        if verdicts & NON_FAILING_VERDICTS:
            return MatrixCell.PASSES if verdicts <= NON_FAILING_VERDICTS else MatrixCell.VARIES
        late = all(
            seen.graded_results[check].verdict is Verdict.SKIPPED for seen in self.seed_results
        )
        return MatrixCell.WOULD_KILL if late else MatrixCell.KILLS


def result_of_check(evaluation: Evaluation, check: Check, *, timed: bool = False) -> CheckResult:
    """What a check makes of the evaluation's submission, also where that ends its process.

    As in a grade, nothing is asked by then of a later part than the check's.  A check of time is
    left out unless it is `timed`: timing wrong answers proves nothing and takes long.
    """
    if registry.kind_named(check.kind).is_timed and not timed:
        return CheckResult(check.id, check.kind, Verdict.SKIPPED, "not run", stretch=check.stretch)
    question = evaluation.question
    evaluation.parts_asked = question.spec.part_of(check.id)
    submission = evaluation.submission
    called = {name: name for name in question.functions_called_by_runs({check.run})}
    # A stub is run, so that its author sees what it raises.
    loaded = submission.loaded._replace(stubs=()) if submission.loaded else None
    lacking = missing_functions(loaded, called, question, submission.filename)
    if lacking is not None:
        return CheckResult(
            check.id, check.kind, lacking.verdict, lacking.sentence, stretch=check.stretch
        )
    try:
        return registry.kind_named(check.kind).run_check(evaluation, check)
    except SubmissionStopped as stop:
        return stop.result


def results_as_graded(
    question: Question, result: Callable[[Check], CheckResult], *, parts: int | None = None
) -> tuple[dict[str, CheckResult], int]:
    """Return the results of checks as a grade reports them, and how many parts it asks.

    A grade skips some checks. The `parts` are those of the program (default: all).
    """
    last = parts or len(question.spec.parts)
    course = CheckSchedule(question.spec, range(1, last + 1))
    for part, check in course.order:
        if part <= last:
            found = course.result_if_skipped(part, check) or result(check)
            course.results_so_far[check.id] = replace(found, part=part)
    done = course.results_so_far
    return {
        check.id: done[check.id] for check in question.spec.checks if check.id in done
    }, course.last_asked_part


def budget_shares(evaluation: Evaluation, results: Mapping[str, CheckResult]) -> dict[str, float]:
    """How much of each budget a program takes in its worst case, where that was measured."""
    found = {}
    for check in evaluation.question.spec.checks:
        kind, result = registry.kind_named(check.kind), results.get(check.id)
        if check.stretch or result is None or not result.figures:
            continue
        with suppress(ProgramError, WorkerError):
            shares = [
                kind.budget_share(CaseTrial(evaluation, check, c))
                for c in evaluation.cases_of(check)
            ]
            if measured := [share for share in shares if share is not None]:
                found[check.id] = max(measured)
    return found


def always_raised(
    evaluation: Evaluation, results: Mapping[str, CheckResult]
) -> ExceptionRecord | None:
    """The first exception of a program that raises on every case it fails; None for another.

    The evaluation has been through every check; only the parts count that its program is asked.
    """

    def raises(run: str, case: str) -> bool:
        try:
            evaluation.submission_outcome(run, evaluation.cases[case])
        except ProgramError as error:
            return error.raised is not None and not error.is_out_of_memory
        except WorkerError:
            pass
        return False

    failed = [c for c in evaluation.checks if results[c.id].verdict not in NON_FAILING_VERDICTS]
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
    subjects: Sequence[
        AuditedProgram
    ]  # the reference, the starter, every variant of every misconception

    @classmethod
    def for_question(cls, question: Question, seeds: Sequence[int]) -> Self:
        """The matrix before anything is run."""
        spec, reference = question.spec, question.reference
        start = question.starter
        if forms.form_of(spec).is_text:  # of a file of answers, a program that returns nothing
            nothing = (f"def {name}(*_, **__):\n    return None\n" for name in question.functions)
            start = "".join(nothing).encode()
        holds, file = set(spec.starter_holds), program_file(question, "starter")
        found = [
            AuditedProgram("reference", [reference], program_file(question, "reference")),
            AuditedProgram("starter", [start], file, holds, parts=1),
        ]
        for name, sources in question.variants.items():
            for i, source in enumerate(sources):
                label = name if i == 0 else f"{name} ({i + 1})"
                layers, file = [reference, source], program_file(question, name)
                killers = tuple(question.ideas[name].killed_by)
                found.append(AuditedProgram(label, layers, file, {name}, name, killers))
        return cls(question, seeds, found)

    @property
    def is_sound(self) -> bool:
        """Whether the reference passes, so that others can be held against it."""
        return not any(seen.failing_results for seen in self.subjects[0].seed_results)

    def rows(self) -> list[AuditRow]:
        """One line for each program that was run."""
        checks = [check.id for check in self.question.spec.checks]
        return [subject.row(checks) for subject in self.subjects if subject.seed_results]

    def count_stopped(self, check: str, after: Iterable[str] = ()) -> int:
        """Wrong programs that a check stops on some seed, and none of others does before."""
        return sum(
            row.cells[check] in STOPPING_CELLS
            and not any(
                row.cells[one] in {MatrixCell.KILLS, MatrixCell.WOULD_KILL} for one in after
            )
            for row in self.rows()
            if row.name != "reference"
        )

    def count_stopped_first(self, check: str) -> int:
        """Wrong programs that a check stops and no deciding check before it does."""
        order = [c.id for c in self.question.spec.checks if not c.stretch or c.id == check]
        return self.count_stopped(check, order[: order.index(check)])

    def problems(self) -> list[str]:
        """What it must say and does not; each cause once, without what follows from it."""
        if faults := problem_sentences(self._of_reference(), len(self.seeds)):
            return faults  # what is not right itself says nothing of the others
        twins = confused_ideas(self.subjects)
        for subject in self.subjects[1:]:
            if (passing := subject.passing_seeds) and len(passing) < len(subject.seed_results):
                stopped = f"{len(self.seeds) - len(passing)} of {len(self.seeds)} seeds"
                faults.append(
                    f"{subject.name} is stopped on {stopped}, and passes every check on "
                    f"{list_seeds(passing)}: {MORE_DRAWS_ADVICE}"
                )
            faults += problem_sentences(self._of_wrong(subject, twins), len(subject.seed_results))
        shared = [
            f"{' and '.join(ids)} cannot be told apart on any case: add one on which they differ, "
            "or make them variants of one misconception"
            for ids in twins
        ]
        return shared + faults + [r.text for r in self._breaking() if r.about == _CRASH]

    def _of_reference(self) -> Iterator[SeedProblem]:
        """Checks that the reference does not pass."""
        for seen in self.subjects[0].seed_results:
            bad = seen.failing_results
            first = [r for r in bad if seen.graded_results[r.id].verdict is not Verdict.SKIPPED]
            for result in first or bad:  # one fault, one report
                sentence = failure_message(result, self.subjects[0].file)
                yield seen.seed, f"{result.id} stops the reference", f": {sentence}"

    def _of_wrong(
        self, subject: AuditedProgram, twins: Iterable[tuple[str, str]]
    ) -> Iterator[SeedProblem]:
        """What stops a wrong program not at all, not as claimed, or under another name."""
        partners = {b for t in twins for a, b in (t, t[::-1]) if a in subject.expected_ideas}
        part_of = self.question.spec.part_of
        for seen in subject.seed_results:
            graded = [
                r
                for r in seen.graded_results.values()
                if r.verdict not in NON_FAILING_VERDICTS and not r.stretch
            ]
            if not seen.failing_results:
                if len(subject.passing_seeds) == len(subject.seed_results):
                    yield seen.seed, f"{subject.name} passes every check", _lost(subject)
                if all(seen.results[k].verdict in NON_FAILING_VERDICTS for k in subject.killers):
                    continue  # that no check claims it rightly, and that it has no name, follow
            elif subject.misconception is None and all(r.part > 1 for r in graded):
                yield seen.seed, f"{subject.name} passes part 1", ", in which it has to fail"
            for killer in subject.killers:
                # Nobody who holds the idea comes as far as a later part than that of its first.
                later = part_of(killer) > part_of(subject.killers[0])
                if (seen.results if later else seen.graded_results)[
                    killer
                ].verdict in NON_FAILING_VERDICTS:
                    why, then = _unkilled(seen, killer)
                    yield seen.seed, f"{subject.name} is said to be killed by {killer}, {why}", then
            if any(r.part < part_of(killer) for r in graded for killer in subject.killers[:1]):
                continue  # an idea is not looked for before its part
            # The spec need not say what the starter holds.
            if (
                subject.expected_ideas
                and seen.named_ideas - partners != subject.expected_ideas - partners
            ):
                wanted = f", expected {', '.join(sorted(subject.expected_ideas))}"
                given = ", ".join(sorted(seen.named_ideas)) or "nothing"
                yield seen.seed, f"{subject.name} is diagnosed as {given}", wanted

    def idle_checks(self) -> Iterator[str]:
        """Checks that decide and kill nothing, and implementations that no wrong test gets wrong.

        Only programs count that come as far as the part of a check.  One that a misconception
        claims and is not stopped by is left out: that has been said.  So is one that no idea can be
        named by, a peak of memory or letters: no misconception could be about it.
        """
        missing = "it is idle, or a misconception is missing"
        for check in self.question.spec.checks:
            if getattr(check, "reject", None) is not None:  # what a test is tried on
                results = [
                    seen.results[check.id] for s in self.subjects[1:] for seen in s.seed_results
                ]
                wrong = {case for result in results for case in result.failing}
                for case in check.cases:
                    if case not in wrong:
                        yield f"{check.id}: no variant gets {case} wrong: {missing}"
        said = {
            k for row in self.rows() for k in row.claimed_by if row.cells[k] not in STOPPING_CELLS
        }
        earlier: list[str] = []
        for part in self.question.spec.parts:
            deciding = [check for check in part.checks if not check.stretch]
            for check in deciding:
                named = check.id not in said and not registry.kind_named(
                    check.kind
                ).varies_with_style(check)
                if named and not self.count_stopped(check.id, earlier):
                    yield f"the check {check.id} kills no variant: {missing}"
            earlier += [check.id for check in deciding]

    def budgets(self, accepted: Mapping[str, Mapping[str, float]]) -> Iterator[Budget]:
        """Every budget, and the nearest of the right and wrong programs; seeds hardly matter.

        Args:
            accepted: what right solutions take of each, by name.
        """
        taken = {s.name: s.seed_results[0].budget_shares for s in self.subjects if s.seed_results}
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
            if not registry.kind_named(c.kind).is_law
            and not (
                c.stretch or c.id in claimed or registry.kind_named(c.kind).varies_with_style(c)
            )
            and self.count_stopped(c.id)
            and not self.count_stopped_first(c.id)
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
            raised = subject.seed_results[0].raised if subject.seed_results else None
            if raised is None or any(seen.raised is None for seen in subject.seed_results):
                continue
            if subject.name == "starter" and forms.form_of(spec).is_text:
                continue  # nothing is answered in it
            known = self.question.ideas
            ideas = subject.expected_ideas & known.keys()
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
                f"{message_suffix(raised)}; {advice}",
            )


def confused_ideas(subjects: Iterable[AuditedProgram]) -> list[tuple[str, str]]:
    """Misconceptions that go by each other's names on every seed."""
    found = {
        (min(own, other), max(own, other))
        for subject in subjects
        if (own := subject.misconception) in subject.named_ideas
        for other in subject.named_ideas - {own}
    }
    return sorted(found)


def _lost(subject: AuditedProgram) -> str:
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


def _unkilled(seen: SeedResult, killer: str) -> tuple[str, str]:
    """Why a check does not stop what it claims, and what to do about it."""
    root = seen.graded_results[killer]
    while root.blocked_by is not None:
        root = seen.graded_results[root.blocked_by]
    if root.verdict is Verdict.SKIPPED:
        return f"but {root.id} is run on the reference only", ": claim another check"
    if root.id == killer:
        return "which it passes" if root.verdict is Verdict.PASS else "which decides nothing", ""
    part = seen.graded_results[killer].part
    earlier = root.part < part
    needed = f"{root.id} of part {root.part}" if earlier else f"{root.id}, which {killer} needs,"
    if seen.results[killer].verdict in NON_FAILING_VERDICTS:
        return f"which it passes, and {needed} stops it", f": claim {root.id}"
    cases = f"use cases on which it passes {root.id}"
    advice = f"an idea of part {part} passes the parts before" if earlier else cases
    return f"but {needed} stops it first", f": {advice}, or claim {root.id}"


# -- in words --------------------------------------------------------------------------------------


def problem_sentences(faults: Iterable[SeedProblem], count: int) -> list[str]:
    """One sentence per fault, with those of so many seeds that show it."""
    found: dict[str, tuple[str, list[int]]] = {}
    for seed, before, after in faults:
        found.setdefault(before, (after, []))[1].append(seed)
    everywhere = "" if count == 1 else f" on all {count} seeds"
    return [
        f"{before}{everywhere if len(on) == count else f' on {list_seeds(on)} of {count}'}{after}"
        for before, (after, on) in found.items()
    ]


def failure_message(result: CheckResult, file: str = "") -> str:
    """The message to a submission's author, about a program of the bank; with what it raised."""
    message = re.sub(r"\byour\b", "its", re.sub(r"\byour code\b", "it", result.message))
    if result.raised is None or not file:
        return message
    return message + message_suffix(result.raised) + line_suffix(result.raised, file)


def list_seeds(seeds: Sequence[int]) -> str:
    """Some seeds in words."""
    more = f" and {len(seeds) - MAX_LISTED_SEEDS} more" if len(seeds) > MAX_LISTED_SEEDS else ""
    return f"seed{'s'[: len(seeds) - 1]} {', '.join(map(str, seeds[:MAX_LISTED_SEEDS]))}{more}"
