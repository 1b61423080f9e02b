"""The pipeline against plain enumerations, and the model against torch's autograd.

The figures that prompt, log, innocence and follow-ups quote are at the end.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import json
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, each, question_of, variants

variant = variants(__file__)
SPEC = question_of(__file__).spec


@pytest.fixture(scope="module")
def task() -> Any:
    return importlib.import_module("task")


def numbered(sizes: tuple[int, ...]) -> list[list[Array]]:
    return [[np.array([s, d]) for d in range(size)] for s, size in enumerate(sizes)]


def read(reader: Any, count: int) -> list[tuple[int, int]]:
    return [(int(s), int(d)) for s, d in (reader.next() for _ in range(count))]


def test_an_order_is_a_permutation_of_its_own(program: Program) -> None:
    found = {
        (seed, epoch): tuple(int(k) for k in program.order(20, epoch, seed))
        for seed in range(3) for epoch in range(6)
    }  # fmt: skip
    assert all(sorted(one) == list(range(20)) for one in found.values())
    assert len(set(found.values())) == 18
    assert tuple(int(k) for k in program.order(20, 3, 1)) == found[1, 3]


def test_no_two_generators_draw_the_same(program: Program) -> None:
    args = list(itertools.product(range(2), range(4), range(5), (0, 3, 69)))
    first = {tuple(program.worker_rng(*one).random(5)) for one in args}
    assert len(first) == len(args)
    again = program.worker_rng(1, 2, 3, 69).random(5)
    assert np.array_equal(again, program.worker_rng(1, 2, 3, 69).random(5))
    for seed, epoch in itertools.product(range(3), range(3)):
        shuffled = np.random.default_rng([seed, epoch]).random(5)
        assert tuple(shuffled) not in first  # nor what orders are drawn from


@each("length", [7, 10, 31])
def test_rows_hold_whole_documents_and_tokens_see_their_own(program: Program, length: int) -> None:
    rng = np.random.default_rng(length)
    documents = [rng.integers(0, 16, rng.integers(1, 8)) for _ in range(25)]
    tokens, segments = (np.asarray(of) for of in program.pack(documents, length))
    mask = np.asarray(program.visible(segments))
    left = list(documents)
    for r in range(len(tokens)):
        count = int(segments[r].max()) + 1
        for s in range(count):
            assert tokens[r][segments[r] == s].tolist() == left.pop(0).tolist()
        real = int((segments[r] >= 0).sum())
        assert not left or real + len(left[0]) > length
        for i, j in itertools.product(range(real), range(length)):
            assert mask[r, i, j] == (j <= i and segments[r, i] == segments[r, j])
    assert not left


@each("sizes", [(3, 4, 2), (1, 1, 1), (5,)])
def test_a_restart_anywhere_changes_nothing(program: Program, sizes: tuple[int, ...]) -> None:
    shards, total = numbered(sizes), sum(sizes)
    straight = read(program.Reader(shards, 3), 2 * total)
    wanted = [
        (int(s), d) for epoch in range(2) for s in program.order(len(sizes), epoch, 3)
        for d in range(sizes[int(s)])
    ]  # fmt: skip
    assert straight == wanted
    for stop in range(2 * total + 1):
        reader = program.Reader(shards, 3)
        before = read(reader, stop)
        state = json.loads(json.dumps(reader.state()))
        reader = program.Reader(shards, 3)
        reader.load(state)
        assert before + read(reader, 2 * total - stop) == straight


def test_the_model_has_the_gradients_of_torch(reference: Program, task: Any) -> None:
    rng = np.random.default_rng(0)
    documents = [rng.integers(0, 16, n) for n in (5, 3, 7, 2, 6)]
    tokens, segments = reference.pack(documents, 12)
    mask = reference.visible(segments)
    weights = {name: rng.standard_normal((16, 16)) for name in ("word", "context")}
    loss, grads = task.loss_and_grads(weights, tokens, segments, mask)
    word, context = (torch.tensor(weights[n], requires_grad=True) for n in ("word", "context"))
    losses = []
    for document in documents:
        for i in range(len(document) - 1):
            logits = word[document[i]] + context[document[: i + 1]].mean(0)
            losses.append(-torch.log_softmax(logits, 0)[document[i + 1]])
    mean = torch.stack(losses).mean()
    assert loss == pytest.approx(mean.item())
    for name, wanted in zip(grads, torch.autograd.grad(mean, [word, context]), strict=True):
        assert np.allclose(grads[name], wanted.numpy())


# What the text says.


def ends(program: Program, seeds: range) -> tuple[float, float, float]:
    """The mean loss of the last three epochs, that held out, and rises for each run."""
    with contextlib.redirect_stdout(io.StringIO()):
        runs = [program.train(seed) for seed in seeds]
    train = np.array([run["train"] for run in runs])
    held = np.array([run["held"] for run in runs])
    return train[:, -3:].mean(), held[:, -3:].mean(), (np.diff(train) > 0).sum() / len(runs)


def test_the_starter_prints_the_log_and_rises_once(starter: Program) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        history = starter.train(0)
    assert out.getvalue().strip() == SPEC.log.strip()
    rises = np.flatnonzero(np.diff(history["train"]) > 0) + 1
    assert rises.tolist() == [7]  # from the seventh epoch, counted from 1, to the eighth


def test_before_the_run_ended_where_the_prompt_says(reference: Program, starter: Program) -> None:
    train, held, rises = ends(reference, range(12))
    assert train == pytest.approx(2.35, abs=0.02)
    assert rises / 11 == pytest.approx(1 / 3, abs=0.06)
    assert ends(starter, range(12))[1] > held  # which has not gained


def test_the_same_order_alone_does_not_show(reference: Program) -> None:
    right, _, _ = ends(reference, range(12))
    alone, _, _ = ends(variant("same-order-each-epoch"), range(12))
    assert alone == pytest.approx(right, abs=0.02)
    assert alone == pytest.approx(2.34, abs=0.02)
    together, _, rises = ends(variant("as-it-came"), range(12))
    assert together < 2.25
    assert rises < 2


def test_sums_of_seeds_collide_as_the_follow_up_says() -> None:
    assert len({epoch + worker for epoch in range(10) for worker in range(4)}) == 13


def test_the_innocent_are_cleared_as_is_said(reference: Program, task: Any) -> None:
    shards, held = task.documents()
    trained_on = {tuple(d.tolist()) for shard in shards for d in shard}
    assert not trained_on & {tuple(d.tolist()) for d in held}
    reader = reference.Reader(shards, 0)
    tokens, segments = reference.batches(reader, 128, 0, 0, 0)[0]
    mask = reference.visible(segments)
    echo = {"word": 20 * np.eye(16), "context": np.zeros((16, 16))}
    assert task.loss_and_grads(echo, tokens, segments, mask)[0] == pytest.approx(15.7, abs=0.05)
    weights, losses = task.start(), []
    for _ in range(20):
        loss, grads = task.loss_and_grads(weights, tokens, segments, mask)
        losses.append(loss)
        weights = {name: w - reference.RATE * grads[name] for name, w in weights.items()}
    assert [losses[0], losses[-1]] == pytest.approx([2.77, 1.62], abs=0.005)
    more = [
        np.concatenate([a, np.full((1, 32), fill)]) for a, fill in ((tokens, 0), (segments, -1))
    ]
    padded = task.loss_and_grads(weights, *more, reference.visible(more[1]))[0]
    assert padded == pytest.approx(task.loss_and_grads(weights, tokens, segments, mask)[0])


def test_the_log_shows_plain_means(starter: Program, task: Any) -> None:
    losses: list[float] = []
    right = task.loss_and_grads

    def watched(*args: Any) -> Any:
        found = right(*args)
        losses.append(found[0])
        return found

    task.loss_and_grads = watched
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            history = starter.train(0)
    finally:
        task.loss_and_grads = right
    shards, _ = task.documents()
    reader = starter.Reader(shards, 0)
    steps = len(list(starter.batches(reader, sum(map(len, shards)), 0, 0, 0)))
    assert history["train"][0] == pytest.approx(np.mean(losses[:steps]))
