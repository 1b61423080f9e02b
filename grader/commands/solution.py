"""`drill solution`: what to keep in mind, the changes that the starter needs, and a right file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from grader.commands import files, output
from grader.commands.options import JsonOption, Seed, SomeId, command_context, flag
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError
from grader.model.number_format import format_count, join_words
from grader.model.question import Header, Question
from grader.reports import text_layout

if TYPE_CHECKING:
    from grader.bank.starter_repair import RepairChange
    from grader.commands.context import Context

# A sign and a text: `-` the line goes, `+` it comes, a blank: it stays, `...`: lines are left out.
DiffLine = tuple[str, str]

_COMMENT = re.compile(r"^\s*#.*|\s+#[^'\"]*$")
_TRIPLE = re.compile(r"\"{3}|'{3}")
_DOCSTRING = re.compile(rf"\s*r?(?:{_TRIPLE.pattern})")
_SIGN_WORDS = {"-": "goes", "+": "comes", " ": "stays"}  # for a screen reader
_SIGN_STYLES = {"-": text_layout.RED, "+": text_layout.GREEN}


class SolutionResult(NamedTuple):
    """A right solution of a question, for a person who passed or gave up."""

    resolved_drill: ResolvedDrill
    passed: bool
    full: str  # a whole right file: the reference, or the right answers
    changes: tuple[RepairChange, ...]  # of the starter, for the parts asked until now
    left: int  # number of changes for later parts
    gave_up: bool  # it was passed and begun again, and this ends the new sitting without a pass
    leads_to: tuple[Header, ...]  # questions of the bank that this one prepares
    own_diff: tuple[DiffLine, ...] | None  # from the person's file to a right one; None: no file


def show_solution(
    ctx: Context, question_id: str | None, *, give_up: bool = False, seed: int | None = None
) -> SolutionResult:
    """Return the solution and record that it was shown.

    UsageError if the person has not passed and does not give up.  A question that was begun again
    must be passed again.
    """
    from grader import bank
    from grader.bank import starter_repair

    drill = resolve_drill(ctx, question_id, seed=seed)
    question = drill.question
    question_progress = ctx.progress(question)
    is_asked_again = question_progress.passed and not question_progress.is_finished
    is_earned = question_progress.is_finished or question_progress.given_up
    if not give_up and (is_asked_again or not (question_progress.passed or is_earned)):
        again = " again" if is_asked_again else ""
        command = f"drill solution{drill.drill_argument}"
        raise UsageError(
            f"the solution of {question.id} is shown when all parts pass{again}",
            hint=f"Next: drill hint{drill.drill_argument}   {command} --give-up",
        )
    ctx.record_event(ctx.new_event("solution", question))
    is_text = drill.form.is_text
    right_file = _right_file(question, is_text=is_text)
    changes = starter_repair.repair_changes(question)
    asked = question_progress.count_parts_asked(len(question.spec.parts))
    asked_changes = [
        replace(change, why=tuple(sentence for sentence in change.why if sentence[0] <= asked))
        for change in changes
        if change.part <= asked
    ]
    full = right_file if is_text else question.without_leading_blank_lines(question.reference)
    own_diff = None
    if drill.workspace:
        with suppress(UsageError):  # the file was removed
            own_file = files.read_submission(drill.workspace.submission)
            own_diff = diff_code(own_file, question.without_leading_blank_lines(right_file))
    return SolutionResult(
        resolved_drill=drill,
        passed=question_progress.passed,
        full=full.decode(),
        changes=tuple(asked_changes),
        left=len(changes) - len(asked_changes),
        gave_up=is_asked_again,
        leads_to=tuple(
            header
            for header in bank.headers([question.bank])
            if question.id in header.prerequisites or header.id == question.spec.then
        ),
        own_diff=own_diff,
    )


def _right_file(question: Question, *, is_text: bool) -> bytes:
    """Return a right file: the repaired starter, or accepted answers in a text, or the reference.

    The first that the question has is taken.
    """
    from grader.bank import starter_repair

    if question.repair:
        repaired = starter_repair.repaired_starter(question)
        if repaired:
            return repaired
    if is_text:
        for name, part in question.accepted_until_part.items():
            if part == len(question.spec.parts):
                return question.accepted[name]
    return question.reference


def diff_code(before: bytes, after: bytes) -> tuple[DiffLine, ...]:
    """Return the changes in the code of two files, with one line around each change.

    Comments, docstrings and blank lines are left out.
    """
    old_lines, new_lines = (
        list(_code_lines(content.decode("utf-8", "replace"))) for content in (before, after)
    )
    # The first three lines name the files and the place.
    diff = [*unified_diff(old_lines, new_lines, n=1, lineterm="")][3:]
    return tuple(("...", "") if line.startswith("@@") else (line[0], line[1:]) for line in diff)


def _code_lines(text: str) -> Iterator[str]:
    """Yield the lines of a file, without comments, docstrings and blank lines.

    They are found by regular expressions: a file of the person may have syntax errors.
    """
    closing_quotes = ""  # of the string that a line is in
    is_docstring = False
    for line in text.splitlines():
        if closing_quotes:
            if not is_docstring:
                yield line
            if closing_quotes in line:
                closing_quotes = ""
            continue
        is_docstring = bool(_DOCSTRING.match(line))
        quotes = _TRIPLE.findall(line)
        if len(quotes) % 2:
            closing_quotes = quotes[0]
        code = _COMMENT.sub("", line).rstrip()
        if code and not is_docstring:
            yield code


def solution(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[bool, flag("--give-up", "Show it before a pass; this is recorded.")] = False,
    mine: Annotated[bool, flag("--mine", "Compare it with your file.")] = False,
    full: Annotated[bool, flag("--full", "Print a whole right file.")] = False,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Show the solution: what to keep, what had to change."""
    result = show_solution(command_context(ctx), question, give_up=give_up, seed=seed)
    if output.emit_json(json, **_solution_to_json(result)):
        return
    drill = result.resolved_drill
    spec = drill.question.spec
    lines: list[text_layout.Line]
    if full:
        lines = [*result.full.rstrip("\n").split("\n")]
    elif mine:
        title = "no file of yours"
        if result.own_diff is not None:
            title = "yours is a right file, comments aside"
        if result.own_diff:
            title = "yours (-) and a right file (+)"
        lines = [f"{drill.question.id}: {title}", *diff_lines(result.own_diff or ())]
    else:
        lines = [*_lesson(result), *_change_lines(result), *_titled_list("Sources", spec.sources)]
    output.write_lines(lines, paged=True)
    command = f"drill solution{drill.drill_argument}"
    steps = []
    if mine or full:
        steps.append(command)
    elif spec.follow_ups:
        steps.append(f"drill discuss{drill.drill_argument}")
    if result.own_diff is not None and not mine:
        steps.append(f"{command} --mine")
    if result.changes and not full:
        steps.append(f"{command} --full")
    after = ""
    if result.gave_up:
        after = "You have not passed again: this sitting counts as given up."
    output.write_next_steps(*steps, after=after)


