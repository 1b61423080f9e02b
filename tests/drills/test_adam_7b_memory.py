"""adam-7b-memory: the reference and the right solutions against real tensors and a paper's figures.

Bytes are counted on torch's meta device, where tensors have shapes and dtypes and no memory: a
model with the shapes of Llama-7B gets real gradients from a backward pass and real state from a
step of `torch.optim.AdamW`.  The number of GPUs is held against exact fractions.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.drills.loading import ROOT, each, load, right_solutions

DRILL = ROOT / "drills" / "adam-7b-memory"
RIGHT = right_solutions("adam-7b-memory")
PROGRAMS = [DRILL / "reference.py", *RIGHT]

MIXED = "bf16_mixed"
RECIPES = (MIXED, "bf16_mixed_fp32grad", "bf16_no_master", "torch_pure_bf16", "torch_autocast")
PARTS = ("weights", "grads", "exp_avg", "exp_avg_sq", "master")

LLAMA_7B = 6_738_415_616
H100 = 81_559 * 2**20


@cache
def loaded(path: Path) -> types.SimpleNamespace:
    return load(path)


@pytest.fixture(params=PROGRAMS, ids=lambda path: path.stem)
def program(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> types.SimpleNamespace:
    # dataclasses look their own module up by its name
    monkeypatch.setitem(sys.modules, "submission", types.ModuleType("submission"))
    return loaded(request.param)


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
    """Run a backward pass and return what it leaves in .grad."""
    torch.autograd.backward([parameter.sum() for parameter in parameters])
    return [grad for parameter in parameters if (grad := parameter.grad) is not None]


def adamw_state(parameters: list[nn.Parameter]) -> dict[str, int]:
    """Step `torch.optim.AdamW` and return the bytes of its moments."""
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
    state = {"weights": nbytes(weights), "grads": nbytes(grads), "master": 0}
    if recipe in ("torch_pure_bf16", "torch_autocast"):
        state |= adamw_state(weights)
    else:
        # An optimizer that works in fp32: it sees fp32 weights and fp32 casts of the gradients.
        master = [nn.Parameter(parameter.detach().float()) for parameter in weights]
        for copy, grad in zip(master, grads, strict=True):
            copy.grad = grad.float()
        state |= adamw_state(master)
        if recipe != "bf16_no_master":
            state["master"] = nbytes(master)
    return state | {"total": sum(state.values())}


def per_gpu(n_params: int, stage: int, world: int) -> Fraction:
    """Return the exact bytes a GPU: three groups of tensors, sharded one stage after the other."""
    optimizer, grads, weights = (
        Fraction(width * n_params, world if stage >= first else 1)
        for width, first in ((12, 1), (2, 2), (2, 3))
    )
    return optimizer + grads + weights


def smallest_world(n_params: int, gpu_bytes: int, stage: int, most: int = 200) -> int | None:
    worlds: Iterator[int] = iter(range(1, most + 1))
    return next((w for w in worlds if per_gpu(n_params, stage, w) <= gpu_bytes), None)


@each("recipe", RECIPES)
def test_each_recipe_holds_the_bytes_of_real_tensors_with_llama_7b_shapes(
    program: types.SimpleNamespace, recipe: str
) -> None:
    assert sum(parameter.numel() for parameter in llama_7b(torch.bfloat16)) == LLAMA_7B
    assert program.training_state(LLAMA_7B, recipe) == measured(recipe)


def test_llama_7b_in_mixed_precision_holds_the_known_number_of_bytes() -> None:
    state = measured(MIXED)
    assert state["weights"] == state["grads"] == 13_476_831_232
    assert state["exp_avg"] == state["exp_avg_sq"] == state["master"] == 26_953_662_464


def test_autocast_leaves_parameters_gradients_and_moments_in_fp32() -> None:
    layer = nn.Linear(4, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = layer(torch.ones(2, 4)).sum()
    torch.autograd.backward(loss)
    optimizer = torch.optim.AdamW(layer.parameters())
    optimizer.step()
    state = optimizer.state[layer.weight]
    assert loss.dtype == torch.bfloat16
    assert layer.weight.grad is not None
    tensors = (layer.weight, layer.weight.grad, state["exp_avg"], state["exp_avg_sq"])
    assert {tensor.dtype for tensor in tensors} == {torch.float32}


def test_adamw_gives_a_bf16_module_bf16_moments() -> None:
    layer = nn.Linear(4, 3).bfloat16()
    torch.autograd.backward(layer(torch.ones(2, 4, dtype=torch.bfloat16)).sum())
    optimizer = torch.optim.AdamW(layer.parameters())
    optimizer.step()
    state = optimizer.state[layer.weight]
    assert {state["exp_avg"].dtype, state["exp_avg_sq"].dtype} == {torch.bfloat16}


def test_a_small_update_is_lost_in_bf16_and_kept_in_a_master_copy() -> None:
    weight = torch.ones((), dtype=torch.bfloat16)
    assert (weight - 0.001).item() == 1.0
    assert (weight.float() - 0.001).item() != 1.0


@each("n_params", [0, 1, 3, 7_000_000_000, 562_919_853_785_815, 10**15])
def test_parts_are_exact_and_proportional_to_the_number_of_parameters(
    program: types.SimpleNamespace, n_params: int
) -> None:
    for recipe in RECIPES:
        plan = program.training_state(n_params, recipe)
        assert set(plan) == {*PARTS, "total"}
        assert all(int(plan[part]) == plan[part] for part in plan)
        for part in plan:
            assert int(plan[part]) * LLAMA_7B == measured(recipe)[part] * n_params


def test_seven_billion_parameters_in_mixed_precision_are_112_gb(
    program: types.SimpleNamespace,
) -> None:
    plan = program.training_state(7_000_000_000, MIXED)
    gigabytes = [program.to_gb(plan[part]) for part in (*PARTS, "total")]
    assert gigabytes == pytest.approx([14, 14, 28, 28, 28, 112], rel=1e-12)


def test_units_are_decimal_and_binary(program: types.SimpleNamespace) -> None:
    assert program.to_gb(112 * 10**9) == pytest.approx(112, rel=1e-13)
    assert program.to_gib(112 * 10**9) == pytest.approx(104.30812835693359, rel=1e-13)
    assert program.to_gb(H100) == pytest.approx(85.520809984, rel=1e-13)
    assert program.to_gib(H100) == pytest.approx(81_559 / 1024, rel=1e-13)
    for count in (0, 1, 5.75):
        assert program.to_gb(count) == pytest.approx(count * 1e-9, rel=1e-13)
        assert program.to_gib(count) == pytest.approx(count * 2.0**-30, rel=1e-13)


def test_zero_leaves_on_each_gpu_what_the_paper_says(program: types.SimpleNamespace) -> None:
    """Source: Rajbhandari et al., arXiv:1910.02054, figure 1: 7.5B parameters on 64 GPUs."""
    figure = [120, 31.4, 16.6, 1.9]
    shares = [program.zero_bytes_per_gpu(7_500_000_000, stage, 64) / 1e9 for stage in range(4)]
    assert [round(float(share), 1) for share in shares] == figure
    assert shares == pytest.approx([120, 31.40625, 16.640625, 1.875], rel=1e-13)


@each("stage", range(4))
def test_shares_are_even_to_the_fraction_of_a_byte(
    program: types.SimpleNamespace, stage: int
) -> None:
    for n_params in (0, 1, 5, LLAMA_7B, 10**15 - 1):
        for world in (1, 2, 3, 5, 7, 64, 1023):
            share = program.zero_bytes_per_gpu(n_params, stage, world)
            assert float(share) == pytest.approx(float(per_gpu(n_params, stage, world)), rel=1e-12)


@each("stage", range(4))
def test_the_number_of_gpus_is_the_smallest_that_fits(
    program: types.SimpleNamespace, stage: int
) -> None:
    for n_params in (1, 3):
        for gpu_bytes in range(1, 16 * n_params + 2, n_params):
            expected = smallest_world(n_params, gpu_bytes, stage)
            assert program.min_gpus(n_params, gpu_bytes, stage) == expected, (n_params, gpu_bytes)


@each(("gigabytes", "expected"), [(39, [None, 8, 4, 3]), (24, [None, None, 10, 5]), (112, [1] * 4)])
def test_seven_billion_parameters_need_the_known_numbers_of_gpus(
    program: types.SimpleNamespace, gigabytes: int, expected: list[int | None]
) -> None:
    counts = [program.min_gpus(7_000_000_000, gigabytes * 10**9, stage) for stage in range(4)]
    assert counts == expected
    assert program.min_gpus(7_000_000_000, gigabytes * 10**9) == expected[3]


def test_two_h100_hold_seven_billion_parameters_at_any_stage_that_shards(
    program: types.SimpleNamespace,
) -> None:
    assert [program.min_gpus(7_000_000_000, H100, stage) for stage in (1, 2, 3)] == [2, 2, 2]


@each("world", [1, 3, 7, 49, 1023])
@each("stage", [1, 2, 3])
def test_an_exact_fit_of_huge_models_is_admitted_and_a_missing_byte_is_not(
    program: types.SimpleNamespace, stage: int, world: int
) -> None:
    n_params = 10**15 // world * world
    gpu_bytes = per_gpu(n_params, stage, world)
    assert gpu_bytes.denominator == 1
    assert program.min_gpus(n_params, int(gpu_bytes), stage) == world
    assert program.min_gpus(n_params, int(gpu_bytes) - 1, stage) == world + 1


def test_a_fraction_of_a_byte_is_not_forgiven_where_floats_have_no_fractions(
    program: types.SimpleNamespace,
) -> None:
    share = per_gpu(10**15, 1, 7)
    assert share.denominator == 7
    assert float(share) == share.numerator // 7  # the nearest float has dropped the fraction
    assert program.min_gpus(10**15, share.numerator // 7, 1) == 8
    assert program.min_gpus(10**15, share.numerator // 7 + 1, 1) == 7


def test_no_number_of_gpus_makes_room_for_what_is_not_sharded(
    program: types.SimpleNamespace,
) -> None:
    for n_params in (1, 7_000_000_000, 10**15):
        assert program.min_gpus(n_params, 4 * n_params, 1) is None
        assert program.min_gpus(n_params, 2 * n_params, 2) is None
        assert program.min_gpus(n_params, 16 * n_params - 1, 0) is None
        assert program.min_gpus(n_params, 16 * n_params, 0) == 1


def test_nothing_to_store_fits_on_one_gpu(program: types.SimpleNamespace) -> None:
    assert [program.min_gpus(0, 1, stage) for stage in range(4)] == [1] * 4


def test_thousands_of_gpus_are_an_answer(program: types.SimpleNamespace) -> None:
    assert program.min_gpus(7_000_000_000, 28_008_400_001, 1) == 10_000
    assert program.min_gpus(7_000_000_000, 28_008_400_000, 1) == 10_000
    assert program.min_gpus(7_000_000_000, 28_008_399_999, 1) == 10_001


def test_every_call_returns_a_dict_of_its_own(program: types.SimpleNamespace) -> None:
    first = program.training_state(7, MIXED)
    expected = dict(first)
    first.clear()
    second = program.training_state(7, MIXED)
    program.training_state(8, MIXED)
    program.training_state(7, "torch_autocast")
    assert dict(second) == expected
    assert isinstance(second, dict)


def test_unknown_recipes_and_stages_raise_value_error(program: types.SimpleNamespace) -> None:
    for recipe in ("fp8_mixed", "BF16_MIXED", ""):
        with pytest.raises(ValueError):  # noqa: PT011  any message will do
            program.training_state(7, recipe)
    for stage in (-1, 4):
        with pytest.raises(ValueError):  # noqa: PT011
            program.zero_bytes_per_gpu(7, stage, 2)
        with pytest.raises(ValueError):  # noqa: PT011
            program.min_gpus(7, 100, stage)


def test_the_driver_tells_shared_dicts_from_separate_ones() -> None:
    driver = load(DRILL / "driver.py")
    reference = load(DRILL / "reference.py")
    kept: dict[tuple[int, str], dict[str, int]] = {}
    ring: list[dict[str, int]] = [{}, {}]

    def cached(n_params: int, recipe: str) -> dict[str, int]:
        return kept.setdefault((n_params, recipe), reference.training_state(n_params, recipe))

    def one_of_two(n_params: int, recipe: str) -> dict[str, int]:
        ring.reverse()
        ring[0].clear()
        ring[0].update(reference.training_state(n_params, recipe))
        return ring[0]

    def said(training_state: object) -> str:
        program = types.SimpleNamespace(training_state=training_state)
        first: str = driver.sharing(program, 7)
        assert driver.sharing(program, 7) == first
        return first

    assert said(reference.training_state) == "every plan is a dict of its own"
    assert said(cached) == "a plan shows what was done to another one's dict"
    assert said(one_of_two) == "a later plan overwrote an earlier one"
    assert said(lambda n_params, recipe: (n_params, recipe)) == "a plan is a tuple"


def test_the_driver_names_what_a_call_raises() -> None:
    driver = load(DRILL / "driver.py")

    class UnknownError(ValueError):
        pass

    def fails_with(error: Exception) -> types.SimpleNamespace:
        def step() -> None:
            raise error

        return types.SimpleNamespace(step=step)

    assert driver.outcome(fails_with(UnknownError("recipe")), "step") == "ValueError"
    assert driver.outcome(fails_with(KeyError("recipe")), "step") == "KeyError"
    assert driver.outcome(types.SimpleNamespace(step=int), "step") == "nothing raised"
