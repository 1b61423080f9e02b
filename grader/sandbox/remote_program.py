"""A program as checks use it: its functions run in a worker, and results are plain data."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
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
from grader.model.number_format import format_count
from grader.model.question import Support
from grader.model.steps import Step
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
R = TypeVar("R")


@dataclass(slots=True)
class RemoteProgram:
    """A program in a worker, such as a submission or the reference; steps call its functions."""

    worker: WorkerClient
    name: str  # in requests; a worker holds one program per name
    sources: Sequence[bytes]  # executed in order in one module, see `worker.steps`
    support: Support = field(default_factory=Support)
    filename: str = "submission.py"  # in tracebacks
    call_seconds: float = field(default_factory=lambda: CALL_SECONDS)  # CPU time of a call
    limits: RequestLimits | None = None  # replaces the default limits of all requests if set
    slowest_call: Callable[[], float] | None = None  # of the reference, in CPU seconds
    # True for a submission: missing modules get stand-ins, and a timeout shows its current line.
    untrusted: bool = False
    keeps_partial_load: bool = False  # True to keep what was defined before an exception
    is_asked_alone: bool = False  # True if callers must not use `run_several`
    # Returns the reference, whose worker runs steps with owner `judge`; None: this worker does.
    judge_program: Callable[[], RemoteProgram] | None = None
    before: bytes = b""  # an earlier version; `Loaded.same` tells if the code is the same
    code: NameSequence = ()  # names that the earlier version defines
    load_request: protocol.Load | None = None  # of the last load
    loaded: Loaded | None = field(default=None, init=False)

    def load(self, functions: NameSequence, driven: NameSequence = ()) -> Loaded:
        """Execute the sources, and report which functions they and the driver define.

        The report names the `functions` that the program lacks and the `driven` that the driver
        lacks.  Like every request, it raises ProgramError if the program fails (here also for a
        syntax error), and WorkerError if the process did not survive.
        """
        if self.untrusted:
            self.worker.program_file = self.filename, self.sources[-1]
        support = self.support
        request = protocol.Load(
            self.name,
            sources=tuple(_to_array(source) for source in self.sources),
            driver=None if support.driver is None else _to_array(support.driver),
            filename=self.filename,
            functions=tuple(functions),
            driver_file=support.driver_file,
            driven=tuple(driven),
            modules=tuple(
                protocol.File(name, _to_array(content)) for name, content in support.modules.items()
            ),
            cells=notebook_cells.cell_starts(self.sources[-1]),
            skip=notebook_cells.is_skipping(self.sources[-1]),
            keep=self.keeps_partial_load,
            stand_ins=self.untrusted,
            before=_to_array(self.before) if self.before else None,
            code=tuple(self.code),
        )
        self.load_request = request
        self.loaded = self._ask(request, Loaded)
        return self.loaded

    def reload_in_new_process(self) -> None:
        """Load the program again in a new process, because its process has ended.

        If the program or the process fails here, nothing is raised, but later requests raise
        WorkerError.
        """
        self.worker.restart()
        try:
            self._ask(self.load_request, Loaded)
        except ProgramError:
            _end_worker(self.worker, WorkerDied("can be loaded once only"))
        except WorkerError:
            pass  # all later requests raise it again

    def run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        """Run the steps on inputs; the outcome has the results named in `want`."""
        return self.interleave(steps, [inputs], want).runs[0]

    def interleave(
        self, steps: Steps, inputs: Sequence[Inputs], want: NameSequence
    ) -> protocol.Outcomes:
        """Run each step on every set of inputs before the next step, like callers that take turns.

        There is one outcome for each set, with the results named in `want`.
        """
        own_steps, judge_steps, needed = self.split_steps(steps, want)
        request = protocol.Run(
            self.name, encode_steps(own_steps), tuple(map(encode_inputs, inputs)), needed
        )
        outcomes = self._ask(request, protocol.Outcomes, own_steps, inputs)
        if len(outcomes.runs) != len(inputs):
            raise ProtocolViolation("broke the protocol: not a reply to run (runs)")
        runs = tuple(
            self.run_judge_steps(judge_steps, run_inputs, outcome, want)
            for run_inputs, outcome in zip(inputs, outcomes.runs, strict=True)
        )
        return outcomes._replace(runs=runs)

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

        Args:
            steps: The steps.
            inputs: A set of inputs for each run.
            want: Results to return.
            also: Programs in the same worker that run the steps as well, one after another.
            seconds: Limit of CPU time for all runs together; None for the limit of one call.

        Returns:
            The outcomes, program by program.  If the runs take long, the last ones are missing.
        """
        own_steps, judge_steps, needed = self.split_steps(steps, want)
        names = (self.name, *(program.name for program in also))
        request = protocol.Several(
            names, encode_steps(own_steps), tuple(map(encode_inputs, inputs)), needed
        )
        max_runs = len(inputs) * len(names)
        # The reply to each run may be as large as if it were the only one.
        room = (max_runs - 1) * SPARE_REPLY_BYTES // REPLY_SIZE_FACTOR
        room += len(also) * sum(map(array_bytes, inputs))
        reply = self._ask(request, protocol.Answers, own_steps, inputs, room=room, seconds=seconds)
        if not 0 < len(reply.runs) <= max_runs:
            raise ProtocolViolation("broke the protocol: not a reply to several (runs)")
        outcomes: list[Outcome | ProgramError] = []
        for run_inputs, run in zip(itertools.cycle(inputs), reply.runs, strict=False):
            try:
                if isinstance(run, protocol.WorkerFault):
                    raise exception_of_fault(run, own_steps)
                outcomes.append(self.run_judge_steps(judge_steps, run_inputs, run, want))
            except ProgramError as error:
                outcomes.append(error)
        return outcomes

    def split_steps(
        self, steps: Steps, want: NameSequence
    ) -> tuple[tuple[Step, ...], tuple[Step, ...], tuple[str, ...]]:
        """Split steps into those for this worker and those for `judge_program`.

        If there is a `judge_program`, it gets the steps with owner `judge`; this worker gets all
        others.  The third value lists the results to request from this worker: the wanted ones and
        the ones that the judge's steps read.
        """
        judge_steps = tuple(step for step in steps if step.owner == "judge")
        if self.judge_program is None or not judge_steps:
            return tuple(steps), (), tuple(want)
        own_steps = tuple(step for step in steps if step.owner != "judge")
        own_results = {name for step in own_steps for name in step.targets}
        names_read = [name for step in judge_steps for name in step.names_read]
        needed = [name for name in dict.fromkeys([*want, *names_read]) if name in own_results]
        return own_steps, judge_steps, tuple(needed)

    def run_judge_steps(
        self, steps: Sequence[Step], inputs: Inputs, outcome: Outcome, want: NameSequence
    ) -> Outcome:
        """Carry out steps with owner `judge` in the reference's process, on results as plain data.

        Returns:
            The outcome with the values in `want`: results of the program and of these steps.
            Without steps, or without `judge_program`, the outcome stays as it is.

        Raises:
            ProgramError: The steps cannot read the results.
            LimitExceeded: The process that carries out the steps did not survive the results.
        """
        if self.judge_program is None or not steps:
            return outcome
        available = dict(inputs)
        for name, value in outcome.values.items():
            available[name] = {"value": without_tensors(value)}
        names_read = {name for step in steps for name in step.names_read}
        step_inputs = {name: available[name] for name in available if name in names_read}
        targets = {name for step in steps for name in step.targets}
        wanted_targets = [name for name in want if name in targets]
        try:
            judged = self.judge_program().run(steps, step_inputs, wanted_targets)
        except WorkerError as failure:
            raise LimitExceeded(f"returned results on which the driver {failure}") from None
        values = {**outcome.values, **judged.values}
        return outcome._replace(values={name: values[name] for name in want})

    def run_timed(self, steps: Steps, inputs: Inputs, want: NameSequence) -> tuple[Outcome, int]:
        """Run the steps once and return their results and the worker's CPU time, in nanoseconds."""
        request = protocol.Timed(
            self.name, encode_steps(tuple(steps)), encode_inputs(inputs), tuple(want)
        )
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
        """Differentiate the result `of` with respect to the inputs `wrt`, numerically.

        The other arguments and the reply are as in `worker.measure.differences`.
        """
        request = protocol.Differentiate(
            self.name,
            encode_steps(tuple(steps)),
            encode_inputs(inputs),
            want=tuple(wrt),
            of=of,
            cotangent=cotangent,
            kinks=kinks,
        )
        reply = self._ask(request, protocol.Gradients, steps, [inputs], seconds=MEASURE_SECONDS)
        return reply.gradients

    def measure(
        self,
        quantity: str,
        steps: Steps,
        inputs: Inputs,
        *,
        without: NameSequence = (),
        of: str = "",
    ) -> Measured:
        """Measure a quantity of a run, such as "flops" or "state", without steps of the judge.

        `quantity`, `without` and `of` are as in `protocol.Measure`.
        """
        steps = tuple(step for step in steps if step.owner != "judge")
        request = protocol.Measure(
            self.name,
            encode_steps(steps),
            encode_inputs(inputs),
            quantity,
            of,
            without=tuple(without),
        )
        measured = self._ask(request, Measured, steps, [inputs], seconds=MEASURE_SECONDS)
        if type(measured.value) is not (str if quantity == "graph" else int):
            raise ProtocolViolation("broke the protocol: not a reply to measure (value)")
        return measured

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
        """Send a request about steps on inputs, and return the reply, a message of class `kind`.

        `seconds` limits the CPU time; None stands for the limit of a call.  The arrays of the reply
        may take SPARE_REPLY_BYTES, plus REPLY_SIZE_FACTOR times the sum of `room` and the bytes of
        the inputs.  A call with default limits updates the worker's `slowest_cpu_seconds`.
        """
        operation = type(request).__name__.lower()
        reply = self.worker.ask(
            {"op": operation, **message_fields(request)},
            self._request_limits(seconds),
            reply_bytes=SPARE_REPLY_BYTES
            + REPLY_SIZE_FACTOR * (room + sum(map(array_bytes, inputs))),
        )
        with self.worker.count_as_waiting():
            message = parse_reply(kind, reply, operation, steps)
            results = sum(len(step.targets) for step in steps)
            max_pairs = (results + 1) * (max(map(len, inputs), default=0) + 1)
            field_name = unrequested_field(message, getattr(request, "want", ()), max_pairs)
            if field_name:
                raise ProtocolViolation(
                    f"broke the protocol: not a reply to {operation} ({field_name})"
                )
            if seconds is None and self.limits is None:
                spent = self.worker.last_cpu_seconds
                if isinstance(message, protocol.Answers):
                    spent = message.longest / 1e9
                self.worker.slowest_cpu_seconds = max(self.worker.slowest_cpu_seconds, spent)
            return message

    def _request_limits(self, seconds: float | None = None) -> RequestLimits:
        """Return the limits of a request with `seconds` of CPU time; None stands for a call.

        A call has `call_seconds`, or less if the reference is fast.  If `self.limits` is set, it
        replaces these limits, scaled up for requests that are longer than a call.
        """
        usual = self.call_seconds if seconds is None else seconds
        if self.limits is not None:
            return self.limits.scaled_for(usual)
        if seconds is None and self.slowest_call is not None:
            by_reference = SLOWEST_CALL_FACTOR * self.slowest_call()
            usual = min(usual, max(MIN_CALL_SECONDS, by_reference))
        return RequestLimits(usual)


