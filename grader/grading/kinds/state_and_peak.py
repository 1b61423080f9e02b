"""The kinds `state` and `peak`, and base classes of all kinds that judge counted bytes or FLOPs.

The counts are the same on every machine, and are judged without tolerance.  They come from the
process in which the submission runs, which could forge them.

`state` counts every byte that is reachable from an object, and bytes that outlive all results, such
as those in a global.  `peak` counts allocations of numpy and Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar, Literal, NamedTuple, TypeVar

from grader.cases import amounts
from grader.cases.recipe import steps_producing
from grader.grading.kinds.base import CaseFinding, CaseTrial, Check, Count, K, Kind, api
from grader.model.number_format import format_bytes, format_ratio
from grader.model.spec import Amount, Name, NameReference, yaml_key


class Quantity(NamedTuple):
    """A quantity that the worker can measure; see `worker.measure`."""

    name: str
    result: str = ""  # the measured result; "" for the whole run
    without: tuple[str, ...] = ()  # inputs that do not count


class CountedKind(Kind[K]):
    """Judge a number that the worker counts while the submission runs."""

    stops_late = True

    def quantity(self, check: K) -> Quantity:
        """Return the quantity to measure."""
        raise NotImplementedError

    def assess(self, trial: CaseTrial[K], measured: api.Measured, /) -> CaseFinding:
        """Return the finding on what the worker measured in the submission's run."""
        raise NotImplementedError

    def max_count(self, trial: CaseTrial[K]) -> float:  # noqa: ARG002
        """Return the largest count that is allowed; 0 if the worker returns a text, not a count.

        Raises:
            BankProgramError: the budget cannot be evaluated.
        """
        return 0.0

    def budget_share(self, trial: CaseTrial[K]) -> float | None:
        count = self.measure_program(trial, trial.evaluation.subject).value
        return None if isinstance(count, str) else count / max(1.0, self.max_count(trial))

    def count_items(self, check: K, measured: api.Measured, /) -> Sequence[str] | None:  # noqa: ARG002
        """Return a description of each counted item, or None if only their number is known."""
        return None

    def judge(self, trial: CaseTrial[K]) -> CaseFinding:
        return self.assess(trial, self.measure_program(trial, trial.evaluation.subject))

    def observe(self, trial: CaseTrial[K]) -> Count | str:
        measured = self.measure_program(trial, trial.evaluation.subject)
        if isinstance(measured.value, str):
            return measured.value
        items = self.count_items(trial.check, measured)
        return Count(measured.value, None if items is None else tuple(sorted(items)))

    def measure_program(
        self, trial: CaseTrial[K], program: api.RemoteProgram, run: str | None = None
    ) -> api.Measured:
        """Measure a program in the check's run, and remember the count.

        The first call of a program may import modules or fill caches, which should not count.  So
        the count of a second call is returned, unless the first count of the judged program is
        within the limit.  If `run` is given, that whole run is measured and every input counts.
        """
        evaluation = trial.evaluation
        case = trial.case
        quantity = self.quantity(trial.check)
        if run is None:
            run = trial.check.run
        else:
            quantity = Quantity(quantity.name)
        steps = evaluation.steps(run)
        inputs = evaluation.inputs(case, run)
        if quantity.result:
            steps = steps_producing(steps, quantity.result)

        def measure_once(loaded: api.RemoteProgram) -> api.Measured:
            return loaded.measure(
                quantity.name, steps, inputs, without=quantity.without, of=quantity.result
            )

        def measure(loaded: api.RemoteProgram) -> api.Measured:
            measured = measure_once(loaded)
            if isinstance(measured.value, str):
                return measured
            if program is evaluation.subject and measured.value <= self.max_count(trial):
                return measured
            return measure_once(loaded)

        key = ("measured", quantity, run, case.name)
        return evaluation.remember(
            key, lambda: evaluation.ask_program(case, measure, program), program
        )

    def measure_reference(self, trial: CaseTrial[K], run: str | None = None) -> api.Measured:
        subject = "the reference" if run is None else f"the run {run} of the reference"
        with api.blame_bank(f"{subject} fails on case {trial.case.name}"):
            return self.measure_program(trial, trial.evaluation.reference, run)

    def baseline(self, trial: CaseTrial[K], run: str) -> float:
        """Return the reference's count in another run, at least 1."""
        return max(1.0, float(self.measure_reference(trial, run).value))


