"""Banks of questions: which are in use, and which of them has a question.

`load_question` loads a question; `grader.bank.loading` reads it from YAML and Python.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
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

_MAX_HEAD_TEXT = 200  # characters of a title, for example, in a list of questions


@dataclass(frozen=True, slots=True)
class BankPlace:
    """A path that should be a bank, and who named it."""

    path: Path
    origin: str  # --bank, DRILL_BANK, the file with the list, or "" for the built-in bank
    hint: str = ""  # for a path of the user's list that is wrong: how to remove it


def load_question(banks: Sequence[Path], asked: str, seed: int = 0) -> Question:
    """Load one question by `ID` or `BANK/ID`, with the `given` numbers that a seed draws.

    Raises:
        UsageError: no bank has it (the message suggests the nearest), or two have it.
        BankError: it is broken; the error lists every fault with file:line:column.
    """
    from grader.bank.loading import read_question  # YAML and pydantic only when needed

    return read_question(*find_question(banks, asked), seed)


def builtin() -> Path:
    """Return the built-in bank: inside the package, or next to it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_bank"
    return inside if inside.is_dir() else package.parent


def config_file() -> Path:
    """Return the path of the user's list of banks: one path per line, `#` for comments."""
    if home := os.environ.get("DRILL_HOME"):
        return expand_path(home) / "banks"
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not base.startswith("/"):  # the XDG specification: relative values are ignored
        base = "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
    return expand_path(base) / "drill" / "banks"


def config_lines() -> list[str]:
    """Return the lines of the user's list of banks.

    Raises:
        OSError: it cannot be read, or is a pipe, or longer than any such list.
        UnicodeDecodeError: it is not text.
    """
    data = read_regular_file(resolve_path(config_file()), MAX_SOURCE + 1)[0]
    if len(data) > MAX_SOURCE:
        raise OSError(errno.EFBIG, f"more than {MAX_SOURCE:,} bytes")
    return data.decode("utf-8").splitlines()


def path_of_line(line: str) -> str:
    """Return the path on a line of the list, without a comment; "" for a line without a path."""
    return re.split(r"(?:^|\s)#", line, maxsplit=1)[0].strip()


def expand_path(path: str) -> Path:
    """Return a path of the list or the environment, with the home folder for `~`."""
    # Path.expanduser would raise if the home folder is unknown, and this must not fail.
    return Path(os.path.expanduser(path))  # noqa: PTH111


