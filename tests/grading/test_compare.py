"""Comparison with the reference, and the sentence on each kind of mismatch."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from grader.grading.compare import ResultMismatch, compare_result
from grader.grading.tolerance_bands import ExpectedResult
from grader.grading.values import describe_value, same_value
from grader.sandbox.worker.wire import Opaque, Tensor

EPS32 = 2.0**-23


def expected(
    native: Any, precise: Any = None, *moved: Any, dtype: str = "float64"
) -> ExpectedResult:
    precise_value = native if precise is None else precise
    return ExpectedResult(native, precise_value, lambda: list(moved) or [precise_value], dtype)


def mismatch_of(observed: Any, native: Any, **more: Any) -> ResultMismatch:
    with np.errstate(all="ignore"):  # as while grading
        mismatch = compare_result("y", observed, replace(expected(native), **more))
    assert mismatch is not None
    return mismatch


def agrees(observed: Any, native: Any, **more: Any) -> bool:
    with np.errstate(all="ignore"):
        return compare_result("y", observed, replace(expected(native), **more)) is None


A = np.array([[1.0, -2.0], [0.0, 4.0]])


@pytest.mark.parametrize(
    ("observed", "sentence"),
    [
        (None, "y is None, expected a float64 array of shape (2, 2)"),
        (3.0, "y is the number 3.000, expected a float64 array of shape (2, 2)"),
        (True, "y is True, expected a float64 array of shape (2, 2)"),
        ("text", "y is the text 'text', expected a float64 array of shape (2, 2)"),
        ([[1.0, -2.0], [0.0, 4.0]], "y is a list of 2, expected a float64 array of shape (2, 2)"),
        ({"y": A}, "y is a dict, expected a float64 array of shape (2, 2)"),
        (Opaque("generator"), "y is a generator, expected a float64 array of shape (2, 2)"),
        (Opaque("int of more than 300 digits"), "y is an int of more than 300 digits, expected a float64 array of shape (2, 2)"),
        (Tensor(A, "float64"), "y is a float64 tensor of shape (2, 2), expected a float64 array of shape (2, 2)"),
        (np.complex128(1j), "y is a complex128, expected a float64 array of shape (2, 2)"),
        (A[0], "y has shape (2,), expected (2, 2)"),
        (A.reshape(4, 1), "y has shape (4, 1), expected (2, 2)"),
        (A.astype(np.float32), "y is float32, expected float64"),
        (A.astype(np.int64), "y is int64, expected float64"),
        (A > 0, "y is bool, expected float64"),
        (np.where(A == 4, np.nan, A), "y holds NaN where 4.000 is expected"),
        (np.where(A == 1, -np.inf, A), "y holds -inf where 1.000 is expected"),
        (A * 0, "y differs in 3 of 4 entries"),
        (A + (A == 0) * 1e-6, "y differs in 1 of 4 entries"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_is_wrong_with_an_array(observed: Any, sentence: str) -> None:
    assert mismatch_of(observed, A).sentence == sentence


def test_a_mismatch_points_at_the_worst_entry_and_counts_the_wrong_entries() -> None:
    mismatch = mismatch_of(A + np.array([[0.5, 0.0], [-3.0, 0.1]]), A)
    assert (mismatch.index, mismatch.wrong, mismatch.total) == ((1, 0), 3, 4)
    assert (mismatch.observed, mismatch.expected, mismatch.allowed) == ("-3.000", "0", "+-9.1e-13")
    assert mismatch.kind == "values"
    assert mismatch.arrays is not None
    assert mismatch.arrays[2].tolist() == [[True, False], [True, True]]


def test_nearly_equal_numbers_are_shown_with_enough_digits() -> None:
    mismatch = mismatch_of(np.array([1.0, 2.00000001]), np.array([1.0, 2.0]))
    assert (mismatch.observed, mismatch.expected) == ("2.00000001", "2.00000000")


@pytest.mark.parametrize(
    ("native", "observed", "ok"),
    [
        (np.array(2.0), np.array(2.0), True),
        (np.array(2.0), np.float64(2.0), True),
        (np.array(2.0), 2.0, False),
        (np.array(2.0), np.array([2.0]), False),
        (np.float64(2.0), 2.0, True),
        (np.float64(2.0), np.float32(2.0), True),
        (2.0, np.float64(2.0), True),
        (2.0, 2, True),
        (2.0, np.array(2), True),
        (2.0, Tensor(np.array(2.0), "float64"), True),
        (2.0, np.array([2.0]), False),
        (2.0, True, False),
        (2.0, "2.0", False),
        (2.0, 2.0000001, False),
        (2.0, 2 + 1e-11, True),
        (2.0, float("nan"), False),
        (2.0, float("inf"), False),
        (float("inf"), float("inf"), True),
        (float("-inf"), 1e308, False),
        (float("nan"), float("nan"), True),
        (float("nan"), 0.0, False),
        (3, 3, True),
        (3, 3.0, True),
        (3, np.array(3), True),
        (3, 3.0000001, False),
        (3, True, False),
        (3, float("nan"), False),
        (3, 10**300, False),
        (14_000_000_000, 1.4e10, True),
        (2**53 + 1, 2**53, False),
        (2**53 + 1, float(2**53), False),
        (2**80, 2**80, True),
        (2**80, 2**80 + 1, False),
        (True, np.bool_(True), True),
        (True, 1, False),
        (np.bool_(False), False, True),
        (None, None, True),
        (None, 0, False),
        ("same", "same", True),
        ("same", "sane", False),
    ],
)
def test_scalars_are_compared_by_value_and_type(native: Any, observed: Any, ok: bool) -> None:
    assert agrees(observed, native) is ok


def test_wrong_scalars_read_well() -> None:
    assert mismatch_of(0.25, 1 / 3).sentence == "y is 0.2500, expected 0.3333"
    assert mismatch_of(7, 8).sentence == "y is 7, expected 8"
    assert mismatch_of(7.5, 8).sentence == "y is 7.500, expected 8"
    assert mismatch_of(14_000_000_001, 14_000_000_000).sentence == (
        "y is 14,000,000,001, expected 14,000,000,000"
    )
    assert mismatch_of(float("nan"), 0.5).sentence == "y is NaN, expected 0.5000"
    assert mismatch_of(None, 0.5).sentence == "y is None, expected the number 0.5000"
    assert mismatch_of(1, True).sentence == "y is the number 1, expected True"
    assert mismatch_of(np.array([2.0]), 2.0).sentence == (
        "y is a float64 array of shape (1,), expected the number 2.000"
    )


def test_the_wrong_item_of_a_container_is_named() -> None:
    want = {"loss": 0.5, "grads": [A, (A, 3)]}
    assert agrees({"grads": (A.copy(), [A, 3]), "loss": 0.5}, want)
    assert mismatch_of({"loss": 0.5, "grads": [A, (A, 4)]}, want).result == "y['grads'][1][1]"
    assert mismatch_of({"loss": 0.5, "grads": [A, (A,)]}, want).sentence == (
        "y['grads'][1] is a tuple of 1, expected a tuple of 2"
    )
    assert mismatch_of({"loss": 0.5}, want).sentence == (
        "y is a dict with loss, expected a dict with loss, grads"
    )
    assert (
        mismatch_of({}, want).sentence
        == "y is a dict with no keys, expected a dict with loss, grads"
    )
    assert mismatch_of([0.5, [A, (A, 3)]], want).sentence == (
        "y is a list of 2, expected a dict with loss, grads"
    )
    many = {f"key-{i}": i for i in range(2000)}
    assert len(mismatch_of(many, want).sentence) < 400


def test_empty_arrays_agree_if_shape_and_dtype_do() -> None:
    assert agrees(np.zeros((0, 3)), np.zeros((0, 3)))
    assert not agrees(np.zeros((0, 3), np.float32), np.zeros((0, 3)))
    assert not agrees(np.zeros((3, 0)), np.zeros((0, 3)))
    assert agrees([], [])
    assert agrees({}, {})


def test_nan_and_infinities_must_be_in_the_same_places() -> None:
    want = np.array([np.nan, np.inf, -np.inf, 1.0])
    assert agrees(want.copy(), want)
    for i in range(4):
        other = want.copy()
        other[i] = 7.0
        assert not agrees(other, want), i
    assert not agrees(-want, want)
    everything = np.full(3, -np.inf)
    assert agrees(everything.copy(), everything)
    assert mismatch_of(np.full(3, -1e308), everything).sentence == (
        "y holds -1.000e308 where -inf is expected"
    )


def test_exact_allows_no_difference_but_minus_zero_is_zero() -> None:
    want = np.array([1.0, 0.0, np.nan, -np.inf])
    assert agrees(np.array([1.0, -0.0, np.nan, -np.inf]), want, exact=True)
    assert not agrees(np.nextafter(want, 2), want, exact=True)
    assert mismatch_of(np.array([1.5, 0.0, np.nan, -np.inf]), want, exact=True).allowed is None
    assert not agrees(np.nextafter(0.5, 1), 0.5, exact=True)
    assert agrees(0.5, 0.5, exact=True)


def test_exact_zeros_are_required_only_where_the_reference_has_zeros() -> None:
    want = np.array([1.0, 0.0])
    almost = np.array([1.0 + 1e-12, 1e-300])
    assert agrees(almost, want)
    mismatch = mismatch_of(almost, want, exact_zeros=True)
    assert (mismatch.index, mismatch.wrong) == ((1,), 1)
    assert agrees(np.array([1.0 + 1e-12, -0.0]), want, exact_zeros=True)
    half = Tensor(np.array([1.0, 1e-30], np.float32), "bfloat16")
    zero = Tensor(np.array([1.0, 0.0], np.float32), "bfloat16")
    assert compare_result("y", half, expected(zero, want, dtype="bfloat16")) is None
    assert compare_result(
        "y", half, replace(expected(zero, want, dtype="bfloat16"), exact_zeros=True)
    )


@pytest.mark.parametrize("dtype", ["bool", "int64", "uint8"])
def test_integers_must_be_equal(dtype: str) -> None:
    want = np.array([0, 1, 1], dtype)
    assert agrees(want.copy(), want)
    assert mismatch_of((1 - want).astype(dtype), want).wrong == 3


def test_complex_results_are_compared_in_both_parts() -> None:
    want = np.array([1 + 2j, 3 - 1j])
    assert agrees(want * (1 + 1e-14), want)
    assert not agrees(want.conj(), want)
    assert not agrees(want.real + 0j, want)
    assert not agrees(want * np.nan, want)
    assert not agrees(want.conj(), want, exact=True)


@pytest.mark.parametrize("native", [np.complex128(1 + 2j), np.complex64(1 + 2j)])
def test_a_complex_number_is_compared_in_both_parts(native: Any) -> None:
    assert agrees(native, native)
    assert agrees(np.asarray(native), native)
    assert agrees(np.complex128(native) * (1 + 1e-14), native)
    assert agrees(native, native, exact=True)
    assert not agrees(native.conj(), native)
    assert not agrees(native.real, native)
    assert not agrees(native * np.nan, native)
    assert agrees(1.0, native.real + 0 * native)
    assert mismatch_of(native.conj(), native).sentence == "y differs in 1 of 2 entries"
    assert mismatch_of("1+2j", native).sentence.endswith(f"expected a {native.dtype}")
    assert not agrees(native, 1.0)


def test_the_reference_is_nudged_only_if_the_band_depends_on_it() -> None:
    def never() -> list[Any]:
        raise AssertionError("the reference was run again for nothing")

    assert compare_result("y", A.copy(), ExpectedResult(A, A, never)) is None
    assert compare_result("y", A * (1 + 1e-12), ExpectedResult(A, A, never)) is None
    assert compare_result("y", A[:1], ExpectedResult(A, A, never)) is not None
    assert compare_result("y", A * np.nan, ExpectedResult(A, A, never)) is not None
    assert compare_result("y", 0.5, ExpectedResult(0.5, 0.5, never)) is None


def test_effects_of_rounding_on_the_reference_widen_the_band() -> None:
    want, moved = np.array([100.0, 1.0]), np.array([100.0, 1.0 + 1e-6])
    sensitive = expected(want, want, want, moved)
    assert compare_result("y", want + np.array([0, 1e-5]), sensitive) is None
    assert compare_result("y", want + np.array([0, 2e-5]), sensitive) is not None
    assert compare_result("y", want + np.array([0, 1e-5]), expected(want)) is not None
    scalar = expected(1.0, 1.0, 1.0 + 1e-6)
    assert compare_result("y", 1 + 1e-5, scalar) is None
    assert compare_result("y", 1 + 2e-5, scalar) is not None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (np.bool_(False), "False"),
        (np.float32(0.5), "the number 0.5000"),
        ("x" * 99, f"the text {'x' * 60!r}"),
        ((), "a tuple of 0"),
        (np.zeros(2, np.int32), "an int32 array of shape (2,)"),
        (Tensor(np.zeros(2), "bfloat16"), "a bfloat16 tensor of shape (2,)"),
        (Opaque("iterator"), "an iterator"),
    ],
)
def test_values_are_described_in_words(value: Any, words: str) -> None:
    assert describe_value(value) == words


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (A, A * (1 + 1e-11), True),
        (A, A * (1 + 1e-6), False),
        (A, A.astype(np.float32), False),
        (A.astype(np.float32), A.astype(np.float32) * np.float32(1 + 1e-6), True),
        (A, A[0], False),
        (A, A.tolist(), False),
        (A, None, False),
        (None, None, True),
        (None, 0, False),
        ("raised ValueError", "raised ValueError", True),
        ("raised ValueError", "raised TypeError", False),
        (Opaque("f"), Opaque("f"), True),
        (Opaque("f"), Opaque("g"), False),
        ([A, 1], (A, 1.0), True),
        ([A], [A, A], False),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        (1.0, 1.0 + 1e-12, True),
        (1.0, np.array(1.0), True),
        (2**70, 2**70, True),
        (2**70, 2**70 + 1, False),
        (float("nan"), float("nan"), True),
        (np.array([np.inf, 1.0]), np.array([np.inf, 1.0]), True),
        (np.array([np.inf, 1.0]), np.array([-np.inf, 1.0]), False),
        (np.zeros((0, 2)), np.zeros((0, 2)), True),
        (np.array([1j, 2j]), np.array([1j, 3j]), False),
        (np.array([1j, 2j]), np.array([1j, 2j]), True),
        (Tensor(A, "float64"), Tensor(A, "float64"), True),
        (Tensor(A, "float64"), Tensor(A, "float32"), False),
    ],
)
def test_same_value_allows_only_rounding(a: Any, b: Any, same: bool) -> None:
    assert same_value(a, b) is same
    assert same_value(b, a) is same
