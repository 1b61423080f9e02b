"""Find the file and the question that `drill grade` is about, and if the grade counts as a try."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from grader import bank
from grader.commands import files
from grader.commands.context import Context
from grader.commands.workspaces import ResolvedDrill, enclosing_workspace, resolve_drill
from grader.model.errors import UsageError
from grader.records.progress import QuestionProgress


class GradeTarget(NamedTuple):
    """A drill and the file to grade."""

    resolved_drill: ResolvedDrill
    path: Path
    repeat_arguments: str  # that follow `drill grade` to grade this file again


def resolve_target(
    ctx: Context,
    target: str | None,
    file: Path | None = None,
    before_load: Callable[[Path, str], None] = lambda *_: None,
    seed: int | None = None,
) -> GradeTarget:
    """Return the drill and the file to grade.

    `target` is ID, BANK/ID, or the path of a drill's folder or of a file in it; by default it is
    the drill of the current folder.  With `file`, that file is graded for the question `target`, or
    else for the question of the file's folder.  `before_load` is called with the bank and the ID
    before the question is loaded.  `seed` chooses the numbers in the question's text for a `file`
    that is not in a drill's folder of that question.
    """
    folder = ctx.current_folder()
    if file:
        path = folder / file.expanduser()
        around = enclosing_workspace(path.parent)
        if around and around.question == (target or around.question).rpartition("/")[2]:
            seed = around.seed  # its QUESTION.md shows these numbers
        own_folder = around.folder if around and not target else None
        drill = resolve_drill(ctx, target, folder=own_folder, before_load=before_load, seed=seed)
        arguments = f" {target}" if target else ""
        arguments += f" --file {shlex.quote(str(file))}"
        if drill.question.spec.given and seed is not None:
            arguments += f" --seed {seed}"
        return GradeTarget(drill, path, f"{arguments}{ctx.bank_option}")
    if target is not None and _is_path(ctx, target):
        path = folder / Path(target).expanduser()
        if not os.path.lexists(path):
            raise UsageError(f"{target}: there is no such file or folder")
        is_folder = path.is_dir() and not path.is_symlink()
        drill = resolve_drill(
            ctx, None, folder=path if is_folder else path.parent, before_load=before_load
        )
        submission = drill.require_workspace().submission
        return GradeTarget(
            drill, submission if is_folder else path, f" {shlex.quote(target)}{ctx.bank_option}"
        )
    drill = resolve_drill(ctx, target, before_load=before_load)
    return GradeTarget(drill, drill.require_workspace().submission, drill.drill_argument)


def _is_path(ctx: Context, target: str) -> bool:
    """Return True if `target` is a path, not ID or BANK/ID.

    A name that both a question and a folder have means the question.
    """
    if target.startswith((".", "/", "~")) or target.endswith(("/", ".py", ".ipynb", ".txt")):
        return True
    if not os.path.lexists(ctx.current_folder() / target):
        return False
    try:
        bank.find_question(ctx.banks(), target)
    except UsageError:
        return True
    return False


def select_parts(
    target: GradeTarget, parts: str | None
) -> tuple[GradeTarget, tuple[int, ...] | None]:
    """Return the target with `--parts` in its arguments, and the part numbers: (1, 2) for "1,2".

    Without `parts` the numbers are None: all parts count.  UsageError for an unknown part.
    """
    if parts is None:
        return target, None
    spec = target.resolved_drill.question.spec
    last = len(spec.parts)
    numbers = {spec.part_numbers.get(word.strip(), 0) for word in parts.split(",")}
    if 0 in numbers:
        expected = f"expected numbers from 1 to {last}" if last > 1 else "expected 1, its only part"
        raise UsageError(f"--parts: {expected}, separated by commas, found {parts!r}")
    arguments = f"{target.repeat_arguments} --parts {shlex.quote(parts)}"
    return target._replace(repeat_arguments=arguments), tuple(sorted(numbers))


def read_submission(target: GradeTarget) -> bytes:
    """Return the bytes of the file to grade; for a notebook, the bytes of its code.

    UsageError if the file is missing or cannot be read.
    """
    drill, path, _ = target
    is_own = drill.workspace is not None and path == drill.workspace.submission
    if is_own and not os.path.lexists(path):
        raise UsageError(
            f"{path}: there is no such file any more",
            hint=f"Next: drill reset{drill.drill_argument}",
        )
    submission = files.read_submission(path)
    if path.suffix == ".ipynb":
        from grader.classroom.notebook import notebook_code

        submission = notebook_code(submission)
    return submission


def why_not_counted(target: GradeTarget, file: Path | None, tries: int) -> tuple[str, ...] | None:
    """Return None if a grade counts as an attempt; otherwise a warning and advice, or ().

    It counts if the file is the submission of a folder that this person has started, unless it is a
    second prediction.  () needs no warning: the person grades another file on purpose.
    """
    drill, path, _ = target
    if file or drill.workspace is None:
        return ()
    if os.path.realpath(path) != os.path.realpath(drill.workspace.submission):
        return ()
    if not drill.is_started:
        command = f"drill start {drill.typed_name}{drill.bank_option}"
        return (
            "You did not start this folder; the grade is not counted as an attempt.",
            f"If it is yours, {command} in it makes it count.",
        )
    if drill.form.allows_one_try and tries:
        return (f"Only your first prediction is scored; this grade of {path.name} does not count.",)
    return None


def confirm_prediction(
    target: GradeTarget,
    submission: bytes,
    question_progress: QuestionProgress,
    confirm_answers: Callable[[bytes], bool],
    *,
    counts: bool,
) -> None:
    """Raise UsageError if the person does not confirm the first grade of a prediction.

    A prediction is a question with one try: results are predicted without running code.
    UsageError as well if another file is graded before it, because its grade shows the answers.
    Other questions, later grades and unreadable answers need no confirmation.
    """
    from grader.forms.number_forms import prediction_as_read
    from grader.grading.submission import submission_program

    drill, path, repeat_arguments = target
    question = drill.question
    if question_progress.tries or not drill.form.allows_one_try:
        return
    if not (counts or question_progress.given_up):
        name = f"{drill.typed_name}{drill.bank_option}"
        raise UsageError(
            f"{path.name}: expected your own first prediction of {question.id}, found a file "
            "that would not count, and its grade shows what is right",
            hint=f"Next: drill start {name} to predict, or "
            f"drill solution {name} --give-up to grade other files",
        )
    if not isinstance(submission_program(submission, question, path.name), bytes):
        return
    lines = prediction_as_read(submission, question)
    if lines and not confirm_answers("".join(f"{line}\n" for line in lines).encode()):
        text = "the first grade of a prediction is the one that counts, and shows what is right"
        answers = "; ".join(line.strip() for line in lines if line.partition("#")[0].strip())
        raise UsageError(
            f"{text}; read: {answers}", hint=f"Next: drill grade{repeat_arguments} --yes"
        )