def _solution_to_json(result: SolutionResult) -> dict[str, Any]:
    spec = result.resolved_drill.question.spec
    repair = []
    for change in result.changes:
        why = [{"part": part, "text": text} for part, text in change.why]
        repair.append(asdict(change) | {"why": why})
    own_diff: object = result.own_diff
    if result.own_diff:
        own_diff = [{"sign": sign, "text": text} for sign, text in result.own_diff]
    return {
        "question": result.resolved_drill.question.id,
        "passed": result.passed,
        "gave_up": result.gave_up,
        "teaches": spec.teaches,
        "sources": spec.sources,
        "solution": result.full,
        "left": result.left,
        "leads_to": [
            {"id": header.id, "title": header.title, "track": header.track}
            for header in result.leads_to
        ],
        "repair": repair,
        "mine": own_diff,
    }


def _lesson(result: SolutionResult) -> Iterator[text_layout.Line]:
    """Yield the list "what to keep", and the list of questions that this one prepares, by track."""
    question = result.resolved_drill.question
    yield from _titled_list(f"{question.id}: what to keep", question.spec.teaches)
    tracks: dict[str, list[str]] = {}
    for header in result.leads_to:
        tracks.setdefault(header.track, []).append(header.id)
    prepared = [f"{join_words(ids)} ({track})" for track, ids in tracks.items()]
    yield from _titled_list("What goes on from here", prepared)


def _titled_list(title: str, texts: Sequence[str]) -> Iterator[text_layout.Line]:
    """Yield a list below its title, and a blank line; nothing if the list is empty."""
    if texts:
        yield text_layout.bold(title)
        for text in texts:
            yield from text_layout.wrap_words(text, output.text_width(), first="- ")
        yield ""


def _change_lines(result: SolutionResult) -> Iterator[text_layout.Line]:
    """Yield the changes to the starter, each below its reasons; a right file if there are none."""
    if not result.changes:
        yield from result.full.rstrip("\n").split("\n")
        yield ""
        return
    question = result.resolved_drill.question
    if any(change.before for change in result.changes):
        count = format_count(len(result.changes), "change")
        yield f"{question.id}: the starter (-) needs {count} (+)"
    else:
        yield f"{question.id}: right answers"
    for number, change in enumerate(result.changes, 1):
        yield ""
        for part, sentence in change.why:
            first = f"{number}: "
            if len(question.spec.parts) > 1:
                first = f"{number}, part {part}: "
            yield from text_layout.wrap_words(
                sentence, output.text_width(), first=first, indent="   "
            )
        yield from diff_lines([("-", text) for text in change.before])
        if change.after:
            new_lines = "\n".join(change.after).strip("\n").split("\n")
            yield from diff_lines([("+", text) for text in new_lines])
    yield ""
    if result.left:
        yield f"later parts need {format_count(result.left, 'more change')}, see --full"
        yield ""


def diff_lines(lines: Iterable[DiffLine]) -> Iterator[text_layout.Line]:
    """Yield each line of a difference after its colored sign; with `--plain`, "goes: x = 1"."""
    for sign, text in lines:
        if output.style.plain:
            if sign in _SIGN_WORDS:
                yield f"{_SIGN_WORDS[sign]}: {text}"
            else:
                yield "lines that stay are left out"
        elif sign == "...":
            yield "     ..."
        else:
            yield ((sign, _SIGN_STYLES.get(sign, "")), (text, ""))
