"""The estimates of `roofline-and-ledger`: by the published count, and as people round them."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader.explain.session import GradingSession
from grader.model.report import Report, Verdict
from tests.harness import Program, load_text, named, question_of, saved_for_backward

QUESTION = question_of(__file__)
UNITS = {
    "residual": "B", "saved": "B", "stored": "B", "state": "B", "break_even": "",
    "product_time": "s", "swiglu_time": "s", "ridge": "",
}  # fmt: skip
S, H, A, L, F = 8192, 8192, 64, 80, 28_672  # tokens, width, heads, blocks, width of the MLP
MODEL = (H, A, 8, 128, F)


def numbers(more: bytes = b"") -> dict[str, float]:
    """What the reference gives, or a misconception on top of it."""
    program = load_text(QUESTION.reference, more)
    return {
        **program.ledger(L, *MODEL, S),
        **program.opinions(70.6e9, *MODEL),
        **program.roofline(H, F, S),
    }


def graded(session: GradingSession, found: dict[str, float]) -> Report:
    lines = (f"{name} = {one:.3g} {UNITS[name]}\n" for name, one in found.items())
    return session.grade("".join(lines).encode(), seed=3, filename="answers.txt")


class Fused(torch.autograd.Function):
    """Keeps its inputs alone, as a fused RMSNorm and fused attention do but for a number a row."""

    @staticmethod
    def forward(ctx: Any, first: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(first, *others)
        return first * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor, ...]:
        raise NotImplementedError


def test_a_block_of_torch_keeps_what_the_ledger_says() -> None:
    """Besides weights; attention's output is kept by the projection behind it."""
    tokens, width, wide, kv = 3, 64, 224, 8
    lines = [torch.nn.Linear(width, n, bias=False) for n in (width, kv, kv, width, wide, wide)]
    q_of, k_of, v_of, out, gate, up = lines
    down = torch.nn.Linear(wide, width, bias=False)
    fused: Any = Fused.apply
    weights = [w for one in (*lines, down) for w in one.parameters()]
    with saved_for_backward(*weights) as kept:
        x = torch.randn(tokens, width, requires_grad=True) * 1
        a = fused(x)
        mixed = fused(q_of(a), k_of(a), v_of(a))
        x = x + out(mixed)
        b = fused(x)
        x + down(torch.nn.functional.silu(gate(b)) * up(b))
    held = sum(t.untyped_storage().nbytes() // 4 for t in kept.values())
    assert held == 20.25 * tokens * width


def test_the_figures_are_those_of_the_roofline() -> None:
    found = numbers()
    assert found["residual"] == 2 * S * H * L == 10_737_418_240
    assert found["saved"] == 40.5 * S * H * L
    assert found["stored"] == 2 * A * S * S * L
    assert found["state"] == pytest.approx(16 * 70.6e9)
    # Queries and output, keys and values of 8 heads, three matrices of the MLP.
    assert 2 * H * H + 2 * H * 8 * 128 + 3 * H * F == 12.75 * H * H
    all_parameters = L * 12.75 * H * H + 2 * 128_256 * H
    assert all_parameters == pytest.approx(70.6e9, rel=1e-3)
    assert found["break_even"] == pytest.approx(16 * 12.75 * H / 40.5)
    assert found["product_time"] == pytest.approx(2 * S * H * F / 989e12)
    assert found["swiglu_time"] == pytest.approx(6 * S * F / 3.35e12)
    at = found["ridge"]
    moved = 2 * (at * H + H * F + at * F)
    assert 2 * at * H * F / 989e12 == pytest.approx(moved / 3.35e12)


def test_the_figures_that_are_quoted(reference: Program) -> None:
    found = numbers()
    assert found["swiglu_time"] / found["product_time"] == pytest.approx(0.11, abs=5e-3)
    assert (found["saved"] + found["stored"]) / 1e9 == pytest.approx(905, abs=0.5)
    assert round(found["break_even"]) == 41_263
    assert found["saved"] / found["residual"] == 20.25
    two_of_four = 2 * 2 * S * F * L
    assert two_of_four == pytest.approx(75.2e9, abs=5e7)
    moved = 2 * (S * H + H * F + S * F) / 3.35e12
    assert found["product_time"] / moved == pytest.approx(12, abs=0.5)
    assert moved * 1e3 == pytest.approx(0.32, abs=5e-3)
    without = numbers(QUESTION.variants["result-not-written"][0])["ridge"]
    assert 295 < 989e12 / 3.35e12 < without < 295 * 1.015
    # The hints: bytes per token and unit of h at the norms, in attention, in the MLP.
    wide = reference.norms(H), reference.attention(H, A, 8, 128), reference.mlp(H, F)
    assert [2 * one / H for one in wide] == [4, 6.5, 30]
    per_h = {"dropout-masks-counted": 42.5, "keys-as-wide-as-queries": 44.0}
    for idea, width in {**per_h, "one-wide-tensor-forgotten": 33.5}.items():
        assert numbers(QUESTION.variants[idea][0])["saved"] == width * S * H * L


@pytest.mark.parametrize("idea", sorted(QUESTION.variants))
def test_an_idea_is_named_by_numbers_of_three_digits(idea: str, session: GradingSession) -> None:
    report = graded(session, numbers(QUESTION.variants[idea][0]))
    assert report.verdict is Verdict.FAIL
    assert named(report) == {idea}


@pytest.mark.parametrize(
    "off",
    [
        {"residual": 1.5}, {"saved": 0.7}, {"stored": 3.0}, {"state": 1.3}, {"break_even": 10.0},
        {"product_time": 1.4}, {"swiglu_time": 3.0}, {"ridge": 1.3}, {"ridge": 0.1},
        {"saved": 1.5, "state": 0.6}, {"product_time": 1000.0}, {"residual": 1 / 1024},
    ],
    ids=str,
)  # fmt: skip
def test_other_wrong_numbers_are_given_no_name(
    off: dict[str, float], session: GradingSession
) -> None:
    found = {name: one * off.get(name, 1) for name, one in numbers().items()}
    report = graded(session, found)
    assert report.verdict is Verdict.FAIL
    assert named(report) == set()
