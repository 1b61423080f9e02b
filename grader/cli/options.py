"""Arguments and options that several commands take, and what a shell offers to complete them.

A completion never fails and imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer


def _offering(find: Callable[[Any, Any], Iterable[str]]) -> Callable[..., list[str]]:
    """Return what offers the words, found by `bank.locate`, that begin like what is typed."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        from grader.bank import locate

        try:
            # Nothing is said of a bank that is gone: the next command does.
            banks = locate.banks(ctx.find_root().params.get("bank"), lambda _message, _hint: None)
            return [word for word in find(locate, banks) if word.startswith(incomplete)]
        except Exception:  # noqa: BLE001 - a shell in the middle of a line has no room for an error
            return []

    return offer


ids = _offering(lambda locate, banks: locate.ids(banks))
ids_or_restore = _offering(lambda locate, banks: [*locate.ids(banks), "restore"])
tracks = _offering(lambda locate, banks: sorted({h.track for h in locate.headers(banks)}))

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
