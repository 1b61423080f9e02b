"""Values on their way between two programs, and frames that are none."""

from __future__ import annotations

import numpy as np
import pytest

from grader.sandbox.worker import crossing, wire
from grader.sandbox.worker.messages import Passed, Said
from grader.sandbox.worker.typed import Malformed


def sent(said: Said) -> Said:
    """What arrives of it."""
    frame = b"".join(crossing.framed(said))
    _, meta, payload = wire.HEADER.unpack(frame[: wire.HEADER.size])
    body = memoryview(frame)[wire.HEADER.size :]
    assert len(body) == meta + payload
    return crossing.read(bytes(body[:meta]), body[meta:])


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.zeros((0, 3), np.float32),
        np.array(2, np.int64),
        np.arange(3, dtype=np.longdouble),
        np.array([1j, 2], np.clongdouble),
    ],
)
def test_an_array_arrives_as_it_was(value: np.ndarray) -> None:
    (one,) = sent(Said("call", number=1, given=crossing.pack_all((value,), {}))).given
    found = crossing.unpack(one)
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    assert (found == value).all()
    assert found.flags.writeable


def test_what_is_no_array_arrives_too() -> None:
    given = [1, 2.5, "a", None, True, [1.0, [2.0]], {"k": (1, 2)}, np.float32(3)]
    said = sent(Said("call", number=0, given=crossing.pack_all(given, {"key": 7})))
    assert [crossing.unpack(one) for one in said.given] == [*given, 7]
    assert [one.keyword for one in said.given][-1] == "key"


def test_a_read_only_array_and_a_generator_stay_what_they_are() -> None:
    frozen = np.ones(3)
    frozen.flags.writeable = False
    rng = np.random.default_rng(7)
    rng.normal(size=5)
    said = sent(Said("call", given=crossing.pack_all((frozen, rng), {})))
    array, again = map(crossing.unpack, said.given)
    assert not array.flags.writeable
    assert again.normal() == rng.normal()


def test_functions_cross_as_numbers_and_only_where_they_are_meant_to() -> None:
    functions: list[object] = []
    packed = crossing.pack_all((len, 1.0, max), {}, functions)
    assert [one.function for one in packed] == [0, -1, 1]
    assert functions == [len, max]
    with pytest.raises(TypeError, match="expected numbers, texts and arrays"):
        crossing.pack_all((len,), {})


def test_more_than_may_cross_is_refused() -> None:
    with pytest.raises(ValueError, match="1,048,576 bytes of arrays, found 1,048,584"):
        crossing.pack_all((np.zeros((1 << 17) + 1),), {})
    with pytest.raises(TypeError, match="one of object"):
        crossing.pack_all(([np.array([None])],), {})


@pytest.mark.parametrize(
    "meta",
    [
        b"", b"[", b"[]", b"[1,2,3]", b'[["call",0],[]]', b'[["call","0",0],[]]',
        b'[["call",0,0],5]', b'[["call",0,0],[5]]', b'[["call",0,0],[["float64",null]]]',
        b'[["call",0,0],[["float64",["3"]]]]', b'[["call",0,0],[["float64",[3]]]]',
        b'[["call",0,0],[["object",[1]]]]', b'[["call",0,0],[[["float64"],[1]]]]',
        b"[" * 100_000, b'{"about":3}', b'{"about":"call","given":5}', b"\xff\xfe",
    ],
)  # fmt: skip
def test_a_frame_that_says_nothing_is_a_fault_of_the_frame(meta: bytes) -> None:
    with pytest.raises((wire.WireError, Malformed)):
        crossing.read(meta, memoryview(b"\0" * 8))


def test_a_frame_is_short_where_it_holds_arrays_only() -> None:
    plain = crossing.framed(Said("gives", number=3, given=(Passed(np.ones(2)),)))
    other = crossing.framed(Said("gives", number=3, given=(Passed(np.ones(2), readonly=True),)))
    assert b'"about"' not in b"".join(plain)
    assert b'"about"' in b"".join(other)


@pytest.mark.parametrize("place", [-1, 625, 10**8])
def test_a_generator_stands_within_its_buffer(place: int) -> None:
    state = np.random.MT19937(3).state
    assert crossing.unpack(Passed(state, generator=True)).random() >= 0
    state["state"]["pos"] = place
    with pytest.raises(wire.WireError, match="no state of a generator"):
        crossing.unpack(Passed(state, generator=True))
