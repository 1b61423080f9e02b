"""Where banks are, and what is in them, without reading a whole spec."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.model.errors import BankError, UsageError
from grader.model.question import Header


def builtin() -> Path:
    """The bank that comes with the program: inside the package, in a checkout beside it."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "_bank"
    return inside if inside.is_dir() else package.parent


def config_file() -> Path:
    """The user's list of further banks: one path a line, `#` for comments."""
    home = os.environ.get("DRILL_HOME")
    if home:
        return Path(home) / "banks"
    base = os.environ.get("XDG_CONFIG_HOME", "")
    if not base.startswith("/"):  # the XDG specification: relative values are ignored
        # Not Path.expanduser: where there is no home it raises, and this is not the place to fail.
        base = os.path.expanduser(  # noqa: PTH111
            "~/Library/Application Support" if sys.platform == "darwin" else "~/.config"
        )
    return Path(base) / "drill" / "banks"


def banks(explicit: Path | None = None) -> list[Path]:
    """The banks to look in: `--bank` alone; else `DRILL_BANK`, the user's list, the built-in one.

    Raises:
        UsageError: a bank that was asked for is not there.
    """
    if explicit is not None:
        return [_bank(explicit, "--bank")]
    found = [
        _bank(Path(part), "DRILL_BANK")
        for part in os.environ.get("DRILL_BANK", "").split(os.pathsep)
        if part
    ]
    try:
        lines = config_file().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        lines = []
    for line in lines:
        path = line.split("#", 1)[0].strip()
        if path:
            home = os.path.expanduser(path)  # noqa: PTH111 as above
            found.append(_bank(Path(home), str(config_file())))
    return [*dict.fromkeys([*found, builtin()])]


def _bank(path: Path, origin: str) -> Path:
    if not path.is_dir():
        raise UsageError(
            f"{origin}: expected a folder that holds questions/, found no folder at {path}"
        )
    if not (path / "questions").is_dir():
        raise UsageError(f"{origin}: expected a folder that holds questions/, found none in {path}")
    return path.resolve()


def spec_paths(bank: Path) -> dict[str, Path]:
    """The specs of a bank by id.

    Raises:
        BankError: two files claim one id.
    """
    found: dict[str, Path] = {}
    folder = bank / "questions"
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise BankError(
            f"{folder}: expected a folder that can be read, found {error.strerror}"
        ) from None
    for path in entries:
        if path.suffix in {".yaml", ".yml"} and not path.name.startswith("."):
            if path.stem in found:
                raise BankError(
                    f"{path}: expected one file for the id {path.stem}, "
                    f"found {found[path.stem].name} too",
                    "rename or remove one of them",
                )
            found[path.stem] = path
    return found


def headers(banks: Sequence[Path]) -> list[Header]:
    """The headers of all questions, by track and id; the first bank with an id wins.

    A spec whose head cannot be read is listed with the title `(unreadable)`: a broken question must
    not hide the others.
    """
    from grader.bank.head import read_head

    found: dict[str, Header] = {}
    for bank in banks:
        for question_id, path in spec_paths(bank).items():
            if question_id not in found:
                found[question_id] = read_head(question_id, path, bank)
    return sorted(found.values(), key=lambda h: (h.track, h.id))


def header(banks: Sequence[Path], question_id: str) -> Header | None:
    """The header of one question, or None where no bank has it."""
    from grader.bank.head import read_head

    for bank in banks:
        path = spec_paths(bank).get(question_id)
        if path is not None:
            return read_head(question_id, path, bank)
    return None


def ids(banks: Sequence[Path]) -> list[str]:
    """All ids, without opening a file."""
    return sorted({question_id for bank in banks for question_id in spec_paths(bank)})


def closest(word: str, words: Iterable[str]) -> str | None:
    """The nearest of some words, or None when none is near."""
    known = list(words)
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    if found:
        return found[0]
    inside = [w for w in known if word and word.lower() in w.lower()]
    return inside[0] if inside else None
