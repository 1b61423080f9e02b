"""What a class handed in: every file of a folder or a zip file, whose it is, and its program.

Zip files are believed in nothing.  What may be an answer in one is unpacked into a temporary
folder, under names of ours, and no more of it than an honest one holds; links are not followed, one
may lead to somebody else's answer.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import struct
import tempfile
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count, groupby
from pathlib import Path

from grader.classroom import notebook
from grader.classroom.disk import regular
from grader.classroom.layout import (
    ARCHIVE,
    LAYOUTS,
    METADATA,
    NONE,
    AnswerNames,
    Claim,
    Layout,
    Pattern,
    acts,
    copy_number,
    detected,
    submitters,
    suffix,
)
from grader.model.classroom import HandIn
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.reports.sheet import inert
from grader.sandbox.closing import Closing

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one
MOST_METADATA = 64_000_000  # bytes of what Gradescope says, with all that programs printed
MOST_FILES = 20  # that one student may hand in for one question
MOST_ARCHIVE = 64_000_000  # bytes of a zip file that is handed in, and of all that is in it
MOST_ENTRIES = 20_000  # files in one that is handed in
MOST_CLASS = 4_000_000_000  # bytes that are unpacked of a whole class
DEEPEST_ARCHIVE = 3  # zip files in each other, from the one that was handed in
DEEPEST = 40  # folders in each other
LONGEST = 1000  # characters of a path
SHOWN = 5  # files that are named
EMPTY = "a zip file with nothing in it"
_NOT_THEIRS = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})
_LINK = "a link, which is not followed"
_ENTRY = b"PK\x01\x02"  # with which each entry of the list at the end of a zip file begins
_ENCRYPTED, _UTF8 = 0x1, 0x800
# What the module zipfile raises on a file that is no archive, or a damaged one.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError,
    OSError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, or what is in the place of one."""

    path: str  # from the root, with `/`; what is in a zip file lies below its name
    at: str = ""  # UTC, ISO 8601: when it was changed last, as the instructor's side says
    fault: str = ""  # why there is nothing to be read, one sentence
    stray: bool = False  # whether it is nobody's, whatever its path: the fault is not a student's
    bytes_at: Path | None = None  # where they are


@dataclass(slots=True)
class Unused:
    """The files that are nobody's answer, and who handed in nothing else."""

    programs: int = 0
    first: list[tuple[str, str]] = field(default_factory=list)  # the first of them, and why
    lacking: list[str] = field(default_factory=list)  # students, once for each question

    def add(self, path: str, why: str = "") -> None:
        """Count one more, if it is a program."""
        self.programs += bool(why)
        if why and len(self.first) < SHOWN:
            self.first.append((path, why))

    def __str__(self) -> str:
        """Say it, nothing where there are none."""
        if not self.programs:
            return ""
        shown = "; ".join(f"{inert(path, 200)} ({why})" for path, why in self.first)
        more = self.programs - len(self.first)
        are = "that is" if self.programs == 1 else "that are"
        counted = f"{quantity(self.programs, 'file')} {are} nobody's answer"
        return f"{counted}: {shown}" + (f"; {more:,} more" if more else "")


