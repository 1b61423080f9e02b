"""What a step of the SwiGLU block costs: counted functions against what torch does, and by hand."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

from tests.harness import load, right_solutions

DRILL = Path(__file__).parent
REFERENCE = DRILL / "reference.py"
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
        """Start at zero."""
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
        """Run the operation and add its operands and its result."""
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if not func.is_view and name != "detach":
            assert name in PRODUCTS | KERNELS, name
            kind = "matmul_bytes" if name in PRODUCTS else "elementwise_bytes"
            self.calls[kind] += 1
            for t in (*tree_leaves((args, kwargs)), *tree_leaves(out)):
                self.elements[kind] += t.numel() if isinstance(t, Tensor) else 0
        return out


def hidden(x: Tensor, w_gate: Tensor, w_up: Tensor) -> Tensor:
    return F.silu(x @ w_gate.t()) * (x @ w_up.t())


def plain(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    return hidden(x, w_gate, w_up) @ w_down.t()


def rebuilt(x: Tensor, w_gate: Tensor, w_up: Tensor, w_down: Tensor) -> Tensor:
    """Compute g, u, s and h once more in backward, and not y."""
    with set_checkpoint_early_stop(False):
        h: Tensor = checkpoint(hidden, x, w_gate, w_up, use_reentrant=False)
        return h @ w_down.t()


def leaves(rows: int, width: int, f: int) -> list[Tensor]:
    shapes = ((rows, width), (f, width), (f, width), (width, f))
    return [torch.ones(shape, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize(("plan", "block"), [("autograd", plain), ("rebuild", rebuilt)])
def test_counts_are_those_of_the_kernels_that_torch_starts(
    plan: str, block: Callable[..., Tensor]
) -> None:
    given = leaves(48, 7, 11)
    grad_y = torch.ones(48, 7)
    meter = Moved()
    with meter:
        torch.autograd.grad(block(*given), given, grad_y)
    cost = load(REFERENCE).step_cost(48, 7, 11, 4, plan)
    assert cost["matmul_bytes"] == 4 * meter.elements["matmul_bytes"]
    assert cost["elementwise_bytes"] == 4 * meter.elements["elementwise_bytes"]
    assert cost["flops"] == meter.calls["matmul_bytes"] * 2 * 48 * 7 * 11
    assert len(load(REFERENCE).operations(48, 7, 11, plan)) == meter.calls.total()


def test_what_autograd_keeps_is_what_hooks_see() -> None:
    given, kept = leaves(48, 7, 11), {}
    weights = {t.untyped_storage().data_ptr() for t in given[1:]}

    def pack(t: Tensor) -> Tensor:
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        plain(*given)
    total = sum(size for place, size in kept.items() if place not in weights)
    reference = load(REFERENCE)
    assert reference.step_cost(48, 7, 11, 4, "autograd")["kept_bytes"] == total
    for plan in PLANS[1:]:
        assert reference.step_cost(48, 7, 11, 4, plan)["kept_bytes"] == 48 * 7 * 4


@pytest.mark.parametrize(
    ("plan", "matmul", "elementwise", "kept", "milliseconds"),
    [
        ("autograd", 1_425_014_784, 1_744_830_464, 503_316_480, 2.345),
        ("rebuild", 1_741_684_736, 2_332_033_024, 33_554_432, 2.925),
        ("rebuild_fused", 1_741_684_736, 1_157_627_904, 33_554_432, 2.575),
    ],
)
def test_a_step_on_the_card_costs_the_figures_worked_out_by_hand(
    plan: str, matmul: int, elementwise: int, kept: int, milliseconds: float
) -> None:
    reference, products = load(REFERENCE), 9 if plan == "autograd" else 11
    flops = products * 2 * 16384 * 1024 * 3584
    expected = dict(zip(PARTS, (flops, matmul, elementwise, kept), strict=True))
    assert reference.step_cost(*CARD, plan) == expected
    seconds = reference.step_seconds(*CARD, plan, *H100)
    assert seconds == pytest.approx(milliseconds / 1e3, abs=5e-7)


def test_ratios_that_the_texts_state() -> None:
    reference = load(REFERENCE)
    card = [reference.step_seconds(*CARD, plan, *H100) for plan in PLANS]
    assert [round(s / card[0], 3) for s in card] == [1.0, 1.248, 1.098]
    tokens = [reference.step_seconds(*TOKENS, plan, *H100) for plan in PLANS]
    assert [round(1e6 * s) for s in tokens] == [330, 404, 399]
    flops = [reference.step_cost(*CARD, plan)["flops"] for plan in PLANS]
    assert round(flops[1] / flops[0], 3) == 1.222
    element = 2 * 2 / H100[0], 2 * 1024 / (0.6 * 989e12)  # read and write one; a product's sum
    assert [round(1e12 * seconds, 2) for seconds in element] == [1.19, 3.45]


def test_time_lies_between_what_each_rate_alone_would_take_and_their_sum() -> None:
    reference = load(REFERENCE)
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


@pytest.mark.parametrize("path", right_solutions("vram-bottleneck"), ids=lambda path: path.stem)
def test_every_right_solution_counts_the_same(path: Any) -> None:
    reference, other = load(REFERENCE), load(path)
    for sizes, plan in itertools.product(SIZES, PLANS):
        assert other.step_cost(*sizes, plan) == reference.step_cost(*sizes, plan)
        for rates in (H100, SMALL):
            expected = reference.step_seconds(*sizes, plan, *rates)
            assert other.step_seconds(*sizes, plan, *rates) == pytest.approx(expected, rel=1e-12)
