"""The average pooling of avgpool-overlap and nine-cells, against torch in float64.

The oracle is `avg_pool2d` with its autograd. A second one, for what the contract says in words, is
the whole operator as a matrix, entry by entry. The figures that prompts, hints, feedback and
follow-ups quote are at the end.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as functional

from grader import bank
from tests.harness import ROOT, Array, Program, each, load_text, saved_for_backward, variants

Window = tuple[int, int, int]  # kernel, stride, padding

DRILL = Path(__file__).parent

SETTINGS: tuple[tuple[tuple[int, int, int, int], Window], ...] = (
    ((1, 1, 2, 2), (2, 2, 0)),
    ((1, 1, 1, 1), (3, 1, 1)),
    ((1, 2, 3, 4), (1, 1, 0)),
    ((1, 2, 5, 4), (1, 3, 0)),
    ((1, 2, 7, 5), (2, 2, 0)),
    ((2, 1, 8, 9), (2, 3, 0)),
    ((1, 2, 7, 5), (3, 1, 0)),
    ((2, 2, 6, 7), (3, 2, 1)),
    ((1, 1, 5, 4), (2, 2, 1)),
    ((1, 1, 1, 3), (2, 2, 1)),
    ((1, 2, 5, 7), (4, 3, 2)),
    ((1, 1, 2, 3), (4, 1, 2)),
    ((1, 1, 4, 3), (5, 2, 2)),
    ((1, 1, 7, 4), (2, 5, 1)),
    ((0, 3, 6, 5), (3, 2, 1)),
)
FLAGS = ((True, False), (True, True), (False, False), (False, True))  # counted, rounded up


variant = variants(DRILL)


def maps(*shape: int, dtype: str = "float64") -> Array:
    return np.random.default_rng([7, *shape]).standard_normal(shape).astype(dtype)


def by_torch(
    x: Array, window: Window, counted: bool, up: bool = False, grad_y: Array | None = None
) -> tuple[Array, Array, Array]:
    leaf = torch.tensor(np.asarray(x, np.float64), requires_grad=True)
    y = functional.avg_pool2d(leaf, *window, ceil_mode=up, count_include_pad=counted)
    if grad_y is None:
        grad_y = maps(*y.shape)
    (grad_x,) = torch.autograd.grad(y, leaf, torch.tensor(np.asarray(grad_y, np.float64)))
    return y.detach().numpy(), grad_y, grad_x.numpy()


def pool(
    program: Program, x: Array, window: Window, counted: bool, grad_y: Array, **more: bool
) -> tuple[Array, Array]:
    y, ctx = program.avgpool2d_forward(x, *window, counted, **more)
    return y, program.avgpool2d_backward(grad_y, ctx)


@each(("counted", "up"), FLAGS)
@each(("shape", "window"), SETTINGS)
def test_every_right_solution_equals_torch(
    program: Program, shape: tuple[int, int, int, int], window: Window, counted: bool, up: bool
) -> None:
    x = maps(*shape)
    y, grad_y, grad_x = by_torch(x, window, counted, up)
    more = {"ceil_mode": True} if up else {}
    own_y, own_grad_x = pool(program, x, window, counted, grad_y, **more)
    np.testing.assert_allclose(own_y, y, rtol=0, atol=1e-14, strict=True)
    np.testing.assert_allclose(own_grad_x, grad_x, rtol=0, atol=1e-14, strict=True)


@each("counted", (True, False))
def test_every_right_solution_keeps_float32(program: Program, counted: bool) -> None:
    x = maps(2, 3, 7, 6, dtype="float32")
    y, grad_y, grad_x = by_torch(x, (3, 2, 1), counted)
    grad_y = grad_y.astype(np.float32)
    _, _, grad_x = by_torch(x, (3, 2, 1), counted, grad_y=grad_y)
    found = pool(program, x, (3, 2, 1), counted, grad_y)
    assert [one.dtype.name for one in found] == ["float32", "float32"]
    np.testing.assert_allclose(found[0], y, rtol=0, atol=5e-7)
    np.testing.assert_allclose(found[1], grad_x, rtol=0, atol=5e-7)


def in_words(length: int, window: Window, counted: bool, up: bool) -> tuple[Array, Array]:
    """What the contract says of one axis: which cells each window has, and how many count."""
    kernel, stride, padding = window
    exact = (length + 2 * padding - kernel) / stride
    number = int(np.ceil(exact) if up else np.floor(exact)) + 1
    if (number - 1) * stride - padding >= length:
        number -= 1
    member, count = np.zeros((number, length)), np.zeros(number)
    for i in range(number):
        for cell in range(i * stride - padding, i * stride - padding + kernel):
            inside = 0 <= cell < length
            if inside:
                member[i, cell] = 1
            count[i] += -padding <= cell < length + padding if counted else inside
    return member, count


@each(("counted", "up"), FLAGS)
@each(("shape", "window"), SETTINGS)
def test_the_words_of_the_contract_say_what_torch_does(
    shape: tuple[int, int, int, int], window: Window, counted: bool, up: bool
) -> None:
    x = maps(*shape)
    rows, tall = in_words(shape[2], window, counted, up)
    columns, broad = in_words(shape[3], window, counted, up)
    y, grad_y, grad_x = by_torch(x, window, counted, up)
    operator = np.einsum("ih,jw->ijhw", rows, columns) / np.outer(tall, broad)[..., None, None]
    np.testing.assert_allclose(np.einsum("ijhw,nchw->ncij", operator, x), y, rtol=0, atol=1e-14)
    back = np.einsum("ijhw,ncij->nchw", operator, grad_y)
    np.testing.assert_allclose(back, grad_x, rtol=0, atol=1e-14)


def test_the_nine_cells_are_those_of_torch() -> None:
    question = bank.load([ROOT], "nine-cells")
    found = load_text(question.reference.decode())
    grad_y = np.array([[[[1.0, 2.0], [4.0, 8.0]]]])
    _, _, grad_x = by_torch(maps(1, 1, 3, 3), (3, 2, 1), counted=True, grad_y=grad_y)
    entries = found.entries(3, 3, 2, 1, grad_y[0, 0].tolist())
    names = ("grad_x[0,0]", "grad_x[1,2]", "grad_x[1,1]")
    asked = [grad_x[0, 0, r, c] for r, c in ((0, 0), (1, 2), (1, 1))]
    assert entries == pytest.approx(dict(zip(names, asked, strict=True)), abs=1e-15)
    assert asked == pytest.approx([1 / 9, 10 / 9, 15 / 9], abs=1e-15)
    assert grad_x.sum() == pytest.approx(20 / 3)
    assert grad_x.sum() / grad_y.sum() == pytest.approx(4 / 9)


# What the text says.


@each("counted", (True, False))
def test_the_starter_is_right_where_the_prompt_says_so(starter: Program, counted: bool) -> None:
    for shape, window in SETTINGS:
        x = maps(*shape)
        y, grad_y, grad_x = by_torch(x, window, counted)
        own_y, own_grad_x = pool(starter, x, window, counted, grad_y)
        np.testing.assert_allclose(own_y, y, rtol=0, atol=1e-14)
        if window == (2, 2, 0):
            np.testing.assert_allclose(own_grad_x, grad_x, rtol=0, atol=1e-14)
        if window == (3, 2, 1) and grad_x.size:
            assert np.abs(own_grad_x - grad_x).max() > 0.1


def test_the_check_of_the_colleague_passes(starter: Program) -> None:
    """Central differences of the starter's own forward, for windows of 2 x 2 and stride 2."""

    x, grad_y = maps(1, 2, 7, 5), maps(1, 2, 3, 2)
    grad_x = pool(starter, x, (2, 2, 0), True, grad_y)[1]
    for place in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[place] = 0.5
        rise = [
            (grad_y * starter.avgpool2d_forward(x + d, 2, 2, 0, True)[0]).sum()
            for d in (step, -step)
        ]
        assert rise[0] - rise[1] == pytest.approx(grad_x[place], abs=1e-12)


