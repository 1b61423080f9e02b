"""Answer the judge's requests, one at a time, until it hangs up."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import itertools
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import process_time_ns
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import compiler, control, peer_calls, protocol, wire
from . import steps as stepping
from .limits import MAX_SEVERAL_SECONDS
from .measure import differences, kept_memory
from .steps import LoadedProgram, StepFault, describe_exception

TORCH = "torch" in sys.modules
if TORCH:
    from .measure import autograd  # before any program, which might replace it

Handler = Callable[[Any], NamedTuple]  # answers a request
MAX_TRACEBACK = 2000  # characters


def _measure(program: LoadedProgram, request: protocol.Measure) -> protocol.Measured:
    if request.quantity == "state":
        return kept_memory.measure_state(program, request)
    if TORCH:
        return autograd.measure_graph(program, request)
    return kept_memory.measure_allocation(program, request)


class RequestServer:
    """Answers requests about the programs that are loaded in this process."""

    def __init__(
        self, acts: Mapping[str, str], missing: Sequence[str], exchange: peer_calls.Exchange
    ) -> None:
        self.programs: dict[str, LoadedProgram] = {}
        self.load_count = 0
        self.exchange = exchange
        self.test_runner = peer_calls.CandidateTestRunner(exchange)
        self.isolation = protocol.IsolationReport(dict(acts), tuple(missing))
        handlers: dict[type[NamedTuple], Handler] = {
            protocol.ReportIsolation: lambda _: self.isolation,
            protocol.Load: self.load,
            protocol.Run: self.run,
            protocol.Several: self.several,
            protocol.Timed: self._with_program(stepping.run_timed),
            protocol.Differentiate: self._with_program(differences.differentiate_numerically),
            protocol.Measure: self._with_program(_measure),
            protocol.Call: self.call,
        }
        self.handlers = {kind.__name__.lower(): (kind, handlers[kind]) for kind in handlers}

    def answer(self, message: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request and return the reply, which also describes any exception.

        The key "op" is removed from the message.  If a program needed torch's compiler, the reply
        says only that, see `compiler`.
        """
        request: Any = None
        try:
            kind, handle = self.handlers[message.pop("op")]
            request = protocol.build_message(kind, message)
            reply = {"ok": True, "reply": handle(request)}
        except BaseException as error:  # noqa: BLE001 the judge must see every exception
            reply = {"ok": False, "fault": self._fault(request, error)}
        return {"ok": False, "compiler": True} if compiler.was_requested() else reply

    def _with_program(self, handle: Callable[[LoadedProgram, Any], NamedTuple]) -> Handler:
        """Return a handler that passes the program of a request, and the request, to `handle`."""
        return lambda request: handle(self.programs[request.program], request)

    def load(self, request: protocol.Load) -> protocol.Loaded:
        """Execute a program, in place of any with the same name, and report what it defines."""
        has_same_code = False
        if request.before is not None:
            from . import syntax  # needed only for submissions

            before = request.before.tobytes()
            source = request.sources[-1].tobytes()
            has_same_code = syntax.has_same_code(before, source, request.code)
        self.load_count += 1
        # Every module needs its own name in sys.modules.
        module = "submission" if request.program == "submission" else f"program_{self.load_count}"
        program = stepping.execute_program(module, request)
        self.programs[request.program] = program
        functions = {name: stepping.find_name(program.module, name) for name in request.functions}
        return protocol.Loaded(
            missing=tuple(name for name, value in functions.items() if value is None),
            uncallable=tuple(
                (name, wire.type_name(value))
                for name, value in functions.items()
                if value is not None and not callable(value)
            ),
            defined=stepping.defined_functions(program.module),
            stubs=tuple(name for name, value in functions.items() if stepping.is_stub(value)),
            undriven=tuple(
                name for name in request.driven if not callable(getattr(program.driver, name, None))
            ),
            driver=() if program.driver is None else stepping.defined_functions(program.driver),
            stopped=program.stopped,
            same=has_same_code,
        )

    def run(self, request: protocol.Run) -> protocol.Outcomes:
        """Run each step on every set of inputs before the next step.

        If `request.apart`, the driver's calls of the program go to the submission's process.
        """
        program = self.programs[request.program]
        if request.apart:
            program = replace(program, module=peer_calls.SubmissionProxy(self.exchange))
        return stepping.run_in_lockstep(program, request)

    def several(self, request: protocol.Several) -> protocol.Answers:
        """Run the steps on one set of inputs after another; a failure does not stop later runs.

        After MAX_SEVERAL_SECONDS of CPU time, the last runs are left out.
        """
        runs: list[protocol.Outcome | protocol.WorkerFault] = []
        longest = 0
        start = process_time_ns()
        for program, inputs in itertools.product(request.programs, request.inputs):
            run_start = process_time_ns()
            if runs and run_start - start > 1e9 * MAX_SEVERAL_SECONDS:
                break
            run_request = protocol.Run(program, request.steps, (inputs,), request.want)
            try:
                runs.append(self.run(run_request).runs[0])
            except BaseException as error:  # noqa: BLE001 the program may raise anything
                runs.append(self._fault(run_request, error))
            longest = max(longest, process_time_ns() - run_start)
        return protocol.Answers(tuple(runs), longest)

    def call(self, request: protocol.Call) -> protocol.PeerMessage:
        """Call a function of the candidate's test."""
        return self.test_runner.call_function(self.programs[request.program], request.said)

    def _fault(self, request: Any, error: BaseException) -> protocol.WorkerFault:  # noqa: ANN401 a request, or None
        """Return an exception as a fault: the program's if a step or load failed, or the worker's.

        `request` is None if even the request could not be read.
        """
        if isinstance(error, stepping.StepFailed):
            if isinstance(error.error, StepFault):
                return protocol.WorkerFault(error.step, fault=str(error.error))
            program = self.programs[request.program]
            raised = describe_exception(
                error.error, program.filename, program.support_files, program.taken
            )
            return protocol.WorkerFault(error.step, raised=raised)
        if isinstance(request, protocol.Load):
            files = stepping.support_files(request)
            return protocol.WorkerFault(raised=describe_exception(error, request.filename, files))
        lines = [
            f"{frame.f_code.co_filename}:{line} {frame.f_code.co_name}"
            for frame, line in stepping.traceback_frames(error)
        ]
        lines.append(f"{wire.type_name(error)}: {stepping.exception_text(error)}")
        return protocol.WorkerFault(broken="\n".join(lines)[-MAX_TRACEBACK:])


