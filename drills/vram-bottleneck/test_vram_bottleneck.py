"""The SwiGLU reference, its driver and the known solutions, against torch's own autograd."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

from tests.harness import Program, load, load_layered, right_solutions

DRILL = Path(__file__).parent
REFERENCE = DRILL / "reference.py"
RIGHT = right_solutions("vram-bottleneck")


ROWS, WIDTH, HIDDEN = 480, 64, 224
UNIT = ROWS * WIDTH

Block = Callable[..., Tensor]


def named(path: Path) -> str:
    """Name a parametrised file by its stem."""
    return path.stem


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
    """Return detached aliases with the same strides that ask for gradients unless frozen."""
    return [t.detach().requires_grad_(i not in frozen) for i, t in enumerate(tensors)]


def gradients(y: Tensor, grad_y: Tensor, leaves: list[Tensor]) -> list[Tensor | None]:
    """Contract with grad_y, keeping the graph; None for frozen inputs."""
    wanted = [t for t in leaves if t.requires_grad]
    found = iter(torch.autograd.grad(y, wanted, grad_y, retain_graph=True))
    return [next(found) if t.requires_grad else None for t in leaves]


def results(
    block: Block, tensors: list[Tensor], grad_y: Tensor, frozen: tuple[int, ...] = ()
) -> list[Tensor | None]:
    """Return y, dx, dw_gate, dw_up, dw_down."""
    leaves = trained(tensors, frozen)
    y = block(*leaves)
    return [y.detach(), *gradients(y, grad_y, leaves)]


@dataclass(frozen=True)
class Situation:
    """Inputs that the contract promises, and what the oracle makes of them."""

    name: str
    tensors: list[Tensor]
    grad_y: Tensor
    frozen: tuple[int, ...] = ()

    @cached_property
    def expected(self) -> list[Tensor | None]:
        """Return the oracle's y, dx, dw_gate, dw_up, dw_down in float64, whatever the dtype."""
        tensors = [t.double() for t in self.tensors]
        return results(plain, tensors, self.grad_y.double(), self.frozen)


def agree(block: Block, case: Situation) -> None:
    """Assert that results equal the oracle's, to the precision of the dtype."""
    dtype = case.tensors[0].dtype
    allowed = {torch.float64: 1e-12, torch.float32: 1e-5, torch.bfloat16: 3e-2}[dtype]
    found = results(block, case.tensors, case.grad_y, case.frozen)
    for got, wanted in zip(found, case.expected, strict=True):
        if got is None or wanted is None:
            assert got is wanted, case.name
            continue
        assert got.dtype == dtype, case.name
        assert got.shape == wanted.shape, case.name
        assert torch.isfinite(got).all(), case.name
        assert (got.double() - wanted).norm() <= allowed * wanted.norm(), case.name


def situations() -> Iterator[Situation]:
    """Yield every kind of input that the contract promises."""
    shapes = [(1, 1), (7, 5), (5,), (2, 3, 4), (2, 1, 3, 4), (0, 3), (2, 0, 3)]
    for shape in shapes:
        for hidden in (1, 6):
            tensors = inputs(shape, hidden, seed=hidden)
            grad_y = torch.randn(shape, generator=torch.Generator().manual_seed(9)).double()
            yield Situation(f"{shape} F={hidden}", tensors, grad_y)
    tensors, grad_y = inputs((5, 3), 4, seed=1), torch.ones(5, 3, dtype=torch.float64)
    for frozen in ((0,), (1,), (2,), (3,), (1, 2, 3), (0, 1, 3), (0, 2)):
        yield Situation(f"frozen {frozen}", tensors, grad_y, frozen)
    turned = [t.transpose(0, 1).contiguous().transpose(0, 1) for t in inputs((4, 7, 3), 5, seed=2)]
    yield Situation("transposed", turned, turned[0].flip(0))
    yield Situation("expanded gradient", turned, turned[0][:1].expand(4, 7, 3))
    yield Situation(
        "gradient of a sum", turned, torch.ones((), dtype=torch.float64).expand(4, 7, 3)
    )
    gappy = [torch.stack([t, t], dim=-1)[..., 0] for t in inputs((6, 3), 4, seed=3)]
    yield Situation("gaps", gappy, gappy[0])
    for dtype in (torch.float32, torch.bfloat16):
        small = inputs((2, 16, 32), 48, dtype, seed=4)
        yield Situation(f"{dtype}", small, small[0].flip(0))
        steep = inputs((5, 3), 4, dtype, scale=1e4, seed=5)
        yield Situation(f"steep {dtype}", steep, torch.ones_like(steep[0]))


@pytest.mark.parametrize("path", [REFERENCE, *RIGHT], ids=named)
def test_every_right_solution_agrees_with_autograd_in_every_situation(path: Path) -> None:
    block = load(path).swiglu_mlp
    for case in situations():
        agree(block, case)


