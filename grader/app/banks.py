"""`drill bank add`, `remove`, `list` and `schema`.

What is added is recorded by its absolute path in the user's list of banks, and stays where it is: a
colleague's folder, a checkout that is pulled, a zip that is replaced are then always the newest.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import files, output, place
from grader.cli.words import quantity
from grader.model.errors import DrillError, UsageError

if TYPE_CHECKING:
    from grader.bank.locate import Place

_FAULTY = 3
_ELSEWHERE = "DRILL_HOME=DIR names another folder, which you can write, for the list"


@dataclass(frozen=True, slots=True)
class _Row:
    """A bank in use, or what stands in its way."""

    name: str
    path: str
    origin: str
    questions: int
    fault: str = ""
    hint: str = ""  # what to do about it


def add(path: Path, *, as_json: bool) -> int:
    """Record a bank in the user's list, once; say what it holds."""
    from grader.bank import locate
    from grader.bank.storage import refusal, shelf

    bank = (place.here() / path.expanduser()).resolve()
    wrong = refusal(bank)
    if wrong:
        raise UsageError(wrong)
    # The list has one path a line, and remarks behind " #".
    if locate.path_in(str(bank)) != str(bank) or "\n" in str(bank):
        raise UsageError(
            f"expected a path that fits on a line of {locate.config_file()}, found {str(bank)!r}",
            hint="move the bank to a path without line breaks and ' #'",
        )
    ids = list(shelf(bank).specs())
    lines = _lines()
    already = bank in {locate.expanded(p).resolve() for p in map(locate.path_in, lines) if p}
    if not already:
        _write([*lines, str(bank)])
    good = [p.path.resolve() for p in locate.places() if not refusal(p.path)]
    called = {found: name for name, found in locate.names([*dict.fromkeys(good)]).items()}
    if not ids:
        output.warn(
            f"{bank}: there is no question in it yet",
            f"drill --bank {shlex.quote(str(bank))} bank new ID lays one down"
            if bank.is_dir()
            else "",
        )
    shared = {
        name: len(both)
        for other, name in called.items()
        if other != bank and (both := {i for i in ids if locate.holds(other, i)})
    }
    if as_json:
        output.document(
            {
                "format": 1,
                "bank": str(bank),
                "name": called[bank],
                "questions": len(ids),
                "already": already,
                "list": str(locate.config_file()),
            }
        )
        return 0
    state = "is in use already" if already else "is in use from now on"
    output.write(f"{called[bank]}  {bank}")
    output.write(f"{quantity(len(ids), 'question')}; it {state}")
    for name, count in shared.items():
        which = quantity(count, "id is", "ids are")
        output.write(f"{which} in {name} too: type {called[bank]}/ID or {name}/ID")
    return 0


def remove(path: str, *, as_json: bool) -> int:
    """Take a bank off the user's list."""
    from grader.bank import closest, locate

    wanted = {path, str((place.here() / locate.expanded(path)).resolve())}
    lines = _lines()
    listed = [locate.path_in(line) for line in lines]
    gone = [p for p in listed if p and wanted & {p, str(locate.expanded(p).resolve())}]
    if not gone:
        near = closest(path, [p for p in listed if p])
        raise UsageError(
            f"expected a bank of the list {locate.config_file()}, found {path}",
            hint=f"did you mean {near}?" if near else "drill bank list shows those in use",
        )
    _write([line for line, p in zip(lines, listed, strict=True) if p not in gone])
    if as_json:
        output.document({"format": 1, "removed": gone, "list": str(locate.config_file())})
    else:
        output.write(f"{gone[0]} is no longer in use; it is left where it is")
    return 0


def list_banks(*, bank: Path | None, as_json: bool) -> int:
    """Show the banks in use; status 3 when one of them is none."""
    from grader.bank import locate

    rows = _rows(locate.places(bank))
    status = _FAULTY if any(row.fault for row in rows) else 0
    if as_json:
        output.document(
            {
                "format": 1,
                "ok": status == 0,
                "banks": [
                    {
                        "name": row.name,
                        "path": row.path,
                        "from": row.origin,
                        "questions": row.questions,
                        "fault": row.fault,
                        "hint": row.hint,
                    }
                    for row in rows
                ],
            }
        )
        return status
    across = max(len(row.name) for row in rows)
    for row in rows:
        said = row.fault or f"{quantity(row.questions, 'question')}, {_said(row.origin)}"
        output.write(f"{row.name:<{across}}  {row.path}")
        for line in (said, row.hint):
            if line:
                output.write(f"{'':<{across}}  {line}")
    return status


def schema() -> int:
    """Print the JSON Schema of a question, with the kinds of installed extensions."""
    from grader.bank.schema import text

    output.write(text(extended=True).rstrip("\n"))
    return 0


def _rows(places: list[Place]) -> list[_Row]:
    from grader.bank import locate
    from grader.bank.storage import refusal, shelf

    good = [p.path.resolve() for p in places if not refusal(p.path)]
    called = {path: name for name, path in locate.names([*dict.fromkeys(good)]).items()}
    rows: dict[Path, _Row] = {}
    for at in places:
        path = at.path.resolve()
        if path in rows:
            continue
        fault, count = refusal(at.path), 0
        try:
            count = 0 if fault else len(shelf(path).specs())
        except DrillError as error:
            fault = error.message
        hint = at.hint if fault else ""
        rows[path] = _Row(called.get(path, "-"), str(path), at.origin, count, fault, hint)
    return list(rows.values())


def _said(origin: str) -> str:
    return f"from {origin}" if origin else "comes with the program"


def _lines() -> list[str]:
    """The lines of the user's list.

    Raises:
        UsageError: It is there and is not one that could be kept.
    """
    from grader.bank.locate import config_file

    path = config_file()
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        raise UsageError(
            f"{path}: expected UTF-8 text with one path a line, found other bytes",
            hint="move the file away, then add the banks again",
        ) from None
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read: {fault.strerror}", _ELSEWHERE) from fault


def _write(lines: list[str]) -> None:
    from grader.bank.locate import config_file

    # The list itself, where a link leads to it: people keep such files in a repository.
    path = config_file().resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{path.parent}: cannot be made: {fault.strerror}", _ELSEWHERE) from fault
    files.replace(path, "".join(f"{line}\n" for line in lines).encode(), _ELSEWHERE)
