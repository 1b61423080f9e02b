"""The reference and every right solution of tile-kernel, against torch in float64.

The oracle knows no tiles: torch's softmax and rms_norm, with autograd, on what is loaded.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, by_autograd, each, normal, variants

variant = variants(__file__)
# What float32, and then rounding to float16, may do to a number of about 1.
CLOSE = {"float32": 1e-5, "float16": 2e-3}
SIZES = [(3, 16, 16), (3, 13, 16), (2, 45, 8), (1, 1, 4), (2, 32, 16), (2, 5, 1), (2, 33, 32)]


def machine(block: int) -> Any:
    return importlib.import_module("tile").Tiles(block)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


def agrees(found: Array, wanted: Array, dtype: str) -> None:
    assert found.dtype == dtype
    np.testing.assert_allclose(
        found.astype(float),
        wanted,
        rtol=CLOSE[dtype],
        atol=CLOSE[dtype] * max(1, abs(wanted).max()),
    )


def softmax_of(x: Array) -> Array:
    return torch.tensor(x.astype(float)).softmax(1).numpy()


def rms_of(x: Array, gamma: Array, eps: float, grad_y: Array) -> list[Array]:
    """Y and the gradients of x and gamma."""

    def norm(x: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[1],), gamma, eps=eps)

    return by_autograd(norm, x.astype(float), gamma.astype(float), grad_y=grad_y.astype(float))


@each("size", SIZES)
@each("dtype", ["float32", "float16"])
def test_softmax_is_that_of_torch(program: Program, size: tuple[int, ...], dtype: str) -> None:
    *shape, block = size
    for shift in (0.0, 300.0, -20.0, -200.0, -20_000.0):
        x = (normal(1, tuple(shape))[0] + shift).astype(dtype)
        t = machine(block)
        agrees(program.softmax(t, x, block), softmax_of(x), dtype)
        times = 2 if size[1] <= block else 3
        assert t.loaded + t.stored <= times * x.size + 4 * len(x)
        assert t.races == 0


def test_minus_infinity_has_no_weight(program: Program) -> None:
    x = normal(2, (4, 12))[0].astype("float32")
    x[0, :8], x[1, 4:], x[2, 3:9] = -np.inf, -np.inf, -np.inf
    for block in (1, 2, 4, 16):
        agrees(program.softmax(machine(block), x, block), softmax_of(x), "float32")


@each("size", SIZES)
@each("dtype", ["float32", "float16"])
def test_rmsnorm_and_its_gradients_are_those_of_torch(
    program: Program, size: tuple[int, ...], dtype: str
) -> None:
    *shape, block = size
    for scale, eps, programs in ((1.0, 1e-5, 3), (1.0, 0.5, 1), (30.0, 0.1, 2)):
        drawn = normal(3, tuple(shape), (shape[1],), tuple(shape))
        x, gamma, grad_y = (a.astype(dtype) for a in (scale * drawn[0], *drawn[1:]))
        y, grad_x, grad_gamma = rms_of(x, gamma, eps, grad_y)
        t = machine(block)
        found, rstd = program.rmsnorm(t, x, gamma, eps, block)
        agrees(found, y, dtype)
        assert rstd is None
        assert t.stored == x.size
        found, rstd = program.rmsnorm(machine(block), x, gamma, eps, block, True)
        agrees(found, y, dtype)
        agrees(rstd, 1 / np.sqrt((x.astype(float) ** 2).mean(1) + eps), "float32")
        t = machine(block)
        back = program.rmsnorm_backward(t, x, gamma, rstd, grad_y, block, programs)
        agrees(back[0], grad_x, dtype)
        agrees(back[1], grad_gamma, "float32")
        assert t.races == 0
        assert t.grids[0] == programs


def test_entries_moved_are_what_the_contract_allows(program: Program, reference: Program) -> None:
    x, gamma, grad_y = (a.astype("float32") for a in normal(4, (64, 45), (45,), (64, 45)))

    def moved(one: Program) -> float:
        rstd = one.rmsnorm(machine(16), x, gamma, 1e-5, 16, True)[1]
        t = machine(16)
        one.rmsnorm_backward(t, x, gamma, rstd, grad_y, 16, 4)
        return float((t.loaded + t.stored) / x.size)

    assert moved(program) <= 8
    assert 7 < moved(reference) < 7.5
    assert moved(variant("sums-travel")) > 9


# What the text says, and what the machine does.


def test_rows_of_the_starter_sum_to_what_the_text_says(starter: Program) -> None:
    x = normal(5, (1000, 50))[0].astype("float32")

    def sums(shift: float) -> Array:
        found: Array = starter.softmax(machine(64), x + np.float32(shift), 64).sum(axis=1)
        return found

    assert round(float(sums(0).mean()), 2) == 0.85
    assert np.allclose(sums(30), 1)
    assert not sums(-200).any()
    zeros = np.zeros((1, 50), "float32")
    assert starter.softmax(machine(64), zeros, 64).sum() == pytest.approx(50 / 64)
    for width in (64, 128, 256):
        x = normal(6, (3, width))[0].astype("float32")
        agrees(starter.softmax(machine(width), x, width), softmax_of(x), "float32")
    x, gamma, grad_y = (a.astype("float32") for a in normal(7, (3, 50), (50,), (3, 50)))
    found = starter.rmsnorm(machine(64), x, gamma, 1e-5, 64)
    agrees(found, rms_of(x, gamma, 1e-5, grad_y)[0], "float32")


def test_sums_in_float16_are_what_the_second_prompt_says() -> None:
    wrong = variant("sums-in-the-dtype-of-x")
    sums = {}
    for n in (1000, 20_000):
        x = (normal(8, (1, n))[0] * 0.1).astype("float16")
        t = importlib.import_module("tile").Tiles(16, watch=False)
        sums[n] = float(wrong.softmax(t, x, 16).astype(float).sum())
    assert abs(sums[1000] - 1) < 0.005
    assert sums[20_000] == pytest.approx(1.09, abs=0.02)
    x = (normal(9, (2, 40))[0] * 300).astype("float16")
    gamma = np.ones(40, "float16")
    y, _ = variant("squares-before-the-cast").rmsnorm(machine(16), x, gamma, 1e-5, 16)
    assert not y.any()


def test_a_sum_of_ones_stops_where_the_follow_up_says() -> None:
    total = np.float16(0)
    while total + np.float16(1) > total:
        total = np.float16(total + np.float16(1))
    assert total == 2048
    assert torch.tensor(256.0, dtype=torch.bfloat16) + 1 == 256
    assert round(2 * 128 * 7168 * 4 / 1e6, 2) == 7.34
    assert round(16_384 * 7168 * 2 / 1e6) == 235


def test_what_adds_into_one_row_is_right_here_and_races() -> None:
    x, gamma, grad_y = (a.astype("float32") for a in normal(10, (7, 45), (45,), (7, 45)))
    wrong = variant("adds-into-one-row")
    rstd = wrong.rmsnorm(machine(16), x, gamma, 1e-5, 16, True)[1]
    t = machine(16)
    _, grad_gamma = wrong.rmsnorm_backward(t, x, gamma, rstd, grad_y, 16, 3)
    agrees(grad_gamma, rms_of(x, gamma, 1e-5, grad_y)[2], "float32")
    assert t.races == 2 * 2 * 45  # two programs load and store what another has written


def test_a_machine_notices_meetings_in_either_order() -> None:
    tile = importlib.import_module("tile")

    def races(*acts: str) -> int:
        t, memory = tile.Tiles(4), tile.Memory(np.zeros(8))

        def kernel(t: Any, program: int) -> None:
            act = acts[program]
            if "l" in act:
                t.load(memory, np.arange(4))
            if "s" in act:
                t.store(memory, np.arange(4), 1.0)

        t.launch(kernel, len(acts))
        return int(t.races)

    assert races("l", "l") == races("ls", "") == 0
    assert races("s", "l") == races("l", "s") == races("s", "s") == 4
    assert races("l", "l", "s") == 4


def test_a_machine_refuses_what_is_outside_and_what_is_too_wide() -> None:
    tile = importlib.import_module("tile")
    t, memory = tile.Tiles(4), tile.Memory(np.arange(6.0))
    found = t.load(memory, np.arange(4, 8), np.arange(4, 8) < 6)
    assert found.tolist() == [4, 5, 0, 0]
    for at in ([6], [-1]):
        with pytest.raises(tile.OutOfBounds):
            t.load(memory, np.array(at))
        with pytest.raises(tile.OutOfBounds):
            t.store(memory, np.array(at), 0.0)
    with pytest.raises(ValueError, match="at most 4"):
        t.load(memory, np.arange(5))