def variant(name: str) -> Block:
    """Load the block of a misconception's program."""
    block: Block = load_layered(REFERENCE, DRILL / "misconceptions" / f"{name}.py").swiglu_mlp
    return block


def test_reference_passes_gradcheck() -> None:
    assert torch.autograd.gradcheck(load(REFERENCE).swiglu_mlp, trained(inputs((5, 4), 6)))


def test_one_hidden_unit_gives_the_numbers_worked_out_by_hand() -> None:
    # g = 1, u = 2: h = 2 silu(1), dg = 2 silu'(1), du = silu(1), with silu(1) = 0.7310585786
    # and silu'(1) = s + s (1 - s) = 0.9276705119 for s = sigmoid(1).
    literals = [[[1.0, 2.0]], [[1.0, 0.0]], [[0.0, 1.0]], [[1.0], [-1.0]]]
    tensors = [torch.tensor(literal, dtype=torch.float64) for literal in literals]
    grad_y = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    y, dx, dw_gate, dw_up, dw_down = results(load(REFERENCE).swiglu_mlp, tensors, grad_y)
    silu, slope = 0.7310585786300049, 0.9276705118714869
    for got, expected in (
        (y, [[2 * silu, -2 * silu]]),
        (dx, [[2 * slope, silu]]),
        (dw_gate, [[2 * slope, 4 * slope]]),
        (dw_up, [[silu, 2 * silu]]),
        (dw_down, [[2 * silu], [0.0]]),
    ):
        torch.testing.assert_close(
            got, torch.tensor(expected, dtype=torch.float64), rtol=1e-14, atol=0
        )


@pytest.mark.parametrize("path", [REFERENCE, *RIGHT], ids=named)
def test_second_backward_uses_its_own_cotangent(path: Path) -> None:
    leaves, others = trained(inputs((5, 3), 4)), trained(inputs((5, 3), 4))
    y, oracle = load(path).swiglu_mlp(*leaves), plain(*others)
    for seed in (1, 2):
        grad_y = torch.randn(5, 3, generator=torch.Generator().manual_seed(seed)).double()
        for got, expected in zip(
            gradients(y, grad_y, leaves), gradients(oracle, grad_y, others), strict=True
        ):
            torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)


