"""A program as checks see it: functions to call, and plain data for results."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from grader.model.mutation import Mutant, normalized
from grader.model.numerals import quantity
from grader.model.question import Step, Support
from grader.sandbox import OutOfTime, cells
from grader.sandbox.client import (
    CALL_SECONDS,
    Died,
    Garbled,
    Limits,
    Overran,
    TooSlow,
    WorkerClient,
    WorkerError,
)
from grader.sandbox.messages import (
    Inputs,
    ProgramError,
    Steps,
    answer,
    array_bytes,
    encoded_steps,
    fault,
    read,
    sent_inputs,
    unwanted,
)
from grader.sandbox.worker import protocol
from grader.sandbox.worker.protocol import Loaded, Measured, Outcome, Passed, Said
from grader.sandbox.worker.wire import Array, WireError, fields, plain

Names = Sequence[str]
Q = TypeVar("Q")
R = TypeVar("R")

# A call of a submission is ended sooner where those of the reference take little: after the least
# seconds, or so many times what the slowest of them took.  Of right ones in plain loops the slowest
# took 0.5.
LEAST_SECONDS, TIMES_SLOWEST = 1.5, 250
ROOM = 1 << 20  # bytes that a reply may hold beyond a multiple of what was sent
MOST_CALLS = 10_000  # of one run of a test; the driver says what more than a few hundred cost
MOST_REPLY = 8 << 20  # bytes that a call of what it tests may give


@dataclass(slots=True)
class RemoteProgram:
    """Source texts executed in a worker under a name of their own."""

    worker: WorkerClient
    name: str
    sources: Sequence[bytes]
    support: Support = field(default_factory=Support)
    filename: str = "submission.py"
    call_seconds: float = field(default_factory=lambda: CALL_SECONDS)
    limits: Limits | None = None  # of what it is asked until this is changed
    slowest: Callable[[], float] | None = None  # CPU seconds that a call of the reference took
    untrusted: bool = False  # whether it may say where in its file it was when its time was over
    keep: bool = False  # grade what was defined before the file raised
    alone: bool = False  # whether it has to be asked for one thing at a time
    # Gives the reference, which carries out the steps of judge; by default the own worker does.
    judging: Callable[[], RemoteProgram] | None = None
    before: bytes = b""  # a text whose code it may still have
    code: Names = ()  # what that code defines
    loads: protocol.Load | None = None  # as it was loaded
    loaded: Loaded | None = field(default=None, init=False)

    def load(self, functions: Names, driven: Names = ()) -> Loaded:
        """Execute the sources and see which of the wanted functions they and the driver define.

        As everything that is asked, it raises ProgramError, here for a syntax error too, or
        WorkerError, where the process did not survive it.
        """
        if self.untrusted:
            self.worker.file = self.filename, self.sources[-1]
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
            cells=cells.first_lines(self.sources[-1]),
            skip=cells.is_skipping(self.sources[-1]),
            keep=self.keep,
            stand_ins=self.untrusted,
            before=_bytes(self.before) if self.before else None,
            code=tuple(self.code),
        )
        self.loads = request
        self.loaded = self._ask(request, Loaded)
        return self.loaded

    def renew(self) -> None:
        """Load it in a new process, in place of the one that it has ended."""
        self.worker.restart()
        try:
            self._ask(self.loads, Loaded)
        except ProgramError:
            _end(self.worker, Died("can be loaded once only"))
        except WorkerError:
            pass  # said by all that it is asked from now on

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Run the steps and return the wanted results."""
        return self.interleave(steps, [inputs], want).runs[0]

    def interleave(self, steps: Steps, inputs: Sequence[Inputs], want: Names) -> protocol.Outcomes:
        """Run the steps on several inputs in lockstep."""
        own, judged, asked = self.shared_out(steps, want)
        sent = tuple(map(sent_inputs, inputs))
        request = protocol.Run(self.name, encoded_steps(own), sent, asked)
        found = self._ask(request, protocol.Outcomes, own, inputs)
        if len(found.runs) != len(inputs):
            raise Garbled("broke the protocol: not a reply to run (runs)")
        if not judged:
            return found
        runs = (self.judge(judged, i, o, want) for i, o in zip(inputs, found.runs, strict=True))
        return found._replace(runs=tuple(runs))

    def several(
        self,
        steps: Steps,
        inputs: Sequence[Inputs],
        want: Names,
        also: Sequence[RemoteProgram] = (),
        *,
        seconds: float | None = None,
    ) -> list[Outcome | ProgramError]:
        """Run the steps on one set of inputs after another, in one request.

        Programs of the same worker may run them `also`, one after another; where that takes long,
        the last answers are missing.  The seconds of CPU time, or those that one call may take,
        are for all of them together.
        """
        own, judged, asked = self.shared_out(steps, want)
        programs = (self.name, *(program.name for program in also))
        sent = tuple(map(sent_inputs, inputs))
        request = protocol.Several(programs, encoded_steps(own), sent, asked)
        count = len(inputs) * len(programs)
        # Each may be as large as if it were alone.
        room = (count - 1) * ROOM // 8 + len(also) * sum(map(array_bytes, inputs))
        found = self._ask(request, protocol.Answers, own, inputs, room=room, seconds=seconds)
        if not 0 < len(found.runs) <= count:
            raise Garbled("broke the protocol: not a reply to several (runs)")
        answers: list[Outcome | ProgramError] = []
        for given, one in zip(itertools.cycle(inputs), found.runs, strict=False):
            answer_ = fault(one, own) if isinstance(one, protocol.Fault) else one
            if not isinstance(answer_, (Outcome, ProgramError)):
                raise answer_
            if judged and isinstance(answer_, Outcome):
                try:
                    answer_ = self.judge(judged, given, answer_, want)
                except ProgramError as error:
                    answer_ = error
            answers.append(answer_)
        return answers

    def shared_out(
        self, steps: Steps, want: Names
    ) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[str, ...]]:
        """Split steps: its own, those for another process to judge, and results to ask it for.

        The last are results that are wanted, and those that the judge reads.
        """
        judged = tuple(s for s in steps if s.owner == "judge" and self.judging is not None)
        if not judged:
            return tuple(steps), (), tuple(want)
        own = tuple(step for step in steps if step.owner != "judge")
        made = {name for step in own for name in step.targets}
        read_ = (name for step in judged for name in step.reads)
        return own, judged, tuple(n for n in dict.fromkeys([*want, *read_]) if n in made)

    def judge(
        self, steps: Sequence[Step], inputs: Inputs, outcome: Outcome, want: Names
    ) -> Outcome:
        """Carry out steps on plain results, where the program cannot reach them.

        Raises:
            ProgramError: the results are not what the steps can read.
            Overran: the process that carries them out did not survive the results.
        """
        names = {name for step in steps for name in step.reads}
        made = {name: {"value": plain(value)} for name, value in outcome.values.items()}
        given = {name: value for name, value in {**inputs, **made}.items() if name in names}
        targets = {name for step in steps for name in step.targets}
        assert self.judging is not None
        try:
            found = self.judging().run(steps, given, [name for name in want if name in targets])
        except WorkerError as failure:
            raise Overran(f"returned results on which the driver {failure}") from None
        values = {**outcome.values, **found.values}
        return outcome._replace(values={name: values[name] for name in want})

    def timed(self, steps: Steps, inputs: Inputs, want: Names) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        request = self._about(protocol.Timed, steps, inputs, want=tuple(want))
        outcome = self._ask(request, Outcome, steps, [inputs])
        return outcome, round(1e9 * self.worker.took) or outcome.spent

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
        about = {"want": tuple(wrt), "of": of, "cotangent": cotangent, "kinks": kinks}
        request = self._about(protocol.Differentiate, steps, inputs, **about)
        return self._ask(request, protocol.Gradients, steps, [inputs], seconds=60).gradients

    def measure(
        self, quantity: str, steps: Steps, inputs: Inputs, *, without: Names = (), of: str = ""
    ) -> Measured:
        """Measure an autograd graph, see `worker.measure.autograd`, or memory, see `kept` there."""
        steps = [step for step in steps if step.owner != "judge"]
        about = {"quantity": quantity, "of": of, "without": tuple(without)}
        request = self._about(protocol.Measure, steps, inputs, **about)
        found = self._ask(request, Measured, steps, [inputs], seconds=60)
        if type(found.value) is not (str if quantity == "graph" else int):
            raise Garbled("broke the protocol: not a reply to measure (value)")
        return found

    def mutants(
        self, source: bytes | None = None, numbers: Collection[float] = ()
    ) -> tuple[Mutant, ...]:
        """Small changes of a text, derived in its worker; see `worker.mutate`.

        Args:
            source: the text; the program's if not given.
            numbers: where there are any, only bounds that are one of them are moved.
        """
        plain = _bytes(normalized(self.sources[0] if source is None else source))
        request = protocol.Mutants(plain, np.array(sorted(numbers), np.float64))
        found = self._ask(request, protocol.Derived, seconds=60, room=ROOM)
        return tuple(Mutant(*one) for one in json.loads(found.mutants.tobytes()))

    def _about(self, kind: Callable[..., Q], steps: Steps, inputs: Inputs, **about: Any) -> Q:  # noqa: ANN401 further fields of the request
        """A request to have steps carried out on one set of inputs."""
        sent = {"steps": encoded_steps(tuple(steps)), "inputs": sent_inputs(inputs)}
        return kind(program=self.name, **sent, **about)

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
        operation = type(request).__name__.lower()
        reply = self.worker.ask(
            {"op": operation, **fields(request)},
            self._limits(seconds),
            reply_bytes=ROOM + 8 * (room + sum(map(array_bytes, inputs))),
        )
        with self.worker.waiting():
            found = answer(kind, reply, operation, steps)
            made = sum(len(step.targets) for step in steps) + 1
            pairs = made * (max(map(len, inputs), default=0) + 1)
            if wrong := unwanted(found, getattr(request, "want", ()), pairs):
                raise Garbled(f"broke the protocol: not a reply to {operation} ({wrong})")
            if seconds is None and self.limits is None:  # else it was more than a call
                took = self.worker.took
                if isinstance(found, protocol.Answers):
                    took = found.longest / 1e9
                self.worker.slowest = max(self.worker.slowest, took)
            return found

    def _limits(self, seconds: float | None = None) -> Limits:
        usual = self.call_seconds if seconds is None else seconds
        if self.limits is not None:
            return self.limits.of_longer(usual)
        if seconds is None and self.slowest is not None:
            usual = min(usual, max(LEAST_SECONDS, TIMES_SLOWEST * self.slowest()))
        return Limits(usual)


