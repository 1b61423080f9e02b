"""Inputs and steps as a worker is sent them, each encoded once however often it is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, cast

from grader.model.question import Argument, Step
from grader.sandbox.worker import protocol
from grader.sandbox.worker.wire import Encoded

Inputs = Mapping[str, Mapping[str, Any]]  # by name: the fields of a `protocol.Input`
Steps = Sequence[Step]

_STEPS_DEPTH, _INPUT_DEPTH = 1, 3  # where they lie in a request, at most


class EncodedInput(dict[str, Any]):
    """The fields of an input, encoded once however often it is sent; they must not change."""

    @cached_property
    def sent(self) -> Encoded:
        """What is sent."""
        return Encoded(protocol.Input(**self), _INPUT_DEPTH)


def as_sent(steps: Steps) -> protocol.Steps:
    """The steps of a question as a worker takes them."""
    return tuple(
        protocol.Step(s.targets, s.unpack, s.owner, s.function, tuple(map(_argument, s.arguments)))
        for s in steps
    )


def _argument(a: Argument) -> protocol.Argument:
    items = None if a.items is None else tuple(map(_argument, a.items))
    return protocol.Argument(a.name, a.literal, a.keyword, items)


@lru_cache(maxsize=256)
def encoded_steps(steps: tuple[Step, ...]) -> protocol.Steps:
    """What is sent for steps, encoded once however often they are."""
    return cast(protocol.Steps, Encoded(as_sent(steps), _STEPS_DEPTH))


def array_bytes(inputs: Inputs) -> int:
    """Bytes of the arrays among inputs."""
    values = [spec["value"] for spec in inputs.values()]
    return sum(int(getattr(getattr(v, "values", v), "nbytes", 0)) for v in values)


def sent_inputs(inputs: Inputs, lent: Mapping[str, protocol.Input] | None = None) -> Any:  # noqa: ANN401 `protocol.Inputs`, some of them encoded
    """What is sent for inputs; an encoded one stands for itself until it is on the wire."""
    sent = {n: getattr(s, "sent", None) or protocol.Input(**s) for n, s in inputs.items()}
    return {**sent, **(lent or {})}
