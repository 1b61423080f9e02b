"""The SwiGLU reference, its driver and the known solutions, against torch's own autograd.

Then what a step costs, counted against what torch does, and what the starter's author shows.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop
from torch.utils.flop_counter import FlopCounterMode

from grader.sandbox.worker.measure.autograd import Meter
from tests.harness import Program, each, saved_for_backward, variants

variant = variants(__file__)
ROWS, WIDTH, HIDDEN = 480, 64, 224
UNIT = ROWS * WIDTH

Block = Callable[..., Tensor]


def plain(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Compute the block with autograd's own operations: the oracle."""
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)


def inputs(
    shape: tuple[int, ...],
    hidden: int,
    dtype: torch.dtype = torch.float64,
    *,
    scale: float = 1.0,
    seed: int = 0,
) -> list[Tensor]:
    """Return x of the shape and three weights; entries of a product stay of order one."""
    random = torch.Generator().manual_seed(seed)
    width = shape[-1]
    sizes = [(shape, scale)]
    sizes += [((hidden, width), width**-0.5)] * 2 + [((width, hidden), hidden**-0.5)]
    return [
        (torch.randn(size, generator=random, dtype=torch.float64) * factor).to(dtype)
        for size, factor in sizes
    ]


def trained(tensors: list[Tensor], frozen: tuple[int, ...] = ()) -> list[Tensor]:
    return [t.detach().requires_grad_(i not in frozen) for i, t in enumerate(tensors)]


def gradients(y: Tensor, grad_y: Tensor, leaves: list[Tensor]) -> list[Tensor | None]:
    wanted = [t for t in leaves if t.requires_grad]
    found = iter(torch.autograd.grad(y, wanted, grad_y, retain_graph=True))
    return [next(found) if t.requires_grad else None for t in leaves]


def results(
    block: Block, tensors: list[Tensor], grad_y: Tensor, frozen: tuple[int, ...] = ()
) -> list[Tensor | None]:
    leaves = trained(tensors, frozen)
    y = block(*leaves)
    return [y.detach(), *gradients(y, grad_y, leaves)]


def situations() -> Iterator[tuple[list[Tensor], Tensor, tuple[int, ...]]]:
    """What the contract promises: x and weights, grad_y, and which of them are frozen."""
    shapes = [(1, 1), (7, 5), (5,), (2, 3, 4), (2, 1, 3, 4), (0, 3), (2, 0, 3)]
    for shape in shapes:
        for hidden in (1, 6):
            tensors = inputs(shape, hidden, seed=hidden)
            grad_y = torch.randn(shape, generator=torch.Generator().manual_seed(9)).double()
            yield tensors, grad_y, ()
    tensors, grad_y = inputs((5, 3), 4, seed=1), torch.ones(5, 3, dtype=torch.float64)
    for frozen in ((0,), (1,), (2,), (3,), (1, 2, 3), (0, 1, 3), (0, 2)):
        yield tensors, grad_y, frozen
    transposed = [
        t.transpose(0, 1).contiguous().transpose(0, 1) for t in inputs((4, 7, 3), 5, seed=2)
    ]
    of_a_sum = torch.ones((), dtype=torch.float64).expand(4, 7, 3)
    for grad_y in (transposed[0].flip(0), transposed[0][:1].expand(4, 7, 3), of_a_sum):
        yield transposed, grad_y, ()
    gappy = [torch.stack([t, t], dim=-1)[..., 0] for t in inputs((6, 3), 4, seed=3)]
    yield gappy, gappy[0], ()
    for dtype in (torch.float32, torch.bfloat16):
        small = inputs((2, 16, 32), 48, dtype, seed=4)
        yield small, small[0].flip(0), ()
        steep = inputs((5, 3), 4, dtype, scale=1e4, seed=5)
        yield steep, torch.ones_like(steep[0]), ()


