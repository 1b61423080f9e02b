"""A program as checks see it: functions to call, and plain data for results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from grader.model.mutation import Mutant, normalized
from grader.model.question import Support
from grader.sandbox.client import CALL_SECONDS, MOST_SLACK, Garbled, Limits, WorkerClient
from grader.sandbox.replies import ProgramError, answer, fault, unwanted
from grader.sandbox.sending import (
    Inputs,
    Steps,
    array_bytes,
    encoded_steps,
    sent_inputs,
)
from grader.sandbox.whereabouts import Text
from grader.sandbox.worker import protocol
from grader.sandbox.worker.protocol import Kept, Loaded, Measured, Outcome
from grader.sandbox.worker.wire import Array, fields

Names = Sequence[str]
Q = TypeVar("Q")
R = TypeVar("R")

MUTANTS_A_REPLY = 200  # well below what one frame carries
MOST_MUTANTS = 20_000  # of one program; the largest drill has 2,000
ROOM = 1 << 20  # bytes that a reply may hold beyond a multiple of what was sent


@dataclass(frozen=True, slots=True)
class CallLimits:
    """How long one call may take, where a question says so, and where it says it."""

    cpu_seconds: float | None
    wall_seconds: float | None
    set_by: str  # "limits of the case steep"

    def of(self, usual: float) -> Limits:
        """The limits of what usually takes up to so many seconds of CPU time."""
        share = max(1.0, usual / CALL_SECONDS)
        cpu = usual if self.cpu_seconds is None else self.cpu_seconds * share
        wall = max(cpu + MOST_SLACK, 2 * cpu)
        if self.wall_seconds is not None:
            wall = self.wall_seconds * share
        return Limits(cpu, wall, self.set_by)


@dataclass(slots=True)
class RemoteProgram:
    """Source texts executed in a worker under a name of their own."""

    worker: WorkerClient
    name: str
    sources: Sequence[bytes]
    support: Support = field(default_factory=Support)
    filename: str = "submission.py"
    call_seconds: float = field(default_factory=lambda: CALL_SECONDS)
    limits: CallLimits | None = None  # of what it is asked until this is changed
    untrusted: bool = False  # whether the judge looks itself at what it can
    loaded: Loaded | None = field(default=None, init=False)

    def load(self, functions: Names, driven: Names = ()) -> Loaded:
        """Execute the sources and see which of the wanted functions they and the driver define.

        Raises:
            ProgramError: what the file raised, a syntax error included.
            WorkerError: the process did not survive it.
        """
        if self.untrusted:
            self.worker.text = Text(self.filename, self.sources[-1])
        elif self.worker.fresh is None:
            self.worker.occupied_bytes()
        support = self.support
        request = protocol.Load(
            self.name,
            sources=tuple(_bytes(s) for s in self.sources),
            driver=None if support.driver is None else _bytes(support.driver),
            filename=self.filename,
            functions=tuple(functions),
            driver_file=support.driver_file,
            driven=tuple(driven),
            modules=tuple(protocol.File(n, _bytes(c)) for n, c in support.modules.items()),
        )
        self.loaded = self._ask(request, Loaded)
        return self.loaded

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Run the steps and return the wanted results."""
        return self.interleave(steps, [inputs], want).runs[0]

    def interleave(self, steps: Steps, inputs: Sequence[Inputs], want: Names) -> protocol.Outcomes:
        """Run the steps on several inputs in lockstep.

        Of an untrusted program the judge sees itself which inputs were changed.
        """
        lending = self.worker.lending if self.untrusted and self.worker.failure is None else None
        lent = [({}, {}) if lending is None else lending.lend(given) for given in inputs]
        sent = tuple(sent_inputs(given, now) for given, (now, _) in zip(inputs, lent, strict=True))
        request = protocol.Run(self.name, encoded_steps(tuple(steps)), sent, tuple(want))
        found = self._ask(request, protocol.Outcomes, steps, inputs)
        if len(found.runs) != len(inputs):
            raise Garbled("broke the protocol: not a reply to run (runs)")
        if lending is None:
            return found
        seen = [
            _with_changed(one, lending.changed(written), len(steps) - 1)
            for one, (_, written) in zip(found.runs, lent, strict=True)
        ]
        return found._replace(runs=tuple(seen))

    def several(
        self,
        steps: Steps,
        inputs: Sequence[Inputs],
        want: Names,
        also: Sequence[RemoteProgram] = (),
    ) -> list[Outcome | ProgramError]:
        """Run the steps on one set of inputs after another, in one request.

        Programs of the same worker may run them `also`, one after another; where that takes long,
        the answers of the last ones are missing.  The time that one call may take is for all of
        them together.
        """
        programs = (self.name, *(program.name for program in also))
        sent = tuple(map(sent_inputs, inputs))
        request = protocol.Several(programs, encoded_steps(tuple(steps)), sent, tuple(want))
        count = len(inputs) * len(programs)
        # Each may be as large as if it were alone.
        room = (count - 1) * ROOM // 8 + len(also) * sum(map(array_bytes, inputs))
        found = self._ask(request, protocol.Answers, steps, inputs, room=room)
        if not 0 < len(found.runs) <= count or len(found.runs) % len(inputs):
            raise Garbled("broke the protocol: not a reply to several (runs)")
        answers: list[Outcome | ProgramError] = []
        for one in found.runs:
            answer_ = fault(one, steps) if isinstance(one, protocol.Fault) else one
            if not isinstance(answer_, (Outcome, ProgramError)):
                raise answer_
            answers.append(answer_)
        return answers

    def timed(self, steps: Steps, inputs: Inputs, want: Names) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        before = self.worker.cpu_nanoseconds()
        outcome = self._ask(
            self._about(protocol.Do, steps, inputs, want, how="time"), Outcome, steps, [inputs]
        )
        after = self.worker.cpu_nanoseconds()
        seen = None if before is None or after is None else after - before
        return outcome, outcome.spent if seen is None else seen

    def gradients(
        self,
        steps: Steps,
        inputs: Inputs,
        *,
        wrt: Names,
        of: str,
        cotangent: Array | None,
        kinks: bool,
    ) -> Mapping[str, Mapping[str, Array]]:
        """Differentiate a result numerically; see `worker.measure.differences.gradients`."""
        request = self._about(
            protocol.Differentiate, steps, inputs, wrt, of=of, cotangent=cotangent, kinks=kinks
        )
        return self._ask(request, protocol.Gradients, steps, [inputs], seconds=60).gradients

    def state(self, steps: Steps, inputs: Inputs, of: str) -> Kept:
        """What steps keep in a result."""
        request = self._about(protocol.State, steps, inputs, of=of)
        kept = self._ask(request, Kept, steps, [inputs], seconds=30)
        if min(kept.reachable, kept.allocated, kept.added) < 0:
            raise Garbled("broke the protocol: not a reply to state (bytes)")
        return kept

    def measure(
        self, quantity: str, steps: Steps, inputs: Inputs, *, without: Names = (), of: str = ""
    ) -> Measured:
        """Measure an autograd graph, see `worker.measure.autograd`, or what a step allocates."""
        request = self._about(
            protocol.Measure, steps, inputs, quantity=quantity, of=of, without=tuple(without)
        )
        found = self._ask(request, Measured, steps, [inputs], seconds=60)
        if type(found.value) is not (str if quantity == "graph" else int):
            raise Garbled("broke the protocol: not a reply to measure (value)")
        return found

    def pause(self, steps: Steps, inputs: Inputs, keep: Names) -> None:
        """Run the steps, keep some names alive until `resume`, and give free memory back.

        Without inputs, what is paused stays as it is.
        """
        request = self._about(protocol.Do, steps, inputs, keep, how="pause")
        self._ask(request, Outcome, steps, [inputs], seconds=60)

    def resume(self, steps: Steps, inputs: Inputs, want: Names, *, room: int = 0) -> Outcome:
        """Go on with the run that was paused last; `room` is the bytes of its inputs so far."""
        request = self._about(protocol.Do, steps, inputs, want, how="resume")
        return self._ask(request, Outcome, steps, [inputs], seconds=60, room=room)

    def has_cuda(self) -> bool:
        """Whether its process sees a CUDA device."""
        return self._ask(protocol.Facts(), protocol.Found).cuda

    def mutants(self) -> tuple[Mutant, ...]:
        """Small changes of the program's text, derived in its worker; see `worker.mutate`.

        Raises:
            WorkerError: the process did not survive it.
        """
        (source,) = self.sources
        plain = _bytes(normalized(source))
        found: list[Mutant] = []
        while len(found) < MOST_MUTANTS:
            request = protocol.Mutants(plain, len(found), MUTANTS_A_REPLY)
            page = self._ask(request, protocol.Page, seconds=60)
            if any(not 0 <= m.start <= m.end <= plain.size for m in page.mutants):
                raise Garbled("broke the protocol: not a reply to mutants (start, end)")
            found += [Mutant(**m._asdict()) for m in page.mutants[:MUTANTS_A_REPLY]]
            if len(found) >= page.total or not page.mutants:
                return tuple(found)
        raise Garbled(f"broke the protocol: more than {MOST_MUTANTS:,} mutants")

    def _about(
        self,
        kind: Callable[..., Q],
        steps: Steps,
        inputs: Inputs,
        want: Names | None = None,
        **about: Any,  # noqa: ANN401 further fields of the request
    ) -> Q:
        """A request to have steps carried out on one set of inputs."""
        wanted = {} if want is None else {"want": tuple(want)}
        return kind(
            program=self.name,
            steps=encoded_steps(tuple(steps)),
            inputs=sent_inputs(inputs),
            **wanted,
            **about,
        )

    def _ask(
        self,
        request: Any,  # noqa: ANN401 one of the requests of `protocol`
        kind: type[R],
        steps: Steps = (),
        inputs: Sequence[Inputs] = (),
        *,
        seconds: float | None = None,
        room: int = 0,
    ) -> R:
        """The reply to a request about steps on inputs, which may be 8 times as large."""
        usual = self.call_seconds if seconds is None else seconds
        operation = type(request).__name__.lower()
        reply = self.worker.ask(
            {"op": operation, **fields(request)},
            Limits(usual) if self.limits is None else self.limits.of(usual),
            reply_bytes=ROOM + 8 * (room + sum(map(array_bytes, inputs))),
        )
        with self.worker.waiting():
            found = answer(kind, reply, operation, steps)
            made = sum(len(step.targets) for step in steps) + 1
            pairs = made * (max(map(len, inputs), default=0) + 1)
            if wrong := unwanted(found, getattr(request, "want", ()), pairs):
                raise Garbled(f"broke the protocol: not a reply to {operation} ({wrong})")
            return found


def _with_changed(said: Outcome, names: Names, last: int) -> Outcome:
    """What a worker said of a run, with inputs that the last step is taken to have changed."""
    known = {name for _, name in said.changed}
    more = [(last, name) for name in names if name not in known]
    return said._replace(changed=(*said.changed, *more))


def _bytes(source: bytes) -> Array:
    return np.frombuffer(source, np.uint8)
