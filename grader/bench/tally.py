"""Try a check case by case and gather what was found into one result.

The cases come smallest first, so the first finding is the one worth showing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.bench.bench import Bench
from grader.bench.exhibit import case_line
from grader.cases.recipe import CaseRecipe
from grader.model.numerals import shape_text
from grader.model.question import Step
from grader.model.report import CheckResult, Exhibit, Mismatch, Raised
from grader.model.spec import Check
from grader.model.verdict import Verdict
from grader.sandbox.client import Overran, WorkerError
from grader.sandbox.replies import Flagged, ProgramError


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found on one case: what is wrong, or what was measured and is not."""

    sentence: str
    verdict: Verdict = Verdict.FAIL
    mismatch: Mismatch | None = None
    exhibit: Exhibit | None = None
    raised: Raised | None = None
    subject: str = ""  # what differs ("grad_x"), so that a summary over cases can be made
    figures: Mapping[str, float] = field(default_factory=dict)  # measured numbers by name

    @classmethod
    def passed(cls, sentence: str = "", **figures: float) -> Finding:
        """What was measured where nothing is wrong."""
        return cls(sentence, Verdict.PASS, figures=figures)


Judge = Callable[[CaseRecipe], Finding | None]


class Stopped(Exception):
    """The submission's process is gone; the result says how, and nothing more can be asked."""

    def __init__(self, result: CheckResult) -> None:
        """Keep the result of the check during which it happened."""
        super().__init__(result.message)
        self.result = result


def tally(bench: Bench, check: Check, judge: Judge, *, good: str = "") -> CheckResult:
    """Try every case and make the result.

    What it says and its figures are those of the first case, the smallest, on which something is
    wrong; where nothing is, those of the last case, the largest.  Where that has no sentence, a
    pass says `good`, or the number of cases.  What `judge` raises is the submission's doing.

    Raises:
        Stopped: the submission's process died or overran a limit.
        BankFault: the reference cannot be run on a case; no submission is tried on it.
    """
    cases = bench.cases_of(check)
    wrong: list[tuple[CaseRecipe, Finding]] = []
    fine: list[tuple[CaseRecipe, Finding]] = []
    for case in cases:
        if bench.reference_first:
            bench.truth(check.run, case)
        try:
            found = judge(case)
        except ProgramError as error:
            found = raised(bench, case, error)
        except WorkerError as failure:
            verdict = Verdict.LIMIT if isinstance(failure, Overran) else Verdict.ERROR
            found = Finding(f"your code {failure} (case {case.name})", verdict)
            raise Stopped(_failed(bench, check, cases, [(case, found)])) from None
        if found is not None:
            good_enough = found.verdict in {Verdict.PASS, Verdict.INCONCLUSIVE}
            (fine if good_enough else wrong).append((case, found))
    if wrong:
        return _failed(bench, check, cases, wrong)
    last = fine[-1][1] if fine else Finding.passed()
    message = last.sentence or good or f"{len(cases)} case{'' if len(cases) == 1 else 's'}"
    unsure = [case.name for case, found in fine if found.verdict is Verdict.INCONCLUSIVE]
    if unsure:
        message += f"; too close to call in {', '.join(unsure)}"
    verdict = Verdict.INCONCLUSIVE if unsure else Verdict.PASS
    return _result(check, cases, replace(last, verdict=verdict), message)


def _result(
    check: Check, cases: Sequence[CaseRecipe], finding: Finding, message: str
) -> CheckResult:
    return CheckResult(
        id=check.id,
        kind=check.kind,
        verdict=finding.verdict,
        message=message,
        cases=tuple(case.name for case in cases),
        stretch=check.stretch,
        mismatch=finding.mismatch,
        exhibit=finding.exhibit,
        raised=finding.raised,
        figures=dict(finding.figures),
    )


def _failed(
    bench: Bench,
    check: Check,
    cases: Sequence[CaseRecipe],
    wrong: Sequence[tuple[CaseRecipe, Finding]],
) -> CheckResult:
    case, first = wrong[0]
    alike = [f for _, f in wrong if f.subject == first.subject and f.verdict == first.verdict]
    message = first.sentence
    if len(alike) > 1 and first.subject:
        message = (
            f"{first.subject} differs in {len(alike)} of {len(cases)} cases; "
            f"the smallest is {case.name}"
        )
    elif first.subject:
        message = f"{first.sentence} in case {case.name}"
    line = case_line(bench, case, check.run)
    return replace(
        _result(check, cases, first, message),
        failing=tuple(case.name for case, _ in wrong),
        case_line=f"{case.about}: {line}" if case.about else line,
    )


def raised(bench: Bench, case: CaseRecipe, error: ProgramError) -> Finding:
    """A finding about an exception of the submission, or about a result of the wrong form."""
    step = error.step
    if isinstance(error, Flagged):
        sentence = f"flagged for review: your code {error.message} (case {case.name})"
        return Finding(sentence, Verdict.POLICY)
    if error.raised is None:
        return Finding(f"{error.message} (case {case.name})")
    record, who = error.raised, "your code"
    if step is not None:
        called_with = _called_with(bench, case, step)
        record = replace(record, step=step.text, called_with=called_with)
        who = f"your {step.function}" if step.owner == "submission" else who
    verdict = Verdict.LIMIT if error.out_of_memory else Verdict.ERROR
    return Finding(f"{who} raised {record.type} in case {case.name}", verdict, raised=record)


def _called_with(bench: Bench, case: CaseRecipe, step: Step) -> str:
    drawn = bench.drawn(case)
    parts = []
    for name in (argument.name for argument in step.arguments if argument.name is not None):
        value = drawn.get(name)
        shape = getattr(value, "shape", None)
        if shape is not None:
            parts.append(f"{name} {shape_text(shape)}")
        else:
            parts.append(f"{name} {value}" if name in drawn else name)
    return ", ".join(parts)