class BudgetCheck(Check):
    """Bytes of one result, or of the step that gives it, within a budget."""

    of: Name = yaml_key("The result.")
    at_most: Amount = yaml_key(
        "The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )

    @property
    def required_results(self) -> tuple[str, ...]:
        """Return no results: other checks compare them, and kept objects stay in the worker."""
        return ()

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for name in sorted(amounts.names_in_amount(self.at_most)):
            yield NameReference(("at_most",), name, "size")


B = TypeVar("B", bound=Check)


class BudgetedKind(CountedKind[B]):
    """Judge a number of bytes, which may not exceed the budget in the key `at_most`."""

    shows_measurement = True
    shows_reference: ClassVar[bool] = True  # next to a count over the budget

    def pass_phrase(self, check: B) -> str:  # noqa: ARG002
        """Return the words that follow the bytes: "kept" in "64 bytes kept, 80 bytes allowed"."""
        return "kept"

    def excess_phrase(self, trial: CaseTrial[B], size: str) -> str:
        """Return the beginning of a sentence on too many bytes: "96 bytes kept in ctx"."""
        return f"{size} {self.pass_phrase(trial.check)}"

    def max_count(self, trial: CaseTrial[B]) -> float:
        values = dict(trial.reference_outcome.values)
        for name, value in trial.evaluation.drawn_inputs(trial.case).items():
            dtype = trial.case.inputs[name].dtype or trial.case.dtype
            values[name] = api.Tensor(value, dtype) if isinstance(value, api.np.ndarray) else value
        sizes = {name: _sizes(value) for name, value in values.items()}
        try:
            return amounts.evaluate_amount(vars(trial.check)["at_most"], sizes)
        except amounts.AmountError as error:
            raise api.BankProgramError(f"{trial.check.id}: {error}") from None

    def assess(self, trial: CaseTrial[B], measured: api.Measured) -> CaseFinding:
        size = float(measured.value)
        allowed = self.max_count(trial)
        figures = {"bytes": size, "allowed": allowed}
        budget = f"{format_bytes(allowed)} allowed"
        if size <= allowed:
            line = f"{format_bytes(size)} {self.pass_phrase(trial.check)}, {budget}"
            return CaseFinding.for_pass(line, **figures)
        line = f"{self.excess_phrase(trial, format_bytes(size))}, {budget}"
        if allowed > 0:
            line += f" ({format_ratio(size / allowed)})"
        return CaseFinding(
            f"{line} in case {trial.case.name}",
            exhibit=self.budget_bars(trial, measured),
            figures=figures,
        )

    def budget_bars(
        self, trial: CaseTrial[B], measured: api.Measured, *others: tuple[str, float]
    ) -> api.Bars:
        """Return a chart of `others`, the count, the budget and usually the reference's count."""
        bars = [*others, ("yours", float(measured.value)), ("allowed", self.max_count(trial))]
        if self.shows_reference:
            bars.append(("reference", float(self.measure_reference(trial).value)))
        details = tuple(f"{item}  {format_bytes(size)}" for item, size in measured.details)
        exhibit = api.make_bars(format_bytes, *bars, details=details)
        if not measured.course:
            return exhibit
        return replace(exhibit, course=(measured.course, self.measure_reference(trial).course))


def _sizes(value: api.Value) -> api.Value:
    """Return an object with `size`, `shape`, `itemsize` and `nbytes` of a tensor, for a budget.

    A bfloat16 entry counts 2 bytes, although it is stored in more.  Other values are returned as
    they are.
    """
    if not isinstance(value, api.Tensor):
        return value
    array = value.values
    itemsize = 2 if value.dtype == "bfloat16" else array.itemsize
    nbytes = itemsize * array.size
    return SimpleNamespace(size=array.size, shape=array.shape, itemsize=itemsize, nbytes=nbytes)


class StateCheck(BudgetCheck):
    """Bytes reachable from an object that one step hands to another."""

    kind: Literal["state"]
    of: Name = yaml_key("What one step hands to another.")


class StateKind(BudgetedKind[StateCheck]):
    """Count the bytes that one step keeps for another."""

    check_model = StateCheck
    is_slow_to_observe = True  # every allocation is traced
    shows_reference = False  # the budget already tells how little is enough

    def quantity(self, check: StateCheck) -> Quantity:
        return Quantity("state", check.of)

    def excess_phrase(self, trial: CaseTrial[StateCheck], size: str) -> str:
        return f"{size} kept in {trial.check.of}"

    def count_items(self, _: StateCheck, measured: api.Measured, /) -> Sequence[str]:
        return measured.kept


class PeakCheck(BudgetCheck):
    """Bytes that are allocated at once."""

    kind: Literal["peak"]
    of: Name = yaml_key(
        "A result: the step that gives it is looked at, and none before it. The "
        "result counts, inputs do not."
    )


class PeakKind(BudgetedKind[PeakCheck]):
    """Count the bytes that are allocated at once, including arrays that live only briefly."""

    check_model = PeakCheck
    without_torch = True
    is_slow_to_observe = True  # every allocation is traced

    def pass_phrase(self, check: PeakCheck) -> str:  # noqa: ARG002
        return "at once"

    def quantity(self, check: PeakCheck) -> Quantity:
        return Quantity("allocated", check.of)

    def excess_phrase(self, trial: CaseTrial[PeakCheck], size: str) -> str:
        step = steps_producing(trial.steps, trial.check.of)[-1]
        return f"{step.function} allocates {size} at once"

    def varies_with_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        return True
