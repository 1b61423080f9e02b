"""Layouts change the strides of an input, and never its values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox.worker import layouts
from grader.sandbox.worker.protocol import WireInput
from grader.sandbox.worker.wire import Array

LAYOUTS = ["contiguous", "fortran", "reversed", "strided", "readonly", "broadcast"]
DTYPES = ["float64", "float32", "int64", "int32", "int16", "uint8", "bool"]
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: hnp.arrays(
        dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
    )
)


def made(array: Array, layout: str) -> Array:
    """Build one input as a worker does."""
    built = layouts.build_input(WireInput(array, layout))
    assert isinstance(built, np.ndarray)
    return built


@settings(deadline=None)
@given(ARRAYS, st.sampled_from(LAYOUTS))
@example(np.zeros(1), "reversed")  # reversed or not, a single entry is contiguous
def test_every_layout_keeps_shape_dtype_and_values_and_owns_its_memory(
    array: Any, layout: str
) -> None:
    before = array.tobytes()
    found = made(array, layout)
    assert (found.shape, found.dtype) == (array.shape, array.dtype)
    expected = np.broadcast_to(array[:1], array.shape) if _repeats(array, layout) else array
    assert np.array_equal(found, expected, equal_nan=array.dtype.kind == "f")
    assert not np.shares_memory(found, array)
    assert array.tobytes() == before


def _repeats(array: Array, layout: str) -> bool:
    return layout == "broadcast" and array.ndim > 0 and array.shape[0] > 0


GRID = np.arange(24, dtype=np.float64).reshape(2, 3, 4)


@pytest.mark.parametrize(
    ("layout", "strides", "writable"),
    [
        ("contiguous", (96, 32, 8), True),
        ("fortran", (8, 16, 48), True),
        ("reversed", (-96, -32, -8), True),
        ("strided", (192, 64, 16), True),
        ("readonly", (96, 32, 8), False),
        ("broadcast", (0, 32, 8), False),
    ],
)
def test_an_array_has_the_strides_of_its_layout(
    layout: str, strides: tuple[int, ...], writable: bool
) -> None:
    found = made(GRID, layout)
    assert found.strides == strides
    assert found.flags.writeable is writable


@pytest.mark.parametrize("dtype", DTYPES)
def test_gaps_between_strided_values_would_be_noticed_in_a_sum(dtype: str) -> None:
    found = made(np.zeros((2, 3), dtype), "strided")
    assert isinstance(found.base, np.ndarray)
    between = found.base[..., 1::2]
    loud = np.isnan(between) if dtype.startswith("float") else between != 0
    assert loud.all()


def test_writing_to_an_input_does_not_reach_other_memory() -> None:
    for layout in ("contiguous", "fortran", "reversed", "strided"):
        first, second = made(GRID, layout), made(GRID, layout)
        first[...] = -1
        assert (first == -1).all()
        assert np.array_equal(second, GRID)
