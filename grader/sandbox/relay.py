"""A submission that is a test: it runs in one process, and what it tests in another.

The driver makes what is tested, in the worker of the reference, and calls the submission; the
submission is handed functions that call back.  The judge hands on what each says to the other.
Nothing of what is tested is ever in the submission's process, and what a call was given is counted
where no submission can reach.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.sandbox.client import (
    CALL_SECONDS,
    KEEP_OUTPUT,
    MOST_SLACK,
    Died,
    Garbled,
    Limits,
    Overran,
    TooSlow,
    WorkerClient,
    WorkerError,
    decoded,
)  # fmt: skip
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.remote import ROOM, CallLimits, Names, RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError, answer, read
from grader.sandbox.sending import Inputs, Steps, encoded_steps, sent_inputs
from grader.sandbox.worker.protocol import Call, Outcomes, Passed, Run, Said
from grader.sandbox.worker.wire import HEADER, WireError, encode, fields

MOST_CALLS = 10_000  # of one run; the driver says what more than a few hundred cost
MOST_REPLY = 8 << 20  # bytes that a call may give
_CALL, _GIVES = (b'{"ok":true,"said":{"about":"%s"' % word for word in (b"call", b"gives"))
MOST_WALL = CALL_SECONDS + MOST_SLACK  # seconds that it may take by the clock


def nobody() -> Any:  # noqa: ANN401 never
    """Stand in for what is given."""
    raise NotImplementedError


@dataclass(slots=True)
class SoFar:
    """What has become of a program."""

    used: bool = False  # whether it has run in the worker in which it was loaded
    ahead: list[WorkerClient] = field(default_factory=list)  # started while others run
    known: dict[object, tuple[Inputs, Outcome]] = field(default_factory=dict)
    late: WorkerError | None = None  # what stopped a run: others would take as long


@dataclass(slots=True)
class TesterProgram(RemoteProgram):
    """A submission that a driver calls from another process, in a new process for every run."""

    keeper: Callable[[], RemoteProgram] = nobody  # the reference, loaded, with its driver
    start: Callable[[], WorkerClient] = nobody  # a worker in which nothing has run
    functions: Names = ()  # that it is to define
    so_far: SoFar = field(default_factory=SoFar)  # the same of all copies

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Have the driver run the steps and call the submission, once on the same inputs."""
        key = (*steps, *(id(inputs[name]) for name in sorted(inputs)))
        if key not in self.so_far.known:
            if self.so_far.late is not None:
                raise self.so_far.late
            every = [name for step in steps for name in step.targets]
            try:
                self.so_far.known[key] = inputs, self._run(steps, inputs, every)
            except (Overran, Garbled) as stopped:
                self.so_far.late = stopped
                raise
        values = self.so_far.known[key][1].values
        return Outcome({name: values[name] for name in want})

    def _run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        with self._anew() as tester:
            return _Relay(tester, self).run(steps, inputs, want)

    def several(
        self,
        steps: Steps,
        inputs: Sequence[Inputs],
        want: Names,
        also: Sequence[RemoteProgram] = (),  # noqa: ARG002 of other questions
    ) -> list[Outcome | ProgramError]:
        """The same on one set of inputs after another, in one process: no verdict depends on it."""
        found: list[Outcome | ProgramError] = []
        with self._anew() as tester:
            for one in inputs:
                try:
                    found.append(_Relay(tester, self).run(steps, one, want))
                except ProgramError as error:
                    found.append(error)
        return found

    @contextlib.contextmanager
    def _anew(self) -> Iterator[RemoteProgram]:
        """The program, loaded where it has not run; that process ends with it."""
        so_far, tester = self.so_far, self
        if so_far.used:
            worker = so_far.ahead.pop() if so_far.ahead else self.start()
            worker.deadline = self.worker.deadline
            tester = replace(self, worker=worker)
        if not so_far.ahead:
            so_far.ahead.append(self.start())
        try:
            if so_far.used:
                tester.load(self.functions)
            so_far.used = True
            yield tester
        finally:
            if tester is not self:
                self.worker.printed = (self.worker.printed + tester.worker.printed)[-KEEP_OUTPUT:]
                tester.worker.close()


