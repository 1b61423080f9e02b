"""The judge's end of the socket to a worker: a frame out, a frame in, one deadline for both.

What comes in is bytes from anybody: sizes are checked before memory is taken, and whatever is not
exactly one answer to exactly one request ends the worker.
"""

from __future__ import annotations

import contextlib
import select
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from grader.sandbox.failures import Garbled, Overran, WorkerError
from grader.sandbox.worker import wire

WATCH_SECONDS = 0.05  # how often the watch is called while there is nothing to read
# Beyond the CPU time that an exchange may take, what the clock allows: others use the machine too.
SLACK, MOST_SLACK = 5, 25.0  # times those seconds, but at most this many


@dataclass(slots=True)
class _Reply:
    """A frame that is coming in: its header first, then the rest."""

    allowed: int  # bytes of array data
    data: bytearray = field(default_factory=lambda: bytearray(wire.HEADER.size))
    got: int = 0
    meta: int | None = None  # bytes of metadata, once the header has come

    def read(self, channel: socket.socket) -> bool:
        """Take in what is there; False when the other side has hung up."""
        if self.done:
            return True
        count = channel.recv_into(memoryview(self.data)[self.got :])
        self.got += count
        if self.meta is None and self.got == len(self.data):
            magic, self.meta, payload = wire.HEADER.unpack(self.data)
            if magic != wire.MAGIC:
                raise Garbled("broke the protocol: not a reply")
            if self.meta > wire.MAX_META or payload > self.allowed:
                size = f"{self.meta + payload:,} bytes, {self.allowed:,} allowed"
                raise Garbled(f"returned far too much data ({size})")
            self.data, self.got = bytearray(self.meta + payload), 0
        return bool(count)

    @property
    def done(self) -> bool:
        """Whether all of it has come."""
        return self.meta is not None and self.got == len(self.data)

    def value(self) -> dict[str, object]:
        """The reply, decoded."""
        assert self.meta is not None
        try:
            reply = wire.decode(bytes(self.data[: self.meta]), memoryview(self.data)[self.meta :])
        except wire.WireError as error:
            raise Garbled(f"broke the protocol: {error}") from None
        if not isinstance(reply, dict) or not isinstance(reply.get("ok"), bool):
            raise Garbled("broke the protocol: not a reply")
        return reply


def exchange(
    channel: socket.socket,
    request: dict[str, object],
    *,
    seconds: float,
    grace: float,
    reply_bytes: int,
    output: int,
    drain: Callable[[], bool],
    watch: Callable[[], None],
    spent: Callable[[], int | None],
    death: Callable[[], WorkerError],
    due: Callable[[], None] = lambda: None,
) -> dict[str, object]:
    """Send a request and return the decoded reply.

    Args:
        channel: a socket that does not block.
        request: plain data.
        seconds: of CPU time that the exchange may take; by the clock it may take longer, see
            `SLACK`, but not where CPU time cannot be read.
        grace: seconds on top, for a process that is still starting.
        reply_bytes: of array data that the reply may hold.
        output: a descriptor to watch as well; `drain` reads it and says whether it is still open.
        drain: see there.
        watch: called while waiting, about every `WATCH_SECONDS`.
        spent: gives the process's CPU time in nanoseconds, or None.
        death: says how the process ended.
        due: called while waiting; raises once nothing may be waited for any more.

    Raises:
        WorkerError: there was no proper answer in time.
    """
    with contextlib.suppress(BlockingIOError):
        try:
            early = channel.recv(1, socket.MSG_PEEK)
        except ConnectionError:
            raise death() from None
        raise Garbled("wrote to the judge without being asked") if early else death()
    before = spent()
    slack = 0.0 if before is None else min(SLACK * seconds, MOST_SLACK)
    deadline = time.monotonic() + seconds + slack + grace
    pending = [memoryview(piece) for piece in wire.encode(request)]
    reply = _Reply(reply_bytes)
    output_open = True
    looked = time.monotonic()
    while not reply.done:
        left = deadline - time.monotonic()
        now = None if before is None else spent()
        if left <= 0 or (before is not None and now is not None and now - before > seconds * 1e9):
            raise Overran(f"did not finish within {seconds:.3g} seconds")
        due()
        ready = _ready(channel, output if output_open else None, min(left, WATCH_SECONDS), pending)
        if output in ready:
            output_open = drain()
        if time.monotonic() >= looked + WATCH_SECONDS:  # however busy it keeps us
            watch()
            looked = time.monotonic()
        try:
            events = ready.get(channel.fileno(), 0)
            if events & select.POLLOUT:
                _send(channel, pending)
            if events & ~select.POLLOUT and not reply.read(channel):
                raise death()
        except BlockingIOError:
            continue
        except ConnectionError:
            raise death() from None
    if pending:
        raise Garbled("broke the protocol: answered before it was asked")
    return reply.value()


def _ready(
    channel: socket.socket, output: int | None, seconds: float, pending: Sequence[object]
) -> dict[int, int]:
    """Events by descriptor; with poll, because select knows no descriptor beyond 1023."""
    poll = select.poll()
    poll.register(channel, select.POLLIN | (select.POLLOUT if pending else 0))
    if output is not None:
        poll.register(output, select.POLLIN)
    return dict(poll.poll(1000 * seconds))


def _send(channel: socket.socket, pending: list[memoryview]) -> None:
    while pending:
        sent = channel.send(pending[0])
        if sent == len(pending[0]):
            pending.pop(0)
        else:
            pending[0] = pending[0][sent:]
