"""`drill history`: what was graded or kept, and how a version comes back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands import output
from grader.commands.options import JsonOption, argument, command_context, flag, ids, option
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from grader.commands.history_rows import HistoryRow

MAX_ROWS = 100  # rows, unless all are wanted
_LONG = "idea, or what failed first"
_HEAD = ("no.", "question", "when", "try", "part", "verdict", _LONG, "hints")


def list_(
    ctx: typer.Context,
    question: Annotated[
        str | None, argument("ID", "Only this question.", autocompletion=ids)
    ] = None,
    all_: Annotated[
        bool, flag("--all", f"Every grade, not only changes in the last {MAX_ROWS}.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """List what was graded or kept, the latest last (the default)."""
    from grader.commands.history_rows import list_history

    here = command_context(ctx)
    found, earlier = list_history(here, question, most=None if all_ or json else MAX_ROWS)
    if json:
        attempts = [row.attempt._asdict() | row._asdict() for row in found]  # also if no news
        for row in attempts:
            row["parts"] = (row["parts"] or "").split()
            del row["attempt"], row["failing"], row["report"]
        output.write_json(attempts=[{"attempt": row.pop("id"), **row} for row in attempts])
        return
    which = f" {question}" if question else ""
    if not found:
        output.write(f"no version{f' of{which}' if which else ''} yet; drill grade keeps one")
        return
    shown = [row for row, before in zip(found, (None, *found), strict=False)
             if all_ or row is found[-1] or before is None or not row.is_same_result(before)]  # fmt: skip
    first = 2 if question else 1  # which needs no column for itself
    head, *table = ((cells[0], *cells[first:]) for cells in (_HEAD, *map(_cells, shown)))
    output.write_table(head, table, long=_LONG, spare=("hints", "when", "part"))
    # The last version is most likely what the folder has: offer the one before it.
    last = shown[-1].attempt
    before = [row.attempt.id for row in shown[:-1] if row.attempt.question == last.question]
    restore, of = f"drill history restore {[last.id, *before][-1]}", len(found) + earlier
    if len(shown) == of:
        output.write_next_steps(restore)
    else:
        whole = f"drill history{which}{here.bank_option} --all"
        output.write_next_steps(whole, restore, after=f"{len(shown):,} of {of:,} versions")


def _cells(row: HistoryRow) -> tuple[str, ...]:
    attempt = row.attempt
    word, *more = row.verdict.split(" ", 1)
    state = " ".join([word.upper() if attempt.verdict else word, *more])
    return (
        str(attempt.id),
        attempt.question,
        _local_time(attempt.created_at),
        str(row.tries or ""),
        f"{row.part} of {row.of}" if row.of > 1 else "",
        f"{state} (a file)" if attempt.kind == "review" else state,
        row.idea_or_failure,
        str(row.hints or ""),
    )


def _local_time(moment: str) -> str:
    """A recorded time as a clock on the wall shows it: Nov 20 21:04, 2024-11-20 earlier."""
    then = datetime.fromisoformat(moment).astimezone()
    this_year = then.year == datetime.now(UTC).astimezone().year
    return then.strftime("%b %d %H:%M" if this_year else "%Y-%m-%d")


def restore(
    ctx: typer.Context,
    attempt: Annotated[
        int, typer.Argument(metavar="NUMBER", help="The no. in drill history, not the try.")
    ],
    to: Annotated[Path | None, option("PATH", "Write it to this new file instead.")] = None,
    json: JsonOption = False,
) -> None:
    """Bring a version back, keeping what is there."""
    from grader.commands import history_rows

    size, path, copy = history_rows.restore_version(command_context(ctx), attempt, to=to)
    if output.emit_json(json, attempt=attempt, restored=path, kept=copy):
        return
    output.write(f"version {attempt} ({format_count(size, 'byte')}) is in {path}")
    if copy:
        output.write(f"what was there is kept in {copy}")
