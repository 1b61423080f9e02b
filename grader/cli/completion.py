"""What a shell offers behind a command.  A completion never fails and imports next to nothing."""

from __future__ import annotations

from pathlib import Path

import typer


def ids(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the ids that begin like the word being typed; no question is opened for that."""
    try:
        from grader.bank.locate import banks
        from grader.bank.locate import ids as all_ids

        known = all_ids(banks(_bank(ctx), _pass_over))
        return [name for name in known if name.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a shell in the middle of a line has no room for an error
        return []


def ids_or_restore(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return what may follow `drill history`."""
    return [*ids(ctx, incomplete), *(w for w in ("restore",) if w.startswith(incomplete))]


def tracks(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the tracks that begin like the word being typed."""
    try:
        from grader.bank import banks, headers

        found = sorted({header.track for header in headers(banks(_bank(ctx), _pass_over))})
        return [track for track in found if track.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - likewise
        return []


def _pass_over(message: str, hint: str) -> None:
    """Say nothing of a bank that is gone: the next command does."""


def _bank(ctx: typer.Context) -> Path | None:
    bank = ctx.find_root().params.get("bank")
    return bank if isinstance(bank, Path) else None
