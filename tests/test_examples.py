"""The examples of docs/authoring.md: proved, of every kind, and right by other authorities."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from grader import bank
from grader.audit.audit import audit

pytestmark = pytest.mark.usefixtures("one_zygote")

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = DOCS / "examples"
QUESTIONS = sorted(path.stem for path in (EXAMPLES / "questions").glob("*.yaml"))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_example_passes_its_audit_without_a_remark(name: str) -> None:
    report = audit(bank.load([EXAMPLES], name), seeds=range(2))
    assert report.problems == ()
    assert report.remarks == ()


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_example_is_on_the_page_and_can_be_mailed(name: str) -> None:
    path = EXAMPLES / "questions" / f"{name}.yaml"
    assert f"(examples/questions/{name}.yaml)" in (DOCS / "authoring.md").read_text("utf-8")
    assert bank.load([path], name).spec == bank.load([EXAMPLES], name).spec


def test_together_they_use_every_kind_that_needs_no_card_and_no_clock() -> None:
    checks = [c for name in QUESTIONS for c in bank.load([EXAMPLES], name).spec.checks]
    wanted = {"outputs", "gradcheck", "side-effects", "numbers", "curve", "graph", "memory"}
    assert wanted <= {check.kind for check in checks}


def test_none_is_about_what_a_question_of_the_bank_is_about() -> None:
    assert not set(QUESTIONS) & {p.stem for p in (DOCS.parent / "questions").glob("*.yaml")}


def reference(name: str) -> Any:
    """The functions of a reference; a test may execute what the judge may not."""
    namespace: dict[str, Any] = {}
    exec(bank.load([EXAMPLES], name).reference, namespace)
    return SimpleNamespace(**namespace)


def drawn(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def test_smoothed_targets_cost_what_torchs_label_smoothing_costs() -> None:
    logits, target = torch.from_numpy(drawn(6, 5)), torch.tensor([0, 4, 2, 2, 1, 3])
    p = torch.from_numpy(reference("label-smoothing").smooth(target.numpy(), 5, 0.1))
    ours = -(p * F.log_softmax(logits, -1)).sum(-1).mean()
    torch.testing.assert_close(ours, F.cross_entropy(logits, target, label_smoothing=0.1))


def test_the_huber_loss_and_its_gradient_are_torchs() -> None:
    y, target = drawn(9) * 2, drawn(9, seed=1)
    leaf = torch.from_numpy(y).requires_grad_()
    known = F.huber_loss(leaf, torch.from_numpy(target), delta=0.7)
    (grad,) = torch.autograd.grad(known, leaf)
    drill = reference("huber-loss")
    loss, ctx = drill.huber_forward(y, target, 0.7)
    assert np.isclose(loss, known.item(), rtol=1e-12)
    assert np.allclose(drill.huber_backward(ctx), grad.numpy(), rtol=1e-12)


def test_the_average_of_weights_is_adams_corrected_first_moment() -> None:
    seen, mean = drawn(7, 3), np.zeros(3)
    average = reference("weight-average").Average(0.9)
    for step, w in enumerate(seen, 1):
        average.update({"w": w})
        mean = 0.9 * mean + 0.1 * w
        assert np.allclose(average.value()["w"], mean / (1 - 0.9**step), rtol=1e-12)


def test_the_bounded_exponential_has_autograds_gradient() -> None:
    function = reference("bounded-exp").bounded_exp
    x = torch.linspace(-6.03, 6.01, 50, dtype=torch.float64, requires_grad=True)
    y, plain = function(x), x.clamp(-4, 4).exp()
    assert torch.equal(y, plain)
    ours, known = (torch.autograd.grad(v.sum(), x, retain_graph=True)[0] for v in (y, plain))
    torch.testing.assert_close(ours, known)
    assert torch.autograd.gradcheck(function, x)


def test_the_cache_takes_as_many_bytes_as_its_tensors() -> None:
    plan = reference("cache-bytes").cache(2, 8, 4, 16, 5, 3, 2)
    shape = (2, 3, 4, 5, 16)  # layers, batch, heads that are kept, tokens, width
    keys, values = (torch.zeros(shape, dtype=torch.bfloat16) for _ in range(2))
    assert (plan["keys"], plan["values"]) == (keys.nbytes, values.nbytes)
    assert plan["total"] == keys.nbytes + values.nbytes


def test_the_heavy_ball_is_torchs_sgd() -> None:
    weight = torch.from_numpy(drawn(4)).requires_grad_()
    optimizer = torch.optim.SGD([weight], lr=0.03, momentum=0.8)
    w, v = weight.detach().numpy().copy(), np.zeros(4)
    step = reference("heavy-ball").step
    for number in range(5):
        grad = drawn(4, seed=number + 1)
        weight.grad = torch.from_numpy(grad)
        optimizer.step()
        w, v = step(w, v, grad, 0.03, 0.8)
        assert np.allclose(w, weight.detach().numpy(), rtol=1e-12)


def test_causal_weights_are_those_of_torchs_attention() -> None:
    scores, length = drawn(2, 4, 4), np.array([4, 2])
    p = reference("causal-softmax").weights(scores, length)
    hidden = torch.ones(4, 4).triu(1).bool() | (
        torch.arange(4)[None, None] >= torch.from_numpy(length)[:, None, None]
    )
    known = torch.softmax(torch.from_numpy(scores).masked_fill(hidden, -torch.inf), -1)
    assert np.allclose(p, known.numpy(), rtol=1e-12, atol=0)
