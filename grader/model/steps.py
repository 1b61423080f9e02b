"""Steps of a run: each calls one function, as in `y, ctx = forward(x, kernel)`.

Steps have the same field names here and in `sandbox.worker.protocol`, where a worker reads them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Scalar = None | bool | int | float | str
Owner = Literal["submission", "torch", "driver", "judge"]


class Argument(NamedTuple):
    """Argument of a step: a name to look up, a literal, or a list of these."""

    name: str | None
    literal: Scalar = None
    keyword: str | None = None
    items: tuple[Argument, ...] | None = None  # the entries, if it is a list

    @property
    def names_read(self) -> tuple[str, ...]:
        """Return the names to look up: ("a", "b") for the list [a, 1, b]."""
        entries = self.items or (self,)
        return tuple(entry.name for entry in entries if entry.name is not None)


class Step(NamedTuple):
    """One assignment of a call: `targets = function(arguments)`."""

    text: str  # as written, for messages
    targets: tuple[str, ...]
    unpack: bool  # True if the result is a tuple to spread over the targets
    owner: Owner  # the program that has the function; "torch" computes gradients
    function: str
    arguments: tuple[Argument, ...]

    @property
    def names_read(self) -> tuple[str, ...]:
        """Return the names that must exist before the step runs."""
        return tuple(name for argument in self.arguments for name in argument.names_read)

    @property
    def is_backward(self) -> bool:
        """Return True if the step asks torch for gradients instead of calling a function."""
        return self.owner == "torch" and self.function == "vjp"
