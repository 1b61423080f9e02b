"""Answer the judge's requests, one at a time, until it hangs up."""

from __future__ import annotations

import contextlib
import gc
import os
import socket
import sys
import time
import traceback
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import differences, holding, messages, namespace, seal, typed, values, wire
from . import steps as stepping
from .faults import StepFault, describe
from .namespace import LoadedModule
from .policy import Policy
from .reach import reachable

if "torch" in sys.modules:
    from . import autograd  # before any program, which might put another in its place

REQUESTS = {messages.operation(kind): kind for kind in messages.REQUESTS}
MEASURING = {"state", "measure", "hold"}  # what a program might replace the meters of


class Server:
    """The programs of this process, and what can be asked of them."""

    def __init__(self, acts: Mapping[str, str], missing: Sequence[str]) -> None:
        """Start without programs.

        Args:
            acts: what this process was refused when it tried; see `walls.canary`.
            missing: why walls are missing.
        """
        self.acts, self.missing = dict(acts), list(missing)
        self.programs: dict[str, LoadedModule] = {}
        self.loads = 0
        self.policy: Policy | None = None
        typed.prepare(vars(messages).values())  # while the modules are what they were
        self.replaced = seal.close()

    def load(self, asked: messages.Load) -> messages.Loaded:
        """Execute a program; say which of the wanted functions it lacks."""
        sources = [source.tobytes() for source in asked.sources]
        self.loads += 1  # no name twice: sys.modules keeps one module a name
        module = "submission" if asked.program == "submission" else f"program_{self.loads}"
        self._forbid(asked, sources)
        driver = None if asked.driver is None else asked.driver.tobytes()
        program = namespace.execute(sources, driver, module, asked.filename)
        self.programs[asked.program] = program
        found = {name: getattr(program.module, name, None) for name in asked.functions}
        return messages.Loaded(
            missing=tuple(name for name, value in found.items() if value is None),
            uncallable=tuple(
                (name, wire.type_name(value))
                for name, value in found.items()
                if value is not None and not callable(value)
            ),
            defined=tuple(namespace.defined(program.module)),
            unknown=tuple(self.policy.unknown) if self.policy is not None else (),
        )

    def _forbid(self, asked: messages.Load, sources: Sequence[bytes]) -> None:
        """Watch what is forbidden, set up once per process, and read the sources."""
        if not asked.forbids:
            return
        if self.policy is None:
            self.policy = Policy(asked.forbids)
            self.replaced = seal.close()
        for source in sources:
            self.policy.read(source, asked.filename, asked.functions)

    def run(self, asked: messages.Run) -> messages.Outcome:
        """Run the steps once."""
        return stepping.run(self.programs[asked.program], asked.steps, asked.inputs, asked.want)

    def interleave(self, asked: messages.Interleave) -> messages.Outcomes:
        """Run the steps on several inputs in lockstep."""
        program = self.programs[asked.program]
        return stepping.interleave(program, asked.steps, asked.inputs, asked.want)

    def time(self, asked: messages.Time) -> messages.Outcome:
        """Run the steps without looking at inputs; the results may be compared afterwards."""
        program = self.programs[asked.program]
        names = stepping.build(asked.inputs)
        start = time.process_time_ns()
        stepping.perform_all(program, asked.steps, names)
        spent = time.process_time_ns() - start
        results = {name: values.snapshot(names[name]) for name in asked.want}
        return messages.Outcome(results, spent=spent)

    def differentiate(self, asked: messages.Differentiate) -> messages.Gradients:
        """Differentiate a result numerically."""
        return messages.Gradients(differences.gradients(self.programs[asked.program], asked))

    def state(self, asked: messages.State) -> messages.Kept:
        """Bytes reachable from a result, and bytes that the steps left allocated otherwise.

        The run then goes on, so that the judge sees whether what was measured is of use.
        """
        program = self.programs[asked.program]
        stepping.perform_all(program, asked.steps, stepping.build(asked.inputs))
        gc.collect()
        names = stepping.build(asked.inputs)
        tracemalloc.start()
        try:
            stepping.perform_all(program, asked.steps, names)
            gc.collect()
            traced = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        lent = {*asked.inputs, asked.of}
        others = sum(values.allocation(v) for name, v in names.items() if name not in lent)
        found, added = reachable(names[asked.of])
        return messages.Kept(
            found,
            max(0, traced - others - added),
            added,
            stepping.finish(program, asked.rest, names, asked.want),
        )

    def measure(self, asked: messages.Measure) -> messages.Measured:
        """Bytes or FLOPs of an autograd graph."""
        return autograd.measure(self.programs[asked.program], asked)

    def hold(self, asked: messages.Hold) -> messages.Header:
        """Run the steps many times and keep what they leave; or let go of all that."""
        if asked.count:
            holding.hold(self.programs[asked.program], asked)
        else:
            holding.drop()
        return messages.Header(True)

    def mutants(self, asked: messages.Mutants) -> messages.Page:
        """Small changes of a source, a page of them; nothing is executed."""
        from . import mutants

        found = mutants.derive(asked.source.tobytes())
        return messages.Page(tuple(found[asked.first : asked.first + asked.count]), len(found))

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Carry out one request; a fault of the program's becomes part of the reply."""
        operation = request["op"]
        if operation == "walls":
            return {"ok": True, "acts": self.acts, "missing": self.missing}
        if operation == "facts":
            return {"ok": True, **facts()}
        header = messages.Header(True)
        reply: typed.Message
        try:
            reply = getattr(self, operation)(typed.read(REQUESTS[operation], request))
            if operation in MEASURING:
                header.replaced = tuple(self.replaced()[:8])
        except BaseException as error:  # noqa: BLE001 whatever it is, the judge must hear of it
            header.ok, reply = False, self._fault(request, error)
        if self.policy is not None:
            header.evidence = tuple(self.policy.take())
        return {**typed.fields(reply), **typed.fields(header)}

    def _fault(self, request: Mapping[str, Any], error: BaseException) -> messages.Fault:
        """What to say of an exception: in a step or in loading it is the program's, else ours."""
        if isinstance(error, stepping.Stopped):
            if isinstance(error.error, StepFault):
                return messages.Fault(error.step, fault=str(error.error))
            filename = self.programs[request["program"]].filename
            return messages.Fault(error.step, raised=describe(error.error, filename))
        if request["op"] == "load":
            return messages.Fault(raised=describe(error, str(request["filename"])))
        return messages.Fault(broken=traceback.format_exc()[-2000:])


