"""What a bank holds: a folder with `questions/` and `drills/`, or one YAML file.

Specs and programs are bytes, by names with `/` between their parts.  A bank may come from a
stranger, so only regular files inside it are opened: a pipe would wait forever, and a link could
lead to a file that is none of the bank's.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath

from grader.model.errors import BankError, UsageError
from grader.model.limits import MAX_ID_LENGTH, MAX_SOURCE, MAX_SPECS
from grader.model.question import Question

SPEC_SUFFIXES = (".yaml", ".yml")
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
# What is not quite an id is a remark of the audit; a space, a line break or a letter that turns
# the line around would break what is listed, and the folder that a start makes.
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{,99}")


@dataclass(frozen=True)
class BankFiles:
    """The files of a bank at a path that `refusal` has nothing against."""

    path: Path

    @property
    def is_one_file(self) -> bool:
        """Whether the bank is a single spec, with its programs inside."""
        return self.path.suffix in SPEC_SUFFIXES and os.path.isfile(self.path)  # noqa: PTH113 never raises

    def specs_by_id(self) -> dict[str, str]:
        """The name of every spec by the question's id; hidden files are left out.

        Raises:
            BankError: they cannot be listed, two claim one id, one has a name that is none, or
                there are too many.
        """
        if self.is_one_file:
            _check_name(self.path, self.path.parent)
            return {self.path.stem: self.path.name}
        folder = self.path / "questions"
        try:
            names = os.listdir(self._inside("questions"))  # noqa: PTH208 names alone
        except OSError as error:
            raise BankError(
                f"{folder}: expected a folder that can be read, found {error.strerror}"
            ) from None
        found: dict[str, str] = {}
        for path in map(PurePath, sorted(names)):
            if path.suffix not in SPEC_SUFFIXES or path.name.startswith("."):
                continue
            _check_name(path, folder)
            if len(found) == MAX_SPECS:
                raise BankError(f"{folder}: expected at most {MAX_SPECS:,} questions, found more")
            if other := found.get(path.stem):
                expected = f"{folder / path}: expected one file for the id {path.stem}"
                text = f"{expected}, found {PurePath(other).name} too"
                raise BankError(text, "rename or remove one of them")
            found[path.stem] = f"questions/{path}"
        return found

    def file_names(self, folder: str) -> list[str]:
        """The names of the files right in a folder; none where there is no such folder."""
        try:
            return [] if self.is_one_file else sorted(os.listdir(self._inside(folder)))  # noqa: PTH208
        except OSError:
            return []

    def read_file(self, name: str, most: int = MAX_SOURCE + 1) -> bytes:
        """The first bytes of a file.

        Raises:
            OSError: there is no such file, it lies outside the bank, or it cannot be read.
        """
        if not self.is_one_file:
            return read_regular_file(self._inside(name), most)[0]
        if name != self.path.name:
            raise FileNotFoundError(errno.ENOENT, "a bank of one file holds no other")
        return read_regular_file(self.path.resolve(), most)[0]

    def display_path(self, name: str) -> Path:
        """What messages call a file or folder."""
        return (self.path.parent if self.is_one_file else self.path) / name

    def _inside(self, name: str) -> Path:
        """The path of a file or folder without links; OSError where that is outside the bank."""
        root, found = os.path.realpath(self.path), os.path.realpath(self.path / name)
        if os.path.commonpath([root, found]) != root:
            raise OSError(errno.ELOOP, "a symbolic link that leads out of the bank")
        return Path(found)


def question_files(question: Question) -> dict[str, bytes]:
    """The spec and all programs of a question, by their paths in a bank.

    Raises:
        OSError: one of them cannot be read.
    """
    drills = question.bank / "drills" / question.id
    found = {f"questions/{question.spec_path.name}": question.spec_path.read_bytes()}
    for path in sorted(drills.rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            found[path.relative_to(question.bank).as_posix()] = path.read_bytes()
    return found


def read_regular_file(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """The first bytes of a file that may come from anybody, and what it is.

    A link is refused: it may lead to a file that only the person who runs this may read.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe, a socket or a device.
    """
    # Without O_NONBLOCK, opening a pipe would wait until something writes into it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
            raise OSError(errno.EINVAL, kinds.get(stat.S_IFMT(found.st_mode), "a device"))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most), found
    finally:
        os.close(handle)


def write_atomically(
    file: Path, pieces: Iterable[str | bytes], hint: str = "", *, keep_mode: bool = False
) -> None:
    """Write a file whole or not at all; a link in its place is replaced, not followed.

    With `keep_mode` it has the mode of the file that was there.

    Raises:
        UsageError: it cannot be written; `hint` says what to do.
    """
    if file.is_dir():
        raise UsageError(f"{file}: expected a file, found a folder", hint or "name a file in it")
    made = file.with_name(f".{file.name}.{os.urandom(8).hex()}.tmp")
    try:
        with made.open("xb", buffering=1 << 16) as out:  # x: neither a file nor a link is there
            out.writelines(p if isinstance(p, bytes) else p.encode() for p in pieces)
            out.flush()
            os.fsync(out.fileno())
        if keep_mode and file.exists():
            made.chmod(stat.S_IMODE(file.stat().st_mode))
        made.replace(file)
    except OSError as fault:
        raise UsageError(f"{file}: cannot be written: {fault.strerror or fault}", hint) from fault
    finally:
        with suppress(OSError):
            made.unlink()


def why_not_a_bank(bank: Path) -> str:
    """Why a path is no bank, 'expected ..., found ...'; nothing where it is one; never raises."""
    inside, at, found = bank / "questions", bank, ""
    try:
        mode = bank.stat().st_mode
        if stat.S_ISDIR(mode):
            at = inside
            found = "" if stat.S_ISDIR(inside.stat().st_mode) else f"no questions/ in {bank}"
        elif bank.suffix in SPEC_SUFFIXES and stat.S_ISREG(mode):
            _check_name(bank, bank.parent)
        else:
            found = f"the file {bank}"
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
        found = f"no questions/ in {bank}" if at is inside else f"nothing at {bank}"
    except OSError as error:  # a closed folder above it, a name that is too long, a loop of links
        found = f"{at}: {error.strerror}"
    except BankError as error:
        return error.message
    return found and f"expected a folder that holds questions/, or a .yaml file, found {found}"


def is_id(name: str) -> bool:
    """Whether a name is lower-case words joined by hyphens, as an id is to be."""
    return len(name) <= MAX_ID_LENGTH and _ID.fullmatch(name) is not None


def nearest_id(name: str) -> str:
    """The id most like a name; nothing where none of its letters can stand in one."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:MAX_ID_LENGTH].strip("-")


def _check_name(path: PurePath, folder: Path) -> None:
    """Raise BankError where a spec's name could not be shown, typed or made a folder of."""
    if _HARMLESS.fullmatch(path.stem) is None:
        raise BankError(
            f"{folder}: expected specs named by lower-case words joined by hyphens, "
            f"found {path.name!r}",
            f"rename it, to {nearest_id(path.stem) or 'my-question'}{path.suffix} for example",
        )
