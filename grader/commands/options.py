"""What commands learn from their surroundings, and the arguments that several of them take.

A completion never fails and imports next to nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader import bank
from grader.commands import output
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.commands.context import Context

MAX_SEED = 2**63 - 1  # the largest seed: SQLite stores no larger integer


def command_context(ctx: typer.Context) -> Context:
    """Return the surroundings of a command, with the bank that was named on its line."""
    from grader.commands.context import Context

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
        candidate=os.environ.get("DRILL_CANDIDATE", ""),
        typed_command=ctx.info_name or "",
        show_warning=output.warn,
        to_local=datetime.astimezone,
    )


def data_folder() -> Path:
    """Return where the records live: DRILL_HOME, else the user's data folder (XDG on Linux).

    Those of DRILL_CANDIDATE, whom a host interviews, live in a folder of their own there.
    """
    name = os.environ.get("DRILL_CANDIDATE", "")
    if not name:
        return _home()
    check_candidate("DRILL_CANDIDATE", name)
    return Path(_home(), "candidates", name)


def check_candidate(option: str, name: str) -> None:
    """Raise UsageError if a text is no name of a candidate, and so of a folder."""
    if not re.fullmatch(r"\w([\w .,'@-]{0,58}\w)?", name):
        raise UsageError(
            f"{option}: expected a name, found {name!r:.80}",
            hint="letters, digits, spaces and . , ' @ - inside, 60 at most",
        )


def _home() -> Path:
    if home := os.environ.get("DRILL_HOME"):
        # Not Path.expanduser: where there is no home it raises, and this is not the place to fail.
        return Path(os.path.expanduser(home)).absolute()  # noqa: PTH111
    from platformdirs import user_data_path

    try:
        return user_data_path("drill", appauthor=False)
    except RuntimeError:  # in a container, say
        raise UsageError(
            "no folder for the records: expected HOME or DRILL_HOME to be set, because this user "
            "has no home in /etc/passwd; found neither",
            hint="export DRILL_HOME=DIR",
        ) from None


def now() -> str:
    """Return the time as the records keep it: UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def require_page_path(html: Path | None) -> None:
    """Raise UsageError where no page can be written, or in the place of what may be no page."""
    if html and html.suffix != ".html":
        raise UsageError(f"--html: expected a name that ends in .html, found {html}")
    if html and (html.is_dir() or not os.access(html.parent, os.W_OK | os.X_OK)):
        raise UsageError(
            f"--html: expected a file in a folder that can be written, found {html}",
            "nothing was done; name a page elsewhere",
        )


# Any: typer declares that an option is whatever its value is.
def flag(name: str, help: str) -> Any:  # noqa: ANN401
    """Declare an option without a value."""
    return typer.Option(name, help=help)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare an option with a value; without names it is called as its parameter."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def argument(metavar: str, help: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Declare an argument."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def _offering(find: Callable[[typer.Context, list[Path]], Iterable[str]]) -> Callable[..., Any]:
    """Return what offers those of the words found in some banks that begin like what is typed."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            ctx.obj = ctx.find_root().params.get("bank")
            # Nothing is said of a bank that is gone: the next command does.
            banks = bank.banks_in_use(ctx.obj, lambda *_: None)
            return [word for word in find(ctx, banks) if word.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - a shell in the middle of a line has no room for an error
            return []

    return offer


def _ids(ctx: typer.Context, banks: list[Path]) -> list[str]:
    return [*bank.question_ids(banks), *["restore"] * ctx.command_path.endswith("history list")]


def _cases(ctx: typer.Context, _banks: list[Path]) -> Iterable[str]:
    from grader.commands.workspaces import resolve_drill

    return resolve_drill(command_context(ctx), None).question.spec.cases


def _tracks(_ctx: typer.Context, banks: list[Path]) -> Iterable[str]:
    return dict.fromkeys(head.track for head in bank.headers(banks))


ids = _offering(_ids)
cases = _offering(_cases)
tracks = _offering(_tracks)

Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=ids)]
SomeId = Annotated[
    str | None, argument("ID", "Question (default: the one in this folder).", autocompletion=ids)
]
Jobs = Annotated[
    int | None, option("N", "Processes at once; as many as cores if not given.", min=1)
]
Seed = Annotated[int | None, option("N", "Seed of the inputs and numbers.", min=0, max=MAX_SEED)]
JsonOption = Annotated[bool, flag("--json", "Print one JSON document.")]
