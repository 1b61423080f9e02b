"""A submission that is a test: it runs in one process, and what it tests in another.

The driver makes what is tested, in the worker of the reference, and calls the submission; the
submission is handed functions that call back.  Here what each says is handed on to the other, frame
by frame.  Nothing of what is tested is ever in the submission's process, and what a call was given
is counted where no submission can reach.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.sandbox.channel import Reply
from grader.sandbox.client import (
    CALL_SECONDS,
    KEEP_OUTPUT,
    MOST_SLACK,
    Died,
    Garbled,
    Overran,
    TooSlow,
    WorkerClient,
    WorkerError,
)  # fmt: skip
from grader.sandbox.deadline import OutOfTime
from grader.sandbox.remote import ROOM, CallLimits, Names, RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError, answer
from grader.sandbox.sending import Inputs, Steps, encoded_steps, sent_inputs
from grader.sandbox.worker.messages import Passed, Said, Task
from grader.sandbox.worker.typed import Malformed, read
from grader.sandbox.worker.wire import WireError, encode, fields

MOST_CALLS = 10_000  # of one run; the driver says what more than a few hundred cost
MOST_REPLY = 8 << 20  # bytes that a call may give
MOST_WALL = CALL_SECONDS + MOST_SLACK  # seconds that it may take by the clock

Frame = list[bytes | memoryview]


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
            except (TooSlow, Overran, Garbled) as stopped:
                self.so_far.late = stopped
                raise
        values = self.so_far.known[key][1].values
        return Outcome({name: values[name] for name in want})

    def _run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """The same, whatever was run before."""
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
        tester: RemoteProgram = self
        if self.so_far.used:
            worker = self.so_far.ahead.pop() if self.so_far.ahead else self.start()
            worker.deadline, worker.fresh = self.worker.deadline, 0  # it is not weighed
            tester = RemoteProgram(
                worker,
                self.name,
                self.sources,
                self.support,
                self.filename,
                untrusted=True,
                weighed=False,
            )
        if not self.so_far.ahead:
            self.so_far.ahead.append(self.start())
        self.so_far.used, tester.limits = True, self.limits
        try:
            if tester is not self:
                tester.load(self.functions)
            yield tester
        finally:
            if tester is not self:
                self.worker.printed = (self.worker.printed + tester.worker.printed)[-KEEP_OUTPUT:]
                tester.worker.close()


class _Relay:
    """One run, and how much of its time is left."""

    def __init__(self, tester: RemoteProgram, program: TesterProgram) -> None:
        limits = program.limits or CallLimits(None, None, "")
        self.tester, self.program, self.keeper = tester, program, program.keeper()
        self.cpu, self.wall = limits.of(program.call_seconds)
        self.set_by = limits.set_by
        self.began, self.calls = time.monotonic(), 0
        self.spent_before = tester.worker.cpu_nanoseconds() or 0

    def run(self, steps: Steps, inputs: Inputs, want: Names) -> Outcome:
        """Hand on what is said, until the driver is done."""
        name, sent = self.keeper.name, sent_inputs(inputs)
        task = Task(name, encoded_steps(tuple(steps)), sent, tuple(want), apart=True)
        found = self._kept({"op": "run", **fields(task)})
        while "about" in found:
            found = self._kept(fields(self._tested(_said(found))))
        return answer(Outcome, found, "run", steps)

    def _tested(self, asked: Said) -> Said:
        """Have the submission called; what it returns.

        Raises:
            ProgramError, WorkerError: it does not; the driver has ended its run then.
        """
        request = {"op": "test", "program": self.tester.name, **fields(asked)}
        try:
            with self.program.worker.waiting():  # for the submission, whoever is asked meanwhile
                return self._answer(request)
        except WireError as error:
            self._unwind()
            raise Garbled(f"broke the protocol: {error}") from None
        except BaseException:
            self._unwind()
            raise

    def _answer(self, request: dict[str, Any]) -> Said:
        """What the submission returns, small enough to be handed on."""
        found = self._asked(encode(request))
        while found.said:
            self.calls += 1
            if self.calls > MOST_CALLS:
                raise Overran(f"called what it tests more than {MOST_CALLS:,} times")
            found = self._asked(self._called(found.frame()))
        said = answer(Said, found.value(), "test", ())
        if said.about != "gives" or len(said.given) != 1:
            raise Garbled("broke the protocol: not a reply to test (given)")
        gives = Said("gives", given=(Passed(said.given[0].value),))
        encode(fields(gives))  # it may be longer than it came
        return gives

    def _unwind(self) -> None:
        """End the run of a driver whose call of the submission comes to nothing."""
        worker = self.keeper.worker
        with contextlib.suppress(WorkerError, OutOfTime):
            if "about" not in self._kept(fields(Said("over"))):
                return
        worker.failure = worker.failure or Died("was left in a call")  # another one is started
        worker.close()

    def _called(self, call: Frame) -> Frame:
        """Have something carried out that is tested."""
        try:
            found = self.keeper.worker.hand_on(call, CALL_SECONDS, MOST_WALL, MOST_REPLY)
        except WorkerError as failure:
            raise Overran(f"calls what it tests with arguments on which that {failure}") from None
        if not found.said:
            raise Garbled("broke the protocol: not a call of what it tests")
        return found.frame()

    def _kept(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the side of the driver answers."""
        return self.keeper.worker.ask(request, seconds=CALL_SECONDS, reply_bytes=MOST_REPLY)

    def _asked(self, frame: Frame) -> Reply:
        """What the side of the submission answers, in the time that is left of its run."""
        worker = self.tester.worker
        spent = ((worker.cpu_nanoseconds() or 0) - self.spent_before) / 1e9
        wall = self.began + self.wall - time.monotonic()
        try:
            return worker.hand_on(frame, max(0.0, self.cpu - spent), max(0.0, wall), 2 * ROOM)
        except TooSlow:
            place = f", stopped in {worker.stopped_at}" if worker.stopped_at else ""
            by = f" ({self.set_by})" if self.set_by else ""
            raise TooSlow(f"did not finish within {self.cpu:.3g} seconds{by}{place}") from None


def _said(found: dict[str, Any]) -> Said:
    """What a frame says."""
    try:
        return read(Said, found)
    except Malformed as error:
        raise Garbled(f"broke the protocol: not what a test may say ({error})") from None
