"""Five questions written from docs/authoring.md and docs/keys.md alone.

`tests/banks/authored` is a bank that somebody could have written who has read nothing else.  Its
audit catches every fault that was seeded, right solutions pass however they are written, and the
references are right by an authority of their own: torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from grader import bank
from grader.audit.proof import audit
from grader.evaluation.tally import Stopped
from grader.kinds import run_check
from grader.model.report import CheckResult
from grader.model.verdict import Verdict
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

AUTHORED = Path(__file__).parent / "banks" / "authored"
SOLUTIONS = AUTHORED / "solutions"
QUESTIONS = sorted(path.stem for path in (AUTHORED / "questions").glob("*.yaml"))
SEED = 20


def solutions(kind: str) -> list[tuple[str, Path]]:
    return [(q, path) for q in QUESTIONS for path in sorted((SOLUTIONS / q / kind).glob("*.py"))]


def called(pairs: list[tuple[str, Path]]) -> list[str]:
    return [f"{question}-{path.stem}" for question, path in pairs]


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_seeded_fault_is_killed_by_its_check_and_called_by_its_name(name: str) -> None:
    question = bank.load([AUTHORED], name)
    report = audit(question, seeds=range(2))
    assert report.problems == ()
    assert report.remarks == ()
    assert len(question.spec.misconceptions) >= 8
    named = {row.misconception for row in report.programs if row.misconception is not None}
    assert named == set(question.spec.misconceptions)


def test_the_three_mistakes_of_a_public_grader_are_among_them() -> None:
    spec = bank.load([AUTHORED], "layernorm-backward").spec
    three = {"detached-statistics", "eps-outside-root", "cancelling-variance"}
    assert three <= set(spec.misconceptions)


@pytest.fixture(scope="module")
def sessions() -> Iterator[dict[str, GradingSession]]:
    opened: dict[str, GradingSession] = {}
    yield opened
    for session in opened.values():
        session.close()


def faults(sessions: dict[str, GradingSession], name: str, path: Path) -> list[CheckResult]:
    """The checks that a solution does not pass, each of them tried."""
    session = sessions.get(name) or sessions.setdefault(
        name, GradingSession(bank.load([AUTHORED], name))
    )
    evaluation = session.examine(path.stem, [path.read_bytes()], SEED)
    found = []
    with np.errstate(all="ignore"):
        for check in session.question.spec.checks:
            try:
                result = run_check(evaluation, check)
            except Stopped as stop:
                result = stop.result
            if result.verdict is not Verdict.PASS:
                found.append(result)
    return found


RIGHT, WRONG = solutions("right"), solutions("wrong")


def test_there_are_solutions_in_several_styles_and_faults_beyond_the_seeded() -> None:
    for name in QUESTIONS:
        assert len([q for q, _ in RIGHT if q == name]) >= 3
        assert len([q for q, _ in WRONG if q == name]) >= 4


@pytest.mark.parametrize(("name", "path"), RIGHT, ids=called(RIGHT))
def test_a_right_solution_passes_in_any_style(
    name: str, path: Path, sessions: dict[str, GradingSession]
) -> None:
    found = faults(sessions, name, path)
    assert not found, [(r.id, r.message) for r in found]


@pytest.mark.parametrize(("name", "path"), WRONG, ids=called(WRONG))
def test_a_wrong_solution_does_not(
    name: str, path: Path, sessions: dict[str, GradingSession]
) -> None:
    assert faults(sessions, name, path)


# -- the references, held against torch ------------------------------------------------------------


def reference(name: str) -> Any:
    """The functions of a reference; a test may execute what the judge may not."""
    namespace: dict[str, Any] = {}
    exec(bank.load([AUTHORED], name).reference, namespace)
    return SimpleNamespace(**namespace)


def close(a: Any, b: torch.Tensor) -> bool:
    return bool(np.allclose(a, b.detach().numpy(), rtol=1e-11, atol=1e-12))


def leaf(*shape: int, seed: int = 0) -> torch.Tensor:
    drawn = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(drawn).requires_grad_()


def by_autograd(
    function: Callable[..., torch.Tensor], grad_y: torch.Tensor, *inputs: torch.Tensor
) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
    y = function(*inputs)
    return y, torch.autograd.grad(y, inputs, grad_y)


def test_layernorm_is_torchs() -> None:
    x, gamma, beta, grad_y = leaf(6, 5), leaf(5, seed=1), leaf(5, seed=2), leaf(6, 5, seed=3)
    known, grads = by_autograd(
        lambda x, g, b: F.layer_norm(x, (5,), g, b, 0.3), grad_y, x, gamma, beta
    )
    drill = reference("layernorm-backward")
    y, ctx = drill.layernorm_forward(*(a.detach().numpy() for a in (x, gamma, beta)), 0.3)
    assert close(y, known)
    found = drill.layernorm_backward(grad_y.detach().numpy(), ctx)
    assert [close(a, b) for a, b in zip(found, grads, strict=True)] == [True] * 3


def test_rmsnorm_is_torchs() -> None:
    x, gain, grad_y = leaf(2, 3, 4), leaf(4, seed=1), leaf(2, 3, 4, seed=2)
    known, grads = by_autograd(lambda x, g: F.rms_norm(x, (4,), g, 0.2), grad_y, x, gain)
    drill = reference("rmsnorm")
    y, ctx = drill.rmsnorm_forward(x.detach().numpy(), gain.detach().numpy(), 0.2)
    assert close(y, known)
    found = drill.rmsnorm_backward(grad_y.detach().numpy(), ctx)
    assert [close(a, b) for a, b in zip(found, grads, strict=True)] == [True] * 2


def test_the_dice_loss_has_the_gradient_of_its_definition() -> None:
    p = torch.sigmoid(leaf(3, 7)).detach().requires_grad_()
    target = (leaf(3, 7, seed=1) > 0).double()

    def loss(p: torch.Tensor) -> torch.Tensor:
        top = 2 * (p * target).sum(1) + 0.7
        return (1 - top / (p.sum(1) + target.sum(1) + 0.7)).mean()

    known, (grad,) = by_autograd(loss, torch.tensor(1.5, dtype=torch.float64), p)
    drill = reference("dice-loss")
    found, ctx = drill.dice_forward(p.detach().numpy(), target.numpy(), 0.7)
    assert close(found, known)
    assert close(drill.dice_backward(1.5, ctx), grad)


def test_rope_is_a_product_of_complex_numbers_and_its_backward_is_autograds() -> None:
    x, grad_y = leaf(2, 3, 2, 8), leaf(2, 3, 2, 8, seed=1)
    positions = torch.tensor([5, 6, 40])

    def rope(x: torch.Tensor) -> torch.Tensor:
        rates = 1e4 ** (-torch.arange(4, dtype=torch.float64) / 4)
        angle = positions[:, None, None] * rates
        turned = torch.complex(x[..., :4], x[..., 4:]) * torch.polar(torch.ones_like(angle), angle)
        return torch.cat([turned.real, turned.imag], -1)

    known, (grad,) = by_autograd(rope, grad_y, x)
    drill = reference("rotary-embedding")
    assert close(drill.rope(x.detach().numpy(), positions.numpy(), 1e4), known)
    assert close(drill.rope_backward(grad_y.detach().numpy(), positions.numpy(), 1e4), grad)


def test_routing_chooses_as_topk_does_and_has_the_gradient_of_softmax() -> None:
    logits, grad_y = leaf(4, 6), leaf(4, 6, seed=1)
    _, (grad,) = by_autograd(lambda z: torch.softmax(z, -1), grad_y, logits)
    y = reference("top-k-routing").route(logits, 2)
    best = torch.topk(logits, 2).indices
    assert torch.equal(y.detach(), torch.zeros_like(y).scatter(-1, best, 1.0).detach())
    (found,) = torch.autograd.grad(y, logits, grad_y)
    assert close(found.detach().numpy(), grad)
