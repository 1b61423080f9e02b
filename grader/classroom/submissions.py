"""What a class handed in: every file of a folder or a zip archive, and whose it is.

A name decides whose a file is and which question it answers, nothing inside it does.  Links are not
followed: one may lead to somebody else's answer.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from grader.classroom.layouts import Layout, Place
from grader.model.classroom import HandedIn
from grader.model.errors import UsageError
from grader.sandbox.closing import Closing

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one


class Submissions(Closing):
    """The files of a class, one after another, in the order of their paths."""

    def __init__(self, root: Path, layout: Layout) -> None:
        """Open the folder or archive.

        Raises:
            UsageError: There is none, or it cannot be read.
        """
        self._files = _opened(root)
        self._layout = layout

    def __iter__(self) -> Iterator[HandedIn]:
        """Every file that is somebody's answer, with a `fault` where there is no program in it."""
        for item in self._files.items():
            place = self._layout.place(item.path)
            if place is None:
                continue
            try:
                sha256, fault = hashlib.sha256(self.program(item.path)).hexdigest(), ""
            except (OSError, UsageError) as error:
                sha256, fault = (
                    "",
                    error.strerror or "" if isinstance(error, OSError) else str(error),
                )
            yield _handed(place, item, sha256, fault)

    def program(self, path: str) -> bytes:
        """Return the program in a file.

        Raises:
            OSError, UsageError: There is none.
        """
        content = self._files.read(path, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UsageError(f"expected at most {MOST_BYTES:,} bytes, found more")
        return content

    def close(self) -> None:
        """Close the archive."""
        self._files.close()


@dataclass(frozen=True, slots=True)
class Item:
    """A file of a folder or an archive."""

    path: str  # from its root, with `/`
    at: str  # UTC, ISO 8601: when it was changed last


def _handed(place: Place, item: Item, sha256: str, fault: str) -> HandedIn:
    return HandedIn(
        place.student, place.question, item.path, sha256, place.at or item.at, fault, place.name,
        place.email,
    )  # fmt: skip


class _Files(Closing, ABC):
    @abstractmethod
    def items(self) -> Iterator[Item]:
        """Every regular file with a harmless name, in order."""

    @abstractmethod
    def read(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file."""


def _opened(root: Path) -> _Files:
    if root.is_dir():
        return _Folder(root)
    if not root.exists():
        raise UsageError(f"{root}: there is no such folder or file")
    try:
        return _Zip(zipfile.ZipFile(root))
    except (OSError, zipfile.BadZipFile) as fault:
        raise UsageError(f"{root}: expected a folder or a zip file: {fault}") from fault


class _Folder(_Files):
    def __init__(self, root: Path) -> None:
        self._root = root

    def items(self) -> Iterator[Item]:
        yield from self._under("")

    def _under(self, folder: str) -> Iterator[Item]:
        with os.scandir(self._root / folder) as found:
            entries = sorted(found, key=lambda one: one.name)
        for entry in entries:
            if entry.name.startswith((".", "__")):
                continue
            path = f"{folder}{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                yield from self._under(f"{path}/")
            else:
                changed = entry.stat(follow_symlinks=False).st_mtime
                yield Item(path, datetime.fromtimestamp(changed, UTC).isoformat(timespec="seconds"))

    def read(self, path: str, most: int) -> bytes:
        handle = os.open(self._root / path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UsageError("expected a file")
            with os.fdopen(handle, "rb", closefd=False) as file:
                return file.read(most)
        finally:
            os.close(handle)

    def close(self) -> None:
        """There is nothing to close."""


class _Zip(_Files):
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def items(self) -> Iterator[Item]:
        for info in sorted(self._archive.infolist(), key=lambda one: one.filename):
            parts = PurePosixPath(info.filename).parts
            hidden = any(part.startswith((".", "__")) for part in parts)
            if not info.is_dir() and not hidden:
                at = datetime(*info.date_time, tzinfo=UTC)  # an archive does not know its own zone
                yield Item(info.filename, at.isoformat(timespec="seconds"))

    def read(self, path: str, most: int) -> bytes:
        with self._archive.open(path) as file:
            return file.read(most)

    def close(self) -> None:
        self._archive.close()