class Living(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of storages made under it that are still alive, now and at most."""

    def __init__(self) -> None:
        """Start with nothing alive."""
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0
        self.known: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    def __torch_dispatch__(
        self,
        func: Callable[..., object],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> object:
        """Run the operation and note the storages that are neither known nor its inputs'."""
        given = {
            t.untyped_storage()._cdata for t in tree_leaves((args, kwargs)) if isinstance(t, Tensor)
        }
        out = func(*args, **(kwargs or {}))
        for t in tree_leaves(out):
            if isinstance(t, Tensor) and t.untyped_storage()._cdata not in given | set(self.known):
                self._note(t.untyped_storage())
        return out

    def _note(self, storage: torch.UntypedStorage) -> None:
        key, size = storage._cdata, storage.nbytes()

        def forget(_: object) -> None:
            self.now -= size
            del self.known[key]

        self.known[key] = weakref.ref(storage, forget)
        self.now += size
        self.most = max(self.most, self.now)


def saved_bytes(block: Block, tensors: list[Tensor]) -> int:
    """Return the bytes saved for backward by hooks, storages once, weights left out."""
    kept: list[Tensor] = []

    def pack(t: Tensor) -> Tensor:
        kept.append(t)
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        block(*tensors)
    weights = {t.untyped_storage().data_ptr() for t in tensors[1:]}
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    return sum(size for place, size in sizes.items() if place not in weights)


def living_bytes(block: Block, tensors: list[Tensor]) -> int:
    """Return the bytes that a forward made and left alive besides its output."""
    meter = Living()
    with meter:
        y = block(*tensors)
        return meter.now - y.untyped_storage().nbytes()


def matmul_flops(block: Block, tensors: list[Tensor]) -> int:
    """Return the FLOPs of a forward and a backward."""
    counter = FlopCounterMode(display=False)
    with counter:
        y = block(*tensors)
        gradients(y, torch.ones_like(y), tensors)
    total: int = counter.get_total_flops()
    return total


def wide(dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Return inputs of N = 480, D = 64, F = 224, large enough for bytes to be all tensors."""
    return trained(inputs((ROWS, WIDTH), HIDDEN, dtype))


@pytest.mark.parametrize("path", [REFERENCE, *RIGHT], ids=named)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_right_solutions_keep_nothing_but_the_inputs(path: Path, dtype: torch.dtype) -> None:
    block = load(path).swiglu_mlp
    assert saved_bytes(block, wide(dtype)) in (0, UNIT * dtype.itemsize)
    assert living_bytes(block, wide(dtype)) == 0


@pytest.mark.parametrize(
    ("name", "saved", "living"),
    [
        ("plain_autograd", 15, 14),
        ("hidden_tensors_saved_all", 15, 14),
        ("hidden_tensors_saved_g_and_u", 8, 7),
        ("hidden_outside_on_ctx", 1, 7),
        ("hidden_outside_in_a_closure", 1, 7),
        ("global_stash", 1, 7),
        ("saves_a_copy_of_x", 1, 1),
        ("saves_weight_copies", 2.4, 1.4),
    ],
)
def test_units_kept_are_those_of_the_arithmetic(name: str, saved: float, living: float) -> None:
    assert saved_bytes(variant(name), wide()) == round(saved * UNIT * 4)
    assert living_bytes(variant(name), wide()) == round(living * UNIT * 4)


def test_rows_of_a_strided_x_are_a_copy_of_all_of_it() -> None:
    x, *weights = wide()
    turned = x.detach().reshape(120, 4, WIDTH).transpose(0, 1).requires_grad_()
    assert living_bytes(variant("rows_copy_kept"), [turned, *weights]) == UNIT * 4
    assert living_bytes(variant("rows_copy_kept"), [x, *weights]) == 0
    assert living_bytes(load(REFERENCE).swiglu_mlp, [turned, *weights]) == 0


def test_float32_copy_doubles_what_is_kept_in_bfloat16() -> None:
    block = variant("saves_fp32_copy")
    assert saved_bytes(block, wide()) == UNIT * 4
    assert saved_bytes(block, wide(torch.bfloat16)) == 2 * UNIT * 2


@pytest.mark.parametrize(
    ("name", "matmuls"),
    [
        (None, 11),
        ("hidden_tensors_saved_all", 9),
        ("recompute_whole_forward", 12),
        ("recompute_twice", 13),
    ],
)
def test_step_costs_the_matmuls_of_the_arithmetic(name: str | None, matmuls: int) -> None:
    block = variant(name) if name else load(REFERENCE).swiglu_mlp
    assert matmul_flops(plain, wide()) == 9 * 2 * ROWS * WIDTH * HIDDEN
    assert matmul_flops(block, wide()) == matmuls * 2 * ROWS * WIDTH * HIDDEN


def tower(blocks: int) -> list[Tensor]:
    """Return x and the stacked weights of a residual tower."""
    layers = [inputs((ROWS, WIDTH), HIDDEN, torch.float32, seed=i)[1:] for i in range(blocks)]
    x = inputs((ROWS, WIDTH), HIDDEN, torch.float32)[0]
    return trained([x, *(torch.stack(weights) for weights in zip(*layers, strict=True))])


@pytest.mark.parametrize(
    ("name", "below"), [("recompute_twice", True), ("recompute_twice_at_once", False)]
)
def test_only_what_lets_go_of_its_temporaries_stays_below_the_peak(name: str, below: bool) -> None:
    program = SimpleNamespace(swiglu_mlp=variant(name))
    assert (peak_of(load(DRILL / "driver.py").stack, program) <= 0.5 * plain_peak()) is below


def peak_of(stack: Block, program: Program) -> int:
    """Return the most bytes alive in a forward and backward of eight blocks."""
    leaves = tower(8)
    meter = Living()
    with meter:
        y = stack(program, *leaves)
        gradients(y, torch.ones_like(y), leaves)
    return meter.most


@cache
def plain_peak() -> int:
    """Return the peak of plain autograd, which is the same for every program."""
    return peak_of(load(DRILL / "driver.py").plain_stack, SimpleNamespace())


@pytest.mark.parametrize("path", [REFERENCE, *RIGHT], ids=named)
def test_tower_peaks_below_half_of_plain_autograd(path: Path) -> None:
    assert peak_of(load(DRILL / "driver.py").stack, load(path)) <= 0.5 * plain_peak()


def test_driver_baselines_and_towers_compute_the_block() -> None:
    driver, program = load(DRILL / "driver.py"), load(REFERENCE)
    tensors = inputs((3, 4), 5)
    x, *weights = tensors
    assert torch.equal(driver.plain(SimpleNamespace(), *tensors), plain(*tensors))
    layers = [torch.stack([w, 2 * w, -w]) for w in weights]
    expected = x
    for factor in (1, 2, -1):
        expected = expected + plain(expected, *(factor * w for w in weights))
    for stack in (driver.stack, driver.plain_stack):
        torch.testing.assert_close(stack(program, x, *layers), expected, rtol=1e-12, atol=1e-12)


def test_driver_runs_the_large_tower_only_where_there_is_a_gpu() -> None:
    driver = load(DRILL / "driver.py")
    assert driver.gpu_step(load(REFERENCE), 64, 16, 64, 2) is torch.cuda.is_available()
