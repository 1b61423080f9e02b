"""The context of a command, the arguments that several commands share, and their completions.

A completion (Tab in the shell) never fails, and imports very little.
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
    """Return the context of a command: its folder, records, clock, person and `--bank`."""
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
    """Return the folder of the records: DRILL_HOME, or the user's data folder (XDG on Linux).

    The records of the candidate that DRILL_CANDIDATE names are in candidates/NAME inside it.
    """
    candidate = os.environ.get("DRILL_CANDIDATE", "")
    if not candidate:
        return _home()
    check_candidate("DRILL_CANDIDATE", candidate)
    return Path(_home(), "candidates", candidate)


def check_candidate(option: str, name: str) -> None:
    """Raise UsageError if a candidate's name is too long or unsafe as a folder: "../x".

    `option` is where the name came from, for the message.
    """
    if not re.fullmatch(r"\w([\w .,'@-]{0,58}\w)?", name):
        raise UsageError(
            f"{option}: expected a name, found {name!r:.80}",
            hint="letters, digits, spaces and . , ' @ - inside, 60 at most",
        )


def _home() -> Path:
    if home := os.environ.get("DRILL_HOME"):
        # Not Path.expanduser: it raises without a home folder, and this must not fail.
        return Path(os.path.expanduser(home)).absolute()  # noqa: PTH111
    from platformdirs import user_data_path

    try:
        return user_data_path("drill", appauthor=False)
    except RuntimeError:  # for example in a container
        raise UsageError(
            "no folder for the records: expected HOME or DRILL_HOME to be set, because this user "
            "has no home in /etc/passwd; found neither",
            hint="export DRILL_HOME=DIR",
        ) from None


def now() -> str:
    """Return the time in the format of the records: UTC, ISO 8601, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def require_page_path(html: Path | None) -> None:
    """Raise UsageError unless `--html` is a .html file in a folder that can be written, or None."""
    if html and html.suffix != ".html":
        raise UsageError(f"--html: expected a name that ends in .html, found {html}")
    if html and (html.is_dir() or not os.access(html.parent, os.W_OK | os.X_OK)):
        raise UsageError(
            f"--html: expected a file in a folder that can be written, found {html}",
            "nothing was done; name a page elsewhere",
        )


# Any: in typer, an option has the type of its value.
def flag(name: str, help: str) -> Any:  # noqa: ANN401
    """Declare an option without a value."""
    return typer.Option(name, help=help)


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:  # noqa: ANN401
    """Declare an option with a value; `names` such as "--dir" replace the name of its parameter."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def argument(metavar: str, help: str | None = None, **more: Any) -> Any:  # noqa: ANN401
    """Declare an argument; the help shows `metavar` for it, and no default."""
    return typer.Argument(metavar=metavar, help=help, show_default=False, **more)


def _offering(find: Callable[[typer.Context, list[Path]], Iterable[str]]) -> Callable[..., Any]:
    """Return a completion: it offers those words from `find` that begin with the typed text.

    `find` gets the banks in use.  On an error no word is offered.
    """

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            ctx.obj = ctx.find_root().params.get("bank")
            # The next command warns of a bank that is gone.
            banks = bank.banks_in_use(ctx.obj, lambda *_: None)
            return [word for word in find(ctx, banks) if word.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - the shell cannot show an error in the middle of a line
            return []

    return offer


def _ids(ctx: typer.Context, banks: list[Path]) -> list[str]:
    words = [*bank.question_ids(banks)]
    if ctx.command_path.endswith("history list"):
        words.append("restore")
    return words


def _cases(ctx: typer.Context, _banks: list[Path]) -> Iterable[str]:
    from grader.commands.workspaces import resolve_drill

    return resolve_drill(command_context(ctx), None).question.spec.cases


def _tracks(_ctx: typer.Context, banks: list[Path]) -> Iterable[str]:
    return dict.fromkeys(header.track for header in bank.headers(banks))


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
TrackOption = Annotated[str | None, option("TRACK", "Only this track.", autocompletion=tracks)]
LevelOption = Annotated[str | None, option("LEVEL", "Only this level.")]
RoleOption = Annotated[str | None, option("ROLE", "Only what this role is asked.")]
JsonOption = Annotated[bool, flag("--json", "Print one JSON document.")]
