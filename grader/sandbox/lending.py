"""Inputs lent to a worker: they lie in memory that the judge has mapped too, and looks at itself.

What a worker says about its inputs can be forged by the program that runs in it.  Here the judge
compares what is there after a run with what it wrote before, and then writes something else, so
that results which lie in the memory of an input change as well when they are sent again.

No place is lent twice: a program may keep an input, and must find it as it was.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import mmap
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.sandbox.closing import Closing
from grader.sandbox.worker import lent, mapping, wire
from grader.sandbox.worker.messages import Input, Lent
from grader.sandbox.worker.wire import Array, Tensor

_ALIGNED = 64  # bytes: what libraries align arrays to


@dataclass(slots=True)
class Loan:
    """The inputs of one run that are lent, and what was written."""

    memory: mmap.mmap
    written: dict[str, tuple[int, bytes]] = field(default_factory=dict)  # by name, where and what

    def changed(self) -> list[str]:
        """The inputs that are not what they were."""
        return [
            name
            for name, (start, content) in self.written.items()
            if self.memory[start : start + len(content)] != content
        ]

    def spoil(self, *names: str) -> None:
        """Change every byte of some inputs, or of all."""
        for name in names or self.written:
            start, content = self.written[name]
            other = np.frombuffer(content, np.uint8) ^ 0xFF
            self.memory[start : start + len(content)] = other.tobytes()

    def restore(self) -> None:
        """Make them what they were, unless nobody can look any more."""
        if self.memory.closed:
            return
        for start, content in self.written.values():
            self.memory[start : start + len(content)] = content


class Lending(Closing):
    """The memory that one worker and the judge have mapped."""

    def __init__(self) -> None:
        """Make the memory; a worker maps what is behind the descriptor."""
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

    def lend(self, inputs: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, Input], Loan]:
        """Write arrays and tensors into the memory, as long as there is room.

        Returns:
            Those inputs as they are sent, and what was written.
        """
        loan = Loan(self._memory)
        sent: dict[str, Input] = {}
        if self._memory.closed:  # its worker has ended, and whoever asks it is told so
            return sent, loan
        for name, spec in inputs.items():
            plain = _bits(spec["value"])
            if plain is None:
                continue
            values, dtype = plain
            layout = spec.get("layout", "contiguous")
            if spec.get("tensor"):
                layout = lent.of_tensors(layout)
            size = math.prod(lent.allocated(layout, values.shape)) * values.itemsize
            if not 0 < size <= mapping.SIZE - self._used:
                continue
            content = _laid_out(values, layout, size // values.itemsize)
            loan.written[name] = (self._used, content)
            self._memory[self._used : self._used + size] = content
            where = Lent(self._used, values.shape, dtype)
            sent[name] = Input(**{**spec, "value": None, "lent": where})
            self._used += -(-size // _ALIGNED) * _ALIGNED
        return sent, loan

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


def available() -> bool:
    """Whether there is such memory on this system."""
    return hasattr(os, "memfd_create")


def _bits(value: object) -> tuple[Array, str] | None:
    """The entries of an array or a tensor, and what their dtype is called."""
    if isinstance(value, np.ndarray):
        return (value, value.dtype.name) if value.dtype.name in wire.DTYPES else None
    if isinstance(value, Tensor):
        plain = wire.bfloat16_bits(value.values) if value.dtype == "bfloat16" else value.values
        return (plain, value.dtype) if plain.dtype == lent.kind(value.dtype) else None
    return None


def _laid_out(values: Array, layout: str, entries: int) -> bytes:
    """The bytes of an allocation that holds an array in a layout."""
    if layout in {"contiguous", "readonly"}:
        return values.tobytes()
    flat = np.zeros(entries, values.dtype)
    if layout == "strided":  # what lies between the entries would be noticed in any sum
        flat[:] = lent.loud(values.dtype)
    if layout == "broadcast":
        inside = lent.allocated(layout, values.shape)
        flat.reshape(inside)[...] = values[:1] if values.ndim else values
    else:
        lent.spread(flat, layout, values.shape)[...] = values
    return flat.tobytes()
