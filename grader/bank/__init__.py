"""Banks: which are in use, and which of them holds the question that is meant.

`grader.bank.loading` reads a question from YAML and Python; `load` is the way to it.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.bank.bank_files import (
    SPEC_SUFFIXES,
    BankFiles,
    read_regular_file,
    why_not_a_bank,
)
from grader.model.errors import BankError, UsageError, closest_word
from grader.model.limits import MAX_HEAD_BYTES, MAX_SOURCE
from grader.model.question import Header, Question


@dataclass(frozen=True, slots=True)
class BankPlace:
    """A path that should be a bank, and who says so."""

    path: Path
    origin: str  # --bank, DRILL_BANK, the file with the list, or nothing: it comes with the program
    hint: str = ""  # of the user's list: what takes it off where it is no bank


def load(banks: Sequence[Path], asked: str, seed: int = 0) -> Question:
    """Load one question, asked for as `ID` or as `BANK/ID`, with the numbers that a seed draws.

    Raises:
        UsageError: no bank has it, the nearest is suggested; or two have it, both are named.
        BankError: the question is there and broken; every fault with file:line:column.
    """
    from grader.bank.loading import load_from  # YAML and pydantic only when needed

    return load_from(*find_question(banks, asked), seed)


def builtin() -> Path:
    """The bank that comes with the program: inside the package, in a checkout next to it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_bank"
    return inside if inside.is_dir() else package.parent


def config_file() -> Path:
    """The user's list of further banks: one path per line, `#` for comments."""
    if home := os.environ.get("DRILL_HOME"):
        return expand_path(home) / "banks"
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not base.startswith("/"):  # the XDG specification: relative values are ignored
        base = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
    return expand_path(base) / "drill" / "banks"


def config_lines() -> list[str]:
    """The lines of the user's list.

    Raises:
        OSError: it cannot be read, or is a pipe, or longer than any such list.
        UnicodeDecodeError: it is no text.
    """
    data = read_regular_file(resolve_path(config_file()), MAX_SOURCE + 1)[0]
    if len(data) > MAX_SOURCE:
        raise OSError(errno.EFBIG, f"more than {MAX_SOURCE:,} bytes")
    return data.decode("utf-8").splitlines()


def path_of_line(line: str) -> str:
    """The path on a line of the list, without the remark behind a `#`; nothing where none is."""
    return re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()


def expand_path(path: str) -> Path:
    """A path as it is written in the list or the environment, `~` for the home folder."""
    # Not Path.expanduser: where there is no home it raises, and this is not the place to fail.
    return Path(os.path.expanduser(path))  # noqa: PTH111


