"""Kinds that hold results against a law, not a value: `gradcheck` and `conservation`.

`gradcheck`: gradients agree with numerical differences of the *reference's* forward: a forward that
is wrong in the same way as its backward cannot vouch for itself.  Where the function has kinks (a
maximum), inputs keep their distance from them and the step stays below it.  Allowed are 1e-7 of the
largest gradient plus 20 times the estimated error of the difference itself.

`conservation`: a sum of a result along some axes equals that of an input or of another result of
the same submission, or a number: every gradient that comes into a pooling window leaves it, merged
weights give what unmerged ones do.  It holds at ties and kinks too, where no difference exists.
Allowed are 1e-7 of what is added up on both sides, in the dtype's precision where that is coarser.

Both allow no less than what rounding may leave of the numbers that a result is computed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from grader.cases.recipe import run_inputs, steps_producing
from grader.grading.kinds.base import CaseTrial, Kind, api
from grader.model.number_format import format_number, format_shape
from grader.model.question import Step
from grader.model.spec import Name, NameReference, Show, TolerantCheck, yaml_key

RELATIVE = 1e-7
ESTIMATED_ERRORS = 20.0
ResultEntry = Annotated[
    str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\[[A-Za-z0-9_]+\])?$", max_length=60)
]


class GradcheckCheck(TolerantCheck):
    """Gradients agree with differences of the reference's forward."""

    kind: Literal["gradcheck"]
    loss: Name = yaml_key(
        "The result that is differentiated, numerically, in the reference; loss, or "
        "else the y of which grad_y is an input.",
        "",
    )
    cotangent: Name | None = yaml_key(
        "The input that the loss is contracted with, where it is an array.", None
    )
    gradients: dict[Name, ResultEntry] = yaml_key(
        "By input, the result that should be its gradient, or an entry of one, "
        "grads[w] or grads[0], which needs quotes inside {}; the grad_x of every input x.",
        {},
    )
    kinks: bool = yaml_key(
        "Whether the loss has kinks, as a maximum has: steps then stay below a quarter "
        "of the smallest gap between two values of an input.",
        False,
    )

    @property
    def required_results(self) -> tuple[str, ...]:
        return (self.loss, *self.compared_results)

    @property
    def compared_results(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name.partition("[")[0] for name in self.gradients.values()))

    def with_default_results(self, steps: Sequence[Step]) -> Self:
        made, taken = [name for step in steps for name in step.targets], run_inputs(steps)
        arriving = {name: f"grad_{name}" for name in made if f"grad_{name}" in taken}
        loss = self.loss or "loss" * ("loss" in made) or next(iter(arriving), "")
        wrt = {name: f"grad_{name}" for name in taken if f"grad_{name}" in made}
        cotangent = self.cotangent or (None if self.loss else arriving.get(loss))
        found = {"loss": loss, "cotangent": cotangent, "gradients": self.gradients or wrt}
        return self.model_copy(update=found)

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for name in self.gradients:
            yield NameReference(("gradients", name), name, "input")
        if self.cotangent is not None:
            yield NameReference(("cotangent",), self.cotangent, "input")
        if self.loss:
            yield NameReference(("loss",), self.loss, "result")
        for name, gradient in self.gradients.items():
            yield NameReference(("gradients", name), gradient.partition("[")[0], "result")

    def missing_configuration(self) -> str:
        return "" if self.gradients and self.loss else "a loss and gradients"


