"""The programs under audit, and what the seeds have shown of each."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from grader import forms
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.tally import Stopped
from grader.kinds import registry, run_check
from grader.model.question import Question
from grader.model.report import FINE, CheckResult, Raised, Verdict
from grader.model.spec import Check
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import ProgramError
from grader.session import GradingSession
from grader.session.bank_programs import file_of
from grader.session.grading import lacks


@dataclass(frozen=True, slots=True)
class Seen:
    """What one seed has shown of a program."""

    seed: int
    results: Mapping[str, CheckResult]  # by check, needs or no needs
    graded: Mapping[str, CheckResult]  # the same as a grade reports them
    named: frozenset[str]  # misconceptions that diagnosis named
    raised: Raised | None  # of a program that raises on every case it fails

    @property
    def stopping(self) -> list[CheckResult]:
        """The results that keep the program from passing."""
        return [r for r in self.results.values() if r.verdict not in FINE and not r.stretch]

    @property
    def graded_stopping(self) -> list[CheckResult]:
        """Those of them that a grade comes to."""
        return [r for r in self.graded.values() if r.verdict not in FINE and not r.stretch]


@dataclass(slots=True)
class Subject:
    """One program."""

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


def subjects(question: Question) -> list[Subject]:
    """The reference, the starter, and every variant of every misconception, in this order."""
    spec = question.spec
    found = [
        Subject("reference", [question.reference], file_of(question, "reference")),
        Subject(
            "starter",
            _starter(question),
            file_of(question, "starter"),
            set(spec.starter_holds),
            parts=1,
        ),
    ]
    for name, sources in question.variants.items():
        for i, source in enumerate(sources):
            label = name if i == 0 else f"{name} ({i + 1})"
            layers, file = [question.reference, source], file_of(question, name, i)
            killers = spec.misconceptions[name].killers
            found.append(Subject(label, layers, file, {name}, name, killers))
    return found


def _starter(question: Question) -> list[bytes]:
    """The starter as layers; of a file of answers a program that returns nothing."""
    form = forms.of(question.spec)
    if not form.is_text:
        return [question.starter]
    nothing = "".join(f"def {name}(*_, **__):\n    return None\n" for name in question.functions)
    return [nothing.encode()]


def called_functions(session: GradingSession) -> list[str]:
    """What the steps and the driver call of a program; the reference is loaded."""
    question, loaded = session.question, session.bank.reference.loaded
    driver = (question.driver or b"").decode("utf-8", "replace")
    called = set(re.findall(r"\bprogram\.(\w+)", driver))
    driven = [] if loaded is None else [f for f in loaded.defined if f in called]
    return list(dict.fromkeys([*question.functions, *driven]))


def layer(question: Question, file: str, *arguments: object) -> list[bytes]:
    """The reference, and a file of the workers over it, in a namespace of its own.

    Args:
        question: whose reference it is.
        file: in `sandbox/worker/mutate`, with a function `install`.
        arguments: of that function before the program's namespace: texts, lists and dicts of them.
    """
    code = (Path(__file__).parents[1] / "sandbox" / "worker" / "mutate" / file).read_text("utf-8")
    given = ", ".join(map(json.dumps, arguments))  # JSON of these is also a Python literal
    text = f'_layer = {{"__name__": "layer"}}\nexec({json.dumps(code)}, _layer)\n'
    return [question.reference, f'{text}_layer["install"]({given}, globals())\n'.encode()]


def always_raised(evaluation: Evaluation, results: Mapping[str, CheckResult]) -> Raised | None:
    """The first exception of a program that raises on every case it fails; None for another.

    Args:
        evaluation: the program, which has been through every check: what it did is kept.  Only
            the parts count that it is asked.
        results: by check.
    """
    failed = [c for c in evaluation.checks if results[c.id].verdict not in FINE]
    for check in failed:
        result = results[check.id]
        everywhere = all(_raises(evaluation, check.run, case) for case in result.failing)
        if result.raised is None or not result.failing or not everywhere:
            return None
    return results[failed[0].id].raised if failed else None


def _raises(evaluation: Evaluation, run: str, case: str) -> bool:
    try:
        evaluation.observed(run, evaluation.cases[case])
    except ProgramError as error:
        return error.raised is not None and not error.out_of_memory
    except WorkerError:
        pass
    return False


def is_certain(evaluation: Evaluation, check: Check, result: CheckResult) -> bool:
    """Whether a program that a check does not pass is stopped by it on every seed.

    It is where inputs that are written out show it, or what is counted, which follows from sizes.
    """
    fixed = (
        not any(recipe.is_drawn for recipe in evaluation.cases[name].inputs.values())
        for name in result.failing
    )
    return registry.get(check.kind).shows_measurement or any(fixed)


def result_of(evaluation: Evaluation, check: Check, *, timed: bool = False) -> CheckResult:
    """What a check makes of the evaluation's submission, also where that ends its process.

    As in a grade, nothing is asked by then of a later part than the check's.  Timing wrong
    answers proves nothing and takes long; the reference's own time does.
    """
    if registry.get(check.kind).timed and not timed:
        return CheckResult(check.id, check.kind, Verdict.SKIPPED, "not run", stretch=check.stretch)
    question = evaluation.question
    evaluation.parts_asked = question.spec.part_of(check.id)
    called = question.functions_of_run(check.run)
    if (lacking := lacks(evaluation.submission.loaded, called, question)) is not None:
        return CheckResult(
            check.id, check.kind, lacking.verdict, lacking.sentence, stretch=check.stretch
        )
    try:
        return run_check(evaluation, check)
    except Stopped as stop:
        return stop.result
