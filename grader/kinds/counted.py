"""What kinds share whose worker counts while a run goes on: bytes, operations, where it came from.

The counts (see `worker.autograd`) are the same on every machine, and decided without tolerance.
"""

from __future__ import annotations

from grader.kinds.base import Count, K, Kind, kit
from grader.model.verdict import Verdict


class Counted(Kind[K]):
    """Judge what was counted, and that the run computes what it does when nobody counts."""

    long_limit = True

    def measure(
        self, bench: kit.Bench, program: kit.RemoteProgram, check: K, case: kit.Case
    ) -> kit.Measured:
        """What the worker of a program counts, and the results of the run."""
        raise NotImplementedError

    def assess(
        self, bench: kit.Bench, check: K, case: kit.Case, found: kit.Measured, /
    ) -> kit.Finding:
        """What follows from the submission's count alone."""
        raise NotImplementedError

    def judge(self, bench: kit.Bench, check: K, case: kit.Case) -> kit.Finding:
        """A pass by the count is one only where the results do not depend on being counted."""
        found = self.measure(bench, bench.submission, check, case)
        finding = self.assess(bench, check, case, found)
        if finding.verdict is not Verdict.PASS:
            return finding
        return kit.unless_it_differs(
            bench,
            check.run,
            case,
            found.results,
            lambda: self.measure(bench, bench.reference, check, case).results,
            finding,
        )

    def observe(self, bench: kit.Bench, check: K, case: kit.Case) -> Count | str:
        """The count."""
        value = self.measure(bench, bench.submission, check, case).value
        return value if isinstance(value, str) else Count(value)
