"""Forms of which the submission is a program: `fix`, `diagnose`, `write-the-test`."""

from __future__ import annotations

from collections.abc import Iterator

from grader.forms.base import Form, Material
from grader.model.errors import did_you_mean
from grader.model.spec import KeyPath, Spec


class FixForm(Form):
    """The submission is the program."""

    file = "submission.py"
    is_text = False

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """Keys that are of other forms."""
        if spec.answers:
            yield ("answers",), "expected form: estimate, predict or derive, found none"
        for key in ("causes", "log", "experiments") if spec.form == "fix" else ():
            if getattr(spec, key):
                yield (key,), "expected form: diagnose, found none"


class DiagnoseForm(FixForm):
    """The submission is the program; one of its functions returns the ids of causes."""

    def materials(self, spec: Spec) -> Iterator[Material]:
        """The log of the script as it is handed out, and what may have been wrong."""
        if spec.log:
            yield Material("Log of a run with seed 0", spec.log.rstrip(), "text")
        yield Material("Possible causes (some are red herrings)", rows=tuple(spec.causes.items()))

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """Causes that no check judges, and checks that judge what is not shown."""
        yield from super().spec_errors(spec)
        judged = {name: c.id for c in spec.checks for name in getattr(c, "known_causes", ())}
        if not spec.causes or not judged:
            yield ("form",), "expected causes, and a check of kind causes, which judges them"
            return
        for name in (name for name in judged if name not in spec.causes):
            near = did_you_mean(name, list(spec.causes))
            yield ("causes",), f"expected {name}, which {judged[name]} judges{near}"
        for name in (name for name in spec.causes if name not in judged):
            where = f"exactly, allowed or innocent of {next(iter(judged.values()))}"
            yield ("causes", name), f"expected it in {where}"
        if spec.log and spec.experiments is None:
            yield ("log",), "expected experiments, which say how to make it, found none"


class WriteTheTestForm(FixForm):
    """The submission is a test; the driver makes what it is tried on, in another process."""

    runs_in_two_processes = True

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """No verdicts, calls that no driver makes, and what does not cross between processes."""
        yield from super().spec_errors(spec)
        if not any(getattr(check, "reject", None) is not None for check in spec.checks):
            yield ("form",), "expected a check of kind verdicts, which a test is graded by"
        for check in spec.checks:
            if not check.only_runs:
                found = f"found {check.id} of kind {check.kind}"
                yield ("form",), f"expected checks that measure nothing of a test, {found}"
        if spec.needs_torch:
            yield ("uses",), "expected numpy alone: tensors are not handed to a test"
        for run, steps in spec.runs.items():
            for number, step in enumerate(steps):
                if not step.partition("=")[2].strip().startswith("driver."):
                    text = "expected a step of the driver, which calls the test"
                    yield spec.step_path(run, number), f"{text}, found {step}"
