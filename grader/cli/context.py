"""What commands learn from their surroundings: the environment, the clock, the current folder.

And the arguments and options that several of them take, with what a shell offers to complete them;
a completion never fails and imports next to nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.cli import output

if TYPE_CHECKING:
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
        typing=ctx.info_name or "",
        say=output.warn,
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
    """Return a recorded time as a clock on the wall shows it: Nov 20 21:04, 2024-11-20 earlier."""
    try:
        then = datetime.fromisoformat(moment).astimezone()
    except ValueError:
        return moment
    this_year = then.year == datetime.now(UTC).astimezone().year
    return then.strftime("%b %d %H:%M" if this_year else "%Y-%m-%d")


def _offering(find: Callable[[typer.Context, list[Path]], Iterable[str]]) -> Callable[..., Any]:
    """Return what offers those of the words found in some banks that begin like what is typed."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        from grader import bank

        try:
            ctx.obj = ctx.find_root().params.get("bank")
            # Nothing is said of a bank that is gone: the next command does.
            banks = bank.banks(ctx.obj, lambda _message, _hint: None)
            return [word for word in find(ctx, banks) if word.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - a shell in the middle of a line has no room for an error
            return []

    return offer


def _ids(ctx: typer.Context, banks: list[Path]) -> list[str]:
    from grader import bank

    return [*bank.ids(banks), *(["restore"] if ctx.command_path.endswith("history list") else [])]


def _cases(ctx: typer.Context, _banks: list[Path]) -> Iterable[str]:
    from grader.app.resolve import resolve

    return resolve(context(ctx), None).question.spec.cases


def _tracks(_ctx: typer.Context, banks: list[Path]) -> Iterable[str]:
    from grader import bank

    return {head.track for head in bank.headers(banks)}


ids, cases, tracks = _offering(_ids), _offering(_cases), _offering(_tracks)

Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=ids)]
SomeId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="The question; without it, that of this folder.",
        autocompletion=ids,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
