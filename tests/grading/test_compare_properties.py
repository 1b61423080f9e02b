"""Every result agrees with itself; zeros, NaN and too little precision never agree with it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.grading.compare import compare_result
from grader.grading.tolerance_bands import RELATIVE_64, ExpectedResult, tolerance_band
from grader.grading.values import NUDGES, nudge
from grader.sandbox.worker.wire import Tensor

EASY = settings(deadline=None)
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=5)
USUAL = st.floats(-1e6, 1e6, allow_subnormal=False)
ARRAYS = hnp.arrays(np.float64, SHAPES, elements=USUAL)
ANY = hnp.arrays(np.float64, SHAPES, elements=st.floats())
DTYPES = st.sampled_from(["float64", "float32", "bfloat16"])
EPSILON = {"float64": 2.0**-52, "float32": 2.0**-23}


def as_result(values: Any, dtype: str) -> Any:
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            kept = values.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
            return Tensor(kept.view(np.float32), "bfloat16")
        return values.astype(dtype)


def expected(values: Any, dtype: str) -> ExpectedResult:
    native = as_result(values, dtype)
    precise = np.asarray(getattr(native, "values", native), np.float64)
    return ExpectedResult(native, precise, lambda: [precise], dtype)


def agrees(observed: Any, result: ExpectedResult, **more: Any) -> bool:
    with np.errstate(all="ignore"):
        return compare_result("y", observed, replace(result, **more)) is None


@EASY
@given(ANY, DTYPES, st.booleans(), st.booleans())
def test_the_reference_agrees_with_itself(
    values: Any, dtype: str, exact: bool, zeros: bool
) -> None:
    result = expected(values, dtype)
    if dtype == "bfloat16":
        assert agrees(result.native, result, exact_zeros=zeros)
    else:
        assert agrees(result.native, result, exact=exact, exact_zeros=zeros)


@EASY
@given(ARRAYS, st.data())
def test_a_single_entry_beyond_the_band_is_wrong(values: Any, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(["float64", "float32"]))
    result = expected(values, dtype)
    scale = float(np.abs(result.precise).max())
    assume(scale > 1e-30)
    band = max(RELATIVE_64 if dtype == "float64" else 0, 64 * EPSILON[dtype], 128 * EPSILON[dtype])
    index = data.draw(st.tuples(*(st.integers(0, n - 1) for n in values.shape)))
    got = result.native.copy()
    got[index] += 2 * band * scale * data.draw(st.sampled_from([-1, 1]))
    mismatch = compare_result("y", got, result)
    assert mismatch is not None
    assert (mismatch.index, mismatch.wrong) == (index, 1)


@EASY
@given(ARRAYS, st.integers(0, 10**6))
def test_rounding_in_float32_is_right_for_float32(values: Any, seed: int) -> None:
    result = expected(values, "float32")
    assume(np.abs(result.precise).max() > 1e-30)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], values.shape)
    got = np.nextafter(result.native, (np.inf * signs).astype(np.float32))
    assert agrees(got, result)


@EASY
@given(ARRAYS, DTYPES)
def test_zeros_never_agree_with_other_values(values: Any, dtype: str) -> None:
    result = expected(values, dtype)
    assume((result.precise != 0).any())
    zeros = as_result(np.zeros(values.shape), dtype)
    assert not agrees(zeros, result)


@EASY
@given(ANY, DTYPES, st.data())
def test_nan_never_agrees_with_a_number(values: Any, dtype: str, data: st.DataObject) -> None:
    result = expected(values, dtype)
    assume(not np.isnan(result.precise).all())
    index = data.draw(st.sampled_from(np.argwhere(~np.isnan(result.precise)).tolist()))
    got = result.precise.copy()
    got[tuple(index)] = np.nan
    assert not agrees(as_result(got, dtype), result)


@EASY
@given(hnp.arrays(np.float64, (4, 6), elements=st.floats(-10, 10)), st.integers(0, 999))
def test_float64_computed_in_float32_is_wrong(x: Any, seed: int) -> None:
    w = np.random.default_rng(seed).standard_normal((6, 3))
    exactly = x @ w
    roughly = (x.astype(np.float32) @ w.astype(np.float32)).astype(np.float64)
    assume(np.abs(roughly - exactly).max() > 1e-9 * np.abs(exactly).max())
    moved = (x * (1 + 2.0**-52)) @ w
    assert not agrees(roughly, ExpectedResult(exactly, exactly, lambda: [moved]))
    assert agrees(moved, ExpectedResult(exactly, exactly, lambda: [moved]))


@EASY
@given(st.integers(0, 999), st.floats(0.0, 0.02))
def test_bfloat16_is_judged_as_a_whole(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((8, 8))
    result = expected(values, "bfloat16")
    noise = rng.standard_normal((8, 8))
    noise *= share * np.linalg.norm(result.precise) / np.linalg.norm(noise)
    assert agrees(Tensor((result.precise + noise).astype(np.float32), "bfloat16"), result)
    for wrong in (result.precise * 1.04, result.precise + 2.5 * noise + 0.05, -result.precise):
        assert not agrees(Tensor(wrong.astype(np.float32), "bfloat16"), result)


@EASY
@given(st.floats(allow_nan=False, allow_infinity=False), DTYPES)
def test_a_scalar_is_judged_with_the_precision_of_its_case(value: float, dtype: str) -> None:
    assume(1e-100 < abs(value) < 1e100)
    result = ExpectedResult(value, value, lambda: [value], dtype)
    close = {"float64": 1e-11, "float32": 1e-6, "bfloat16": 1e-2}[dtype]
    far = {"float64": 1e-9, "float32": 1e-4, "bfloat16": 5e-2}[dtype]
    assert agrees(value * (1 + close), result)
    for wrong in (value * (1 + far), value * (1 - far), -value, 0.0, float("nan"), float("inf")):
        assert not agrees(wrong, result)


@EASY
@given(ANY, DTYPES.filter(lambda d: d != "bfloat16"))
def test_the_band_is_never_nan_and_vanishes_only_with_the_values(values: Any, dtype: str) -> None:
    with np.errstate(all="ignore"):
        band = tolerance_band(dtype, values, lambda: [values * (1 + 1e-15)])
    finite = values[np.isfinite(values)]
    assert band.shape == values.shape
    assert (band >= 0).all()  # no NaN either
    assert (band > 0).all() == bool((np.abs(finite) > 1e-300).any()) or (
        np.abs(finite).max() < 1e-290
    )


@EASY
@given(
    hnp.arrays(np.float64, 6, elements=st.floats(-1e30, 1e30) | st.sampled_from([-np.inf, np.nan])),
    st.sampled_from(["float64", "float32"]),
    st.sampled_from([0, 1]),
)
def test_nudging_moves_every_value_by_one_unit_and_keeps_ties_and_order(
    values: Any, dtype: str, which: int
) -> None:
    x = np.where(np.abs(values) < 1e-30, 0, values).astype(dtype)
    beside = np.nextafter(x[np.isfinite(x)], x.dtype.type(0))
    flat = np.concatenate([x, x[::-1], beside])
    with np.errstate(all="ignore"):
        moved = nudge(flat, dtype, which)
    assert (moved.dtype, moved.shape) == (flat.dtype, flat.shape)
    fixed = ~np.isfinite(flat) | (flat == 0)
    assert np.array_equal(moved[fixed], flat[fixed], equal_nan=True)
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.maximum(np.spacing(np.abs(flat)), np.spacing(np.abs(moved)))
        assert (np.abs(moved - flat)[~fixed] <= unit[~fixed]).all()
    is_number = ~np.isnan(flat)
    order = np.argsort(flat[is_number], kind="stable")
    before, after = flat[is_number][order], moved[is_number][order]
    assert np.array_equal(before[1:] == before[:-1], after[1:] == after[:-1])
    assert (after[1:] >= after[:-1]).all()


def test_all_nudges_differ_and_move_everything_that_can_move() -> None:
    x = np.random.default_rng(0).standard_normal((6, 6))
    moved = [nudge(x, "float64", i) for i in range(len(NUDGES))]
    assert all(not np.array_equal(a, b) for a, b in itertools.combinations(moved, 2))
    assert all((array != x).all() for array in moved)
    assert np.array_equal(moved[0], nudge(x, "float64", 0))
