"""`drill history`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli import output
from grader.cli.context import Json, context, ids, local_time
from grader.reports import sheet

if TYPE_CHECKING:
    from grader.app.history import Row

MOST = 100  # rows, unless all are wanted


def command(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Only this question.",
            autocompletion=ids,
            show_default=False,
        ),
    ] = None,
    all_: Annotated[
        bool,
        typer.Option("--all", help=f"Every one, not just changes among the latest {MOST}."),
    ] = False,
    json: Json = False,
) -> None:
    """List what was graded or kept, the latest last (the default)."""
    from grader.app.history import history

    here = context(ctx)
    found, earlier = history(here, question, most=None if all_ or json else MOST)
    if json:
        rows = [asdict(row) for row in found]
        attempts = [row.pop("attempt") | row for row in rows]  # what was found, also if no news
        for row in attempts:
            row["parts"] = (row["parts"] or "").split()
            del row["failing"]
        output.document(attempts=[{"attempt": row.pop("id"), **row} for row in attempts])
        return
    which = f" {question}" if question else ""
    if not found:
        output.write(f"no attempt{f' of{which}' if which else ''} yet; drill grade makes one")
        return
    shown = list(found) if all_ else changes(found)
    head = ("no.", "question", "when", "part", "verdict", "idea, or what failed first", "hints")
    narrow = output.measure() < sheet.WIDEST
    dropped = {"question"} if question else set()
    dropped |= {"when", "hints"} if narrow else set()
    kept = [n for n, name in enumerate(head) if name not in dropped]
    table = [[_cells(row)[n] for n in kept] for row in shown]
    output.lines(
        [
            *sheet.columns(
                [head[n] for n in kept], table, right=("no.",), plain=output.style.plain
            ),
            *_ending(len(shown), len(found) + earlier, f"{which}{here.option}", shown),
        ],
        paged=all_,
    )


def changes(rows: tuple[Row, ...]) -> list[Row]:
    """The rows that show something new, and the last one."""
    pairs = zip(rows, (None, *rows), strict=False)
    shown = [row for row, before in pairs if before is None or not row.repeats(before)]
    return shown if shown[-1] is rows[-1] else [*shown, rows[-1]]


def _cells(row: Row) -> tuple[str, ...]:
    attempt = row.attempt
    state = row.verdict.upper() if attempt.verdict else row.verdict
    return (
        str(attempt.id),
        attempt.question,
        local_time(attempt.created_at),
        f"{row.part} of {row.of}" if row.of > 1 else "",
        f"{state} (a file)" if attempt.kind == "review" else state,
        sheet.cut(row.believed, 38),
        str(row.hints) if row.hints else "",
    )


def _ending(shown: int, of: int, which: str, rows: list[Row]) -> list[sheet.Line]:
    """How many there are, and what to type next."""
    restore = f"drill history restore {rows[-1].attempt.id}"
    if shown == of:
        return [sheet.steps(restore)]
    count = f"{shown:,} of {of:,} tries{sheet.GAP}"
    return [((count, ""), *sheet.steps(f"drill history{which} --all", restore))]
