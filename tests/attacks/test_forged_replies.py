"""The judge ends with a report, even if a hostile worker changes its replies.

Replies of a real worker, with parts taken away, repeated or replaced by odd ones: nothing of it may
raise in the judge, and all of it must be a report that can be stored and shown.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

from grader.model.report import Verdict
from grader.reports.json import dumps
from grader.sandbox.client import ProtocolViolation, WorkerClient
from grader.sandbox.worker.wire import Opaque, Tensor
from tests.attacks.attack import question
from tests.attacks.running import Graded
from tests.pages import from_json, page_of
from tests.sandbox.running import sent

pytestmark = pytest.mark.same_for_every_user

SEEDS = range(25)
NASTY = "\x1b[2J\x1b]0;x\x07=cmd|' /C calc'!A0[bold]<script>\u202e\r\n"
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**63 - 1, -(2**63), 2**1000, 0.0, -0.0, float("nan"),
    float("inf"), -float("inf"), 1e308, "", NASTY, "x" * 60_000, "9" * 5000, [], {}, (), [[]],
    [NASTY],
    {NASTY: NASTY}, {"": []}, [None] * 2000, [[0, "x"]], [["x", 0]], [[0, "x", 1]],
    [[float("nan"), 1]],
    [[float("inf"), 1]], [[2**1000, NASTY]], Opaque(""), Opaque(NASTY), Opaque("x" * 60_000),
    np.float64("nan"), np.int8(-1), np.bool_(True), np.zeros(0), np.zeros((0, 2**40)),
    np.array(1.0),
    np.zeros((1, 2)), np.full((3, 4), np.nan), np.full((3, 4), np.inf), np.ones((3, 4), complex),
    np.ones((3, 4), np.float16), np.ones((3, 4), bool), np.full((3, 4), 2**63, np.uint64),
    np.full((3, 4), -(2**63), np.int64), np.zeros((1,) * 8), np.full((3, 4), 1e308),
    Tensor(np.zeros((3, 4), np.float32), "bfloat16"), Tensor(np.zeros(()), "float64"),
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield every place in a tree."""
    yield path
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


def forged(reply: dict[str, Any], rng: random.Random) -> Any:
    """Return a reply with one to three changed places."""
    reply = _listed(reply)
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(list(places(reply)))
        if not path:
            if rng.random() < 0.2:
                return _odd(rng)
            reply[rng.choice(["ok", "fault", "raised", "broken", "step", "values", NASTY])] = _odd(
                rng
            )
            continue
        inner: Any = reply
        for key in path[:-1]:
            inner = inner[key]
        match rng.choice(["odd", "odd", "delete", "repeat", "rename"]):
            case "delete":
                del inner[path[-1]]
            case "repeat" if isinstance(inner, list):
                inner.append(inner[path[-1]])
            case "rename" if isinstance(inner, dict):
                inner[rng.choice([NASTY, "y", "s", "x", ""])] = inner.pop(path[-1])
            case _:
                inner[path[-1]] = _odd(rng)
    return reply


def _odd(rng: random.Random) -> Any:
    return _listed(rng.choice(ODD))


def _listed(value: Any) -> Any:
    """Return a copy of which every part can be changed."""
    if isinstance(value, dict):
        return {k: _listed(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_listed(v) for v in value]
    return value


def lying(worker: WorkerClient, rng: random.Random, chance: float) -> None:
    """Change a worker's replies on their way, as if its process had sent others."""
    _ = worker.isolation  # asked before anything foreign runs
    exchange: Callable[..., dict[str, Any]] = worker.exchange

    def answer(*request: Any, **more: Any) -> dict[str, Any]:
        reply = exchange(*request, **more)
        if rng.random() > chance:
            return reply
        value = sent(forged(reply, rng))
        if not isinstance(value, dict) or not isinstance(value.get("ok"), bool):
            raise ProtocolViolation("broke the protocol: not a reply")
        return dict(value)

    worker.exchange = answer  # type: ignore[method-assign]


@pytest.mark.parametrize("question_id", ["deviations", "ledger"])
@pytest.mark.parametrize("chance", [1.0, 0.3])
def test_no_reply_makes_the_judge_fail(question_id: str, chance: float, in_session: Graded) -> None:
    asked = question(question_id)
    verdicts = set()
    for seed in SEEDS:
        lie = partial(lying, rng=random.Random(seed), chance=chance)
        report, _ = in_session(asked, asked.reference, meddle=lie)
        verdicts.add(report.verdict)
        assert report.verdict is not Verdict.INVALID, report.message
        stored = dumps(report)
        assert dumps(from_json(json.loads(stored))) == stored
        shown = page_of(report)
        assert not {c for c in shown if c < " " and c != "\n"}
        assert "\u202e" not in shown
    assert Verdict.ERROR in verdicts
