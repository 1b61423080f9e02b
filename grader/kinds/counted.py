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
from grader.cases.recipe import producing
from grader.kinds.base import Check, Count, K, Kind, Trial, api
from grader.model.numerals import bytes_text, times
from grader.model.spec import Amount, Mention, Name, key


class Counted(Kind[K]):
    """Judge what was counted."""

    long_limit = True

    def quantity(self, check: K) -> tuple[str, str, tuple[str, ...]]:
        """What is measured, of which result if of one, and without which inputs."""
        raise NotImplementedError

    def assess(self, trial: Trial[K], found: api.Measured, /) -> api.Finding:
        """What follows from the submission's count."""
        raise NotImplementedError

    def allowed(self, trial: Trial[K]) -> float:  # noqa: ARG002
        """The most that a count may be where it is a number.

        Raises:
            BankFault: it cannot be worked out.
        """
        return 0.0

    def share(self, trial: Trial[K]) -> float | None:
        count = self.measured(trial, trial.evaluation.submission).value
        return None if isinstance(count, str) else count / max(1.0, self.allowed(trial))

    def what(self, check: K, found: api.Measured, /) -> Sequence[str] | None:  # noqa: ARG002
        """What was counted, a word for each thing; None where only their number is known."""
        return None

    def judge(self, trial: Trial[K]) -> api.Finding:
        return self.assess(trial, self.measured(trial, trial.evaluation.submission))

    def observe(self, trial: Trial[K]) -> Count | str:
        """The count, and what it is a count of."""
        found = self.measured(trial, trial.evaluation.submission)
        if isinstance(found.value, str):
            return found.value
        what = self.what(trial.check, found)
        return Count(found.value, None if what is None else tuple(sorted(what)))

    def measured(
        self, trial: Trial[K], program: api.RemoteProgram, run: str | None = None
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
        steps = producing(every, of) if of else every

        def once(asked: api.RemoteProgram) -> api.Measured:
            return asked.measure(quantity, steps, inputs, without=without, of=of)

        def ask(asked: api.RemoteProgram) -> api.Measured:
            found, judged = once(asked), program is trial.evaluation.submission
            if isinstance(found.value, str) or (judged and found.value <= self.allowed(trial)):
                return found
            return once(asked)

        evaluation, case = trial.evaluation, trial.case
        key = ("measured", quantity, run, case.name, without, of)
        return evaluation.remember(key, lambda: evaluation.asked(case, ask, program), program)

    def baseline(self, trial: Trial[K], run: str | None = None) -> api.Measured:
        """The same of the reference."""
        said = "the reference" if run is None else f"the run {run} of the reference"
        with api.blame_bank(f"{said} fails on case {trial.case.name}"):
            return self.measured(trial, trial.evaluation.reference, run)


class BudgetCheck(Check):
    """Bytes of one result, or of the step that gives it, within a budget."""

    of: Name = key("The result.")
    at_most: Amount = key(
        "The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'."
    )

    @property
    def wanted(self) -> tuple[str, ...]:
        """Nothing: other checks look at results, and what is kept stays in the worker."""
        return ()

    def mentions(self) -> Iterator[Mention]:
        yield from super().mentions()
        for name in sorted(size_expr.names(self.at_most)):
            yield Mention(("at_most",), name, "size")


B = TypeVar("B", bound=Check)


class Budgeted(Counted[B]):
    """Hold bytes against a budget."""

    shows_measurement = True
    shows_reference: ClassVar[bool] = True  # beside what is too much

    def does(self, check: B) -> str:  # noqa: ARG002
        """What is done with the bytes, in a pass."""
        return "kept"

    def over(self, trial: Trial[B], size: str) -> str:
        """The beginning of the sentence on bytes above the budget."""
        raise NotImplementedError

    def allowed(self, trial: Trial[B]) -> float:
        known = dict(trial.truth.values)
        for name, value in trial.evaluation.drawn(trial.case).items():
            dtype = trial.case.inputs[name].dtype or trial.case.dtype
            known[name] = api.Tensor(value, dtype) if isinstance(value, api.np.ndarray) else value
        sizes = {name: _sizes(value) for name, value in known.items()}
        try:
            return size_expr.value(vars(trial.check)["at_most"], sizes)
        except size_expr.AmountError as error:
            raise api.BankFault(f"{trial.check.id}: {error}") from None

    def assess(self, trial: Trial[B], found: api.Measured) -> api.Finding:
        size, allowed = float(found.value), self.allowed(trial)
        figures = {"bytes": size, "allowed": allowed}
        tail = f"{bytes_text(allowed)} allowed"
        if size <= allowed:
            line = f"{bytes_text(size)} {self.does(trial.check)}, {tail}"
            return api.Finding.passed(line, **figures)
        line = f"{self.over(trial, bytes_text(size))}, {tail}"
        line += f" ({times(size / allowed)})" if allowed > 0 else ""
        exhibit = self.bars(trial, found)
        return api.Finding(f"{line} in case {trial.case.name}", exhibit=exhibit, figures=figures)

    def bars(self, trial: Trial[B], found: api.Measured, *others: tuple[str, float]) -> api.Bars:
        """The count beside the budget and the reference's."""
        bars = [*others, ("yours", float(found.value)), ("allowed", self.allowed(trial))]
        if self.shows_reference:
            bars.append(("reference", float(self.baseline(trial).value)))
        details = tuple(f"{what}  {bytes_text(n)}" for what, n in found.details)
        course = (found.course, self.baseline(trial).course) if found.course else ()
        return replace(api.bars(bytes_text, *bars, details=details), course=course)


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
    of: Name = key("What one step hands to another.")


class State(Budgeted[StateCheck]):
    """Count the bytes that are kept."""

    keys = StateCheck
    slow = True  # every allocation is traced
    shows_reference = False  # the budget says how little is enough

    def quantity(self, check: StateCheck) -> tuple[str, str, tuple[str, ...]]:
        return "state", check.of, ()

    def over(self, trial: Trial[StateCheck], size: str) -> str:
        return f"{size} kept in {trial.check.of}"

    def what(self, _: StateCheck, found: api.Measured, /) -> Sequence[str]:
        return found.kept


class PeakCheck(BudgetCheck):
    """Bytes that are allocated at once."""

    kind: Literal["peak"]
    of: Name = key(
        "A result: the step that gives it is looked at, and none before it. The "
        "result counts, inputs do not."
    )


class Peak(Budgeted[PeakCheck]):
    """Count the bytes that are allocated at once, each array however short its life."""

    keys = PeakCheck
    without_torch = True
    slow = True  # every allocation is traced

    def does(self, check: PeakCheck) -> str:  # noqa: ARG002
        return "at once"

    def quantity(self, check: PeakCheck) -> tuple[str, str, tuple[str, ...]]:
        return "allocated", check.of, ()

    def over(self, trial: Trial[PeakCheck], size: str) -> str:
        step = producing(trial.steps, trial.check.of)[-1]
        return f"{step.function} allocates {size} at once"

    def by_style(self, check: PeakCheck) -> bool:  # noqa: ARG002
        return True
