"""The protocol: what is sent arrives, and no bytes whatever do more than raise `WireError`."""

from __future__ import annotations

import contextlib
import math
import struct
import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.sandbox.worker import wire
from grader.sandbox.worker.wire import Opaque, Tensor, WireError

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


def frame(value: object) -> tuple[bytes, bytes]:
    """Encode a value and return the structure and the array contents, as they are received."""
    data = b"".join(bytes(piece) for piece in wire.encode(value))
    magic, meta, payload = wire.HEADER.unpack(data[: wire.HEADER.size])
    body = data[wire.HEADER.size :]
    assert magic == wire.MAGIC
    assert len(body) == meta + payload
    return body[:meta], body[meta:]


def sent(value: object) -> object:
    """Send a value and receive it."""
    meta, payload = frame(value)
    return wire.decode(meta, memoryview(payload))


def alike(a: Any, b: Any) -> bool:
    """Whether two values are the same in type, dtype, shape and bits."""
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
    if isinstance(a, float):
        return struct.pack("<d", a) == struct.pack("<d", b)
    return bool(a == b)


@EASY
@given(VALUES)
def test_what_is_sent_arrives_to_the_bit(value: object) -> None:
    assert alike(sent(value), value)


@EASY
@given(ARRAYS)
def test_an_array_arrives_whatever_its_strides(array: Any) -> None:
    for view in (array.T, array[::-1] if array.ndim else array, np.asfortranarray(array)):
        assert alike(sent(view), np.ascontiguousarray(view).reshape(view.shape))
    assert alike(sent(np.broadcast_to(array, (2, *array.shape))), np.stack([array, array]))


@EASY
@given(hnp.arrays(np.uint16, 5))
def test_bfloat16_arrives_widened_and_back(bits: Any) -> None:
    values = wire.widen_bfloat16(bits)
    received = sent(Tensor(values, "bfloat16"))
    assert isinstance(received, Tensor)
    assert received.dtype == "bfloat16"
    assert alike(received.values, values)
    assert np.array_equal(wire.bfloat16_bits(values), bits)


def test_received_arrays_are_writable_and_lie_in_nobody_elses_memory() -> None:
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
def test_of_what_is_no_plain_data_only_the_type_is_sent(value: object, found: str) -> None:
    assert sent(value) == Opaque(found)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        _nested(17),
        [0] * 20_001,
        {str(i): i for i in range(20_001)},
        [[0] * 150] * 150,
        np.zeros((1,) * 9),
        ["x" * 60_000] * 20,
    ],
    ids=["deep", "long", "wide", "many", "dimensions", "text"],
)
def test_what_is_too_much_is_refused_by_the_sender(value: object) -> None:
    with pytest.raises(WireError):
        wire.encode(value)


@pytest.mark.parametrize(
    "size", [1_000, 9_000, 10_500, 19_000, 19_999, 20_000, 20_001, 30_000, 79_000]
)
@pytest.mark.parametrize("many", [lambda n: [0] * n, lambda n: {str(i): 0 for i in range(n)}])
def test_whatever_the_sender_lets_through_can_be_received(size: int, many: Any) -> None:
    try:
        meta, payload = frame(many(size))
    except WireError:
        return
    assert len(wire.decode(meta, memoryview(payload))) == size  # type: ignore[arg-type]


def test_a_long_text_is_cut_and_a_broken_one_is_repaired() -> None:
    assert len(str(sent("x" * 100_000))) == wire.MAX_TEXT
    assert sent("\ud800") == "\\ud800"
    assert sent({"\udfff": 1}) == {"\\udfff": 1}


@settings(EASY, max_examples=200)
@given(st.binary(max_size=80), st.binary(max_size=40))
def test_any_bytes_are_a_value_or_a_wire_error(meta: bytes, payload: bytes) -> None:
    decoded(meta, payload)


def decoded(meta: bytes, payload: bytes) -> None:
    with contextlib.suppress(WireError):
        wire.decode(meta, memoryview(payload))


