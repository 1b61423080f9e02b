"""What programs are compared by: every result and measured quantity that the checks look at.

A *component* is one aspect of one result of one run, or one measured quantity, over all its cases.
The dtype of a result is an aspect of its own, so that a lost dtype does not hide what the values
show.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from grader import forms
from grader.cases.dataflow import free_names, producing
from grader.cases.recipe import CaseRecipe
from grader.evaluation.compare import fault_of
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.values import Value, array_of, dtype_of, same_value
from grader.kinds import registry
from grader.kinds.base import Count, Trial
from grader.model.spec import Check, Tolerance
from grader.sandbox.client import WorkerError
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

SAME_COUNT = 0.01  # counts of the same idea written differently differ by a few small tensors
MOST_NUMBERS = 100  # of a result, that are counted
_PRECISION = {"float16": 0, "bfloat16": 0, "float32": 1, "float64": 2}
_FAULT = "\0"  # no program returns a text that begins so


@dataclass(frozen=True, slots=True)
class Component:
    """One thing that programs can be compared by."""

    name: str  # of a result, or of a measuring check
    run: str
    checks: Mapping[str, Collection[str]] = field(compare=False, hash=False)  # by case, their ids
    aspect: Literal["values", "dtype", "measure"] = "values"
    measured_by: Check | None = field(default=None, compare=False)  # of a measure
    exact: bool = False  # every check of it asks for the last bit
    by_style: bool = False  # it depends on how an idea is written too
    within: float = 0.0  # relative, of numbers that a person has written and rounded

    @property
    def of_dtype(self) -> bool:
        """Whether it is about the dtype of a result alone."""
        return self.aspect == "dtype"

    @property
    def cases(self) -> tuple[str, ...]:
        """The cases on which some check looks at it."""
        return tuple(self.checks)


def components(evaluation: Evaluation) -> list[Component]:
    """Everything that the checks look at whose part is asked."""
    cases: dict[tuple[str, str], dict[str, list[str]]] = {}
    tolerant: set[tuple[str, str]] = set()
    measured = []
    is_text, rounded = forms.of(evaluation.question.spec).is_text, dict[tuple[str, str], float]()
    for check in evaluation.checks:
        names = [c.name for c in evaluation.cases_of(check)]
        kind = registry.get(check.kind)
        if kind.is_observed(check):
            name = check.results[0] if kind.only_course else check.id  # a curve is a result
            style, by_case = kind.by_style(check), {case: (check.id,) for case in names}
            component = Component(
                name, check.run, by_case, "measure", measured_by=check, by_style=style
            )
            measured.append((style, kind.slow, component))
            continue
        for result in check.compared:
            for case in names:
                cases.setdefault((check.run, result), {}).setdefault(case, []).append(check.id)
            allowed: Tolerance | None = getattr(check, "tolerance", None)
            if is_text and allowed is not None:
                rounded[check.run, result] = allowed.relative or 0.0
            if not kind.is_exact(check):
                tolerant.add((check.run, result))
    values = [
        Component(
            result,
            run,
            by_case,
            exact=(run, result) not in tolerant,
            within=rounded.get((run, result), 0.0),
        )
        for (run, result), by_case in cases.items()
    ]
    # Most variants are ruled out by one: the quick ones first, and last what few programs agree in.
    last = [component for *_, component in sorted(measured, key=lambda m: m[:2])]
    return [*values, *(replace(c, aspect="dtype", within=0.0) for c in values), *last]


def observed(evaluation: Evaluation, component: Component, case: str) -> Value:
    """What the submission gives for a component on one case; a fault becomes a text."""

    def observe() -> Value:
        check = component.measured_by
        try:
            if check is None:
                found = evaluation.observed(component.run, evaluation.cases[case])
                value = found.values.get(component.name)
                return _dtype(value) if component.of_dtype else value
            return registry.get(check.kind).observe(
                Trial(evaluation, check, evaluation.cases[case])
            )
        except ProgramError as error:
            return f"{_FAULT}raised {error.raised.type if error.raised else 'nothing'}"
        except WorkerError as error:
            return f"{_FAULT}stopped: {error}"

    return evaluation.remember(evaluation.submission, ("observed", component, case), observe)


def is_fault(value: Value) -> bool:
    """Whether there is no result: the program raised, or its process ended."""
    return isinstance(value, str) and value.startswith(_FAULT)


def same_on(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
    """Whether what two programs show of a component on one case is of the same idea."""
    one, other = observed(a, component, case), observed(b, component, case)
    counts = [seen for seen in (one, other) if isinstance(seen, Count)]
    if counts:
        return len(counts) == 2 and same_count(*counts)
    if is_fault(one) or is_fault(other):
        # Who returns nothing has no dtype: that is about the values.
        if component.of_dtype:
            return True
        alike = is_fault(one) and is_fault(other) and one == other
        return alike and _fail_alike(a, b, component, case)
    if component.within:
        return _nearly(one, other, component.within)
    one, other = _in_one_dtype(one, other)
    return same_value(one, other, a.cases[case].dtype, exact=component.exact)


def _nearly(one: Value, other: Value, within: float) -> bool:
    """Whether two dicts have the same numbers, up to rounding by hand."""
    if not (isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys()):
        return False
    pairs = [(one[name], other[name]) for name in one]
    return all(
        isinstance(a, (int, float))
        and isinstance(b, (int, float))
        and math.isclose(a, b, rel_tol=within, abs_tol=1e-12)
        for a, b in pairs
    )


def _fail_alike(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
    """Whether what came before an exception, which may be why, is right in both or the same."""
    run, recipe = component.run, a.cases[case]
    try:
        if not any(wrong_before(x, run, x.cases[case]) for x in (a, b)):
            return True
        one, other = (dict(before(x, run, x.cases[case])) for x in (a, b))
    except WorkerError:  # both ended there, or one does where less is asked of it
        return True
    return one.keys() == other.keys() and all(
        same_value(found.values.get(name), other[name].values.get(name), recipe.dtype)
        for name, found in one.items()
    )


def numbers_in(value: Value) -> set[float]:
    """The different numbers of a result that say something: finite, and neither 0 nor 1."""
    parts = value.values() if isinstance(value, dict) else [value]
    found: set[float] = set()
    for part in parts:
        if isinstance(part, (int, float, np.number, np.ndarray, Tensor)):
            array = np.asarray(array_of(part))
            if array.dtype.kind in "iuf":
                plain = np.unique(array[np.isfinite(array)][:MOST_NUMBERS].astype(np.float64))
                found.update(float(n) for n in plain if n not in (0.0, 1.0))
    return found


def same_count(one: Count, other: Count) -> bool:
    """Whether two programs keep as much, and the same things where it is known what."""
    if one.kept is not None and other.kept is not None and one.kept != other.kept:
        return False
    return math.isclose(one.value, other.value, rel_tol=SAME_COUNT, abs_tol=256)


def _dtype(value: Value) -> str:
    """The dtype of an array or a tensor; nothing for what has none."""
    return dtype_of(value) if isinstance(value, (np.ndarray, Tensor)) else ""


def _in_one_dtype(one: Value, other: Value) -> tuple[Value, Value]:
    """Two arrays of floating numbers in the less precise dtype of both; all else as it is."""
    if type(one) is not type(other) or not isinstance(one, (np.ndarray, Tensor)):
        return one, other
    dtypes = dtype_of(one), dtype_of(other)
    if dtypes[0] == dtypes[1] or not all(dtype in _PRECISION for dtype in dtypes):
        return one, other
    coarser = min(dtypes, key=_PRECISION.__getitem__)
    return tuple(_as(value, coarser) for value in (one, other))


def _as(value: Value, dtype: str) -> Value:
    if isinstance(value, Tensor):
        return Tensor(value.values, dtype)
    return value.astype(dtype)


# -- what is computed before the step that raises: that may be why it does -------------------------


def before(evaluation: Evaluation, run: str, case: CaseRecipe) -> Iterator[tuple[str, Outcome]]:
    """The results that the step that raises needs, on a case; nothing where none raises."""
    try:
        evaluation.observed(run, case)
    except ProgramError as error:
        steps, step = evaluation.steps(run), error.step
    else:
        return
    if step is None or step not in steps:
        return
    for earlier in producing(steps[: steps.index(step) + 1], step.targets[0])[:-1]:
        for result in earlier.targets:
            found = (
                up_to(evaluation, run, case, result) if result in evaluation.wanted[run] else None
            )
            if found:
                yield result, found


def wrong_before(evaluation: Evaluation, run: str, case: CaseRecipe) -> str:
    """What is wrong, on a case, of the results that the step that raises needs; else ''."""
    for result, found in before(evaluation, run, case):
        if fault := fault_of(evaluation, run, case, result, found):
            return fault.sentence
    return ""


def up_to(evaluation: Evaluation, run: str, case: CaseRecipe, result: str) -> Outcome | None:
    """A result by itself, of a run that raises in a step that it does not need.

    Returns:
        None where it raises.

    Raises:
        WorkerError: the process did not survive it.
    """
    steps = producing(evaluation.steps(run), result)

    def ask() -> Outcome | None:
        drawn = evaluation.inputs(case, run)
        given = {name: drawn[name] for name in free_names(steps)}
        try:
            return evaluation.submission.run(steps, given, [result])
        except ProgramError:
            return None

    return evaluation.remember(evaluation.submission, ("up to", run, case.name, result), ask)
