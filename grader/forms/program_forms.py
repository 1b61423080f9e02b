"""Forms whose submission is a program: `fix`, `diagnose`, `write-the-test`."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import Form, Material
from grader.model.errors import SpecErrors, did_you_mean
from grader.model.spec import Spec


class FixForm(Form):
    """Code to fix: the candidate edits `submission.py`, which is graded as it is."""

    file = "submission.py"
    is_text = False

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield the keys that belong to other forms, such as answers."""
        if spec.answers:
            yield ("answers",), "expected form: estimate, predict or derive, found none"
        if spec.form == "fix":
            for key in ("causes", "log", "experiments"):
                if getattr(spec, key):
                    yield (key,), "expected form: diagnose, found none"


class DiagnoseForm(FixForm):
    """The submission is the program; one of its functions returns the ids of causes."""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """Yield the log of the starter, and the possible causes."""
        if spec.log:
            yield Material("Log of a run with seed 0", spec.log.rstrip(), "text")
        yield Material("Possible causes (some are red herrings)", rows=tuple(spec.causes.items()))

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield causes that no check judges or `causes` lacks, and a log without experiments.

        If there are no causes, or no check judges any, that is the only fault.
        """
        yield from super().spec_errors(spec)
        judges = {  # the id of a check, by cause
            cause: check.id for check in spec.checks for cause in getattr(check, "known_causes", ())
        }
        if not spec.causes or not judges:
            yield ("form",), "expected causes, and a check of kind causes, which judges them"
            return
        for cause, check in judges.items():
            if cause not in spec.causes:
                near = did_you_mean(cause, list(spec.causes))
                yield ("causes",), f"expected {cause}, which {check} judges{near}"
        for cause in spec.causes:
            if cause not in judges:
                check = next(iter(judges.values()))
                text = f"expected it in exactly, allowed or innocent of {check}"
                yield ("causes", cause), text
        if spec.log and spec.experiments is None:
            yield ("log",), "expected experiments, which say how to make it, found none"


class WriteTheTestForm(FixForm):
    """The submission is a test; the driver (driver.py) creates its inputs in another process."""

    runs_in_two_processes = True

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield a missing check of kind verdicts, checks that measure, and a use of torch.

        Also yield each step that does not call the driver, which calls the test.
        """
        yield from super().spec_errors(spec)
        if not any(getattr(check, "reject", None) is not None for check in spec.checks):
            yield ("form",), "expected a check of kind verdicts, which a test is graded by"
        for check in spec.checks:
            if not check.only_runs:
                text = "expected checks that measure nothing of a test"
                yield ("form",), f"{text}, found {check.id} of kind {check.kind}"
        if spec.needs_torch:
            yield ("uses",), "expected numpy alone: tensors are not handed to a test"
        for run, steps in spec.runs.items():
            for number, step in enumerate(steps):
                if not step.partition("=")[2].strip().startswith("driver."):
                    text = "expected a step of the driver, which calls the test"
                    yield spec.step_path(run, number), f"{text}, found {step}"
