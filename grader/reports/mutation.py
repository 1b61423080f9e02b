"""What mutants showed, as a page that a person can read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grader.model.mutation import Fate, Mutant, MutationReport, Trial
from grader.model.numerals import duration, quantity
from grader.reports.page import Page, hanging, heading, measure
from grader.reports.palette import QUIET, STRONG, WARNED, WRONG
from grader.reports.text import Text

LABEL = 12  # columns of "differs on"


def render_mutation(report: MutationReport, *, width: int) -> Page:
    """The score, what kills, and every survivor with the line changed and where it shows."""
    return Page(_lines(report, measure(width)))


def _lines(report: MutationReport, width: int) -> Iterator[Text]:
    right = f"{quantity(len(report.seeds), 'seed')}, {duration(report.seconds)}"
    yield from heading(f"{report.question}: mutants of the reference", "", right, width)
    yield Text()
    yield from hanging([], _counts(report), width, indent=2)
    killers = Counter(t.killed_by for t in report.trials if t.fate is Fate.KILLED).most_common()
    killed = ", ".join(f"{check} {count}" for check, count in killers) or "nothing"
    yield from hanging([("killed by  ", QUIET)], killed, width, indent=2)
    for trial in report.trials:
        if trial.fate is Fate.SURVIVED:
            yield Text()
            yield from _survivor(trial, width)
        elif trial.fate is Fate.FLAKY:
            yield Text()
            yield from _flaky(trial, len(report.seeds), width)
    yield Text()
    for trial in report.trials:
        if trial.because is not None:
            lead = f"{_place(trial.mutant)} is explained: "
            yield from hanging([(lead, QUIET)], trial.because.strip(), width, indent=2)
    yield Text()
    for problem in report.problems:
        yield from hanging([], problem, width, indent=2, style=STRONG)
    yield from hanging([], _summary(report), width, style=STRONG)


def _counts(report: MutationReport) -> str:
    equivalent = f"{report.count(Fate.EQUIVALENT)} equivalent"
    if report.count(Fate.EQUIVALENT):
        equivalent += f" (the same on {report.searched:,} inputs)"
    flaky = f"{count} on some seeds only, " if (count := report.count(Fate.FLAKY)) else ""
    return (
        f"{len(report.trials)} of {report.derived} mutants tried: "
        f"{report.count(Fate.KILLED)} killed, {report.count(Fate.SURVIVED)} survive, "
        f"{flaky}"
        f"{report.count(Fate.EXPLAINED)} explained, {equivalent}"
    )


def _flaky(trial: Trial, seeds: int, width: int) -> Iterator[Text]:
    mutant, passing = trial.mutant, trial.passing_seeds
    yield Text.assemble(("  FLAKY     ", WRONG), f"{_place(mutant)}: {mutant.rule}")
    yield from _change(mutant, width)
    stopped = f"on {seeds - len(passing)} of {seeds} seeds, by {trial.killed_by}"
    yield from hanging([(f"{'stopped':{LABEL}}", QUIET)], stopped, width, indent=4)


def _change(mutant: Mutant, width: int) -> Iterator[Text]:
    for sign, text, style in (("-", mutant.was, QUIET), ("+", mutant.becomes, WARNED)):
        statement = " ".join(text.split())
        yield from hanging([(f"{sign} ", style)], statement, width, indent=4, style=style)


def _survivor(trial: Trial, width: int) -> Iterator[Text]:
    mutant, found = trial.mutant, trial.counterexample
    yield Text.assemble(("  SURVIVES  ", WRONG), f"{_place(mutant)}: {mutant.rule}")
    yield from _change(mutant, width)
    if found is None:
        return
    run = "" if found.run == "main" else f", run {found.run}"
    where = f"{found.reach}: {found.case}{run}, seed {found.seed}"
    facts = {"differs on": where, "": found.inputs, "there": found.sentence, "to do": found.advice}
    for label, text in facts.items():
        yield from hanging([(f"{label:{LABEL}}", QUIET)], text, width, indent=4)


def _place(mutant: Mutant) -> str:
    return f"{mutant.scope}, line {mutant.line}"


def _summary(report: MutationReport) -> str:
    killed = report.count(Fate.KILLED)
    wrong = killed + report.count(Fate.SURVIVED) + report.count(Fate.FLAKY)
    line = "no mutant was wrong"
    if report.score is not None:
        line = f"score {report.score:.1%}: {killed} of {wrong} wrong mutants are killed"
    if report.interrupted:
        return f"{line}, of those tried before you stopped it"
    if len(report.trials) < report.derived:
        return f"{line}, in a sample of {len(report.trials)}"
    return line
