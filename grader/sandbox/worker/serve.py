"""Answer the judge's requests, one at a time, until it hangs up."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import process_time_ns
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import compiler, control, peer_calls, protocol, wire
from . import steps as stepping
from .limits import MAX_SEVERAL_SECONDS
from .measure import differences, kept_memory
from .steps import LoadedModule, StepFault, describe_exception

TORCH = "torch" in sys.modules
if TORCH:
    from .measure import autograd  # before any program, which might put another in its place


def _measure(program: LoadedModule, asked: protocol.Measure) -> protocol.Measured:
    if asked.quantity == "state":
        return kept_memory.measure_state(program, asked)
    return (
        autograd.measure_graph(program, asked)
        if TORCH
        else kept_memory.measure_allocation(program, asked)
    )


ON_PROGRAMS: Mapping[type[NamedTuple], Callable[[LoadedModule, Any], NamedTuple]] = (
    MappingProxyType(
        {
            protocol.Timed: stepping.run_timed,
            protocol.Differentiate: differences.differentiate_numerically,
            protocol.Measure: _measure,
        }
    )
)


class RequestServer:
    """The programs of this process, and what can be asked of them."""

    def __init__(
        self, acts: Mapping[str, str], missing: Sequence[str], exchange: peer_calls.Exchange
    ) -> None:
        self.programs: dict[str, LoadedModule] = {}
        self.loads = 0
        self.exchange = exchange
        tester = peer_calls.CandidateTestRunner(exchange)
        handlers: dict[type[NamedTuple], Callable[[Any], NamedTuple]] = {
            protocol.Walls: lambda _: protocol.IsolationReport(dict(acts), tuple(missing)),
            protocol.Load: self.load,
            protocol.Run: self.run,
            protocol.Several: self.several,
            protocol.Call: lambda asked: tester.call_function(
                self.programs[asked.program], asked.said
            ),
            protocol.Mutants: _mutants,
        }
        for kind, handle in ON_PROGRAMS.items():
            handlers[kind] = functools.partial(self._on_program, handle)
        self.handlers = {kind.__name__.lower(): (kind, do) for kind, do in handlers.items()}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request; a fault of the program's becomes part of the reply."""
        asked: Any = None
        try:
            kind, handle = self.handlers[request.pop("op")]
            asked = protocol.build_message(kind, request)
            reply = {"ok": True, "reply": handle(asked)}
        except BaseException as error:  # noqa: BLE001 whatever it is, the judge must hear of it
            reply = {"ok": False, "fault": self._fault(asked, error)}
        return {"ok": False, "compiler": True} if compiler.was_requested() else reply

    def _on_program(self, handle: Callable[[LoadedModule, Any], NamedTuple], asked: Any) -> Any:  # noqa: ANN401 a request about a program, and its reply
        return handle(self.programs[asked.program], asked)

    def load(self, asked: protocol.Load) -> protocol.Loaded:
        """Execute a program; say which of the wanted functions it lacks."""
        same = False
        if asked.before is not None:
            from . import syntax  # only what is handed in is compared

            texts = asked.before.tobytes(), asked.sources[-1].tobytes()
            same = syntax.has_same_code(*texts, asked.code)
        self.loads += 1  # no name twice: sys.modules keeps one module a name
        module = "submission" if asked.program == "submission" else f"program_{self.loads}"
        program = stepping.execute_program(module, asked)
        self.programs[asked.program] = program
        found = {name: program.found(name) for name in asked.functions}
        return protocol.Loaded(
            missing=tuple(name for name, value in found.items() if value is None),
            uncallable=tuple(
                (name, wire.type_name(value))
                for name, value in found.items()
                if value is not None and not callable(value)
            ),
            defined=stepping.defined_functions(program.module),
            stubs=tuple(name for name, value in found.items() if stepping.is_stub(value)),
            undriven=tuple(
                name for name in asked.driven if not callable(getattr(program.driver, name, None))
            ),
            driver=() if program.driver is None else stepping.defined_functions(program.driver),
            stopped=program.stopped,
            same=same,
        )

    def run(self, asked: protocol.Run) -> protocol.Outcomes:
        """Run the steps on sets of inputs in lockstep."""
        program = self.programs[asked.program]
        if asked.apart:
            program = replace(program, module=peer_calls.RemoteSubmission(self.exchange))
        return stepping.run_in_lockstep(program, asked)

    def several(self, asked: protocol.Several) -> protocol.Answers:
        """Run the steps on one set of inputs after another: what fails on one is tried on all.

        Where that takes long, the last runs are left out.
        """
        runs: list[protocol.Outcome | protocol.WorkerFault] = []
        longest, began = 0, process_time_ns()
        for program, inputs in itertools.product(asked.programs, asked.inputs):
            before = process_time_ns()
            if runs and before - began > 1e9 * MAX_SEVERAL_SECONDS:
                break
            one = protocol.Run(program, asked.steps, (inputs,), asked.want)
            try:
                runs.append(self.run(one).runs[0])
            except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
                runs.append(self._fault(one, error))
            longest = max(longest, process_time_ns() - before)
        return protocol.Answers(tuple(runs), longest)

    def _fault(self, asked: Any, error: BaseException) -> protocol.WorkerFault:  # noqa: ANN401 a request, or None
        """What to say of an exception: in a step or in loading it is the program's, else ours."""
        if isinstance(error, stepping.StepFailed):
            if isinstance(error.error, StepFault):
                return protocol.WorkerFault(error.step, fault=str(error.error))
            program = self.programs[asked.program]
            files, after = program.support_files, program.taken
            raised = describe_exception(error.error, program.filename, files, after)
            return protocol.WorkerFault(error.step, raised=raised)
        if isinstance(asked, protocol.Load):
            files = stepping.support_files(asked)
            return protocol.WorkerFault(raised=describe_exception(error, asked.filename, files))
        walked = stepping.traceback_frames(error)
        where = [f"{f.f_code.co_filename}:{line} {f.f_code.co_name}" for f, line in walked]
        last = f"{wire.type_name(error)}: {stepping.exception_text(error)}"
        return protocol.WorkerFault(broken="\n".join([*where, last])[-2000:])


