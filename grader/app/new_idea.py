"""Equal answers of a class become a misconception of the question, audited like any other.

The program is a stranger's: it is graded like any submission, shortened as text and copied into the
bank; here nothing runs or reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from grader import bank, forms
from grader.app import files
from grader.app.auditing import Audited, audit, banks_for
from grader.app.context import Context
from grader.bank.storage import is_id
from grader.classroom.results import EqualAnswers, Results
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.model.report import FINE, Report
from grader.session import GradingSession

LEAST_LETTERS = 4  # of a student's name that is looked for: shorter ones are words of programs
TODO = "TODO what is wrong, why, and what to do instead"
_DIGITS = re.compile("[0-9a-f]{4,}")
_WORD = re.compile(r"[^\W\d_]+")
_BLOCK = re.compile(r"\n(?=[^\s)\]}])")  # begins at the left margin
_HEADER = "# From an answer of a class, in which so many files computed the same: {count}\n"
_ELSEWHERE = "a new idea goes into a bank that you can write"


@dataclass(frozen=True, slots=True)
class NewIdea:
    """A misconception that was written, and what the audit of its question says."""

    outputs: str  # the digest of the group
    answers: int  # files that gave it
    text: str  # of the program
    checks: tuple[str, ...]  # those that stop it
    known: tuple[str, ...]  # ideas of the question that it shows already
    program: Path
    spec: Path
    line: int  # of the spec, with the feedback that is to be written
    audited: Audited


def new_idea(
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

    Args:
        ctx: Where the person is.
        question_id: The question that was asked.
        results: What `drill class grade` wrote.
        group: The first digits of `Report.outputs`.
        name: What the idea is called.
        progress: Is called with each step of the audit.

    Raises:
        UsageError: There is no such group, none of its programs can be used, the name is taken, or
            the bank cannot be written.
        BankError: The question is broken, or would be.
    """
    question = bank.load(banks_for(ctx, question_id), question_id)
    if forms.of(question.spec).is_text:
        raise UsageError(
            f"{question.id} is answered by texts, and an idea is a program",
            hint="write the idea into the spec: what the reference would compute with it",
        )
    if not question.bank.is_dir():
        raise UsageError(f"{question.bank}: expected a bank that is a folder", hint=_ELSEWHERE)
    if not is_id(name) or name in {*question.variants, "starter", "reference"}:
        raise UsageError(
            f"--name: expected lower-case words joined by hyphens that {question.id} does not have "
            f"already, found {name!r}",
            hint="say what is believed, as in copy-to-all",
        )
    if _DIGITS.fullmatch(group) is None:
        text = f"expected a group of 4 hexadecimal digits or more, found {group!r}"
        raise UsageError(text, hint="drill class report shows them")
    with Results(results) as read:
        equal = read.equal_answers(question.id, group)
    text, report = _shortest(question, equal)
    checks = _stopping(report)
    folder = question.bank / "drills" / question.id / "misconceptions"
    program, spec = folder / f"{name.replace('-', '_')}.py", question.spec_path
    before = spec.read_bytes()
    after, line = with_entry(before.decode(), name, checks)
    with ExitStack() as undo:
        if not folder.is_dir():
            files.refuse_link(folder)
            folder.mkdir(parents=True)
            undo.callback(folder.rmdir)
        written = _HEADER.format(count=len(equal.answers)) + text
        if not files.create(program, written.encode(), _ELSEWHERE):
            raise UsageError(f"{program} is there already, and nothing is written over it")
        undo.callback(program.unlink, missing_ok=True)
        undo.callback(files.replace, spec, before, _ELSEWHERE)
        files.replace(spec, after.encode(), _ELSEWHERE)
        audited = _audited(ctx, question, progress)
        undo.pop_all()
    known = tuple(idea.id for idea in report.misconceptions)
    return NewIdea(
        equal.outputs, len(equal.answers), text, checks, known, program, spec, line, audited
    )


def _audited(ctx: Context, question: Question, progress: Callable[[str], None]) -> Audited:
    from grader.audit.audit import Plan

    (found,) = audit(replace(ctx, bank=question.bank), [question.id], Plan(), progress=progress)
    if found.fault is not None:
        raise found.fault
    return found


def _shortest(question: Question, equal: EqualAnswers) -> tuple[str, Report]:
    """Return the shortest program that names nobody, and what a grade says of it."""
    said = (f"{one.student} {one.name} {one.email}" for one, _ in equal.answers)
    names = {w.casefold() for w in _WORD.findall(" ".join(said)) if len(w) >= LEAST_LETTERS}
    programs = {program.decode("utf-8-sig", "replace") for _, program in equal.answers}
    with GradingSession(question) as session:
        for source in sorted(programs, key=lambda text: (len(text), text)):
            report = session.grade(source.encode(), seed=equal.seed)
            if not _stopping(report) or not report.outputs:
                continue
            reference = question.reference.decode()
            own = _own_part(source, reference)
            layered = session.grade(f"{reference}\n\n\n{own}".encode(), seed=equal.seed)
            text = own if layered.outputs == report.outputs else source
            if names.isdisjoint(word.casefold() for word in _WORD.findall(text)):
                return text, report
    raise UsageError(
        f"no program of the group {equal.outputs} can be used: each passes by now, or has the name "
        "of a student in it",
        hint="write one by hand, in drills/ID/misconceptions",
    )


def _stopping(report: Report) -> tuple[str, ...]:
    fine = FINE
    return tuple(c.id for c in report.checks if c.verdict not in fine and not c.stretch)


def _own_part(source: str, reference: str) -> str:
    """Return what the reference has not, by blocks at the left margin, without comments."""

    def blocks(text: str) -> list[str]:
        lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
        return [block.strip() for block in _BLOCK.split("\n".join(lines))]

    known = {"", *blocks(reference)}
    return "\n\n\n".join(block for block in blocks(source) if block not in known) + "\n"


def with_entry(spec: str, name: str, checks: Sequence[str]) -> tuple[str, int]:
    """Return a spec with one more misconception, and the number of the line with its feedback.

    No other line is touched.

    Raises:
        UsageError: Its misconceptions stand in a form that no line can be added to.
    """
    end = "\r\n" if "\r\n" in spec else "\n"
    lines = spec.splitlines()
    at = next((n for n, line in enumerate(lines) if line.startswith("misconceptions:")), None)
    if at is None:
        lines += ["", "misconceptions:"]
        at = len(lines) - 1
    if rest := lines[at].removeprefix("misconceptions:").split("#")[0].strip():
        raise UsageError(
            f"misconceptions: expected a line for each key, found {rest} on line {at + 1}",
            hint="write the keys below one another, two spaces in",
        )
    last, indent = at, "  "
    for number, line in enumerate(lines[at + 1 :], at + 1):
        if line.strip() and not line.startswith((" ", "#")):
            break
        if line.startswith(" ") and line.strip():
            if last == at or len(line) - len(line.lstrip()) < len(indent):
                indent = line[: len(line) - len(line.lstrip())]
            last = number
    killers = checks[0] if len(checks) == 1 else f"[{', '.join(checks)}]"
    entry = [f"{name}:", f"  killed_by: {killers}", f"  feedback: {TODO}"]
    lines[last + 1 : last + 1] = [indent + line for line in entry]
    return end.join(lines) + end, last + 4
