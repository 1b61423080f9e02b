"""Every file of a folder or an archive, archives in it included, in the order of their paths.

Nothing is unpacked onto the disk.  Links are not followed: one may lead to somebody else's answer.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom.archives import EMPTY, MOST_ARCHIVE, Archive, opened_file, packed
from grader.classroom.layouts import ARCHIVE, acts, suffix
from grader.model.errors import UsageError
from grader.sandbox.closing import Closing

DEEPEST = 40  # folders in each other
LONGEST = 1000  # characters of a path
_NOT_THEIRS = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})
_KINDS = {stat.S_IFLNK: "a link, which is not followed", stat.S_IFIFO: "a pipe"}


@dataclass(frozen=True, slots=True)
class Item:
    """A file, or what is in the place of one."""

    path: str  # from the root, with `/`; what is in an archive lies below its name
    at: str = ""  # UTC, ISO 8601: when it was changed last, as the instructor's side says
    fault: str = ""  # why there is nothing to be read, one sentence
    stray: bool = False  # whether it is nobody's, whatever its path: the fault is not a student's


class Files(Closing, ABC):
    """Where the files of a class are."""

    @abstractmethod
    def items(self) -> Iterator[Item]:
        """Give every file, in the order of the paths, folder by folder."""

    @abstractmethod
    def read(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file.

        Raises:
            OSError, UsageError: It cannot be read.
        """


def opened(root: Path) -> Files:
    """Open a folder or a zip file.

    Raises:
        UsageError: There is none, or it cannot be read.
    """
    if root.is_dir():
        return Folder(root)
    if not root.exists():
        raise UsageError(f"{root}: there is no such folder or file")
    if not root.is_file():
        raise UsageError(f"{root}: expected a folder or a zip file")
    try:
        return Zipped(opened_file(root))
    except UsageError as fault:
        raise UsageError(f"{root}: expected a folder or a zip file: {fault.message}") from fault
    except OSError as fault:
        raise UsageError(f"{root}: cannot be read: {fault.strerror}") from fault


class Folder(Files):
    """A folder."""

    def __init__(self, root: Path) -> None:
        """Look at nothing yet."""
        self._root = root
        self._last: tuple[str, Archive] | None = None  # the archive that was read from last

    def items(self) -> Iterator[Item]:
        """Give every file."""
        try:
            os.scandir(self._root).close()
        except OSError as fault:
            raise UsageError(f"{self._root}: cannot be read: {fault.strerror}") from fault
        yield from self._under("", 0)

    def _under(self, folder: str, depth: int) -> Iterator[Item]:
        if depth > DEEPEST:
            yield Item(folder.rstrip("/"), fault=f"lies deeper than {DEEPEST} folders")
            return
        try:
            names = sorted(os.listdir(self._root / folder))  # noqa: PTH208 - names alone are small
        except OSError as fault:
            yield Item(folder.rstrip("/"), fault=_unreadable(fault), stray=True)
            return
        for name in names:
            path = f"{folder}{name}"
            if ignored(name):
                continue
            if wrong := unusable(path):
                yield Item(path, fault=wrong)
                continue
            try:
                found = os.lstat(self._root / path)
            except OSError as fault:
                yield Item(path, fault=_unreadable(fault), stray=True)
                continue
            if stat.S_ISDIR(found.st_mode):
                yield from self._under(f"{path}/", depth + 1)
            else:
                yield from self._file(path, found)

    def _file(self, path: str, found: os.stat_result) -> Iterator[Item]:
        at = _moment(found.st_mtime)
        if not stat.S_ISREG(found.st_mode):
            yield Item(path, at, _KINDS.get(stat.S_IFMT(found.st_mode), "a device, and no file"))
        elif not os.access(self._root / path, os.R_OK):
            yield Item(path, at, "cannot be read: Permission denied", stray=True)
        elif suffix(path) == ARCHIVE:
            yield from self._packed(path, at)
        else:
            yield Item(path, at)

    def _packed(self, path: str, at: str) -> Iterator[Item]:
        try:
            archive = self._archive(path)
        except OSError as fault:
            yield Item(path, at, _unreadable(fault), stray=True)
        except UsageError as fault:
            yield Item(path, at, fault.message)
        else:
            yield from _inside(archive, f"{path}/", at)

    def read(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file."""
        parts = path.split("/")
        for count, part in enumerate(parts[:-1], 1):
            before = "/".join(parts[:count])
            if suffix(part) == ARCHIVE and not (self._root / before).is_dir():
                return self._archive(before).read("/".join(parts[count:]), most)
        return self._bytes(path, most)

    def _archive(self, path: str) -> Archive:
        if self._last is None or self._last[0] != path:
            self._last = path, packed(self._bytes(path, MOST_ARCHIVE + 1))
        return self._last[1]

    def _bytes(self, path: str, most: int) -> bytes:
        """Read a file; no part of the path may be a link, whenever it became one."""
        *folders, name = path.split("/")
        handle = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for folder in folders:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
                inner = os.open(folder, flags, dir_fd=handle)
                os.close(handle)
                handle = inner
            # Without O_NONBLOCK, opening a pipe would wait for somebody to write into it.
            flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW
            with os.fdopen(os.open(name, flags, dir_fd=handle), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise UsageError("expected a file")
                return file.read(most)
        finally:
            os.close(handle)

    def close(self) -> None:
        """Forget what was read."""
        self._last = None


class Zipped(Files):
    """An archive."""

    def __init__(self, archive: Archive) -> None:
        """Take an open one."""
        self._archive = archive

    def items(self) -> Iterator[Item]:
        """Give every file."""
        yield from _inside(self._archive, "", None)

    def read(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file."""
        return self._archive.read(path, most)

    def close(self) -> None:
        """Close it."""
        self._archive.close()


def _inside(archive: Archive, where: str, at: str | None) -> Iterator[Item]:
    """Give the files of an archive; their times are a student's word where it is a student's."""
    empty = True
    for entry in archive.entries():
        if any(ignored(part) for part in entry.path.split("/")):
            continue
        empty = False
        path = f"{where}{entry.path}"
        fault = entry.fault or unusable(path)
        yield Item(path, entry.at if at is None else at, fault, entry.stray)
    if empty and where:
        yield Item(where.rstrip("/"), at or "", EMPTY)


def ignored(name: str) -> bool:
    """Return whether a file was left by a program, and is of no interest to anybody."""
    return (name.startswith(".") and name not in {".", ".."}) or name in _NOT_THEIRS


def unusable(path: str) -> str:
    """Return why a path cannot be used, "" where it can."""
    if acts(path):
        return "its name has characters that cannot be shown"
    return f"its path has more than {LONGEST} characters" if len(path) > LONGEST else ""


def _unreadable(fault: OSError) -> str:
    return f"cannot be read: {fault.strerror}"


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""
