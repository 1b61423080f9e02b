"""Arguments and options that several commands take, and what a shell offers to complete them.

A completion never fails and imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer


def ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids that begin like the word being typed; no question is opened for that."""
    from grader.bank.locate import ids

    return _offer(ctx, incomplete, ids)


def ids_or_restore(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what may follow `drill history`."""
    return ids(ctx, incomplete) + [word for word in ["restore"] if word.startswith(incomplete)]


def tracks(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the tracks that begin like the word being typed."""
    from grader.bank.locate import headers

    return _offer(ctx, incomplete, lambda banks: sorted({h.track for h in headers(banks)}))


def _offer(
    ctx: typer.Context, incomplete: str, find: Callable[[list[Path]], Iterable[str]]
) -> list[str]:
    from grader.bank.locate import banks

    try:
        # Nothing is said of a bank that is gone: the next command does.
        known = find(banks(ctx.find_root().params.get("bank"), lambda _message, _hint: None))
        return [word for word in known if word.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a shell in the middle of a line has no room for an error
        return []


Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=ids)]
SomeId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="The question; without it, that of this folder, else the one started last.",
        autocompletion=ids,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
