"""`drill class`: grade a class, and see what it knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from grader.bank.bank_files import write_atomically
from grader.commands import entrypoint, output
from grader.commands.options import (
    Jobs,
    JsonOption,
    Seed,
    argument,
    command_context,
    flag,
    ids,
    option,
    require_page_path,
)
from grader.model.errors import UsageError
from grader.model.number_format import format_count, format_minutes, join_words

if TYPE_CHECKING:
    from grader.commands.classes import ClassProgress


ClassFileOption = Annotated[
    Path | None, option("FILE", "A class.yaml: questions, parts, weights, deadline.", "--class")
]
IsolationOption = Annotated[
    str, option("LEVEL", "At least strong (if not given), limited or process.")
]
ResultsArgument = Annotated[Path, argument("RESULTS", "What drill class grade has written.")]


def grade(
    ctx: typer.Context,
    submissions: Annotated[Path, argument("SUBMISSIONS", "A folder or a zip file.")],
    out: Annotated[Path, option("RESULTS", "Where the verdicts are kept.")],
    question: Annotated[
        list[str] | None, option("ID", "A question of the class (repeatable).", autocompletion=ids)
    ] = None,
    file: ClassFileOption = None,
    jobs: Jobs = None,
    isolation: IsolationOption = "",
    seed: Seed = None,
    stretch: Annotated[bool, flag("--stretch", "Measure what is only reported, too.")] = False,
    strict_text: Annotated[
        bool, flag("--strict-text", "Read text answers literally: '37 users' is no number.")
    ] = False,
    layout: Annotated[str, option("NAME", "How files are laid out, if it does not show.")] = "",
    pattern: Annotated[str, option("PATH", "Their paths, like '{student}/{question}.py'.")] = "",
    scheduler: Annotated[str, option("ADDRESS", "Grade on this Dask cluster.")] = "",
    json: JsonOption = False,
) -> int:
    """Grade a class; begun again, it goes on where it was."""
    from grader.commands.classes import ClassPlan, grade_class

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
        with output.show_status() as doing:
            begun = monotonic()
            before = 0
            for one in grade_class(command_context(ctx), plan):
                entry = one.entry
                total = one.total_files
                known += one.was_known and not entry.hand_in.fault
                if entry.points is None:
                    faults[entry.note] += 1
                else:
                    verdicts[entry.verdict] += 1
                how_far = f"{one.done} of {total}"
                if one.was_known:  # which says nothing of the rate
                    begun = monotonic()
                    before = one.done
                else:
                    took = (monotonic() - begun) / (one.done - before)
                    how_far += f", {format_minutes(took * (total - one.done) / 60)} left"
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
    output.write(f"{format_count(total, 'submission')}: {', '.join(counts) or 'none graded'}")
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
    if entry.hand_in.fault:
        verdict = "ERROR"
        about = entry.hand_in.fault
    elif one.was_known or entry.verdict == "pass":
        return ""
    elif report:
        # As the report counts them: what gives the numbers exactly, and what gives a part of them.
        ideas = (i.id if i.exact else f"maybe {i.id}" for i in report.misconceptions)
        about = "the starter, unchanged" if report.unchanged else ", ".join(ideas)
        verdict = report.verdict.upper()
    return f"{verdict:7} {entry.hand_in.student}  {entry.hand_in.question}  {about}".rstrip()


def _write_line(one: ClassProgress) -> None:
    entry = one.entry
    report = one.entry.report
    output.write_json(
        indent=None, done=one.done, of=one.total_files, **asdict(entry.hand_in), known=one.was_known,
        verdict=report.verdict if report else "error" if entry.hand_in.fault else None,
        points=entry.points,
        misconceptions=[idea.id for idea in report.misconceptions] if report else [],
        not_graded=entry.note if entry.points is None else "",
    )  # fmt: skip


def report(
    results: ResultsArgument,
    html: Annotated[Path | None, option("FILE", "Write a page that stands alone.")] = None,
    feedback: Annotated[Path | None, option("DIR", "Write a page for each student.")] = None,
    json: JsonOption = False,
) -> None:
    """Show who passed what, and which ideas a class holds."""
    from grader.classroom.hand_ins import MAX_LISTED_FILES
    from grader.classroom.report import class_blocks, class_summary
    from grader.classroom.results import ClassResults
    from grader.classroom.student_feedback import write_feedback
    from grader.commands.classes import hidden_check_notices, report_class
    from grader.reports.json import to_plain_data

    require_page_path(html)
    if feedback:
        with ClassResults(results) as read:
            students, changed, others = write_feedback(read, feedback)
            for said in hidden_check_notices(read.class_settings):
                output.info(said)
        if others:
            names = join_words(others, MAX_LISTED_FILES)
            output.warn(f"{feedback}: pages of nobody in {results}: {names}; remove what is old")
        if not json:
            files = format_count(changed, "file")
            output.write(f"{format_count(students, 'student')}, {files} written in {feedback}")
        elif html is None:
            output.write_json(students=students, changed=changed)
        if html is None:
            return
    found = report_class(results, html=html)
    if json:
        output.write_json(**to_plain_data(found))
    elif html:
        output.write(class_summary(found))
        output.write(f"the page is in {html}")
    else:
        output.show_page(class_blocks(found, str(results)), paged=True)


def export(
    results: ResultsArgument,
    csv: Annotated[Path | None, option("FILE", "A table for spreadsheets.")] = None,
    jsonl: Annotated[Path | None, option("FILE", "A line of JSON each, the report in it.")] = None,
    gradescope: Annotated[Path | None, option("FILE", "results.json of one student.")] = None,
    student: Annotated[str | None, option("NAME", "Of this one alone.")] = None,
    wide: Annotated[bool, flag("--wide", "CSV: one row per student.")] = False,
) -> None:
    """Write what a class earned for other programs."""
    from grader.classroom.export import export
    from grader.classroom.results import ClassResults

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
    with ClassResults(results) as found:
        for name, file in files.items():
            pieces = export(found, name, student=student, wide=wide)
            if str(file) == "-":
                for piece in pieces:
                    output.write(piece, end="")
            else:
                write_atomically(file, pieces)
                output.info(f"{file}: written")


def gradescope(
    ctx: typer.Context,
    out: Annotated[Path, option("FILE", "The archive to upload.")],
    questions: Annotated[list[str] | None, argument("[ID]...", autocompletion=ids)] = None,
    file: ClassFileOption = None,
    isolation: IsolationOption = "",
) -> None:
    """Make an autograder for Gradescope."""
    from grader.commands import autograder

    write_atomically(
        out, [autograder.build_autograder(command_context(ctx), questions or (), isolation, file)]
    )
    output.write(f"{out}: upload it under Configure Autograder")
    output.info("it holds the references: it is for the platform alone")


def schema() -> None:
    """Print the JSON Schema of a class.yaml, for editors."""
    from grader.commands.classes import class_schema

    output.write(class_schema().rstrip("\n"))
