"""Start a worker, give it a file, call the function in it, and see that nothing is left behind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.bank.steps import parse
from grader.model.question import Step
from grader.programs.process import Worker
from grader.programs.program import Inputs, Program
from grader.programs.replies import Outcome

X: Inputs = {"x": {"value": np.arange(3.0), "layout": "contiguous"}}


def steps(*texts: str) -> tuple[Step, ...]:
    """Return steps as a spec would give them."""
    return tuple(parse(text) for text in texts)


def given(**values: Any) -> dict[str, Mapping[str, Any]]:
    """Return inputs in the plainest layout."""
    return {n: {"value": v, "layout": "contiguous"} for n, v in values.items()}


@contextlib.contextmanager
def started(*, torch: bool = False, cpu_seconds: int = 120) -> Iterator[Worker]:
    """Give a worker that has started, and see that it ends without a trace."""
    with Worker(torch=torch, cpu_seconds=cpu_seconds) as worker:
        worker.ask({"op": "facts"})
        yield worker
    assert worker.process.wait(0) is not None
    assert not Path(worker.scratch).parent.exists()


def load(worker: Worker, source: str, name: str = "submission", seconds: float = 5.0) -> Program:
    """Execute a source in a worker."""
    program = Program(worker, name, [source.encode()], call_seconds=seconds)
    program.load(())
    return program


def run(
    program: Program,
    *texts: str,
    inputs: Inputs = X,
    want: Sequence[str] = ("y",),
) -> Outcome:
    """Run steps on inputs, `y = f(x)` unless others are given."""
    return program.run(steps(*(texts or ("y = f(x)",))), inputs, want)
