"""The way through a drill: its folder, hints, experiments, the solution, the starter again.

In a new folder the marker is written first: a start that was killed half way is then finished by
the next one, and a folder without a marker is somebody's own, in which nothing is ever written
over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.bank.bank_files import read_regular_file
from grader.commands import files
from grader.commands.context import Context, choose_seed, require_torch
from grader.commands.workspaces import (
    MARKER_FILE,
    QUESTION_FILE,
    ResolvedDrill,
    Workspace,
    enclosing_workspace,
    read_workspace,
    resolve_drill,
)
from grader.model.errors import UsageError
from grader.model.question import Header, Question
from grader.records import progress

if TYPE_CHECKING:
    from grader.bank.starter_repair import RepairChange
    from grader.commands.history_rows import HistoryRow
    from grader.grading.submission import ExperimentResult

_MOST_BYTES = 1 << 20  # of a QUESTION.md that is compared
_COMMENT = re.compile(r"^\s*#.*|\s+#[^'\"]*$")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_DOCSTRING = re.compile(rf"\s*r?(?:{_TRIPLE.pattern})")


class StartResult(NamedTuple):
    """What a start did: the workspace, whether it was there before, and what was added."""

    workspace: Workspace
    was_there: bool
    written_files: tuple[str, ...]
    copy_of_old: Path | None = None  # the copy of a file that made room for the starter


def start_drill(
    ctx: Context, question_id: str, *, parent: Path | None = None, seed: int | None = None
) -> tuple[Question, StartResult]:
    """Make a folder with the question and the code to fix, adding only what is missing.

    It goes into `parent`, by default the current folder; UsageError where it is somebody's own, or
    has other numbers than `seed` draws.
    """
    from grader import forms  # reads specs, which other commands do not
    from grader.reports.question import question_markdown

    question = ctx.load(question_id)
    own = forms.form_of(question.spec).file
    folder = ctx.current_folder() / (parent or Path()).expanduser() / question.id
    if parent is None and (
        around := enclosing_workspace(ctx.current_folder())
    ):  # this drill, or one beside it
        same = around.question == question.id
        folder = around.folder if same else around.folder.with_name(question.id)
    drawn = _fresh(ctx, question) if seed is None else seed
    wanted = Workspace(question.id, str(question.bank), folder, ctx.now(), own, drawn)
    found = check_start(ctx, question_id, question, folder)
    if found is None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            raise UsageError(
                f"{folder}: the folder cannot be made: {fault.strerror}",
                hint="choose another place with --dir DIR",
            ) from fault
        _mark(wanted)
    if question.spec.given:
        question = ctx.load(question_id, (found or wanted).seed)
        choose_seed(question, seed)
    parts = ctx.parts_asked(question)
    content = {
        own: question.without_leading_blank_lines(question.starter),
        QUESTION_FILE: question_markdown(question, parts=parts).encode(),
        **question.companion_files,
    }
    written = [name for name, text in content.items() if files.create(folder / name, text)]
    made = StartResult(found or wanted, found is not None, tuple(written))
    if not made.workspace.was_started(ctx.starts):
        event = ctx.new_event("started", question, path=str(folder))
        ctx.record_event(event._replace(at=made.workspace.started_at))
    return question, made


def check_start(
    ctx: Context, question_id: str, question: Question, folder: Path
) -> Workspace | None:
    """Return the workspace of a question that a folder is, None if the folder is free.

    UsageError if something else is there; nothing is written.
    """
    from grader import forms

    elsewhere = f"drill start {question_id}{ctx.bank_option} --dir DIR makes it elsewhere"
    files.refuse_link(folder)
    found = read_workspace(folder)
    if found is None:
        for name in (forms.form_of(question.spec).file, QUESTION_FILE, MARKER_FILE):
            if os.path.lexists(folder / name):
                raise UsageError(
                    f"{folder / name} is there already and was not made by drill start;"
                    " it is left as it is",
                    hint=f"drill grade {question_id}{ctx.bank_option} --file PATH grades any file;"
                    f" {elsewhere}",
                )
        return None
    if not is_of(ctx, found, question):
        raise UsageError(
            f"the folder {folder} was started for {found.question} of {found.bank},"
            f" not for {question.id} of {question.bank}",
            hint=elsewhere,
        )
    return found


def is_of(ctx: Context, found: Workspace, question: Question | Header) -> bool:
    """Return True if a folder is of a question: of its id, and of a bank of the same name."""
    is_same = progress.is_about_question(found.bank, str(question.bank), question.id)
    return found.question == question.id and (is_same or not found.was_started(ctx.starts))


def _fresh(ctx: Context, question: Question, *known: int) -> int:
    """Draw numbers that are not known, nor those of the last grade, if there are others."""
    many = len(question.spec.given) or 1
    last = ctx.attempts(question, most=1, kind="grade") if many > 1 else ()
    before = {*known, *(one.seed % many for one in last if one.seed is not None)}
    free = [n for n in range(many) if n not in before] or [0]
    return free[int.from_bytes(os.urandom(4), "big") % len(free)]


def start_again(
    ctx: Context, question_id: str, *, parent: Path | None = None, seed: int | None = None
) -> tuple[Question, StartResult]:
    """Begin another sitting of a question: put the starter back, and ask the first part alone.

    It goes into `parent`, by default where it was started last; UsageError where no sitting of it
    is over.
    """
    choice = resolve_drill(ctx, question_id)
    yours = ctx.progress(choice.question)
    question = choice.question
    if not yours.is_finished:
        go_on = f"drill start {choice.typed_name}{choice.bank_option}"
        if yours.started and choice.workspace:
            go_on = f"drill grade{choice.drill_argument}   drill reset{choice.drill_argument}"
        done = "begun again already, and not passed since" if yours.passed else "not passed yet"
        raise UsageError(
            f"{question.id} is {done}, so there is nothing to begin again",
            hint=f"Next: {go_on}",
        )
    seed = _fresh(ctx, question, question.number_set) if seed is None else seed
    if choice.workspace and parent is None:
        ctx = replace(ctx, folder=choice.workspace.folder)
        _mark(choice.workspace._replace(seed=seed))
    question, made = start_drill(ctx, question_id, parent=parent, seed=seed)
    event = ctx.new_event("again", question, path=str(made.workspace.folder))
    starter = question.without_leading_blank_lines(question.starter)
    copy = files.replace_keeping_copy(ctx, made.workspace.submission, starter, "again", event)
    write_question(ctx, made.workspace.folder, question, 1, choice.question)
    return question, made._replace(copy_of_old=copy)


def _mark(wanted: Workspace) -> None:
    """Write the marker of a folder."""
    import json  # which a list of questions does without

    content = {"format": 1} | wanted._asdict()
    del content["folder"]
    files.replace(wanted.folder / MARKER_FILE, (json.dumps(content, indent=2) + "\n").encode())


def write_question(ctx: Context, at: Path, question: Question, asked: int, *was: Question) -> None:
    """Write QUESTION.md anew with the parts asked; what is ours neither now nor `was` is kept."""
    from grader.reports.question import question_markdown

    path = at / QUESTION_FILE
    before = b""
    with suppress(OSError):
        before = read_regular_file(path, _MOST_BYTES)[0]
    every = range(1, len(question.spec.parts) + 1)
    ours = [question_markdown(one, parts=n).encode() for one in (question, *was) for n in every]
    try:
        if before and before not in ours:
            files.keep_copy(path, before, "before")
        if before != ours[asked - 1]:
            files.replace(path, ours[asked - 1])
    except UsageError as fault:
        ctx.warn(
            f"{QUESTION_FILE} stays as it was ({fault.message})",
            f"drill show {question.id}{ctx.bank_option} shows the part that is asked now",
        )


def reset_drill(ctx: Context, question_id: str | None) -> tuple[Question, Path, Path | None]:
    """Put the starter back; return the question, its file, and the copy of what was there."""
    choice = resolve_drill(ctx, question_id)
    path = choice.require_workspace().submission
    question = choice.question
    event = ctx.new_event("reset", question)
    copy = files.replace_keeping_copy(
        ctx, path, question.without_leading_blank_lines(question.starter), "reset", event
    )
    return question, path, copy


class HintResult(NamedTuple):
    """The hints to show now."""

    resolved_drill: ResolvedDrill
    shown: tuple[tuple[int, str], ...]  # with their numbers in the part, from 1
    left: int
    total: int  # of the part that is asked now
    part: int
    all: bool = False  # whether every one had been shown before
    counted: bool = True  # False: the next has to be asked for by its number
    is_finished: bool = False  # whether the solution is shown without giving up
    last: HistoryRow | None = None  # the last try, where there is nothing but that to go on with


def next_hint(ctx: Context, question_id: str | None, *, number: int | None = None) -> HintResult:
    """Return one hint more than last time, or hint `number`; all when there is none left.

    They are those of the part that is asked now, numbered from 1; recorded is how many were shown
    of all parts up to it.
    """
    from grader.commands.history_rows import checked_attempts

    choice = resolve_drill(ctx, question_id)
    yours = ctx.progress(choice.question)
    parts = choice.question.spec.parts
    *before, part = parts[: yours.count_parts_asked(len(parts))]
    hints = part.hints
    earlier = sum(len(one.hints) for one in before)
    current = len(before) + 1
    if number is not None and 0 < len(hints) < number:
        raise UsageError(f"--number: expected a number from 1 to {len(hints)}, found {number}")
    shown = max(yours.highest_hint - earlier, 0)
    one = number or shown + 1
    left = max(len(hints) - one, 0)
    over = yours.is_finished or yours.given_up
    last = (
        None
        if left or over
        else next(reversed(checked_attempts(ctx, choice.typed_name, yours)), None)
    )
    every = tuple(enumerate(hints, 1))
    given = HintResult(choice, every, left, len(hints), current, is_finished=over, last=last)
    if one > len(hints):
        return given._replace(all=True)
    kept = one <= shown or ctx.record_event(
        ctx.new_event("hint", choice.question, hint=earlier + one)
    )
    return given._replace(shown=((one, hints[one - 1]),), counted=kept)


# A sign and its text: `-` it goes, `+` it comes, a blank: it stays, `...`: lines are left out.
DiffLine = tuple[str, str]


class SolutionResult(NamedTuple):
    """A right solution of a question, for a person who passed or gave up."""

    resolved_drill: ResolvedDrill
    passed: bool
    full: str  # the reference
    changes: tuple[
        RepairChange, ...
    ]  # of the starter, those that the parts asked until now ask for
    left: int  # changes of later parts
    gave_up: bool  # whether a sitting after a pass ends with it
    leads_to: tuple[Header, ...]  # the questions of its bank that it is better to have passed for
    own_diff: tuple[DiffLine, ...] | None  # one's own file against it; None: there is none


def show_solution(
    ctx: Context, question_id: str | None, *, give_up: bool = False, seed: int | None = None
) -> SolutionResult:
    """Return the solution, to a person who passed or who gives up; else UsageError."""
    from grader import bank, forms
    from grader.bank import starter_repair

    choice = resolve_drill(ctx, question_id, seed=seed)
    question = choice.question
    form = forms.form_of(question.spec)
    yours = ctx.progress(question)
    again = yours.passed and not yours.is_finished  # what was passed before is asked anew
    if (again and not give_up) or not (
        yours.passed or yours.is_finished or yours.given_up or give_up
    ):
        raise UsageError(
            f"the solution of {question.id} is shown when all parts pass{' again' * again}",
            hint=f"Next: drill hint{choice.drill_argument}   drill solution{choice.drill_argument} --give-up",
        )
    ctx.record_event(ctx.new_event("solution", question))
    last = len(question.spec.parts)
    texts = [
        question.accepted[name]
        for name, part in question.accepted_until_part.items()
        if part == last and form.is_text
    ]
    full = question.repair and starter_repair.repaired_starter(
        question
    )  # in the manner of the starter
    right = full or next(iter(texts), question.reference)
    mine = None
    if choice.workspace:
        with suppress(UsageError):  # there is no such file any more
            before = files.read_submission(choice.workspace.submission)
            mine = diff_code(before, question.without_leading_blank_lines(right))
    changes = starter_repair.repair_changes(question)
    asked = yours.count_parts_asked(last)
    now = [
        replace(change, why=tuple(why for why in change.why if why[0] <= asked))
        for change in changes
        if change.part <= asked
    ]
    shown = (
        right if form.is_text else question.without_leading_blank_lines(question.reference)
    ).decode()
    leads_to = [
        head
        for head in bank.headers([question.bank])
        if question.id in head.prerequisites or head.id == question.spec.then
    ]
    left = len(changes) - len(now)
    return SolutionResult(
        choice, yours.passed, shown, tuple(now), left, again, tuple(leads_to), mine
    )


def diff_code(before: bytes, after: bytes) -> tuple[DiffLine, ...]:
    """Return what changes between the code of two files, with a line around each change.

    Comments, docstrings and blank lines are left out.
    """
    one, other = (list(_code(text.decode("utf-8", "replace"))) for text in (before, after))
    # After two lines of names and one of the place.
    diff = [*unified_diff(one, other, n=1, lineterm="")][3:]
    return tuple(("...", "") if line.startswith("@@") else (line[0], line[1:]) for line in diff)


def _code(text: str) -> Iterator[str]:
    """Yield the lines of code of a file; nothing is parsed, because it may be anybody's."""
    closing, is_docstring = "", False  # of the string that a line is in
    for line in text.splitlines():
        if closing:
            if not is_docstring:
                yield line
            if closing in line:
                closing = ""
            continue
        is_docstring = bool(_DOCSTRING.match(line))
        quotes = _TRIPLE.findall(line)
        if len(quotes) % 2:
            closing = quotes[0]
        code = _COMMENT.sub("", line).rstrip()
        if code and not is_docstring:
            yield code


