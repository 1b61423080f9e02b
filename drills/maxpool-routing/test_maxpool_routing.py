"""The max-pool drill against torch's max_pool2d, and wrong ideas against what they really are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as functional

from tests.harness import Array, Program, by_autograd, each, load_text, variants

Window = tuple[int, int, int]  # kernel, stride, padding

variant = variants(__file__)

SETTINGS: tuple[tuple[tuple[int, int, int, int], Window], ...] = (
    ((1, 1, 3, 3), (3, 3, 0)),
    ((1, 1, 1, 1), (3, 1, 1)),
    ((1, 2, 1, 7), (1, 1, 0)),
    ((1, 2, 9, 1), (1, 3, 0)),
    ((2, 3, 6, 8), (2, 2, 0)),
    ((2, 3, 7, 5), (2, 2, 0)),
    ((1, 2, 8, 9), (2, 3, 0)),
    ((2, 2, 7, 5), (3, 1, 0)),
    ((2, 3, 5, 7), (3, 2, 1)),
    ((1, 2, 5, 6), (4, 3, 1)),
    ((1, 2, 2, 3), (4, 1, 2)),
    ((2, 1, 4, 3), (5, 2, 2)),
    ((0, 3, 6, 5), (3, 2, 1)),
    ((3, 1, 2, 2), (2, 2, 1)),
    ((1, 1, 5, 4), (24, 17, 12)),
)
KINDS = ("normal", "ties", "constant", "negative", "masked", "all-masked", "huge")


def maps(kind: str, shape: tuple[int, ...], dtype: str = "float64") -> Array:
    """Return an input of the named kind, the same in every run."""
    rng = np.random.default_rng([len(kind), *shape])
    normal = rng.normal(size=shape)
    kinds = {
        "normal": normal,
        "ties": rng.integers(0, 3, size=shape).astype(np.float64),
        "constant": np.full(shape, 1.5),
        "negative": -40.0 - np.abs(normal),
        "masked": np.where(rng.random(shape) < 0.8, -np.inf, normal),
        "all-masked": np.full(shape, -np.inf),
        "huge": -1e30 + 1e28 * normal,
    }
    return kinds[kind].astype(dtype)


def torch_pool(x: Array, window: Window, grad_y: Array | None = None) -> tuple[Array, Array, Array]:
    kernel, stride, padding = window
    leaf = torch.tensor(np.ascontiguousarray(x), requires_grad=True)
    y = functional.max_pool2d(leaf, kernel, stride, padding)
    if grad_y is None:
        # Small integers: every order of addition gives the same sum, so equality can be exact.
        rng = np.random.default_rng(x.size)
        grad_y = rng.integers(-9, 10, size=tuple(y.shape)).astype(x.dtype)
    (grad_x,) = torch.autograd.grad(y, leaf, torch.tensor(np.ascontiguousarray(grad_y)))
    return y.detach().numpy(), grad_y, grad_x.numpy()


def pool(program: Program, x: Array, window: Window, grad_y: Array) -> list[Array]:
    y, ctx = program.maxpool2d_forward(x, *window)
    return [y, program.maxpool2d_backward(grad_y, ctx)]


def assert_same(results: list[Array], expected: list[Array]) -> None:
    for result, right in zip(results, expected, strict=True):
        assert isinstance(result, np.ndarray)
        assert result.dtype == right.dtype
        np.testing.assert_array_equal(result, right, strict=True)


def equals_torch(program: Program, x: Array, window: Window) -> None:
    y, grad_y, grad_x = torch_pool(x, window)
    assert_same(pool(program, x, window, grad_y), [y, grad_x])


@each("kind", KINDS)
@each(("shape", "window"), SETTINGS)
def test_every_right_solution_equals_torch(
    program: Program, shape: tuple[int, int, int, int], window: Window, kind: str
) -> None:
    for dtype in ("float64", "float32"):
        equals_torch(program, maps(kind, shape, dtype), window)


def test_every_right_solution_keeps_the_precision_of_float64(program: Program) -> None:
    x = 1.0 + 1e-9 * np.random.default_rng(2).permutation(60).reshape(1, 2, 5, 6)
    grad_y = np.random.default_rng(3).normal(size=(1, 2, 5, 6))
    y, _, grad_x = torch_pool(x, (3, 1, 1), grad_y)
    own_y, own_grad_x = pool(program, x, (3, 1, 1), grad_y)
    np.testing.assert_array_equal(own_y, y)
    np.testing.assert_allclose(own_grad_x, grad_x, rtol=1e-12, atol=1e-12)


@each(
    ("shape", "window"),
    [
        ((1, 1, 1, 70000), (1, 3500, 0)),
        ((1, 1, 2, 40000), (2, 1999, 1)),
        ((1, 1, 2, 2), (256, 3, 128)),
        ((1, 1, 16, 16), (24, 17, 12)),
    ],
)
def test_large_planes_and_windows_equal_torch(
    reference: Program, shape: tuple[int, int, int, int], window: Window
) -> None:
    equals_torch(reference, maps("normal", shape, "float32"), window)


@each(("shape", "window"), [(s, w) for s, w in SETTINGS if s[0]])
def test_the_starter_pools_exactly(
    starter: Program, shape: tuple[int, int, int, int], window: Window
) -> None:
    x = maps("masked", shape)
    y, _, _ = torch_pool(x, window)
    own_y, _ = starter.maxpool2d_forward(x, *window)
    np.testing.assert_array_equal(own_y, y)


@each("kind", ["normal", "ties", "negative"])
@each("side", [2, 3])
def test_the_starter_is_right_where_the_stride_is_the_kernel(
    starter: Program, side: int, kind: str
) -> None:
    """What a colleague tried: pooling as in a VGG, a row left over, equal entries."""
    for shape in ((2, 3, 6, 8), (2, 3, 7, 5), (1, 1, 3, 3)):
        equals_torch(starter, maps(kind, shape), (side, side, 0))


def distinct(shape: tuple[int, ...]) -> Array:
    rng = np.random.default_rng(4)
    return rng.permutation(int(np.prod(shape))).reshape(shape) * 0.25 - 100.0


PART_1: tuple[tuple[tuple[int, int, int, int], Window], ...] = (
    ((1, 1, 2, 5), (2, 3, 0)),
    ((2, 2, 8, 9), (2, 3, 0)),
    ((1, 1, 3, 3), (2, 1, 0)),
    ((2, 3, 7, 5), (3, 1, 0)),
    ((2, 3, 9, 7), (3, 2, 1)),
    ((1, 1, 2, 2), (2, 2, 1)),
    ((2, 3, 5, 6), (4, 3, 1)),
    ((1, 1, 3, 5), (3, 1, 1)),
)


@each(("shape", "window"), PART_1)
def test_the_starter_decodes_as_if_the_stride_were_the_kernel(
    starter: Program, shape: tuple[int, int, int, int], window: Window
) -> None:
    idea = variant("stride-is-kernel")
    x = distinct(shape)
    _, grad_y, grad_x = torch_pool(x, window)
    own = pool(starter, x, window, grad_y)
    assert_same(own, pool(idea, x, window, grad_y))
    assert np.array_equal(own[1], grad_x) == (window[0] == window[1])


def repaired(text: str) -> Program:
    """Return the starter with the stride carried to the backward pass, as a candidate would."""
    return load_text(
        text.replace("x.shape, kernel, padding)", "x.shape, kernel, stride, padding)")
        .replace("width), kernel, padding = ctx", "width), kernel, stride, padding = ctx")
        .replace("rows = kernel *", "rows = stride *")
        .replace("columns = kernel *", "columns = stride *")
    )


@each(("shape", "window"), PART_1)
def test_the_starter_then_loses_gradients_that_share_a_place(
    shape: tuple[int, int, int, int], window: Window
) -> None:
    text = Path(__file__).with_name("starter.py").read_text()
    idea = variant("assign-overlap")
    x = distinct(shape)
    y, grad_y, grad_x = torch_pool(x, window)
    own = pool(repaired(text), x, window, grad_y)
    assert_same(own, pool(idea, x, window, grad_y))
    added = repaired(
        text.replace("    grad_frame[image", "    np.add.at(grad_frame, (image").replace(
            "rows, columns] += grad_y", "rows, columns), grad_y)"
        )
    )
    assert_same(pool(added, x, window, grad_y), [y, grad_x])


def amax(leaf: torch.Tensor) -> torch.Tensor:
    padded = functional.pad(leaf, (1, 1, 1, 1), value=-np.inf)
    return padded.unfold(2, 3, 2).unfold(3, 3, 2).amax(dim=(4, 5))


@each(
    ("name", "kind", "by_torch"),
    [
        ("even-split", "normal", lambda leaf: functional.avg_pool2d(leaf, 3, 2, 1)),
        ("even-split / real", "normal", torch.nn.AvgPool2d(3, 2, 1, count_include_pad=False)),
        ("eq-mask-normalized / padded", "masked", amax),
    ],
)
def test_an_even_split_is_the_gradient_of_average_pooling_and_a_mask_that_of_amax(
    name: str, kind: str, by_torch: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x, grad_y = maps(kind, (2, 3, 5, 7)), np.random.default_rng(1).normal(size=(2, 3, 3, 4))
    _, grad_x = by_autograd(by_torch, x, grad_y=grad_y)
    found = pool(variant(name), x, (3, 2, 1), grad_y)[1]
    np.testing.assert_allclose(found, grad_x, rtol=1e-12)


def test_outputs_of_a_size_rounded_up_are_those_of_ceil_mode() -> None:
    x = maps("normal", (2, 3, 7, 5))
    y, _ = variant("output-size-rounded-up / forward").maxpool2d_forward(x, 2, 2, 0)
    rounded_up = functional.max_pool2d(torch.tensor(x), 2, 2, 0, ceil_mode=True)
    np.testing.assert_array_equal(y, rounded_up.numpy())


@each(("side", "share"), [(2, 0.0017), (3, 0.0044)])
def test_as_many_windows_of_bf16_values_are_tied_as_the_question_says(
    side: int, share: float
) -> None:
    torch.manual_seed(0)
    best = torch.randn(2_000_000, side * side).bfloat16().float().topk(2, dim=1).values
    assert abs((best[:, 0] == best[:, 1]).float().mean().item() - share) < 0.00015


def test_a_mask_that_is_assigned_loses_an_element_that_wins_one_window() -> None:
    """The 7 wins the first window; the second one covers it and has another winner."""
    x = np.array([[[[0.0, 7.0, 8.0], [0.0, 1.0, 2.0], [9.0, 3.0, 4.0]]]])
    grad_y = np.array([[[[2.0, 3.0], [4.0, 5.0]]]])
    window = (2, 1, 0)
    kept = pool(variant("assign-overlap"), x, window, grad_y)[1]
    lost = pool(variant("window-overwritten"), x, window, grad_y)[1]
    assert kept.tolist() == [[[[0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]]]
    assert lost.tolist() == [[[[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [4.0, 0.0, 5.0]]]]
