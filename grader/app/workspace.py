"""A drill's folder: submission.py, QUESTION.md, and `.drill`, which says whose folder it is.

A marker may come with somebody else's files, so that it is only a claim: `resolve` decides whether
its bank counts. One that belongs to another user is none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from grader.app import files
from grader.model.errors import UsageError

MARKER = ".drill"
SUBMISSION, ANSWERS = "submission.py", "answers.txt"
QUESTION = "QUESTION.md"

_MOST_MARKER_BYTES = 10_000
_MOST_CHARACTERS = 4096  # of a value: the longest path that Linux takes


@dataclass(frozen=True, slots=True)
class Workspace:
    """A folder in which a drill was started, as its marker has it."""

    question: str
    bank: str  # a claim
    folder: Path
    started_at: str  # UTC, ISO 8601
    file: str = SUBMISSION  # its name

    @property
    def submission(self) -> Path:
        """The file that is graded."""
        return self.folder / self.file

    def mark(self) -> None:
        """Write the marker.

        Raises:
            UsageError: The folder cannot be written.
        """
        import json

        names = ("question", "bank", "started_at")
        content = {"format": 1} | {name: getattr(self, name) for name in names}
        content |= {"file": self.file} if self.file != SUBMISSION else {}
        files.create(self.folder / MARKER, (json.dumps(content, indent=2) + "\n").encode())


def open_folder(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is, None where it has no marker.

    Raises:
        UsageError: The marker is there and does not say what it should.
    """
    marker = folder / MARKER
    try:
        raw, found = files.read_regular(marker, _MOST_MARKER_BYTES)
    except (OSError, UsageError):
        return None  # a folder closed to us holds none of ours
    if found.st_uid != os.geteuid():
        return None
    import json  # a list of questions, in a folder without a marker, needs none

    try:
        content = json.loads(raw)
        question, bank, at = (_text(content[name]) for name in ("question", "bank", "started_at"))
        if "/" in question:
            raise ValueError(question)
    except (ValueError, KeyError, TypeError, RecursionError) as fault:
        raise UsageError(
            f"{marker}: expected what drill start wrote there, found something else",
            hint="move the file away and start the drill again; your submission.py stays yours",
        ) from fault
    file = ANSWERS if content.get("file") == ANSWERS else SUBMISSION
    return Workspace(question, bank, folder, at, file)


def _text(value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _MOST_CHARACTERS or "\0" in value:
        raise ValueError
    return value


def open_quietly(folder: Path) -> Workspace | None:
    """Open a folder nobody named: a broken marker there is no reason not to look further."""
    try:
        return open_folder(folder)
    except UsageError:
        return None


def enclosing(folder: Path) -> Workspace | None:
    """Return the workspace that a folder is or lies in."""
    return open_folder(folder) or next(filter(None, map(open_quietly, folder.parents)), None)


def inside(folder: Path) -> list[Workspace]:
    """Return the workspaces right inside a folder, the one started last first."""
    try:
        with os.scandir(folder) as entries:
            children = [folder / e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    found = filter(None, map(open_quietly, children))
    return sorted(found, key=lambda workspace: workspace.started_at, reverse=True)
