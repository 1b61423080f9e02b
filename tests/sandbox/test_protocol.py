"""Messages arrive as they were sent, and other data is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.sandbox.client import ProtocolViolation
from grader.sandbox.messages import EncodedInput, encode_inputs, parse_message
from grader.sandbox.worker import wire
from grader.sandbox.worker.protocol import (
    Load,
    Loaded,
    Measured,
    Outcome,
    Outcomes,
    Run,
    WireArgument,
    WireException,
    WireInput,
    WireStep,
    WorkerFault,
    build_message,
)  # fmt: skip
from tests.sandbox.running import sent

STEP = WireStep(("y",), False, "submission", "f", (WireArgument("x"), WireArgument(None, 2, "k")))


def alike(a: object, b: object) -> bool:
    """Return True if two messages are equal."""
    return type(a) is type(b) and wire.encode(a) == wire.encode(b)


@pytest.mark.parametrize(
    "message",
    [
        Loaded(("f",), (("g", "int"),), ()),
        Outcomes((Outcome({"y": [1, (2.5, None)]}, ((0, "x"),)), Outcome({})), ("y",)),
        WorkerFault(2, raised=WireException("ValueError", "m", ((1, "f", "x = 1"),), None)),
        Measured("own", (("a tensor", 3),), 4, ("y",)),
        Measured(7),
    ],
)
def test_a_reply_arrives_as_it_was_sent(message: Any) -> None:
    assert alike(parse_message(type(message), sent(message), "run"), message)


@pytest.mark.parametrize(
    "message",
    [
        Run("submission", (STEP, STEP), ({"x": WireInput(np.arange(3.0), "fortran")},), ("y",)),
        Load("p", (np.zeros(3, np.uint8),), None, "submission.py", ("f",)),
    ],
)
def test_a_request_arrives_as_it_was_sent(message: Any) -> None:
    assert alike(build_message(type(message), sent(message)), message)


@pytest.mark.parametrize(
    ("kind", "data", "where"),
    [
        (Loaded, None, ""),
        (Loaded, {"missing": (), "uncallable": ()}, "defined"),
        (Loaded, {"missing": "f", "uncallable": (), "defined": ()}, "missing"),
        (Loaded, {"missing": (3,), "uncallable": (), "defined": ()}, "missing"),
        (Loaded, {"missing": (), "uncallable": (("a",),), "defined": ()}, "uncallable"),
        (Loaded, {"missing": (), "uncallable": [], "defined": ()}, "uncallable"),
        (Measured, {"value": True}, "value"),
        (Measured, {"value": 1.0}, "value"),
        (Measured, {"value": 1 << 63}, "value"),
        (Measured, {"value": 1, "details": {}}, "details"),
        (Measured, {"value": 1, "results": []}, "results"),
        (Measured, {"value": 1, "ok": True}, "ok"),
        (Outcome, {"values": []}, "values"),
        (Outcome, {"values": {}, "changed": (("x", 0),)}, "changed"),
        (Outcomes, {"runs": ({},), "common": ()}, "values"),
        (WorkerFault, {"raised": {"type": "T", "message": "m", "frames": ((1, "f"),)}}, "raised"),
    ],
)
def test_data_that_is_not_a_message_is_refused(kind: type[Any], data: object, where: str) -> None:
    with pytest.raises(ProtocolViolation, match=f"not a reply to run .*{where}"):
        parse_message(kind, data, "run")


def test_an_input_is_encoded_once_for_all_requests() -> None:
    values = np.arange(6.0).reshape(2, 3)
    plain: dict[str, Any] = {
        "value": wire.Tensor(values, "bfloat16"),
        "layout": "fortran",
        "tensor": True,
    }
    once = EncodedInput(plain)
    assert once["value"].values is values
    assert once.wire_value is once.wire_value
    assert encode_inputs({"x": once})["x"] is once.wire_value
    requests: Any = [
        {"first": {"x": once.wire_value}},
        {"inputs": [{"x": once.wire_value, "k": 2}]},
    ]
    for request in requests:
        found = sent(request)
        inner = found["first"] if "first" in found else found["inputs"][0]
        assert alike(build_message(WireInput, inner["x"]), WireInput(**plain))
