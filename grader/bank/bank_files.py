"""Files of a bank: a folder with `questions/` and `drills/`, or one YAML file.

Specs and programs are bytes, with names like `drills/ID/driver.py`.  A bank may come from a
stranger, so only regular files inside it are opened: a pipe would wait forever, and a link could
lead to a file outside the bank.
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
# `drill bank new` asks for an id; a file that is there already may have one of these names, too.
# Spaces, line breaks and letters that reverse a line are refused: they would break lists and the
# folders of `drill start`.
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{,99}")


@dataclass(frozen=True)
class BankFiles:
    """The files of a bank; `why_not_a_bank` has accepted its path."""

    path: Path

    @property
    def is_one_file(self) -> bool:
        """Return True if the bank is a single spec, with its programs inside."""
        return self.path.suffix in SPEC_SUFFIXES and os.path.isfile(self.path)  # noqa: PTH113 never raises

    def specs_by_id(self) -> dict[str, str]:
        """Return the specs by id, such as {"relu": "questions/relu.yaml"}, without hidden files.

        Raises:
            BankError: the folder cannot be read, two specs have one id, a name is not allowed, or
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
        specs: dict[str, str] = {}
        for path in map(PurePath, sorted(names)):
            if path.suffix not in SPEC_SUFFIXES or path.name.startswith("."):
                continue
            _check_name(path, folder)
            if len(specs) == MAX_SPECS:
                raise BankError(f"{folder}: expected at most {MAX_SPECS:,} questions, found more")
            if other := specs.get(path.stem):
                expected = f"{folder / path}: expected one file for the id {path.stem}"
                text = f"{expected}, found {PurePath(other).name} too"
                raise BankError(text, "rename or remove one of them")
            specs[path.stem] = f"questions/{path}"
        return specs

    def file_names(self, folder: str) -> list[str]:
        """Return the names of the files directly in a folder; none if it does not exist."""
        try:
            return sorted(os.listdir(self._inside(folder)))  # noqa: PTH208 names alone
        except OSError:
            return []

    def read_file(self, name: str, most: int = MAX_SOURCE + 1) -> bytes:
        """Return up to `most` bytes of a file with a name such as `drills/ID/driver.py`.

        Raises:
            OSError: the file does not exist, lies outside the bank, or cannot be read.
        """
        if not self.is_one_file:
            return read_regular_file(self._inside(name), most)[0]
        if name != self.path.name:
            raise FileNotFoundError(errno.ENOENT, "a bank of one file holds no other")
        return read_regular_file(self.path.resolve(), most)[0]

    def display_path(self, name: str) -> Path:
        """Return the path of a file or folder for messages."""
        return (self.path.parent if self.is_one_file else self.path) / name

    def _inside(self, name: str) -> Path:
        """Return the path of a file or folder without links; OSError if it is outside the bank."""
        root = os.path.realpath(self.path)
        path = os.path.realpath(self.path / name)
        if os.path.commonpath([root, path]) != root:
            raise OSError(errno.ELOOP, "a symbolic link that leads out of the bank")
        return Path(path)


def question_files(question: Question) -> dict[str, bytes]:
    """Return the spec and every file in the folder of a question, by their paths in a bank.

    Links and caches of Python are left out.

    Raises:
        OSError: one of them cannot be read.
    """
    drills = question.bank / "drills" / question.id
    contents = {f"questions/{question.spec_path.name}": question.spec_path.read_bytes()}
    for path in sorted(drills.rglob("*")):
        if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
            contents[path.relative_to(question.bank).as_posix()] = path.read_bytes()
    return contents


def read_regular_file(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """Return up to `most` bytes of a file that may come from anybody, and its `os.fstat`.

    A link is refused: it may lead to a file that only the person who runs this may read.

    Raises:
        OSError: it cannot be read, or is a folder, a pipe, a socket or a device.
    """
    # Without O_NONBLOCK, opening a pipe would wait until something writes into it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
            raise OSError(errno.EINVAL, kinds.get(stat.S_IFMT(status.st_mode), "a device"))
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most), status
    finally:
        os.close(handle)


def write_atomically(
    file: Path, pieces: Iterable[str | bytes], hint: str = "", *, keep_mode: bool = False
) -> None:
    """Write a file whole or not at all; a link in its place is replaced, not followed.

    With `keep_mode` the file keeps the mode of the one that it replaces.

    Raises:
        UsageError: it cannot be written; `hint` says what to do.
    """
    if file.is_dir():
        raise UsageError(f"{file}: expected a file, found a folder", hint or "name a file in it")
    temporary = file.with_name(f".{file.name}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.open("xb", buffering=1 << 16) as out:  # x: it does not exist, nor a link
            for piece in pieces:
                out.write(piece if isinstance(piece, bytes) else piece.encode())
            out.flush()
            os.fsync(out.fileno())
        if keep_mode and file.exists():
            temporary.chmod(stat.S_IMODE(file.stat().st_mode))
        temporary.replace(file)
    except OSError as fault:
        raise UsageError(f"{file}: cannot be written: {fault.strerror or fault}", hint) from fault
    finally:
        with suppress(OSError):
            temporary.unlink()


def why_not_a_bank(bank: Path) -> str:
    """Return why a path is not a bank, 'expected ..., found ...'; "" if it is one; never raise."""
    try:
        fault = _bank_fault(bank)
    except BankError as error:
        return error.message
    return fault and f"expected a folder that holds questions/, or a .yaml file, found {fault}"


def _bank_fault(bank: Path) -> str:
    """Describe the thing at a path that is not a bank; return "" for a bank.

    Raises:
        BankError: the name of a bank of one file is not allowed.
    """
    path = bank
    try:
        mode = bank.stat().st_mode
        if stat.S_ISDIR(mode):
            path = bank / "questions"
            return "" if stat.S_ISDIR(path.stat().st_mode) else f"no questions/ in {bank}"
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the path
        return f"nothing at {bank}" if path is bank else f"no questions/ in {bank}"
    except OSError as error:  # a closed folder above it, a name that is too long, a loop of links
        return f"{path}: {error.strerror}"
    if bank.suffix not in SPEC_SUFFIXES or not stat.S_ISREG(mode):
        return f"the file {bank}"
    _check_name(bank, bank.parent)
    return ""


def is_id(name: str) -> bool:
    """Return True if a name is lower-case words joined by hyphens, as an id has to be."""
    return len(name) <= MAX_ID_LENGTH and _ID.fullmatch(name) is not None


def nearest_id(name: str) -> str:
    """Return the id most like a name (`my-relu` for `My_ReLU`), or "" if there is none."""
    return "-".join(re.findall(r"[a-z0-9]+", name.lower()))[:MAX_ID_LENGTH].strip("-")


def _check_name(path: PurePath, folder: Path) -> None:
    """Raise BankError if the name of a spec cannot be shown, typed or used for a folder."""
    if _HARMLESS.fullmatch(path.stem) is None:
        raise BankError(
            f"{folder}: expected specs named by lower-case words joined by hyphens, "
            f"found {path.name!r}",
            f"rename it, to {nearest_id(path.stem) or 'my-question'}{path.suffix} for example",
        )
