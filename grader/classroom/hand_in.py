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
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count, groupby
from pathlib import Path

from grader.classroom import notebook
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
from grader.reports.inert import inert
from grader.sandbox.closing import Closing

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one
MOST_METADATA = 256_000_000  # bytes of what Gradescope says, with all that programs printed
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
_KINDS = {stat.S_IFLNK: "a link, which is not followed", stat.S_IFIFO: "a pipe"}
_ENTRY = b"PK\x01\x02"  # with which each entry of the list at the end of a zip file begins
_HEADER = 30  # bytes before each file in one, its name not counted
_ENCRYPTED, _UTF8 = 0x1, 0x800
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
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
    unpacked: Path | None = None  # where its bytes are; None: where the path says


@dataclass(slots=True)
class Unused:
    """The files that are nobody's answer, and who handed in nothing else."""

    programs: int = 0
    others: int = 0  # data, pictures, texts
    first: list[tuple[str, str]] = field(default_factory=list)  # the first of them, and why
    lacking: list[str] = field(default_factory=list)  # students, once for each question

    def add(self, path: str, why: str = "") -> None:
        """Count one more."""
        self.programs += bool(why)
        self.others += not why
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
        names = AnswerNames(asked, texts)
        described = Pattern(pattern, names) if pattern else None
        self.unused = Unused()  # of the last walk
        self._root, self._ends = root, names.ends
        self._zips = _Zips(names.ends)
        try:
            self._whole = _opened(root, self._zips)
            self.layout: Layout | Pattern = described or self._detected(layout, names)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Remove what was unpacked."""
        self._zips.close()

    def _detected(self, name: str, names: AnswerNames) -> Layout:
        found, skip, around = detected((one.path for one in self._files()), names, name)
        people = {}
        if found == "gradescope":
            at = f"{around}/{METADATA}" if skip else METADATA
            if file := next((one for one in self._files() if one.path == at), None):
                people = submitters(
                    line.decode("utf-8", "replace")
                    for line in self._read(file, MOST_METADATA).split(b"\n")
                )
        return Layout(found, names, skip, people)

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
        best: dict[tuple[str, str], tuple[int, int]] = {}
        for _, claims in group:
            for one in claims:
                whose = one.student, one.question
                best[whose] = min(best.get(whose, one.rank), one.rank)
        chosen: dict[tuple[str, str], deque[FoundFile]] = defaultdict(
            lambda: deque(maxlen=MOST_FILES)
        )
        for file, claims in group:
            for one in claims:
                if one.rank == best[one.student, one.question]:
                    chosen[one.student, one.question].append(file)
        lacking = self._without(group)
        for file, claims in group:
            answers = [
                one
                for one in claims
                if one.rank[0] != NONE
                and any(file is kept for kept in chosen[one.student, one.question])
            ]
            nothing = [one for one in claims if lacking.get(one.student) is file]
            if answers:
                yield from self._handed(file, answers)
            elif nothing:
                self.unused.lacking += [one.student for one in nothing]
                self.unused.add(file.path, self._misfit(file))
                name = file.path.rpartition("/")[2]
                kinds = " or ".join(self._ends)
                fault = self._misfit(file) or f"expected a {kinds} file, found {name}"
                yield from self._handed(file, nothing, fault)
            elif all(one.rank[0] == NONE for one in claims):
                self.unused.add(file.path, self._misfit(file))
            else:
                self.unused.add(file.path, "another file is more likely the answer")

    def _without(self, group: list[tuple[FoundFile, list[Claim]]]) -> dict[str, FoundFile]:
        """Return the students of whose files none is an answer, each with the likeliest."""
        answered = {one.student for _, claims in group for one in claims if one.rank[0] != NONE}
        found: dict[str, FoundFile] = {}
        for file, claims in group:
            for one in claims:
                before = found.get(one.student)
                if one.student not in answered and (
                    before is None or self._misfit(file) or not self._misfit(before)
                ):
                    found[one.student] = file
        return found

    def _misfit(self, file: FoundFile) -> str:
        """Return why a program is nobody's answer; nothing where it is no program."""
        return file.fault or (self.layout.misfit if suffix(file.path) in self._ends else "")

    def _handed(
        self, file: FoundFile, claims: Iterable[Claim], fault: str = ""
    ) -> Iterator[tuple[HandIn, bytes]]:
        program, fault = b"", fault or file.fault
        if not fault:
            try:
                program = self._program(file)
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

    def _program(self, file: FoundFile) -> bytes:
        """Return the program in a file; that of a notebook is its code cells.

        Raises:
            OSError, UsageError: There is none.
        """
        if suffix(file.path) == ".ipynb":
            return notebook.program(self._read(file, notebook.MOST_BYTES))
        return self._read(file, MOST_BYTES)

    def _read(self, file: FoundFile, most: int) -> bytes:
        """Return the bytes of a file.

        Raises:
            OSError: This machine cannot read it.
            UsageError: It is larger.
        """
        if file.unpacked is not None:
            content = _first_bytes(file.unpacked.parent, file.unpacked.name, most + 1)
        else:
            content = _first_bytes(self._root, file.path, most + 1)
        if len(content) > most:
            kind = "a notebook of " if most == notebook.MOST_BYTES else ""
            raise UsageError(f"expected {kind}at most {most:,} bytes, found more")
        return content

    def _files(self) -> Iterator[FoundFile]:
        """Give every file, in the order of the paths, folder by folder."""
        if self._whole is not None:
            yield from self._whole
        else:
            yield from _below(self._root, "", 0, self._zips)


