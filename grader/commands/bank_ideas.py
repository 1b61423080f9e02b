"""`drill bank preview` and `bank new-idea`: show the page of a wrong idea, or add one to a bank.

A new idea comes from a class in which files of several students gave equal wrong results.  Its
program was written by a stranger.  So it is graded in a worker like any submission, shortened as
text and copied into the bank; this module neither runs nor parses it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader import bank
from grader.bank.bank_files import is_id
from grader.commands import entrypoint, files, output
from grader.commands.bank_audit import banks_for
from grader.commands.context import Context, require_torch
from grader.commands.options import MAX_SEED, Id, JsonOption, argument, command_context, option
from grader.model.errors import UsageError, did_you_mean
from grader.model.number_format import format_count
from grader.model.report import NON_FAILING_VERDICTS, Report, Verdict
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.model.audit import AuditReport
    from grader.model.classroom import HandIn
    from grader.model.question import Question

STARTER_NAME = "starter"
MIN_NAME_LENGTH = 4  # letters; programs are not searched for shorter words of students' names
TODO_FEEDBACK = "TODO what is wrong, why, and what to do instead"
_FUTURE_IMPORT = re.compile(rb"^from __future__ import [^\n]*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+")
_BLOCK_START = re.compile(r"\n(?=[^\s)\]}])")  # a line that is not indented
_ELSEWHERE = "a new idea goes into a bank that you can write"


def _idea_programs(question: Question, name: str | None) -> list[bytes]:
    """Return the program of each variant of an idea, or the starter.

    UsageError, with the names there are, for None or an unknown name.
    """
    if name == STARTER_NAME:
        return [question.starter]
    if name and name in question.variants:
        # A variant is executed on top of the reference, which has the imports from __future__:
        # they must come first.
        variants = [_FUTURE_IMPORT.sub(b"", source) for source in question.variants[name]]
        return [b"\n\n".join([question.reference, code.lstrip(b"\n")]) for code in variants]
    names = [*question.variants, STARTER_NAME]
    text = f"expected the name of a misconception of {question.id}, found none"
    if name is not None:
        text = f"{question.id} has no misconception {name!r}{did_you_mean(name, names)}"
    raise UsageError(text, hint=f"it has {', '.join(names)}")


class NewIdea(NamedTuple):
    """An idea that was written, and the audit of its question."""

    outputs: str  # the digest of the results that all files of the group have
    answers: int  # number of files in the group
    text: str  # of the program, as it was copied
    checks: tuple[str, ...]  # that stop it
    known: tuple[str, ...]  # matching ideas that the question had before
    file: Path
    line: int  # of the feedback, which is still to be written
    audit: AuditReport


def create_idea(
    ctx: Context,
    question_id: str,
    results: Path,
    group: str,
    name: str,
    *,
    progress: Callable[[str], None] = lambda _: None,
) -> NewIdea:
    """Add an idea to a question, from a group of files with equal wrong results, and audit it.

    The shortest usable program of the group becomes the idea, even if the audit finds problems.

    Args:
        ctx: The surroundings of the command.
        question_id: ID, or BANK/ID.
        results: The folder that `drill class grade` has written.
        group: First digits of the group's digest, `Report.outputs`.
        name: Name of the new idea, such as copy-to-all.
        progress: Called with a line on each step of the audit.

    Raises:
        DrillError: The group is unknown, all of its programs are unusable, the name is taken, or
            the question cannot be loaded with the idea.  No idea is written then.
    """
    from grader.classroom.results import ClassResults

    question = bank.load_question(banks_for(ctx, question_id), question_id)
    _check_new_idea(question, name)
    with ClassResults(results) as class_results:
        outputs, answers = class_results.equal_answers(question.id, group)
        seed = class_results.class_settings.seed
    text, report = _shortest_program(question, outputs, answers, seed)
    checks = _stopping_checks(report)
    killed_by = checks[0] if len(checks) == 1 else f"[{', '.join(checks)}]"
    cell = (
        f'# %% {name}\n# killed_by: {killed_by}\n"""{TODO_FEEDBACK}."""\n'
        f"# From a class in which {len(answers)} files computed the same\n{text.rstrip()}\n"
    )
    file, line, audit = _write_idea(question, cell, progress)
    return NewIdea(
        outputs=outputs,
        answers=len(answers),
        text=text,
        checks=checks,
        known=tuple(idea.id for idea in report.misconceptions),
        file=file,
        line=line,
        audit=audit,
    )


def _check_new_idea(question: Question, name: str) -> None:
    """Raise UsageError if an idea of this name cannot be added to the question's ideas.py."""
    from grader import forms

    if forms.form_of(question.spec).is_text:
        raise UsageError(
            f"{question.id} is answered by texts, and an idea is a program",
            hint="write the idea into the spec: what the reference would compute with it",
        )
    if question.spec.code.ideas or not question.bank.is_dir():
        raise UsageError(
            f"{question.spec_path}: expected ideas in a file of their own",
            hint="write the idea below the others, in code.ideas",
        )
    if not is_id(name) or name in {*question.variants, STARTER_NAME, "reference"}:
        raise UsageError(
            f"--name: expected lower-case words joined by hyphens that {question.id} does not have "
            f"already, found {name!r}",
            hint="say what is believed, as in copy-to-all",
        )