class GradcheckKind(Kind[GradcheckCheck]):
    """Compare every gradient of the check on every case."""

    keys = GradcheckCheck
    judges_values = True
    is_law = True

    def judge(self, trial: CaseTrial[GradcheckCheck]) -> api.CaseFinding | None:
        np, check, case, values = api.np, trial.check, trial.case, trial.submission_outcome.values
        numeric = _differences(trial)
        for wrt, name in check.gradients.items():
            want, error = (np.asarray(numeric[wrt][key], np.float64) for key in ("value", "error"))
            value = _entry(values, name)
            got = api.to_floats(value)
            if got is None or got.shape != want.shape:
                found, wanted = api.describe_value(value), format_shape(want.shape)
                return trial.failing_finding(
                    f"{name} is {found}, expected floats of shape {wanted}"
                )
            scale = api.largest_magnitude(want)
            whole = name.partition("[")[0]
            allowed = np.maximum(
                RELATIVE * scale + ESTIMATED_ERRORS * error, _floor(trial, whole, scale)
            )
            tolerance = check.tolerance
            if tolerance is not None and tolerance.applies_to(whole):
                allowed = np.maximum(allowed, api.allowed_by_check(tolerance, want))
            with np.errstate(invalid="ignore"):  # at -inf there is no difference
                wrong = np.isfinite(want) & ~(np.abs(got - want) <= allowed)
            fault = api.mismatch_of_entries(name, got, want, wrong, allowed)
            if fault is not None:
                count = f"{fault.wrong} of {fault.total} entries"
                return api.CaseFinding(
                    f"{name} disagrees with differences of the forward in {count}",
                    mismatch=fault.to_report(case.name),
                    exhibit=api.make_grids(trial.evaluation, case, fault, Show(), check.run),
                    subject=name if name == whole else "",
                )
        return None


def _differences(trial: CaseTrial[GradcheckCheck]) -> Mapping[str, Mapping[str, api.Array]]:
    """By input, the numerical gradient of <cotangent, loss> and its estimated error, once."""
    evaluation, check, case = trial.evaluation, trial.check, trial.case

    def measured() -> Mapping[str, Mapping[str, api.Array]]:
        steps = steps_producing(trial.steps, check.loss)
        every = trial.inputs(mode=api.PRECISE)
        cotangent = None
        if check.cotangent is not None:
            cotangent = api.to_array(evaluation.drawn_inputs(case)[check.cotangent]).astype(
                api.np.float64
            )
        with api.blame_bank(f"the reference cannot be differentiated on case {case.name}"):
            return evaluation.reference.numerical_gradients(
                steps,
                {name: every[name] for name in run_inputs(steps)},
                wrt=list(check.gradients),
                of=check.loss,
                cotangent=cotangent,
                kinks=check.kinks,
            )

    return evaluation.remember(("differences", check.id, case.name), measured)


class ConservationCheck(TolerantCheck):
    """A sum of a result equals that of something else."""

    kind: Literal["conservation"]
    sum: Name = yaml_key("The result that is added up.")
    over: list[int] = yaml_key("Along these axes; entry by entry if not given.", [])
    equals: Name | int | float = yaml_key(
        "What it must equal: a number, or the sum along the same axes of an input, or "
        "of another result of the same submission."
    )

    @property
    def required_results(self) -> tuple[str, ...]:
        return (self.sum, self.equals) if isinstance(self.equals, str) else (self.sum,)

    @property
    def compared_results(self) -> tuple[str, ...]:
        return ()

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        if isinstance(self.equals, str):
            yield NameReference(("equals",), self.equals, "input or result")
        yield NameReference(("sum",), self.sum, "result")


