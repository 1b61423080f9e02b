"""The loss of adapter-preference and its gradients, against torch in float64, token by token.

The oracle makes the whole adapted matrix, asks torch.distributions for every token of every answer,
and has torch differentiate.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, by_autograd, each

CLOSE = 1e-11


@dataclasses.dataclass
class Batch:
    """What one call is given, but for the adapter."""

    hidden: Array
    tokens: Array
    prompt: Array
    length: Array
    weight: Array

    def of(self, program: Program, a: Array, b: Array, *settings: float) -> list[Array]:
        given = (self.hidden, self.tokens, self.prompt, self.length, self.weight)
        return list(program.preference_loss(*given, a, b, *settings))


def drawn(seed: int, pairs: int = 3, places: int = 7, words: int = 6, width: int = 4) -> Batch:
    rng = np.random.default_rng(seed)
    prompt = rng.integers(1, places - 1, 2 * pairs)
    length = rng.integers(prompt + 1, places + 1)
    return Batch(
        rng.standard_normal((2 * pairs, places, width)),
        rng.integers(0, words, (2 * pairs, places)),
        prompt,
        length,
        rng.standard_normal((words, width)),
    )


def adapter(seed: int, words: int = 6, width: int = 4, rank: int = 2) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rank, width)), rng.standard_normal((words, rank))


def oracle(
    batch: Batch, a: Array, b: Array, alpha: float, beta: float, smoothing: float = 0.0
) -> list[Array]:
    """The loss, and its gradients by a and b."""
    hidden, weight = torch.tensor(batch.hidden), torch.tensor(batch.weight)

    def score(row: int, matrix: torch.Tensor) -> torch.Tensor:
        found = torch.zeros((), dtype=torch.float64)
        for t in range(batch.prompt[row], batch.length[row]):
            words = torch.distributions.Categorical(logits=matrix @ hidden[row, t - 1])
            found = found + words.log_prob(torch.tensor(batch.tokens[row, t]))  # type: ignore[no-untyped-call]
        return found

    def loss(down: torch.Tensor, up: torch.Tensor) -> torch.Tensor:
        tuned = weight + alpha / len(a) * up @ down
        pairs = len(batch.tokens) // 2
        losses = []
        for i in range(pairs):
            gaps = [score(i, m) - score(pairs + i, m) for m in (tuned, weight)]
            margin = beta * (gaps[0] - gaps[1])
            right, wrong = F.logsigmoid(margin), F.logsigmoid(-margin)
            losses.append(-(1 - smoothing) * right - smoothing * wrong)
        return torch.stack(losses).mean()

    return by_autograd(loss, a, b)


@each("seed", range(4))
@each("smoothing", [0.0, 0.2])
def test_loss_and_gradients_are_those_of_torch(
    program: Program, seed: int, smoothing: float
) -> None:
    batch, (a, b) = drawn(seed), adapter(seed, rank=seed % 3 + 1)
    mine = batch.of(program, a, b, 3.0, 0.4, smoothing)
    assert_close(mine, oracle(batch, a, b, 3.0, 0.4, smoothing), CLOSE)


@each("size", [300.0, 1e4])
def test_large_logits_and_margins(program: Program, size: float) -> None:
    batch, (a, b) = drawn(5), adapter(5)
    for matrix, up in ((size * batch.weight, b), (batch.weight, size * b)):
        some = dataclasses.replace(batch, weight=matrix)
        mine = some.of(program, a, up, 1.0, 0.5)
        assert_close(mine, oracle(some, a, up, 1.0, 0.5), 1e-9)


def test_what_is_no_token_of_an_answer_is_never_looked_at(program: Program) -> None:
    batch, (a, b) = drawn(6), adapter(6)
    wanted = oracle(batch, a, b, 2.0, 0.5)
    place = np.arange(7)
    answer = (place >= batch.prompt[:, None]) & (place < batch.length[:, None])
    batch.tokens[~answer] = -100
    batch.hidden[:, -1] = np.inf
    batch.hidden[:, :-1][~answer[:, 1:]] = np.nan
    with np.errstate(invalid="raise"):
        assert_close(batch.of(program, a, b, 2.0, 0.5), wanted, CLOSE)


def test_a_new_adapter_changes_nothing_and_learns(program: Program) -> None:
    for seed in range(3):
        batch = drawn(seed)
        a, b = program.fresh(batch.weight, 3, np.random.default_rng(seed))
        assert a.shape == (3, 4)
        assert b.shape == (6, 3)
        assert not (b @ a).any()
        for _ in range(200):
            loss, grad_a, grad_b = batch.of(program, a, b, 3.0, 0.5)
            a, b = a - grad_a, b - grad_b
        assert loss < 0.3


@each("dtype", ["float64", "float32"])
def test_a_merged_matrix_does_what_the_adapted_one_does(program: Program, dtype: str) -> None:
    batch, (a, b) = drawn(8), adapter(8, rank=3)
    weight = batch.weight.astype(dtype)
    found = program.merged(weight, a, b, 5.0)
    wanted = torch.tensor(weight).double() + 5 / 3 * torch.tensor(b) @ torch.tensor(a)
    assert_close(
        found, wanted.numpy().astype(dtype), {"float64": 1e-14, "float32": 3e-7}[dtype], dtype
    )


# What the text says.


def test_a_new_adapter_tells_the_file_and_the_right_one_not_apart(
    starter: Program, reference: Program
) -> None:
    for seed in range(5):
        batch, (a, b) = drawn(seed), adapter(seed)
        for down, up in ((a, 0 * b), (0 * a, b)):
            old, right = (batch.of(p, down, up, 2.0, 0.3) for p in (starter, reference))
            assert_close(old, right, 1e-13)
            assert round(float(old[0]), 3) == 0.693


def test_the_loss_stays_though_answers_change(starter: Program, reference: Program) -> None:
    batch, (a, b) = drawn(9), adapter(9)
    b = 0 * b
    begun = batch.of(reference, a, b, 2.0, 0.5)[0]
    for _ in range(40):
        loss, grad_a, grad_b = batch.of(starter, a, b, 2.0, 0.5)
        assert loss == begun  # to the last digit
        a, b = a - 0.05 * grad_a, b - 0.05 * grad_b
    right = batch.of(reference, a, b, 2.0, 0.5)
    assert right[0] < 0.1  # learned long ago
    pull = [float(np.linalg.norm(found[2])) for found in (batch.of(starter, a, b, 2.0, 0.5), right)]
    assert pull[0] > 5 * pull[1]


def test_a_shared_prompt_cancels_only_where_one_model_scores_it_alike(reference: Program) -> None:
    """In a causal model both rows have the same hidden at the same prompt."""
    batch, (a, b) = drawn(10, pairs=1), adapter(10)
    batch.prompt[:], batch.length[:] = 4, 7
    whole = dataclasses.replace(batch, prompt=np.array([1, 1]))
    settings = (2.0, 0.5)
    apart = [float(one.of(reference, a, b, *settings)[0]) for one in (batch, whole)]
    assert abs(apart[0] - apart[1]) > 1e-3
    batch.hidden[1, :3], batch.tokens[1, :4] = batch.hidden[0, :3], batch.tokens[0, :4]
    shared = [float(one.of(reference, a, b, *settings)[0]) for one in (batch, whole)]
    assert abs(shared[0] - shared[1]) < 1e-14


def test_smoothing_has_its_least_loss_where_the_follow_up_says() -> None:
    margins = np.linspace(-5, 5, 100_001)
    losses = 0.9 * np.logaddexp(0, -margins) + 0.1 * np.logaddexp(0, margins)
    assert abs(margins[losses.argmin()] - np.log(9)) < 1e-4
