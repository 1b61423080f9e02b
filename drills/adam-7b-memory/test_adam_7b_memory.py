"""adam-7b-memory: the reference and the right solutions against real tensors and a paper's figures.

Bytes are counted on torch's meta device, where tensors have shapes and dtypes and no memory: a
model with the shapes of Llama-7B gets real gradients from a backward pass and real state from a
step of `torch.optim.AdamW`.  What FSDP2 shards is read off a sharded module, and what a layer keeps
off the tensors that autograd saves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional
from torch.testing._internal.distributed.fake_pg import FakeStore

from grader.sandbox.worker.measure.autograd import Meter
from tests.harness import Program, each, saved_for_backward

MIXED = "bf16_mixed"
RECIPES = (MIXED, "bf16_mixed_fp32grad", "bf16_no_master", "torch_pure_bf16", "torch_autocast")
ROWS = ("weights", "grads", "exp_avg", "exp_avg_sq", "other")

LLAMA_7B = 6_738_415_616
H100 = 81_559 * 2**20

Model = dict[str, int]


def llama_7b(dtype: torch.dtype) -> list[nn.Parameter]:
    """Return parameters on the meta device with the shapes of Llama-7B.

    Source: Touvron et al., arXiv:2302.13971, table 2 (dimension 4096, 32 layers); the vocabulary
    of 32000 and the hidden size of 11008 are those of the released model.
    """
    vocabulary, width, hidden, layers = 32_000, 4096, 11_008, 32
    attention = 4 * [(width, width)]
    feed_forward = [(hidden, width), (hidden, width), (width, hidden)]
    outside: list[tuple[int, ...]] = [(vocabulary, width), (vocabulary, width), (width,)]
    shapes = outside + layers * [*attention, *feed_forward, (width,), (width,)]
    return [nn.Parameter(torch.empty(shape, dtype=dtype, device="meta")) for shape in shapes]


def nbytes(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def gradients(parameters: list[nn.Parameter]) -> list[torch.Tensor]:
    torch.autograd.backward([parameter.sum() for parameter in parameters])
    return [grad for parameter in parameters if (grad := parameter.grad) is not None]


def adamw_state(parameters: list[nn.Parameter]) -> dict[str, int]:
    optimizer = torch.optim.AdamW(parameters)
    optimizer.step()
    return {
        name: nbytes(optimizer.state[parameter][name] for parameter in parameters)
        for name in ("exp_avg", "exp_avg_sq")
    }


@cache
def measured(recipe: str) -> dict[str, int]:
    """Return the bytes that the tensors of a Llama-7B hold under a recipe."""
    weights = llama_7b(torch.float32 if recipe == "torch_autocast" else torch.bfloat16)
    if recipe == "bf16_mixed_fp32grad":
        for parameter in weights:
            parameter.grad_dtype = torch.float32
    grads = gradients(weights)
    state = {"weights": nbytes(weights), "grads": nbytes(grads), "other": 0}
    if recipe in ("torch_pure_bf16", "torch_autocast"):
        state |= adamw_state(weights)
    else:
        # An optimizer that works in fp32: it sees fp32 weights and fp32 casts of the gradients.
        master = [nn.Parameter(parameter.detach().float()) for parameter in weights]
        for copy, grad in zip(master, grads, strict=True):
            copy.grad = grad.float()
        state |= adamw_state(master)
        if recipe != "bf16_no_master":
            state["other"] = nbytes(master)
    return state | {"total": sum(state.values())}


def per_gpu(n_params: int, stage: int, world: int) -> Fraction:
    """Return the exact bytes a GPU: three groups of tensors, sharded one stage after the other."""
    optimizer, grads, weights = (
        Fraction(width * n_params, world if stage >= first else 1)
        for width, first in ((12, 1), (2, 2), (2, 3))
    )
    return optimizer + grads + weights


@each("recipe", RECIPES)
def test_each_recipe_holds_the_bytes_of_real_tensors_with_llama_7b_shapes(
    program: Program, driver: Program, recipe: str
) -> None:
    assert sum(parameter.numel() for parameter in llama_7b(torch.bfloat16)) == LLAMA_7B
    plan = driver.rows(program, program.training_state(LLAMA_7B, recipe), "total")
    assert plan == pytest.approx(measured(recipe), rel=1e-12)


@each(("dtype", "autocast"), [(torch.float32, True), (torch.bfloat16, False)])
def test_autocast_leaves_everything_in_fp32_and_a_bf16_module_has_bf16_moments(
    dtype: torch.dtype, autocast: bool
) -> None:
    layer = nn.Linear(4, 3, dtype=dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=autocast):
        loss = layer(torch.ones(2, 4, dtype=dtype)).sum()
    torch.autograd.backward(loss)
    optimizer = torch.optim.AdamW(layer.parameters())
    optimizer.step()
    state = optimizer.state[layer.weight]
    assert loss.dtype == torch.bfloat16
    assert layer.weight.grad is not None
    tensors = (layer.weight, layer.weight.grad, state["exp_avg"], state["exp_avg_sq"])
    assert {tensor.dtype for tensor in tensors} == {dtype}


def test_muon_keeps_one_momentum_for_each_matrix_of_a_layer() -> None:
    # The first three are embeddings, output head and last norm.
    layers = [nn.Parameter(p.detach().float()) for p in llama_7b(torch.bfloat16)[3:] if p.ndim == 2]
    whole, saved = 16 * LLAMA_7B, 4 * sum(p.numel() for p in layers)
    assert round(whole / 1e9, 1) == 107.8
    assert round((whole - saved) / 1e9, 1) == 81.9
    assert round((whole - saved) / LLAMA_7B, 1) == 12.2
    if hasattr(torch.optim, "Muon"):  # torch 2.9 and later
        block = layers[:7]
        optimizer: torch.optim.Optimizer = torch.optim.Muon(block)
        gradients(block)
        optimizer.step()
        assert [set(optimizer.state[p]) for p in block] == 7 * [{"momentum_buffer"}]
        assert nbytes(optimizer.state[p]["momentum_buffer"] for p in block) == nbytes(block)
        with pytest.raises(ValueError, match="2D"):
            torch.optim.Muon([nn.Parameter(torch.ones(4096))])


def test_a_small_update_is_lost_in_bf16_and_kept_in_an_fp32_copy() -> None:
    weight = torch.ones((), dtype=torch.bfloat16)
    assert (weight - 0.001).item() == 1.0
    assert (weight.float() - 0.001).item() != 1.0


def test_units_are_decimal_and_binary(program: Program) -> None:
    assert program.to_gb(112 * 10**9) == pytest.approx(112, rel=1e-13)
    assert program.to_gib(112 * 10**9) == pytest.approx(104.30812835693359, rel=1e-13)
    assert program.to_gb(H100) == pytest.approx(85.520809984, rel=1e-13)
    assert program.to_gib(H100) == pytest.approx(81_559 / 1024, rel=1e-13)


@each(
    ("billions", "recipe", "expected"),
    [(7, MIXED, False), (7, "torch_pure_bf16", True), (5.3, "torch_autocast", True),
     (5.4, "torch_autocast", False)],
)  # fmt: skip
def test_a_card_holds_what_it_has_bytes_for(
    program: Program, billions: float, recipe: str, expected: bool
) -> None:
    found = program.fits(int(billions * 10**9), recipe, 81_559)
    assert bool(found) is (measured(recipe)["total"] / LLAMA_7B * billions * 1e9 <= H100)
    assert bool(found) is expected


def test_the_starters_sheet_shows_the_figures_of_the_prompt(starter: Program) -> None:
    """78.2 of 79.6, and so it fits; the moments of the first step are what does not."""
    plan = starter.training_state(7_000_000_000, MIXED)
    assert plan["total"] == sum(size for name, size in plan.items() if name != "total")
    assert f"{starter.to_gb(plan['total']):.1f} {81_559 / 1024:.1f}" == "78.2 79.6"
    assert starter.fits(7_000_000_000, MIXED, 81_559)
    alive = {name: size * 7_000_000_000 / LLAMA_7B for name, size in measured(MIXED).items()}
    before_the_step = alive["weights"] + alive["grads"] + alive["other"]
    assert before_the_step == pytest.approx(56e9, rel=1e-12)
    assert before_the_step < H100 < alive["total"]


def smallest_world(n_params: int, usable: int, stage: int) -> int | None:
    return next((w for w in range(1, 201) if per_gpu(n_params, stage, w) <= usable), None)


def test_zero_leaves_on_each_gpu_what_the_paper_says(program: Program) -> None:
    """Source: Rajbhandari et al., arXiv:1910.02054, figure 1: 7.5B parameters on 64 GPUs."""
    shares = [program.zero_bytes_per_gpu(7_500_000_000, stage, 64) / 1e9 for stage in range(4)]
    assert [round(float(share), 1) for share in shares] == [120, 31.4, 16.6, 1.9]


@each("stage", range(4))
def test_shares_are_even_to_the_fraction_of_a_byte(program: Program, stage: int) -> None:
    for n_params in (1, 5, LLAMA_7B):
        for world in (1, 2, 3, 5, 7, 64, 1023):
            share = program.zero_bytes_per_gpu(n_params, stage, world)
            assert float(share) == pytest.approx(float(per_gpu(n_params, stage, world)), rel=1e-12)


@each(
    ("usable", "stage", "expected"),
    [(39_000_000_000, 1, 8), (39_000_000_000, 2, 4), (39_000_000_000, 3, 3),
     (24_000_000_000, 1, None), (24_000_000_000, 2, 10), (24_000_000_000, 3, 5),
     (28_000_000_000, 3, 4), (27_999_999_999, 3, 5), (28_000_000_001, 3, 4),
     (40_000_000_000, 1, 7), (39_999_999_999, 1, 8), (16_000_000_000, 2, 49),
     (14_000_000_000, 2, None), (112_000_000_000, 0, 1), (111_999_999_999, 0, None)],
)  # fmt: skip
def test_a_card_may_be_filled_to_the_byte(
    program: Program, usable: int, stage: int, expected: int | None
) -> None:
    assert program.min_gpus(7_000_000_000, usable, stage) == expected
    assert smallest_world(7_000_000_000, usable, stage) == expected
    if stage == 3:
        assert program.min_gpus(7_000_000_000, usable) == expected


def test_fsdp_shards_a_module_in_its_own_dtype() -> None:
    """With bf16 parameters in use: a third of every tensor on each of three GPUs, in fp32."""
    distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=3)
    try:
        mesh = init_device_mesh("cpu", (3,))
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        module: Any = fully_shard(nn.Linear(4, 6, bias=False), mesh=mesh, mp_policy=policy)
        optimizer = torch.optim.AdamW(module.parameters())
        out = module(torch.ones(2, 4))
        torch.autograd.backward(out.sum())
        optimizer.step()
        (weight,) = module.parameters()
        tensors: list[Any] = [weight, weight.grad, *optimizer.state[weight].values()]
        shards = [t.to_local() for t in tensors if t.ndim]
        assert out.dtype == torch.bfloat16
        assert [(tuple(s.shape), s.dtype) for s in shards] == 4 * [((2, 4), torch.float32)]
    finally:
        distributed.destroy_process_group()


@each("world", [3, 8])
@each("name", ["llama-2-7b", "llama-3-8b", "tiny"])
def test_fsdp_holds_sixteen_bytes_per_parameter_and_two_units(
    program: Program, driver: Program, name: str, world: int
) -> None:
    model: Model = driver.shape(program, name)
    held = program.fsdp_bytes(model, world)
    shard = pytest.approx(4 * model["params"] / world, rel=1e-3 if name == "tiny" else 1e-9)
    assert [held[part] for part in ROWS[:4]] == [shard] * 4
    unit_in_use, next_unit, grad, reduced = (
        width * model["largest_unit"] for width in (2, 2, 2, 4)
    )
    assert held["gathered"] == unit_in_use + next_unit + grad + reduced


class Layer(nn.Module):
    """A layer as the contract lists it: two norms, attention without rotation, a gated block."""

    def __init__(self, d: int, f: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.RMSNorm(d), nn.RMSNorm(d)])
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.g, self.u = (nn.Linear(d, f, bias=False) for _ in range(2))
        self.down = nn.Linear(f, d, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norms[0](x)
        q, k, v = (
            line(normed).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for line in (self.q, self.k, self.v)
        )
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(mixed.transpose(1, 2).flatten(2))
        normed = self.norms[1](x)
        grown = functional.silu(self.g(normed)) * self.u(normed)
        return x + torch.as_tensor(self.down(grown))


def test_a_layer_keeps_what_autograd_saves_of_one(program: Program) -> None:
    """Two fp32 copies in each norm aside: a fused norm keeps its bf16 input instead."""
    d, f, heads, tokens = 64, 224, 4, 16
    layer = Layer(d, f, heads).bfloat16()
    x = torch.randn(1, tokens, d, dtype=torch.bfloat16, requires_grad=True)
    with saved_for_backward(*layer.parameters()) as saved:
        out = layer(x)
    assert out.dtype == torch.bfloat16
    copies = [t for t in saved.values() if t.dtype == torch.float32 and t.shape[-1] == d]
    assert len(copies) == 4
    kept = sum(t.untyped_storage().nbytes() for t in saved.values())
    fused = kept - nbytes(copies) + 2 * (2 * d * tokens)
    sizes = {"params": 1, "largest_unit": 1, "layers": 2, "d": d, "heads": heads}
    model: Model = sizes | {"kv_heads": heads, "f": f, "vocab": 31}
    one, two = (
        program.activation_bytes(model | {"layers": layers}, tokens, checkpoint=False)
        for layers in (1, 2)
    )
    assert two - one == fused


def test_the_loss_has_three_tensors_of_the_vocabulary_alive_in_fp32(program: Program) -> None:
    """Without a name for the logits; with one there are four.  All else is taken away first."""
    d, tokens, vocab = 8, 16, 4096
    head = torch.randn(vocab, d, dtype=torch.bfloat16, requires_grad=True)
    h = torch.randn(tokens, d, dtype=torch.bfloat16, requires_grad=True)
    labels = torch.randint(vocab, (tokens,))

    def unnamed() -> torch.Tensor:
        return functional.cross_entropy((h @ head.T).float(), labels)

    held = []

    def named() -> torch.Tensor:
        held.append((h @ head.T).float())
        return functional.cross_entropy(held[0], labels)

    wide = 4 * tokens * vocab
    assert [peak_of(way) // wide for way in (unnamed, named)] == [3, 4]
    sizes = {"layers": 1, "d": d, "heads": 1, "kv_heads": 1, "f": 8}
    small, large = (
        program.activation_bytes(sizes | {"vocab": v}, tokens, False) for v in (1000, 1000 + vocab)
    )
    assert large - small == 3 * wide


def peak_of(way: Callable[[], torch.Tensor]) -> int:
    """Return the most bytes of new tensors alive at once in a forward and its backward pass."""
    meter = Meter()
    with meter:
        torch.autograd.backward(way())
    return meter.peak


@each(
    ("name", "plain", "recomputed"),
    [("llama-2-7b", 5_319_940, 662_532), ("llama-3-8b", 6_933_764, 1_817_604),
     ("tiny", 3 * 340 + 256, 3 * 24 + 316)],
)  # fmt: skip
def test_activations_per_token_are_the_sum_of_the_list(
    program: Program,
    driver: Program,
    name: str,
    plain: int,
    recomputed: int,
) -> None:
    model: Model = driver.shape(program, name)
    for tokens in (1, 4096):
        assert program.activation_bytes(model, tokens, False) == plain * tokens
        assert program.activation_bytes(model, tokens, True) == recomputed * tokens


@each(
    ("name", "world", "card_mib", "headroom", "expected"),
    [("llama-2-7b", 1, 81_559, 0.1, (0, 0)), ("llama-2-7b", 3, 81_559, 0.1, (7_332, 58_875)),
     ("llama-2-7b", 8, 81_559, 0.1, (11_554, 92_777)),
     ("llama-3-8b", 8, 81_559, 0.1, (8_026, 30_619)),
     ("llama-2-7b", 24, 24_564, 0.1, (3_132, 25_154)),
     ("llama-2-7b", 3, 81_559, 0.2, (5_724, 45_967))],
)  # fmt: skip
def test_tokens_fill_the_card_up_to_its_headroom(
    program: Program,
    driver: Program,
    name: str,
    world: int,
    card_mib: int,
    headroom: float,
    expected: tuple[int, int],
) -> None:
    model: Model = driver.shape(program, name)
    for checkpoint, tokens in zip((False, True), expected, strict=True):
        given = () if headroom == 0.1 else (headroom,)  # by default
        found = float(program.max_tokens(model, world, card_mib, checkpoint, *given))
        assert found == pytest.approx(tokens, rel=1e-3)
        if found:
            held = float(sum(program.fsdp_bytes(model, world).values()))
            held += float(program.activation_bytes(model, 1, checkpoint)) * found
            assert held == pytest.approx((1 - headroom) * card_mib * 2**20, rel=1e-3)


def test_the_driver_adds_up_what_has_a_name_of_its_own(driver: Program) -> None:
    plan = {"weights": 2, "mine": 4, "yours": 1.5, "total": 7.5}
    assert driver.rows(None, plan, "total") == {"weights": 2, "total": 7.5, "other": 5.5}
    assert driver.rows(None, plan, "gathered") == {"weights": 2, "other": 5.5}
    assert driver.rows(None, {"mine": 13999999999.999998}, "total") == {"other": 14 * 10**9}
    assert driver.rows(None, {"mine": "4 bytes"}, "total") == {"other": "['4 bytes']"}
    assert driver.rows(None, (2, 2), "total") == (2, 2)