def serve(connection: socket.socket, acts: Mapping[str, str], missing: Sequence[str]) -> NoReturn:
    """Answer requests on the channel until the judge closes it.

    Args:
        connection: the channel.
        acts: "refused", "done" or "absent" for each act that `canary` tried.
        missing: A sentence for each missing wall.
    """
    server = RequestServer(acts, missing, functools.partial(_exchange, connection))
    # With this signal, the judge asks for the current line of the program.
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    exit_process = os._exit  # a program may replace it later
    encode = wire.encode
    np.seterr(all="ignore")  # no verdict depends on warnings
    while True:
        try:
            message = _receive(connection)
        except ConnectionError:
            exit_process(0)
        reply = server.answer(message)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # a program may have closed or replaced it
                stream.flush()
        try:
            frame = encode(reply)
        except wire.WireError as error:
            fault = protocol.WorkerFault(fault=f"the result cannot be sent: {error}")
            frame = encode({"ok": False, "fault": fault})
        connection.sendall(frame)
        del message, reply, frame  # only the program may keep results alive


def _exchange(connection: socket.socket, message: protocol.PeerMessage) -> protocol.PeerMessage:
    """Send the judge a message for the other program during a request; return the answer."""
    connection.sendall(wire.encode({"ok": True, "said": message}))
    answer: protocol.PeerMessage = protocol.build_message(
        protocol.PeerMessage, _receive(connection)["said"]
    )
    return answer


def _receive(connection: socket.socket) -> Any:  # noqa: ANN401 a request as plain data
    head = control.receive_exactly(connection, wire.HEADER.size)
    _, meta, payload = wire.HEADER.unpack(head)
    body = memoryview(control.receive_exactly(connection, meta + payload))
    return wire.decode(bytes(body[:meta]), body[meta:])
