"""Find every file in the folder or zip file of all submissions, zip files of students included.

Nothing in a zip file is trusted.  Possible answers are unpacked into a temporary file without a
name, within limits on their number and size.  Links are not followed: one may lead to another
student's answer.
"""

from __future__ import annotations

import errno
import io
import os
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, NamedTuple

from grader.bank.bank_files import read_regular_file
from grader.classroom.submission_layout import (
    ARCHIVE,
    METADATA,
    file_suffix,
    has_control_characters,
)
from grader.model.errors import UsageError
from grader.model.limits import (
    MAX_ARCHIVE_DEPTH,
    MAX_ARCHIVE_ENTRIES,
    MAX_BYTES_BY_SUFFIX,
    MAX_PATH_LENGTH,
    MAX_SUBMISSION_FILE_BYTES,
)
from grader.reports.text_layout import escape_line
from grader.sandbox import Closeable

_SYSTEM_FILES = frozenset({"__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini"})
_ENTRY_SIGNATURE = b"PK\x01\x02"  # of each entry in the list at the end of a zip file
_ENCRYPTED_FLAG = 0x1
_UTF8_FLAG = 0x800
# Exceptions of the module zipfile for a damaged archive, or another file.
_ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, ValueError, OverflowError,
    OSError,
)  # fmt: skip


class ZippedContent:
    """Content from a zip file, compressed in a temporary file.

    The temporary file has no name, so it disappears even if the program is killed. Compressed, many
    zip files full of zeros cannot fill the disk.
    """

    def __init__(self, content: bytes, file: IO[bytes]) -> None:
        """Append content to the temporary file."""
        self._file = file
        self._start = file.seek(0, os.SEEK_END)
        self._size = file.write(zlib.compress(content, 1))

    def content(self) -> bytes:
        """Return the content."""
        self._file.seek(self._start)
        return zlib.decompress(self._file.read(self._size))


class SubmittedFile(NamedTuple):
    """A file of the submissions, or a link, a pipe or a damaged archive in its place."""

    path: str  # from the root, with `/`; the content of a zip file lies below its name
    changed_at: str = ""  # UTC, ISO 8601, by the instructor's file system or zip file
    fault: str = ""  # why it cannot be read, one sentence
    is_stray: bool = False  # it belongs to nobody: the fault is not a student's
    is_unread: bool = False  # the fault is the grader's
    location: Path | ZippedContent | None = None  # of its bytes

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def suffix(self) -> str:
        return file_suffix(self.path)

    def with_error(self, error: Exception) -> SubmittedFile:
        """Return the file with the reason why it cannot be read.

        A UsageError is a fault of the file, an OSError one of this machine. Anything else is a bug
        of the grader, which costs no points.
        """
        if isinstance(error, UsageError):
            return self._replace(fault=error.message)
        if isinstance(error, OSError):
            return self._replace(fault=f"cannot be read: {error.strerror or error}", is_stray=True)
        text = escape_line(f"{type(error).__name__}: {error}", 200)
        return self._replace(fault=f"the grader failed to read it ({text})", is_unread=True)

    def content(self) -> bytes:
        """Return the bytes of a file without a fault.

        UsageError if it is too large, or if its path has become a link since.
        """
        if isinstance(self.location, ZippedContent):
            return self.location.content()
        assert self.location is not None
        limit = MAX_BYTES_BY_SUFFIX.get(self.suffix, MAX_SUBMISSION_FILE_BYTES)
        content, status = read_regular_file(self.location, limit + 1)
        if os.path.realpath(self.location) != str(self.location):
            raise UsageError("expected a file, found something else in its place")
        _require_size(self.path, max(status.st_size, len(content)))
        return content


