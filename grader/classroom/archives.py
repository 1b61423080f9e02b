"""Zip files as students and learning platforms make them: read in memory, and never believed."""

from __future__ import annotations

import errno
import io
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom.layouts import ARCHIVE, suffix
from grader.model.errors import UsageError
from grader.reports.inert import inert
from grader.sandbox.closing import Closing

MOST_ARCHIVE = 64_000_000  # bytes of one in a submission, and of all that are packed in it
MOST_ENTRIES = 20_000  # of one in a submission
DEEPEST = 3  # archives in each other, from the one that was handed in
EMPTY = "a zip file with nothing in it"
LONGEST = 1000  # characters of a path
_HEADER = 30  # bytes before each file, its name not counted
_ENTRY = b"PK\x01\x02"  # with which each entry of the list at the end begins
_ENCRYPTED, _UTF8 = 0x1, 0x800
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What the module zipfile raises on a file that is no archive, or a damaged one.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError,
    OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an archive, those of archives in it included."""

    path: str
    at: str = ""
    fault: str = ""
    stray: bool = False  # whether its path says nothing about whose it is


@dataclass(frozen=True, slots=True)
class _Named:
    path: str
    info: zipfile.ZipInfo
    fault: str
    stray: bool


class _Budget:
    """How much may still be unpacked to look into the archives of one that was handed in."""

    def __init__(self) -> None:
        self._bytes, self._entries = MOST_ARCHIVE, MOST_ENTRIES
        self._seen: set[str] = set()
        self._over = ""  # why nothing more is opened

    def reserve(self, path: str, size: int) -> None:
        """Count the bytes of an archive before they are unpacked, whatever comes of it.

        Raises:
            UsageError: They hold more than those of any honest one, this one or one before it.
        """
        if path in self._seen:
            return
        if not self._over and size > self._bytes:
            self._over = f"its zip files hold more than {MOST_ARCHIVE:,} bytes"
        self._check()
        self._bytes -= size

    def spend(self, path: str, content: bytes) -> None:
        """Count the files of an archive, when it is opened first.

        Raises:
            UsageError: They are more than those of any honest one.
        """
        if path in self._seen:
            return
        count = content.count(_ENTRY)
        if count > self._entries:
            self._over = f"its zip files hold more than {MOST_ENTRIES:,} files"
        self._check()
        self._seen.add(path)
        self._entries -= count

    def _check(self) -> None:
        if self._over:
            raise UsageError(self._over)


class Archive(Closing):
    """An open zip file."""

    def __init__(
        self,
        archive: zipfile.ZipFile,
        depth: int,
        where: str = "",
        budget: _Budget | None = None,
    ) -> None:
        """Take an open one.

        Args:
            archive: What was opened.
            depth: 0 for that of a class, 1 for one that was handed in, more for those in it.
            where: Its path in the one that was handed in.
            budget: Of the one that was handed in.
        """
        self._zip, self._depth, self._where = archive, depth, where
        self._budget = budget or _Budget()
        self._named = _named(archive, windows=depth > 0 or _windows(archive))
        self._by_path = {one.path: one for one in self._named}
        self._last: tuple[str, Archive] | None = None

    def entries(self) -> Iterator[Entry]:
        """Give every file, in the order of the paths, folder by folder."""
        for one in self._named:
            at = _moment(one.info)
            if one.fault or suffix(one.path) != ARCHIVE:
                yield Entry(one.path, at, one.fault, one.stray)
                continue
            try:
                inner = self._inner(one)
            except UsageError as fault:
                yield Entry(one.path, at, fault.message)
                continue
            except OSError as fault:
                yield Entry(one.path, at, f"cannot be read: {fault.strerror}", stray=True)
                continue
            none = True
            for entry in inner.entries():
                none = False
                yield Entry(f"{one.path}/{entry.path}", at, entry.fault, entry.stray)
            if none:
                yield Entry(one.path, at, EMPTY)

    def read(self, path: str, most: int) -> bytes:
        """Return the first bytes of a file.

        Raises:
            OSError: This machine cannot read it.
        UsageError: There is none, or it is damaged.
        """
        found = self._by_path.get(path)
        if found is not None:
            return self._bytes(found, most)
        parts = path.split("/")
        for count in range(1, len(parts)):
            found = self._by_path.get("/".join(parts[:count]))
            if found is not None and suffix(found.path) == ARCHIVE:
                return self._inner(found).read("/".join(parts[count:]), most)
        raise UsageError("expected a file of the zip file, found none")

    def _inner(self, one: _Named) -> Archive:
        if self._last is None or self._last[0] != one.path:
            if self._depth >= DEEPEST:
                raise UsageError(f"expected at most {DEEPEST} zip files in each other, found more")
            where = f"{self._where}{one.path}/" if self._depth else ""
            size = one.info.file_size  # no more is unpacked, even where it is a lie
            if self._depth:
                self._budget.reserve(where, size)
            elif size > MOST_ARCHIVE:
                raise _too_large()
            content = self._bytes(one, size)
            if self._depth:
                self._budget.spend(where, content)
            budget = self._budget if self._depth else None
            self._last = one.path, packed(content, self._depth + 1, where, budget)
        return self._last[1]

    def _bytes(self, one: _Named, most: int) -> bytes:
        if one.fault:
            raise UsageError(one.fault)
        with _explained(), self._zip.open(one.info) as file:
            return file.read(most)

    def close(self) -> None:
        """Close it."""
        self._zip.close()


def opened_file(path: Path) -> Archive:
    """Open the zip file of a class, which may be of any size.

    Raises:
        UsageError: It is none.
    """
    with _explained():
        return Archive(zipfile.ZipFile(path), 0)


def packed(
    content: bytes, depth: int = 1, where: str = "", budget: _Budget | None = None
) -> Archive:
    """Open a zip file that was handed in.

    Raises:
        UsageError: It is none, or is larger than any honest one.
    """
    if len(content) > MOST_ARCHIVE:
        raise _too_large()
    # Counted before zipfile makes an object of each; what the end record says may be a lie.
    if content.count(_ENTRY) > MOST_ENTRIES:
        raise UsageError(f"expected a zip file of at most {MOST_ENTRIES:,} files, found more")
    with _explained():
        return Archive(zipfile.ZipFile(io.BytesIO(content)), depth, where, budget)


def _too_large() -> UsageError:
    return UsageError(f"expected a zip file of at most {MOST_ARCHIVE:,} bytes, found more")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # of this machine; a damaged file has it seek what is not there
        said = inert(" ".join(str(error).split()), 120) or type(error).__name__
        raise UsageError(f"expected a zip file, found a damaged one: {said}") from None


def _windows(archive: zipfile.ZipFile) -> bool:
    r"""Whether a class's archive has `\` between folders: all its paths do, and none has a `/`.

    Where only some have one, a student wrote it into a name.
    """
    names = [info.orig_filename for info in archive.infolist()]
    return all("\\" in name and "/" not in name for name in names)


def _named(archive: zipfile.ZipFile, *, windows: bool) -> list[_Named]:
    r"""Return every file that an archive lists, in order, with what is wrong with it.

    Args:
        archive: An open one.
        windows: Whether `\` stands between folders too.
    """
    files, lost = [], []
    overlapping = _overlapping(archive.infolist())
    for info in archive.infolist():
        path = _path(info, windows=windows)
        if len(path) > LONGEST:
            why = f"its path has more than {LONGEST} characters"
            lost.append(_Named(f"{path[:100]}[...]", info, why, stray=True))
        elif not path.endswith("/"):
            files.append((path.split("/"), info))
    files.sort(key=lambda one: one[0])
    times = Counter("/".join(parts) for parts, _ in files)
    found: list[_Named] = []
    above: list[str] = []  # the last file: what lies below it comes right after it
    place = 0
    for parts, info in files:
        path = "/".join(parts)
        stray = path[1:2] == ":" or any(part in {"", ".", ".."} for part in parts)
        fault = "its path leads out of the zip file" if stray else _fault(info)
        if id(info) in overlapping:
            fault = "it lies over another file of the zip file"
        if times[path] > 1:
            fault = "the zip file has it more than once"
        elif above and parts[: len(above)] == above:
            fault = "the zip file has a file and a folder of one name"
            found[place] = replace(found[place], fault=fault)
        else:
            above, place = parts, len(found)
        found.append(_Named(path, info, fault, stray))
    return found + lost


def _overlapping(infos: Iterable[zipfile.ZipInfo]) -> set[int]:
    """Return the ids of entries whose bytes are another's too: little that unpacks to much."""
    found: set[int] = set()
    end, last = 0, None
    for info in sorted(infos, key=lambda one: one.header_offset):
        if last is not None and info.header_offset < end:
            found |= {id(last), id(info)}
        if info.header_offset + _HEADER + info.compress_size >= end:
            end, last = info.header_offset + _HEADER + info.compress_size, info
    return found


def _path(info: zipfile.ZipInfo, *, windows: bool) -> str:
    """Return an entry's path; not all programs that write UTF-8 say so."""
    name = info.orig_filename  # `filename` is cut where it has a NUL
    if not info.flag_bits & _UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return (name.replace("\\", "/") if windows else name).removeprefix("./")


def _fault(info: zipfile.ZipInfo) -> str:
    mode = stat.S_IFMT(info.external_attr >> 16)
    if mode == stat.S_IFLNK:
        return "a link, which is not followed"
    if mode not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "a device or a pipe, and no file"
    if info.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if info.compress_type not in _METHODS:
        return "it is packed in a way that is not read: pack it as a plain zip file"
    return ""


def _moment(info: zipfile.ZipInfo) -> str:
    try:  # an archive does not know its own zone
        return datetime(*info.date_time, tzinfo=UTC).isoformat(timespec="seconds")
    except ValueError:
        return ""
