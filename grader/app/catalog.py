"""The questions there are, and how far a person is with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from grader.model.errors import UsageError
from grader.records import progress

if TYPE_CHECKING:
    from grader.app.context import Context
    from grader.model.question import Header, Question
    from grader.records.progress import Progress


def questions(
    ctx: Context, track: str | None = None
) -> tuple[Sequence[Header], Mapping[str, Progress]]:
    """Return what heads every question, or those of one track, and the progress by id.

    Raises:
        UsageError: There is no such track.
    """
    from grader.bank import closest, headers

    found: Sequence[Header] = headers(ctx.banks())
    if track is not None:
        tracks = sorted({header.track for header in found})
        if track not in tracks:
            near = closest(track, tracks)
            guess = f"; did you mean {near}?" if near else ""
            raise UsageError(
                f"--track {track}: there is no such track{guess}",
                hint=f"the tracks are {', '.join(tracks)}" if tracks else "",
            )
        found = [header for header in found if header.track == track]
    nothing: Mapping[str, Progress] = {}
    return found, ctx.read(progress.overview, nothing)


def load(ctx: Context, question_id: str) -> Question:
    """Return a question of the banks in use.

    Raises:
        UsageError: There is no such question.
        BankError: It is broken.
    """
    from grader.bank import load

    return load(ctx.banks(), question_id)
