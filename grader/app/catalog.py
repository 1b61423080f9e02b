"""The questions there are, and how far a person is with each."""

from __future__ import annotations

from grader import bank
from grader.app.context import Context
from grader.model.errors import UsageError
from grader.model.question import Header
from grader.records import progress
from grader.records.progress import Progress


def questions(ctx: Context, track: str | None = None) -> list[tuple[Header, Progress]]:
    """Return what heads every question, or those of one track, with the progress.

    Raises:
        UsageError: There is no such track.
    """
    found = bank.headers(ctx.banks())
    tracks = sorted({header.track for header in found})
    if track is not None and track not in tracks:
        near = bank.closest(track, tracks)
        guess = f"; did you mean {near}?" if near else ""
        raise UsageError(
            f"--track {track}: there is no such track{guess}",
            hint=f"the tracks are {', '.join(tracks)}" if tracks else "",
        )
    known = ctx.read(progress.overview, {})
    return [
        (head, progress.of(known, head.id, head.bank))
        for head in found
        if track in {None, head.track}
    ]