@each(("tensors", "grad_y", "frozen"), situations())
def test_every_right_solution_agrees_with_autograd_in_every_situation(
    program: Program, tensors: list[Tensor], grad_y: Tensor, frozen: tuple[int, ...]
) -> None:
    dtype = grad_y.dtype
    allowed = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}[dtype]
    found = results(program.swiglu_mlp, tensors, grad_y, frozen)
    expected = results(plain, [t.double() for t in tensors], grad_y.double(), frozen)
    for got, wanted in zip(found, expected, strict=True):
        if got is None or wanted is None:
            assert got is wanted
            continue
        assert (got.dtype, got.shape) == (dtype, wanted.shape)
        assert torch.isfinite(got).all()
        assert (got.double() - wanted).norm() <= allowed * wanted.norm()


def test_a_second_backward_uses_its_own_cotangent(program: Program) -> None:
    leaves, others = trained(inputs((5, 3), 4)), trained(inputs((5, 3), 4))
    y, oracle = program.swiglu_mlp(*leaves), plain(*others)
    for seed in (1, 2):
        grad_y = inputs((5, 3), 4, seed=seed)[0]
        found, wanted = gradients(y, grad_y, leaves), gradients(oracle, grad_y, others)
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)


def saved_bytes(block: Block, tensors: list[Tensor]) -> int:
    """Return the bytes saved for backward by hooks, storages once, weights left out."""
    with saved_for_backward(*tensors[1:]) as kept:
        block(*tensors)
    return sum(t.untyped_storage().nbytes() for t in kept.values())


def living_bytes(block: Block, tensors: list[Tensor]) -> int:
    meter = Meter()
    with meter:
        y = block(*tensors)
        return meter.live - y.untyped_storage().nbytes()


def matmul_flops(block: Block, tensors: list[Tensor]) -> int:
    counter = FlopCounterMode(display=False)
    with counter:
        y = block(*tensors)
        gradients(y, torch.ones_like(y), tensors)
    total: int = counter.get_total_flops()
    return total


