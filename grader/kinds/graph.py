"""Check `graph`: a tensor comes out of the submission's own autograd.Function.

The worker says which node it is, and has that node multiply what it gives by a number that differs
from grade to grade: gradients that are not multiplied came another way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from pydantic import Field

from grader.kinds.base import Check, kit
from grader.kinds.counted import Counted
from grader.model.keys import Name


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = Field(description="The tensor.")

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: the worker looks at the graph."""
        return ()


class Graph(Counted[GraphCheck]):
    """Ask which node of the autograd graph the tensor comes from."""

    keys = GraphCheck
    needs_torch = True

    def measure(
        self, bench: kit.Bench, program: kit.RemoteProgram, check: GraphCheck, case: kit.Case
    ) -> kit.Measured:
        """The node: `own`, a node's name, or `none`."""
        factor = _factor(bench)
        return kit.measure(bench, program, check.run, case, "graph", of=check.of, factor=factor)

    def meant(self, bench: kit.Bench, check: GraphCheck, name: str, value: kit.Value) -> kit.Value:
        """Gradients of the tensor came through the node, which multiplied them."""
        steps = bench.steps(check.run)
        if not any(name in step.targets for step in steps if _differentiates(step, check.of)):
            return value
        if isinstance(value, kit.Tensor):
            return replace(value, values=(value.values * _factor(bench)).astype(value.values.dtype))
        return value

    def assess(
        self, _: kit.Bench, check: GraphCheck, case: kit.Case, found: kit.Measured
    ) -> kit.Finding:
        """A Function that the submission defines, and none of torch's."""
        origin = str(found.value)
        if origin == "own":
            return kit.Finding.passed()
        if origin == "none":
            return kit.Finding(
                f"{check.of} has no graph: nothing can flow back through it (case {case.name})"
            )
        where = f" (case {case.name})"
        if origin.startswith(("CheckpointFunction", "_CheckpointFrame")):
            origin, where = "torch.utils.checkpoint", ""
        return kit.Finding(
            f"{check.of} comes from {origin}, not from an autograd.Function of yours{where}"
        )


def _factor(bench: kit.Bench) -> float:
    return 2 + bench.secret % 4096 / 256


def _differentiates(step: kit.Step, of: str) -> bool:
    """Whether a step asks for gradients of the tensor itself."""
    return step.backward and step.arguments[0].name == of
