"""What is known and can be computed again, kept until it takes too much room.

A session remembers what the reference and the misconceptions compute, by seed and case, for
thousands of submissions.  What was asked for longest ago is dropped first.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from grader.evaluation.results import Value

T = TypeVar("T")

MOST_BYTES = 64 << 20
ENTRY_BYTES = 500  # of an entry's key and of the objects in it that are no arrays, about


class Memory:
    """Values by key, of at most so many bytes together; the latest one is kept in any case."""

    def __init__(self, most_bytes: float = MOST_BYTES) -> None:
        """Remember nothing yet."""
        self.most_bytes = most_bytes
        self.bytes = 0
        self._values: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def __len__(self) -> int:
        """How many values it holds."""
        return len(self._values)

    def __contains__(self, key: Hashable) -> bool:
        """Whether it holds a value of a key."""
        return key in self._values

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of a key, made if it is not known; what `make` raises is not remembered."""
        if key in self._values:
            self._values.move_to_end(key)
            known: T = self._values[key][0]
            return known
        made = make()
        # Counted only where there is a limit: what a submission made may be long to look through.
        size = ENTRY_BYTES + array_bytes(made) if self.most_bytes < math.inf else 0
        self._values[key] = made, size
        self.bytes += size
        while self.bytes > self.most_bytes and len(self._values) > 1:
            self.bytes -= self._values.popitem(last=False)[1][1]
        return made


def array_bytes(value: Value) -> int:
    """Bytes of the arrays and texts in plain data, wherever they are in it."""
    if isinstance(value, (bytes, str)):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(array_bytes, value.values()))
    if isinstance(value, (list, tuple)):
        return 8 * len(value) + sum(map(array_bytes, value))
    if is_dataclass(value):
        return sum(array_bytes(getattr(value, f.name)) for f in fields(value))
    return int(getattr(value, "nbytes", 0))
