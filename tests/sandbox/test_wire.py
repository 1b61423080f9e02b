"""The wire: values arrive as they were sent, and any other bytes raise `WireError`."""

from __future__ import annotations

import contextlib
import json
import struct
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox.worker import limits, wire
from grader.sandbox.worker.wire import Opaque, Tensor, WireError
from tests.sandbox.running import frame, sent

EASY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
PLAIN = [name for name in wire.DTYPES if name != "bfloat16"]
ARRAYS = st.sampled_from(PLAIN).flatmap(
    lambda name: hnp.arrays(name, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
)
TENSORS = ARRAYS.map(lambda a: Tensor(a, a.dtype.name))
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**300), 10**300)
    | st.floats()
    | st.text(max_size=8)
    | st.builds(Opaque, st.text(max_size=8))
)
VALUES = st.recursive(
    SCALARS | ARRAYS | TENSORS | ARRAYS.filter(lambda a: a.size > 0).map(lambda a: a.flat[0]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def alike(a: Any, b: Any) -> bool:
    """Return True if two values are equal in type, dtype, shape and bits."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (np.ndarray, np.generic)):
        return bool(a.dtype == b.dtype and a.shape == b.shape) and a.tobytes() == b.tobytes()
    if isinstance(a, Tensor):
        return bool(a.dtype == b.dtype) and alike(a.values, b.values)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
    if isinstance(a, float) and a == a:  # one NaN is like another
        return struct.pack("<d", a) == struct.pack("<d", b)
    return bool(a == b or (a != a and b != b))


@EASY
@given(VALUES)
def test_values_arrive_as_they_were_sent_to_the_bit(value: object) -> None:
    assert alike(sent(value), value)


@EASY
@given(ARRAYS)
def test_an_array_with_any_strides_arrives(array: Any) -> None:
    for view in (array.T, array[::-1] if array.ndim else array):
        assert alike(sent(view), np.ascontiguousarray(view).reshape(view.shape))
    assert alike(sent(np.broadcast_to(array, (2, *array.shape))), np.stack([array, array]))


@EASY
@given(hnp.arrays(np.uint16, 5))
def test_bfloat16_arrives_as_float32_and_goes_back_unchanged(bits: Any) -> None:
    values = wire.widen_bfloat16(bits)
    received = sent(Tensor(values, "bfloat16"))
    assert isinstance(received, Tensor)
    assert received.dtype == "bfloat16"
    assert alike(received.values, values)
    assert np.array_equal(wire.bfloat16_bits(values), bits)


def test_received_arrays_are_writable_and_share_no_memory() -> None:
    meta, payload = frame([np.zeros(3), np.zeros(3)])
    buffer = bytearray(payload)
    received = wire.decode(meta, memoryview(buffer))
    assert isinstance(received, list)
    first, second = received
    first[0] = 1
    buffer[:] = b"\xff" * len(buffer)
    assert first.tolist() == [1, 0, 0]
    assert second.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (object(), "object"),
        (1j, "complex"),
        (b"bytes", "bytes"),
        (10**400, "int of more than 300 digits"),
        ({1, 2}, "set"),
        (iter([]), "list_iterator"),
        (np.zeros(2, object), "numpy.ndarray of object"),
        (np.zeros(2, [("a", int)]), "numpy.ndarray of void64"),
        (np.array(["a"]), "numpy.ndarray of str32"),
        (np.datetime64("2020-01-01"), "numpy.datetime64[D]"),
    ],
)
def test_only_the_type_of_a_value_that_is_not_plain_data_is_sent(value: object, found: str) -> None:
    assert sent(value) == Opaque(found)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        _nested(19),
        [0] * 20_001,
        {str(i): i for i in range(20_001)},
        [[0] * 150] * 150,
        np.zeros((1,) * 9),
        ["x" * 60_000] * 20,
    ],
    ids=["deep", "long", "wide", "many", "dimensions", "text"],
)
def test_the_sender_refuses_a_value_above_a_limit(value: object) -> None:
    with pytest.raises(WireError):
        wire.encode(value)


def test_a_long_text_is_cut_and_an_invalid_one_is_repaired() -> None:
    assert len(str(sent("x" * 100_000))) == limits.MAX_TEXT_BYTES
    assert sent("\ud800") == "\\ud800"
    assert sent({"\udfff": 1}) == {"\\udfff": 1}


def decoded(meta: bytes, payload: bytes) -> None:
    with contextlib.suppress(WireError):
        wire.decode(meta, memoryview(payload))


def _special(*about: object) -> bytes:
    return json.dumps({"": about}).encode()


def _lies() -> Iterator[tuple[str, bytes]]:
    for word in ("array", "tensor", "scalar"):
        shapes: list[object] = [[2**63], [2**64 - 1, 2**64 - 1], [2**40, 2**40, 0], [0, 2**64 - 1],
                      [2**48, 0], [2**20] * 8, [2**62, 4], [-1], [-8, -1], [1.5], [True], ["8"],
                      [None], [[8]], [0] * 255, 8, None, {}]  # fmt: skip
        for shape in shapes:
            yield f"{word} of {str(shape)[:40]}", _special(word, "float64", shape)
        for dtype in ("object", "O", "float128", "", 11, None, ["float64"], "U9", "datetime64"):
            yield f"{word} of {dtype}", _special(word, dtype, [1])
        yield f"{word} without a shape", _special(word, "float64")
    abouts: list[list[object]] = [
        ["opaque"], ["opaque", 3], ["tuple", 3], ["tuple"], ["tuple", {}], ["dict", {}],
        ["dict", [["a"]]], ["dict", [["a", 1, 2]]], ["dict", [[1, 2]]], ["dict", ["ab"]],
        ["frozenset", []], [], [[]], [None],
    ]  # fmt: skip
    for about in abouts:
        yield f"special {about}", _special(*about)
    yield "no list in a special value", b'{"": "tuple"}'
    yield "a special value and more", b'{"": ["tuple", []], "a": 1}'
    yield "half a character", b'"\\ud800"'
    yield "half a character in a key", b'{"\\udfff": 1}'
    yield "half a character in a name", b'{"": ["opaque", "\\ud800"]}'
    yield "half a character as bytes", b'"\xed\xa0\x80"'
    yield "no UTF-8", b'"\xff"'
    yield "UTF-16", '"text"'.encode("utf-16")
    yield "nothing", b""
    yield "no JSON", b"\xff"
    yield "an integer of many digits", b"9" * (limits.MAX_INTEGER_DIGITS + 2)
    yield "an integer of a million digits", b"-" + b"9" * 1_000_000
    yield "lists in lists", b"[" * 1_000_000
    yield "lists in lists that end", b"[" * 500_000 + b"]" * 500_000
    yield "dicts in dicts", b'{"a":' * 200_000
    yield "seventeen lists", b"[" * 18 + b"]" * 18
    yield "many empty lists", b"[" + b"[]," * 349_000 + b"[]]"
    yield "many zeros", b"[" + b"0," * 524_000 + b"0]"
    yield "two values", b"1 2"


@pytest.mark.parametrize(("meta"), [pytest.param(meta, id=name) for name, meta in _lies()])
def test_a_false_frame_is_refused_before_memory_is_allocated(meta: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            wire.decode(meta, memoryview(b"\0" * 64))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40 * limits.MAX_META_BYTES


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=4)
    | st.sampled_from(["array", "tensor", "scalar", "tuple", "dict", "opaque", *wire.DTYPES]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["", "a", "b"]), inner, max_size=2)
        | st.lists(inner, max_size=3).map(lambda about: {"": about})
    ),
    max_leaves=12,
)  # fmt: skip


@settings(EASY, max_examples=200)
@given(JSON, st.binary(max_size=64))
def test_any_json_is_a_value_or_a_wire_error(found: object, payload: bytes) -> None:
    decoded(json.dumps(found).encode(), payload)
