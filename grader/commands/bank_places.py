"""`drill bank add`, `remove` and `list`: the banks in use, and the user's list of banks.

A bank is a folder of questions, or a YAML file with one.  The list is a text file with one path per
line.  Banks that DRILL_BANK names, and the built-in bank, are in use without being on it.
"""

from __future__ import annotations

import fcntl
import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from grader import bank
from grader.bank.bank_files import BankFiles, why_not_a_bank
from grader.commands import entrypoint, files, output
from grader.commands.context import Context
from grader.commands.options import JsonOption, argument, command_context
from grader.model.errors import DrillError, UsageError, closest_word
from grader.model.number_format import format_count

_ELSEWHERE = "DRILL_HOME=DIR names another folder, which you can write, for the list"


class BankInUse(NamedTuple):
    """A bank in use, or an entry of the list that is not a bank, with its fault."""

    name: str  # "-" if it is not a bank
    path: str
    origin: str  # --bank, DRILL_BANK, the path of the list, or "" for the built-in bank
    questions: int  # number
    fault: str = ""  # why it is not a bank, or cannot be read
    hint: str = ""  # what to do about the fault


def list_banks(ctx: Context) -> list[BankInUse]:
    """Return the banks in use, or only that of `--bank`; a path that is not a bank has a fault."""
    places: dict[Path, bank.BankPlace] = {}
    for place in bank.bank_places(ctx.bank):
        places.setdefault(bank.resolve_path(place.path), place)
    names = _bank_names([*places.values()])
    rows = []
    for path, place in places.items():
        fault = why_not_a_bank(place.path)
        count = 0
        if not fault:
            try:
                count = len(BankFiles(path).specs_by_id())
            except DrillError as error:
                fault = error.message
        rows.append(
            BankInUse(
                name=names.get(path, "-"),
                path=str(path),
                origin=place.origin,
                questions=count,
                fault=fault,
                hint=place.hint if fault else "",
            )
        )
    return rows


def _bank_names(places: list[bank.BankPlace]) -> dict[Path, str]:
    """Return the name of each bank among the places, such as "mine", by its path."""
    banks = [bank.resolve_path(place.path) for place in places if not why_not_a_bank(place.path)]
    return {path: name for name, path in bank.bank_names([*dict.fromkeys(banks)]).items()}


def _resolve(path: str, folder: Path = Path()) -> Path:
    """Return the real path of an entry of the list, or of a path that was typed in `folder`."""
    return bank.resolve_path(folder / bank.expand_path(path))


def _entries(lines: list[str]) -> list[str]:
    """Return the paths on the lines of the list, as they are written."""
    return [entry for line in lines if (entry := bank.path_of_line(line))]


@contextmanager
def _user_list() -> Iterator[list[str]]:
    """Yield the lines of the user's list, and write them at the end if the caller changed them.

    Other commands that change the list wait meanwhile.  The lock is on the list's folder, because
    the list need not exist.  UsageError if the list cannot be read or written.
    """
    path = bank.config_file()
    file = bank.resolve_path(path)  # it may be a link into a repository
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{file.parent}: cannot be made: {fault.strerror}", _ELSEWHERE) from fault
    with ExitStack() as stack:
        with suppress(OSError):
            handle = os.open(file.parent, os.O_RDONLY)
            stack.callback(os.close, handle)  # releases the lock
            fcntl.flock(handle, fcntl.LOCK_EX)
        try:
            before = bank.config_lines()
        except FileNotFoundError:
            before = []
        except (UnicodeDecodeError, OSError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else "expected UTF-8 text"
            raise UsageError(f"{path}: cannot be read: {reason}", _ELSEWHERE) from fault
        lines = list(before)
        yield lines
        if lines != before:
            files.replace(file, "".join(f"{line}\n" for line in lines).encode(), _ELSEWHERE)


def add(
    ctx: typer.Context, path: Annotated[Path, argument("PATH")], json: JsonOption = False
) -> None:
    """Use a bank: a folder or a YAML file."""
    context = command_context(ctx)
    path = _resolve(str(path), context.current_folder())
    if fault := why_not_a_bank(path):
        raise UsageError(fault)
    # The list has one path on each line, and comments after " #".
    written = str(path).encode(errors="ignore").decode()
    if [bank.path_of_line(line) for line in written.splitlines()] != [str(path)]:
        raise UsageError(
            f"expected a path that fits on a line of {bank.config_file()}, found {str(path)!r}",
            hint="move the bank to a path of plain text without line breaks and ' #'",
        )
    count = len(BankFiles(path).specs_by_id())
    with _user_list() as lines:
        already = path in map(_resolve, _entries(lines))
        if not already:
            lines.append(str(path))
    if not count:
        context.warn(
            f"{path}: there is no question in it yet",
            f"drill --bank {shlex.quote(str(path))} bank new ID writes one",
        )
    name = _bank_names(bank.bank_places())[path]
    if output.emit_json(
        json, bank=path, name=name, questions=count, already=already, list=bank.config_file()
    ):
        return
    state = "is in use already" if already else "is in use from now on"
    output.write(f"{name}  {path}")
    output.write(f"{format_count(count, 'question')}; it {state}")


def remove(
    ctx: typer.Context, path: Annotated[str, argument("PATH")], json: JsonOption = False
) -> None:
    """Stop using a bank; nothing is deleted."""
    # `path` may also be the name that `bank list` shows.
    with _user_list() as lines:
        bank_names = _bank_names(bank.bank_places())
        entries: dict[str, list[str]] = {}  # by each path or name of a bank
        for entry in _entries(lines):
            bank_path = _resolve(entry)
            name_if_gone = "" if bank_path.name in bank_names.values() else bank_path.name
            for word in {entry, str(bank_path), bank_names.get(bank_path, name_if_gone)}:
                entries.setdefault(word, []).append(entry)
        typed_path = _resolve(path, command_context(ctx).current_folder())
        removed = entries.get(path) or entries.get(str(typed_path))
        if not removed:
            hint = "drill bank list shows those in use, and where they come from"
            if near := closest_word(path, entries):
                hint = f"did you mean {entries[near][0]}?"
            raise UsageError(
                f"expected a bank of the list {bank.config_file()}, found {path}", hint=hint
            )
        lines[:] = [line for line in lines if bank.path_of_line(line) not in removed]
    if not output.emit_json(json, removed=removed, list=bank.config_file()):
        output.write(f"{removed[0]} is no longer in use; it is left where it is")


def list_(ctx: typer.Context, json: JsonOption = False) -> int:
    """List the banks in use, and how many questions each holds."""
    rows = list_banks(command_context(ctx))
    has_fault = any(row.fault for row in rows)
    if json:
        documents = []
        for row in rows:
            document = row._asdict()
            documents.append(document | {"from": document.pop("origin")})
        output.write_json(ok=not has_fault, banks=documents)
    else:
        width = max(len(row.name) for row in rows)
        for row in rows:
            origin = f"from {row.origin}" if row.origin else "comes with the program"
            state = row.fault or f"{format_count(row.questions, 'question')}, {origin}"
            output.write(f"{row.name:<{width}}  {row.path}")
            for line in filter(None, [state, row.hint]):
                output.write(f"{'':<{width}}  {line}")
    return entrypoint.EXIT_BANK_FAULT if has_fault else 0
