"""What a class handed in: every file of a folder or a zip file, whose it is, and its program.

Zip files are believed in nothing.  What may be an answer in one is unpacked into a temporary
folder, under names of ours, and no more of it than an honest one holds; links are not followed, one
may lead to somebody else's answer.

The program of a notebook, which is JSON, is its code cells in order, as Jupyter would run them from
the top.  Nothing here parses Python: what is a line of IPython's shows in how it begins.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

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
from grader.classroom.results import regular
from grader.model.classroom import HandIn
from grader.model.errors import UsageError
from grader.model.numerals import quantity
from grader.reports.sheet import inert
from grader.sandbox import Closing

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one
MOST_NOTEBOOK = 16_000_000  # bytes of a notebook, with the pictures that cells have shown
MOST_VALUES = 400_000  # lists and objects in a notebook
MOST_METADATA = 64_000_000  # bytes of what Gradescope says, with all that programs printed
MOST_FILES = 20  # that one student may hand in for one question
MOST_ARCHIVE = 64_000_000  # bytes of a zip file that is handed in, and of all that is in it
MOST_ENTRIES = 20_000  # files in one that is handed in
MOST_CLASS = 4_000_000_000  # bytes that are unpacked of a whole class
DEEPEST_ARCHIVE = 3  # zip files in each other, from the one that was handed in
LONGEST = 1000  # characters of a path
SHOWN = 5  # files that are named
EMPTY = "a zip file with nothing in it"
_NOT_THEIRS = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})  # of programs
_LINK = "a link, which is not followed"
_PIPE = "a device or a pipe, and no file"
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

    def unreadable(self, fault: OSError) -> FoundFile:
        """Return it as one that this machine cannot read."""
        return replace(self, fault=f"cannot be read: {fault.strerror}", stray=True)


class HandIns(Closing):
    """The files of a class; iterated over, those that are answers, with their programs."""

    def __init__(
        self,
        root: Path,
        asked: Sequence[str],
        layout: str = "",
        pattern: str = "",
        texts: Collection[str] = (),
    ) -> None:
        """Look for every file in a folder or zip file, and how they are laid out.

        Args:
            root: A folder or a zip file.
            asked: The questions' ids.
            layout: One of `LAYOUTS`; the one that fits where it is not given.
            pattern: The paths of answers, with named fields.
            texts: The ids of those that are answered by a text.

        Raises:
            UsageError: It cannot be read, or it is not clear how it is laid out.
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
        self.unused: list[tuple[str, str]] = []  # programs that are no student's answer, and why
        self.lacking: list[str] = []  # students without an answer, once for each question
        self._root, self._ends = Path(os.path.realpath(root)), names.ends
        self._temporary = tempfile.TemporaryDirectory("", "drill-hand-ins-", None, True)
        self._left = MOST_CLASS  # bytes that may still be unpacked
        try:
            self.files = sorted(self._found(), key=lambda one: one.path.split("/"))
            self.layout: Layout | Pattern = described or self._detected(layout, names)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._temporary.cleanup()

    def _detected(self, name: str, names: AnswerNames) -> Layout:
        found, around = detected([one.path for one in self.files], names, name)
        people = {}
        if found == "gradescope":
            at = f"{around}/{METADATA}" if around else METADATA
            for file in (one for one in self.files if one.path == at):
                people = submitters(_bytes(file, MOST_METADATA))
        return Layout(found, names, around, people)

    def __iter__(self) -> Iterator[tuple[HandIn, bytes]]:
        """Give every file that is somebody's answer, with its program, the last one last.

        Where there is no program in it, there is a `fault` in the one and nothing in the other.
        """
        claimed: dict[str, dict[str, list[tuple[Claim, FoundFile]]]] = {}
        why = {}  # a file is not used, by its path
        for file in self.files:
            claims = [] if file.stray else self.layout.claims(file.path)
            sure = any(one.rank[0] != NONE for one in claims)
            why[file.path] = "another file is more likely the answer" if sure else self._why(file)
            for one in claims:
                theirs = claimed.setdefault(one.student, {})
                theirs.setdefault(one.question, []).append((one, file))
        self.lacking = []
        for student, theirs in claimed.items():
            answers = any(one.rank[0] != NONE for found in theirs.values() for one, _ in found)
            for found in theirs.values():
                best = min(one.rank for one, _ in found)
                likely = sorted((one for one in found if one[0].rank == best), key=_in_time)
                if best[0] != NONE:
                    for claim, file in likely[-MOST_FILES:]:
                        why[file.path] = ""
                        try:
                            yield _handed(file, claim)
                        except OSError as error:  # of this machine, and not the student's
                            why[file.path] = f"cannot be read: {error.strerror or error}"
                elif not answers:  # the likeliest file says why
                    claim, file = max(likely, key=lambda one: self._why(one[1]))
                    name, kinds = file.path.rpartition("/")[2], " or ".join(self._ends)
                    fault = self._why(file) or f"expected a {kinds} file, found {name}"
                    self.lacking.append(student)
                    yield _handed(replace(file, fault=fault), claim)
        self.unused = [(path, said) for path, said in why.items() if said]

    def _why(self, file: FoundFile) -> str:
        """Return why a program is no student's answer; nothing where it is no program."""
        return file.fault or (self.layout.misfit if suffix(file.path) in self._ends else "")

    def nobodys(self) -> str:
        """Say which programs are no student's answer, nothing where there are none."""
        if not self.unused:
            return ""
        shown = "; ".join(f"{inert(path, 200)} ({why})" for path, why in self.unused[:SHOWN])
        more = len(self.unused) - SHOWN
        are = "that is" if len(self.unused) == 1 else "that are"
        counted = f"{quantity(len(self.unused), 'file')} {are} no student's answer"
        return f"{counted}: {shown}" + (f"; {more:,} more" if more > 0 else "")

    # Looking for files.

    def _found(self) -> Iterator[FoundFile]:
        try:
            if not self._root.is_dir():
                yield from self._unpacked(self._root, "", None, 0, _Budget())
                return
            folders = [""]
            for folder in folders:  # which grows
                try:
                    names = os.listdir(self._root / folder)  # noqa: PTH208 - names alone are small
                except OSError as fault:
                    if not folder:
                        raise
                    yield FoundFile(folder).unreadable(fault)
                    continue
                for path in (os.path.join(folder, one) for one in names if not _ignored(one)):
                    inside = self._at(path)
                    folders += [path] if inside is None else []
                    yield from inside or ()
        except UsageError as fault:
            text = f"{self._root}: expected a folder or a zip file: {fault.message}"
            raise UsageError(text) from fault
        except OSError as fault:
            raise UsageError(f"{self._root}: cannot be read: {fault.strerror}") from fault

    def _at(self, path: str) -> list[FoundFile] | None:
        """Return what is at a path, those in a zip file included; None for a folder."""
        place, file = self._root / path, FoundFile(path)
        try:
            found = place.lstat()
            if _unusable(path):
                return [replace(file, fault=_unusable(path))]
            if stat.S_ISDIR(found.st_mode):
                return None
            file = replace(file, bytes_at=place)
            with suppress(OverflowError, ValueError):
                moment = datetime.fromtimestamp(found.st_mtime, UTC)
                file = replace(file, at=moment.isoformat(timespec="seconds"))
            if not stat.S_ISREG(found.st_mode):
                return [replace(file, fault=_LINK if stat.S_ISLNK(found.st_mode) else _PIPE)]
            if not os.access(place, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            if suffix(path) == ARCHIVE:
                return self._unpacked(place, f"{path}/", file.at, 1, _Budget())
        except OSError as fault:
            return [file.unreadable(fault)]
        except UsageError as fault:
            return [replace(file, fault=fault.message)]
        return [file]

    def _unpacked(
        self, archive: Path, where: str, at: str | None, depth: int, budget: _Budget
    ) -> list[FoundFile]:
        """Return what is in a zip file, those in it included.

        Args:
            archive: One that a student handed in, or that of a whole class.
            where: Its path with a `/`; empty for that of a class.
            at: When it was handed in; None to believe the zip file.
            depth: 0 for that of a class, 1 for one that a student handed in, more for those in it.
            budget: What its student may still hand in.

        Raises:
            UsageError: It is none, it is damaged, or it holds more than any honest one.
            OSError: This machine cannot read it.
        """
        if depth > DEEPEST_ARCHIVE:
            text = f"expected at most {DEEPEST_ARCHIVE} zip files in each other, found more"
            raise UsageError(text)
        if depth:
            if archive.stat().st_size > MOST_ARCHIVE:
                text = f"expected a zip file of at most {MOST_ARCHIVE:,} bytes, found more"
                raise UsageError(text)
            # Counted before zipfile makes an object of each; what the end record says may be a lie.
            budget.take(entries=archive.read_bytes().count(_ENTRY))
        found: list[FoundFile] = []
        with _explained():
            opened = zipfile.ZipFile(archive)
        with opened:
            for info in opened.infolist():
                path = _path(info, depth)
                if not path.endswith("/") and not any(map(_ignored, path.split("/"))):
                    file = _entry(f"{where}{path[:LONGEST]}", path, info, at)
                    found += self._looked_into(opened, file, info, depth, budget)
        return found or ([FoundFile(where.rstrip("/"), at or "", EMPTY)] if where else [])

    def _looked_into(
        self,
        opened: zipfile.ZipFile,
        file: FoundFile,
        info: zipfile.ZipInfo,
        depth: int,
        budget: _Budget,
    ) -> list[FoundFile]:
        kind = suffix(file.path)
        says_whose = depth == 0 and file.path.rpartition("/")[2] == METADATA
        if file.fault or not (says_whose or kind in {*self._ends, ARCHIVE}):
            return [file]
        left = {ARCHIVE: MOST_ARCHIVE, ".ipynb": MOST_NOTEBOOK}.get(kind, MOST_BYTES) + 1
        left = MOST_METADATA if says_whose else left
        folder = os.path.realpath(self._temporary.name)
        try:
            with (
                _explained(),
                opened.open(info) as source,
                tempfile.NamedTemporaryFile(dir=folder, delete=False) as target,
            ):
                while left > 0 and (block := source.read(min(left, 1 << 20))):
                    left -= len(block)
                    self._left -= len(block)
                    if depth:
                        budget.take(size=len(block))
                    if self._left < 0:
                        raise OSError(errno.EFBIG, f"it holds more than {MOST_CLASS:,} bytes")
                    target.write(block)
            place = Path(target.name)
            if kind == ARCHIVE:
                inner = budget if depth else _Budget()
                return self._unpacked(place, f"{file.path}/", file.at, depth + 1, inner)
        except UsageError as fault:
            return [replace(file, fault=fault.message)]
        except OSError as fault:  # of this machine
            return [file.unreadable(fault)]
        return [replace(file, bytes_at=place)]


@dataclass(slots=True)
class _Budget:
    """How much may still be unpacked of a zip file that was handed in, those in it included."""

    bytes: int = field(default_factory=lambda: MOST_ARCHIVE)
    entries: int = field(default_factory=lambda: MOST_ENTRIES)

    def take(self, size: int = 0, entries: int = 0) -> None:
        """Count bytes or files before they are kept, and refuse what no honest one holds."""
        self.bytes -= size
        self.entries -= entries
        if self.bytes < 0:
            raise UsageError(f"its zip files hold more than {MOST_ARCHIVE:,} bytes")
        if self.entries < 0:
            raise UsageError(f"its zip files hold more than {MOST_ENTRIES:,} files")


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


def _entry(where: str, path: str, info: zipfile.ZipInfo, at: str | None) -> FoundFile:
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
        fault = _LINK if mode == stat.S_IFLNK else _PIPE
    elif info.flag_bits & _ENCRYPTED:
        fault = "it is encrypted"
    elif info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        fault = "it is packed in a way that is not read: pack it as a plain zip file"
    return FoundFile(where, at, fault)


def _ignored(name: str) -> bool:
    return (name.startswith(".") and name not in {".", ".."}) or name in _NOT_THEIRS


def _unusable(path: str) -> str:
    if acts(path):
        return "its name has characters that cannot be shown"
    return f"its path has more than {LONGEST} characters" if len(path) > LONGEST else ""


def _in_time(one: tuple[Claim, FoundFile]) -> tuple[object, ...]:
    """Return a key by which files are in the order of time, then number; 10 comes after 9."""
    claim, file = one
    pieces = enumerate(re.split("([0-9]+)", file.path))
    named = [(0, int(p), p) if n % 2 and p.isdecimal() else (1, 0, p) for n, p in pieces]
    return file.at if claim.at is None else claim.at, copy_number(file.path), named


# Programs.


def _handed(file: FoundFile, claim: Claim) -> tuple[HandIn, bytes]:
    content, fault, sha256 = b"", file.fault, ""
    if not fault:
        try:
            content = program(file)
            sha256 = hashlib.sha256(content).hexdigest()
        except UsageError as error:
            fault = error.message
    at = file.at if claim.at is None else claim.at
    found = HandIn(
        claim.student, claim.question, file.path, sha256, at, fault, claim.name, claim.email,
        claim.late,
    )  # fmt: skip
    return found, content


def program(file: FoundFile) -> bytes:
    """Return the program in a file.

    Raises:
        OSError: This machine cannot read it.
        UsageError: There is none.
    """
    if suffix(file.path) == ".ipynb":
        return code_of(_bytes(file, MOST_NOTEBOOK, "a notebook of "))
    return _bytes(file, MOST_BYTES)


def _bytes(file: FoundFile, most: int, kind: str = "") -> bytes:
    """Return the bytes of a file; no part of its path may have become a link meanwhile."""
    assert file.bytes_at is not None
    place = file.bytes_at
    with open(place, "rb", opener=regular) as opened:
        if os.path.realpath(place) != str(place):
            raise UsageError("expected a file, found something else in its place")
        content = opened.read(most + 1)
    if len(content) > most:
        raise UsageError(f"expected {kind}at most {most:,} bytes, found more")
    return content


# Magics of a whole cell whose rest is Python all the same.
_RUNS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"})
# %magic, !command, ?help, help? and x = %magic; `% x` goes on with an expression.
_IPYTHON = re.compile(
    r"^([ \t]*)((?:%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}$"
    r"|[\w.,\[\] ]+=\s*(?:%[A-Za-z]|!(?!=))).*(?:(?<=\\)\n.*)*)$",
    re.MULTILINE,
)


def code_of(content: bytes) -> bytes:
    """Return the code cells of a notebook, with an empty line between two.

    Lines of IPython's own become comments, so that the others keep their places.

    Raises:
        UsageError: There is no program in it; the message is one sentence.
    """
    if content.count(b"[") + content.count(b"{") > MOST_VALUES:
        raise UsageError(f"expected a notebook of at most {MOST_VALUES:,} values, found more")
    try:
        read = json.loads(content.decode("utf-8-sig"))
        version = read["nbformat"]
        if version in {1, 2, 3}:
            text = f"expected a notebook of format 4, found {version}: save it again"
            raise UsageError(text)
        cells = [
            "".join(cell["source"]).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
            for cell in read["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise UsageError("expected a notebook, found something else in the file") from None
    if not any(map(str.strip, cells)):
        raise UsageError("expected a notebook with code, found no cell of it")
    found = "\n".join(f"{_plain(cell)}\n" for cell in cells).encode("utf-8", "replace")
    if len(found) > MOST_BYTES:
        raise UsageError(f"expected at most {MOST_BYTES:,} bytes of code, found more")
    return found


def _plain(cell: str) -> str:
    """Return a cell with IPython's own lines as comments; a block does not become empty."""
    first = cell.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first[2:].split(" ")[0] not in _RUNS:
        return re.sub(r"(?m)^(?=.)", "# ", cell)
    return _IPYTHON.sub(_commented, cell)


def _commented(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    if before.count('"""') % 2 or before.count("'''") % 2:  # it is a line of a text
        return found[0]
    indent, line = found[1], found[2].replace("\n", "\n# ")
    return f"{indent}pass  # {line}" if indent else f"# {line}"