class HandIns(Closing):
    """The files of a class, one after another, in the order of their paths."""

    def __init__(
        self,
        root: Path,
        asked: Sequence[str],
        layout: str = "",
        pattern: str = "",
        texts: Collection[str] = (),
    ) -> None:
        """Open the folder or zip file and look how it is laid out.

        Args:
            root: A folder or a zip file.
            asked: The questions' ids.
            layout: One of `LAYOUTS`; the one that fits where it is not given.
            pattern: The paths of answers, with named fields.
            texts: The ids of those that are answered by a text.

        Raises:
            UsageError: There is none, it cannot be read, or it is not clear how it is laid out.
        """
        if layout and pattern:
            raise UsageError("expected --layout or --pattern, found both")
        if layout and layout not in LAYOUTS:
            raise UsageError(f"--layout: expected {', '.join(LAYOUTS)}, found {layout}")
        if not root.is_dir() and not root.is_file():
            found = "something else" if root.exists() else "none"
            raise UsageError(f"{root}: expected a folder or a zip file, found {found}")
        names = AnswerNames(asked, texts)
        described = Pattern(pattern, names) if pattern else None
        self.unused = Unused()  # of the last walk
        self._root, self._ends = Path(os.path.realpath(root)), names.ends
        self._zips = _Zips(names.ends)
        try:
            self.layout: Layout | Pattern = described or self._detected(layout, names)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove what was unpacked."""
        self._zips.close()

    def _detected(self, name: str, names: AnswerNames) -> Layout:
        found, around = detected((one.path for one in self._files()), names, name)
        people = {}
        if found == "gradescope":
            at = f"{around}/{METADATA}" if around else METADATA
            for file in (one for one in self._files() if one.path == at):
                people = submitters(_bytes(file, MOST_METADATA))
        return Layout(found, names, around, people)

    def __iter__(self) -> Iterator[tuple[HandIn, bytes]]:
        """Give every file that is somebody's answer, with its program.

        Where there is no program in it, there is a `fault` in the one and nothing in the other.
        """
        self.unused = Unused()
        for _, group in groupby(self._claimed(), key=lambda one: one[2]):
            yield from self._chosen([(file, claims) for file, claims, _ in group])

    def _claimed(self) -> Iterator[tuple[FoundFile, list[Claim], tuple[str, ...]]]:
        """Give every file that may be an answer, whose, and all whose it is."""
        for file in self._files():
            claims = [] if file.stray else self.layout.claims(file.path)
            if claims:
                yield file, claims, tuple(sorted({one.student for one in claims}))
            else:
                self.unused.add(file.path, self._misfit(file))

    def _chosen(self, group: list[tuple[FoundFile, list[Claim]]]) -> Iterator[tuple[HandIn, bytes]]:
        """Give what counts as answers of those who handed some files in, the last one last."""
        group.sort(key=lambda one: (_at(*one), copy_number(one[0].path), _in_order(one[0].path)))
        ranked: dict[tuple[str, str], dict[tuple[int, int], list[FoundFile]]] = defaultdict(dict)
        answered: set[str] = set()
        for file, claims in group:
            for one in claims:
                ranked[one.student, one.question].setdefault(one.rank, []).append(file)
                answered |= {one.student} if one.rank[0] != NONE else set()
        chosen = {whose: found[min(found)][-MOST_FILES:] for whose, found in ranked.items()}
        for file, claims in group:
            answers = [
                one
                for one in claims
                if one.rank[0] != NONE
                and any(file is kept for kept in chosen[one.student, one.question])
            ]
            # Of who has no answer at all, the likeliest file says why.
            nothing = [
                one
                for one in claims
                if one.student not in answered
                and file is max(chosen[one.student, one.question], key=self._misfit)
            ]
            if answers:
                yield from self._handed(file, answers)
            elif nothing:
                self.unused.lacking += [one.student for one in nothing]
                self.unused.add(file.path, self._misfit(file))
                name, kinds = file.path.rpartition("/")[2], " or ".join(self._ends)
                fault = self._misfit(file) or f"expected a {kinds} file, found {name}"
                yield from self._handed(replace(file, fault=fault), nothing)
            elif all(one.rank[0] == NONE for one in claims):
                self.unused.add(file.path, self._misfit(file))
            else:
                self.unused.add(file.path, "another file is more likely the answer")

    def _misfit(self, file: FoundFile) -> str:
        """Return why a program is nobody's answer; nothing where it is no program."""
        return file.fault or (self.layout.misfit if suffix(file.path) in self._ends else "")

    def _handed(self, file: FoundFile, claims: list[Claim]) -> Iterator[tuple[HandIn, bytes]]:
        program, fault = b"", file.fault
        if not fault:
            try:
                program = _program(file)
            except UsageError as error:
                fault = error.message
            except OSError as error:  # of this machine, and not the student's
                self.unused.add(file.path, f"cannot be read: {error.strerror or error}")
                return
        sha256 = "" if fault else hashlib.sha256(program).hexdigest()
        for one in claims:
            yield HandIn(
                one.student, one.question, file.path, sha256, _at(file, [one]), fault, one.name,
                one.email, one.late,
            ), program  # fmt: skip

    def _files(self) -> Iterator[FoundFile]:
        """Give every file, in the order of the paths, folder by folder.

        Raises:
            UsageError: The folder or the zip file of the class cannot be read.
        """
        if self._root.is_dir():
            yield from self._below("", 0)
            return
        try:
            yield from self._zips.files(self._root, "", None)
        except UsageError as fault:
            text = f"{self._root}: expected a folder or a zip file: {fault.message}"
            raise UsageError(text) from fault
        except OSError as fault:
            raise UsageError(f"{self._root}: cannot be read: {fault.strerror}") from fault

    def _below(self, folder: str, depth: int) -> Iterator[FoundFile]:
        """Give every file in a folder, and in the zip files in it."""
        if depth > DEEPEST:
            yield FoundFile(folder.rstrip("/"), fault=f"lies deeper than {DEEPEST} folders")
            return
        try:
            names = sorted(os.listdir(self._root / folder))  # noqa: PTH208 - names alone are small
        except OSError as fault:
            if not folder:
                raise UsageError(f"{self._root}: cannot be read: {fault.strerror}") from fault
            text = f"cannot be read: {fault.strerror}"
            yield FoundFile(folder.rstrip("/"), fault=text, stray=True)
            return
        for name in names:
            if not _ignored(name):
                yield from self._at(f"{folder}{name}", depth)

    def _at(self, path: str, depth: int) -> Iterator[FoundFile]:
        """Give what is at a path: a file, those in a folder or a zip file, or what is wrong."""
        at = ""
        try:
            place = self._root / path
            found = place.lstat()
            if _unusable(path):
                raise UsageError(_unusable(path))
            if stat.S_ISDIR(found.st_mode):
                yield from self._below(f"{path}/", depth + 1)
                return
            at = _moment(found.st_mtime)
            if not stat.S_ISREG(found.st_mode):
                link = stat.S_ISLNK(found.st_mode)
                raise UsageError(_LINK if link else "a device or a pipe, and no file")
            if not os.access(place, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            inside = [FoundFile(path, at, bytes_at=place)]
            if suffix(path) == ARCHIVE:
                inside = self._zips.files(place, f"{path}/", at)
        except OSError as fault:
            inside = [FoundFile(path, fault=f"cannot be read: {fault.strerror}", stray=True)]
        except UsageError as fault:
            inside = [FoundFile(path, at, fault.message)]
        yield from inside


class _Budget:
    """How much may still be unpacked of a zip file that was handed in, those in it included."""

    def __init__(self) -> None:
        self._bytes, self._entries = MOST_ARCHIVE, MOST_ENTRIES

    def take(self, size: int = 0, entries: int = 0) -> None:
        """Count bytes or files, before they are kept.

        Raises:
            UsageError: They are more than those of any honest one, these or some before them.
        """
        self._bytes -= size
        self._entries -= entries
        if self._bytes < 0:
            raise UsageError(f"its zip files hold more than {MOST_ARCHIVE:,} bytes")
        if self._entries < 0:
            raise UsageError(f"its zip files hold more than {MOST_ENTRIES:,} files")


class _Zips(Closing):
    """A temporary folder into which zip files are unpacked once, as far as they may be."""

    def __init__(self, ends: Collection[str]) -> None:
        self._ends = {*ends, ARCHIVE}  # of what is unpacked
        self._folder = Path(os.path.realpath(tempfile.mkdtemp(prefix="drill-hand-ins-")))
        self._names = count()
        self._left = MOST_CLASS
        self._known: dict[str, list[FoundFile] | str] = {}

    def close(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def files(self, archive: Path, where: str, at: str | None) -> list[FoundFile]:
        """Return what is in a zip file, those in it included, in the order of the paths.

        Args:
            archive: One that a student handed in, or that of a whole class.
            where: Its path with a `/`; empty for that of a class.
            at: When it was handed in; None to believe the zip file.

        Raises:
            UsageError: It is none, it is damaged, or it holds more than any honest one.
            OSError: This machine cannot read it.
        """
        if where not in self._known:
            budget = _Budget() if where else None
            try:
                self._known[where] = list(self._inside(archive, where, at, bool(where), budget))
            except UsageError as fault:
                self._known[where] = fault.message
        known = self._known[where]
        if isinstance(known, str):
            raise UsageError(known)
        return known

    def _inside(
        self, archive: Path, where: str, at: str | None, depth: int, budget: _Budget | None
    ) -> Iterator[FoundFile]:
        if depth > DEEPEST_ARCHIVE:
            text = f"expected at most {DEEPEST_ARCHIVE} zip files in each other, found more"
            raise UsageError(text)
        if budget is not None:
            if archive.stat().st_size > MOST_ARCHIVE:
                text = f"expected a zip file of at most {MOST_ARCHIVE:,} bytes, found more"
                raise UsageError(text)
            # Counted before zipfile makes an object of each; what the end record says may be a lie.
            budget.take(entries=archive.read_bytes().count(_ENTRY))
        with _explained():
            opened = zipfile.ZipFile(archive)
        with opened:
            paths = ((_path(info, depth), info) for info in opened.infolist())
            entries = sorted(paths, key=lambda one: one[0].split("/"))
            kept = [(p, i) for p, i in entries if not any(map(_ignored, p.split("/")))]
            for path, info in kept:
                if not path.endswith("/"):
                    found = _found(f"{where}{path[:LONGEST]}", path, info, at)
                    yield from self._entry(opened, found, info, depth, budget)
            if where and all(path.endswith("/") for path, _ in kept):
                yield FoundFile(where.rstrip("/"), at or "", EMPTY)

    def _entry(
        self,
        opened: zipfile.ZipFile,
        found: FoundFile,
        info: zipfile.ZipInfo,
        depth: int,
        budget: _Budget | None,
    ) -> Iterator[FoundFile]:
        """Give one file of a zip file, or those in it if it is one."""
        kind = suffix(found.path)
        says_whose = depth == 0 and found.path.rpartition("/")[2] == METADATA
        if found.fault or not (says_whose or kind in self._ends):
            yield found
            return
        try:
            most = {ARCHIVE: MOST_ARCHIVE, ".ipynb": notebook.MOST_BYTES}.get(kind, MOST_BYTES)
            unpacked = self._folder / str(next(self._names))
            with _explained(), opened.open(info) as file, unpacked.open("xb") as target:
                left = MOST_METADATA if says_whose else most + 1
                while left > 0 and (block := file.read(min(left, 1 << 20))):
                    left -= len(block)
                    self._left -= len(block)
                    if budget is not None:
                        budget.take(size=len(block))
                    if self._left < 0:
                        raise UsageError(f"the class holds more than {MOST_CLASS:,} bytes")
                    target.write(block)
            inside: list[FoundFile] = [replace(found, bytes_at=unpacked)]
            if kind == ARCHIVE:
                inner = budget or _Budget()
                where = f"{found.path}/"
                inside = list(self._inside(unpacked, where, found.at, depth + 1, inner))
        except UsageError as fault:
            inside = [replace(found, fault=fault.message)]
        except OSError as fault:  # of this machine
            inside = [replace(found, fault=f"cannot be read: {fault.strerror}", stray=True)]
        yield from inside


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, UsageError):
            raise
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # of this machine; a damaged file has it seek what is not there
        said = inert(" ".join(str(error).split()), 120) or type(error).__name__
        raise UsageError(f"expected a zip file, found a damaged one: {said}") from None


def _path(info: zipfile.ZipInfo, depth: int) -> str:
    r"""Return an entry's path; not all programs that write UTF-8 say so.

    In what a student packed `\` stands between folders too; in that of a class it is in a name.
    """
    name = info.orig_filename  # `filename` is cut where it has a NUL
    if not info.flag_bits & _UTF8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return (name.replace("\\", "/") if depth else name).removeprefix("./")


def _found(where: str, path: str, info: zipfile.ZipInfo, at: str | None) -> FoundFile:
    """Return an entry of a zip file, with what is wrong with it."""
    if at is None:
        at = ""
        with suppress(ValueError):  # a zip file does not know its own zone
            at = datetime(*info.date_time, tzinfo=UTC).isoformat(timespec="seconds")
    if path[1:2] == ":" or any(part in {"", ".", ".."} for part in path.split("/")):
        return FoundFile(where, at, "its path leads out of the zip file", stray=True)
    if len(path) > LONGEST:
        return FoundFile(where, at, f"its path has more than {LONGEST} characters", stray=True)
    mode = stat.S_IFMT(info.external_attr >> 16)
    fault = _unusable(where)
    if mode not in {0, stat.S_IFREG, stat.S_IFDIR}:
        fault = _LINK if mode == stat.S_IFLNK else "a device or a pipe, and no file"
    elif info.flag_bits & _ENCRYPTED:
        fault = "it is encrypted"
    elif info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        fault = "it is packed in a way that is not read: pack it as a plain zip file"
    return FoundFile(where, at, fault)


def _program(file: FoundFile) -> bytes:
    """Return the program in a file; that of a notebook is its code cells.

    Raises:
        OSError, UsageError: There is none.
    """
    if suffix(file.path) == ".ipynb":
        return notebook.program(_bytes(file, notebook.MOST_BYTES))
    return _bytes(file, MOST_BYTES)


def _bytes(file: FoundFile, most: int) -> bytes:
    """Return the bytes of a file; no part of its path may have become a link meanwhile.

    Raises:
        OSError: This machine cannot read it.
        UsageError: It is larger, or is no file any more.
    """
    assert file.bytes_at is not None
    place = file.bytes_at
    with open(place, "rb", opener=regular) as opened:
        if os.path.realpath(place) != str(place):
            raise UsageError("expected a file, found something else in its place")
        content = opened.read(most + 1)
    if len(content) > most:
        kind = "a notebook of " if most == notebook.MOST_BYTES else ""
        raise UsageError(f"expected {kind}at most {most:,} bytes, found more")
    return content


def _ignored(name: str) -> bool:
    """Whether a file was left by a program, and is of no interest to anybody."""
    return (name.startswith(".") and name not in {".", ".."}) or name in _NOT_THEIRS


def _unusable(path: str) -> str:
    """Return why a path cannot be used, "" where it can."""
    if acts(path):
        return "its name has characters that cannot be shown"
    return f"its path has more than {LONGEST} characters" if len(path) > LONGEST else ""


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""


def _at(file: FoundFile, claims: Sequence[Claim]) -> str:
    return file.at if claims[0].at is None else claims[0].at


def _in_order(path: str) -> list[tuple[int, int, str]]:
    """Return a key by which file 10 comes after file 9."""
    pieces = re.split("([0-9]+)", path)
    return [(0, int(one), one) if one.isdecimal() and n % 2 else (1, 0, one)
            for n, one in enumerate(pieces)]  # fmt: skip
