"""A program as checks see it: functions to call, plain data for results, no process in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.model.mutation import Mutant, normalised
from grader.model.question import Step
from grader.sandbox import probes
from grader.sandbox.client import CALL_SECONDS, Garbled, WorkerClient
from grader.sandbox.replies import (
    UNREADABLE,
    Flagged,
    Kept,
    Loaded,
    Measured,
    Outcome,
    calls,
    fault,
    mutant,
    outcome,
    results_of,
)

Inputs = Mapping[str, Mapping[str, Any]]  # by name: value, layout, and for tensors tensor and grad

MUTANTS_A_REPLY = 200  # well below what one frame carries
ROOM = 1 << 20  # bytes a reply may hold beyond twice what was sent


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
        request = {
            "op": "load",
            "program": self.name,
            "sources": [_bytes(s) for s in self.sources],
            "driver": None if self.driver is None else _bytes(self.driver),
            "filename": self.filename,
            "functions": list(functions),
            "forbids": list(self.forbids),
        }
        self.before = self.worker.occupied_bytes()
        reply = self._ask(request, seconds=2 * self.call_seconds)
        try:
            self.loaded = Loaded(
                missing=tuple(str(n) for n in reply["missing"]),
                uncallable=tuple((str(n), str(t)) for n, t in reply["uncallable"]),
                defined=tuple(str(n) for n in reply["defined"]),
                unknown=tuple(str(n) for n in reply.get("unknown", ())),
            )
        except UNREADABLE:
            raise Garbled("broke the protocol: not a reply to load") from None
        return self.loaded

    def run(self, steps: Sequence[Step], inputs: Inputs, want: Sequence[str]) -> Outcome:
        """Run the steps and return the wanted results."""
        request = {"op": "run", **self._about(steps, inputs), "want": list(want)}
        reply = self._ask(request, inputs, steps=steps)
        return outcome(reply)

    def interleave(
        self, steps: Sequence[Step], inputs: Sequence[Inputs], want: Sequence[str]
    ) -> tuple[tuple[Outcome, ...], tuple[str, ...]]:
        """Run the steps on several inputs in lockstep.

        Returns:
            One outcome for each, and the names of results that the runs share in memory.
        """
        request = {
            "op": "interleave",
            "program": self.name,
            "steps": [_step(s) for s in steps],
            "inputs": [_plain(i) for i in inputs],
            "want": list(want),
        }
        reply = self._ask(request, *inputs, steps=steps)
        runs, common = reply.get("runs"), reply.get("common")
        if not isinstance(runs, list) or len(runs) != len(inputs) or not isinstance(common, list):
            raise Garbled("broke the protocol: not a reply to interleave")
        return tuple(outcome(r) for r in runs), tuple(c for c in common if isinstance(c, str))

    def timed(
        self, steps: Sequence[Step], inputs: Inputs, want: Sequence[str]
    ) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        before = self.worker.cpu_nanoseconds()
        request = {"op": "time", **self._about(steps, inputs), "want": list(want)}
        reply = self._ask(request, inputs, steps=steps)
        after = self._clock = self.worker.cpu_nanoseconds()
        own = reply.get("spent")
        if before is None or after is None:
            return outcome(reply), int(own) if isinstance(own, int) else 0
        return outcome(reply), after - before

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
        cotangent: Any,  # noqa: ANN401 an array or None
        kinks: bool,
    ) -> Mapping[str, Mapping[str, Any]]:
        """Differentiate a result numerically; see `worker.differences.gradients`."""
        request = {
            "op": "gradients",
            **self._about(steps, inputs),
            "wrt": list(wrt),
            "result": result,
            "cotangent": cotangent,
            "kinks": kinks,
        }
        found: Mapping[str, Mapping[str, Any]] = self._ask(
            request, inputs, inputs, steps=steps, seconds=60
        )["gradients"]
        return found

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
        request = {
            "op": "state",
            **self._about(steps, inputs),
            "of": of,
            "rest": [_step(s) for s in rest],
            "want": list(want),
        }
        reply = self._ask(request, inputs, steps=steps, seconds=30)
        found = [reply.get(word) for word in ("reachable", "allocated", "added")]
        reachable, allocated, added = (n if type(n) is int and n >= 0 else None for n in found)
        if reachable is None or allocated is None or added is None:
            raise Garbled("broke the protocol: not a reply to state")
        return Kept(reachable, allocated, added, results_of(reply))

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
        request = {
            "op": "measure",
            **self._about(steps, inputs),
            "quantity": quantity,
            "without": list(without),
            "of": of,
            "rest": [_step(s) for s in rest],
            "want": list(want),
        }
        reply = self._ask(request, inputs, steps=steps, seconds=60)
        try:
            value = reply["value"]
            details = tuple((str(what), int(size)) for what, size in reply["details"])
            elements = int(reply.get("elements", 0))
        except UNREADABLE:
            raise Garbled("broke the protocol: not a reply to measure") from None
        if type(value) is not (str if quantity == "graph" else int):
            raise Garbled("broke the protocol: not a reply to measure")
        return Measured(value, details, elements, results_of(reply))

    def hold(self, steps: Sequence[Step], inputs: Inputs, *, of: str, count: int) -> None:
        """Run the steps that many times, and keep what they leave alive; see `worker.holding`."""
        request = {"op": "hold", **self._about(steps, inputs), "of": of, "count": count}
        self._ask(request, steps=steps, seconds=60)

    def drop(self) -> None:
        """Let go of what `hold` keeps."""
        self._ask({"op": "hold", "program": self.name, "count": 0}, seconds=30)

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
        """Let the system count the peak anew; whether it can."""
        return probes.forget_peak(self.worker.pid)

    def peak_bytes(self) -> int | None:
        """The most that its process held since then, by the system's account."""
        return probes.peak_bytes(self.worker.pid)

    def has_cuda(self) -> bool:
        """Whether its process sees a CUDA device."""
        return bool(self.worker.ask({"op": "facts"}).get("cuda"))

    def mutants(self) -> tuple[Mutant, ...]:
        """Small changes of the program's text, derived in its worker; see `worker.mutants`.

        Raises:
            WorkerError: the process did not survive it.
        """
        (source,) = self.sources
        plain = normalised(source)
        found: list[Mutant] = []
        while True:
            request = {
                "op": "mutants",
                "program": self.name,
                "source": _bytes(plain),
                "first": len(found),
                "count": MUTANTS_A_REPLY,
            }
            reply = self._ask(request, seconds=60)
            try:
                page = [mutant(row) for row in reply["mutants"]]
                total = int(reply["total"])
            except (KeyError, TypeError, ValueError):
                raise Garbled("broke the protocol: not a reply to mutants") from None
            found += page
            if len(found) >= total or not page:
                return tuple(found)

    def _about(self, steps: Sequence[Step], inputs: Inputs) -> dict[str, Any]:
        return {
            "program": self.name,
            "steps": [_step(s) for s in steps],
            "inputs": _plain(inputs),
        }

    def _ask(
        self,
        request: dict[str, Any],
        *sent: Inputs,
        steps: Sequence[Step] = (),
        seconds: float | None = None,
    ) -> dict[str, Any]:
        size = sum(_size(spec["value"]) for inputs in sent for spec in inputs.values())
        reply = self.worker.ask(
            request,
            seconds=self.call_seconds if seconds is None else seconds,
            reply_bytes=ROOM + 8 * size,
        )
        seen = reply.get("evidence", []) if self.forbids else []
        if not isinstance(seen, list):
            raise Garbled("broke the protocol: not evidence")
        if seen:
            raise Flagged(calls(seen))
        if not reply["ok"]:
            raise fault(reply, steps)
        replaced = reply.get("replaced")
        if isinstance(replaced, list) and replaced:
            names = ", ".join(str(name)[:80] for name in replaced[:3])
            raise Flagged(f"replaces {names}, which what is measured depends on")
        return reply


def _size(value: Any) -> int:  # noqa: ANN401 an input's value
    values = getattr(value, "values", value)
    return int(getattr(values, "nbytes", 0))


def _bytes(source: bytes) -> Any:  # noqa: ANN401 an array of bytes
    import numpy as np

    return np.frombuffer(source, np.uint8)


def _step(step: Step) -> dict[str, Any]:
    arguments = [
        ["name", a.name, a.keyword] if a.name is not None else ["literal", a.literal, a.keyword]
        for a in step.arguments
    ]
    return {
        "targets": list(step.targets),
        "unpack": step.unpack,
        "owner": step.owner,
        "function": step.function,
        "arguments": arguments,
    }


def _plain(inputs: Inputs) -> dict[str, Any]:
    return {name: dict(spec) for name, spec in inputs.items()}