def _write_idea(
    question: Question, cell: str, progress: Callable[[str], None]
) -> tuple[Path, int, AuditReport]:
    """Add a cell, `# %% NAME` and a program, to ideas.py; return its path, a line and the audit.

    The line is that of the feedback, which is still TODO.  If the question cannot be loaded with
    the cell, or its audit breaks off, the file is restored.
    """
    from grader.audit.audit import AuditPlan, audit_questions

    file = question.bank / "drills" / question.id / "ideas.py"
    before = file.read_bytes() if file.exists() else b""
    after = cell.encode()
    if before:
        after = before.rstrip() + b"\n\n" + after
    line = after[: after.index(TODO_FEEDBACK.encode())].count(b"\n") + 1
    with ExitStack() as undo:
        if before:
            undo.callback(files.replace, file, before, _ELSEWHERE)
        else:
            files.refuse_link(file.parent)
            file.parent.mkdir(parents=True, exist_ok=True)
            undo.callback(file.unlink, missing_ok=True)
        files.replace(file, after, _ELSEWHERE)
        changed_question = bank.load_question([question.bank], question.id)
        ((audit, _),) = audit_questions([changed_question], AuditPlan(), progress)
        undo.pop_all()
    return file, line, audit


def _shortest_program(
    question: Question, outputs: str, answers: Sequence[tuple[HandIn, bytes]], seed: int
) -> tuple[str, Report]:
    """Return the shortest failing program without names of students in it, and its report.

    Its blocks that the reference has, too, are cut if the rest, appended to the reference, gives
    the same results as the whole program.  UsageError if no program is left.
    """
    from grader.explain.session import GradingSession

    students = [f"{hand_in.student} {hand_in.name} {hand_in.email}" for hand_in, _ in answers]
    name_words = {word for word in _words(" ".join(students)) if len(word) >= MIN_NAME_LENGTH}
    programs = {program.decode("utf-8-sig", "replace") for _, program in answers}
    reference = question.reference.decode()
    reference_blocks = _blocks(reference)
    with GradingSession(question) as session:
        for source in sorted(programs, key=lambda text: (len(text), text)):
            report = session.grade(source.encode(), seed=seed)
            if not _stopping_checks(report) or not report.outputs:
                continue
            # Try the program without the blocks that the reference has, below the reference.
            blocks = [block for block in _blocks(source) if block not in reference_blocks]
            own_part = "\n\n\n".join(filter(None, blocks)) + "\n"
            layered = session.grade(f"{reference}\n\n\n{own_part}".encode(), seed=seed)
            text = own_part if layered.outputs == report.outputs else source
            if name_words.isdisjoint(_words(text)):
                return text, report
    raise UsageError(
        f"no program of the group {outputs} can be used: each passes by now, or has the name "
        "of a student in it",
        hint="write one by hand, in drills/ID/ideas.py",
    )


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _stopping_checks(report: Report) -> tuple[str, ...]:
    return tuple(
        check.id
        for check in report.checks
        if check.verdict not in NON_FAILING_VERDICTS and not check.stretch
    )


