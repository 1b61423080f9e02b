"""Pages and JSON of the audit of a question: the matrix, its checks and its mutants.

The matrix shows which check stops which wrong program.  A mutant is the reference with one small
change, such as `<` for `<=`; it is killed if a check fails on it, and otherwise survives.
"""

from __future__ import annotations

import itertools
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

_MAX_NAMES = (40, 28)  # columns of a program's name, if there is room and if there is not
_NAMED = "named"
_MARKS = dict(zip(MatrixCell, ".x-? ", strict=True))  # in the order of the members
_MEANINGS = {  # with styles
    "X": ("stopped by a check that claims it", BOLD),
    "x": ("stopped", GREEN),
    "-": ("stopped before, by a check it needs", ""),
    "?": ("depends on the seed", BOLD),
    "!": ("claimed, and not stopped", RED),
    ".": ("passes", ""),
    " ": ("not run", ""),
}


def audit_page(report: AuditReport) -> Blocks:
    """Yield the page of an audit: matrix, budgets, notes, remarks, faults and a summary."""
    yield Heading(report.question, _effort(report))
    yield BlankLine()
    if report.programs:
        yield from _matrix_section(report)
    trivial = [answer for answer in report.trivial if answer.made]
    if stopped := ", ".join(answer.name for answer in trivial if not answer.accepted):
        yield Paragraph(f"trivial answers stopped: {stopped}", indent=2)
    for answer in trivial:
        if answer.accepted:
            yield Paragraph(f"{answer.name}, {answer.about}", "  trivial answer accepted:")
    for budget in report.budgets:
        text = f"{budget.right} takes {budget.right_share:.2f} of its budget"
        if budget.wrong:
            text += f"; {budget.wrong} {budget.wrong_share:.2f} of it"
        yield Paragraph(text, f"{budget.check}: ", "", indent=2)
    if passed := ", ".join(a.name for a in report.accepted if a.passed == a.seeds):
        yield Paragraph(f"right solutions passed: {passed}", indent=2)
    if (planted := report.planted) is not None:
        count = planted.named + len(planted.missed)
        text = f"{planted.named} of {count} named ({planted.named_share:.0%})"
        yield Paragraph(text, "planted:", "", 2)
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


def _effort(report: AuditReport | MutationReport) -> str:
    return f"{format_count(len(report.seeds), 'seed')}, {format_duration(report.seconds)}"


def _matrix_section(report: AuditReport) -> Blocks:
    """Yield the matrix, its legend, and how many programs each check stops, or is first to stop."""
    yield _matrix(report)
    yield BlankLine()
    used = {cell_mark(row, check.id) for row in report.programs for check in report.checks}
    legend = [
        f"{mark.strip() or 'blank'} {meaning}"
        for mark, (meaning, _) in _MEANINGS.items()
        if mark in used
    ]
    yield Paragraph(", ".join(legend), indent=2)
    yield BlankLine()
    rows = [(f"  {check.id}", str(check.stops), str(check.first)) for check in report.checks]
    yield Table(("", "stops", "first"), rows, right=("stops", "first"))
    yield BlankLine()


def cell_mark(row: AuditRow, check: str) -> str:
    """Return the character of a cell of the matrix, a key of `_MEANINGS`.

    It is "X" or "!" instead of "x" or "." if the question claims that the check stops the program.
    """
    cell = row.cells[check]
    if check in row.claimed_by and cell is MatrixCell.KILLS:
        return "X"
    if check in row.claimed_by and cell is MatrixCell.PASSES:
        return "!"
    return _MARKS[cell]


def _matrix(report: AuditReport) -> Figure:
    """Draw the matrix: a row for each program, and a column of marks for each check.

    Each check's name has a line above the marks, with a `|` for every column to its left.  If the
    window is too narrow, names of programs are cut, or else columns move together, or else both.
    """
    checks = [check.id for check in report.checks]
    longest = max(len(row.name) for row in report.programs)
    last_width = max(len(_NAMED), *(len(_named(row)) for row in report.programs))

    def draw(width: int) -> Iterator[Line]:
        for step, most in itertools.product((2, 1), _MAX_NAMES):
            gap = "  " if step == 1 else ""  # before the last column
            name_width = min(longest, most)
            labels = [*checks, gap + " " * last_width]
            ends = [name_width + 4 + step * i + len(label) for i, label in enumerate(labels)]
            if max(ends) <= width:
                break
        for index, label in enumerate([*checks, gap + _NAMED]):
            yield " " * (name_width + 4) + ("|" + " " * (step - 1)) * index + label
        for row in report.programs:
            yield _matrix_row(row, checks, name_width, " " * (step - 1), gap)

    return Figure(draw, tuple(_spoken_row(row, checks) for row in report.programs))


def _matrix_row(
    row: AuditRow, checks: list[str], name_width: int, separator: str, gap: str
) -> Line:
    start, bracket, variant = row.name.partition(" (")  # the number of a variant is never cut
    name = truncate(start, name_width - len(bracket + variant)) + bracket + variant
    spans = [(f"  {pad(name, name_width)}  ", "")]
    for check in checks:
        mark = cell_mark(row, check)
        style = _MEANINGS[mark][1]
        if row.name == "reference" and mark not in {".", " "}:
            style = RED
        spans += [(mark, style), (separator, "")]
    is_misnamed = row.misconception is not None and row.named_well < row.seeds
    return (*spans, (gap + _named(row), RED if is_misnamed else ""))


