"""What commands learn from their surroundings: the environment, the clock, the current folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import output

if TYPE_CHECKING:
    import typer

    from grader.app.context import Context


def context(ctx: typer.Context) -> Context:
    """Return the surroundings of a command, with the bank that was named on its line."""
    from grader.app.context import Context

    try:
        folder = Path.cwd()
    except OSError:
        folder = None
    return Context(
        folder=folder,
        data=data_folder(),
        now=now,
        bank=ctx.obj,
        banks_named=bool(os.environ.get("DRILL_BANK")),
        who=os.environ.get("LOGNAME") or os.environ.get("USER") or str(os.getuid()),
        say=output.complain,
    )


def data_folder() -> Path:
    """Return where the records live: DRILL_HOME, else the user's data folder (XDG on Linux)."""
    if home := os.environ.get("DRILL_HOME"):
        # Not Path.expanduser: where there is no home it raises, and this is not the place to fail.
        return Path(os.path.expanduser(home)).absolute()  # noqa: PTH111
    from platformdirs import user_data_path

    return user_data_path("drill", appauthor=False)


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
