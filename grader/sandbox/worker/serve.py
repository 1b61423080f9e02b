"""Answer the judge's requests, one at a time, until it hangs up."""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import importlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from time import process_time
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from . import (
    allocated,
    calls,
    control,
    differences,
    messages,
    mutants,
    namespace,
    reach,
    typed,
    wire,
)
from . import steps as stepping
from .namespace import LoadedModule
from .steps import StepFault, describe

if "torch" in sys.modules:
    from . import autograd  # before any program, which might put another in its place

OPERATIONS: Mapping[str, Callable[[LoadedModule, messages.Task], NamedTuple]] = MappingProxyType(
    {
        "run": stepping.run,
        "time": stepping.timed,
        "differentiate": differences.gradients,
        "state": reach.state,
        "pause": reach.pause,
        "resume": reach.resume,
        "measure": allocated.measure,
        **({"measure": autograd.measure} if "torch" in sys.modules else {}),
    }
)
ENOUGH_SECONDS = 0.5  # of CPU time for several programs in one request


class Server:
    """The programs of this process, and what can be asked of them."""

    def __init__(
        self, acts: Mapping[str, str], missing: Sequence[str], exchange: calls.Exchange
    ) -> None:
        """Start without programs; with what was tried (see `walls.canary`), and why walls miss."""
        self.acts, self.missing = dict(acts), list(missing)
        self.programs: dict[str, LoadedModule] = {}
        self.loads = 0
        self.exchange = exchange
        self.tester = calls.Tester(exchange)
        typed.prepare(vars(messages).values())  # while the modules are what they were

    def load(self, asked: messages.Load) -> messages.Loaded:
        """Execute a program; say which of the wanted functions it lacks."""
        sources = [source.tobytes() for source in asked.sources]
        self.loads += 1  # no name twice: sys.modules keeps one module a name
        module = "submission" if asked.program == "submission" else f"program_{self.loads}"
        program = namespace.execute(sources, module, asked)
        self.programs[asked.program] = program
        found = {name: program.found(name) for name in asked.functions}
        return messages.Loaded(
            missing=tuple(name for name, value in found.items() if value is None),
            uncallable=tuple(
                (name, wire.type_name(value))
                for name, value in found.items()
                if value is not None and not callable(value)
            ),
            defined=tuple(namespace.defined(program.module)),
            undriven=tuple(
                name for name in asked.driven if not callable(getattr(program.driver, name, None))
            ),
            driver=() if program.driver is None else tuple(namespace.defined(program.driver)),
        )

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request; a fault of the program's becomes part of the reply."""
        operation = request["op"]
        if operation == "walls":
            return {"ok": True, "acts": self.acts, "missing": self.missing}
        if operation == "facts":
            torch = sys.modules.get("torch")
            version = None if torch is None else str(torch.__version__)
            cuda = torch is not None and bool(torch.cuda.is_available())
            return {"ok": True, "torch": version, "cuda": cuda}
        ok = True
        reply: NamedTuple
        try:
            reply = self._reply(operation, request)
        except BaseException as error:  # noqa: BLE001 whatever it is, the judge must hear of it
            ok, reply = False, self._fault(operation, request, error)
        return wire.fields(reply) | wire.fields(messages.Header(ok))

    def _reply(self, operation: str, request: dict[str, Any]) -> NamedTuple:
        if operation == "load":
            return self.load(typed.read(messages.Load, request))
        if operation == "loads":
            return self._load_all(request)
        if operation == "mutants":
            return mutants.page(typed.read(messages.Mutants, request))
        if operation == "test":
            asked = typed.read(messages.Said, request)
            return self.tester.test(self.programs[request["program"]], asked)
        task = typed.read(messages.Task, request)
        if operation == "several":
            return self._several(task)
        program: Any = self.programs[task.program]
        if task.apart:
            program = calls.Elsewhere(program, self.exchange)
        return OPERATIONS[operation](program, task)

    def _load_all(self, request: Mapping[str, Any]) -> messages.AllLoaded:
        """Execute one program after another: what fails keeps none from being loaded."""
        found: list[messages.Loaded | messages.Fault] = []
        for one in request["programs"]:
            try:
                found.append(self.load(typed.read(messages.Load, one)))
            except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
                found.append(self._fault("load", one, error))
        return messages.AllLoaded(tuple(found))

    def _several(self, task: messages.Task) -> messages.Several:
        """Run the steps on one set of inputs after another: what fails on one is tried on all.

        Where programs take long together, the last of them are left out.
        """
        runs: list[messages.Outcome | messages.Fault] = []
        began = process_time()
        for program in (task.program, *task.also):
            if runs and process_time() - began > ENOUGH_SECONDS:
                break
            for inputs in (task.inputs, *task.others):
                one = task._replace(program=program, inputs=inputs, others=(), also=())
                try:
                    runs.append(stepping.run(self.programs[program], one).runs[0])
                except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
                    runs.append(self._fault("several", {"program": program}, error))
        return messages.Several(tuple(runs))

    def _fault(
        self, operation: str, request: Mapping[str, Any], error: BaseException
    ) -> messages.Fault:
        """What to say of an exception: in a step or in loading it is the program's, else ours."""
        if isinstance(error, stepping.Stopped):
            if isinstance(error.error, StepFault):
                return messages.Fault(error.step, fault=str(error.error))
            program = self.programs[request["program"]]
            raised = describe(error.error, program.filename, program.support_files)
            return messages.Fault(error.step, raised=raised)
        if operation == "load":
            asked = typed.read(messages.Load, request)
            files = namespace.support_files(asked)
            return messages.Fault(raised=describe(error, asked.filename, files))
        return messages.Fault(broken=_broken(error)[-2000:])


def _broken(error: BaseException) -> str:
    """What went wrong in a worker's own code, and where."""
    where = (
        f"{f.f_code.co_filename}:{line} {f.f_code.co_name}" for f, line in stepping.walked(error)
    )
    return "\n".join([*where, f"{wire.type_name(error)}: {stepping.text_of(error)}"])


def import_what_can_be(modules: Sequence[str]) -> None:
    """Import modules that programs may come to use; who uses one that cannot be will say so."""
    for module in modules:
        with contextlib.suppress(Exception):
            importlib.import_module(module)


def serve(connection: socket.socket, acts: Mapping[str, str], missing: Sequence[str]) -> NoReturn:
    """Answer requests on the channel until the judge closes it; for the rest see `Server`."""
    server = Server(acts, missing, functools.partial(_exchange, connection))
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
        _flush()
        try:
            pieces = pack(reply)
        except wire.WireError as error:
            pieces = pack({"ok": False, "fault": f"the result cannot be sent: {error}"})
        for piece in pieces:
            connection.sendall(piece)
        del request, reply, pieces, piece  # so that what is held is what a program holds


def _flush() -> None:
    """Have what was printed leave the process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # a program may have closed or replaced it
            stream.flush()


def _exchange(connection: socket.socket, said: messages.Said) -> messages.Said:
    """Say something while a request goes on; what is said to it."""
    for piece in wire.encode({"ok": True, **wire.fields(said)}):
        connection.sendall(piece)
    return typed.read(messages.Said, _receive(connection))


def _receive(connection: socket.socket) -> dict[str, Any]:
    head = control.exactly(connection, wire.HEADER.size)
    _, meta, payload = wire.HEADER.unpack(head)
    body = memoryview(control.exactly(connection, meta + payload))
    request: Any = wire.decode(bytes(body[:meta]), body[meta:])
    return request  # type: ignore[no-any-return]
