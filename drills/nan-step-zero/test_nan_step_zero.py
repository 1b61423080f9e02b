"""The first loss and its gradients against torch's own layers, and the figures that are quoted."""

from __future__ import annotations

import importlib
import itertools
import math
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.harness import Program, each, ideas_of, variants

variant = variants(__file__)
NAMES = ideas_of(__file__)

Params = dict[str, Tensor]


@pytest.fixture(scope="module")
def scans() -> ModuleType:
    return importlib.import_module("scans")


def drawn(d: int = 5, h: int = 11, c: int = 4, seed: int = 0, scale: float = 1.0) -> Params:
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng, dtype=torch.float64)
    w2 = torch.randn(h, c, generator=rng, dtype=torch.float64) * scale
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def rows(number: int = 9, d: int = 5, c: int = 4, seed: int = 1) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(seed)
    x = 1000 * torch.randn(number, d, generator=rng, dtype=torch.float64)
    return x, torch.randint(c, (number,), generator=rng)


def oracle(params: Params, x: Tensor, y: Tensor) -> Tensor:
    """What torch's layers make of rows that have a label and are not blank."""
    z = x @ params["w1"]
    return F.cross_entropy(F.layer_norm(z, z.shape[1:], eps=0.0).relu() @ params["w2"], y)


ORACLE = Program(loss_fn=oracle)


def with_gradients(program: Program, params: Params, x: Tensor, y: Tensor) -> list[Tensor]:
    loss = program.loss_fn(params, x, y)
    return [loss.detach(), *torch.autograd.grad(loss, list(params.values()))]


def agree(found: list[Tensor], wanted: list[Tensor], rtol: float = 1e-7) -> None:
    shaped = [one.reshape(other.shape) for one, other in zip(found, wanted, strict=True)]
    torch.testing.assert_close(shaped, wanted, rtol=rtol, atol=rtol, check_dtype=False)


@each("scale", [1.0, 3000.0])
def test_loss_and_gradients_are_those_of_torchs_layers(reference: Program, scale: float) -> None:
    params, (x, y) = drawn(scale=scale), rows()
    wanted = with_gradients(ORACLE, params, x, y)
    agree(with_gradients(reference, params, x, y), wanted)


def test_blank_and_unread_rows_add_what_the_contract_says(program: Program) -> None:
    """A blank row log(c) to the sum of losses and nothing to gradients, an unread one nothing."""
    params, (x, y) = drawn(), rows()
    x[2], x[3, 1], x[7] = 0.0, torch.nan, -torch.inf
    y[3], y[7], y[8] = -1, -1, -1
    plain = torch.tensor([0, 1, 4, 5, 6])
    loss, *grads = with_gradients(ORACLE, params, x[plain], y[plain])
    wanted = [(5 * loss + math.log(4)) / 6, *(g * 5 / 6 for g in grads)]
    agree(with_gradients(program, params, x, y), wanted, rtol=1e-5)


def test_first_losses_are_near_log_c(program: Program) -> None:
    for seed in range(3):
        params, rng = program.init_params(seed=seed), torch.Generator().manual_seed(seed)
        x = torch.randn(200, 32, generator=rng)
        y = torch.randint(10, (200,), generator=rng)
        assert oracle(params, x, y).item() - math.log(10) < 0.7


def test_the_colleague_is_right_about_a_clean_batch(scans: ModuleType, starter: Program) -> None:
    x, y = scans.batch()
    clean = (y >= 0) & (x != 0).any(dim=1)
    params = {name: w / 64 for name, w in starter.init_params().items()}
    found = starter.loss_fn(params, x[clean], y[clean])
    torch.testing.assert_close(found, oracle(params, x[clean], y[clean]), rtol=1e-6, atol=0)


def repaired(scans: ModuleType, starter: Program, faults: tuple[bool, ...], seed: int) -> float:
    """The first loss with some of the four faults repaired: init, mask, softmax and spread."""
    init, mask, softmax, spread = faults
    params = starter.init_params(seed=seed)
    x, y = scans.batch(seed)
    if mask:
        x, y = x[y >= 0], y[y >= 0]
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    variance = deviation.square().mean(dim=1, keepdim=True)
    hidden = torch.relu(deviation / torch.sqrt(variance + 1e-5 * spread))
    logits = hidden @ (params["w2"] / (64 if init else 1))
    p = logits.exp() / logits.exp().sum(dim=1, keepdim=True)
    log_p = logits.log_softmax(dim=1) if softmax else p.log()
    nll = -log_p[torch.arange(len(y)), y] * (y >= 0)
    return float((nll.sum() / (y >= 0).sum()).item())


