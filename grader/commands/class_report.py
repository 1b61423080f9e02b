"""`drill class report`, `export` and `schema`: show the results of a class, or write them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from grader.bank.bank_files import write_atomically
from grader.commands import output
from grader.commands.options import JsonOption, argument, flag, option, require_page_path
from grader.model.errors import UsageError
from grader.model.number_format import format_count, join_words

if TYPE_CHECKING:
    from grader.classroom.report import ClassFindings


def report_class(folder: Path, *, html: Path | None = None) -> ClassFindings:
    """Return the findings on a class from its results; write them as a page to `html` if given."""
    from grader.classroom.report import class_findings
    from grader.classroom.report_page import class_page
    from grader.classroom.results import ClassResults

    with ClassResults(folder) as results:
        findings = replace(
            class_findings(results.class_settings, results.counting_entries()),
            aside=tuple(results.unassigned_files()),
        )
        if html:
            page = class_page(findings, results.counting_entries(), str(folder))
            write_atomically(html, page)
        return findings


# The commands.

ResultsArgument = Annotated[Path, argument("RESULTS", "What drill class grade has written.")]


def report(
    results: ResultsArgument,
    html: Annotated[Path | None, option("FILE", "Write a page that stands alone.")] = None,
    feedback: Annotated[Path | None, option("DIR", "Write a page for each student.")] = None,
    json: JsonOption = False,
) -> None:
    """Show who passed what, and which ideas a class holds."""
    from grader.classroom.report import class_blocks, class_summary
    from grader.reports.json import to_plain_data

    require_page_path(html)
    if feedback:
        students, changed = _write_feedback(results, feedback)
        if json and html is None:
            output.write_json(students=students, changed=changed)
        elif not json:
            files = format_count(changed, "file")
            output.write(f"{format_count(students, 'student')}, {files} written in {feedback}")
        if html is None:
            return
    findings = report_class(results, html=html)
    if json:
        output.write_json(**to_plain_data(findings))
    elif html:
        output.write(class_summary(findings))
        output.write(f"the page is in {html}")
    else:
        output.show_page(class_blocks(findings, str(results)), paged=True)


def _write_feedback(folder: Path, feedback: Path) -> tuple[int, int]:
    """Write a page for each student; return the numbers of students and of changed files.

    Note the questions whose feedback is shortened because of hidden checks, and warn of pages in
    `feedback` of students who are not in the results.
    """
    from grader.classroom.hand_ins import MAX_LISTED_FILES
    from grader.classroom.notices import hidden_check_notices
    from grader.classroom.results import ClassResults
    from grader.classroom.student_feedback import write_feedback

    with ClassResults(folder) as results:
        students, changed, others = write_feedback(results, feedback)
        for notice in hidden_check_notices(results.class_settings):
            output.info(notice)
    if others:
        names = join_words(others, MAX_LISTED_FILES)
        output.warn(f"{feedback}: pages of nobody in {folder}: {names}; remove what is old")
    return students, changed


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

    paths = {"csv": csv, "jsonl": jsonl, "gradescope": gradescope}
    files = {name: path for name, path in paths.items() if path}
    if not files:
        raise UsageError(
            "expected a format, found none", "one or more of --csv, --jsonl, --gradescope"
        )
    if wide and csv is None:
        raise UsageError("--wide is for --csv")
    if [str(path) for path in files.values()].count("-") > 1:
        raise UsageError("expected one format on standard output, found several")
    with ClassResults(results) as opened:
        for name, path in files.items():
            pieces = export(opened, name, student=student, wide=wide)
            if str(path) == "-":
                output.write("".join(pieces), end="")
            else:
                write_atomically(path, pieces)
                output.info(f"{path}: written")


def schema() -> None:
    """Print the JSON Schema of a class.yaml, for editors."""
    from grader.classroom.class_file import class_schema

    output.write(class_schema().rstrip("\n"))
