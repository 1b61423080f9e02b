"""Kinds that test results by a law, not by expected values: `gradcheck` and `conservation`.

`gradcheck`: gradients agree with numerical differences of the *reference's* forward.  The
submission's own forward cannot be used, because it may be wrong in the same way as its backward.
If the function has kinks (a maximum), the step is smaller than the distance of the inputs from
them.  The tolerance is 1e-7 of the largest gradient, plus 20 times the estimated error of the
numerical difference.

`conservation`: the sum of a result along some axes equals a number, or the same sum of an input or
of another result of the same submission.  For example, every gradient that enters a pooling window
leaves it.  The law holds at ties and kinks too, where no numerical difference exists.  The
tolerance is 1e-7 of the terms of both sums, or the dtype's precision if that is coarser.

Neither tolerance is smaller than the rounding error of the numbers that go into a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

from pydantic import Field

from grader.cases.recipe import assigned_names, run_inputs, steps_producing
from grader.grading.kinds.base import CaseFinding, CaseTrial, Kind, api
from grader.model.number_format import format_number, format_shape
from grader.model.spec import Name, NameReference, Show, TolerantCheck, yaml_key
from grader.model.steps import Step

RELATIVE_TOLERANCE = 1e-7
ERROR_FACTOR = 20.0  # times the estimated error of a numerical difference
MIN_EPSILONS = 64  # smallest relative tolerance of a sum, in units of the dtype's epsilon
_EPSILONS = {"float32": 2.0**-23, "bfloat16": 2.0**-7, "float64": 2.0**-52}
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
        return tuple(dict.fromkeys(map(_whole_result, self.gradients.values())))

    def with_default_results(self, steps: Sequence[Step]) -> Self:
        assigned = assigned_names(steps)
        inputs = run_inputs(steps)
        # An input grad_y is the gradient that arrives at a result y.
        arriving = {name: f"grad_{name}" for name in assigned if f"grad_{name}" in inputs}
        loss = self.loss
        cotangent = self.cotangent
        if not loss:
            loss = "loss" if "loss" in assigned else next(iter(arriving), "")
            cotangent = cotangent or arriving.get(loss)
        gradients = self.gradients
        if not gradients:
            gradients = {name: f"grad_{name}" for name in inputs if f"grad_{name}" in assigned}
        return self.model_copy(
            update={"loss": loss, "cotangent": cotangent, "gradients": gradients}
        )

    def referenced_names(self) -> Iterator[NameReference]:
        yield from super().referenced_names()
        for name in self.gradients:
            yield NameReference(("gradients", name), name, "input")
        if self.cotangent is not None:
            yield NameReference(("cotangent",), self.cotangent, "input")
        if self.loss:
            yield NameReference(("loss",), self.loss, "result")
        for name, gradient in self.gradients.items():
            yield NameReference(("gradients", name), _whole_result(gradient), "result")

    def missing_configuration(self) -> str:
        return "" if self.gradients and self.loss else "a loss and gradients"


class GradcheckKind(Kind[GradcheckCheck]):
    """Compare every gradient of the check with numerical differences, on every case."""

    check_model = GradcheckCheck
    judges_values = True
    is_law = True

    def judge(self, trial: CaseTrial[GradcheckCheck]) -> CaseFinding | None:
        np = api.np
        check = trial.check
        case = trial.case
        values = trial.subject_outcome.values
        differences = _differences(trial)
        for wrt, name in check.gradients.items():
            expected = np.asarray(differences[wrt]["value"], np.float64)
            error = np.asarray(differences[wrt]["error"], np.float64)
            value = _result_entry(values, name)
            actual = api.to_floats(value)
            if actual is None or actual.shape != expected.shape:
                return trial.failing_finding(
                    f"{name} is {api.describe_value(value)}, "
                    f"expected floats of shape {format_shape(expected.shape)}"
                )
            scale = api.largest_magnitude(expected)
            allowed = _at_least_usual_tolerance(
                trial,
                _whole_result(name),
                expected,
                RELATIVE_TOLERANCE * scale + ERROR_FACTOR * error,
                scale,
            )
            with np.errstate(invalid="ignore"):  # -inf has no difference
                wrong = np.isfinite(expected) & ~(np.abs(actual - expected) <= allowed)
            mismatch = api.mismatch_of_entries(name, actual, expected, wrong, allowed)
            if mismatch is not None:
                return CaseFinding(
                    f"{name} disagrees with differences of the forward in "
                    f"{mismatch.wrong} of {mismatch.total} entries",
                    mismatch=mismatch.to_report(case.name),
                    exhibit=api.make_grids(trial.evaluation, case, mismatch, Show(), check.run),
                    wrong_result=name if name == _whole_result(name) else "",
                )
        return None


def _differences(trial: CaseTrial[GradcheckCheck]) -> Mapping[str, Mapping[str, api.Array]]:
    """Map each input to its numerical gradient, `value`, and that gradient's estimated `error`.

    What is differentiated is the sum of `cotangent * loss`, by the reference's forward.
    """
    evaluation = trial.evaluation
    check = trial.check
    case = trial.case

    def measure() -> Mapping[str, Mapping[str, api.Array]]:
        steps = steps_producing(trial.steps, check.loss)
        inputs = trial.inputs(mode=api.PRECISE)
        cotangent = None
        if check.cotangent is not None:
            cotangent = api.to_array(evaluation.drawn_inputs(case)[check.cotangent])
            cotangent = cotangent.astype(api.np.float64)
        with api.blame_bank(f"the reference cannot be differentiated on case {case.name}"):
            return evaluation.reference.numerical_gradients(
                steps,
                {name: inputs[name] for name in run_inputs(steps)},
                wrt=list(check.gradients),
                of=check.loss,
                cotangent=cotangent,
                kinks=check.kinks,
            )

    return evaluation.remember(("differences", check.id, case.name), measure)


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
    """Compare the two sums of the law on every case."""

    check_model = ConservationCheck
    judges_values = True
    is_law = True

    def judge(self, trial: CaseTrial[ConservationCheck]) -> CaseFinding | None:
        np = api.np
        check = trial.check
        axes = tuple(check.over)
        value = trial.subject_result(check.sum)
        terms = api.to_floats(value)
        if terms is None:
            return trial.failing_finding(
                f"{check.sum} is {api.describe_value(value)}, expected floats"
            )
        reference_terms = api.to_array(trial.reference_outcome.values[check.sum])
        _require_axes(check.sum, reference_terms.shape, axes)
        if terms.shape != reference_terms.shape:
            return trial.failing_finding(
                f"{check.sum} has shape {format_shape(terms.shape)}, "
                f"expected {format_shape(reference_terms.shape)}"
            )
        if not np.isfinite(terms).all():
            return trial.failing_finding(f"{check.sum} holds NaN or infinity")
        actual = np.asarray(terms.sum(axis=axes))
        if isinstance(check.equals, str):
            equal_terms = _terms_of_equal(trial, check.equals)
            if isinstance(equal_terms, CaseFinding):
                return equal_terms
            expected = np.asarray(np.asarray(equal_terms, np.float64).sum(axis=axes))
        else:
            expected = np.full(actual.shape, float(check.equals))
        if actual.shape != expected.shape:
            raise api.BankProgramError(
                f"the sums of {check.sum} and of {check.equals} over {list(axes)} differ in shape"
            )
        scale = _largest(np.abs(terms).sum(axis=axes)) + _largest(np.abs(expected))
        relative = max(RELATIVE_TOLERANCE, MIN_EPSILONS * _EPSILONS[trial.case.dtype])
        allowed = _at_least_usual_tolerance(
            trial, check.sum, expected, relative * scale, api.largest_magnitude(reference_terms)
        )
        wrong = ~(np.abs(actual - expected) <= allowed)
        mismatch = api.mismatch_of_entries(check.sum, actual, expected, wrong, allowed)
        if mismatch is None or mismatch.index is None:
            return None
        return _conservation_finding(trial, mismatch, actual, expected)

    def observe(self, trial: CaseTrial[ConservationCheck]) -> api.Value:
        return trial.subject_result(trial.check.sum)


def _terms_of_equal(trial: CaseTrial[ConservationCheck], name: str) -> api.Array | CaseFinding:
    """Return the input, or the submission's result, whose sum must be equal to the check's sum.

    Returns a finding if the submission's result has a wrong type or shape.
    """
    axes = tuple(trial.check.over)
    drawn = trial.evaluation.drawn_inputs(trial.case)
    if name in drawn:
        terms = api.to_array(drawn[name])
        _require_axes(name, terms.shape, axes)
        return terms
    expected_shape = api.to_array(trial.reference_outcome.values[name]).shape
    _require_axes(name, expected_shape, axes)
    value = trial.subject_result(name)
    submission_terms = api.to_floats(value)
    if submission_terms is None or submission_terms.shape != expected_shape:
        return trial.failing_finding(
            f"{name} is {api.describe_value(value)}, "
            f"expected floats of shape {format_shape(expected_shape)}"
        )
    return submission_terms


def _largest(sizes: api.Array) -> float:
    return float(api.np.max(sizes, initial=0.0))


def _conservation_finding(
    trial: CaseTrial[ConservationCheck],
    mismatch: api.ResultMismatch,
    actual: api.Array,
    expected: api.Array,
) -> CaseFinding:
    check = trial.check
    case = trial.case
    index = mismatch.index
    assert index is not None
    if isinstance(check.equals, str):
        other = check.equals
        other_sum = f"the sum of {other}"
    else:
        other = other_sum = format_number(float(check.equals))
    if index and not check.over:
        return CaseFinding(
            f"{check.sum} is not {other} in {mismatch.wrong} of {mismatch.total} entries",
            mismatch=mismatch.to_report(case.name),
            exhibit=api.make_grids(trial.evaluation, case, mismatch, Show(), check.run),
            wrong_result=check.sum,
        )
    place = f" at {list(index)}" if index else ""
    return CaseFinding(
        f"{check.sum} summed over axes {list(check.over)} is "
        f"{format_number(float(actual[index]))}, expected {other_sum}, "
        f"{format_number(float(expected[index]))}{place} in case {case.name}"
    )


def _require_axes(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Raise BankProgramError unless an array has all these axes, each listed once."""
    places = {axis % len(shape) for axis in axes if -len(shape) <= axis < len(shape)}
    if len(places) != len(axes):
        raise api.BankProgramError(
            f"{name} of shape {format_shape(shape)} has no axes {list(axes)}"
        )


