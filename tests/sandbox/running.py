"""Start a worker, load a program, run it, and check that the worker leaves nothing behind."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grader.cases.step_syntax import parse_step
from grader.model.steps import Step
from grader.sandbox.client import RequestLimits, WorkerClient, WorkerDied
from grader.sandbox.messages import Inputs, Outcome
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker import wire

FIND = "import sys\n"  # the worker's modules are in sys.modules
X: Inputs = {"x": {"value": np.arange(3.0), "layout": "contiguous"}}


def frame(value: object) -> tuple[bytes, bytes]:
    """Return the structure and the payload of a value's frame."""
    data = wire.encode(value)
    magic, meta, payload = wire.HEADER.unpack(data[: wire.HEADER.size])
    body = data[wire.HEADER.size :]
    assert magic == wire.MAGIC
    assert len(body) == meta + payload
    return body[:meta], body[meta:]


def sent(value: object) -> Any:
    """Return a value after it was encoded and decoded."""
    meta, payload = frame(value)
    return wire.decode(meta, memoryview(payload))


def steps(*texts: str) -> tuple[Step, ...]:
    """Return steps as a spec would have them."""
    return tuple(parse_step(text, torch="vjp(" in text) for text in texts)


def given(**values: Any) -> dict[str, Mapping[str, Any]]:
    """Return inputs in the default layout."""
    return {n: {"value": v, "layout": "contiguous"} for n, v in values.items()}


class Connected(WorkerClient):
    """A client whose channel leads to a test instead of a worker process."""

    pid = -1

    def __init__(
        self,
        channel: socket.socket,
        output: int,
        *,
        drain: Callable[[], bool] = lambda: True,
        watch: Callable[[], None] = lambda: None,
        spent: Callable[[], int | None] = lambda: None,
        death: Callable[[], str] = lambda: "ended",
    ) -> None:
        """Start no process; the functions return the figures about one."""
        channel.setblocking(False)
        self._channel, self._output, self.stopped_at = channel, output, ""
        self.deadline, self.program_file, self._looked = None, None, 0.0
        self.slowest_cpu_seconds = 0.0
        self._drain, self._watch_all, self.cpu_nanoseconds = drain, watch, spent  # type: ignore[method-assign]
        self._death = lambda: WorkerDied(death())  # type: ignore[method-assign]

    def answer(self, operation: str, *, seconds: float, reply_bytes: int = 0) -> dict[str, Any]:
        """Return the reply to a request."""
        reply: dict[str, Any] = self.exchange(
            {"op": operation}, RequestLimits(seconds), reply_bytes
        )
        return reply


@contextlib.contextmanager
def started(
    *, torch: bool = False, cpu_seconds: int = 120, zygote: Zygote | None = None
) -> Iterator[WorkerClient]:
    """Yield a worker that has started, and check that it ends without a trace."""
    with WorkerClient(torch=torch, cpu_seconds=cpu_seconds, zygote=zygote) as worker:
        worker.ask({"op": "reportisolation"})
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
    """Run steps on inputs (default: `y = f(x)`)."""
    return program.run(steps(*(texts or ("y = f(x)",))), inputs, want)
