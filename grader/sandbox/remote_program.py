"""A program as checks see it: functions to call, and plain data for results."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from grader.model.limits import (
    CALL_SECONDS,
    MAX_TESTED_CALLS,
    MAX_TESTED_REPLY_BYTES,
    MEASURE_SECONDS,
    MIN_CALL_SECONDS,
    REPLY_SIZE_FACTOR,
    SLOWEST_CALL_FACTOR,
    SPARE_REPLY_BYTES,
)
from grader.model.mutants import Mutant, normalize_source
from grader.model.number_format import format_count
from grader.model.question import Step, Support
from grader.sandbox import OutOfTime, notebook_cells
from grader.sandbox.client import (
    CallTimeout,
    LimitExceeded,
    ProtocolViolation,
    RequestLimits,
    WorkerClient,
    WorkerDied,
    WorkerError,
)
from grader.sandbox.messages import (
    Inputs,
    ProgramError,
    Steps,
    array_bytes,
    encode_inputs,
    encode_steps,
    exception_of_fault,
    parse_message,
    parse_reply,
    unrequested_field,
)
from grader.sandbox.worker import protocol
from grader.sandbox.worker.protocol import Loaded, Measured, Outcome, PassedValue, PeerMessage
from grader.sandbox.worker.wire import Array, WireError, message_fields, without_tensors

NameSequence = Sequence[str]
Q = TypeVar("Q")
R = TypeVar("R")


@dataclass(slots=True)
class RemoteProgram:
    """Source texts executed in a worker under a name of their own."""

    worker: WorkerClient
    name: str
    sources: Sequence[bytes]
    support: Support = field(default_factory=Support)
    filename: str = "submission.py"
    call_seconds: float = field(default_factory=lambda: CALL_SECONDS)
    limits: RequestLimits | None = None  # of what it is asked until this is changed
    slowest_call: Callable[[], float] | None = None  # CPU seconds that a call of the reference took
    untrusted: bool = False  # whether it may say where in its file it was when its time was over
    keeps_partial_load: bool = False  # grade what was defined before the file raised
    is_asked_alone: bool = False  # whether it has to be asked for one thing at a time
    # Gives the reference, which carries out the steps of judge; by default the own worker does.
    judge_program: Callable[[], RemoteProgram] | None = None
    before: bytes = b""  # a text whose code it may still have
    code: NameSequence = ()  # what that code defines
    load_request: protocol.Load | None = None  # as it was loaded
    loaded: Loaded | None = field(default=None, init=False)

    def load(self, functions: NameSequence, driven: NameSequence = ()) -> Loaded:
        """Execute the sources and see which of the wanted functions they and the driver define.

        As everything that is asked, it raises ProgramError, here for a syntax error too, or
        WorkerError, where the process did not survive it.
        """
        if self.untrusted:
            self.worker.program_file = self.filename, self.sources[-1]
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
            cells=notebook_cells.cell_starts(self.sources[-1]),
            skip=notebook_cells.is_skipping(self.sources[-1]),
            keep=self.keeps_partial_load,
            stand_ins=self.untrusted,
            before=_bytes(self.before) if self.before else None,
            code=tuple(self.code),
        )
        self.load_request = request
        self.loaded = self._ask(request, Loaded)
        return self.loaded

    def reload_in_new_process(self) -> None:
        """Load it in a new process, in place of the one that it has ended."""
        self.worker.restart()
        try:
            self._ask(self.load_request, Loaded)
        except ProgramError:
            _end(self.worker, WorkerDied("can be loaded once only"))
        except WorkerError:
            pass  # said by all that it is asked from now on

    def run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        """Run the steps and return the wanted results."""
        return self.interleave(steps, [inputs], want).runs[0]

    def interleave(
        self, steps: Steps, inputs: Sequence[Inputs], want: NameSequence
    ) -> protocol.Outcomes:
        """Run the steps on several inputs in lockstep."""
        own, judged, asked = self.split_steps(steps, want)
        sent = tuple(map(encode_inputs, inputs))
        request = protocol.Run(self.name, encode_steps(own), sent, asked)
        found = self._ask(request, protocol.Outcomes, own, inputs)
        if len(found.runs) != len(inputs):
            raise ProtocolViolation("broke the protocol: not a reply to run (runs)")
        if not judged:
            return found
        runs = (
            self.run_judge_steps(judged, i, o, want)
            for i, o in zip(inputs, found.runs, strict=True)
        )
        return found._replace(runs=tuple(runs))

    def run_several(
        self,
        steps: Steps,
        inputs: Sequence[Inputs],
        want: NameSequence,
        also: Sequence[RemoteProgram] = (),
        *,
        seconds: float | None = None,
    ) -> list[Outcome | ProgramError]:
        """Run the steps on one set of inputs after another, in one request.

        Programs of the same worker may run them `also`, one after another; where that takes long,
        the last answers are missing.  The seconds of CPU time, or those that one call may take,
        are for all of them together.
        """
        own, judged, asked = self.split_steps(steps, want)
        programs = (self.name, *(program.name for program in also))
        sent = tuple(map(encode_inputs, inputs))
        request = protocol.Several(programs, encode_steps(own), sent, asked)
        count = len(inputs) * len(programs)
        # Each may be as large as if it were alone.
        room = (count - 1) * SPARE_REPLY_BYTES // REPLY_SIZE_FACTOR + len(also) * sum(
            map(array_bytes, inputs)
        )
        found = self._ask(request, protocol.Answers, own, inputs, room=room, seconds=seconds)
        if not 0 < len(found.runs) <= count:
            raise ProtocolViolation("broke the protocol: not a reply to several (runs)")
        answers: list[Outcome | ProgramError] = []
        for given, one in zip(itertools.cycle(inputs), found.runs, strict=False):
            answer_ = exception_of_fault(one, own) if isinstance(one, protocol.WorkerFault) else one
            if not isinstance(answer_, (Outcome, ProgramError)):
                raise answer_
            if judged and isinstance(answer_, Outcome):
                try:
                    answer_ = self.run_judge_steps(judged, given, answer_, want)
                except ProgramError as error:
                    answer_ = error
            answers.append(answer_)
        return answers

    def split_steps(
        self, steps: Steps, want: NameSequence
    ) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[str, ...]]:
        """Split steps: its own, those for another process to judge, and results to ask it for.

        The last are results that are wanted, and those that the judge reads.
        """
        judged = tuple(s for s in steps if s.owner == "judge" and self.judge_program is not None)
        if not judged:
            return tuple(steps), (), tuple(want)
        own = tuple(step for step in steps if step.owner != "judge")
        made = {name for step in own for name in step.targets}
        read_ = (name for step in judged for name in step.names_read)
        return own, judged, tuple(n for n in dict.fromkeys([*want, *read_]) if n in made)

    def run_judge_steps(
        self, steps: Sequence[Step], inputs: Inputs, outcome: Outcome, want: NameSequence
    ) -> Outcome:
        """Carry out steps on plain results, where the program cannot reach them.

        Raises:
            ProgramError: the results are not what the steps can read.
            Overran: the process that carries them out did not survive the results.
        """
        names = {name for step in steps for name in step.names_read}
        made = {name: {"value": without_tensors(value)} for name, value in outcome.values.items()}
        given = {name: value for name, value in {**inputs, **made}.items() if name in names}
        targets = {name for step in steps for name in step.targets}
        assert self.judge_program is not None
        try:
            found = self.judge_program().run(
                steps, given, [name for name in want if name in targets]
            )
        except WorkerError as failure:
            raise LimitExceeded(f"returned results on which the driver {failure}") from None
        values = {**outcome.values, **found.values}
        return outcome._replace(values={name: values[name] for name in want})

    def run_timed(self, steps: Steps, inputs: Inputs, want: NameSequence) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        request = self._about(protocol.Timed, steps, inputs, want=tuple(want))
        outcome = self._ask(request, Outcome, steps, [inputs])
        return outcome, round(1e9 * self.worker.last_cpu_seconds) or outcome.spent

    def numerical_gradients(
        self,
        steps: Steps,
        inputs: Inputs,
        *,
        wrt: NameSequence,
        of: str,
        cotangent: Array | None,
        kinks: bool,
    ) -> Mapping[str, Mapping[str, Array]]:
        """Differentiate a result numerically; see `worker.measure.differences.gradients`."""
        about = {"want": tuple(wrt), "of": of, "cotangent": cotangent, "kinks": kinks}
        request = self._about(protocol.Differentiate, steps, inputs, **about)
        return self._ask(
            request, protocol.Gradients, steps, [inputs], seconds=MEASURE_SECONDS
        ).gradients

    def measure(
        self,
        quantity: str,
        steps: Steps,
        inputs: Inputs,
        *,
        without: NameSequence = (),
        of: str = "",
    ) -> Measured:
        """Measure an autograd graph, see `worker.measure.autograd`, or memory, see `kept` there."""
        steps = [step for step in steps if step.owner != "judge"]
        about = {"quantity": quantity, "of": of, "without": tuple(without)}
        request = self._about(protocol.Measure, steps, inputs, **about)
        found = self._ask(request, Measured, steps, [inputs], seconds=MEASURE_SECONDS)
        if type(found.value) is not (str if quantity == "graph" else int):
            raise ProtocolViolation("broke the protocol: not a reply to measure (value)")
        return found

    def derive_mutants(
        self, source: bytes | None = None, numbers: Collection[float] = ()
    ) -> tuple[Mutant, ...]:
        """Small changes of a text, derived in its worker; see `worker.mutate`.

        Args:
            source: the text; the program's if not given.
            numbers: where there are any, only bounds that are one of them are moved.
        """
        plain = _bytes(normalize_source(self.sources[0] if source is None else source))
        request = protocol.Mutants(plain, np.array(sorted(numbers), np.float64))
        found = self._ask(
            request, protocol.DerivedMutants, seconds=MEASURE_SECONDS, room=SPARE_REPLY_BYTES
        )
        return tuple(Mutant(*one) for one in json.loads(found.mutants.tobytes()))

    def _about(self, kind: Callable[..., Q], steps: Steps, inputs: Inputs, **about: Any) -> Q:  # noqa: ANN401 further fields of the request
        """A request to have steps carried out on one set of inputs."""
        sent = {"steps": encode_steps(tuple(steps)), "inputs": encode_inputs(inputs)}
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
            {"op": operation, **message_fields(request)},
            self._limits(seconds),
            reply_bytes=SPARE_REPLY_BYTES
            + REPLY_SIZE_FACTOR * (room + sum(map(array_bytes, inputs))),
        )
        with self.worker.count_as_waiting():
            found = parse_reply(kind, reply, operation, steps)
            made = sum(len(step.targets) for step in steps) + 1
            pairs = made * (max(map(len, inputs), default=0) + 1)
            if wrong := unrequested_field(found, getattr(request, "want", ()), pairs):
                raise ProtocolViolation(f"broke the protocol: not a reply to {operation} ({wrong})")
            if seconds is None and self.limits is None:  # else it was more than a call
                took = self.worker.last_cpu_seconds
                if isinstance(found, protocol.Answers):
                    took = found.longest / 1e9
                self.worker.slowest_cpu_seconds = max(self.worker.slowest_cpu_seconds, took)
            return found

    def _limits(self, seconds: float | None = None) -> RequestLimits:
        usual = self.call_seconds if seconds is None else seconds
        if self.limits is not None:
            return self.limits.scaled_for(usual)
        if seconds is None and self.slowest_call is not None:
            usual = min(usual, max(MIN_CALL_SECONDS, SLOWEST_CALL_FACTOR * self.slowest_call()))
        return RequestLimits(usual)


@dataclass(slots=True, kw_only=True)
class TesterProgram(RemoteProgram):
    """A submission that is a test: it runs in one process, and what it tests in another.

    The driver makes what is tested, in the worker of the reference, and calls the submission; the
    submission is handed functions that call back.  The judge hands on what each says to the other.
    Nothing of what is tested is ever in the submission's process, and what a call was given is
    counted where no submission can reach.
    """

    reference_program: Callable[[], RemoteProgram]  # the reference, loaded, with its driver
    # What came of each run so far: asked again, a test could know which one it is.
    known_outcomes: dict[object, tuple[Inputs, Outcome | ProgramError]] = field(
        default_factory=dict
    )

    is_asked_alone: bool = True

    def run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        """Have the driver run the steps and call the submission, once on the same inputs."""
        key = (*steps, *(id(inputs[name]) for name in sorted(inputs)))
        if key not in self.known_outcomes:
            every = [name for step in steps for name in step.targets]
            try:
                self.known_outcomes[key] = inputs, self._run(steps, inputs, every)
            except ProgramError as error:
                self.known_outcomes[key] = inputs, error
        found = self.known_outcomes[key][1]
        if isinstance(found, ProgramError):
            raise found
        return Outcome({name: found.values[name] for name in want})

    def _run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        keeper, sent = self.reference_program(), (encode_inputs(inputs),)
        request = protocol.Run(
            keeper.name, encode_steps(tuple(steps)), sent, tuple(want), apart=True
        )
        found = keeper.worker.ask(
            {"op": "run", **message_fields(request)}, reply_bytes=MAX_TESTED_REPLY_BYTES
        )
        while "said" in found:
            try:
                said = self._tested(parse_message(PeerMessage, found["said"], "run"), keeper.worker)
                found = keeper.worker.ask({"said": said}, reply_bytes=MAX_TESTED_REPLY_BYTES)
            except BaseException as error:
                self._unwind(keeper.worker)
                if isinstance(error, ProgramError):
                    raise
                if isinstance(error, WireError):
                    error = ProtocolViolation(
                        f"broke the protocol: not what a test may say ({error})"
                    )
                _end(self.worker, error)
                raise error from None
        return parse_reply(protocol.Outcomes, found, "run", steps).runs[0]

    def _tested(self, asked: PeerMessage, keeper: WorkerClient) -> PeerMessage:
        """Have the submission called; what it returns."""
        request = {"op": "call", **message_fields(protocol.Call(self.name, asked))}
        limits: RequestLimits | None = self._limits()
        for calls in range(MAX_TESTED_CALLS):
            try:
                reply = self.worker.ask(request, limits, reply_bytes=2 * SPARE_REPLY_BYTES)
            except CallTimeout as failure:
                if not calls:
                    raise
                text = f"called what it tests {format_count(calls, 'time')} and {failure}"
                self.worker.failure = CallTimeout(text)
                raise self.worker.failure from None
            with self.worker.count_as_waiting():  # for the submission, whoever is asked meanwhile
                if "said" not in reply:
                    said = parse_reply(PeerMessage, reply, "call", ())
                    if said.about != "gives" or len(said.given) != 1:
                        raise ProtocolViolation("broke the protocol: not a reply to call (given)")
                    return PeerMessage("gives", given=(PassedValue(said.given[0].value),))
                said = parse_message(PeerMessage, reply["said"], "call")
                if said.about != "call":
                    raise ProtocolViolation("broke the protocol: not a call of what it tests")
                try:
                    found = keeper.ask({"said": said}, reply_bytes=MAX_TESTED_REPLY_BYTES)
                except WorkerError as failure:
                    why = f"calls what it tests with arguments on which that {failure}"
                    raise LimitExceeded(why) from None
                request = {"said": parse_message(PeerMessage, found.get("said"), "call")}
                limits = None
        raise LimitExceeded(f"called what it tests more than {MAX_TESTED_CALLS:,} times")

    def _unwind(self, keeper: WorkerClient) -> None:
        """End the run of a driver whose call of the submission failed."""
        with contextlib.suppress(WorkerError, OutOfTime):
            if "said" not in keeper.ask(
                {"said": PeerMessage("over")}, reply_bytes=MAX_TESTED_REPLY_BYTES
            ):
                return
        _end(keeper)


def _end(worker: WorkerClient, why: BaseException | None = None) -> None:
    """End a worker that is left in a call."""
    left = why if isinstance(why, WorkerError) else WorkerDied("was left in a call")
    worker.failure = worker.failure or left
    worker.close()


def _bytes(source: bytes) -> Array:
    return np.frombuffer(source, np.uint8)
