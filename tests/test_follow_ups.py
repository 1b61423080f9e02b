"""The follow-ups of the bank: every number and array is computed again, and all can be answered.

Where one follows from longer runs, the tests beside its question compute it: those in `BESIDE`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader import bank
from grader.forms import follow_up
from grader.model.question import Question
from grader.model.spec import FollowUp
from grader.reports.blocks import BlankLine, render_terminal
from grader.reports.discuss import answer_blocks, follow_up_blocks
from tests.content import QUESTIONS, content, each_question
from tests.harness import Array, Program, load, variants

ROOT = Path(__file__).parents[1]
Name = tuple[str, int, int]  # of a follow-up: its question, its part, its number in it
ROWS = 22  # of a page


@functools.cache
def loaded(name: str) -> Question:
    """A question of the bank."""
    return bank.load_question([ROOT], name)


@functools.cache
def every_follow_up() -> dict[Name, FollowUp]:
    """Return the follow-ups of all questions."""
    return {
        (name, p, n): one
        for name in QUESTIONS
        for p, part in enumerate(loaded(name).spec.parts, 1)
        for n, one in enumerate(part.follow_ups, 1)
    }


def follow_up_named(name: Name) -> FollowUp:
    """Return one follow-up, from its question alone."""
    question, part, number = name
    return loaded(question).spec.parts[part - 1].follow_ups[number - 1]


def slopes(function: Callable[[Array], float], *at: float) -> Array:
    """The derivatives of a function of several numbers, by central differences."""
    x, h = np.array(at), 1e-6
    return np.array([(function(x + e) - function(x - e)) / (2 * h) for e in h * np.eye(len(x))])


def cross_entropy(z: Array, y: Array) -> float:
    return float(np.log(np.exp(z).sum()) - z @ y)


def bfloat16(x: float) -> float:
    """A number rounded to bfloat16: to the nearest of eight significant bits, ties to even."""
    bits = int(np.float32(x).view(np.uint32))
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return float(np.uint32(rounded).view(np.float32))


def ones_added_up() -> float:
    total = 0.0
    while bfloat16(total + 1) > total:
        total = bfloat16(total + 1)
    return total


def lse_of_the_starter() -> float:
    starter = load(ROOT / "drills" / "online-softmax" / "starter.py")
    keys = np.array([[0.0], [np.log(3)]])
    return float(starter.attend(np.ones((1, 1)), keys, np.ones((2, 1)), 1)[1][0])


def slope_by_log_std(program: Program) -> float:
    """Of the mean of z^2, from draws that are the nodes of a quadrature."""
    draws, weights = np.polynomial.hermite_e.hermegauss(5)
    found = [program.path_grad(1.5, 0.3, draws[[i]], lambda z: 2 * z)[1] for i in range(5)]
    return float(weights @ found / weights.sum())


def pooled(x: Array) -> float:
    """The average of two windows of two, weighed by what arrives."""
    return float(2 * x[:2].mean() + 4 * x[1:].mean())


def averages_of_nine(x: Array) -> float:
    """What arrives, times averages of 3 x 3 with stride 2 over a plane of 3 x 3 and its padding."""
    plane = np.pad(x.reshape(3, 3), 1)
    windows = [[plane[i : i + 3, j : j + 3] for j in (0, 2)] for i in (0, 2)]
    return float((np.mean(windows, axis=(2, 3)) * [[1, 2], [4, 8]]).sum())


BESIDE: dict[Name, float] = {
    ("tile-kernel", 2, 1): 2048,
    ("hooked-gradients", 3, 2): 52.8,
    ("zero-or-none", 1, 1): 14,
    ("zero-or-none", 2, 1): 0.99,
    ("nan-step-zero", 1, 2): 3,
    ("checkpointing", 1, 1): 2,
    ("checkpointing", 3, 3): 192,
    ("vram-bottleneck", 3, 3): 1.248,
}
# What is right, from the numbers that the question gives.
BY_HAND: dict[Name, Callable[[], Any]] = {
    ("deeper-is-worse", 1, 1): lambda: np.sqrt(1 + 32),
    ("deeper-is-worse", 2, 1): lambda: (1 - 0.2) ** 50,
    ("deeper-is-worse", 3, 2): lambda: (0.02 / np.sqrt(2 / 256)) ** 30,
    ("sampled-gradient", 1, 1): lambda: 1 - 1 / 4,
    ("sampled-gradient", 3, 1): lambda: 0.999**256,
    ("attention-backward", 2, 3): lambda: len(["scores", "weights", "values", "queries", "keys"]),
    ("causal-attention", 1, 2): lambda: np.sqrt(64) / 64,
    ("hooked-gradients", 1, 2): lambda: 1 / 4,
    ("hooked-gradients", 3, 1): lambda: 3 * 5 / 14,
    ("hooked-gradients", 3, 3): lambda: 2 * 7 / 8 * 7e9 * 2,
    ("tensor-parallel", 1, 2): lambda: 3,
    ("tensor-parallel", 3, 2): lambda: 1e3 * 80 * 8 * 7 / 8 * 4096 * 8192 * 2 / 450e9,
    ("tensor-parallel", 3, 3): lambda: 4096 * 128_256 * 4,
    ("tile-kernel", 1, 1): lambda: 50 / 64,
    ("tile-kernel", 3, 2): lambda: 2 * 128 * 7168 * 4,
    ("kv-cache", 3, 1): lambda: 2 * 80 * 8 * 128 * 2 * 8192,
    ("kv-cache", 3, 2): lambda: sum(range(1, 513)),
    ("online-softmax", 1, 1): lse_of_the_starter,
    ("online-softmax", 3, 2): lambda: 2 + 5,
    ("order-of-products", 2, 1): lambda: (5 * 2 * 64**3 + 2 * 64**2) / (6 * 2 * 64**2),
    ("order-of-products", 3, 1): lambda: 2,
    ("reversible-stack", 2, 1): lambda: (1 + 1 + 2) / (1 + 2),
    ("reversible-stack", 3, 1): lambda: 2**24 / 1024,
    ("too-smooth", 1, 2): lambda: len({e + w for e in range(10) for w in range(4)}),
    ("rope", 2, 1): lambda: 2 * 131_072 * 64 * 4,
    ("rope", 2, 2): lambda: 2 * np.pi * 500_000 ** (1 - 2 / 128),
    ("gradient-check", 2, 1): lambda: slopes(
        lambda x: float(max(x[0], 0) + max(x[1], x[1] / 4)), 0.0, 0.0
    ),
    ("spike-and-clip", 3, 3): lambda: 0.1 / np.sqrt(0.001 / (1 - 0.999**301)) / (1 - 0.9**301),
    ("mlp-two-layer", 1, 3): lambda: 2 + 2 * 2,
    ("mlp-two-layer", 2, 1): lambda: np.average([1, 7], weights=[10, 2]),
    ("mlp-two-layer", 3, 2): lambda: 2 + 2 * 2 + 1,
    ("mlp-two-layer", 3, 3): lambda: 0.25**10,
    ("softmax-cross-entropy", 1, 3): lambda: slopes(
        lambda z: cross_entropy(z, np.array([0.8, 0.1, 0.1])), *np.log([0.5, 0.25, 0.25])
    ),
    ("softmax-cross-entropy", 3, 1): lambda: 128_000**2 * 4,
    ("softmax-cross-entropy", 3, 2): lambda: slopes(
        lambda z: cross_entropy(z / 2, np.array([1, 0])), *2 * np.log([0.6, 0.4])
    ),
    ("adam-7b-memory", 1, 1): lambda: 2 + 2 + 1 + 1 + 4,
    ("adam-7b-memory", 2, 2): lambda: 81_559 * 2**20 - 84e9,
    ("checkpointing", 2, 2): lambda: 1 / 16,
    ("checkpointing", 3, 1): lambda: (1 + 56 / 64 + 2) / 3,
    ("checkpointing", 3, 4): lambda: [14 // 5] * 4 + [14 - 14 // 5 * 4],
    ("chunked-cross-entropy", 1, 1): lambda: 3 + 1,
    ("chunked-cross-entropy", 2, 1): ones_added_up,
    ("cluster-on-paper", 1, 1): lambda: (
        55e9 * 2 * 4096 * (2 * 6144**2 + 2 * 6144 * 1024 + 3 * 6144 * 16_384) / (0.4 * 989e12)
    ),
    ("cluster-on-paper", 1, 3): lambda: 7 / (128 + 7),
    ("cluster-on-paper", 1, 4): lambda: 3 * 31 / 32 * 2 * 28_186_515_456 / 50e9 / 7.2,
    ("roofline-and-ledger", 1, 2): lambda: 80 * 8192 * 8192 * 2,
    ("roofline-and-ledger", 1, 3): lambda: 80 * 8192 * 2 * 28_672 * 2,
    ("vram-bottleneck", 1, 3): lambda: 1 + 4 * 8 / 3,
    ("vram-bottleneck", 3, 4): lambda: (3 + 3 + 2) / (3 + 3),
    ("paged-kv-cache", 2, 1): lambda: np.mean([-n % 16 for n in range(1, 1601)]),
    ("speculative-decoding", 2, 1): lambda: np.minimum(
        [1 / 2, 1 / 4, 1 / 4, 0], [0, 1 / 3, 0, 2 / 3]
    ).sum(),
    ("top-p-sampling", 1, 2): lambda: 3**2 * 0.3 * 0.7 / 0.01**2,
    ("top-p-sampling", 2, 1): lambda: next(
        n / 1024 for n in range(1, 1024) if bfloat16(20 + n / 1024) == 20 + n / 1024
    ),
    ("four-averages", 1, 1): lambda: slopes(averages_of_nine, *range(9)).sum(),
    ("four-averages", 1, 2): lambda: 1 / 4,
    ("maxpool-routing", 1, 2): lambda: slopes(pooled, 1.0, 5.0, 3.0),
    ("adamw", 3, 1): lambda: 7e9 * 2 * 4,
    ("batch-norm", 3, 2): lambda: np.log(1 - 0.9) / np.log(0.9),
    ("lm-loss-step", 2, 1): lambda: np.average([2, 6], weights=[3, 1]),
    ("adapter-preference", 2, 1): lambda: np.log(0.9 / 0.1),
    ("adapter-preference", 3, 1): lambda: 7e9 * 0.002 * 16,
    ("moe-router", 2, 1): lambda: 1.25 * 4096 * 2 / 64,
    ("moe-router", 3, 1): lambda: 1 - 1 / 8,
}


def merged(p: Program) -> float:
    sides = np.array([[1.0]]), np.array([0.0]), np.array([[5.0]]), np.array([np.log(3)])
    return float(p.merge(*sides)[0][0, 0])


def bytes_of_a_layer(p: Program) -> float:
    sizes = {"params": 1, "largest_unit": 1, "d": 8192, "heads": 64, "kv_heads": 8, "f": 28_672}
    kept = [p.activation_bytes(sizes | {"vocab": 1, "layers": n}, 1, False) for n in (1, 2)]
    return float(kept[1] - kept[0])


def tokens_left(p: Program) -> int:
    return int(np.count_nonzero(p.probs(np.log([[0.4, 0.3, 0.2, 0.1]]), top_k=2, top_p=0.55)))


def sent_back(p: Program) -> Array:
    _, cache = p.conv1d_forward(np.zeros((1, 1, 4)), np.array([[[1.0, 2.0]]]), np.zeros(1))
    return np.array(p.conv1d_backward(np.array([[[1.0, 10.0, 100.0]]]), cache)[0][0, 0])


def first_step(p: Program) -> float:
    weights = [np.array([1.0])]
    new, _ = p.step(weights, [np.array([100.0])], p.init(weights), 0.001, decay=0.0)
    return 1.0 - float(new[0][0])


def running_mean(p: Program) -> float:
    layer = p.BatchNorm1d(np.ones(1), np.zeros(1))
    layer.forward(np.array([[6.0], [8.0]]))
    return float(layer.running_mean[0])


def slope_of_a_token(p: Program) -> float:
    now, old = np.log([[0.4 / 5]]), np.log([[1 / 5]])
    return abs(float(p.policy_loss(now, old, np.array([2.0]), now < 0, 0.2, 0.2)[1][0, 0]))


def only_success(p: Program) -> float:
    return float(p.group_advantages(np.eye(8)[0], 8, 1e-9)[0])


def short_over_long(p: Program) -> float:
    logp, mask = np.full((2, 100), -1.0), np.arange(100) < np.array([[10], [100]])
    grad = p.policy_loss(logp, logp, -np.ones(2), mask, 0.2, 0.2)[1]
    return float(grad[0, 0] / grad[1, 0])


def pull_of_a_learned_pair(p: Program) -> float:
    hidden, tokens = np.ones((2, 2, 1)), np.array([[0, 0], [0, 1]])
    rest = np.ones(2, int), np.full(2, 2), np.zeros((2, 1)), np.ones((1, 1))

    def pull(margin: float) -> float:
        b = np.array([[margin], [0.0]])
        return float(p.preference_loss(hidden, tokens, *rest, b, 1.0, 1.0)[2][0, 0])

    return pull(2.0) / pull(0.0)


def weight_of_the_best(p: Program) -> float:
    import torch

    x, router = torch.ones(1, 1).double(), torch.tensor([[0.6, 0.3, 0.1]]).double().log()
    return float(p.moe(x, router, torch.eye(3).double()[0, :, None, None], 2)[0])


def blocks_of_four_samples(p: Program) -> int:
    cache = p.PagedCache(300, 16, 1)
    samples = [cache.new()]
    cache.append(samples[0], list(range(1000)), np.zeros((1000, 1)))
    samples += [cache.fork(samples[0]) for _ in range(3)]
    for seq in samples:
        cache.append(seq, [seq], np.zeros((1, 1)))
    return int(cache.in_use())


def summed_exactly(p: Program) -> int:
    kind = p._sums(*np.ones((2, 1, 1), np.int8)).dtype
    return int(2**24 if kind == np.float32 else np.iinfo(kind).max) // 127**2


def xh_moves(p: Program) -> float:
    one = np.ones((1, 1))
    return float(p.qat_backward(one, 0.3 * one, one, 1.0)[2]) * 0.0001 * 1e6


def replaced(p: Program) -> Array:
    shares = np.array([1 / 2, 1 / 4, 1 / 4, 0]), np.array([1 / 8, 1 / 4, 1 / 8, 1 / 2])
    return np.array(p._rest(*shares))


def faster(p: Program) -> float:
    pair = np.array([0.25] * 4 + [0.0]), np.full(5, 0.2)  # alpha is .8
    return float(p.plan(*pair, 4, 0.2)["speedup"])


# What the reference gives, and each listed idea.
BY_PROGRAM: dict[Name, Callable[[Program], Any]] = {
    ("online-softmax", 2, 1): merged,
    ("softmax-cross-entropy", 1, 2): lambda p: p.softmax_jacobian(np.array([0.75, 0.25])),
    ("adam-7b-memory", 3, 2): bytes_of_a_layer,
    ("int8-linear", 2, 1): summed_exactly,
    ("int8-linear", 3, 2): xh_moves,
    ("paged-kv-cache", 1, 1): blocks_of_four_samples,
    ("speculative-decoding", 1, 1): replaced,
    ("speculative-decoding", 3, 1): faster,
    ("top-p-sampling", 1, 1): tokens_left,
    ("conv1d-per-step", 2, 1): sent_back,
    ("sampled-gradient", 2, 2): slope_by_log_std,
    ("adamw", 1, 2): first_step,
    ("batch-norm", 1, 1): running_mean,
    ("adapter-preference", 1, 2): pull_of_a_learned_pair,
    ("moe-router", 1, 2): weight_of_the_best,
    ("grpo-step", 1, 2): slope_of_a_token,
    ("grpo-step", 2, 1): only_success,
    ("grpo-step", 3, 1): short_over_long,
}


def typed(value: Any, unit: str = "") -> str:
    """A number or an array as a person would type it."""
    rows = np.atleast_2d(value)
    return "; ".join(" ".join(f"{x:.17g}{unit}" for x in row) for row in rows)


def unit_of(one: FollowUp) -> str:
    """The base unit of a number, B or none."""
    return " B" if one.number.endswith("B") else ""


def test_every_number_and_array_is_computed_somewhere() -> None:
    wanted = {name for name, one in every_follow_up().items() if one.kind in {"number", "array"}}
    assert wanted == BY_HAND.keys() | BY_PROGRAM.keys() | BESIDE.keys()


@pytest.mark.parametrize(
    "name", [content(name[0], name, id=str(name)) for name in (*BY_HAND, *BESIDE)]
)
def test_what_follows_from_the_numbers_is_right(name: Name) -> None:
    value = BESIDE[name] if name in BESIDE else BY_HAND[name]()
    one = follow_up_named(name)
    assert follow_up.judge_answer(one, typed(value, unit_of(one))) == (True, "")


@pytest.mark.parametrize("name", [content(name[0], name, id=str(name)) for name in BY_PROGRAM])
def test_the_reference_is_right_and_an_idea_gives_what_is_listed_for_it(
    name: Name, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, of = follow_up_named(name), BY_PROGRAM[name]
    folder = ROOT / "drills" / name[0]
    monkeypatch.syspath_prepend(str(folder))
    right = of(load(folder / "reference.py"))
    assert follow_up.judge_answer(one, typed(right, unit_of(one))) == (True, "")
    for idea in one.ideas.values():
        wrong = of(variants(str(folder / "test_it.py"))(idea))
        assert follow_up.judge_answer(one, typed(wrong, unit_of(one))) == (False, idea)


def test_most_are_graded_and_the_others_have_key_points() -> None:
    graded = [one for one in every_follow_up().values() if one.kind != "points"]
    assert len(graded) >= len(every_follow_up()) / 2
    for name, one in every_follow_up().items():
        assert (one.kind != "points") or len(one.points) in {2, 3, 4}, name
        assert len(set(one.choice)) == len(one.choice), name
    places = [one.right for one in graded if one.choice]
    assert max(places.count(n) for n in range(1, 5)) < len(places) / 3  # no place is a good guess


def test_an_idea_that_an_answer_shows_is_not_of_a_later_part() -> None:
    for (name, part, number), one in every_follow_up().items():
        found = loaded(name)
        for idea in one.ideas.values():
            assert found.spec.part_of(found.ideas[idea].killed_by[0]) <= part, (name, part, number)


def test_a_follow_up_and_what_is_said_of_an_answer_fit_a_screen() -> None:
    for name, one in every_follow_up().items():
        asked = render_terminal([*follow_up_blocks(one, "10 of 12, part 3:")], 80)
        assert len(asked) + 2 <= ROWS, name
        for idea in [*one.ideas.values(), ""]:
            said = loaded(name[0]).ideas[idea].feedback_for() if idea else ""
            blocks = [*answer_blocks(one, "fail", idea, said), BlankLine()]
            assert len(render_terminal(blocks, 80)) <= ROWS, (name, idea)


@each_question()
def test_a_question_says_what_it_teaches(name: str) -> None:
    teaches = loaded(name).spec.teaches
    assert teaches
    assert all(line.endswith(".") for line in teaches)
