"""The faults of the diff are faults, proved by running what it makes of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.harness import question_of

QUESTION = question_of(__file__)
REPAIRED = {
    12: "            acc += len(y[a:a + micro]) * "
       "mean_gradient(params, x[a:a + micro], y[a:a + micro])",
    13: "        acc /= len(y)",
    14: "        acc *= 1.0",
    16: "    rows = [len(y) for x, y in shards]\n"
        "    mean = sum(n * g for n, g in zip(rows, grads)) / sum(rows)\n"
        "    mean = mean * min(1.0, clip / (np.linalg.norm(mean) + 1e-12))",
    19: "    params = params - lr * velocity",
}  # fmt: skip
EQUIVALENT = {8: "    grads = list()", 17: "    velocity = mean + 0.9 * velocity",
              11: "        for a in range(0, len(x), micro):"}  # fmt: skip


def step_with(repaired: dict[int, str], *, without: str = "-") -> Callable[..., Any]:
    """One side of the diff, run: what it makes of the step, or what was there before."""
    lines = QUESTION.spec.diff.splitlines()
    kept = [repaired.get(n, line[1:]) for n, line in enumerate(lines, 1) if line[:1] != without]
    space: dict[str, Any] = {"np": np, "mean_gradient": mean_gradient}
    exec("\n".join(kept), space)
    step: Callable[..., Any] = space["step"]
    return step


def mean_gradient(params: Any, x: Any, y: Any) -> Any:
    return 2 * x.T @ (x @ params - y) / len(y)


def right(params: Any, velocity: Any, shards: Any, lr: float, clip: float) -> Any:
    """The step over all rows at once, as the contract says it."""
    x, y = (np.concatenate([shard[i] for shard in shards]) for i in (0, 1))
    mean = mean_gradient(params, x, y)
    mean = mean * min(1.0, clip / (np.linalg.norm(mean) + 1e-12))
    velocity = 0.9 * velocity + mean
    return params - lr * velocity, velocity


CASES = {  # rows of each rank, rows of a micro-batch, clip
    "even": ((4, 4), 4, 1e9),
    "micro": ((4, 4), 2, 1e9),
    "ragged-micro": ((5, 5), 2, 1e9),
    "clip": ((4, 4), 4, 0.1),
    "uneven": ((2, 5, 7), 9, 1e9),
}


def failing(step: Callable[..., Any], cases: dict[str, Any] = CASES) -> set[str]:
    """The cases in which a step is wrong, and whether it changed what the caller has."""
    found = set()
    for name, (rows, micro, clip) in cases.items():
        rng = np.random.default_rng(5)
        shards = [(rng.normal(size=(n, 3)), rng.normal(size=n)) for n in rows]
        params, velocity = rng.normal(size=3), rng.normal(size=3)
        expected = right(params, velocity, shards, 0.1, clip)
        before = params.copy()
        got = step(params, velocity, shards, 0.1, clip, micro)
        if not all(np.allclose(a, b, rtol=1e-9) for a, b in zip(got, expected, strict=True)):
            found.add(name)
        if not np.array_equal(params, before):
            found.add("caller")
    return found


def without(line: int) -> Callable[..., Any]:
    """The step with all lines repaired but one."""
    return step_with({n: text for n, text in REPAIRED.items() if n != line})


def test_what_the_diff_replaces_was_right() -> None:
    before = step_with({}, without="+")
    assert failing(lambda *args: before(*args[:-1])) == set()


def test_one_full_micro_batch_for_each_of_two_equal_ranks_shows_the_caller_alone() -> None:
    """Put back one by one; a micro-batch that is not full shows the count as well."""
    for micro, shown in ((4, [19]), (9, [13, 19])):
        case = {"two": ((4, 4), micro, 1e9)}
        assert [line for line in REPAIRED if failing(without(line), case)] == shown


@pytest.mark.parametrize("innocent", [{}, *({line: text} for line, text in EQUIVALENT.items())])
def test_repaired_the_diff_is_right_however_an_innocent_line_is_written(
    innocent: dict[int, str],
) -> None:
    assert failing(step_with(REPAIRED | innocent)) == set()


@pytest.mark.parametrize(
    ("line", "cases"),
    [
        (12, {"micro", "ragged-micro"}),
        (13, {"ragged-micro", "uneven"}),
        (14, {"clip"}),
        (16, {"uneven", "clip"}),
        (19, {"caller"}),
    ],
)
def test_each_fault_put_back_alone_shows(line: int, cases: set[str]) -> None:
    found = failing(without(line))
    assert cases & found
    assert "caller" not in found or line == 19