class SubmittedFiles(Closeable):
    """Finds the files of all submissions.  Their contents from zip files last until `close`."""

    def __init__(self, root: Path, suffixes: Collection[str]) -> None:
        """Open a temporary file for unpacked files.

        From zip files, only files with one of the suffixes are unpacked. UsageError if the root is
        neither a folder nor a file.
        """
        if not root.is_dir() and not root.is_file():
            actual = "something else" if root.exists() else "none"
            raise UsageError(f"{root}: expected a folder or a zip file, found {actual}")
        self.empty_folders: list[str] = []  # folders of submissions with no file in them
        self._root = Path(os.path.realpath(root))
        self._suffixes = suffixes
        self._temporary = tempfile.TemporaryFile(prefix="drill-hand-ins-")  # noqa: SIM115 `close`
        # How much more the zip file of one student may hold.
        self._bytes_left = 0
        self._entries_left = 0

    def close(self) -> None:
        self._temporary.close()

    def find_files(self) -> list[SubmittedFile]:
        """Return all files, sorted by path, except hidden ones. Zip files are unpacked.

        UsageError if the root cannot be read; the error of any other file becomes its fault.
        """
        try:
            files = self._files_in_folders() if self._root.is_dir() else self._unpack(self._root)
            return sorted(files, key=lambda file: file.path.split("/"))
        except UsageError as error:
            raise UsageError(
                f"{self._root}: expected a folder or a zip file: {error.message}"
            ) from error
        except OSError as error:
            raise UsageError(f"{self._root}: cannot be read: {error.strerror}") from error

    def _files_in_folders(self) -> Iterator[SubmittedFile]:
        folders = [self._root]
        for folder in folders:  # the list grows while it is read
            try:
                paths = [path for path in folder.iterdir() if not _is_ignored(path.name)]
            except OSError as error:
                if folder == self._root:
                    raise
                relative = folder.relative_to(self._root).as_posix()
                yield SubmittedFile(relative).with_error(error)
                continue
            if not paths and folder.parent == self._root:
                self.empty_folders.append(folder.name)
            for path in paths:
                yield from self._files_at(path, folders)

    def _files_at(self, path: Path, folders: list[Path]) -> list[SubmittedFile]:
        """Return the file at a path, or the files of a zip file; add a folder to `folders`."""
        file = SubmittedFile(path.relative_to(self._root).as_posix(), location=path)
        try:
            status = path.lstat()
            with suppress(OverflowError, ValueError):
                moment = datetime.fromtimestamp(status.st_mtime, UTC)
                file = file._replace(changed_at=moment.isoformat(timespec="seconds"))
            file = _with_mode_fault(file, status.st_mode)
            if file.fault:
                return [file]
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
                return []
            if file.suffix == ARCHIVE:
                _require_size(file.path, status.st_size)
                archive = read_regular_file(path, MAX_BYTES_BY_SUFFIX[ARCHIVE] + 1)[0]
                return self._unpack(io.BytesIO(archive), file, 1)
        except Exception as error:  # noqa: BLE001 - one file must not stop a class
            return [file.with_error(error)]
        return [file]

    def _unpack(
        self, archive: Path | io.BytesIO, parent: SubmittedFile | None = None, depth: int = 0
    ) -> list[SubmittedFile]:
        """Return the files in a zip file, and in the zip files in it.

        Depth 0 is the zip file of a whole class, without a parent. Depth 1 is that of a student,
        and deeper ones lie in it. UsageError if the file is damaged, not a zip file, or beyond
        a limit; OSError if this machine cannot read it.
        """
        if depth > MAX_ARCHIVE_DEPTH:
            raise UsageError(
                f"expected at most {MAX_ARCHIVE_DEPTH} zip files in each other, found more"
            )
        if depth == 1:
            self._bytes_left = MAX_BYTES_BY_SUFFIX[ARCHIVE]
            self._entries_left = MAX_ARCHIVE_ENTRIES
        if isinstance(archive, io.BytesIO):
            # Counted before zipfile makes an object of each: the number in the end record may lie.
            self._entries_left -= archive.getvalue().count(_ENTRY_SIGNATURE)
            if self._entries_left < 0:
                raise UsageError(f"its zip files hold more than {MAX_ARCHIVE_ENTRIES:,} files")
        files: list[SubmittedFile] = []
        with _explain_zip_errors(), zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                path = _entry_path(info, depth)
                if not path.endswith("/") and not any(map(_is_ignored, path.split("/"))):
                    file = _entry_file(info, path, parent)
                    files += self._unpack_entry(opened, info, file, depth)
        if not files and parent:
            return [parent._replace(fault="a zip file with nothing in it")]
        return files

    def _unpack_entry(
        self, opened: zipfile.ZipFile, info: zipfile.ZipInfo, file: SubmittedFile, depth: int
    ) -> list[SubmittedFile]:
        """Return an entry of a zip file, or the files in it if it is a zip file, too.

        An entry has its content only if it may be an answer, or has Gradescope's metadata. An
        error becomes a fault of the file.
        """
        is_metadata = depth == 0 and file.name == METADATA
        if file.fault or not (is_metadata or file.suffix in {*self._suffixes, ARCHIVE}):
            return [file]
        try:
            # zipfile reads no more bytes than this size.
            _require_size(file.path, info.file_size, " unpacked")
            self._bytes_left -= info.file_size
            if depth and self._bytes_left < 0:
                raise UsageError(
                    f"its zip files hold more than {MAX_BYTES_BY_SUFFIX[ARCHIVE]:,} bytes"
                )
            with _explain_zip_errors():
                content = opened.read(info)
            if file.suffix == ARCHIVE:
                return self._unpack(io.BytesIO(content), file, depth + 1)
            return [file._replace(location=ZippedContent(content, self._temporary))]
        except Exception as error:  # noqa: BLE001 - one file must not stop a class
            return [file.with_error(error)]


