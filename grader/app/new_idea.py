"""What a class answered and no question knows yet becomes a misconception of the question.

The program is a stranger's.  It is shortened as text, graded like any submission, and copied into
the bank; here nothing runs or reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grader import bank
from grader.app import files
from grader.app.auditing import Audited, audit, banks_for
from grader.app.context import Context
from grader.bank.storage import FOLDER, found_at, is_id
from grader.classroom.results import Results
from grader.forms import registry as forms
from grader.model.classroom import HandIn
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.model.report import Report
from grader.model.verdict import FINE, Verdict
from grader.scaffold import idea
from grader.session import GradingSession

LEAST_DIGITS = 4  # of a digest, that name a group
LEAST_LETTERS = 4  # of a student's name that is looked for: shorter ones are words of programs
_DIGITS = re.compile(f"[0-9a-f]{{{LEAST_DIGITS},}}")
_WORD = re.compile(r"[^\W\d_]+")
SEEDS = range(1, 4)
HEADER = "# From an answer of a class, in which so many files computed the same: {count}\n"
_ELSEWHERE = "a new idea goes into a bank that you can write"


@dataclass(frozen=True, slots=True)
class Found:
    """A program that stands for a group of equal answers."""

    question: Question
    outputs: str  # the group's digest
    answers: int  # files that gave it
    programs: int  # different ones
    path: str  # of the file in the submissions
    source: str  # as it was handed in
    text: str  # what is to be written
    layered: bool  # whether that is less than the whole program
    checks: tuple[str, ...]  # those that stopped it
    named: tuple[str, ...]  # ideas of the question that it shows already


@dataclass(frozen=True, slots=True)
class Kept:
    """A misconception that was written, and what the audit of its question says."""

    program: Path
    spec: Path
    todo: int  # the line of the spec with the feedback that is to be written
    audited: Audited


def find(ctx: Context, question_id: str, results: Path, group: str) -> Found:
    """Return the program that stands for a group of equal answers: the shortest one.

    Args:
        ctx: Where the person is.
        question_id: The question that was asked.
        results: What `drill class grade` wrote.
        group: The first digits of `Report.outputs`.

    Raises:
        UsageError: There is no such group, none of its files can be used, or they are texts.
        BankError: The question is broken.
    """
    question = bank.load(banks_for(ctx, question_id), question_id)
    if forms.of(question.spec).is_text:
        raise UsageError(
            f"{question.id} is answered by texts, and an idea is a program",
            hint="write the idea into the spec: what the reference would compute with it",
        )
    if found_at(question.bank) != FOLDER:
        raise UsageError(f"{question.bank}: expected a bank that is a folder", hint=_ELSEWHERE)
    if _DIGITS.fullmatch(group) is None:
        text = f"expected a group of {LEAST_DIGITS} hexadecimal digits or more, found {group!r}"
        raise UsageError(text, hint="drill class report shows them")
    with Results(results) as read:
        equal = read.equal_answers(question.id, group)
    handed = [one for one, _ in equal.answers]
    programs: dict[str, HandIn] = {}
    for one, program in equal.answers:
        with suppress(UnicodeDecodeError):
            programs.setdefault(program.decode("utf-8-sig"), one)
    with GradingSession(question) as session:
        for source, one in sorted(programs.items(), key=lambda p: (len(p[0]), p[0])):
            report = session.grade(source.encode(), seed=equal.seed)
            stopped = tuple(
                c.id
                for c in report.checks
                if c.verdict not in {*FINE, Verdict.POLICY} and not c.stretch
            )
            text = _text(session, source, report, handed)
            if stopped and report.outputs and text:
                ideas = tuple(idea.id for idea in report.misconceptions)
                return Found(
                    question, equal.outputs, len(handed), len(programs), one.path, source, text,
                    len(text) < len(source), stopped, ideas,
                )  # fmt: skip
    raise UsageError(
        f"{results}: no program of the group {group} can be used: each passes by now, or has the "
        "name of a student in it",
        hint="write one by hand, in drills/ID/misconceptions",
    )


def _text(session: GradingSession, source: str, report: Report, handed: Sequence[HandIn]) -> str:
    """Return what is left of a program on top of the reference, nothing where it names somebody.

    A shorter text has to be graded like the whole.
    """
    reference = session.question.reference.decode()
    for text in idea.shortened(source, reference):
        layered = session.grade(f"{reference}\n\n\n{text}".encode(), seed=report.seed)
        if layered.outputs == report.outputs and not _names_one(text, handed):
            return text
    return "" if _names_one(source, handed) else source


def _names_one(text: str, handed: Sequence[HandIn]) -> bool:
    """Return whether a text has a word of the names of those who handed it in."""
    said = {word.casefold() for word in _WORD.findall(text)}
    whose = (_WORD.findall(f"{one.student} {one.name} {one.email}") for one in handed)
    names = {word.casefold() for words in whose for word in words if len(word) >= LEAST_LETTERS}
    return not said.isdisjoint(names)


def keep(
    ctx: Context, found: Found, name: str, *, progress: Callable[[str], None] = lambda _: None
) -> Kept:
    """Write a misconception into the question and audit it; everything is written or nothing is.

    Raises:
        UsageError: The name is taken or none, or the bank cannot be written.
        BankError: The question cannot be loaded with it; it is as it was.
    """
    from grader.audit.pool import Plan
    from grader.bank.loading import load_from

    question = found.question
    program = _free(question, name)
    with ExitStack() as undo:
        _make_folder(program.parent, undo)
        text = HEADER.format(count=found.answers) + found.text
        if not files.create(program, text.encode(), _ELSEWHERE):
            raise UsageError(f"{program} is there already, and nothing is written over it")
        undo.callback(program.unlink, missing_ok=True)
        before = question.spec_path.read_bytes()
        after = _entered(question, before, name, found.checks)
        undo.callback(files.replace, question.spec_path, before, _ELSEWHERE)
        files.replace(question.spec_path, after, _ELSEWHERE)
        fresh = load_from(question.bank, question.id)
        if not (_alike(question, fresh, name) and idea.only_added(before, after)):
            raise UsageError(f"{question.spec_path}: more than {name} would change")
        here = replace(ctx, bank=question.bank)
        *_, audited = audit(here, [question.id], Plan(SEEDS), progress=progress)
        if audited.fault is not None:
            raise audited.fault
        undo.pop_all()
    lines = after.decode().splitlines()
    return Kept(program, question.spec_path, _line_of(lines, name), audited)


def _free(question: Question, name: str) -> Path:
    """Return where the program of a new misconception goes."""
    if not is_id(name):
        raise UsageError(
            f"--name: expected lower-case words joined by hyphens, found {name!r}",
            hint="say what is believed, as in copy-to-all",
        )
    if name in question.variants or name in {"starter", "reference"}:
        raise UsageError(
            f"--name: {question.id} has {name} already", hint="a name says one wrong idea"
        )
    folder = question.bank / "drills" / question.id / "misconceptions"
    return folder / f"{name.replace('-', '_')}.py"


def _make_folder(folder: Path, undo: ExitStack) -> None:
    if folder.is_symlink() or not folder.resolve().is_relative_to(folder.parents[2].resolve()):
        raise UsageError(f"{folder}: expected a folder of the bank, found a link out of it")
    if not folder.is_dir():
        try:
            folder.mkdir(parents=True)
        except OSError as fault:
            raise UsageError(f"{folder}: cannot be made: {fault.strerror}", _ELSEWHERE) from fault
        undo.callback(folder.rmdir)


def _entered(question: Question, raw: bytes, name: str, checks: Sequence[str]) -> bytes:
    from grader.bank import document

    doc = document.parse(raw, question.spec_path)
    return idea.with_idea(doc, raw, name, checks)


def _alike(before: Question, after: Question, name: str) -> bool:
    """Return whether two questions differ in one misconception and in nothing else."""
    ideas = {key: one for key, one in after.spec.misconceptions.items() if key != name}
    variants = {key: one for key, one in after.variants.items() if key != name}
    spec = after.spec.model_copy(update={"misconceptions": ideas})
    same = replace(
        after, spec=before.spec, variants=variants, digest=before.digest, todos=before.todos
    )
    return (
        spec == before.spec
        and list(ideas) == list(before.spec.misconceptions)
        and (same == replace(before, variants=dict(before.variants)))
    )


def _line_of(lines: Sequence[str], name: str) -> int:
    """Return the number of the line on which the feedback is to be written."""
    entry = next(n for n, line in enumerate(lines) if line.strip() == f"{name}:")
    return entry + 3
