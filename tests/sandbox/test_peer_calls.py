"""Values that one program passes to another."""

from __future__ import annotations

import numpy as np
import pytest

from grader.sandbox.worker import peer_calls, protocol, wire
from grader.sandbox.worker.protocol import PassedValue, PeerMessage
from tests.sandbox.running import sent


def received(said: PeerMessage) -> PeerMessage:
    """Return a message after it was sent."""
    found: PeerMessage = protocol.build_message(PeerMessage, sent(wire.message_fields(said)))
    return found


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
    (one,) = received(
        PeerMessage("call", number=1, given=peer_calls.pack_arguments((value,), {}))
    ).given
    found = peer_calls.unpack_value(one)
    assert (found.dtype, found.shape) == (value.dtype, value.shape)
    assert (found == value).all()
    assert found.flags.writeable


def test_other_values_than_arrays_arrive_too() -> None:
    given = [1, 2.5, "a", None, True, [1.0, [2.0]], {"k": (1, 2)}, np.float32(3)]
    said = received(
        PeerMessage("call", number=0, given=peer_calls.pack_arguments(given, {"key": 7}))
    )
    assert [peer_calls.unpack_value(one) for one in said.given] == [*given, 7]
    assert [one.keyword for one in said.given][-1] == "key"


def test_read_only_arrays_and_generators_arrive_as_such() -> None:
    frozen = np.ones(3)
    frozen.flags.writeable = False
    rng = np.random.default_rng(7)
    rng.normal(size=5)
    said = received(PeerMessage("call", given=peer_calls.pack_arguments((frozen, rng), {}, [])))
    array, again = map(peer_calls.unpack_value, said.given)
    assert not array.flags.writeable
    assert again.normal() == rng.normal()


def test_functions_are_sent_as_numbers_only_to_a_test() -> None:
    functions: list[object] = []
    packed = peer_calls.pack_arguments((len, 1.0, max), {}, functions)
    assert [one.function for one in packed] == [0, -1, 1]
    assert functions == [len, max]
    with pytest.raises(TypeError, match="expected numbers, texts and arrays"):
        peer_calls.pack_arguments((len,), {})


def test_arguments_that_are_too_large_are_refused() -> None:
    with pytest.raises(ValueError, match="1,048,576 bytes of arrays, found 1,048,584"):
        peer_calls.pack_arguments((np.zeros((1 << 17) + 1),), {})
    with pytest.raises(TypeError, match="one of object"):
        peer_calls.pack_arguments(([np.array([{}])],), {})


@pytest.mark.parametrize("state", [None, [], {"bit_generator": "PCG64"}, {"state": {"state": -1}}])
def test_a_false_state_of_a_generator_is_refused(state: object) -> None:
    with pytest.raises((TypeError, ValueError, KeyError)):
        peer_calls.unpack_value(PassedValue(state, generator=True))
