"""`drill class`: grade a class, and see what it knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from grader.bank.storage import write_whole
from grader.cli import entrypoint, output
from grader.cli.context import Jobs, Json, Seed, argument, context, flag, ids, need_page, option
from grader.model.errors import UsageError
from grader.model.numerals import joined, quantity, span

if TYPE_CHECKING:
    from grader.app.classes import ClassProgress


ClassYaml = Annotated[
    Path | None, option("FILE", "A class.yaml: questions, parts, weights, deadline.", "--class")
]
Level = Annotated[str, option("LEVEL", "At least strong (if not given), limited or process.")]
Written = Annotated[Path, argument("RESULTS", "What drill class grade has written.")]


def grade(
    ctx: typer.Context,
    submissions: Annotated[Path, argument("SUBMISSIONS", "A folder or a zip file.")],
    out: Annotated[Path, option("RESULTS", "Where the verdicts are kept.")],
    question: Annotated[
        list[str] | None, option("ID", "A question of the class (repeatable).", autocompletion=ids)
    ] = None,
    file: ClassYaml = None,
    jobs: Jobs = None,
    isolation: Level = "",
    seed: Seed = None,
    stretch: Annotated[bool, flag("--stretch", "Measure what is only reported, too.")] = False,
    strict_text: Annotated[
        bool, flag("--strict-text", "Read text answers literally: '37 users' is no number.")
    ] = False,
    layout: Annotated[str, option("NAME", "How files are laid out, if it does not show.")] = "",
    pattern: Annotated[str, option("PATH", "Their paths, like '{student}/{question}.py'.")] = "",
    scheduler: Annotated[str, option("ADDRESS", "Grade on this Dask cluster.")] = "",
    json: Json = False,
) -> int:
    """Grade a class; begun again, it goes on where it was."""
    from grader.app.classes import ClassPlan, grade_class

    entrypoint.end_by_signals()
    if scheduler:
        import logging

        logging.disable()  # what goes wrong there is said in a sentence, not in its tracebacks
    plan = ClassPlan(
        submissions, tuple(question or ()), out, seed=seed, level=isolation, jobs=jobs,
        stretch=stretch, strict_text=strict_text, layout=layout, pattern=pattern, file=file,
        scheduler=scheduler,
    )  # fmt: skip
    verdicts = Counter[str]()
    faults = Counter[str]()
    known = 0
    total = 0
    try:
        with output.waiting() as doing:
            begun = monotonic()
            before = 0
            for one in grade_class(context(ctx), plan):
                entry = one.entry
                total = one.of
                known += one.known and not entry.handed.fault
                if entry.points is None:
                    faults[entry.note] += 1
                else:
                    verdicts[entry.verdict] += 1
                how_far = f"{one.done} of {total}"
                if one.known:  # which says nothing of the rate
                    begun = monotonic()
                    before = one.done
                else:
                    took = (monotonic() - begun) / (one.done - before)
                    how_far += f", {span(took * (total - one.done) / 60)} left"
                doing(how_far, _line(one))
                if json:
                    _write_line(one)
    except KeyboardInterrupt:
        done = verdicts.total() + faults.total()
        output.info(f"{done} of {total} are kept; begun again, it goes on from there")
        raise
    status = entrypoint.EXIT_GRADER_FAULT if faults else 0
    if json:
        return status
    counts = [f"{count} {name}" for name, count in verdicts.most_common()]
    output.write(f"{quantity(total, 'submission')}: {', '.join(counts) or 'none graded'}")
    if known:
        output.write(f"{known} of them graded before")
    for fault, count in faults.items():
        output.warn(f"not graded, and not the students' fault ({count}): {fault}")
    if faults:
        output.info("begin it again: what was graded is kept")
    output.write(f"\nNext: drill class report {out}")
    return status


def _line(one: ClassProgress) -> str:
    """Return what is said of a submission as it is done with: nothing where it passes."""
    entry = one.entry
    report = one.entry.report
    verdict = "NOT GRADED"
    about = entry.note
    if entry.handed.fault:
        verdict = "ERROR"
        about = entry.handed.fault
    elif one.known or entry.verdict == "pass":
        return ""
    elif report:
        # As the report counts them: what gives the numbers exactly, and what gives a part of them.
        ideas = (i.id if i.exact else f"maybe {i.id}" for i in report.misconceptions)
        about = "the starter, unchanged" if report.unchanged else ", ".join(ideas)
        verdict = report.verdict.upper()
    return f"{verdict:7} {entry.handed.student}  {entry.handed.question}  {about}".rstrip()


def _write_line(one: ClassProgress) -> None:
    entry = one.entry
    report = one.entry.report
    output.document(
        indent=None, done=one.done, of=one.of, **asdict(entry.handed), known=one.known,
        verdict=report.verdict if report else "error" if entry.handed.fault else None,
        points=entry.points,
        misconceptions=[idea.id for idea in report.misconceptions] if report else [],
        not_graded=entry.note if entry.points is None else "",
    )  # fmt: skip


def report(
    results: Written,
    html: Annotated[Path | None, option("FILE", "Write a page that stands alone.")] = None,
    feedback: Annotated[Path | None, option("DIR", "Write a page for each student.")] = None,
    json: Json = False,
) -> None:
    """Show who passed what, and which ideas a class holds."""
    from grader.app.classes import report_class, said_of_hidden
    from grader.classroom.hand_in import SHOWN
    from grader.classroom.report import class_blocks, summary
    from grader.classroom.results import Results
    from grader.classroom.student import write_feedback
    from grader.reports.json import plain

    need_page(html)
    if feedback:
        with Results(results) as read:
            students, changed, others = write_feedback(read, feedback)
            for said in said_of_hidden(read.terms):
                output.info(said)
        if others:
            names = joined(others, SHOWN)
            output.warn(f"{feedback}: pages of nobody in {results}: {names}; remove what is old")
        if not json:
            files = quantity(changed, "file")
            output.write(f"{quantity(students, 'student')}, {files} written in {feedback}")
        elif html is None:
            output.document(students=students, changed=changed)
        if html is None:
            return
    found = report_class(results, html=html)
    if json:
        output.document(**plain(found))
    elif html:
        output.write(summary(found))
        output.write(f"the page is in {html}")
    else:
        output.show(class_blocks(found, str(results)), paged=True)


def export(
    results: Written,
    csv: Annotated[Path | None, option("FILE", "A table for spreadsheets.")] = None,
    jsonl: Annotated[Path | None, option("FILE", "A line of JSON each, the report in it.")] = None,
    gradescope: Annotated[Path | None, option("FILE", "results.json of one student.")] = None,
    student: Annotated[str | None, option("NAME", "Of this one alone.")] = None,
    wide: Annotated[bool, flag("--wide", "CSV: one row per student.")] = False,
) -> None:
    """Write what a class earned for other programs."""
    from grader.classroom.export import export
    from grader.classroom.results import Results

    wanted = {"csv": csv, "jsonl": jsonl, "gradescope": gradescope}
    files = {name: file for name, file in wanted.items() if file}
    if not files:
        raise UsageError(
            "expected a format, found none", "one or more of --csv, --jsonl, --gradescope"
        )
    if wide and csv is None:
        raise UsageError("--wide is for --csv")
    if [str(file) for file in files.values()].count("-") > 1:
        raise UsageError("expected one format on standard output, found several")
    with Results(results) as found:
        for name, file in files.items():
            pieces = export(found, name, student=student, wide=wide)
            if str(file) == "-":
                for piece in pieces:
                    output.write(piece, end="")
            else:
                write_whole(file, pieces)
                output.info(f"{file}: written")


def gradescope(
    ctx: typer.Context,
    out: Annotated[Path, option("FILE", "The archive to upload.")],
    questions: Annotated[list[str] | None, argument("[ID]...", autocompletion=ids)] = None,
    file: ClassYaml = None,
    isolation: Level = "",
) -> None:
    """Make an autograder for Gradescope."""
    from grader.app import autograder

    write_whole(out, [autograder.make(context(ctx), questions or (), isolation, file)])
    output.write(f"{out}: upload it under Configure Autograder")
    output.info("it holds the references: it is for the platform alone")


def schema() -> None:
    """Print the JSON Schema of a class.yaml, for editors."""
    from grader.app.classes import schema

    output.write(schema().rstrip("\n"))
