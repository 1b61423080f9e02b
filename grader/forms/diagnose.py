"""Form `diagnose`: a script with several faults, to be mended, and what they were."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import Material, Path
from grader.forms.fix import Fix
from grader.model.nearest import did_you_mean
from grader.model.spec import Spec

KIND = "causes"


class Diagnose(Fix):
    """The submission is the program; one of its functions returns the ids of causes."""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """The log of the script as it is handed out, and what may have been wrong."""
        if spec.log:
            yield Material("Log of a run with seed 0", spec.log.rstrip(), "text")
        yield Material("Causes, some of them innocent", rows=tuple(spec.causes.items()))

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Causes that no check judges, and checks that judge what is not shown."""
        yield from super().faults(spec)
        judging = [check for check in spec.checks if check.kind == KIND]
        if not (spec.causes and judging):
            yield ("form",), f"form: expected causes, and a check of kind {KIND}, which judges them"
            return
        judged = [(name, check.id) for check in judging for name in getattr(check, "known", ())]
        for name, check in judged:
            if name not in spec.causes:
                near = did_you_mean(name, list(spec.causes))
                yield ("causes",), f"causes: expected {name}, which {check} judges{near}"
        for name in spec.causes.keys() - dict(judged):
            expected = f"expected it in exactly, allowed or innocent of {judging[0].id}"
            yield ("causes", name), f"causes.{name}: {expected}"
        if spec.log and spec.experiments is None:
            yield ("log",), "log: expected experiments, which say how to make it, found none"