@dataclass(slots=True, kw_only=True)
class TesterProgram(RemoteProgram):
    """A submission that is a test: it runs in one process, and what it tests in another.

    The driver makes what is tested, in the worker of the reference, and calls the submission; the
    submission is handed functions that call back.  The judge hands on what each says to the other.
    Nothing of what is tested is ever in the submission's process, and what a call was given is
    counted where no submission can reach.
    """

    keeper: Callable[[], RemoteProgram]  # the reference, loaded, with its driver
    # What came of each run so far: asked again, a test could know which one it is.
    known: dict[object, tuple[Inputs, Outcome | ProgramError]] = field(default_factory=dict)

    alone: bool = True

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Have the driver run the steps and call the submission, once on the same inputs."""
        key = (*steps, *(id(inputs[name]) for name in sorted(inputs)))
        if key not in self.known:
            every = [name for step in steps for name in step.targets]
            try:
                self.known[key] = inputs, self._run(steps, inputs, every)
            except ProgramError as error:
                self.known[key] = inputs, error
        found = self.known[key][1]
        if isinstance(found, ProgramError):
            raise found
        return Outcome({name: found.values[name] for name in want})

    def _run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        keeper, sent = self.keeper(), (sent_inputs(inputs),)
        request = protocol.Run(
            keeper.name, encoded_steps(tuple(steps)), sent, tuple(want), apart=True
        )
        found = keeper.worker.ask({"op": "run", **fields(request)}, reply_bytes=MOST_REPLY)
        while "said" in found:
            try:
                said = self._tested(read(Said, found["said"], "run"), keeper.worker)
                found = keeper.worker.ask({"said": said}, reply_bytes=MOST_REPLY)
            except BaseException as error:
                self._unwind(keeper.worker)
                if isinstance(error, ProgramError):
                    raise
                if isinstance(error, WireError):
                    error = Garbled(f"broke the protocol: not what a test may say ({error})")
                _end(self.worker, error)
                raise error from None
        return answer(protocol.Outcomes, found, "run", steps).runs[0]

    def _tested(self, asked: Said, keeper: WorkerClient) -> Said:
        """Have the submission called; what it returns."""
        request = {"op": "call", **fields(protocol.Call(self.name, asked))}
        limits: Limits | None = self._limits()
        for calls in range(MOST_CALLS):
            try:
                reply = self.worker.ask(request, limits, reply_bytes=2 * ROOM)
            except TooSlow as failure:
                if not calls:
                    raise
                text = f"called what it tests {quantity(calls, 'time')} and {failure}"
                self.worker.failure = TooSlow(text)
                raise self.worker.failure from None
            with self.worker.waiting():  # for the submission, whoever is asked meanwhile
                if "said" not in reply:
                    said = answer(Said, reply, "call", ())
                    if said.about != "gives" or len(said.given) != 1:
                        raise Garbled("broke the protocol: not a reply to call (given)")
                    return Said("gives", given=(Passed(said.given[0].value),))
                said = read(Said, reply["said"], "call")
                if said.about != "call":
                    raise Garbled("broke the protocol: not a call of what it tests")
                try:
                    found = keeper.ask({"said": said}, reply_bytes=MOST_REPLY)
                except WorkerError as failure:
                    why = f"calls what it tests with arguments on which that {failure}"
                    raise Overran(why) from None
                request = {"said": read(Said, found.get("said"), "call")}
                limits = None
        raise Overran(f"called what it tests more than {MOST_CALLS:,} times")

    def _unwind(self, keeper: WorkerClient) -> None:
        """End the run of a driver whose call of the submission failed."""
        with contextlib.suppress(WorkerError, OutOfTime):
            if "said" not in keeper.ask({"said": Said("over")}, reply_bytes=MOST_REPLY):
                return
        _end(keeper)


def _end(worker: WorkerClient, why: BaseException | None = None) -> None:
    """End a worker that is left in a call."""
    left = why if isinstance(why, WorkerError) else Died("was left in a call")
    worker.failure = worker.failure or left
    worker.close()


def _bytes(source: bytes) -> Array:
    return np.frombuffer(source, np.uint8)
