"""A drill's folder: submission.py, QUESTION.md, and `.drill`, which says whose folder it is.

The marker is written first: a start that was killed half way is then finished by the next one,
and a folder without a marker is somebody's own, in which nothing is ever written over.

A marker may come with somebody else's files, so that it is only a claim. What it says of a bank
counts where the records hold that start; `resolve` sees to that.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from grader.app import files
from grader.model.errors import UsageError

MARKER = ".drill"
SUBMISSION = "submission.py"
QUESTION = "QUESTION.md"

_NAMES = ("question", "bank", "started_at")  # what a marker says
_MOST_MARKER_BYTES = 10_000
_MOST_CHARACTERS = 4096  # of a value: the longest path that Linux takes


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder in which a drill was started, as its marker has it."""

    question: str
    bank: str  # a claim
    folder: Path
    started_at: str  # UTC, ISO 8601
    mine: bool = True  # whether the marker belongs to the user who runs this

    @property
    def submission(self) -> Path:
        """The file that is graded."""
        return self.folder / SUBMISSION


@dataclass(frozen=True, slots=True)
class Made:
    """What a start did: the workspace, whether it was there before, and what was added."""

    workspace: Workspace
    already: bool
    written: tuple[str, ...]


def make(wanted: Workspace, starter: bytes, question: str) -> Made:
    """Make the folder of a drill, adding only what is missing.

    Raises:
        UsageError: The folder is another drill's, somebody's own, or cannot be made.
    """
    folder = wanted.folder
    _make_folder(folder)
    found = open_folder(folder)
    if found is not None and found.question != wanted.question:
        raise UsageError(
            f"{folder}: expected a folder for {wanted.question}, found that of {found.question}",
            hint=f"drill start {wanted.question} --dir DIR makes it elsewhere",
        )
    if found is None:
        _refuse_work(wanted)
        content = {"format": 1} | {name: getattr(wanted, name) for name in _NAMES}
        files.create(folder / MARKER, (json.dumps(content, indent=2) + "\n").encode())
    written = [
        name
        for name, text in ((SUBMISSION, starter), (QUESTION, question.encode()))
        if files.create(folder / name, text)
    ]
    return Made(found or wanted, already=found is not None, written=tuple(written))


def open_folder(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is, None where it has no marker.

    Raises:
        UsageError: The marker is there and does not say what it should.
    """
    marker = folder / MARKER
    try:
        file, found = files.open_regular(marker)
    except (OSError, UsageError):
        return None  # a folder closed to us holds none of ours
    try:
        with file:
            content = json.loads(file.read(_MOST_MARKER_BYTES))
        question, bank, at = (_text(content, name) for name in _NAMES)
        if "/" in question:
            raise ValueError(question)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as fault:
        raise UsageError(
            f"{marker}: expected what drill start wrote there, found something else",
            hint="move the file away and start the drill again; your submission.py stays yours",
        ) from fault
    return Workspace(question, bank, folder, at, found.st_uid == os.geteuid())


def enclosing(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is or lies in."""
    if (own := open_folder(folder)) is not None:
        return own
    return next(filter(None, map(open_quietly, folder.parents)), None)


def inside(folder: Path) -> list[Workspace]:
    """Return the workspaces right inside a folder, the one started last first."""
    try:
        with os.scandir(folder) as entries:
            children = [folder / e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    found = filter(None, map(open_quietly, children))
    return sorted(found, key=lambda workspace: workspace.started_at, reverse=True)


def open_quietly(folder: Path) -> Workspace | None:
    """Open a folder nobody named: a broken marker there is no reason not to look further."""
    try:
        return open_folder(folder)
    except UsageError:
        return None


def _make_folder(folder: Path) -> None:
    files.refuse_link(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise UsageError(
            f"{folder}: expected a folder, or nothing yet; found a file",
            hint="move the file away, or choose another place with --dir DIR",
        ) from None
    except OSError as fault:
        raise UsageError(
            f"{folder}: the folder cannot be made: {fault.strerror}",
            hint="choose another place with --dir DIR",
        ) from fault


def _refuse_work(wanted: Workspace) -> None:
    """Refuse a folder without a marker that holds a file of a name we would write."""
    for name in (SUBMISSION, QUESTION, MARKER):
        if os.path.lexists(wanted.folder / name):
            raise UsageError(
                f"{wanted.folder / name} is there already and was not made by drill start;"
                " it is left as it is",
                hint=f"drill grade {wanted.question} --file PATH grades any file;"
                " --dir DIR starts elsewhere",
            )


def _text(content: dict[str, object], key: str) -> str:
    value = content[key]
    if not isinstance(value, str) or not 0 < len(value) <= _MOST_CHARACTERS or "\0" in value:
        raise ValueError(key)
    return value