class _Relay:
    def __init__(self, tester: RemoteProgram, program: TesterProgram) -> None:
        self.tester, self.program = tester, program
        self.keeper, self.driver = program.keeper().worker, program.keeper().name
        self.limits = (program.limits or CallLimits(None, None, "")).of(program.call_seconds)
        self.began, self.calls = time.monotonic(), 0
        self.spent_before = tester.worker.cpu_nanoseconds() or 0

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Have the driver run the steps, and hand on what is said until it is done."""
        sent = (sent_inputs(inputs),)
        request = Run(self.driver, encoded_steps(tuple(steps)), sent, tuple(want), apart=True)
        found = self._driven({"op": "run", **fields(request)})
        while "said" in found:
            asked = read(Said, found["said"], "run")
            found = self._driven(fields(self._tested(asked)), within=True)
        return answer(Outcomes, found, "run", steps).runs[0]

    def _tested(self, asked: Said) -> Said:
        """Have the submission called; what it returns.

        Raises:
            ProgramError, WorkerError: it does not; the driver has ended its run then.
        """
        try:
            with self.program.worker.waiting():  # for the submission, whoever is asked meanwhile
                return self._answer(asked)
        except WireError as error:
            self._unwind()
            raise Garbled(f"broke the protocol: not what a test may say ({error})") from None
        except BaseException:
            self._unwind()
            raise

    def _answer(self, asked: Said) -> Said:
        request = {"op": "call", **fields(Call(self.tester.name, asked))}
        frame = self._asked(b"".join(encode(request)), within=False)
        while frame.startswith(_CALL, HEADER.size):
            self.calls += 1
            if self.calls > MOST_CALLS:
                raise Overran(f"called what it tests more than {MOST_CALLS:,} times")
            frame = self._asked(self._called(frame), within=True)
        said = answer(Said, decoded(frame), "call", ())
        if said.about != "gives" or len(said.given) != 1:
            raise Garbled("broke the protocol: not a reply to call (given)")
        gives = Said("gives", given=(Passed(said.given[0].value),))
        encode(gives)  # it may be longer than it came
        return gives

    def _called(self, frame: bytes) -> bytes:
        try:
            found = self.keeper.forward(
                frame, Limits(CALL_SECONDS, MOST_WALL), reply_bytes=MOST_REPLY, within=True
            )
        except WorkerError as failure:
            raise Overran(f"calls what it tests with arguments on which that {failure}") from None
        if not found.startswith(_GIVES, HEADER.size):
            raise Garbled("broke the protocol: not a call of what it tests")
        return found

    def _unwind(self) -> None:
        """End the run of a driver whose call of the submission comes to nothing."""
        with contextlib.suppress(WorkerError, OutOfTime):
            if "said" not in self._driven(fields(Said("over")), within=True):
                return
        # Another one is started.
        self.keeper.failure = self.keeper.failure or Died("was left in a call")
        self.keeper.close()

    def _driven(self, request: dict[str, Any], *, within: bool = False) -> dict[str, Any]:
        return self.keeper.ask(request, reply_bytes=MOST_REPLY, within=within)

    def _asked(self, frame: bytes, *, within: bool) -> bytes:
        """What the side of the submission answers, in the time that is left of its run."""
        worker = self.tester.worker
        spent = ((worker.cpu_nanoseconds() or 0) - self.spent_before) / 1e9
        assert self.limits.wall is not None
        wall = self.began + self.limits.wall - time.monotonic()
        left = Limits(max(0.0, self.limits.seconds - spent), max(0.0, wall))
        try:
            return worker.forward(frame, left, reply_bytes=2 * ROOM, within=within)
        except TooSlow:
            place = f", stopped in {worker.stopped_at}" if worker.stopped_at else ""
            by = f" ({self.limits.set_by})" if self.limits.set_by else ""
            sentence = f"did not finish within {self.limits.seconds:.3g} seconds{by}{place}"
            raise TooSlow(sentence) from None