def resolve_path(path: Path) -> Path:
    """A path without links, as far as that can be known; not `KeyPath.resolve`, which may raise."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a NUL in it
        return path


def bank_places(explicit: Path | None = None) -> list[BankPlace]:
    """Where to look for banks: `--bank` alone; else `DRILL_BANK`, the list, the built-in one."""
    if explicit is not None:
        return [BankPlace(explicit, "--bank")]
    named = os.environ.get("DRILL_BANK", "").split(os.pathsep)
    found = [BankPlace(Path(part), "DRILL_BANK") for part in named if part]
    try:
        lines = config_lines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for written in filter(None, map(path_of_line, lines)):
        hint = f"drill bank remove {shlex.quote(written)} takes it off the list"
        found.append(BankPlace(expand_path(written), str(config_file()), hint))
    return [*found, BankPlace(builtin(), "")]


def banks_in_use(
    explicit: Path | None = None, warn: Callable[[str, str], None] | None = None
) -> list[Path]:
    """The banks to look in, each once; `explicit` is what `--bank` says.

    `warn` is called with what is wrong with a bank, and what to do: one of the user's list that is
    none, or any that cannot be read. It is left out: one must not hide all others.

    Raises:
        UsageError: one that was asked for is none.
    """
    found: list[Path] = []
    for place in bank_places(explicit):
        try:
            if place.origin and (wrong := why_not_a_bank(place.path)):
                raise UsageError(f"{place.origin}: {wrong}", place.hint)
            if warn is not None and explicit is None:
                BankFiles(place.path).specs_by_id()
        except (BankError, UsageError) as error:
            if warn is None or (isinstance(error, UsageError) and not place.hint):
                raise
            warn(error.message, error.hint or place.hint)
        else:
            found.append(place.path.resolve() if place.origin else place.path)
    return [*dict.fromkeys(found)]


def bank_names(banks: Sequence[Path]) -> dict[str, Path]:
    """The name of every bank: that of its folder or file, `drill` for the one of the program.

    Where two would have one name, the later gets a number: `mine`, `mine-2`.
    """
    found: dict[str, Path] = {}
    for bank in banks:
        own = (bank.stem if bank.suffix in SPEC_SUFFIXES else bank.name) or "bank"
        name, number = ("drill" if bank == builtin() else own), 1
        while name in found or (name == "drill" and bank != builtin()):
            number += 1
            name = f"{own}-{number}"
        found[name] = bank
    return found


def find_question(banks: Sequence[Path], asked: str) -> tuple[Path, str]:
    """The bank and the id that are meant by `ID`, or by `BANK/ID`.

    Raises:
        UsageError: no bank holds it, or two do and none is named.
        BankError: no bank holds it, and one cannot be read.
    """
    before, slash, question_id = asked.rpartition("/")
    named = bank_names(banks)
    if slash:
        if before not in named:
            near = closest_word(before, named)
            known = f"the banks are {', '.join(named)}"
            raise UsageError(
                f"expected the name of a bank before '/', found {before!r} in {asked!r}",
                f"did you mean {near}/{question_id}?" if near else known,
            )
        named = {before: named[before]}
    holding: dict[str, list[str]] = {}  # the names of the banks that hold an id
    unread: BankError | None = None
    for name, bank in named.items():
        try:
            for one in BankFiles(bank).specs_by_id():
                holding.setdefault(one, []).append(name)
        except BankError as error:
            unread = error
    holders = holding.get(question_id, [])
    if len(holders) > 1:
        raise UsageError(
            f"expected a question that one bank holds, found {question_id!r} in {len(holders)}",
            f"say {' or '.join(f'{name}/{question_id}' for name in holders)}",
        )
    if holders:
        return named[holders[0]], question_id
    if unread is not None:
        raise unread
    near = closest_word(question_id, holding)
    meant = f"; did you mean {before}{slash}{near}?" if near else ""
    said = f"no question {asked or 'without a name'}{meant}"
    raise UsageError(said, "" if near else "Next: drill list")


def has_question(bank: Path, question_id: str) -> bool:
    """Whether a path is a bank, and one that holds a question."""
    try:
        return not why_not_a_bank(bank) and question_id in BankFiles(bank).specs_by_id()
    except BankError:
        return False


def headers(banks: Sequence[Path]) -> list[Header]:
    """The headers of all questions, by track and id.

    A spec whose head cannot be read is listed with the title `(unreadable)`: a broken question must
    not hide the others.  What two banks hold is there twice, each with its bank's name.
    """
    heads = [_header(*held) for held in _held(banks)]
    return sorted(heads, key=lambda h: (h.track, h.id))


def header(banks: Sequence[Path], asked: str) -> Header:
    """The header of one question.

    Raises:
        UsageError: it is not clear which one is meant.
    """
    bank, question_id = find_question(banks, asked)
    files = BankFiles(bank)
    return _header(question_id, files, files.specs_by_id()[question_id])


def question_ids(banks: Sequence[Path]) -> list[str]:
    """Every question as it can be typed, without opening one: ID, BANK/ID where two hold it."""
    return sorted(f"{before}{question_id}" for question_id, _, _, before in _held(banks))


def _held(banks: Sequence[Path]) -> Iterator[tuple[str, BankFiles, str, str]]:
    """Every question: id, files, its spec, and the bank's name and a `/` where two hold the id."""
    held = {name: BankFiles(bank) for name, bank in bank_names(banks).items()}
    specs = {name: files.specs_by_id() for name, files in held.items()}
    count = Counter(question_id for found in specs.values() for question_id in found)
    for name, files in held.items():
        for question_id, spec in specs[name].items():
            yield question_id, files, spec, f"{name}/" if count[question_id] > 1 else ""


def _header(question_id: str, files: BankFiles, spec: str, before: str = "") -> Header:
    """A spec's head; what is missing or unreadable is shown as such, never raised."""
    from grader.bank.yaml_document import read_head  # YAML only when needed

    try:
        found = read_head(files.read_file(spec, MAX_HEAD_BYTES))
    except (OSError, BankError):
        found = {}
    return Header(
        id=question_id,
        title=found.get("title", "(unreadable)"),
        track=found.get("track", ""),
        level=found.get("level", ""),
        minutes=int(found.get("minutes", 0)),
        bank=files.path,
        bank_prefix=before,
        parts=int(found.get("parts", 1)),
        prerequisites=tuple(found.get("prerequisites", "").split()),
        form=found.get("form", "fix"),
        roles=tuple(found.get("roles", "").split()),
        torch="torch" in found.get("uses", "").split(),
    )
