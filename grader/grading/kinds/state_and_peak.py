"""Kinds whose worker counts while a run goes on, and those that count bytes: `state` and `peak`.

The counts are the same on every machine, and decided without tolerance.  They are the word of the
process that the submission runs in.

`state` counts every byte reachable from the object, and what outlives all results: what hides in a
global.  `peak` is of what numpy and Python allocate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar, Literal, TypeVar

from grader.cases import size_expr
from grader.cases.recipe import steps_producing
from grader.grading.kinds.base import CaseTrial, Check, Count, K, Kind, api
from grader.model.number_format import format_bytes, format_ratio
from grader.model.spec import Amount, Name, NameReference, yaml_key


class CountedKind(Kind[K]):
    """Judge what was counted."""

    stops_late = True

    def quantity(self, check: K) -> tuple[str, str, tuple[str, ...]]:
        """What is measured, of which result if of one, and without which inputs."""
        raise NotImplementedError

    def assess(self, trial: CaseTrial[K], found: api.Measured, /) -> api.CaseFinding:
        """What follows from the submission's count."""
        raise NotImplementedError

    def max_count(self, trial: CaseTrial[K]) -> float:  # noqa: ARG002
        """The most that a count may be where it is a number.

        Raises:
            BankFault: it cannot be worked out.
        """
        return 0.0

    def budget_share(self, trial: CaseTrial[K]) -> float | None:
        count = self.measure_program(trial, trial.evaluation.submission).value
        return None if isinstance(count, str) else count / max(1.0, self.max_count(trial))

    def count_items(self, check: K, found: api.Measured, /) -> Sequence[str] | None:  # noqa: ARG002
        """What was counted, a word for each thing; None where only their number is known."""
        return None

    def judge(self, trial: CaseTrial[K]) -> api.CaseFinding:
        return self.assess(trial, self.measure_program(trial, trial.evaluation.submission))

    def observe(self, trial: CaseTrial[K]) -> Count | str:
        """The count, and what it is a count of."""
        found = self.measure_program(trial, trial.evaluation.submission)
        if isinstance(found.value, str):
            return found.value
        what = self.count_items(trial.check, found)
        return Count(found.value, None if what is None else tuple(sorted(what)))

    def measure_program(
        self, trial: CaseTrial[K], program: api.RemoteProgram, run: str | None = None
    ) -> api.Measured:
        """What the worker of a program counts in the check's run, or another; once.

        What a first call imports or caches is not what it costs: where that would be too much, and
        for a program of the bank, a second one is counted.  The quantities are those of
        `worker.measure`.
        """
        quantity, of, without = self.quantity(trial.check)
        if run is not None:
            of, without = "", ()
        run = run or trial.check.run
        every, inputs = trial.evaluation.steps(run), trial.evaluation.inputs(trial.case, run)
        steps = steps_producing(every, of) if of else every

        def once(asked: api.RemoteProgram) -> api.Measured:
            return asked.measure(quantity, steps, inputs, without=without, of=of)

        def ask(asked: api.RemoteProgram) -> api.Measured:
            found, judged = once(asked), program is trial.evaluation.submission
            if isinstance(found.value, str) or (judged and found.value <= self.max_count(trial)):
                return found
            return once(asked)

        evaluation, case = trial.evaluation, trial.case
        key = ("measured", quantity, run, case.name, without, of)
        return evaluation.remember(key, lambda: evaluation.ask_program(case, ask, program), program)

    def measure_reference(self, trial: CaseTrial[K], run: str | None = None) -> api.Measured:
        """The same of the reference."""
        said = "the reference" if run is None else f"the run {run} of the reference"
        with api.blame_bank(f"{said} fails on case {trial.case.name}"):
            return self.measure_program(trial, trial.evaluation.reference, run)