def _entry_file(info: zipfile.ZipInfo, path: str, parent: SubmittedFile | None) -> SubmittedFile:
    """Return the file of an entry without its bytes, with a fault if it must not be unpacked."""
    if parent is None:
        file = SubmittedFile(path)
        with suppress(ValueError):  # a zip file does not know its own zone
            moment = datetime(*info.date_time, tzinfo=UTC)
            file = file._replace(changed_at=moment.isoformat(timespec="seconds"))
    else:
        file = SubmittedFile(f"{parent.path}/{path}", parent.changed_at)
    file = _with_mode_fault(file, info.external_attr >> 16)
    if path[1:2] == ":" or {"", ".", ".."} & {*path.split("/")}:
        fault = "its path leads out of the zip file"
        return file._replace(fault=fault, is_stray=parent is None)
    if info.flag_bits & _ENCRYPTED_FLAG:
        return file._replace(fault="it is encrypted")
    if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        fault = "it is packed in a way that is not read: pack it as a plain zip file"
        return file._replace(fault=fault)
    return file


@contextmanager
def _explain_zip_errors() -> Iterator[None]:
    try:
        yield
    except _ZIP_ERRORS as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # of this machine; a damaged file leads to an invalid position
        message = escape_line(" ".join(str(error).split()), 120) or type(error).__name__
        raise UsageError(f"expected a zip file, found a damaged one: {message}") from None


def _entry_path(info: zipfile.ZipInfo, depth: int) -> str:
    r"""Return an entry's path, also if it is UTF-8 without the flag for it.

    In a student's zip file `\` separates folders too; in that of a class it is part of a name.
    """
    path = info.orig_filename  # `filename` is cut at a NUL
    if not info.flag_bits & _UTF8_FLAG:
        with suppress(UnicodeError):
            path = path.encode("cp437").decode("utf-8")
    if depth:
        path = path.replace("\\", "/")
    return path.removeprefix("./")


def _is_ignored(name: str) -> bool:
    is_hidden = name.startswith(".") and name not in {".", ".."}
    return is_hidden or name in _SYSTEM_FILES


def _with_mode_fault(file: SubmittedFile, mode: int) -> SubmittedFile:
    """Return a file, with a fault if its path or its mode (0: unknown) forbids reading it."""
    kind = stat.S_IFMT(mode)
    if len(file.path) > MAX_PATH_LENGTH:
        fault = f"its path has more than {MAX_PATH_LENGTH} characters"
        return file._replace(path=file.path[:MAX_PATH_LENGTH], fault=fault, is_stray=True)
    fault = ""
    if has_control_characters(file.path):
        fault = "its name has characters that cannot be shown"
    elif kind == stat.S_IFLNK:
        fault = "a link, which is not followed"
    elif kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        fault = "a device or a pipe, and no file"
    return file._replace(fault=fault)


def _require_size(path: str, size: int, state: str = "") -> None:
    """Raise UsageError if a file is larger than the limit for its suffix."""
    suffix = file_suffix(path)
    limit = MAX_BYTES_BY_SUFFIX.get(suffix, MAX_SUBMISSION_FILE_BYTES)
    if size > limit:
        kind = {ARCHIVE: "a zip file of ", ".ipynb": "a notebook of "}.get(suffix, "")
        raise UsageError(f"expected {kind}at most {limit:,} bytes{state}, found more")
