"""`drill list` and `drill show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import output
from grader.cli.journal import Journal
from grader.cli.words import quantity
from grader.model.errors import UsageError
from grader.records import progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.table import Table

    from grader.model.question import Header, Question
    from grader.records.progress import Progress

_LEVEL_FROM = 72  # columns of a window in which there is room for it beside the title


def list_questions(*, bank: Path | None, track: str | None, as_json: bool) -> int:
    """Show every question, or those of one track, and how far the person is with each."""
    from grader.bank import headers
    from grader.cli.inuse import banks

    found: Sequence[Header] = headers(banks(bank))
    if track is not None:
        found = _of_track(found, track)
    nothing: Mapping[str, Progress] = {}
    state = Journal().read(progress.overview, nothing)
    if as_json:
        output.document({"format": 1, "questions": [_as_data(h, state) for h in found]})
    elif found:
        output.show(table(found, state))
    else:
        output.write("no questions: the banks that were found hold none")
    return 0


def show(question_id: str, *, bank: Path | None, as_json: bool) -> int:
    """Show a question without starting it."""
    from grader.cli.choose import load

    question = load(question_id, bank=bank)
    if as_json:
        output.document(_brief(question))
        return 0
    from grader.reports.question import render_question

    output.show(render_question(question, output.width()))
    output.write()
    output.write(f"drill start {question_id} lays it down in a folder of its own")
    return 0


def table(found: Sequence[Header], state: Mapping[str, Progress]) -> Table:
    """Return the questions as a table, a heading for each track."""
    from rich.table import Table

    narrow = output.width() < _LEVEL_FROM
    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    result.add_column("question", no_wrap=True)
    result.add_column("title", min_width=10 if narrow else 20)
    if not narrow:
        result.add_column("level", no_wrap=True)
    result.add_column("min", justify="right", no_wrap=True)
    result.add_column("you", no_wrap=True)
    track = None
    for header in found:
        if header.track != track:
            track = header.track
            result.add_row(f"\n{track}", style="bold")
        yours = state.get(header.id, progress.Progress())
        result.add_row(
            f"  {header.called}",
            header.title,
            *([] if narrow else [header.level]),
            str(header.minutes),
            _word(yours),
            style="dim" if yours.passed else "",
        )
    return result


def _word(yours: Progress) -> str:
    return quantity(yours.tries, "try", "tries") if yours.state == "tried" else yours.state


def _as_data(header: Header, state: Mapping[str, Progress]) -> dict[str, object]:
    yours = state.get(header.id, progress.Progress())
    return {
        "id": header.id,
        "called": header.called,
        "title": header.title,
        "track": header.track,
        "level": header.level,
        "minutes": header.minutes,
        "bank": str(header.bank),
        "state": yours.state,
        "tries": yours.tries,
    }


def _brief(question: Question) -> dict[str, object]:
    """Return a question for a program, without anything that gives the answer away."""
    spec = question.spec
    return {
        "format": 1,
        "question": question.id,
        "bank": str(question.bank),
        "title": spec.title,
        "track": spec.track,
        "level": spec.level,
        "minutes": spec.minutes,
        "uses": list(spec.uses),
        "prompt": spec.prompt,
        "interface": spec.interface,
        "contract": list(spec.contract),
        "forbids": list(spec.forbids),
        "functions": list(question.functions),
        "checks": [{"id": c.id, "kind": c.kind, "about": c.about} for c in spec.checks],
        "hints": len(spec.hints),
    }


def _of_track(found: Sequence[Header], track: str) -> Sequence[Header]:
    chosen = [header for header in found if header.track == track]
    if not chosen:
        from grader.bank import closest

        tracks = sorted({header.track for header in found})
        near = closest(track, tracks)
        guess = f"; did you mean {near}?" if near else ""
        raise UsageError(
            f"--track {track}: there is no such track{guess}",
            hint=f"the tracks are {', '.join(tracks)}" if tracks else "",
        )
    return chosen