class BudgetCheck(Check):
    """Bytes of one result, or of the step that gives it, within a budget."""

    of: Name = yaml_key("The result.")
    at_most: Amount = yaml_key(
        "The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )

    @property
    def required_results(self) -> tuple[str, ...]:
        """Nothing: other checks look at results, and what is kept stays in the worker."""
        return ()

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for name in sorted(size_expr.names_in_amount(self.at_most)):
            yield NameReference(("at_most",), name, "size")


B = TypeVar("B", bound=Check)


class BudgetedKind(CountedKind[B]):
    """Hold bytes against a budget."""

    shows_measurement = True
    shows_reference: ClassVar[bool] = True  # beside what is too much

    def pass_phrase(self, check: B) -> str:  # noqa: ARG002
        """What is done with the bytes, in a pass."""
        return "kept"

    def excess_phrase(self, trial: CaseTrial[B], size: str) -> str:
        """The beginning of the sentence on bytes above the budget."""
        raise NotImplementedError

    def max_count(self, trial: CaseTrial[B]) -> float:
        known = dict(trial.reference_outcome.values)
        for name, value in trial.evaluation.drawn_inputs(trial.case).items():
            dtype = trial.case.inputs[name].dtype or trial.case.dtype
            known[name] = api.Tensor(value, dtype) if isinstance(value, api.np.ndarray) else value
        sizes = {name: _sizes(value) for name, value in known.items()}
        try:
            return size_expr.evaluate_amount(vars(trial.check)["at_most"], sizes)
        except size_expr.AmountError as error:
            raise api.BankProgramError(f"{trial.check.id}: {error}") from None

    def assess(self, trial: CaseTrial[B], found: api.Measured) -> api.CaseFinding:
        size, allowed = float(found.value), self.max_count(trial)
        figures = {"bytes": size, "allowed": allowed}
        tail = f"{format_bytes(allowed)} allowed"
        if size <= allowed:
            line = f"{format_bytes(size)} {self.pass_phrase(trial.check)}, {tail}"
            return api.CaseFinding.for_pass(line, **figures)
        line = f"{self.excess_phrase(trial, format_bytes(size))}, {tail}"
        line += f" ({format_ratio(size / allowed)})" if allowed > 0 else ""
        exhibit = self.budget_bars(trial, found)
        return api.CaseFinding(
            f"{line} in case {trial.case.name}", exhibit=exhibit, figures=figures
        )

    def budget_bars(
        self, trial: CaseTrial[B], found: api.Measured, *others: tuple[str, float]
    ) -> api.Bars:
        """The count beside the budget and the reference's."""
        bars = [*others, ("yours", float(found.value)), ("allowed", self.max_count(trial))]
        if self.shows_reference:
            bars.append(("reference", float(self.measure_reference(trial).value)))
        details = tuple(f"{what}  {format_bytes(n)}" for what, n in found.details)
        course = (found.course, self.measure_reference(trial).course) if found.course else ()
        return replace(api.make_bars(format_bytes, *bars, details=details), course=course)


def _sizes(value: api.Value) -> api.Value:
    """The sizes of a tensor, in its own dtype (bfloat16 is held wider); a number as it is."""
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
    """Count the bytes that are kept."""

    keys = StateCheck
    is_slow_to_observe = True  # every allocation is traced
    shows_reference = False  # the budget says how little is enough

    def quantity(self, check: StateCheck) -> tuple[str, str, tuple[str, ...]]:
        return "state", check.of, ()

    def excess_phrase(self, trial: CaseTrial[StateCheck], size: str) -> str:
        return f"{size} kept in {trial.check.of}"

    def count_items(self, _: StateCheck, found: api.Measured, /) -> Sequence[str]:
        return found.kept


class PeakCheck(BudgetCheck):
    """Bytes that are allocated at once."""

    kind: Literal["peak"]
    of: Name = yaml_key(
        "A result: the step that gives it is looked at, and none before it. The "
        "result counts, inputs do not."
    )


class PeakKind(BudgetedKind[PeakCheck]):
    """Count the bytes that are allocated at once, each array however short its life."""

    keys = PeakCheck
    without_torch = True
    is_slow_to_observe = True  # every allocation is traced

    def pass_phrase(self, check: PeakCheck) -> str:  # noqa: ARG002
        return "at once"

    def quantity(self, check: PeakCheck) -> tuple[str, str, tuple[str, ...]]:
        return "allocated", check.of, ()

    def excess_phrase(self, trial: CaseTrial[PeakCheck], size: str) -> str:
        step = steps_producing(trial.steps, trial.check.of)[-1]
        return f"{step.function} allocates {size} at once"

    def varies_with_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        return True