@dataclass(slots=True, kw_only=True)
class TesterProgram(RemoteProgram):
    """A submission that is a test: it runs in one process, and the code that it tests in another.

    The driver, in the reference's worker, creates the tested code and calls the submission.  The
    submission gets functions that call the tested code there.  The judge passes the messages
    between the two.  So the submission's process never contains the tested code, and calls are
    counted where no submission can change the count.
    """

    reference_program: Callable[[], RemoteProgram]  # the reference, loaded, with its driver
    # Outcome of each run.  No run is repeated, because a test could tell the second run from the
    # first.  The inputs are kept alive, because the key has their ids, which Python would reuse.
    known_outcomes: dict[object, tuple[Inputs, Outcome | ProgramError]] = field(
        default_factory=dict
    )

    is_asked_alone: bool = True

    def run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        """Have the driver run the steps and call the submission.

        If the same steps ran on the same input objects before, return or raise that outcome again.
        """
        key = (*steps, *(id(inputs[name]) for name in sorted(inputs)))
        if key not in self.known_outcomes:
            all_results = [name for step in steps for name in step.targets]
            try:
                self.known_outcomes[key] = inputs, self._run(steps, inputs, all_results)
            except ProgramError as error:
                self.known_outcomes[key] = inputs, error
        _, outcome = self.known_outcomes[key]
        if isinstance(outcome, ProgramError):
            raise outcome
        return Outcome({name: outcome.values[name] for name in want})

    def _run(self, steps: Steps, inputs: Inputs, want: NameSequence) -> Outcome:
        reference = self.reference_program()
        request = protocol.Run(
            reference.name,
            encode_steps(tuple(steps)),
            (encode_inputs(inputs),),
            tuple(want),
            apart=True,
        )
        reply = reference.worker.ask(
            {"op": "run", **message_fields(request)}, reply_bytes=MAX_TESTED_REPLY_BYTES
        )
        while "said" in reply:
            try:
                call = parse_message(PeerMessage, reply["said"], "run")
                result = self._call_submission(call, reference.worker)
                reply = reference.worker.ask({"said": result}, reply_bytes=MAX_TESTED_REPLY_BYTES)
            except BaseException as error:
                self._end_run(reference.worker)
                if isinstance(error, ProgramError):
                    raise
                if isinstance(error, WireError):
                    error = ProtocolViolation(
                        f"broke the protocol: not what a test may say ({error})"
                    )
                _end_worker(self.worker, error)
                raise error from None
        return parse_reply(protocol.Outcomes, reply, "run", steps).runs[0]

    def _call_submission(self, call: PeerMessage, reference: WorkerClient) -> PeerMessage:
        """Pass a call of the driver to the submission, and return the submission's result.

        Meanwhile the submission's calls of the tested code are passed back to the driver's process.
        """
        message = {"op": "call", **message_fields(protocol.Call(self.name, call))}
        limits: RequestLimits | None = self._request_limits()
        for calls in range(MAX_TESTED_CALLS):
            try:
                reply = self.worker.ask(message, limits, reply_bytes=2 * SPARE_REPLY_BYTES)
            except CallTimeout as failure:
                if calls == 0:
                    raise
                count = format_count(calls, "time")
                self.worker.failure = CallTimeout(f"called what it tests {count} and {failure}")
                raise self.worker.failure from None
            with self.worker.count_as_waiting():  # the reference works for the submission
                if "said" not in reply:
                    return _result_of_test(parse_reply(PeerMessage, reply, "call", ()))
                result = _call_tested_code(reply, reference)
                message = {"said": result}
                limits = None
        raise LimitExceeded(f"called what it tests more than {MAX_TESTED_CALLS:,} times")

    def _end_run(self, reference: WorkerClient) -> None:
        """Tell the driver that its call of the submission failed; if it goes on, end its worker."""
        with contextlib.suppress(WorkerError, OutOfTime):
            reply = reference.ask({"said": PeerMessage("over")}, reply_bytes=MAX_TESTED_REPLY_BYTES)
            if "said" not in reply:
                return
        _end_worker(reference)


