"""Check `graph`: a tensor comes out of the submission's own autograd.Function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from grader.kinds.base import Kind
from grader.model.spec import Check, Name

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.bench.tally import Finding
    from grader.cases.recipe import CaseRecipe
    from grader.model.report import CheckResult
    from grader.sandbox.remote import RemoteProgram
    from grader.sandbox.replies import Measured


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

    def carry_out(self, bench: Bench, check: GraphCheck) -> CheckResult:
        """A Function that the submission defines, and none of torch's."""
        from grader.bench.measured import differs_when_measured
        from grader.bench.tally import Finding, tally

        def judge(case: CaseRecipe) -> Finding | None:
            seen = _origin(bench, bench.submission, check, case)
            found = str(seen.value)
            if found == "own":
                return differs_when_measured(
                    bench,
                    check.run,
                    case,
                    seen.results,
                    lambda: _origin(bench, bench.reference, check, case).results,
                )
            if found == "none":
                return Finding(
                    f"{check.of} has no graph: nothing can flow back through it (case {case.name})"
                )
            if found.startswith(("CheckpointFunction", "_CheckpointFrame")):
                return Finding(
                    f"{check.of} comes from torch.utils.checkpoint, "
                    "not from an autograd.Function of yours"
                )
            return Finding(
                f"{check.of} comes from {found}, "
                f"not from an autograd.Function of yours (case {case.name})"
            )

        return tally(bench, check, judge)

    def observe(self, bench: Bench, check: GraphCheck, case: CaseRecipe) -> str:
        """Which node the tensor comes from: `own`, a node's name, or `none`."""
        return str(_origin(bench, bench.submission, check, case).value)


def _origin(bench: Bench, program: RemoteProgram, check: GraphCheck, case: CaseRecipe) -> Measured:
    from grader.bench.measured import measure

    return measure(bench, program, check.run, case, "graph", of=check.of)
