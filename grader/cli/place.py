"""What a command learns from its surroundings: the environment, the clock, a fresh seed."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from grader.model.errors import UsageError

MAX_SEED = 2**63 - 1  # the largest whole number that SQLite stores


def data_folder() -> Path:
    """Return where the records live: DRILL_HOME, else the user's data folder (XDG on Linux)."""
    if home := os.environ.get("DRILL_HOME"):
        return Path(home).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("drill", appauthor=False)


def here() -> Path:
    """Return the current folder.

    Raises:
        UsageError: It was removed under the shell's feet.
    """
    try:
        return Path.cwd()
    except OSError as fault:
        raise UsageError("the current folder is gone", hint="cd to one that exists") from fault


def bank_here() -> Path | None:
    """Return the current folder where it is a bank, and DRILL_BANK does not name others."""
    found = here()
    return found if not os.environ.get("DRILL_BANK") and (found / "questions").is_dir() else None


def debugging() -> bool:
    """Return whether tracebacks of our own are wanted on the terminal (DRILL_DEBUG=1)."""
    return os.environ.get("DRILL_DEBUG", "") not in ("", "0")


def now() -> str:
    """Return the time as the records keep it: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def minutes_since(moment: str) -> float | None:
    """Return the minutes since a recorded time, None where the text is not one."""
    try:
        then = datetime.fromisoformat(moment)
        return (datetime.now(UTC) - then).total_seconds() / 60
    except (ValueError, TypeError):  # TypeError: a time without a zone
        return None


def local_time(moment: str) -> str:
    """Return a recorded time as a clock on the wall shows it: 2025-11-20 21:04."""
    try:
        return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return moment


def fresh_seed() -> int:
    """Return a seed nobody can foresee, short enough to be typed again."""
    return int.from_bytes(os.urandom(4), "big")