def _result_of_test(message: PeerMessage) -> PeerMessage:
    """Check the submission's result; return a new message to the driver with only its value."""
    if message.about != "gives" or len(message.given) != 1:
        raise ProtocolViolation("broke the protocol: not a reply to call (given)")
    return PeerMessage("gives", given=(PassedValue(message.given[0].value),))


def _call_tested_code(reply: Mapping[str, Any], reference: WorkerClient) -> PeerMessage:
    """Pass on a submission's call of the code that it tests, and return the result."""
    call = parse_message(PeerMessage, reply["said"], "call")
    if call.about != "call":
        raise ProtocolViolation("broke the protocol: not a call of what it tests")
    try:
        answer = reference.ask({"said": call}, reply_bytes=MAX_TESTED_REPLY_BYTES)
    except WorkerError as failure:
        reason = f"calls what it tests with arguments on which that {failure}"
        raise LimitExceeded(reason) from None
    return parse_message(PeerMessage, answer.get("said"), "call")


def _end_worker(worker: WorkerClient, reason: BaseException | None = None) -> None:
    """End a worker that has not returned from a call; its later requests raise WorkerError.

    They raise `reason` if it is a WorkerError and the worker has no earlier failure.
    """
    failure = reason if isinstance(reason, WorkerError) else WorkerDied("was left in a call")
    worker.failure = worker.failure or failure
    worker.close()


def _to_array(source: bytes) -> Array:
    return np.frombuffer(source, np.uint8)
