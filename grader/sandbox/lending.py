"""Inputs lent to a worker: they lie in memory that the judge has mapped too, and looks at itself.

What a worker says about its inputs can be forged by the program that runs in it.  Here the judge
compares what is there after a run with what it wrote before.  No place is lent twice: a program may
keep an input, and must find it as it was.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Mapping
from typing import Any

from grader.sandbox.closing import Closing
from grader.sandbox.worker import layouts, mapping, wire
from grader.sandbox.worker.protocol import Input, Lent

_ALIGNED = 64  # bytes: what libraries align arrays to
Written = dict[str, tuple[int, bytes]]  # by input, where it lies and what was written


class Lending(Closing):
    """The memory that one worker and the judge have mapped."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("inputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.descriptor, mapping.SIZE)
            # A memory that shrinks would kill whoever looks at it.
            seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seals)
            self._memory = mmap.mmap(self.descriptor, mapping.SIZE)
        except OSError:
            self.forget_descriptor()
            raise
        self._used = 0

    def lend(self, inputs: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Input], Written]:
        """Write arrays and tensors into the memory, as long as there is room.

        Returns:
            Those inputs as they are sent, and what was written.
        """
        sent: dict[str, Input] = {}
        written: Written = {}
        if self._memory.closed:  # its worker has ended, and whoever asks it is told so
            return sent, written
        for name, spec in inputs.items():
            plain = layouts.bits(spec["value"])
            if plain is None or plain[1] not in wire.DTYPES:
                continue
            values, dtype = plain
            layout = spec.get("layout", "contiguous")
            layout = layouts.of_tensors(layout) if spec.get("tensor") else layout
            content = layouts.laid_out(values, layout).tobytes()
            if not 0 < len(content) <= mapping.SIZE - self._used:
                continue
            written[name] = (self._used, content)
            self._memory[self._used : self._used + len(content)] = content
            where = Lent(self._used, values.shape, dtype)
            sent[name] = Input(**{**spec, "value": None, "lent": where})
            self._used += -(-len(content) // _ALIGNED) * _ALIGNED
        return sent, written

    def changed(self, written: Written) -> list[str]:
        """The inputs that are not what they were."""
        return [
            name
            for name, (start, content) in written.items()
            if self._memory[start : start + len(content)] != content
        ]

    def close(self) -> None:
        """Let go of it."""
        with contextlib.suppress(BufferError):
            self._memory.close()
        self.forget_descriptor()

    def forget_descriptor(self) -> None:
        """Close the descriptor: whoever needs it has been sent it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def made(stack: contextlib.ExitStack) -> Lending | None:
    """Memory that lives as long as a stack; None where the system has none: inputs are sent."""
    with contextlib.suppress(OSError, AttributeError):
        return stack.enter_context(Lending())
    return None