def _opened(root: Path, zips: _Zips) -> list[FoundFile] | None:
    """Return what is in the zip file of a class, None for a folder.

    Raises:
        UsageError: There is none, or it cannot be read.
    """
    try:
        if root.is_dir():
            os.scandir(root).close()
            return None
        if not root.exists():
            raise UsageError(f"{root}: there is no such folder or file")
        if not root.is_file():
            raise UsageError(f"{root}: expected a folder or a zip file")
        return zips.files(root, "", None)
    except OSError as fault:
        raise UsageError(f"{root}: cannot be read: {fault.strerror}") from fault


def _below(root: Path, folder: str, depth: int, zips: _Zips) -> Iterator[FoundFile]:
    """Give every file in a folder, and in the zip files in it."""
    if depth > DEEPEST:
        yield FoundFile(folder.rstrip("/"), fault=f"lies deeper than {DEEPEST} folders")
        return
    try:
        names = sorted(os.listdir(root / folder))  # noqa: PTH208 - names alone are small
    except OSError as fault:
        text = f"cannot be read: {fault.strerror}"
        yield FoundFile(folder.rstrip("/"), fault=text, stray=True)
        return
    for name in names:
        path = f"{folder}{name}"
        if _ignored(name):
            continue
        if wrong := _unusable(path):
            yield FoundFile(path, fault=wrong)
            continue
        try:
            found = os.lstat(root / path)
            if stat.S_ISDIR(found.st_mode):
                yield from _below(root, f"{path}/", depth + 1, zips)
                continue
            at = _moment(found.st_mtime)
            if not stat.S_ISREG(found.st_mode):
                kind = _KINDS.get(stat.S_IFMT(found.st_mode), "a device, and no file")
                yield FoundFile(path, at, kind)
                continue
            if not os.access(root / path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            inside = zips.files(root / path, f"{path}/", at) if suffix(path) == ARCHIVE else None
        except OSError as fault:
            yield FoundFile(path, fault=f"cannot be read: {fault.strerror}", stray=True)
            continue
        except UsageError as fault:
            yield FoundFile(path, at, fault.message)
            continue
        yield from [FoundFile(path, at)] if inside is None else inside


class _Zips(Closing):
    """A temporary folder into which zip files are unpacked once, as far as they may be."""

    def __init__(self, ends: Collection[str]) -> None:
        self._ends = {*ends, ARCHIVE}  # of what is unpacked
        self._folder = Path(tempfile.mkdtemp(prefix="drill-hand-ins-"))
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
        known = self._known.get(where)
        if known is None:
            budget = _Budget() if where else None
            try:
                size = archive.lstat().st_size
                if where and size > MOST_ARCHIVE:
                    raise _too_large()
                known = list(self._inside(archive, where, at, 1 if where else 0, budget))
            except UsageError as fault:
                known = fault.message
            self._known[where] = known
        if isinstance(known, str):
            prefix = "" if where else f"{archive}: expected a folder or a zip file: "
            raise UsageError(f"{prefix}{known}")
        return known

    def _inside(
        self, archive: Path, where: str, at: str | None, depth: int, budget: _Budget | None
    ) -> Iterator[FoundFile]:
        with _zip_file(archive, most=MOST_ENTRIES if budget else None) as opened:
            empty = True
            for entry in _entries(opened, windows=depth > 0 or _windows(opened)):
                parts = entry.path.split("/")
                if any(map(_ignored, parts)):
                    continue
                empty = False
                path = f"{where}{entry.path}"
                found = FoundFile(
                    path, _moment_of(entry.info) if at is None else at,
                    entry.fault or _unusable(path), entry.stray,
                )  # fmt: skip
                says_whose = depth == 0 and parts[-1] == METADATA
                if found.fault or not (says_whose or suffix(path) in self._ends):
                    yield found
                    continue
                try:
                    unpacked = self._unpacked(opened, entry.info, found, budget)
                    if suffix(entry.path) != ARCHIVE:
                        yield replace(found, unpacked=unpacked)
                        continue
                    if depth >= DEEPEST_ARCHIVE:
                        text = f"expected at most {DEEPEST_ARCHIVE} zip files in each other"
                        raise UsageError(f"{text}, found more")
                    inner = budget or _Budget()
                    inner.count_entries(unpacked)
                    yield from self._inside(unpacked, f"{path}/", found.at, depth + 1, inner)
                except UsageError as fault:
                    yield replace(found, fault=fault.message)
                except OSError as fault:  # of this machine
                    text = f"cannot be read: {fault.strerror}"
                    yield replace(found, fault=text, stray=True)
            if empty and where:
                yield FoundFile(where.rstrip("/"), at or "", EMPTY)

    def _unpacked(
        self,
        opened: zipfile.ZipFile,
        info: zipfile.ZipInfo,
        found: FoundFile,
        budget: _Budget | None,
    ) -> Path:
        """Unpack a file, no more of it than is read, under a name of ours."""
        kind = suffix(found.path)
        kinds = {".ipynb": notebook.MOST_BYTES, suffix(METADATA): MOST_METADATA}
        most = kinds.get(kind, MOST_BYTES) + 1
        if kind == ARCHIVE:
            if budget is not None:
                budget.count_bytes(info.file_size)
            elif info.file_size > MOST_ARCHIVE:
                raise _too_large()
            most = info.file_size  # no more is unpacked, even where it is a lie
        to = self._folder / str(next(self._names))
        with _explained(), opened.open(info) as file, to.open("xb") as target:
            while most > 0 and (block := file.read(min(most, 1 << 20))):
                most -= len(block)
                self._left -= len(block)
                if budget is not None and kind != ARCHIVE:
                    budget.count_bytes(len(block))
                if self._left < 0:
                    raise UsageError(f"the class holds more than {MOST_CLASS:,} bytes")
                target.write(block)
        return to


class _Budget:
    """How much may still be unpacked of a zip file that was handed in, those in it included."""

    def __init__(self) -> None:
        self._bytes, self._entries = MOST_ARCHIVE, MOST_ENTRIES
        self._over = ""  # why nothing more is opened

    def count_bytes(self, size: int) -> None:
        """Count bytes, before they are kept.

        Raises:
            UsageError: They are more than those of any honest one, these or some before them.
        """
        if not self._over and size > self._bytes:
            self._over = f"its zip files hold more than {MOST_ARCHIVE:,} bytes"
        if self._over:
            raise UsageError(self._over)
        self._bytes -= size

    def count_entries(self, archive: Path) -> None:
        """Count the files of a zip file before `zipfile` makes an object of each."""
        self._entries -= archive.read_bytes().count(_ENTRY)
        if self._entries < 0:
            self._over = f"its zip files hold more than {MOST_ENTRIES:,} files"
        if self._over:
            raise UsageError(self._over)


@dataclass(frozen=True, slots=True)
class _Entry:
    """What a zip file lists."""

    path: str
    info: zipfile.ZipInfo
    fault: str
    stray: bool = False  # whether its path says nothing about whose it is


@contextmanager
def _zip_file(path: Path, most: int | None) -> Iterator[zipfile.ZipFile]:
    """Open a zip file.

    Raises:
        UsageError: It is none, or lists more than `most` files.
    """
    # Counted before zipfile makes an object of each; what the end record says may be a lie.
    if most is not None and path.read_bytes().count(_ENTRY) > most:
        raise UsageError(f"expected a zip file of at most {most:,} files, found more")
    with _explained():
        archive = zipfile.ZipFile(path)
    with archive:
        yield archive


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


def _too_large() -> UsageError:
    return UsageError(f"expected a zip file of at most {MOST_ARCHIVE:,} bytes, found more")


def _windows(archive: zipfile.ZipFile) -> bool:
    r"""Whether a class's zip file has `\` between folders: all its paths do, and none has a `/`.

    Where only some have one, a student wrote it into a name.
    """
    names = [info.orig_filename for info in archive.infolist()]
    return all("\\" in name and "/" not in name for name in names)


def _entries(archive: zipfile.ZipFile, *, windows: bool) -> list[_Entry]:
    r"""Return every file that a zip file lists, in order, with what is wrong with it.

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
            lost.append(_Entry(f"{path[:100]}[...]", info, why, stray=True))
        elif not path.endswith("/"):
            files.append((path.split("/"), info))
    files.sort(key=lambda one: one[0])
    times = Counter("/".join(parts) for parts, _ in files)
    found: list[_Entry] = []
    above: list[str] = []  # the last file: what lies below it comes right after it
    place = 0
    for parts, info in files:
        path = "/".join(parts)
        stray = path[1:2] == ":" or any(part in {"", ".", ".."} for part in parts)
        fault = "its path leads out of the zip file" if stray else _entry_fault(info)
        if id(info) in overlapping:
            fault = "it lies over another file of the zip file"
        if times[path] > 1:
            fault = "the zip file has it more than once"
        elif above and parts[: len(above)] == above:
            fault = "the zip file has a file and a folder of one name"
            found[place] = replace(found[place], fault=fault)
        else:
            above, place = parts, len(found)
        found.append(_Entry(path, info, fault, stray))
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


def _entry_fault(info: zipfile.ZipInfo) -> str:
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


def _moment_of(info: zipfile.ZipInfo) -> str:
    try:  # a zip file does not know its own zone
        return datetime(*info.date_time, tzinfo=UTC).isoformat(timespec="seconds")
    except ValueError:
        return ""


def _moment(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (OverflowError, OSError, ValueError):
        return ""


def _first_bytes(root: Path, path: str, most: int) -> bytes:
    """Return the first bytes of a file; no part of the path may be a link, whenever it became one.

    Raises:
        OSError, UsageError: It cannot be read.
    """
    *folders, name = path.split("/")
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
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


def _ignored(name: str) -> bool:
    """Whether a file was left by a program, and is of no interest to anybody."""
    return (name.startswith(".") and name not in {".", ".."}) or name in _NOT_THEIRS


def _unusable(path: str) -> str:
    """Return why a path cannot be used, "" where it can."""
    if acts(path):
        return "its name has characters that cannot be shown"
    return f"its path has more than {LONGEST} characters" if len(path) > LONGEST else ""


def _at(file: FoundFile, claims: Sequence[Claim]) -> str:
    return file.at if claims[0].at is None else claims[0].at


def _in_order(path: str) -> list[tuple[int, int, str]]:
    """Return a key by which file 10 comes after file 9."""
    pieces = re.split("([0-9]+)", path)
    return [(0, int(one), one) if one.isdecimal() and n % 2 else (1, 0, one)
            for n, one in enumerate(pieces)]  # fmt: skip
