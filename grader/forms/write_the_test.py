"""Form `write-the-test`: a test, which has to accept what is right and reject what is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import Path
from grader.forms.fix import Fix
from grader.model.spec import Spec


class WriteTheTest(Fix):
    """The submission is a test; the driver makes what it is tried on, in another process."""

    apart = True

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """No verdicts, calls that no driver makes, and what does not cross between processes."""
        yield from super().faults(spec)
        if not any(getattr(check, "reject", None) is not None for check in spec.checks):
            yield ("form",), "form: expected a check of kind verdicts, which a test is graded by"
        for check in spec.checks:
            if not check.only_runs:
                found = f"found {check.id} of kind {check.kind}"
                yield ("form",), f"form: expected checks that measure nothing of a test, {found}"
        if spec.needs_torch:
            yield ("uses",), "uses: expected numpy alone: tensors are not handed to a test"
        for run, steps in spec.runs.items():
            for number, step in enumerate(steps):
                if not step.partition("=")[2].strip().startswith("driver."):
                    text = "expected a step of the driver, which calls the test"
                    yield spec.step_keys(run, number), f"{run}: {text}, found {step}"