def wide(dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Return inputs of N = 480, D = 64, F = 224, large enough for bytes to be all tensors."""
    return trained(inputs((ROWS, WIDTH), HIDDEN, dtype))


@each("dtype", [torch.float32, torch.bfloat16])
def test_right_solutions_keep_nothing_but_the_inputs(program: Program, dtype: torch.dtype) -> None:
    block = program.swiglu_mlp
    assert saved_bytes(block, wide(dtype)) in (0, UNIT * dtype.itemsize)
    assert living_bytes(block, wide(dtype)) == 0


def test_rows_of_a_strided_x_are_a_copy_of_all_of_it(reference: Program) -> None:
    x, *weights = wide()
    transposed = x.detach().reshape(120, 4, WIDTH).transpose(0, 1).requires_grad_()
    block = variant("rows-copy-kept").swiglu_mlp
    assert living_bytes(block, [transposed, *weights]) == UNIT * 4
    assert living_bytes(block, [x, *weights]) == 0
    assert living_bytes(reference.swiglu_mlp, [transposed, *weights]) == 0


def tower(blocks: int) -> list[Tensor]:
    layers = [inputs((ROWS, WIDTH), HIDDEN, torch.float32, seed=i)[1:] for i in range(blocks)]
    x = inputs((ROWS, WIDTH), HIDDEN, torch.float32)[0]
    return trained([x, *(torch.stack(weights) for weights in zip(*layers, strict=True))])


def peak_of(stack: Block, program: Program) -> int:
    leaves = tower(8)
    meter = Meter()
    with meter:
        y = stack(program, *leaves)
        gradients(y, torch.ones_like(y), leaves)
    return meter.peak


@pytest.fixture(scope="module")
def plain_peak(driver: Program) -> int:
    return peak_of(driver.plain_stack, Program())


@each(
    ("name", "expected"),
    [
        ("plain-autograd", {"saved": 15, "living": 14}),
        ("hidden-tensors-saved", {"saved": 15, "living": 14, "matmuls": 9, "peak": 1.049}),
        ("hidden-tensors-saved / g-and-u", {"saved": 8, "living": 7}),
        ("hidden-outside-the-report", {"saved": 1, "living": 7}),
        ("hidden-outside-the-report / hidden-outside-in-a-closure", {"saved": 1, "living": 7}),
        ("hidden-outside-the-report / hidden-outside-in-a-dictionary", {"saved": 1, "living": 7}),
        ("saves-a-copy-of-x", {"saved": 1, "living": 1}),
        ("saves-fp32-copy", {"saved": 1, "saved in bfloat16": 2}),
        ("saves-weight-copies", {"saved": 2.4, "living": 1.4}),
        ("saves-the-output", {"saved": 2, "living": 0}),
        ("recompute-whole-forward", {"matmuls": 12}),
        ("recompute-twice", {"matmuls": 13}),
        ("recompute-twice / at-once", {"peak": 0.548}),
        ("recompute-whole-forward / hidden-gradient-twice", {"matmuls": 12}),
        ("", {"matmuls": 11}),
    ],
)
def test_what_ideas_cost_is_what_the_arithmetic_says(
    reference: Program, driver: Program, plain_peak: int, name: str, expected: dict[str, float]
) -> None:
    """In units of x, of a product and of the peak of plain autograd; of the reference too."""
    program = variant(name) if name else reference
    block, half = program.swiglu_mlp, wide(torch.bfloat16)
    measured = {
        "saved": lambda: saved_bytes(block, wide()) / (4 * UNIT),
        "saved in bfloat16": lambda: saved_bytes(block, half) / (2 * UNIT),
        "living": lambda: living_bytes(block, wide()) / (4 * UNIT),
        "matmuls": lambda: matmul_flops(block, wide()) / (2 * ROWS * WIDTH * HIDDEN),
        "peak": lambda: peak_of(driver.stack, program) / plain_peak,
    }
    for quantity, value in expected.items():
        exact = 2e-3 if quantity == "peak" else 1e-9
        assert measured[quantity]() == pytest.approx(value, rel=exact), quantity


def test_tower_peaks_well_below_the_budget(
    program: Program, driver: Program, plain_peak: int
) -> None:
    """The budget, 0.6 of plain autograd, leaves 1.5 times what any right solution takes."""
    assert 1.5 * peak_of(driver.stack, program) <= 0.6 * plain_peak


def test_driver_baselines_and_towers_compute_the_block(driver: Program, reference: Program) -> None:
    tensors = inputs((3, 4), 5)
    x, *weights = tensors
    assert torch.equal(driver.plain(Program(), *tensors), plain(*tensors))
    layers = [torch.stack([w, 2 * w, -w]) for w in weights]
    expected = x
    for factor in (1, 2, -1):
        expected = expected + plain(expected, *(factor * w for w in weights))
    for stack in (driver.stack, driver.plain_stack):
        torch.testing.assert_close(stack(reference, x, *layers), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Attempting to run cuBLAS")
def test_driver_runs_the_large_tower_only_where_there_is_a_gpu(
    driver: Program, reference: Program
) -> None:
    assert driver.gpu_step(reference, 64, 16, 64, 2) is torch.cuda.is_available()


# -- what a step costs -----------------------------------------------------------------------------

PLANS = ("autograd", "rebuild", "rebuild_fused")
PARTS = ("flops", "matmul_bytes", "elementwise_bytes", "kept_bytes")
CARD, TOKENS, BLOCK = (16384, 1024, 3584, 2), (64, 4096, 14336, 2), (480, 64, 224, 4)
H100, SMALL = (3.35e12, 5.934e14), (2e12, 5e13)
ASKED = [(CARD, H100), (TOKENS, H100), (BLOCK, SMALL)]
SIZES = [CARD, TOKENS, BLOCK, (1, 1, 1, 4), (5, 3, 7, 8), (4096, 2048, 5461, 2)]
PRODUCTS = {"mm", "addmm"}
KERNELS = {"silu", "mul", "silu_backward", "add"}


class Moved(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the elements that kernels read and write, and refuses those that it does not know."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.elements: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()

    def __torch_dispatch__(
        self,
        func: Any,
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if not func.is_view and name not in {"detach", "empty"}:  # neither moves anything
            assert name in PRODUCTS | KERNELS, name
            kind = "matmul_bytes" if name in PRODUCTS else "elementwise_bytes"
            self.calls[kind] += 1
            for t in (*tree_leaves((args, kwargs)), *tree_leaves(out)):
                self.elements[kind] += t.numel() if isinstance(t, Tensor) else 0
        return out


def gated(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    return F.silu(F.linear(x, w_gate)) * F.linear(x, w_up)


def rebuilt(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Compute g, u, s and h once more in backward, and not y."""
    with set_checkpoint_early_stop(False):
        h: Tensor = checkpoint(gated, x, w_gate, w_up, use_reentrant=False)
        return F.linear(h, w_down)


@each(("plan", "block"), [("autograd", plain), ("rebuild", rebuilt)])
def test_counts_are_those_of_the_kernels_that_torch_starts(
    reference: Program, plan: str, block: Block
) -> None:
    given = trained(inputs((48, 7), 11, torch.float32))
    grad_y = torch.ones(48, 7)
    meter = Moved()
    with meter:
        torch.autograd.grad(block(*given), given, grad_y)
    cost = reference.step_cost(48, 7, 11, 4, plan)
    assert cost["matmul_bytes"] == 4 * meter.elements["matmul_bytes"]
    assert cost["elementwise_bytes"] == 4 * meter.elements["elementwise_bytes"]
    assert cost["flops"] == meter.calls["matmul_bytes"] * 2 * 48 * 7 * 11
    assert len(reference.operations(48, 7, 11, plan)) == meter.calls.total()


def test_what_autograd_keeps_is_what_hooks_see(reference: Program) -> None:
    total = saved_bytes(plain, trained(inputs((48, 7), 11, torch.float32)))
    assert reference.step_cost(48, 7, 11, 4, "autograd")["kept_bytes"] == total
    for plan in PLANS[1:]:
        assert reference.step_cost(48, 7, 11, 4, plan)["kept_bytes"] == 48 * 7 * 4


@each(
    ("plan", "matmul", "elementwise", "kept", "milliseconds"),
    [
        ("autograd", 1_425_014_784, 1_744_830_464, 503_316_480, 2.345),
        ("rebuild", 1_741_684_736, 2_332_033_024, 33_554_432, 2.925),
        ("rebuild_fused", 1_741_684_736, 1_157_627_904, 33_554_432, 2.575),
    ],
)
def test_a_step_on_the_card_costs_the_figures_worked_out_by_hand(
    reference: Program, plan: str, matmul: int, elementwise: int, kept: int, milliseconds: float
) -> None:
    products = 9 if plan == "autograd" else 11
    flops = products * 2 * 16384 * 1024 * 3584
    expected = dict(zip(PARTS, (flops, matmul, elementwise, kept), strict=True))
    assert reference.step_cost(*CARD, plan) == expected
    seconds = reference.step_seconds(*CARD, plan, *H100)
    assert seconds == pytest.approx(milliseconds / 1e3, abs=5e-7)


def test_ratios_that_the_texts_state(reference: Program) -> None:
    card = [reference.step_seconds(*CARD, plan, *H100) for plan in PLANS]
    assert [round(s / card[0], 3) for s in card] == [1.0, 1.248, 1.098]
    tokens = [reference.step_seconds(*TOKENS, plan, *H100) for plan in PLANS]
    assert [round(1e6 * s) for s in tokens] == [330, 404, 399]
    flops = [reference.step_cost(*CARD, plan)["flops"] for plan in PLANS]
    assert round(flops[1] / flops[0], 3) == 1.222
    element = 2 * 2 / H100[0], 2 * 1024 / (0.6 * 989e12)  # read and write one; a product's sum
    assert [round(1e12 * seconds, 2) for seconds in element] == [1.19, 3.45]


def test_time_lies_between_what_each_rate_alone_would_take_and_their_sum(
    reference: Program,
) -> None:
    for (sizes, rates), plan in itertools.product(ASKED, PLANS):
        cost = reference.step_cost(*sizes, plan)
        moving = (cost["matmul_bytes"] + cost["elementwise_bytes"]) / rates[0]
        computing = cost["flops"] / rates[1]
        seconds = reference.step_seconds(*sizes, plan, *rates)
        assert max(moving, computing) <= seconds * (1 + 1e-12)
        assert seconds < moving + computing
        instant = reference.step_seconds(*sizes, plan, rates[0], float("inf"))
        assert instant == pytest.approx(moving, rel=1e-12)
        instant = reference.step_seconds(*sizes, plan, float("inf"), rates[1])
        assert instant == pytest.approx(computing, rel=1e-12)


def test_every_right_solution_counts_the_same(reference: Program, program: Program) -> None:
    for sizes, plan in itertools.product(SIZES, PLANS):
        assert program.step_cost(*sizes, plan) == reference.step_cost(*sizes, plan)
        for rates in (H100, SMALL):
            expected = reference.step_seconds(*sizes, plan, *rates)
            assert program.step_seconds(*sizes, plan, *rates) == pytest.approx(expected, rel=1e-12)


# -- the starter -----------------------------------------------------------------------------------


def curve(block: Block, blocks: int, steps: int) -> list[float]:
    """The losses of a residual stack that is trained by Adam on fixed data."""
    x, target = (inputs((64, 16), 1, seed=seed)[0] for seed in (1, 2))
    layers = [trained(inputs((64, 16), 56, seed=i + 3)[1:]) for i in range(blocks)]
    optimizer = torch.optim.Adam([w for layer in layers for w in layer], lr=3e-3)
    losses = []
    for _ in range(steps):
        out = x
        for layer in layers:
            out = out + block(out, *layer)
        loss = (out - target).square().mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_the_report_lists_the_four_inputs_and_nothing_else(starter: Program) -> None:
    given = trained(inputs((48, 6), 21))
    with saved_for_backward() as kept:
        starter.swiglu_mlp(*given)
    assert [*kept] == [t.data_ptr() for t in given]


def test_a_single_block_on_fixed_data_trains_as_plain_autograd_does(starter: Program) -> None:
    mine, theirs = (curve(block, 1, 40) for block in (starter.swiglu_mlp, plain))
    assert mine == pytest.approx(theirs, rel=1e-9)
    assert mine[-1] < 0.9 * mine[0]


def test_the_loss_of_a_stack_stays_above_that_of_plain_autograd(starter: Program) -> None:
    mine, theirs = (curve(block, 8, 60) for block in (starter.swiglu_mlp, plain))
    assert mine[0] == pytest.approx(theirs[0], rel=1e-12)
    assert mine[-1] > 1.2 * theirs[-1]


def test_weight_gradients_of_one_block_are_right_and_that_of_x_is_one_path(
    starter: Program,
) -> None:
    given, grad_y = inputs((9, 4), 7), inputs((9, 4), 7, seed=9)[0]

    def through_the_gate(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
        return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x.detach(), w_up), w_down)

    _, of_x, *mine = results(starter.swiglu_mlp, given, grad_y)
    _, right, *theirs = results(plain, given, grad_y)
    torch.testing.assert_close(mine, theirs, rtol=1e-12, atol=1e-12)
    one_path = results(through_the_gate, given, grad_y)[1]
    torch.testing.assert_close(of_x, one_path, rtol=1e-12, atol=1e-12)
    assert of_x is not None
    assert right is not None
    assert (of_x - right).norm() > 0.1 * right.norm()
