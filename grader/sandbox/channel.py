"""The judge's end of a channel to a worker: a frame out, a frame in, and how that can fail.

What comes in is bytes from anybody: sizes are checked before memory is taken.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass, field

from grader.sandbox.worker import wire


class WorkerError(Exception):
    """The worker can no longer be used; the message completes 'the submission ...'."""


class Died(WorkerError):
    """The process ended without answering."""


class Overran(WorkerError):
    """A limit of time, memory, files or output was reached."""


class TooSlow(Overran):
    """It was the limit of time of one call."""


class Garbled(WorkerError):
    """What came back is not an answer."""


@dataclass(slots=True)
class Reply:
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


def send(channel: socket.socket, pending: list[memoryview]) -> None:
    """Send what the channel takes now; what is left stays pending."""
    while pending:
        sent = channel.send(pending[0])
        if sent == len(pending[0]):
            pending.pop(0)
        else:
            pending[0] = pending[0][sent:]
