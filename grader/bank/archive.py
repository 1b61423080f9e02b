"""A bank in a zip or a wheel, read where it is: nothing is ever extracted, or imported.

`questions/` and `drills/` lie at the top, in one folder (as in a package, or a repository that was
downloaded), or where this program's own wheel has them.  An archive that it would be unsafe to
unpack by hand is refused as a whole: paths that lead out, links, encrypted or damaged entries, and
more bytes than a bank has.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.bank.storage import MAX_SOURCE, SPECS, BankFiles, idle, read_regular
from grader.model.errors import BankError

MAX_ARCHIVE = 64 << 20  # bytes of the file
MAX_ENTRIES = 20_000
MAX_UNPACKED = 256 << 20  # bytes of all entries: a hundred times a large bank
DEEPEST = 2  # folders above questions/: as in grader/_bank
_ENCRYPTED = 0x1
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
# What the module zipfile raises on a file that is no archive, or a damaged one.
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError,
)  # fmt: skip


class Archive(BankFiles):
    """The files of an archive."""

    def read(self, name: str, most: int = MAX_SOURCE + 1) -> bytes:
        """The first bytes of an entry; no more are unpacked."""
        entry = self._entries.get(f"{self._top}{name}")
        if entry is None:
            raise FileNotFoundError(2, "no such file in the archive")
        with self._explained(), self._zip.open(entry) as file:
            return file.read(most)

    def shown(self, name: str) -> Path:
        """The entry's path, as if the archive were a folder."""
        return self.path / self._top / name

    def below(self, folder: str) -> list[str]:
        """The names of all files in a folder and the folders in it."""
        inside = f"{self._top}{folder}/"
        found = (name for name in self._entries if name.startswith(inside))
        names = (name.removeprefix(self._top) for name in found)
        return sorted(name for name in names if not idle(PurePosixPath(name)))

    def _listed(self, folder: str) -> Iterable[str]:
        inside = f"{self._top}{folder}/"
        rests = (n.removeprefix(inside) for n in self._entries if n.startswith(inside))
        return [rest for rest in rests if "/" not in rest]

    @cached_property
    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        """Every file by its path in the archive; BankError where one does not belong there."""
        listed = self._zip.infolist()
        unpacked = sum(entry.file_size for entry in listed)
        if unpacked > MAX_UNPACKED:
            raise self._refused(f"at most {MAX_UNPACKED:,} bytes unpacked, found {unpacked:,}")
        found: dict[str, zipfile.ZipInfo] = {}
        for entry in listed:
            if entry.filename in found:
                raise self._refused(f"each path once, found {entry.filename!r} twice")
            if wrong := _wrong(entry):
                raise self._refused(wrong)
            found[entry.filename] = entry
        return {name: entry for name, entry in found.items() if not entry.is_dir()}

    @cached_property
    def _top(self) -> str:
        """The folder that holds `questions/`, with its slash; nothing where that is the archive."""
        folders = {name.rpartition("/")[0] for name in self._entries if name.endswith(SPECS)}
        folders = {folder for folder in folders if f"/{folder}".endswith("/questions")}
        depth = min((folder.count("/") for folder in folders), default=DEEPEST + 1)
        if depth > DEEPEST:
            raise self._refused("questions/ with specs at the top or in one folder, found none")
        found = sorted(f"{folder}/" for folder in folders if folder.count("/") == depth)
        if len(found) > 1:
            raise self._refused(f"one folder questions/, found {' and '.join(found[:2])}")
        return found[0].removesuffix("questions/")

    @cached_property
    def _zip(self) -> zipfile.ZipFile:
        """The archive in memory, so that it is read once and stays the same meanwhile."""
        with self._explained():
            data = read_regular(self.path.resolve(), MAX_ARCHIVE + 1)
            if len(data) > MAX_ARCHIVE:
                raise self._refused(f"at most {MAX_ARCHIVE:,} bytes, found more")
            # Counted before zipfile makes an object of each; what the end record says may be a lie.
            if (count := data.count(b"PK\x01\x02")) > MAX_ENTRIES:
                raise self._refused(f"at most {MAX_ENTRIES:,} entries, found {count:,}")
            return zipfile.ZipFile(io.BytesIO(data))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE as error:
            said = " ".join(str(error).split())[:120] or type(error).__name__
            raise self._refused(f"a whole zip archive, found a damaged one: {said}") from None
        except OSError as error:
            what = error.strerror or "a damaged one"
            raise self._refused(f"a file that can be read, found {what}") from None

    def _refused(self, expected_and_found: str) -> BankError:
        return BankError(
            f"{self.path}: expected {expected_and_found}",
            "pack the bank again: questions/ and drills/ in a plain zip",
        )


def _wrong(entry: zipfile.ZipInfo) -> str:
    """Why an entry does not belong into an archive of a bank; nothing where it does."""
    # orig_filename is what the archive says; zipfile cuts it at a NUL and turns separators.
    name = entry.orig_filename
    path = PurePosixPath(name)
    odd = not name.isprintable() or "\\" in name or ":" in name
    if odd or path.is_absolute() or ".." in path.parts:
        return f"paths inside the archive, found {name!r}"
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
        kind = "symbolic link" if stat.S_ISLNK(mode) else "special file"
        return f"files and folders, found the {kind} {name!r}"
    if entry.flag_bits & _ENCRYPTED:
        return f"files that can be read, found {name!r} encrypted"
    if entry.compress_type not in _METHODS:
        return f"stored or deflated files, found {name!r} packed otherwise"
    return ""