def run_drill_script(
    ctx: Context,
    question_id: str | None,
    *,
    seed: int = 0,
    began: Callable[[int, int], None] = lambda *_: None,
) -> tuple[ResolvedDrill, int, int, ExperimentResult]:
    """Run the script in a drill's folder once, out of a budget that the records keep.

    Return the drill, how many runs are used, how many there are, and the result.
    `began` is called when the run has started, with its number and how many there are.
    """
    from grader.grading.submission import run_experiment

    choice = resolve_drill(ctx, question_id)
    question = choice.question
    asked = choice.question.spec.experiments
    next_ = f"Next: drill grade{choice.drill_argument}"
    if asked is None:
        raise UsageError(
            f"{question.id} is not answered by experiments, so there is nothing to run",
            hint=next_,
        )
    require_torch(question)
    path = choice.require_workspace().submission
    used = ctx.read(lambda db: progress.runs_used(db, question.id, str(question.bank)), 0)
    if used >= asked.budget:
        raise UsageError(
            f"{asked.budget} of {asked.budget} runs are used; you can still edit and grade,"
            " and a reset puts the starter back and begins anew",
            hint=f"{next_}   drill reset{choice.drill_argument}",
        )
    script = files.read_submission(path)

    def begin() -> None:
        ctx.record_event(ctx.new_event("run", question, seed=seed))
        began(used + 1, asked.budget)

    ran = run_experiment(question, script, seed=seed, filename=path.name, begin=begin)
    return choice, used + ran.started, asked.budget, ran