def _blocks(text: str) -> list[str]:
    """Split the text of a program into its top-level blocks, without lines of comments."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return [block.strip() for block in _BLOCK_START.split("\n".join(lines))]


def new_idea(
    ctx: typer.Context,
    question: Id,
    group: Annotated[str, argument("GROUP", "Its first digits.")],
    results: Annotated[Path, option("RESULTS", "Of the class.", "--from", show_default=False)],
    name: Annotated[str, option("NAME", "What the idea is called.", show_default=False)],
    json: JsonOption = False,
) -> int:
    """Make a misconception of equal answers, and audit it."""
    from grader.reports.audit import audit_page, audit_to_json

    context = command_context(ctx)
    with output.show_status() as doing:
        idea = create_idea(context, question, results, group, name, progress=doing)
    status = 0 if idea.audit.ok else entrypoint.EXIT_BANK_FAULT
    if output.emit_json(
        json,
        question=question,
        group=idea.outputs,
        files=idea.answers,
        checks=idea.checks,
        known=idea.known,
        written=[idea.file],
        todo=idea.line,
        audit=audit_to_json(idea.audit),
    ):
        return status
    count = format_count(idea.answers, "file")
    output.write(f"{idea.outputs}: {count}, stopped by {', '.join(idea.checks)}")
    if idea.known:
        output.write(f"the question knows {', '.join(idea.known)}, which computes the same")
    output.write(f"\n{indent(idea.text.rstrip(), '  ')}\n")
    output.show_page(audit_page(idea.audit))
    output.write(f"\n{context.short_path(idea.file)}:{idea.line}")
    output.info("a stranger wrote this: read it before you keep it in your bank")
    output.write(f"\nNext: read the program, and write the feedback of {name} where TODO stands")
    return status


def preview(
    ctx: typer.Context,
    question: Id,
    name: Annotated[
        str | None, argument("NAME", "A misconception of it, or starter; without, see the names.")
    ] = None,
    seed: Annotated[int, option("N", "Of the cases.", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> int:
    """Show what somebody sees who holds a misconception."""
    from grader.explain.session import GradingSession
    from grader.grading.session import GradeOptions

    context = command_context(ctx)
    loaded = bank.load_question(banks_for(context, question), question, seed)
    require_torch(loaded)
    options = GradeOptions(is_program=name != STARTER_NAME)
    previews: list[tuple[str, Report]] = []
    programs = _idea_programs(loaded, name)
    with GradingSession(loaded) as session:
        for number, source in enumerate(programs, 1):
            label = name if number == 1 else f"{name} ({number})"
            previews.append((str(label), session.grade(source, seed=seed, options=options)))
    if json:
        from grader.reports.json import to_json

        pages = [{"name": label, "report": to_json(report)} for label, report in previews]
        output.write_json(pages=pages)
    else:
        command = f"drill bank preview {shlex.quote(question)} {name}{context.bank_option} --json"
        _show_previews(previews, command)
    is_faulty = any(report.verdict == Verdict.INVALID for _, report in previews)
    return entrypoint.EXIT_BANK_FAULT if is_faulty else 0


def _show_previews(previews: Sequence[tuple[str, Report]], full_command: str) -> None:
    """Show the grade page of each previewed program below its label."""
    from grader.reports.grade import GradeContext, grade_page

    for number, (label, report) in enumerate(previews):
        if number:
            output.write()
        output.write_lines([text_layout.bold(label), ""])
        # There is no file to name.  `explain`: the page of a starter would not name its idea.
        context = GradeContext(file="", explain=True, full_command=full_command)
        output.show_page(grade_page(report, context), rows=context.rows)
