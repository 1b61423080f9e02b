"""One run of a candidate's script, an experiment: walled off as a grade is, and judged by nobody.

It starts once its file is loaded and the function is there; until then it costs nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from grader.bank.steps import parse
from grader.evaluation.tally import Finding
from grader.evaluation.values import Value
from grader.model.question import Question
from grader.model.report import Raised
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.config import CPU_SECONDS
from grader.sandbox.remote import CallLimits, RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.session.grading import load_submission, unreadable

LOG_SEED = 0  # of the run that the log of a question is of
SET_BY = "experiments of the question"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    started: bool
    seconds: float = 0.0  # by the clock
    value: Value = None  # what the function returned
    printed: str = ""  # the beginning of what the script printed
    end: str = ""  # the end of it, where that is not all
    bytes_printed: int = 0
    fault: str = ""  # why it did not finish, in a sentence
    raised: Raised | None = None


def experiment(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str = "submission.py",
    begin: Callable[[], None] = lambda: None,
) -> Ran:
    """Run a script once.

    Args:
        question: that has experiments.
        submission: the file's bytes.
        seed: that the function is called with.
        filename: what tracebacks call the file.
        begin: called once the file is loaded, right before the function.
    """
    asked = question.spec.experiments
    assert asked is not None, "the question has no experiments"
    if (wrong := unreadable(submission, question)) is not None:
        return Ran(started=False, fault=wrong.sentence)
    step = parse(f"result = {asked.function}(seed)")
    own = (step.function,) if step.owner == "submission" else ()
    spec, cpu = question.spec, max(CPU_SECONDS, math.ceil(2 * asked.seconds))
    with WorkerClient(torch=spec.needs_torch, cpu_seconds=cpu) as worker:
        program = RemoteProgram(
            worker, "submission", [submission], question.support, filename,
            untrusted=True,
        )  # fmt: skip
        lacking = load_submission(program, question, own, functions=own)
        if lacking is not None:
            return Ran(started=False, fault=lacking.sentence, raised=lacking.raised)
        begin()
        program.limits = CallLimits(asked.seconds, None, SET_BY)
        began = time.perf_counter()
        value, fault = None, Finding("")
        try:
            value = program.run((step,), {"seed": {"value": seed}}, ("result",)).values["result"]
        except ProgramError as error:
            fault = Finding(error.message, raised=error.raised)
        except WorkerError as failure:
            fault = Finding(f"your script {failure}")
        seconds = time.perf_counter() - began
        printed, size = worker.first_printed, worker.output_bytes
        end = worker.printed if size > len(printed) else b""
        return Ran(
            True, seconds, value, printed.decode("utf-8", "replace"),
            end.decode("utf-8", "replace"), size, fault.sentence, fault.raised,
        )  # fmt: skip
