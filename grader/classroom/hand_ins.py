"""What a class handed in: every file of a folder or a zip file, whose it is, and its program.

Zip files are believed in nothing.  What may be an answer in one is packed again into a temporary
file without a name, and no more of it than an honest one holds; links are not followed, one may
lead to somebody else's answer.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

from grader.bank.bank_files import read_regular_file
from grader.classroom.notebook import notebook_code
from grader.classroom.submission_layout import (
    ANY,
    ARCHIVE,
    LAYOUTS,
    METADATA,
    NONE,
    PROGRAMS,
    UNFIT,
    AnswerNames,
    Claim,
    Layout,
    PatternLayout,
    detect_layout,
    file_suffix,
    has_control_characters,
    is_markdown,
    read_submitters,
    version_numbers,
)
from grader.model.classroom import HandIn, SubmittedProgram
from grader.model.errors import UsageError
from grader.model.limits import (
    MAX_ARCHIVE_DEPTH,
    MAX_ARCHIVE_ENTRIES,
    MAX_BYTES_BY_SUFFIX,
    MAX_PATH_LENGTH,
    MAX_STUDENT_FILES,
    MAX_SUBMISSION_FILE_BYTES,
)
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.reports.text_layout import escape_line
from grader.sandbox import Closeable

MAX_LISTED_FILES = 5  # files that are named
UNKNOWN_DEPTH = (
    MAX_PATH_LENGTH  # deeper than any path: the rank of a file that is known by what it defines
)
_NOT_THEIRS = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})  # of programs
# A function or class at the left margin, of a notebook too.
_DEFINED = re.compile(rb"(?:^|\\n|\")(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
# The name of an answer at the beginning of a line of text.
_ANSWERED = re.compile(rb"^[^\w\n]*([A-Za-z_]\w*)[^\w\n]*[=:~]", re.MULTILINE)
_ENTRY = b"PK\x01\x02"  # with which each entry of the list at the end of a zip file begins
_ENCRYPTED = 0x1
_UTF8 = 0x800
# What the module zipfile raises on a file that is no archive, or a damaged one.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError,
    OSError,
)  # fmt: skip


class ZippedContent(NamedTuple):
    """Content from a zip file, compressed in a temporary file.

    The temporary file has no name, so nothing of it is left whatever ends the program. Compressed,
    many zip files that hold nothing but zeros cannot fill the disk.
    """

    file: IO[bytes]
    start: int
    size: int

    @classmethod
    def store_content(cls, content: bytes, file: IO[bytes]) -> ZippedContent:
        """Add content to the file."""
        packed = zlib.compress(content, 1)
        start = file.seek(0, os.SEEK_END)
        file.write(packed)
        return cls(file, start, len(packed))

    def content(self) -> bytes:
        """Return the content."""
        self.file.seek(self.start)
        return zlib.decompress(self.file.read(self.size))


class FoundFile(NamedTuple):
    """A file, or what is in the place of one."""

    path: str  # from the root, with `/`; what is in a zip file lies below its name
    at: str = ""  # UTC, ISO 8601: when it was changed last, as the instructor's side says
    fault: str = ""  # why there is nothing to be read, one sentence
    is_stray: bool = (
        False  # whether it is nobody's, whatever its path: the fault is not a student's
    )
    is_unread: bool = False  # whether the fault is the grader's
    bytes_at: Path | ZippedContent | None = None  # where they are

    def with_error(self, error: Exception) -> FoundFile:
        """Return it with the reason why it cannot be read.

        A UsageError is a fault of the file, an OSError one of this machine. Anything else is a bug
        of the grader, which costs no points.
        """
        if isinstance(error, UsageError):
            return self._replace(fault=error.message)
        if isinstance(error, OSError):
            return self._replace(fault=f"cannot be read: {error.strerror or error}", is_stray=True)
        text = escape_line(f"{type(error).__name__}: {error}", 200)
        return self._replace(fault=f"the grader failed to read it ({text})", is_unread=True)


class HandIns(Closeable):
    """The files of a class; iterated over, those that are answers, with their programs."""

    def __init__(
        self,
        root: Path,
        asked: Sequence[str],
        layout: str = "",
        pattern: str = "",
        texts: Collection[str] = (),
        skip: bool = False,
        others: Iterable[str] = (),
        known: Mapping[str, Question] = MappingProxyType({}),
    ) -> None:
        """Look for every file in a folder or zip file, and how they are laid out.

        The questions that are `asked` have ids; `texts` are those that are answered by a text,
        `others` what else the banks hold: what is named after one of these answers none.  If the
        questions are `known`, their starters give way to other files, and a file with another name
        is told apart by the functions that it defines.
        With `skip`, cells of a notebook that raise are passed over.
        Where neither one of `LAYOUTS` nor a pattern is given, the layout is taken that fits.
        """
        if layout and pattern:
            raise UsageError("expected --layout or --pattern, found both")
        if layout and layout not in LAYOUTS:
            raise UsageError(f"layout: expected {', '.join(LAYOUTS)}, found {layout}")
        if not root.is_dir() and not root.is_file():
            found = "something else" if root.exists() else "none"
            raise UsageError(f"{root}: expected a folder or a zip file, found {found}")
        self.names = AnswerNames(asked, texts, others)
        described = PatternLayout(pattern, self.names) if pattern else None
        self.unused: list[tuple[str, str]] = []  # programs that are no student's answer, and why
        self.students_without_file: list[
            str
        ] = []  # students without an answer, once for each question
        self.joined: dict[str, list[str]] = {}  # files that a program imports, by its path
        self.recognized: dict[str, str] = {}  # questions of files with another name, by path
        self.students: set[str] = set()  # who has an answer, right or wrong
        self.empty: list[str] = []  # folders of submissions with no file in them
        self._root = Path(os.path.realpath(root))
        self._skip = skip
        self._known = known
        self._asks = {
            one.id: {
                *(one.spec.answers if one.id in self.names.texts else one.signatures_for_part())
            }
            for one in known.values()
        }
        self._temporary = tempfile.TemporaryFile(prefix="drill-hand-ins-")  # noqa: SIM115 `close`
        self._bytes_left = self._entries_left = 0  # of the zip file that a student handed in
        try:
            self.files = sorted(self._found(), key=lambda one: one.path.split("/"))
            self.layout: Layout | PatternLayout = described or self._detected(layout)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._temporary.close()

    def _detected(self, name: str) -> Layout:
        found = detect_layout([one.path for one in self.files], self.names, name)
        at = f"{found.base_folder}/{METADATA}" if found.base_folder else METADATA
        for file in self.files:
            if found.name == "gradescope" and file.path == at:
                if file.fault:
                    raise UsageError(f"{at}: {file.fault}")
                found = found._replace(claims_by_folder=read_submitters(_content(file)))
        return found

    def __iter__(self) -> Iterator[tuple[HandIn, SubmittedProgram]]:
        """Give every file that is somebody's answer, with its program, the last one last.

        If there is no program in it, the hand-in has a `fault` (the student's) or is `unread` (the
        grader's fault), and the program is empty.
        """
        claimed: dict[tuple[str, str], list[tuple[Claim, FoundFile]]] = {}
        beside: dict[tuple[str, str], dict[str, FoundFile]] = {}  # by student and folder
        self.students = answering = set[str]()
        why = {one.path: self._why(one) for one in self.files}  # a file is not used
        for file in self.files:
            claims = [] if file.is_stray else self.layout.claims(file.path)
            if claims and all(one.rank[0] == NONE for one in claims):
                answered = self._defines_answer_to(file)
                claims = [
                    one._replace(rank=(ANY, UNKNOWN_DEPTH + one.rank[1]))
                    if one.question == answered
                    else one
                    for one in claims
                ]
            if claims and why[file.path] and all(one.rank[0] == NONE for one in claims):
                why[file.path] = file.fault or self._unnamed(file)
            for claim in claims:
                dated = claim._replace(at=file.at) if claim.at is None else claim
                claimed.setdefault((claim.student, claim.question), []).append((dated, file))
                if file_suffix(file.path) == ".py" and not file.fault:
                    folder, _, name = file.path.rpartition("/")
                    stem = name.rpartition(".")[0]
                    beside.setdefault((claim.student, folder), {})[stem] = file
                if claim.rank[0] < UNFIT:
                    answering.add(claim.student)
                if claim.rank[0] != NONE and not file.fault:
                    why[file.path] = "another file is more likely the answer"
        self.students_without_file = []
        self.joined = {}
        self.recognized = {}
        for (student, _), found in claimed.items():
            if len(found) > 1:
                fitting = [one for one in found if one[0].rank[0] < UNFIT]
                found = [one for one in fitting if not self._is_starter(*one)] or found
            best = min(claim.rank for claim, _ in found)
            likely = sorted((one for one in found if one[0].rank == best), key=_in_time)
            if best[0] < UNFIT:
                likely = [f for f in likely if f[1].is_unread or not f[1].fault] or likely
                given: list[tuple[HandIn, SubmittedProgram]] = []
                taken = set[str]()
                for claim, file in likely[-MAX_STUDENT_FILES:]:
                    folder = file.path.rpartition("/")[0]
                    modules = beside.get((claim.student, folder), {})
                    try:
                        given.append(_handed(file, claim, modules, skip=self._skip))
                        why[file.path] = ""
                        taken |= {modules[name].path for name in given[-1][1].modules}
                    except OSError as error:  # of this machine, and not the student's
                        why[file.path] = file.with_error(error).fault
                why |= dict.fromkeys(sorted(taken), "")
                # What another program imports is no answer by itself.
                for handed, program in [one for one in given if one[0].path not in taken] or given:
                    if best >= (ANY, UNKNOWN_DEPTH):
                        self.recognized[handed.path] = handed.question
                    if program.modules:
                        self.joined[handed.path] = [f"{name}.py" for name in program.modules]
                    yield handed, program
            elif best[0] == UNFIT or student not in answering:  # the likeliest file says why
                asks = self._asks.get(likely[0][0].question, set())
                ends = self.names.suffixes_for(likely[0][0].question)
                claim, file = max(
                    likely,
                    key=lambda one: (
                        len(asks & self._defined(one[1])),
                        file_suffix(one[1].path) in ends,
                        self._why(one[1]),
                    ),
                )
                name = file.path.rpartition("/")[2]
                fault = f"expected a {' or '.join(ends)} file, found {name}"
                if best[0] != UNFIT and file_suffix(file.path) in ends:
                    fault = self._unnamed(file, claim.question)
                fault = file.fault or fault
                why[file.path] = fault if best[0] == UNFIT else why[file.path]
                to = f" to {claim.question}" if student in answering else ""
                if not file.is_unread:
                    self.students_without_file.append(student + to)
                yield _handed(file._replace(fault=fault), claim, {})
        self.unused[:] = [(path, said) for path, said in why.items() if said]

    def _is_starter(self, claim: Claim, file: FoundFile) -> bool:
        """Return True if a file is the starter of the question, as it was handed out."""
        question = self._known.get(claim.question)
        if question is None or file.fault:
            return False
        with suppress(OSError, UsageError):
            return question.is_starter(_content(file))
        return False

    def _defined(self, file: FoundFile) -> set[str]:
        """Return the names of functions, classes or answers that a file seems to define."""
        content = b""
        end = file_suffix(file.path)
        if not file.fault and end in self.names.suffixes:
            with suppress(OSError, UsageError):
                content = _as_utf8(_content(file))
        pattern = _DEFINED if end in PROGRAMS else _ANSWERED
        return {name.decode() for name in pattern.findall(content)}

    def _defines_answer_to(self, file: FoundFile) -> str:
        """Return the only question of the class whose functions or answers a file defines, or "".

        A file or folder that is named after any question answers no other.
        """
        if file.fault or any(
            self.names.split_question_name(name)[0] for name in file.path.split("/")
        ):
            return ""
        defined = self._defined(file)
        fitting = self.names.questions_for_suffix(file_suffix(file.path))
        found = [one for one in fitting if defined & self._asks.get(one, set())]
        return found[0] if len(found) == 1 else ""

    def _unnamed(self, file: FoundFile, question: str = "") -> str:
        """Say that a file names no question of the class, and what to call it."""
        name = file.path.rpartition("/")[2]
        end = file_suffix(file.path)
        other = self.names.split_question_name(name)[0]
        if other and other not in self.names.ids:
            return f"{name} is named after {other}, which is no question of the class"
        defined = self._defined(file)
        meant = [one for one in self.names.questions_for_suffix(end) if question in {"", one}]
        named = [one for one in meant if self._asks.get(one, set()) & defined]
        known = join_words(sorted(self._asks[named[0]] & defined)) if named else ""
        what = f"; it defines {known}" if named else ""
        new = " or ".join(f"{one}{end}" for one in (named or meant)[:MAX_LISTED_FILES])
        return f"no question is named in {name}{what}: rename it {new}"

    def _why(self, file: FoundFile) -> str:
        """Return why a file is no student's answer; nothing if it could be none."""
        if file.fault:
            return file.fault
        could_answer = file_suffix(file.path) in self.names.suffixes and not is_markdown(file.path)
        return self.layout.mismatch_note if could_answer else ""

    def describe_unassigned(self) -> str:
        """Say which programs are no student's answer, nothing where there are none."""
        if not self.unused:
            return ""
        shown = join_words(
            (f"{escape_line(path, 200)} ({why})" for path, why in self.unused), MAX_LISTED_FILES
        )
        return f"{format_count(len(self.unused), 'file')} not taken for an answer: {shown}"

    # Looking for files.

    def _found(self) -> Iterator[FoundFile]:
        folders = [self._root]
        try:
            if not self._root.is_dir():
                yield from self._unpacked(self._root)
                return
            for folder in folders:  # which grows
                try:
                    places = [one for one in folder.iterdir() if not _ignored(one.name)]
                except OSError as fault:
                    if folder == self._root:
                        raise
                    yield FoundFile(folder.relative_to(self._root).as_posix()).with_error(fault)
                    continue
                if not places and folder.parent == self._root:
                    self.empty.append(folder.name)
                for place in places:
                    yield from self._at(place, folders)
        except UsageError as fault:
            raise UsageError(
                f"{self._root}: expected a folder or a zip file: {fault.message}"
            ) from fault
        except OSError as fault:
            raise UsageError(f"{self._root}: cannot be read: {fault.strerror}") from fault

    def _at(self, place: Path, folders: list[Path]) -> list[FoundFile]:
        """Return what is at a place, those in a zip file included; a folder joins the others."""
        file = FoundFile(place.relative_to(self._root).as_posix(), bytes_at=place)
        try:
            found = place.lstat()
            with suppress(OverflowError, ValueError):
                moment = datetime.fromtimestamp(found.st_mtime, UTC)
                file = file._replace(at=moment.isoformat(timespec="seconds"))
            file = _usable(file, found.st_mode)
            if stat.S_ISDIR(found.st_mode) and not file.fault:
                folders.append(place)
                return []
            if file_suffix(file.path) == ARCHIVE and not file.fault:
                _fits(file.path, found.st_size)
                packed = read_regular_file(place, MAX_BYTES_BY_SUFFIX[ARCHIVE] + 1)[0]
                return self._unpacked(io.BytesIO(packed), file, 1)
        except Exception as error:  # noqa: BLE001 - one file must not stop a class
            return [file.with_error(error)]
        return [file]

    def _unpacked(
        self, archive: Path | io.BytesIO, of: FoundFile | None = None, depth: int = 0
    ) -> list[FoundFile]:
        """Return what is in a zip file, those in it included.

        It is that `of` a file, at a depth of 1 where a student handed it in, more where it lies in
        another; without one it is that of a whole class. UsageError where it is none, is damaged,
        or holds more than any honest one; OSError where this machine cannot read it.
        """
        if depth > MAX_ARCHIVE_DEPTH:
            raise UsageError(
                f"expected at most {MAX_ARCHIVE_DEPTH} zip files in each other, found more"
            )
        if depth == 1:
            self._bytes_left = MAX_BYTES_BY_SUFFIX[ARCHIVE]
            self._entries_left = MAX_ARCHIVE_ENTRIES
        if isinstance(archive, io.BytesIO):
            # Counted before zipfile makes an object of each; what the end record says may be a lie.
            self._entries_left -= archive.getvalue().count(_ENTRY)
            if self._entries_left < 0:
                raise UsageError(f"its zip files hold more than {MAX_ARCHIVE_ENTRIES:,} files")
        found: list[FoundFile] = []
        with _explained(), zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                path = _path(info, depth)
                if not path.endswith("/") and not any(map(_ignored, path.split("/"))):
                    found += self._entry(opened, info, path, of, depth)
        return found or ([of._replace(fault="a zip file with nothing in it")] if of else [])

    def _entry(
        self,
        opened: zipfile.ZipFile,
        info: zipfile.ZipInfo,
        path: str,
        of: FoundFile | None,
        depth: int,
    ) -> list[FoundFile]:
        """Return what is at a path of a zip file, its bytes unpacked where it may be an answer."""
        at = of.at if of else ""
        if of is None:
            with suppress(ValueError):  # a zip file does not know its own zone
                at = datetime(*info.date_time, tzinfo=UTC).isoformat(timespec="seconds")
        file = _usable(FoundFile(f"{of.path}/{path}" if of else path, at), info.external_attr >> 16)
        if path[1:2] == ":" or {"", ".", ".."} & {*path.split("/")}:
            fault = "its path leads out of the zip file"
            file = file._replace(fault=fault, is_stray=of is None)
        elif info.flag_bits & _ENCRYPTED:
            file = file._replace(fault="it is encrypted")
        elif info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            fault = "it is packed in a way that is not read: pack it as a plain zip file"
            file = file._replace(fault=fault)
        says_whose = of is None and path.rpartition("/")[2] == METADATA
        if file.fault or not (says_whose or file_suffix(path) in {*self.names.suffixes, ARCHIVE}):
            return [file]
        try:
            _fits(path, info.file_size, " unpacked")  # of which zipfile reads no more
            self._bytes_left -= info.file_size
            if depth and self._bytes_left < 0:
                raise UsageError(
                    f"its zip files hold more than {MAX_BYTES_BY_SUFFIX[ARCHIVE]:,} bytes"
                )
            with _explained():
                content = opened.read(info)
            if file_suffix(path) == ARCHIVE:
                return self._unpacked(io.BytesIO(content), file, depth + 1)
            return [file._replace(bytes_at=ZippedContent.store_content(content, self._temporary))]
        except Exception as error:  # noqa: BLE001 - one file must not stop a class
            return [file.with_error(error)]


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # of this machine; a damaged file has it seek what is not there
        said = escape_line(" ".join(str(error).split()), 120) or type(error).__name__
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


def _ignored(name: str) -> bool:
    return (name.startswith(".") and name not in {".", ".."}) or name in _NOT_THEIRS


def _usable(file: FoundFile, mode: int) -> FoundFile:
    """Return it with why it is not read, where its path or mode (0: not known) says so."""
    kind = stat.S_IFMT(mode)
    fault = ""
    if len(file.path) > MAX_PATH_LENGTH:
        fault = f"its path has more than {MAX_PATH_LENGTH} characters"
        return file._replace(path=file.path[:MAX_PATH_LENGTH], fault=fault, is_stray=True)
    if has_control_characters(file.path):
        fault = "its name has characters that cannot be shown"
    elif kind == stat.S_IFLNK:
        fault = "a link, which is not followed"
    elif kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        fault = "a device or a pipe, and no file"
    return file._replace(fault=fault)


def _fits(path: str, size: int, how: str = "") -> None:
    """Refuse what is larger than any honest file of its kind."""
    if size > (most := MAX_BYTES_BY_SUFFIX.get(file_suffix(path), MAX_SUBMISSION_FILE_BYTES)):
        kind = {ARCHIVE: "a zip file of ", ".ipynb": "a notebook of "}.get(file_suffix(path), "")
        raise UsageError(f"expected {kind}at most {most:,} bytes{how}, found more")


def _in_time(one: tuple[Claim, FoundFile]) -> tuple[object, ...]:
    """Return a key: the last one has the latest time, is highest up, has the largest number.

    The number of a version (`_v2`) comes before that of a copy (` (1)`), and a plain name is first.
    """
    claim, file = one
    pieces = enumerate(re.split("([0-9]+)", file.path))  # every second one is a number
    depth = file.path.count("/")
    name = [int(p) if n % 2 else p for n, p in pieces]
    return claim.at, -depth, *version_numbers(file.path), name


# Programs.


def _handed(
    file: FoundFile, claim: Claim, beside: Mapping[str, FoundFile], *, skip: bool = False
) -> tuple[HandIn, SubmittedProgram]:
    """Return what a student handed in, and its program with the files beside it that it imports.

    OSError if this machine cannot read a file.
    """
    program = SubmittedProgram()
    try:
        if not file.fault:
            main = _content(file)
            if file_suffix(file.path) == ".ipynb":
                main = notebook_code(main, skip=skip)
            elif file_suffix(file.path) == ".py":
                main = _as_utf8(main)
            program = SubmittedProgram(main, _imported(main, beside, {}))
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - one file must not stop a class
        file = file.with_error(error)
    fault, unread = ("", file.fault) if file.is_unread else (file.fault, "")
    found = HandIn(
        claim.student, claim.question, file.path, "" if file.fault else program.sha256,
        claim.at or "", fault, claim.name, claim.email, claim.late, unread,
    )  # fmt: skip
    return found, program


_IMPORT = re.compile(rb"(?:^|[;:\n\r])[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([^#\r\n;]+))")
_KNOWN = sys.stdlib_module_names | {"numpy", "torch"}  # of which a file takes no place


def _as_utf8(source: bytes) -> bytes:
    """Return a program in UTF-8, if an editor of Windows has saved it in UTF-16."""
    encoding = ""
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif source[1:8:2] == bytes(4):
        encoding = "utf-16-le"
    elif source[0:8:2] == bytes(4):
        encoding = "utf-16-be"
    if encoding:
        with suppress(UnicodeError):
            return source.decode(encoding).encode()
    return source


def _imported(
    program: bytes, beside: Mapping[str, FoundFile], known: dict[str, bytes]
) -> dict[str, bytes]:
    """Return the files beside a program that it may import, and those that they may import."""
    for found in _IMPORT.finditer(program.removeprefix(codecs.BOM_UTF8)):
        for name in re.findall(rb"(?:^|,)[ \t]*(\w+)", found[1] or found[2]):
            module = name.decode()
            if module not in beside or module in known or module in _KNOWN:
                continue
            text = _as_utf8(_content(beside[module]))
            known[module] = text
            size = sum(map(len, known.values()))
            if len(known) > MAX_STUDENT_FILES or size > MAX_SUBMISSION_FILE_BYTES:
                most = f"{MAX_STUDENT_FILES} files and {MAX_SUBMISSION_FILE_BYTES:,} bytes"
                raise UsageError(f"expected at most {most} that a program imports, found more")
            _imported(text, beside, known)
    return known


def _content(file: FoundFile) -> bytes:
    """Return the bytes of a file; no part of its path may have become a link meanwhile."""
    if isinstance(file.bytes_at, ZippedContent):
        return file.bytes_at.content()
    assert file.bytes_at is not None
    content, found = read_regular_file(
        file.bytes_at,
        MAX_BYTES_BY_SUFFIX.get(file_suffix(file.path), MAX_SUBMISSION_FILE_BYTES) + 1,
    )
    if os.path.realpath(file.bytes_at) != str(file.bytes_at):
        raise UsageError("expected a file, found something else in its place")
    _fits(file.path, max(found.st_size, len(content)))
    return content