@settings(EASY, max_examples=150)
@given(st.data())
def test_a_frame_with_bytes_changed_is_a_value_or_a_wire_error(data: st.DataObject) -> None:
    meta, payload = frame(data.draw(VALUES))
    changed = bytearray(meta)
    for _ in range(data.draw(st.integers(1, 4))):
        if not changed:
            break
        at = data.draw(st.integers(0, len(changed) - 1))
        match data.draw(st.sampled_from(["flip", "cut", "add", "ff"])):
            case "flip":
                changed[at] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del changed[at:]
            case "add":
                changed[at:at] = data.draw(st.binary(max_size=9))
            case _:
                changed[at : at + 8] = b"\xff" * min(8, len(changed) - at)
    decoded(bytes(changed), payload)
    decoded(meta, payload[: data.draw(st.integers(0, len(payload)))])


def _lies() -> Iterator[tuple[str, bytes]]:
    for tag, name in ((wire.LIST, "list"), (wire.TUPLE, "tuple"), (wire.DICT, "dict")):
        for count in (2**32 - 1, wire.MAX_ITEMS, wire.MAX_ITEMS + 1):
            yield f"{name} of {count}", struct.pack("<BI", tag, count)
    for tag, name in ((wire.TEXT, "text"), (wire.OPAQUE, "opaque"), (wire.BIGINT, "integer")):
        yield f"{name} of 4 GB", struct.pack("<BI", tag, 2**32 - 1)
    for tag in (wire.ARRAY, wire.TENSOR):
        for shape in ((2**63,), (2**64 - 1, 2**64 - 1), (2**40, 2**40, 0), (0, 2**64 - 1),
                      (2**48, 0), (2**20,) * 8, (2**62, 4)):  # fmt: skip
            head = struct.pack(f"<BBB{len(shape)}Q", tag, 11, len(shape), *shape)
            yield f"array {tag} of {shape}", head
        yield f"array {tag} of 255 dimensions", struct.pack("<BBB", tag, 11, 255) + b"\0" * 2040
        yield f"array {tag} of an unknown dtype", struct.pack("<BBBQ", tag, 200, 1, 1)
    yield "nothing", b""
    yield "an unknown tag", b"\xff"
    yield "lists in lists", struct.pack("<BI", wire.LIST, 1) * 100_000
    yield "a million empty lists", struct.pack("<BI", wire.LIST, 20_000) * 20_000
    yield "two values", bytes([wire.NONE, wire.NONE])


@pytest.mark.parametrize(("meta"), [pytest.param(meta, id=name) for name, meta in _lies()])
def test_a_frame_that_lies_is_refused_before_any_memory_is_taken(meta: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(WireError):
            wire.decode(meta, memoryview(b"\0" * 64))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 << 20


def test_leftover_bytes_are_no_value() -> None:
    meta, payload = frame(np.zeros(3))
    for m, p in ((meta + b"\0", payload), (meta, payload + b"\0"), (meta[:-1], payload)):
        with pytest.raises(WireError):
            wire.decode(m, memoryview(p))


def test_booleans_of_any_byte_are_true_or_false() -> None:
    meta, _ = frame(np.zeros(3, bool))
    received = wire.decode(meta, memoryview(b"\x00\x01\x07"))
    assert isinstance(received, np.ndarray)
    assert np.array_equal(received, np.array([False, True, True]))
    assert math.isclose(float(received.astype(float).sum()), 2.0)


HEADS = st.sampled_from(range(13)).flatmap(
    lambda tag: st.tuples(
        st.just(bytes([tag])),
        st.sampled_from([0, 1, 2, 3, 255, 2**16, 2**20, 2**31, 2**32 - 1]).map(
            lambda n: struct.pack("<I", n)
        ),
        st.binary(max_size=12),
    ).map(b"".join)
)


@settings(EASY, max_examples=200)
@given(st.lists(HEADS, max_size=20).map(b"".join), st.binary(max_size=64))
def test_what_looks_like_a_frame_takes_little_memory(meta: bytes, payload: bytes) -> None:
    tracemalloc.start()
    try:
        decoded(meta, payload)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20
