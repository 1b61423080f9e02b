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
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from grader.bank.storage import MAX_SOURCE, SPECS, by_id, read_regular
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


@dataclass
class Archive:
    """The files of an archive."""

    path: Path

    def specs(self) -> dict[str, str]:
        """The specs in `questions/`."""
        return by_id(self.names("questions"), self.path / self._top / "questions")

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

    def names(self, folder: str) -> list[str]:
        """The names of the files right in a folder."""
        inside = f"{self._top}{folder}/"
        rests = (n.removeprefix(inside) for n in self._entries if n.startswith(inside))
        return sorted(rest for rest in rests if "/" not in rest)

    @cached_property
    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        """Every file of the archive, by its path in it.

        Raises:
            BankError: one of them does not belong into an archive of a bank.
        """
        listed = self._zip.infolist()
        unpacked = sum(entry.file_size for entry in listed)
        if unpacked > MAX_UNPACKED:
            raise self._refused(f"at most {MAX_UNPACKED:,} bytes unpacked, found {unpacked:,}")
        for name, count in Counter(entry.filename for entry in listed).items():
            if count > 1:
                raise self._refused(f"each path once, found {name!r} twice")
        for entry in listed:
            self._check(entry)
        return {entry.filename: entry for entry in listed if not entry.is_dir()}

    def _check(self, entry: zipfile.ZipInfo) -> None:
        # orig_filename is what the archive says; zipfile cuts it at a NUL and turns separators.
        name = entry.orig_filename
        path = PurePosixPath(name)
        odd = not name.isprintable() or "\\" in name or ":" in name
        if odd or path.is_absolute() or ".." in path.parts:
            raise self._refused(f"paths inside the archive, found {name!r}")
        mode = entry.external_attr >> 16
        if stat.S_IFMT(mode) not in {0, stat.S_IFREG, stat.S_IFDIR}:
            kind = "symbolic link" if stat.S_ISLNK(mode) else "special file"
            raise self._refused(f"files and folders, found the {kind} {name!r}")
        if entry.flag_bits & _ENCRYPTED:
            raise self._refused(f"files that can be read, found {name!r} encrypted")
        if entry.compress_type not in _METHODS:
            raise self._refused(f"stored or deflated files, found {name!r} packed otherwise")

    @cached_property
    def _top(self) -> str:
        """The folder that holds `questions/`, with its slash; nothing where that is the archive.

        Raises:
            BankError: there is none, or it is not clear which.
        """
        tops: dict[int, set[str]] = {}  # by depth
        for name in self._entries:
            *above, folder, file = "", *name.split("/")
            if folder == "questions" and file.endswith(SPECS) and len(above) <= DEEPEST + 1:
                tops.setdefault(len(above), set()).add("".join(f"{part}/" for part in above[1:]))
        if not tops:
            raise self._refused("questions/ with specs at the top or in one folder, found none")
        found = sorted(tops[min(tops)])
        if len(found) > 1:
            both = " and ".join(f"{top}questions/" for top in found[:2])
            raise self._refused(f"one folder questions/, found {both}")
        return found[0]

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