def _at_least_usual_tolerance(
    trial: CaseTrial[GradcheckCheck] | CaseTrial[ConservationCheck],
    result: str,
    expected: api.Array,
    allowed: api.Array | float,
    scale: float,
) -> api.Array:
    """Return the largest of `allowed`, the tolerance for rounding, and the check's own, if any.

    `scale` is the largest magnitude of the right result; it decides the tolerance for rounding.
    """
    check = trial.check
    input_scale = api.input_scale(trial.evaluation, check.run, trial.case, result)
    rounding_error = api.minimum_tolerance(trial.case.dtype, scale, input_scale)
    allowed = api.np.maximum(allowed, rounding_error)
    if check.tolerance is not None and check.tolerance.applies_to(result):
        allowed = api.np.maximum(allowed, api.allowed_by_check(check.tolerance, expected))
    return api.np.asarray(allowed)


def _whole_result(entry: str) -> str:
    """Return the name of the result that an entry is in: `grads` for `grads[w]`."""
    return entry.partition("[")[0]


def _result_entry(values: Mapping[str, api.Value], name: str) -> api.Value:
    """Return the value of `grad_x`, `grads[w]` or `grads[0]`; None if there is no such value."""
    result, _, key = name.removesuffix("]").partition("[")
    value = values.get(result)
    if not key:
        return value
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, (list, tuple)) and key.isdecimal() and int(key) < len(value):
        return value[int(key)]
    return None