def facts() -> dict[str, Any]:
    """What this process can offer."""
    torch = sys.modules.get("torch")
    return {
        "numpy": np.__version__,
        "torch": None if torch is None else str(torch.__version__),
        "cuda": False if torch is None else bool(torch.cuda.is_available()),
    }


def serve(channel: int, acts: Mapping[str, str], missing: Sequence[str]) -> None:
    """Answer requests on the channel until the judge closes it; for the rest see `Server`."""
    connection = socket.socket(fileno=channel)
    server = Server(acts, missing)
    exits = os._exit  # taken now: a program may replace it
    pack = wire.encode
    np.seterr(
        all="ignore"
    )  # warnings are the program's business; a verdict never depends on stderr
    while True:
        request = _receive(connection, exits)
        reply = server.answer(request)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):  # a program may have closed or replaced it
                stream.flush()
        try:
            pieces = pack(reply)
        except wire.WireError as error:
            pieces = pack({"ok": False, "fault": f"the result cannot be sent: {error}"})
        for piece in pieces:
            connection.sendall(piece)


def _receive(connection: socket.socket, exits: Callable[[int], Any]) -> dict[str, Any]:
    _, meta, payload = wire.HEADER.unpack(bytes(_exactly(connection, wire.HEADER.size, exits)))
    head = bytes(_exactly(connection, meta, exits))
    request: Any = wire.decode(head, memoryview(_exactly(connection, payload, exits)))
    return request  # type: ignore[no-any-return]


def _exactly(connection: socket.socket, size: int, exits: Callable[[int], Any]) -> bytearray:
    data = bytearray(size)
    view, got = memoryview(data), 0
    while got < size:
        count = connection.recv_into(view[got:])
        if count == 0:
            exits(0)
        got += count
    return data
