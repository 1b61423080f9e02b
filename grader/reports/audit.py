"""The audit of a question as a page, the kill matrix, checks, and mutants, and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from grader.model.audit import (
    AuditReport,
    AuditRow,
    MatrixCell,
    MutantFate,
    MutantTrial,
    MutationReport,
)
from grader.model.mutants import Mutant
from grader.model.number_format import format_count, format_duration
from grader.reports.blocks import BlankLine, Blocks, CodeBlock, Figure, Heading, Paragraph, Table
from grader.reports.json import to_json_value, to_plain_data
from grader.reports.text_layout import BOLD, GREEN, RED, Line, pad, truncate

_NAMES = (40, 28)  # cells of a program's name at most, where there is room and where there is not
_NAMED = "named"
_MARKS = dict(zip(MatrixCell, ".x-? ", strict=True))  # in its order
_MEANINGS = {  # and styles
    "X": ("stopped by a check that claims it", BOLD),
    "x": ("stopped", GREEN),
    "-": ("stopped before, by a check it needs", ""),
    "?": ("depends on the seed", BOLD),
    "!": ("claimed, and not stopped", RED),
    ".": ("passes", ""),
    " ": ("not run", ""),
}


def audit_page(report: AuditReport) -> Blocks:
    """Everything that an audit found."""
    spent = f"{format_count(len(report.seeds), 'seed')}, {format_duration(report.seconds)}"
    yield Heading(report.question, spent)
    yield BlankLine()
    if report.programs:
        yield _matrix(report)
        yield BlankLine()
        used = {cell_mark(row, check.id) for row in report.programs for check in report.checks}
        key = (f"{s.strip() or 'blank'} {_MEANINGS[s][0]}" for s in _MEANINGS if s in used)
        yield Paragraph(", ".join(key), indent=2)
        yield BlankLine()
        rows = [(f"  {check.id}", str(check.stops), str(check.first)) for check in report.checks]
        yield Table(("", "stops", "first"), rows, right=("stops", "first"))
        yield BlankLine()
    made = [t for t in report.trivial if t.made]
    if stopped := ", ".join(t.name for t in made if not t.accepted):
        yield Paragraph(f"trivial answers stopped: {stopped}", indent=2)
    for answer in made:
        if answer.accepted:
            yield Paragraph(f"{answer.name}, {answer.about}", "  trivial answer accepted:")
    for one in report.budgets:
        wrong = f"; {one.wrong} {one.wrong_share:.2f} of it" if one.wrong else ""
        said = f"{one.right} takes {one.right_share:.2f} of its budget{wrong}"
        yield Paragraph(said, f"{one.check}: ", "", indent=2)
    if passed := ", ".join(a.name for a in report.accepted if a.passed == a.seeds):
        yield Paragraph(f"right solutions passed: {passed}", indent=2)
    if (planted := report.planted) is not None:
        count = planted.named + len(planted.missed)
        yield Paragraph(
            f"{planted.named} of {count} named ({planted.named_share:.0%})", "planted:", "", 2
        )
        for missed in planted.missed:
            yield Paragraph(missed, "not named:", "", indent=4)
    yield BlankLine()
    for note in report.notes:
        yield Paragraph(note, "note   ", "", indent=2, hang=8)
    for remark in report.remarks:
        yield Paragraph(f"{remark.about}: {remark.text}", "remark ", indent=2, hang=8)
    for problem in report.problems:
        yield Paragraph(problem, "FAULT  ", RED, indent=2, hang=8)
    yield BlankLine()
    yield Paragraph(_summary(report))


def cell_mark(row: AuditRow, check: str) -> str:
    """The sign of one cell; what the spec claims of it counts."""
    cell = row.cells[check]
    if check in row.claimed_by and cell in {MatrixCell.KILLS, MatrixCell.PASSES}:
        return "X" if cell is MatrixCell.KILLS else "!"
    return _MARKS[cell]


def _matrix(report: AuditReport) -> Figure:
    """One row per program, one column per check, whose names stand over them like a staircase."""
    checks = [check.id for check in report.checks]
    longest = max(len(row.name) for row in report.programs)
    last = max(len(_NAMED), *(len(_named(row)) for row in report.programs))

    def draw(width: int) -> Iterator[Line]:
        for step, most in ((2, _NAMES[0]), (2, _NAMES[1]), (1, _NAMES[0]), (1, _NAMES[1])):
            names = min(longest, most)
            labels = [*checks, " " * (2 * (step == 1) + last)]
            if max(names + 4 + step * i + len(label) for i, label in enumerate(labels)) <= width:
                break
        for i, label in enumerate([*checks, "  " * (step == 1) + _NAMED]):
            yield " " * (names + 4) + ("|" + " " * (step - 1)) * i + label
        for row in report.programs:
            start, bracket, variant = row.name.partition(" (")  # whose number is kept
            name = truncate(start, names - len(bracket + variant)) + bracket + variant
            spans = [(f"  {pad(name, names)}  ", "")]
            for check in checks:
                sign = cell_mark(row, check)
                wrongly = row.name == "reference" and sign not in {".", " "}
                spans.append((sign, RED if wrongly else _MEANINGS[sign][1]))
                spans.append((" " * (step - 1), ""))
            misnamed = row.misconception is not None and row.named_well < row.seeds
            yield (*spans, ("  " * (step == 1) + _named(row), RED if misnamed else ""))

    return Figure(draw, tuple(_in_words(row, checks) for row in report.programs))


def _in_words(row: AuditRow, checks: list[str]) -> str:
    by_sign: dict[str, list[str]] = {}
    for check in checks:
        by_sign.setdefault(cell_mark(row, check), []).append(check)
    words = (f"{_MEANINGS[s][0]}: {', '.join(by_sign[s])}" for s in _MEANINGS if s in by_sign)
    return f"{row.name}: {'; '.join(words)}" + (f"; named {_named(row)}" if _named(row) else "")


def _named(row: AuditRow) -> str:
    if row.misconception is not None:
        return f"{row.named_well} of {row.seeds}"
    return (", ".join(row.named) or "nothing") if row.name == "starter" else ""


def _summary(report: AuditReport) -> str:
    if not report.ok:
        return f"{format_count(len(report.problems), 'problem')}: the question is not ready"
    ideas = {row.misconception for row in report.programs if row.misconception is not None}
    one = len(ideas) == 1
    what = "the misconception is" if one else f"{len(ideas)} misconceptions are"
    claims = "the check that claims it" if one else "the checks that claim them"
    if any(not row.claimed_by for row in report.programs if row.misconception is not None):
        claims = "a check"
    killed = f"{what} killed by {claims} and named"
    remarks = f"; {format_count(len(report.remarks), 'remark')}" if report.remarks else ""
    return f"the reference passes, the starter does not, {killed}, no check is idle{remarks}"


# -- mutants ---------------------------------------------------------------------------------------


def mutation_page(report: MutationReport) -> Blocks:
    """The score, what kills, and every survivor with the line changed and where it shows."""
    spent = f"{format_count(len(report.seeds), 'seed')}, {format_duration(report.seconds)}"
    yield Heading(f"{report.question}: mutants of the reference", spent)
    yield BlankLine()
    yield Paragraph(_counts(report), indent=2)
    killers = Counter(
        t.killed_by for t in report.trials if t.fate is MutantFate.KILLED
    ).most_common()
    killed = ", ".join(f"{check} {count}" for check, count in killers) or "nothing"
    yield Paragraph(f"killed by {killed}", indent=2)
    for trial in report.trials:
        if trial.fate in {MutantFate.SURVIVED, MutantFate.FLAKY}:
            yield BlankLine()
            yield from _alive(trial, len(report.seeds))
    yield BlankLine()
    for trial in report.trials:
        if trial.because is not None:
            text = f"{_place(trial.mutant)} is explained: {trial.because.strip()}"
            yield Paragraph(text, indent=2)
    yield BlankLine()
    for problem in report.problems:
        yield Paragraph(problem, indent=2)
    yield Paragraph(_score(report))


def _counts(report: MutationReport) -> str:
    equivalent = f"{report.count(MutantFate.EQUIVALENT)} equivalent"
    if report.count(MutantFate.EQUIVALENT):
        equivalent += f" (the same on {report.searched:,} inputs)"
    flaky = f"{count} on some seeds only, " if (count := report.count(MutantFate.FLAKY)) else ""
    return (
        f"{len(report.trials)} of {report.derived} mutants tried: "
        f"{report.count(MutantFate.KILLED)} killed, {report.count(MutantFate.SURVIVED)} survive, "
        f"{flaky}{report.count(MutantFate.EXPLAINED)} explained, {equivalent}"
    )


def _alive(trial: MutantTrial, seeds: int) -> Blocks:
    mutant = trial.mutant
    found = trial.counterexample
    title = "SURVIVES" if trial.fate is MutantFate.SURVIVED else "FLAKY"
    yield Paragraph(f"{_place(mutant)}: {mutant.rule}", title, RED, indent=2)
    was, becomes = (" ".join(text.split()) for text in (mutant.was, mutant.becomes))
    yield CodeBlock((f"- {was}", f"+ {becomes}"))
    if trial.fate is MutantFate.FLAKY:
        stopped = seeds - len(trial.passing_seeds)
        yield Paragraph(f"stopped on {stopped} of {seeds} seeds, by {trial.killed_by}", indent=4)
    if found is None and trial.fate is MutantFate.SURVIVED:
        text = "give it cases at this bound and on both sides"
        yield Paragraph(text, f"{'to do':11}", "", indent=4, hang=12)
    if found is not None:
        run = "" if found.run == "main" else f", run {found.run}"
        where = f"{found.reach}: {found.case}{run}, seed {found.seed}"
        facts = {"differs on": where, "": found.inputs, "there": found.sentence}
        for label, text in (facts | {"to do": found.advice}).items():
            yield Paragraph(text, f"{label:11}", "", indent=4, hang=12)


def _place(mutant: Mutant) -> str:
    return f"{mutant.scope}, line {mutant.line}"


def _score(report: MutationReport) -> str:
    killed = report.count(MutantFate.KILLED)
    wrong = killed + report.count(MutantFate.SURVIVED) + report.count(MutantFate.FLAKY)
    line = "no mutant was wrong"
    if report.score is not None:
        line = f"score {report.score:.1%}: {killed} of {wrong} wrong mutants are killed"
    if report.interrupted:
        return f"{line}, of those tried before you stopped it"
    if len(report.trials) < report.derived:
        return f"{line}, in a sample of {len(report.trials)}"
    return line


def audit_to_json(report: AuditReport, mutants: MutationReport | None = None) -> dict[str, object]:
    """An audit, with the mutants of its question where they were tried."""
    found = {**to_plain_data(report), "ok": report.ok}
    return found if mutants is None else {**found, "mutants": mutation_to_json(mutants)}


def mutation_to_json(report: MutationReport) -> dict[str, object]:
    """What mutants of a reference showed."""
    return {
        **to_plain_data(report, without={"question", "seeds", "trials"}),
        "tried": len(report.trials),
        **{fate.value: report.count(fate) for fate in MutantFate},
        "score": report.score,
        "ok": report.ok,
        "mutants": [
            {
                "in": trial.mutant.scope,
                **to_plain_data(trial.mutant, without={"scope", "start", "end", "text"}),
                **to_plain_data(trial, without={"mutant", "counterexample"}),
                "witness": to_json_value(trial.counterexample),
            }
            for trial in report.trials
        ],
    }
