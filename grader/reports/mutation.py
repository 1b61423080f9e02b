"""What mutants showed, as a page that a person can read, and as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from grader.model.mutation import Counterexample, Fate, Mutant, MutationReport, Trial
from grader.model.numerals import duration
from grader.reports.page import Page, cut, hanging, measure
from grader.reports.palette import QUIET, STRONG, WARNED, WRONG

LABEL = 12  # columns of "differs on"
CONTEXT = 24  # characters kept before the first difference of a long statement


def render_mutation(report: MutationReport, *, width: int) -> RenderableType:
    """The score, what kills, and every survivor with the line changed and where it shows."""
    return Page(_lines(report, measure(width)))


def _lines(report: MutationReport, width: int) -> Iterator[Text]:
    seeds = f"{len(report.seeds)} seed{'' if len(report.seeds) == 1 else 's'}"
    right = f"{seeds}, {duration(report.seconds)}"
    left = f"{report.question}: mutants of the reference"
    gap = max(2, width - len(left) - len(right))
    yield Text.assemble((left, STRONG), " " * gap, (right, QUIET))
    yield Text()
    yield from hanging([], _counts(report), width, indent=2)
    yield from hanging([("killed by  ", QUIET)], _killers(report) or "nothing", width, indent=2)
    yield Text()
    for trial in report.trials:
        if trial.fate is Fate.SURVIVED:
            yield from _survivor(trial, width)
            yield Text()
    for trial in report.trials:
        if trial.fate is Fate.EXPLAINED:
            lead = f"{_place(trial.mutant)} is explained: "
            yield from hanging([(lead, QUIET)], trial.because.strip(), width, indent=2)
    if report.count(Fate.EXPLAINED):
        yield Text()
    for problem in report.problems:
        yield from hanging([], problem, width, indent=2, style=WRONG)
    yield from hanging([], _summary(report), width, style=STRONG)


def _counts(report: MutationReport) -> str:
    parts = [
        f"{report.count(Fate.KILLED)} killed",
        f"{report.count(Fate.SURVIVED)} survive",
        f"{report.count(Fate.EXPLAINED)} explained",
        f"{report.count(Fate.EQUIVALENT)} equivalent (the same on {report.searched:,} inputs)"
        if report.count(Fate.EQUIVALENT)
        else "0 equivalent",
    ]
    tried = f"{len(report.trials)} of {report.derived} mutants tried"
    return f"{tried}: {', '.join(parts)}"


def _killers(report: MutationReport) -> str:
    counts = Counter(t.check for t in report.trials if t.fate is Fate.KILLED)
    return ", ".join(f"{check} {count}" for check, count in counts.most_common())


def _survivor(trial: Trial, width: int) -> Iterator[Text]:
    mutant, counterexample = trial.mutant, trial.counterexample
    yield Text.assemble(("  SURVIVES  ", WRONG), f"{_place(mutant)}: {mutant.rule}")
    was, becomes = excerpts(mutant.was, mutant.becomes, width - 6)
    yield Text(f"    - {was}", QUIET)
    yield Text(f"    + {becomes}", WARNED)
    if counterexample is None:
        return
    yield from _labeled("differs on", _where(counterexample), width)
    yield from _labeled("", counterexample.inputs, width)
    yield from _labeled("there", counterexample.sentence, width)
    yield from _labeled("to do", counterexample.advice, width)


def _labeled(label: str, text: str, width: int) -> list[Text]:
    return hanging([(f"{label:{LABEL}}", QUIET)], text, width, indent=4)


def _where(counterexample: Counterexample) -> str:
    run = "" if counterexample.run == "main" else f", run {counterexample.run}"
    return f"{counterexample.reach}: {counterexample.case}{run}, seed {counterexample.seed}"


def _place(mutant: Mutant) -> str:
    return f"{mutant.scope}, line {mutant.line}"


def excerpts(was: str, becomes: str, width: int) -> tuple[str, str]:
    """Two statements cut to a width around the first place where they differ."""
    was, becomes = " ".join(was.split()), " ".join(becomes.split())
    longest = max(len(was), len(becomes))
    same = next((i for i in range(longest) if was[i : i + 1] != becomes[i : i + 1]), 0)
    start = max(0, same - CONTEXT) if longest > width else 0
    head = "..." if start else ""
    return cut(head + was[start:], width), cut(head + becomes[start:], width)


def _summary(report: MutationReport) -> str:
    killed = report.count(Fate.KILLED)
    wrong = killed + report.count(Fate.SURVIVED)
    score = report.score
    line = "no mutant was wrong" if score is None else f"score {score:.1%}: {killed} of {wrong}"
    line += "" if score is None else " wrong mutants are killed"
    if report.interrupted:
        return f"{line}, of those tried before you stopped it"
    if len(report.trials) < report.derived:
        return f"{line}, in a sample of {len(report.trials)}"
    return line


def mutants_entry(report: MutationReport | None) -> dict[str, object]:
    """What an audit's document says of the mutants: nothing when none were tried."""
    return {} if report is None else {"mutants": to_json(report)}


def to_json(report: MutationReport) -> dict[str, object]:
    """The report as plain data."""
    return {
        "derived": report.derived,
        "tried": len(report.trials),
        **{fate.value: report.count(fate) for fate in Fate},
        "score": report.score,
        "searched": report.searched,
        "seconds": report.seconds,
        "interrupted": report.interrupted,
        "ok": report.ok,
        "problems": list(report.problems),
        "mutants": [_trial(trial) for trial in report.trials],
    }


def _trial(trial: Trial) -> dict[str, object]:
    mutant, counterexample = trial.mutant, trial.counterexample
    return {
        "in": mutant.scope,
        "line": mutant.line,
        "rule": mutant.rule,
        "was": mutant.was,
        "becomes": mutant.becomes,
        "fate": trial.fate.value,
        "killed_by": trial.check or None,
        "seed": trial.seed if trial.fate is Fate.KILLED else None,
        "because": trial.because or None,
        "witness": None
        if counterexample is None
        else {
            "reach": counterexample.reach.value,
            "run": counterexample.run,
            "case": counterexample.case,
            "inputs": counterexample.inputs,
            "seed": counterexample.seed,
            "result": counterexample.result or None,
            "sentence": counterexample.sentence,
            "advice": counterexample.advice,
        },
    }
