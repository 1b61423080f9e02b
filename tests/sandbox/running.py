"""Start a worker, give it a file, call the function in it, and see that nothing is left behind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.bank.steps import parse
from grader.model.question import Step
from grader.sandbox.client import WorkerClient
from grader.sandbox.remote import Inputs, RemoteProgram
from grader.sandbox.replies import Outcome
from grader.sandbox.spawn import Zygote

X: Inputs = {"x": {"value": np.arange(3.0), "layout": "contiguous"}}


def steps(*texts: str) -> tuple[Step, ...]:
    """Return steps as a spec would give them."""
    return tuple(parse(text) for text in texts)


def given(**values: Any) -> dict[str, Mapping[str, Any]]:
    """Return inputs in the plainest layout."""
    return {n: {"value": v, "layout": "contiguous"} for n, v in values.items()}


@contextlib.contextmanager
def started(
    *, torch: bool = False, cpu_seconds: int = 120, zygote: Zygote | None = None
) -> Iterator[WorkerClient]:
    """Give a worker that has started, and see that it ends without a trace."""
    with WorkerClient(torch=torch, cpu_seconds=cpu_seconds, zygote=zygote) as worker:
        worker.ask({"op": "facts"})
        yield worker
    assert worker.process.ended
    assert not Path(worker.scratch).parent.exists()


def load(
    worker: WorkerClient, source: str, name: str = "submission", seconds: float = 5.0
) -> RemoteProgram:
    """Execute a source in a worker."""
    program = RemoteProgram(worker, name, [source.encode()], call_seconds=seconds)
    program.load(())
    return program


def run(
    program: RemoteProgram,
    *texts: str,
    inputs: Inputs = X,
    want: Sequence[str] = ("y",),
) -> Outcome:
    """Run steps on inputs, `y = f(x)` unless others are given."""
    return program.run(steps(*(texts or ("y = f(x)",))), inputs, want)