class ConservationKind(Kind[ConservationCheck]):
    """Compare the sums on every case."""

    keys = ConservationCheck
    judges_values = True
    is_law = True

    def judge(self, trial: CaseTrial[ConservationCheck]) -> api.CaseFinding | None:
        np, check, case = api.np, trial.check, trial.case
        observed = trial.submission_result(check.sum)
        got = api.to_floats(observed)
        if got is None:
            return trial.failing_finding(
                f"{check.sum} is {api.describe_value(observed)}, expected floats"
            )
        right, axes = trial.reference_outcome.values, tuple(check.over)
        known = api.to_array(right[check.sum])
        _require(check.sum, known.shape, axes)
        if got.shape != known.shape:
            has, needs = format_shape(got.shape), format_shape(known.shape)
            return trial.failing_finding(f"{check.sum} has shape {has}, expected {needs}")
        if not np.isfinite(got).all():
            return trial.failing_finding(f"{check.sum} holds NaN or infinity")
        total = np.asarray(got.sum(axis=axes))
        if isinstance(check.equals, str):
            drawn = trial.evaluation.drawn_inputs(case)
            own = check.equals not in drawn
            other = api.to_array((right if own else drawn)[check.equals])
            _require(check.equals, other.shape, axes)
            if own:
                given = trial.submission_result(check.equals)
                mine = api.to_floats(given)
                if mine is None or mine.shape != other.shape:
                    needs = f"expected floats of shape {format_shape(other.shape)}"
                    return trial.failing_finding(
                        f"{check.equals} is {api.describe_value(given)}, {needs}"
                    )
                other = mine
            want = np.asarray(np.asarray(other, np.float64).sum(axis=axes))
            what = f"the sum of {check.equals}"
        else:
            want = np.full(total.shape, float(check.equals))
            what = format_number(float(check.equals))
        if total.shape != want.shape:
            of = f"of {check.sum} and of {check.equals} over {list(axes)}"
            raise api.BankProgramError(f"the sums {of} differ in shape")
        sizes = np.abs(got).sum(axis=axes), np.abs(want)
        scale = sum(float(np.max(size, initial=0.0)) for size in sizes)
        epsilon = {"float32": 2.0**-23, "bfloat16": 2.0**-7}.get(case.dtype, 2.0**-52)
        share = max(RELATIVE if case.dtype == "float64" else 0.0, 64 * epsilon)
        floor = _floor(trial, check.sum, api.largest_magnitude(known))
        allowed = np.asarray(np.full(want.shape, max(share * scale, floor)))
        if check.tolerance is not None and check.tolerance.applies_to(check.sum):
            allowed = np.asarray(np.maximum(allowed, api.allowed_by_check(check.tolerance, want)))
        fault = api.mismatch_of_entries(check.sum, total, want, ~(np.abs(total - want) <= allowed))
        if fault is None or fault.index is None:
            return None
        if not axes and fault.index:
            count = f"{fault.wrong} of {fault.total} entries"
            return api.CaseFinding(
                f"{check.sum} is not {what.removeprefix('the sum of ')} in {count}",
                mismatch=fault.to_report(case.name),
                exhibit=api.make_grids(trial.evaluation, case, fault, Show(), check.run),
                subject=check.sum,
            )
        found, wanted = (format_number(float(sums[fault.index])) for sums in (total, want))
        where = f" at {list(fault.index)}" if fault.index else ""
        return api.CaseFinding(
            f"{check.sum} summed over axes {list(axes)} is {found}, expected {what}, "
            f"{wanted}{where} in case {case.name}"
        )

    def observe(self, trial: CaseTrial[ConservationCheck]) -> api.Value:
        return trial.submission_result(trial.check.sum)


def _require(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Raise BankFault where an array has not all of some axes, each once."""
    places = {axis % len(shape) for axis in axes if -len(shape) <= axis < len(shape)}
    if len(places) != len(axes):
        raise api.BankProgramError(
            f"{name} of shape {format_shape(shape)} has no axes {list(axes)}"
        )


def _floor(
    trial: CaseTrial[GradcheckCheck] | CaseTrial[ConservationCheck], name: str, size: float
) -> float:
    """What rounding may leave of the numbers that a result of some size is computed from."""
    entered = api.input_scale(trial.evaluation, trial.check.run, trial.case, name)
    return api.minimum_tolerance(trial.case.dtype, size, entered)


def _entry(values: Mapping[str, api.Value], name: str) -> api.Value:
    """A result, or an entry of a dict, a list or a tuple; None where there is none."""
    whole, _, key = name.removesuffix("]").partition("[")
    value = values.get(whole)
    if not key:
        return value
    if isinstance(value, dict):
        return value.get(key)
    listed = value if isinstance(value, (list, tuple)) and key.isdecimal() else ()
    return next(iter(listed[int(key or 0) :]), None) if listed else None