def test_three_of_sixteen_repairs_give_a_number(
    scans: ModuleType, starter: Program, reference: Program
) -> None:
    ways = list(itertools.product((False, True), repeat=4))
    for seed in range(4):
        losses = {way: repaired(scans, starter, way, seed) for way in ways}
        finite = {way: loss for way, loss in losses.items() if math.isfinite(loss)}
        every, large, sleeping = (True,) * 4, (False, True, True, True), (True, True, False, True)
        assert set(finite) == {every, large, sleeping}
        assert finite[every] == pytest.approx(finite[sleeping], abs=1e-5)
        assert math.isnan(losses[(False,) * 4])
        if seed == 0:
            assert finite[every] == pytest.approx(2.50, abs=0.005)
            assert finite[large] == pytest.approx(62, abs=0.5)
            own = reference.loss_fn(reference.init_params(), *scans.batch())
            assert own.item() == pytest.approx(finite[every], abs=1e-4)


def test_innocent_causes_are_cleared_by_their_experiments(
    scans: ModuleType, starter: Program
) -> None:
    params, (x, y) = starter.init_params(), scans.batch()
    with torch.no_grad():
        assert starter.loss_fn(params, x, y).isnan()
    assert y.unique().tolist() == list(range(-1, 10))
    readable = x.isfinite().all(dim=1) & (x != 0).any(dim=1)
    hidden = F.layer_norm(x[readable] @ params["w1"], (64,)).relu()
    assert (hidden > 0).double().mean().item() == pytest.approx(0.5, abs=0.02)


@each("idea", ["slope-at-zero", "left-out-too-late"])
def test_a_finite_loss_with_a_gradient_that_is_nan(reference: Program, idea: str) -> None:
    blank = idea == "slope-at-zero"
    x = torch.tensor([[0.0, 0.0] if blank else [50.0, torch.nan], [200.0, 100.0]])
    y = torch.tensor([1 if blank else -1, 0])
    params = {name: w.float().detach().requires_grad_() for name, w in drawn(2, 3, 2).items()}

    def is_nan(program: Program) -> list[bool]:
        return [bool(t.isnan().any()) for t in with_gradients(program, params, x, y)]

    assert is_nan(reference) == [False, False, False]
    for name in [one for one in NAMES if one.split(" / ")[0] == idea]:
        both = not blank and name != "left-out-too-late / overwritten-after-the-product"
        assert is_nan(variant(name)) == [False, True, both], name


@pytest.mark.filterwarnings("ignore:std:UserWarning")  # of no rows
def test_a_batch_without_a_label_gives_the_weights_gradients_of_zero(program: Program) -> None:
    params, (x, y) = drawn(), rows()
    params = {name: w.detach().float().requires_grad_() for name, w in params.items()}
    loss = program.loss_fn(params, x.float(), torch.full_like(y, -1))
    loss.backward()
    assert loss.item() == 0
    for w in params.values():
        assert w.grad is not None
        assert not w.grad.any()


def test_a_leaf_beside_the_graph_gives_them_none_and_zero_weights_get_zeros() -> None:
    params, (x, y) = drawn(), rows()
    variant("zero-beside-the-graph").loss_fn(params, x, torch.full_like(y, -1)).backward()
    assert params["w1"].grad is None
    zeros = variant("all-zero")
    loss, *grads = with_gradients(zeros, zeros.init_params(5, 11, 4), x.float(), y)
    assert loss.item() == pytest.approx(math.log(4), abs=1e-6)
    assert not any(g.any() for g in grads)


def test_where_exp_overflows_and_a_probability_is_0() -> None:
    assert torch.tensor([88.7, 88.8]).exp().isinf().tolist() == [False, True]
    assert torch.tensor([709.7, 709.8], dtype=torch.float64).exp().isinf().tolist() == [False, True]
    for gap, lost in ((103.5, False), (104.0, True)):
        log_p = torch.log(torch.softmax(torch.tensor([0.0, -gap]), dim=0))[1]
        assert bool(log_p.isinf()) is lost
    e = torch.tensor([89.0, 5.0]).exp()
    assert (e / e.sum()).isnan().tolist() == [True, False]
    assert (e / e.sum())[1] == 0


def slope(loss: Tensor, of: Tensor) -> list[float]:
    return list(torch.autograd.grad(loss, of)[0].tolist())


def test_norms_and_deviations_of_torch_have_a_slope_at_0() -> None:
    zeros, equal = torch.zeros(3, requires_grad=True), torch.ones(3, requires_grad=True)
    assert slope(torch.linalg.vector_norm(zeros), zeros) == [0, 0, 0]
    assert slope(equal.std(), equal) == [0, 0, 0]
    assert all(map(math.isnan, slope(zeros.square().sum().sqrt(), zeros)))
    with (
        torch.autograd.set_detect_anomaly(True, check_nan=True),
        pytest.warns(UserWarning, match="Error detected in"),
        pytest.raises(RuntimeError, match="returned nan values"),
    ):
        torch.autograd.grad(zeros.square().sum().sqrt() * 0, zeros)


def test_float16_has_no_eps_of_1e_12() -> None:
    assert torch.tensor(1e-12, dtype=torch.float16) == 0
    assert torch.tensor(6e-8, dtype=torch.float16) > 0
    assert torch.tensor(2.9e-8, dtype=torch.float16) == 0
