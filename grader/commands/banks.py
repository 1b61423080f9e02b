"""The banks in use: add one to the user's list by its absolute path, take one off it, list them."""

from __future__ import annotations

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from grader import bank
from grader.bank.bank_files import BankFiles, why_not_a_bank
from grader.commands import files
from grader.commands.context import Context
from grader.model.errors import DrillError, UsageError, closest_word

_ELSEWHERE = "DRILL_HOME=DIR names another folder, which you can write, for the list"


class BankInUse(NamedTuple):
    """A bank in use, or what stands in its way."""

    name: str
    path: str
    origin: str
    questions: int
    fault: str = ""
    hint: str = ""  # what to do about it


class AddedBank(NamedTuple):
    """A bank that is in use from now on."""

    bank: Path
    name: str
    questions: int
    already: bool


def add_bank(ctx: Context, path: Path) -> AddedBank:
    """Record a bank in the user's list, once, and return what it holds."""
    path = bank.resolve_path(ctx.current_folder() / bank.expand_path(str(path)))
    if wrong := why_not_a_bank(path):
        raise UsageError(wrong)
    # The list has one path per line, and remarks behind " #".
    kept = str(path).encode(errors="ignore").decode()
    if [bank.path_of_line(line) for line in kept.splitlines()] != [str(path)]:
        raise UsageError(
            f"expected a path that fits on a line of {bank.config_file()}, found {str(path)!r}",
            hint="move the bank to a path of plain text without line breaks and ' #'",
        )
    ids = list(BankFiles(path).specs_by_id())
    with _listed() as lines:
        listed = map(bank.expand_path, filter(None, map(bank.path_of_line, lines)))
        already = path in map(bank.resolve_path, listed)
        if not already:
            lines.append(str(path))
    if not ids:
        ctx.warn(
            f"{path}: there is no question in it yet",
            f"drill --bank {shlex.quote(str(path))} bank new ID writes one",
        )
    return AddedBank(path, _names(bank.bank_places())[path], len(ids), already)


def remove_bank(ctx: Context, name: str) -> list[str]:
    """Take a bank off the user's list, by its path or by the name that `bank list` shows.

    Return the paths that went, as they were written; UsageError where it is not on the list.
    """
    with _listed() as lines:
        called = _names(bank.bank_places())
        known: dict[str, list[str]] = {}  # what a bank may be called by: paths as they are written
        for written in filter(None, map(bank.path_of_line, lines)):
            path = bank.resolve_path(bank.expand_path(written))
            gone_name = "" if path.name in called.values() else path.name
            for one in {written, str(path), called.get(path, gone_name)}:
                known.setdefault(one, []).append(written)
        typed = str(bank.resolve_path(ctx.current_folder() / bank.expand_path(name)))
        gone = known.get(name) or known.get(typed)
        if not gone:
            near = closest_word(name, known)
            hint = "drill bank list shows those in use, and where they come from"
            raise UsageError(
                f"expected a bank of the list {bank.config_file()}, found {name}",
                hint=f"did you mean {known[near][0]}?" if near else hint,
            )
        lines[:] = [line for line in lines if bank.path_of_line(line) not in gone]
    return gone


def list_banks(ctx: Context) -> list[BankInUse]:
    """Return the banks in use, and what stands in the way of those that are none."""
    places: dict[Path, bank.BankPlace] = {}
    for at in bank.bank_places(ctx.bank):
        places.setdefault(bank.resolve_path(at.path), at)
    called = _names([*places.values()])
    found = []
    for path, at in places.items():
        fault = why_not_a_bank(at.path)
        count = 0
        if not fault:
            try:
                count = len(BankFiles(path).specs_by_id())
            except DrillError as error:
                fault = error.message
        hint = at.hint if fault else ""
        found.append(BankInUse(called.get(path, "-"), str(path), at.origin, count, fault, hint))
    return found


def _names(places: list[bank.BankPlace]) -> dict[Path, str]:
    """The name that each bank among some places goes by."""
    good = [bank.resolve_path(p.path) for p in places if not why_not_a_bank(p.path)]
    return {path: name for name, path in bank.bank_names([*dict.fromkeys(good)]).items()}


@contextmanager
def _listed() -> Iterator[list[str]]:
    """Give the lines of the user's list, and write them back where they were changed.

    Other commands that change it wait meanwhile: its folder is locked, so that no file is left.
    """
    path = bank.config_file()
    file = bank.resolve_path(path)  # where a link leads: people keep such files in a repository
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{file.parent}: cannot be made: {fault.strerror}", _ELSEWHERE) from fault
    with ExitStack() as stack:
        with suppress(OSError):
            handle = os.open(file.parent, os.O_RDONLY)
            stack.callback(os.close, handle)  # which unlocks
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            before = bank.config_lines()
        except FileNotFoundError:
            before = []
        except (UnicodeDecodeError, OSError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else "expected UTF-8 text"
            raise UsageError(f"{path}: cannot be read: {why}", _ELSEWHERE) from fault
        lines = list(before)
        yield lines
        if lines != before:
            files.replace(file, "".join(f"{line}\n" for line in lines).encode(), _ELSEWHERE)
