"""Check `graph`: a tensor comes out of the submission's own autograd.Function."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from grader.kinds.base import Check, CheckResult, Kind, kit
from grader.model.spec import Name


class GraphCheck(Check):
    """The tensor comes out of the submission's own autograd.Function."""

    kind: Literal["graph"]
    of: Name = Field(description="The tensor.")

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: the worker looks at the graph."""
        return ()


class Graph(Kind[GraphCheck]):
    """Ask which node of the autograd graph the tensor comes from."""

    keys = GraphCheck
    needs_torch = True
    long_limit = True

    def carry_out(self, bench: kit.Bench, check: GraphCheck) -> CheckResult:
        """A Function that the submission defines, and none of torch's."""

        def judge(case: kit.Case) -> kit.Finding:
            seen = _origin(bench, bench.submission, check, case)
            found = str(seen.value)
            if found == "own":
                return kit.unless_it_differs(
                    bench,
                    check.run,
                    case,
                    seen.results,
                    lambda: _origin(bench, bench.reference, check, case).results,
                    kit.Finding.passed(),
                )
            if found == "none":
                return kit.Finding(
                    f"{check.of} has no graph: nothing can flow back through it (case {case.name})"
                )
            if found.startswith(("CheckpointFunction", "_CheckpointFrame")):
                return kit.Finding(
                    f"{check.of} comes from torch.utils.checkpoint, "
                    "not from an autograd.Function of yours"
                )
            return kit.Finding(
                f"{check.of} comes from {found}, "
                f"not from an autograd.Function of yours (case {case.name})"
            )

        return kit.tally(bench, check, judge)

    def observe(self, bench: kit.Bench, check: GraphCheck, case: kit.Case) -> str:
        """Which node the tensor comes from: `own`, a node's name, or `none`."""
        return str(_origin(bench, bench.submission, check, case).value)


def _origin(
    bench: kit.Bench, program: kit.RemoteProgram, check: GraphCheck, case: kit.Case
) -> kit.Measured:
    return kit.measure(bench, program, check.run, case, "graph", of=check.of)
