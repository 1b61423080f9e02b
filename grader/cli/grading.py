"""`drill grade`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli import files, output, place, workspace
from grader.cli.choose import Choice, choose, need_workspace
from grader.cli.journal import Journal
from grader.cli.words import GET_TORCH, span
from grader.model.errors import DrillError, UsageError
from grader.model.verdict import Verdict
from grader.records import attempts, progress

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.model.report import Report
    from grader.session import Workers

_STATUS = {Verdict.PASS: 0, Verdict.INVALID: 3, Verdict.INTERNAL: 4}  # any other verdict: 1


def grade(
    question_id: str | None,
    *,
    bank: Path | None,
    file: Path | None,
    seed: int | None,
    as_json: bool,
) -> int:
    """Grade a submission, record it, show what was found and return the exit status."""
    if seed is not None and seed > place.MAX_SEED:
        raise UsageError(f"--seed: expected a whole number of at most {place.MAX_SEED:,}")
    with Ahead() as ahead:
        return _grade(question_id, bank, file, seed, ahead, as_json=as_json)


def _grade(
    question_id: str | None,
    bank: Path | None,
    file: Path | None,
    seed: int | None,
    ahead: Ahead,
    *,
    as_json: bool,
) -> int:
    journal = Journal()
    choice = choose(question_id, bank=bank, journal=journal, beside=file, soon=ahead.start)
    question = choice.question
    need_torch(question)
    path = need_workspace(choice).submission if file is None else file.expanduser()
    submission = files.read_submission(path)
    seed = place.fresh_seed() if seed is None else seed

    attempt = journal.write(
        lambda db: attempts.begin(
            db,
            question=question.id,
            bank=str(question.bank),
            at=place.now(),
            seed=seed,
            submission=submission,
        )
    )
    from grader.session import grade as judge

    report = judge(question, submission, seed=seed, filename=path.name, workers=ahead.workers)
    if attempt is not None:
        _record(journal, attempt, report)
    if as_json:
        from grader.reports.json import dumps

        output.write(dumps(report).rstrip("\n"))
    else:
        _show(report, choice, file, journal)
    return _STATUS.get(report.verdict, 1)


class Ahead:
    """Workers started as soon as it is known which question is meant; closed in any case."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self.workers: Workers | None = None

    def __enter__(self) -> Ahead:
        """Return the holder."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the workers."""
        if self.workers is not None:
            self.workers.close()

    def start(self, question_id: str, banks: list[Path]) -> None:
        """Start the workers of a question, if it is there and can run here."""
        from grader.bank.locate import header
        from grader.session import Workers

        try:
            head = header(banks, question_id)
        except DrillError:
            return  # loading the question will say so
        if not head.torch or torch_installed():
            self.workers = Workers(torch=head.torch)


def need_torch(question: Question) -> None:
    """Check that what the question runs on is installed, without loading it.

    Raises:
        UsageError: It needs torch, and there is none.
    """
    if question.spec.needs_torch and not torch_installed():
        raise UsageError(
            f"{question.id} needs torch, which is not installed",
            hint=GET_TORCH,
        )


def torch_installed() -> bool:
    """Return whether torch could be imported, without importing it."""
    from importlib.util import find_spec

    return find_spec("torch") is not None


def _record(journal: Journal, attempt: int, report: Report) -> None:
    from grader.reports.json import dumps

    text = dumps(report)
    journal.write(
        lambda db: attempts.finish(
            db,
            attempt,
            at=place.now(),
            verdict=report.verdict,
            isolation=report.isolation,
            seconds=report.seconds,
            report=text,
        )
    )


def _show(report: Report, choice: Choice, file: Path | None, journal: Journal) -> None:
    from grader.reports.terminal import render_report

    name = choice.question.id
    tries = journal.read(lambda db: attempts.graded(db, name), 0)
    which = "" if file is None and choice.implied else f" {choice.called}"
    where = "" if file is None else f" --file {shlex.quote(str(file))}"
    output.show(
        render_report(
            report,
            width=output.width(),
            repeat=f"drill grade{which}{where} --seed {report.seed}",
            footer=_next_steps(report, choice, journal),
            heading_note=f"try {tries}" if tries else "",
            pass_note=_time_taken(choice),
            filename=workspace.SUBMISSION if file is None else file.name,
        )
    )


def _next_steps(report: Report, choice: Choice, journal: Journal) -> list[str]:
    """Return what to do next, as the verdict has it."""
    question = choice.question
    match report.verdict:
        case Verdict.PASS:
            return [f"drill solution{choice.argument} to compare"]
        case Verdict.INVALID:
            return [f"drill bank audit {choice.called} shows what is wrong with the question"]
        case Verdict.INTERNAL:
            return []
        case _ if question.spec.hints:
            shown = journal.read(lambda db: progress.hints_shown(db, question.id), 0)
            if shown < len(question.spec.hints):
                return [f"drill hint{choice.argument} for a nudge"]
    return [f"drill solution{choice.argument} --give-up shows a solution"]


def _time_taken(choice: Choice) -> str:
    """Return the time since the drill was started, beside the time planned for it."""
    started = choice.workspace.started_at if choice.workspace else ""
    minutes = place.minutes_since(started)
    if minutes is None:
        return ""
    return f"{span(minutes)} since start ({choice.question.spec.minutes} planned)"
