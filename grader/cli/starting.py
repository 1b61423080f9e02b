"""`drill start` and `drill reset`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import files, output, place, workspace
from grader.cli.choose import choose, load, need_workspace
from grader.cli.journal import Journal
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.cli.workspace import Laid
    from grader.model.question import Question


def start(
    question_id: str, *, bank: Path | None, parent: Path | None = None, as_json: bool = False
) -> int:
    """Lay a drill down in a folder of its own and show the question."""
    from grader.reports.question import question_markdown

    question = load(question_id, bank=bank)
    wanted = workspace.Workspace(
        question.id, question.bank, _folder(question.id, parent), place.now()
    )
    _refuse_other_bank(wanted, bank)
    starter = question.handed_out(question.starter)
    laid = workspace.lay_down(wanted, starter, question_markdown(question))
    if not laid.already:
        _record(laid)
    if as_json:
        output.document(
            {
                "format": 1,
                "question": question.id,
                "folder": str(laid.workspace.folder),
                "submission": str(laid.workspace.submission),
                "already_started": laid.already,
                "started_at": laid.workspace.started_at,
                "written": list(laid.written),
            }
        )
    else:
        _show(question, laid)
    return 0


def reset(question_id: str | None, *, bank: Path | None, as_json: bool = False) -> int:
    """Put the starter back, keeping what was there beside it and in the records."""
    journal = Journal()
    choice = choose(question_id, bank=bank, journal=journal)
    found = need_workspace(choice)
    question = choice.question
    starter = question.handed_out(question.starter)
    copy = put_back(found.submission, starter, "reset", question=question, into=journal)
    if as_json:
        output.document(
            {
                "format": 1,
                "question": choice.question.id,
                "submission": str(found.submission),
                "kept": None if copy is None else str(copy),
            }
        )
        return 0
    shown = _near(found.submission)
    output.write(f"{shown} is the starter again" if copy else f"{shown} is the starter")
    if copy is not None:
        output.write(f"what was there is kept in {_near(copy)}")
    return 0


def put_back(
    path: Path, content: bytes, reason: str, *, question: Question, into: Journal
) -> Path | None:
    """Put `content` into a file after keeping what was there, beside it and in the records.

    Returns:
        The copy, None where there was nothing to keep.
    """
    files.refuse_link(path)
    if not path.exists():
        files.create(path, content)
        return None
    before = files.read_submission(path)
    if before == content:
        return None
    copy = files.back_up(path, before, reason)

    from grader.records import attempts

    into.write(
        lambda db: attempts.begin(
            db,
            question=question.id,
            bank=str(question.bank),
            at=place.now(),
            seed=None,
            submission=before,
            kind="kept",
        )
    )
    files.replace(path, content)
    return copy


def _folder(question_id: str, parent: Path | None) -> Path:
    """Return where the drill goes: its own folder when we stand in it, else one of its name."""
    here = place.here()
    if parent is not None:
        return here / parent.expanduser() / question_id
    inside = workspace.enclosing(here)
    if inside is not None and inside.question == question_id:
        return inside.folder
    return here / question_id


def _refuse_other_bank(wanted: workspace.Workspace, bank: Path | None) -> None:
    """Refuse the folder of a question of the same id that another bank in use holds.

    A bank that has moved is not another one: its question is found where it is now.

    Raises:
        UsageError: It is such a folder.
    """
    found = workspace.open_quietly(wanted.folder)
    if found is None or found.question != wanted.question or found.bank == wanted.bank:
        return
    from grader.bank import holds, names
    from grader.cli.inuse import banks

    called = {path: name for name, path in names(banks(bank)).items()}
    if found.bank in called and holds(found.bank, found.question):
        raise UsageError(
            f"{wanted.folder}: expected a folder for {called.get(wanted.bank)}/{wanted.question}, "
            f"found that of {called[found.bank]}/{found.question}",
            hint=f"drill start {called.get(wanted.bank)}/{wanted.question} --dir DIR makes it"
            " elsewhere",
        )


def _record(laid: Laid) -> None:
    from grader.records import progress

    found = laid.workspace
    row = progress.Start(found.question, str(found.bank), str(found.folder), found.started_at)
    Journal().write(lambda db: progress.add_start(db, row))


def _show(question: Question, laid: Laid) -> None:
    from grader.reports.question import render_question

    shown = _near(laid.workspace.submission)
    output.show(render_question(question, output.width()))
    output.write()
    if laid.already and workspace.SUBMISSION not in laid.written:
        output.write(f"already started: {shown} is yours and was left as it is")
    else:
        output.write(f"edit {shown}, then: drill grade")


def _near(path: Path) -> str:
    """Return a path as short as it can be typed from here."""
    try:
        return str(path.relative_to(place.here()))
    except ValueError:
        return str(path)