def test_how_much_of_the_gradient_arrives() -> None:
    for counted, total in ((True, 5.444), (False, 9.0)):
        ones = np.ones((1, 1, 3, 3))
        grad_x = by_torch(maps(1, 1, 5, 5), (3, 2, 1), counted, grad_y=ones)[2]
        assert grad_x.sum() == pytest.approx(total, abs=5e-4)
    # With a row and a column left over all of it arrives.
    _, grad_y, grad_x = by_torch(maps(1, 1, 7, 5), (2, 2, 0), counted=True)
    assert grad_x.sum() == pytest.approx(grad_y.sum())


@each("counted", (True, False))
def test_backward_is_a_transposed_convolution(counted: bool) -> None:
    x = maps(2, 3, 7, 5)
    y, grad_y, grad_x = by_torch(x, (3, 2, 1), counted)
    divisor = by_torch(np.ones_like(x), (3, 2, 1), counted=True)[0] * 9 if not counted else 9.0
    ones = torch.ones(3, 1, 3, 3, dtype=torch.float64)
    share = torch.tensor(grad_y / divisor)
    back = functional.conv_transpose2d(share, ones, stride=2, padding=1, groups=3)
    forth = functional.conv2d(torch.tensor(x), ones, stride=2, padding=1, groups=3)
    np.testing.assert_allclose(back.numpy(), grad_x, rtol=0, atol=1e-14)
    np.testing.assert_allclose(forth.numpy() / divisor, y, rtol=0, atol=1e-14)


