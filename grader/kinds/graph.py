"""Check `graph`: a tensor comes out of the submission's own autograd.Function."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import Check, kit
from grader.kinds.counted import Counted
from grader.model.spec import Name


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
        return kit.measure(bench, program, check.run, case, "graph", of=check.of)

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
