"""Misconceptions of a question: see the page that one leads to, or make one of a class's answers.

A stranger's program is graded like any submission, shortened as text and copied into the bank; here
nothing runs or reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from grader import bank, forms
from grader.audit.audit import AuditPlan, audit_questions
from grader.bank.bank_files import is_id
from grader.classroom.results import ClassResults
from grader.commands import files
from grader.commands.auditing import banks_for
from grader.commands.context import Context, require_torch
from grader.explain.session import GradingSession
from grader.grading.session import GradeOptions
from grader.model.audit import AuditReport
from grader.model.classroom import HandIn
from grader.model.errors import UsageError, did_you_mean
from grader.model.question import Question
from grader.model.report import NON_FAILING_VERDICTS, Report

STARTER_NAME = "starter"
MIN_LETTERS = 4  # of a student's name that is looked for: shorter ones are words of programs
TODO_FEEDBACK = "TODO what is wrong, why, and what to do instead"
_FUTURE = re.compile(rb"^from __future__ import [^\n]*", re.MULTILINE)
_WORD = re.compile(r"[^\W\d_]+")
_BLOCK = re.compile(r"\n(?=[^\s)\]}])")  # begins at the left margin
_ELSEWHERE = "a new idea goes into a bank that you can write"


def preview_idea(
    ctx: Context, question_id: str, name: str | None, *, seed: int = 0
) -> Iterator[tuple[str, Report]]:
    """Grade what holds a misconception as if somebody had handed it in; nothing is recorded.

    `name` is a misconception, each of whose variants is given with a label, or `starter`.
    """
    question = bank.load(banks_for(ctx, question_id), question_id, seed)
    require_torch(question)
    known = [*question.variants, STARTER_NAME]
    if name not in known:
        text = f"expected the name of a misconception of {question.id}, found none"
        if name is not None:
            text = f"{question.id} has no misconception {name!r}{did_you_mean(name, known)}"
        raise UsageError(text, hint=f"it has {', '.join(known)}")
    # A variant is executed over the reference; what must stand at the head of a file does already.
    programs = [question.starter] if name == STARTER_NAME else [
        b"\n\n".join([question.reference, _FUTURE.sub(b"", source).lstrip(b"\n")])
        for source in question.variants[name]
    ]  # fmt: skip
    options = GradeOptions(is_program=name != STARTER_NAME)
    with GradingSession(question) as session:
        for number, source in enumerate(programs, 1):
            label = name if number == 1 else f"{name} ({number})"
            yield label, session.grade(source, seed=seed, options=options)


class NewIdea(NamedTuple):
    """A misconception that was written, and what the audit of its question says."""

    outputs: str  # the digest of the group
    answers: int  # files that gave it
    text: str  # of the program
    checks: tuple[str, ...]  # those that stop it
    known: tuple[str, ...]  # ideas of the question that it shows already
    file: Path
    line: int  # with the feedback that is to be written
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
    """Write the shortest program of a group of equal answers into the question, and audit it.

    Everything is written or nothing is.

    `results` is what `drill class grade` wrote, `group` the first digits of `Report.outputs`, and
    `progress` is called with each step of the audit. DrillError where there is no such group, none
    of its programs can be used, the name is taken, or the question would be broken.
    """
    question = bank.load(banks_for(ctx, question_id), question_id)
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
    with ClassResults(results) as read:
        outputs, answers = read.equal_answers(question.id, group)
        seed = read.class_settings.seed
    text, report = _shortest(question, outputs, answers, seed)
    checks = _stopping(report)
    count = len(answers)
    file = question.bank / "drills" / question.id / "ideas.py"
    before = file.read_bytes() if file.exists() else b""
    killers = checks[0] if len(checks) == 1 else f"[{', '.join(checks)}]"
    written = (
        f'# %% {name}\n# killed_by: {killers}\n"""{TODO_FEEDBACK}."""\n'
        f"# From a class in which {count} files computed the same\n{text.rstrip()}\n"
    )
    after = (before.rstrip() + b"\n\n" if before else b"") + written.encode()
    line = after[: after.index(TODO_FEEDBACK.encode())].count(b"\n") + 1
    with ExitStack() as undo:
        if not before:
            files.refuse_link(file.parent)
            file.parent.mkdir(parents=True, exist_ok=True)
            undo.callback(file.unlink, missing_ok=True)
        else:
            undo.callback(files.replace, file, before, _ELSEWHERE)
        files.replace(file, after, _ELSEWHERE)
        fresh = bank.load([question.bank], question.id)
        ((audit, _),) = audit_questions([fresh], AuditPlan(), progress)
        undo.pop_all()
    known = tuple(idea.id for idea in report.misconceptions)
    return NewIdea(outputs, count, text, checks, known, file, line, audit)


def _shortest(
    question: Question, outputs: str, answers: Sequence[tuple[HandIn, bytes]], seed: int
) -> tuple[str, Report]:
    """Return the shortest program that names nobody, and what a grade says of it."""
    said = (f"{one.student} {one.name} {one.email}" for one, _ in answers)
    names = {w.casefold() for w in _WORD.findall(" ".join(said)) if len(w) >= MIN_LETTERS}
    programs = {program.decode("utf-8-sig", "replace") for _, program in answers}
    with GradingSession(question) as session:
        for source in sorted(programs, key=lambda text: (len(text), text)):
            report = session.grade(source.encode(), seed=seed)
            if not _stopping(report) or not report.outputs:
                continue
            reference = question.reference.decode()
            own = _own_part(source, reference)
            layered = session.grade(f"{reference}\n\n\n{own}".encode(), seed=seed)
            text = own if layered.outputs == report.outputs else source
            if names.isdisjoint(word.casefold() for word in _WORD.findall(text)):
                return text, report
    raise UsageError(
        f"no program of the group {outputs} can be used: each passes by now, or has the name "
        "of a student in it",
        hint="write one by hand, in drills/ID/ideas.py",
    )


def _stopping(report: Report) -> tuple[str, ...]:
    return tuple(
        c.id for c in report.checks if c.verdict not in NON_FAILING_VERDICTS and not c.stretch
    )


def _own_part(source: str, reference: str) -> str:
    """Return what the reference has not, by blocks at the left margin, without comments."""

    def blocks(text: str) -> list[str]:
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        return [block.strip() for block in _BLOCK.split("\n".join(lines))]

    known = {"", *blocks(reference)}
    return "\n\n\n".join(block for block in blocks(source) if block not in known) + "\n"