def test_torch_keeps_the_input() -> None:
    x = torch.ones(1, 1, 8, 8, requires_grad=True)
    with saved_for_backward() as kept:
        functional.avg_pool2d(x, 2)
    assert [t.untyped_storage().nbytes() for t in kept.values()] == [256]
    assert [*kept] == [x.data_ptr()]


def test_global_average_pooling_gives_every_cell_the_same() -> None:
    grad_x = by_torch(maps(1, 1, 4, 4), (4, 4, 0), counted=True, grad_y=np.full((1, 1, 1, 1), 3.0))[
        2
    ]
    np.testing.assert_allclose(grad_x, 3.0 / 16)


def test_the_figures_of_hints_and_feedback(reference: Program) -> None:
    assert (np.float32(1) / np.int64(9)).dtype == np.float64
    assert (np.ones(2, np.float32) / np.ones(2, np.int64)).dtype == np.float64
    # The center is in all four windows of 2 x 2, a ninth or a quarter at the corner.
    shared = pool(reference, maps(1, 1, 3, 3), (2, 1, 0), True, np.array([[[[4.0, 8], [16, 32]]]]))
    assert shared[1][0, 0].tolist() == [[1, 3, 2], [5, 15, 10], [4, 12, 8]]
    ctx = reference.avgpool2d_forward(maps(1, 1, 5, 5), 3, 2, 1, False)[1]
    assert ctx.divisor[0, 0] == 4
    # 7 rows with windows of 3 and stride 2 need no rounding.
    for up in (False, True):
        assert by_torch(maps(1, 1, 7, 7), (3, 2, 0), True, up)[0].shape == (1, 1, 3, 3)
    # Two rows of five ones, rounded up: 1, and 1/2 where cells that do not exist are counted.
    ones = np.ones((1, 1, 2, 5))
    outside = variant("ceil_counts_outside")
    assert by_torch(ones, (2, 2, 0), True, up=True)[0].ravel().tolist() == [1, 1, 1]
    found = outside.avgpool2d_forward(ones, 2, 2, 0, True, ceil_mode=True)[0]
    assert found.ravel().tolist() == [1, 1, 0.5]


def test_a_window_beyond_the_plane_has_nothing_to_average() -> None:
    kept = variant("ceil_keeps_empty_windows")
    x = maps(1, 1, 1, 3)
    assert by_torch(x, (2, 2, 1), True, up=True)[0].shape == (1, 1, 1, 2)
    with np.errstate(invalid="ignore"):
        counted, plane = (
            kept.avgpool2d_forward(x, 2, 2, 1, flag, ceil_mode=True)[0] for flag in (True, False)
        )
    assert counted[0, 0, 1].tolist() == [0, 0, 0]
    assert np.isnan(plane[0, 0, 1]).all()


def test_the_winner_of_each_window_is_the_backward_pass_of_max_pooling() -> None:
    x = maps(2, 3, 7, 5)
    leaf = torch.tensor(x, requires_grad=True)
    y = functional.max_pool2d(leaf, 3, 2, 1)
    grad_y = maps(*y.shape)
    (grad_x,) = torch.autograd.grad(y, leaf, torch.tensor(grad_y))
    found = pool(variant("routes_to_maximum"), x, (3, 2, 1), True, grad_y)[1]
    np.testing.assert_allclose(found, grad_x.numpy(), rtol=0, atol=1e-14)


def test_what_is_kept_is_one_number_per_window_of_a_plane(reference: Program) -> None:
    few, many = (reference.avgpool2d_forward(maps(n, 2, 7, 5), 3, 2, 1, True)[1] for n in (1, 6))
    assert few.divisor.nbytes == many.divisor.nbytes == 8 * 4 * 3
