"""A program as checks see it: functions to call, plain data for results, no process in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from grader.model.mutation import Mutant, normalized
from grader.model.question import Step
from grader.sandbox.client import CALL_SECONDS, Garbled, WorkerClient
from grader.sandbox.replies import Kept, Loaded, Measured, Outcome, calls, fault, message, replaces
from grader.sandbox.worker import messages
from grader.sandbox.worker.messages import Input
from grader.sandbox.worker.typed import Message, fields
from grader.sandbox.worker.wire import Array, Encoded

Inputs = Mapping[str, Mapping[str, Any]]  # by name: the fields of a `messages.Input`
R = TypeVar("R")

MUTANTS_A_REPLY = 200  # well below what one frame carries
MOST_MUTANTS = 20_000  # of one program; the largest drill has 2,000
ROOM = 1 << 20  # bytes a reply may hold beyond twice what was sent
_INPUT_DEPTH = 3  # where an input lies in a request, at most


class EncodedInput(dict[str, Any]):
    """The fields of an input, encoded once however often it is sent; they must not change."""

    @cached_property
    def sent(self) -> Encoded:
        """What is sent."""
        return Encoded(Input(**self), _INPUT_DEPTH)


@dataclass(slots=True)
class RemoteProgram:
    """Source texts executed in a worker under a name of their own."""

    worker: WorkerClient
    name: str
    sources: Sequence[bytes]
    driver: bytes | None = None
    filename: str = "submission.py"
    call_seconds: float = field(default_factory=lambda: CALL_SECONDS)
    forbids: Sequence[str] = ()  # what it may not call; see `worker.policy`
    loaded: Loaded | None = field(default=None, init=False)
    before: int | None = field(
        default=None, init=False
    )  # bytes the process held when it was loaded
    _clock: int | None = field(default=None, init=False)  # CPU time when it last answered `timed`

    def load(self, functions: Sequence[str]) -> Loaded:
        """Execute the sources and see which of the wanted functions they define.

        Raises:
            ProgramError: what the file raised, a syntax error included.
            WorkerError: the process did not survive it.
        """
        request = messages.Load(
            self.name,
            sources=tuple(_bytes(s) for s in self.sources),
            driver=None if self.driver is None else _bytes(self.driver),
            filename=self.filename,
            functions=tuple(functions),
            forbids=tuple(self.forbids),
        )
        self.before = self.worker.occupied_bytes()
        self.loaded = self._ask(request, Loaded, seconds=2 * self.call_seconds)
        return self.loaded

    def run(self, steps: Sequence[Step], inputs: Inputs, want: Sequence[str]) -> Outcome:
        """Run the steps and return the wanted results."""
        request = messages.Run(self.name, as_sent(steps), _inputs(inputs), tuple(want))
        return self._ask(request, Outcome, inputs, steps=steps)

    def interleave(
        self, steps: Sequence[Step], inputs: Sequence[Inputs], want: Sequence[str]
    ) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        """Run the steps on several inputs in lockstep.

        Returns:
            One outcome for each, and the names of results that the runs share in memory.
        """
        request = messages.Interleave(
            self.name, as_sent(steps), tuple(_inputs(i) for i in inputs), tuple(want)
        )
        found = self._ask(request, messages.Outcomes, *inputs, steps=steps)
        if len(found.runs) != len(inputs):
            raise Garbled("broke the protocol: not a reply to interleave (runs)")
        return found.runs, found.common

    def timed(
        self, steps: Sequence[Step], inputs: Inputs, want: Sequence[str]
    ) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        before = self.worker.cpu_nanoseconds()
        request = messages.Time(self.name, as_sent(steps), _inputs(inputs), tuple(want))
        outcome = self._ask(request, Outcome, inputs, steps=steps)
        after = self._clock = self.worker.cpu_nanoseconds()
        seen = None if before is None or after is None else after - before
        return outcome, outcome.spent if seen is None else seen

    def idled(self) -> int:
        """CPU nanoseconds that the process has used since `timed` or since this was last asked."""
        before, self._clock = self._clock, self.worker.cpu_nanoseconds()
        return 0 if before is None or self._clock is None else self._clock - before

    def gradients(
        self,
        steps: Sequence[Step],
        inputs: Inputs,
        *,
        wrt: Sequence[str],
        result: str,
        cotangent: Array | None,
        kinks: bool,
    ) -> Mapping[str, Mapping[str, Array]]:
        """Differentiate a result numerically; see `worker.differences.gradients`."""
        request = messages.Differentiate(
            self.name, as_sent(steps), _inputs(inputs), tuple(wrt), result, cotangent, kinks
        )
        asked = (inputs, inputs)  # each entry comes with its error
        return self._ask(request, messages.Gradients, *asked, steps=steps, seconds=60).gradients

    def state(
        self,
        steps: Sequence[Step],
        inputs: Inputs,
        of: str,
        *,
        rest: Sequence[Step] = (),
        want: Sequence[str] = (),
    ) -> Kept:
        """What steps keep in a result; the run then goes on with the rest to what is wanted."""
        request = messages.State(
            self.name, as_sent(steps), _inputs(inputs), tuple(want), of, as_sent(rest)
        )
        kept = self._ask(request, Kept, inputs, steps=steps, seconds=30)
        if min(kept.reachable, kept.allocated, kept.added) < 0:
            raise Garbled("broke the protocol: not a reply to state (bytes)")
        return kept

    def measure(
        self,
        quantity: str,
        steps: Sequence[Step],
        inputs: Inputs,
        *,
        without: Sequence[str] = (),
        of: str = "",
        rest: Sequence[Step] = (),
        want: Sequence[str] = (),
    ) -> Measured:
        """Measure an autograd graph; see `worker.autograd.measure`."""
        request = messages.Measure(
            self.name, as_sent(steps), _inputs(inputs), tuple(want), of, as_sent(rest),
            quantity, tuple(without),
        )  # fmt: skip
        found = self._ask(request, Measured, inputs, steps=steps, seconds=60)
        if type(found.value) is not (str if quantity == "graph" else int):
            raise Garbled("broke the protocol: not a reply to measure (value)")
        return found

    def hold(self, steps: Sequence[Step], inputs: Inputs, *, of: str, count: int) -> None:
        """Run the steps that many times, and keep what they leave alive; see `worker.holding`."""
        request = messages.Hold(self.name, count, as_sent(steps), _inputs(inputs), of)
        self._ask(request, messages.Header, steps=steps, seconds=60)

    def drop(self) -> None:
        """Let go of what `hold` keeps."""
        self._ask(messages.Hold(self.name, 0, (), {}, ""), messages.Header, seconds=30)

    @property
    def is_alive(self) -> bool:
        """Whether its process can still be asked."""
        return self.worker.failure is None

    @property
    def at_start(self) -> int | None:
        """Bytes that its process held before any program was loaded."""
        return self.worker.fresh

    def occupied_bytes(self) -> int | None:
        """Bytes that its process holds now, by the system's account."""
        return self.worker.occupied_bytes()

    def forget_peak(self) -> bool:
        """Let the system count the peak again; whether it can."""
        return self.worker.probe.forget_peak(self.worker.pid)

    def peak_bytes(self) -> int | None:
        """The most that its process held since then, by the system's account."""
        return self.worker.probe.peak_bytes(self.worker.pid)

    def has_cuda(self) -> bool:
        """Whether its process sees a CUDA device."""
        return bool(self.worker.ask({"op": "facts"}).get("cuda"))

    def mutants(self) -> tuple[Mutant, ...]:
        """Small changes of the program's text, derived in its worker; see `worker.mutants`.

        Raises:
            WorkerError: the process did not survive it.
        """
        (source,) = self.sources
        plain = _bytes(normalized(source))
        found: list[Mutant] = []
        while len(found) < MOST_MUTANTS:
            request = messages.Mutants(self.name, plain, len(found), MUTANTS_A_REPLY)
            page = self._ask(request, messages.Page, seconds=60)
            if any(not 0 <= m.start <= m.end <= plain.size for m in page.mutants):
                raise Garbled("broke the protocol: not a reply to mutants (start, end)")
            found += [Mutant(**fields(m)) for m in page.mutants[:MUTANTS_A_REPLY]]
            if len(found) >= page.total or not page.mutants:
                return tuple(found)
        raise Garbled(f"broke the protocol: more than {MOST_MUTANTS:,} mutants")

    def _ask(
        self,
        request: Message,
        kind: type[R],
        *sent: Inputs,
        steps: Sequence[Step] = (),
        seconds: float | None = None,
    ) -> R:
        operation = messages.operation(type(request))
        size = sum(_size(spec["value"]) for inputs in sent for spec in inputs.values())
        reply = self.worker.ask(
            {"op": operation, **fields(request)},
            seconds=self.call_seconds if seconds is None else seconds,
            reply_bytes=ROOM + 8 * size,
        )
        header = message(messages.Header, reply, operation)
        if self.forbids and header.evidence:
            raise calls(header.evidence[0])
        if not header.ok:
            raise fault(message(messages.Fault, reply, operation), steps)
        if header.replaced:
            raise replaces(header.replaced)
        return message(kind, reply, operation)


def _size(value: Any) -> int:  # noqa: ANN401 an input's value
    values = getattr(value, "values", value)
    return int(getattr(values, "nbytes", 0))


def _bytes(source: bytes) -> Array:
    return np.frombuffer(source, np.uint8)


def as_sent(steps: Sequence[Step]) -> tuple[messages.Step, ...]:
    """The steps of a question as a worker takes them."""
    return tuple(
        messages.Step(
            targets=step.targets,
            unpack=step.unpack,
            owner=step.owner,
            function=step.function,
            arguments=tuple(
                messages.Argument(a.name, a.literal, a.keyword) for a in step.arguments
            ),
        )
        for step in steps
    )


def _inputs(inputs: Inputs) -> messages.Inputs:
    """What is sent for inputs; an encoded one stands for itself until it is on the wire."""
    return {
        name: cast(Input, spec.sent) if isinstance(spec, EncodedInput) else Input(**spec)
        for name, spec in inputs.items()
    }
