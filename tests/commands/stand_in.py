"""A judge that reads the verdict from the submission, and a small bank instead of the program's.

The command line is tested with both: its handling of a verdict does not depend on real grading.
`python -m tests.commands.stand_in ARGS` is `drill ARGS` with both in place.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import grader.bank
import grader.explain.session
from grader.commands import options as command_options
from grader.grading.session import GradeOptions
from grader.model.question import Question
from grader.model.report import CheckResult, Report, Verdict
from grader.records import events
from grader.sandbox import Closeable, worker_pool

BANK = Path(__file__).parents[1] / "banks" / "small"
STARTER = b"def double(x):\n    return x + x + 1\n"
REFERENCE = b"def double(x):\n    return 2 * x\n"
FAULTS = {
    "crash": RuntimeError("the judge fell over"),
    "broken pipe": BrokenPipeError(errno.EPIPE, "a worker has gone"),
    "interrupt": KeyboardInterrupt(),
}


def grade(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str,
    options: GradeOptions,
) -> Report:
    """Return the verdict that the submission names in its first line, `# pass`, or raise."""
    options.progress(1, 1)
    first = submission.decode("utf-8", "replace").split("\n")[0].removeprefix("# ").strip()
    if first == "killed":  # as soon as the verdict is half way into the records
        done = events.append_event

        def add(db: sqlite3.Connection, event: events.Event) -> int | None:
            assert done(db, event)
            os.kill(os.getpid(), signal.SIGKILL)
            raise AssertionError

        events.append_event = add
    if first in FAULTS:
        raise FAULTS[first]
    verdict = Verdict(first) if first in set(Verdict) else Verdict.FAIL
    passed = verdict is Verdict.PASS
    message = "agrees" if passed else "y differs in 1 case"
    check = CheckResult("value", "outputs", verdict, message, ("one",), () if passed else ("one",))
    return Report(
        question.id, question.spec.title, verdict, seed, "process", 0.25, checks=(check,),
        message=f"{filename} is at fault" if verdict is Verdict.ERROR else "",
        sha256=sha256(submission).hexdigest(), follow_up="And halving?" if passed else "",
        unchanged=question.is_starter(submission),
    )  # fmt: skip


class Session(Closeable):
    """An open session of that judge."""

    def __init__(self, question: Question, **_: Any) -> None:
        self.question = question

    def grade(self, submission: bytes, **more: Any) -> Report:
        return grade(self.question, submission, **more)

    def close(self) -> None:
        """Do nothing: no process was started."""


def put_in_place() -> Iterator[tuple[ModuleType, str, Callable[..., Any]]]:
    """Yield each replacement: a module, a name in it, and the new value."""
    yield grader.bank, "builtin", lambda: BANK
    yield grader.explain.session, "GradingSession", Session
    yield worker_pool, "WorkerPool", lambda **_: nullcontext()


def main() -> None:
    """Be `drill` with all of these in place."""
    for module, name, function in put_in_place():
        setattr(module, name, function)
    if speed := os.environ.get("CLOCK_SPEED"):  # how much faster than the wall's
        began = datetime.now(UTC)
        command_options.now = lambda: (
            began + float(speed) * (datetime.now(UTC) - began)
        ).isoformat()
    from grader.commands.app import main

    main()


if __name__ == "__main__":
    main()