def resolve_path(path: Path) -> Path:
    """Return a path without links, if possible; never raise, as `Path.resolve` may."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a NUL in it
        return path


def bank_places(explicit: Path | None = None) -> list[BankPlace]:
    """Return the paths that should be banks, in the order in which to search them.

    `explicit`, the value of `--bank`, excludes all others.  Without it they are those of
    `DRILL_BANK`, those of the user's list (empty if it cannot be read), and the built-in bank.
    """
    if explicit is not None:
        return [BankPlace(explicit, "--bank")]
    variable = os.environ.get("DRILL_BANK", "").split(os.pathsep)
    places = [BankPlace(Path(path), "DRILL_BANK") for path in variable if path]
    try:
        lines = config_lines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:
        if path := path_of_line(line):
            hint = f"drill bank remove {shlex.quote(path)} takes it off the list"
            places.append(BankPlace(expand_path(path), str(config_file()), hint))
    return [*places, BankPlace(builtin(), "")]


def banks_in_use(
    explicit: Path | None = None, warn: Callable[[str, str], None] | None = None
) -> list[Path]:
    """Return the banks to look in, each once; `explicit` is the value of `--bank`.

    With `warn`, wrong paths of the user's list and unreadable banks are skipped: one bad bank must
    not hide the others.  `warn` is called with the fault and a hint.

    Raises:
        UsageError: a path of `--bank` or `DRILL_BANK`, or without `warn` any path, is not a bank.
    """
    banks: list[Path] = []
    for place in bank_places(explicit):
        try:
            if place.origin and (fault := why_not_a_bank(place.path)):
                raise UsageError(f"{place.origin}: {fault}", place.hint)
            if warn is not None and explicit is None:
                BankFiles(place.path).specs_by_id()
        except (BankError, UsageError) as error:
            if warn is None or (isinstance(error, UsageError) and not place.hint):
                raise
            warn(error.message, error.hint or place.hint)
        else:
            banks.append(place.path.resolve() if place.origin else place.path)
    return list(dict.fromkeys(banks))


def bank_names(banks: Sequence[Path]) -> dict[str, Path]:
    """Return the banks by name: the name of its folder or file; the built-in bank is `drill`.

    If two would have the same name, the later one gets a number: `mine`, `mine-2`.
    """
    names: dict[str, Path] = {}
    for bank in banks:
        is_builtin = bank == builtin()
        base = (bank.stem if bank.suffix in SPEC_SUFFIXES else bank.name) or "bank"
        name = "drill" if is_builtin else base
        number = 1
        while name in names or (name == "drill" and not is_builtin):
            number += 1
            name = f"{base}-{number}"
        names[name] = bank
    return names


def find_question(banks: Sequence[Path], asked: str) -> tuple[Path, str]:
    """Return the bank and the id of a question that is asked for by `ID` or `BANK/ID`.

    Raises:
        UsageError: no bank has it, or two have it and `asked` does not name the bank.
        BankError: no bank has it, and one cannot be read.
    """
    bank_name, slash, question_id = asked.rpartition("/")
    banks_by_name = bank_names(banks)
    if slash:
        if bank_name not in banks_by_name:
            raise _unknown_bank(bank_name, question_id, list(banks_by_name))
        banks_by_name = {bank_name: banks_by_name[bank_name]}
    ids: list[str] = []
    names: list[str] = []  # of the banks that have the question
    unreadable: BankError | None = None
    for name, bank in banks_by_name.items():
        try:
            bank_ids = BankFiles(bank).specs_by_id().keys()
        except BankError as error:
            unreadable = error
            continue
        ids += bank_ids
        if question_id in bank_ids:
            names.append(name)
    if len(names) > 1:
        raise UsageError(
            f"expected a question that one bank holds, found {question_id!r} in {len(names)}",
            f"say {' or '.join(f'{name}/{question_id}' for name in names)}",
        )
    if names:
        return banks_by_name[names[0]], question_id
    if unreadable is not None:
        raise unreadable
    text = f"no question {asked or 'without a name'}"
    if near := closest_word(question_id, ids):
        raise UsageError(f"{text}; did you mean {bank_name}{slash}{near}?")
    raise UsageError(text, "Next: drill list")


def _unknown_bank(bank_name: str, question_id: str, names: Sequence[str]) -> UsageError:
    """Return the error for `BANK/ID` if no bank has that name; it suggests the nearest name."""
    near = closest_word(bank_name, names)
    hint = f"did you mean {near}/{question_id}?" if near else f"the banks are {', '.join(names)}"
    asked = f"{bank_name}/{question_id}"
    text = f"expected the name of a bank before '/', found {bank_name!r} in {asked!r}"
    return UsageError(text, hint)


def has_question(bank: Path, question_id: str) -> bool:
    """Return True if a path is a bank and has a question."""
    try:
        return not why_not_a_bank(bank) and question_id in BankFiles(bank).specs_by_id()
    except BankError:
        return False


def headers(banks: Sequence[Path]) -> list[Header]:
    """Return the headers of all questions, by track and id.

    A spec whose head cannot be read has the title `(unreadable)`: a broken question must not hide
    the others.  A question that two banks have is listed twice, with the names of its banks.

    Raises:
        BankError: a bank cannot be read.
    """
    heads = [_header(*entry) for entry in _all_questions(banks)]
    return sorted(heads, key=lambda head: (head.track, head.id))


def header(banks: Sequence[Path], asked: str) -> Header:
    """Return the header of one question.

    Raises:
        UsageError: no bank has it, or several have it.
        BankError: no bank has it, and one cannot be read.
    """
    bank, question_id = find_question(banks, asked)
    files = BankFiles(bank)
    return _header(question_id, files, files.specs_by_id()[question_id])


def question_ids(banks: Sequence[Path]) -> list[str]:
    """Return every question as it can be typed: ID, or BANK/ID if two banks have it."""
    ids = [prefix + question_id for question_id, _, _, prefix in _all_questions(banks)]
    return sorted(ids)


def _all_questions(banks: Sequence[Path]) -> Iterator[tuple[str, BankFiles, str, str]]:
    """Yield every question: id, files, spec, and the prefix BANK/ if two banks have the id."""
    files_by_name = {name: BankFiles(bank) for name, bank in bank_names(banks).items()}
    specs = {name: files.specs_by_id() for name, files in files_by_name.items()}
    counts = Counter(itertools.chain(*specs.values()))
    for name, files in files_by_name.items():
        for question_id, spec in specs[name].items():
            yield question_id, files, spec, f"{name}/" if counts[question_id] > 1 else ""


def _header(question_id: str, files: BankFiles, spec: str, prefix: str = "") -> Header:
    """Return the header of a question, even if the head of its spec cannot be read."""
    from grader.bank.yaml_document import one_line, read_head  # YAML only when needed

    try:
        head = read_head(files.read_file(spec, MAX_HEAD_BYTES))
    except (OSError, BankError):
        head = {}

    def text(key: str, default: str = "") -> str:
        value = head.get(key, default)
        texts = value if isinstance(value, list) else [value]
        words = " ".join(item for item in texts if isinstance(item, str)).split()
        return one_line(" ".join(words))[:_MAX_HEAD_TEXT]

    parts = [part for part in head.get("parts", ()) if isinstance(part, dict)]
    return Header(
        id=question_id,
        title=text("title", "(unreadable)"),
        track=text("track"),
        level=text("level"),
        minutes=sum(_minutes(part) for part in parts or [head]),
        bank=files.path,
        bank_prefix=prefix,
        parts=len(parts) or 1,
        prerequisites=tuple(text("prerequisites").split()),
        form=text("form", "fix"),
        roles=tuple(text("roles").split()),
        torch="torch" in text("uses").split(),
    )


def _minutes(keys: Mapping[str, object]) -> int:
    """Return the minutes of a question or a part, or 0 if they are not an integer."""
    minutes = str(keys.get("minutes"))
    return int(minutes) if minutes.isdecimal() and len(minutes) < 10 else 0
