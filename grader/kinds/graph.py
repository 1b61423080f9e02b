"""Check `graph`: a tensor comes out of the submission's own autograd.Function."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import Check, api
from grader.kinds.counted import Counted
from grader.model.spec import Name


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = Field(description="The tensor.")

    @property
    def wanted(self) -> tuple[str, ...]:
        return ()


class Graph(Counted[GraphCheck]):
    """Ask which node of the autograd graph the tensor comes from."""

    keys = GraphCheck
    needs_torch = True

    def quantity(self, check: GraphCheck) -> tuple[str, str, tuple[str, ...]]:
        return "graph", check.of, ()

    def assess(
        self, _: api.Evaluation, check: GraphCheck, case: api.Case, found: api.Measured
    ) -> api.Finding:
        origin = str(found.value)
        if origin == "own":
            return api.Finding.passed()
        if origin == "none":
            return api.Finding(
                f"{check.of} has no graph: nothing can flow back through it (case {case.name})"
            )
        where = f" (case {case.name})"
        if origin.startswith(("CheckpointFunction", "_CheckpointFrame")):
            origin, where = "torch.utils.checkpoint", ""
        return api.Finding(
            f"{check.of} comes from {origin}, not from an autograd.Function of yours{where}"
        )