def _mutants(asked: protocol.Mutants) -> protocol.DerivedMutants:
    from . import mutants  # an audit asks for them, and no grade does

    found = mutants.derive_mutants(asked.source.tobytes(), tuple(asked.numbers.tolist()))
    return protocol.DerivedMutants(np.frombuffer(json.dumps(found).encode(), np.uint8))


def serve(connection: socket.socket, acts: Mapping[str, str], missing: Sequence[str]) -> NoReturn:
    """Answer requests on the channel until the judge closes it; for the rest see `Server`."""
    server = RequestServer(acts, missing, functools.partial(_exchange, connection))
    if hasattr(faulthandler, "register"):  # asked where its program is, it says so on its output
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    exits = os._exit  # taken now: a program may replace it
    pack = wire.encode
    np.seterr(all="ignore")  # no verdict depends on warnings
    while True:
        try:
            request = _receive(connection)
        except ConnectionError:
            exits(0)
        reply = server.answer(request)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # a program may have closed or replaced it
                stream.flush()
        try:
            pieces = pack(reply)
        except wire.WireError as error:
            fault = protocol.WorkerFault(fault=f"the result cannot be sent: {error}")
            pieces = pack({"ok": False, "fault": fault})
        for piece in pieces:
            connection.sendall(piece)
        del request, reply, pieces, piece  # so that what is held is what a program holds


def _exchange(connection: socket.socket, said: protocol.PeerMessage) -> protocol.PeerMessage:
    """Say something while a request goes on; what is said to it."""
    for piece in wire.encode({"ok": True, "said": said}):
        connection.sendall(piece)
    answer: protocol.PeerMessage = protocol.build_message(
        protocol.PeerMessage, _receive(connection)["said"]
    )
    return answer


def _receive(connection: socket.socket) -> Any:  # noqa: ANN401 a request as plain data
    head = control.receive_exactly(connection, wire.HEADER.size)
    _, meta, payload = wire.HEADER.unpack(head)
    body = memoryview(control.receive_exactly(connection, meta + payload))
    return wire.decode(bytes(body[:meta]), body[meta:])