def _spoken_row(row: AuditRow, checks: list[str]) -> str:
    by_mark: dict[str, list[str]] = {}
    for check in checks:
        by_mark.setdefault(cell_mark(row, check), []).append(check)
    facts = []
    for mark, (meaning, _) in _MEANINGS.items():
        if mark in by_mark:
            facts.append(f"{meaning}: {', '.join(by_mark[mark])}")
    if _named(row):
        facts.append(f"named {_named(row)}")
    return f"{row.name}: {'; '.join(facts)}"


def _named(row: AuditRow) -> str:
    if row.misconception is not None:
        return f"{row.named_well} of {row.seeds}"
    if row.name == "starter":
        return ", ".join(row.named) or "nothing"
    return ""


def _summary(report: AuditReport) -> str:
    if not report.ok:
        return f"{format_count(len(report.problems), 'problem')}: the question is not ready"
    idea_rows = [row for row in report.programs if row.misconception is not None]
    count = len({row.misconception for row in idea_rows})
    ideas = f"{count} misconceptions are"
    checks = "the checks that claim them"
    if count == 1:
        ideas = "the misconception is"
        checks = "the check that claims it"
    if not all(row.claimed_by for row in idea_rows):
        checks = "a check"
    text = "the reference passes, the starter does not,"
    text += f" {ideas} killed by {checks} and named, no check is idle"
    if report.remarks:
        text += f"; {format_count(len(report.remarks), 'remark')}"
    return text


# -- mutants ---------------------------------------------------------------------------------------


def mutation_page(report: MutationReport) -> Blocks:
    """Yield the page of mutants: counts, checks that kill, survivors, and the score.

    A survivor has its line, and a case that shows the difference if the search found one.
    """
    yield Heading(f"{report.question}: mutants of the reference", _effort(report))
    yield BlankLine()
    yield Paragraph(_counts(report), indent=2)
    killers = Counter(t.killed_by for t in report.trials if t.fate is MutantFate.KILLED)
    checks = ", ".join(f"{check} {count}" for check, count in killers.most_common())
    yield Paragraph(f"killed by {checks or 'nothing'}", indent=2)
    for trial in report.trials:
        if trial.fate in {MutantFate.SURVIVED, MutantFate.FLAKY}:
            yield BlankLine()
            yield from _survivor(trial, len(report.seeds))
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
    equivalent = report.count(MutantFate.EQUIVALENT)
    flaky = report.count(MutantFate.FLAKY)
    counts = [
        f"{report.count(MutantFate.KILLED)} killed",
        f"{report.count(MutantFate.SURVIVED)} survive",
        f"{report.count(MutantFate.EXPLAINED)} explained",
        f"{equivalent} equivalent",
    ]
    if equivalent:
        counts[-1] += f" (the same on {report.searched:,} inputs)"
    if flaky:
        counts.insert(2, f"{flaky} on some seeds only")
    return f"{len(report.trials)} of {report.derived} mutants tried: {', '.join(counts)}"


def _survivor(trial: MutantTrial, seeds: int) -> Blocks:
    mutant = trial.mutant
    is_flaky = trial.fate is MutantFate.FLAKY
    title = "FLAKY" if is_flaky else "SURVIVES"
    yield Paragraph(f"{_place(mutant)}: {mutant.rule}", title, RED, indent=2)
    old, new = (" ".join(text.split()) for text in (mutant.was, mutant.becomes))
    yield CodeBlock((f"- {old}", f"+ {new}"))
    if is_flaky:
        stopped = seeds - len(trial.passing_seeds)
        yield Paragraph(f"stopped on {stopped} of {seeds} seeds, by {trial.killed_by}", indent=4)
    facts = {}
    if (example := trial.counterexample) is not None:
        run = "" if example.run == "main" else f", run {example.run}"
        facts = {
            "differs on": f"{example.reach}: {example.case}{run}, seed {example.seed}",
            "": example.inputs,
            "there": example.sentence,
            "to do": example.advice,
        }
    elif not is_flaky:
        facts = {"to do": "give it cases at this bound and on both sides"}
    for label, text in facts.items():
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
    """Return an audit as data for JSON, with the mutants of the question if they were tried."""
    data = {**to_plain_data(report), "ok": report.ok}
    if mutants is not None:
        data["mutants"] = mutation_to_json(mutants)
    return data


def mutation_to_json(report: MutationReport) -> dict[str, object]:
    """Return the results of mutants as data for JSON, with the number of mutants of each fate."""
    return {
        **to_plain_data(report, without={"question", "seeds", "trials"}),
        "tried": len(report.trials),
        **{fate.value: report.count(fate) for fate in MutantFate},
        "score": report.score,
        "ok": report.ok,
        "mutants": [
            {
                "in": trial.mutant.scope,
                **to_plain_data(trial.mutant, without={"scope", "source"}),
                **to_plain_data(trial, without={"mutant", "counterexample"}),
                "witness": to_json_value(trial.counterexample),
            }
            for trial in report.trials
        ],
    }
