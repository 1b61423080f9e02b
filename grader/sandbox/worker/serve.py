"""Answer the judge's requests, one at a time, until it hangs up."""

from __future__ import annotations

import contextlib
import dataclasses
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

from . import differences, holding, namespace, seal, values, wire
from . import steps as stepping
from .faults import StepFault, describe
from .namespace import LoadedModule
from .policy import Policy
from .reach import reachable

if "torch" in sys.modules:
    from . import autograd  # before any program, which might put another in its place

Request = dict[str, Any]


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
        self.replaced = seal.close()

    def load(self, request: Request) -> Request:
        """Execute a program; say which of the wanted functions it lacks."""
        name = request["program"]
        sources = [bytes(s) for s in request["sources"]]
        driver = request["driver"]
        filename = request["filename"]
        self.loads += 1  # no name twice: sys.modules keeps one module a name
        module = "submission" if name == "submission" else f"program_{self.loads}"
        self._forbid(request["forbids"], sources, filename, request["functions"])
        program = namespace.execute(
            sources, None if driver is None else bytes(driver), module, filename
        )
        self.programs[name] = program
        missing, uncallable = [], []
        for wanted in request["functions"]:
            found = getattr(program.module, wanted, None)
            if found is None:
                missing.append(wanted)
            elif not callable(found):
                uncallable.append([wanted, wire.type_name(found)])
        return {
            "missing": missing,
            "uncallable": uncallable,
            "defined": namespace.defined(program.module),
            "unknown": self.policy.unknown if self.policy is not None else [],
        }

    def _forbid(
        self, forbids: list[str], sources: list[bytes], filename: str, functions: list[str]
    ) -> None:
        """Put the witnesses in place, once a process, and have them read the sources."""
        if forbids and self.policy is None:
            self.policy = Policy(forbids)
            self.replaced = seal.close()
        if forbids and self.policy is not None:
            for source in sources:
                self.policy.read(source, filename, functions)

    def _evidence(self) -> Request:
        """What the witnesses saw during this request, if anything."""
        found = self.policy.take() if self.policy is not None else []
        return {"evidence": found} if found else {}

    def run(self, request: Request) -> Request:
        """Run the steps once."""
        program = self.programs[request["program"]]
        return stepping.run(program, request["steps"], request["inputs"], request["want"])

    def interleave(self, request: Request) -> Request:
        """Run the steps on several inputs in lockstep."""
        program = self.programs[request["program"]]
        return stepping.interleave(program, request["steps"], request["inputs"], request["want"])

    def time(self, request: Request) -> Request:
        """Run the steps without looking at inputs; the results may be compared afterwards."""
        program = self.programs[request["program"]]
        names = stepping.build(request["inputs"])
        start = time.process_time_ns()
        stepping.perform_all(program, request["steps"], names)
        spent = time.process_time_ns() - start
        return {"values": {n: values.snapshot(names[n]) for n in request["want"]}, "spent": spent}

    def gradients(self, request: Request) -> Request:
        """Differentiate a result numerically."""
        return {
            "gradients": differences.gradients(
                self.programs[request["program"]],
                request["steps"],
                request["inputs"],
                wrt=request["wrt"],
                result=request["result"],
                cotangent=request["cotangent"],
                kinks=request["kinks"],
            )
        }

    def state(self, request: Request) -> Request:
        """Bytes reachable from a result, and bytes that the steps left allocated besides.

        The run then goes on, so that the judge sees whether what was measured is of use.
        """
        program, steps, of = self.programs[request["program"]], request["steps"], request["of"]
        first = stepping.build(request["inputs"])
        stepping.perform_all(program, steps, first)
        del first
        gc.collect()
        names = stepping.build(request["inputs"])
        given = set(names)
        tracemalloc.start()
        try:
            stepping.perform_all(program, steps, names)
            gc.collect()
            traced = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
        others = sum(values.allocation(v) for n, v in names.items() if n not in given and n != of)
        found, added = reachable(names[of])
        return {
            "reachable": found,
            "allocated": max(0, traced - others - added),
            "added": added,
            "results": stepping.finish(program, request["rest"], names, request["want"]),
        }

    def measure(self, request: Request) -> Request:
        """Bytes or FLOPs of an autograd graph."""
        return autograd.measure(
            self.programs[request["program"]],
            request["steps"],
            request["inputs"],
            quantity=request["quantity"],
            without=request["without"],
            of=request["of"],
            rest=request["rest"],
            want=request["want"],
        )

    def hold(self, request: Request) -> Request:
        """Run the steps many times and keep what they leave; or let go of all that."""
        if not request["count"]:
            holding.drop()
            return {"held": 0}
        return {
            "held": holding.hold(
                self.programs[request["program"]],
                request["steps"],
                request["inputs"],
                of=request["of"],
                count=request["count"],
            )
        }

    def mutants(self, request: Request) -> Request:
        """Small changes of a source, a page of them; nothing is executed."""
        from . import mutants

        found = mutants.derive(bytes(request["source"]))
        first, last = request["first"], request["first"] + request["count"]
        return {
            "mutants": [list(dataclasses.astuple(m)) for m in found[first:last]],
            "total": len(found),
        }

    def walls(self, _: Request) -> Request:
        """What this process was refused before it ran anything."""
        return {"acts": self.acts, "missing": self.missing}

    def facts(self, _: Request) -> Request:
        """What this process can offer."""
        torch = sys.modules.get("torch")
        return {
            "numpy": np.__version__,
            "torch": None if torch is None else str(torch.__version__),
            "cuda": False if torch is None else bool(torch.cuda.is_available()),
        }

    def answer(self, request: Request) -> Request:
        """Carry out one request; a fault of the program's becomes part of the reply."""
        return {**self._answer(request), **self._evidence()}

    def _answer(self, request: Request) -> Request:
        operations: dict[str, Callable[[Request], Request]] = {
            "load": self.load,
            "run": self.run,
            "interleave": self.interleave,
            "time": self.time,
            "gradients": self.gradients,
            "state": self.state,
            "measure": self.measure,
            "hold": self.hold,
            "mutants": self.mutants,
            "facts": self.facts,
            "walls": self.walls,
        }
        filename = str(request.get("filename", ""))
        if not filename and request.get("program") in self.programs:
            filename = self.programs[request["program"]].filename
        try:
            reply = operations[request["op"]](request)
            if request["op"] in {"state", "measure", "hold"}:
                reply = {"replaced": self.replaced()[:8], **reply}
            return {"ok": True, **reply}
        except stepping.Stopped as stop:
            if isinstance(stop.error, StepFault):
                return {"ok": False, "step": stop.step, "fault": str(stop.error)}
            return {"ok": False, "step": stop.step, "raised": describe(stop.error, filename)}
        except BaseException as error:  # noqa: BLE001 whatever it is, the judge must hear of it
            if request["op"] == "load":
                return {"ok": False, "step": None, "raised": describe(error, filename)}
            return {"ok": False, "step": None, "broken": traceback.format_exc()[-2000:]}


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
            pieces = pack(
                {"ok": False, "step": None, "fault": f"the result cannot be sent: {error}"}
            )
        for piece in pieces:
            connection.sendall(piece)


def _receive(connection: socket.socket, exits: Callable[[int], Any]) -> Request:
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
