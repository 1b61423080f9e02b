"""The clipped step against torch's clipper and optimizers in float64.

The figures that prompt, choices, hints, feedback and follow-ups quote are at the end.
"""

from __future__ import annotations

import copy
import importlib
import math
import statistics
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from tests.harness import Array, Program, assert_close, each, leaves, normal, variants

variant = variants(__file__)
SHAPES = [(3,), (2, 4), (), (2, 1, 3)]

# torch adds 1e-6 to a norm before it divides by it; the norms here are above 0.3.
CLOSE = 5e-6

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(scope="module")
def helpers() -> tuple[Any, Any]:
    return importlib.import_module("optim"), importlib.import_module("task")


def drawn(seed: int, scale: float = 1.0) -> list[Array]:
    return [np.asarray(scale * array) for array in normal(seed, *SHAPES)]


def clipped_by_torch(grads: list[Array], max_norm: float) -> tuple[list[Array], float]:
    weights = [torch.nn.Parameter(torch.zeros(g.shape, dtype=torch.float64)) for g in grads]
    for w, g in zip(weights, grads, strict=True):
        w.grad = torch.tensor(g, dtype=torch.float64)
    norm = torch.nn.utils.clip_grad_norm_(weights, max_norm)
    return [w.grad.numpy() for w in weights if w.grad is not None], float(norm)


@each(
    ("seed", "scale", "max_norm"), [(0, 3.0, 1.0), (1, 1.0, 0.5), (2, 0.1, 5.0), (3, 1.0, math.inf)]
)
def test_every_right_solution_clips_as_torch_does(
    program: Program, seed: int, scale: float, max_norm: float
) -> None:
    grads = drawn(seed, scale)
    expected, norm = clipped_by_torch(grads, max_norm)
    assert program.clip(grads, max_norm) == pytest.approx(norm, rel=1e-12)
    assert_close(grads, expected, CLOSE, least=1)


def test_every_right_solution_leaves_zeros_and_writes_through_views(program: Program) -> None:
    zeros = [np.zeros(3), np.zeros(())]
    assert program.clip(zeros, 1.0) == 0
    assert all(not g.any() for g in zeros)
    wide = np.arange(12.0).reshape(3, 4)
    program.clip([wide[:, ::2]], 1.0)
    assert np.linalg.norm(wide[:, ::2]) == pytest.approx(1, abs=CLOSE)
    assert np.array_equal(wide[:, 1::2], np.arange(12.0).reshape(3, 4)[:, 1::2])


def by_torch(
    optimizer: str,
    settings: dict[str, float],
    batches: list[tuple[float, list[Array]]],
    limit: float,
) -> tuple[list[list[Array]], list[bool], list[float]]:
    """Weights after each step of torch's optimizer, what was skipped, and the norms before."""
    weights = [torch.nn.Parameter(torch.tensor(p)) for p in drawn(100)]
    opt = getattr(torch.optim, optimizer)(weights, **settings)
    after, skipped, norms = [], [], []
    for loss, grads in batches:
        for w, g in zip(weights, grads, strict=True):
            w.grad = torch.tensor(g)
        bad = not math.isfinite(loss) or any(not np.isfinite(g).all() for g in grads)
        if not bad:
            norms.append(float(torch.nn.utils.clip_grad_norm_(weights, limit)))
            opt.step()
        skipped.append(bad)
        after.append([w.detach().numpy().copy() for w in weights])
    return after, skipped, norms


def spoiled(value: float, entry: tuple[int, ...], seed: int) -> list[Array]:
    grads = drawn(seed)
    grads[1][entry] = value
    return grads


BATCHES: list[tuple[float, list[Array]]] = [
    (1.0, drawn(10, 100.0)),
    (math.nan, [np.full(shape, math.nan) for shape in SHAPES]),
    (0.5, drawn(11, 0.1)),
    (0.5, spoiled(math.inf, (0, 2), 12)),
    (-math.inf, drawn(13)),
    (0.75, drawn(14, 1e6)),
    (0.5, spoiled(-math.inf, (1, 0), 15)),
    (0.25, drawn(16)),
]


@each(
    ("optimizer", "settings"),
    [("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {"lr": 0.05})],
)
def test_every_right_solution_steps_as_torch_does(
    program: Program, helpers: tuple[Any, Any], optimizer: str, settings: dict[str, float]
) -> None:
    params = drawn(100)
    opt = getattr(helpers[0], optimizer)(params, **settings)
    after, logs = [], []
    for batch in copy.deepcopy(BATCHES):
        logs.append(program.train_step(params, batch, lambda _, given: given, opt, 2.0))
        after.append([p.copy() for p in params])
    expected, skipped, norms = by_torch(optimizer, settings, BATCHES, 2.0)
    assert [bool(log["skipped"]) for log in logs] == skipped
    good = [log for log in logs if not log["skipped"]]
    assert [float(log["grad_norm"]) for log in good] == pytest.approx(norms)
    assert [float(log["loss"]) for log in good] == [1.0, 0.5, 0.75, 0.25]
    assert_close(after, expected, CLOSE, least=1)


def spikes(norms: list[float], window: int, factor: float) -> list[int]:
    """The definition with Python's own median."""
    found = []
    for i, norm in enumerate(norms):
        near = [n for n in norms[max(0, i - window) : i] if not (math.isnan(n) or math.isinf(n))]
        finite = not (math.isnan(norm) or math.isinf(norm))
        if not finite or (near and norm / statistics.median(near) > factor):
            found.append(i)
    return found


def test_every_right_solution_finds_the_spikes(program: Program) -> None:
    rng = np.random.default_rng(20)
    for window, factor in ((1, 3.0), (2, 4.0), (5, 10.0), (40, 2.5), (300, 3.0)):
        norms = np.exp(rng.standard_normal(120)) * np.repeat([1, 30], 60)
        norms[rng.random(120) < 0.1] *= 50
        norms[rng.random(120) < 0.1] = math.nan
        norms[rng.random(120) < 0.05] = math.inf
        given = norms.tolist()
        assert list(program.find_spikes(given, window, factor)) == spikes(given, window, factor)
    assert list(program.find_spikes([])) == []
    late = [1.0] * 150 + [99.0, 101.0, 1.0]
    assert list(program.find_spikes(late)) == [151]


# The run, and its figures


Train = Callable[..., tuple[Array, Array]]


@pytest.fixture(scope="module")
def train(helpers: tuple[Any, Any]) -> Train:
    optim, task = helpers

    def run(
        program: Program, optimizer: str, fault: str | None, limit: float, steps: int
    ) -> tuple[Array, Array]:
        params = task.start()
        opt = optim.SGD(params, 0.1) if optimizer == "SGD" else optim.Adam(params, 0.01)
        losses, logs = task.run(program.train_step, params, opt, fault, limit, steps)
        return np.array(losses), np.array([log["grad_norm"] for log in logs])

    return run


def test_the_gradients_of_the_run_are_those_of_torch(helpers: tuple[Any, Any]) -> None:
    _, task = helpers
    params, (x, y) = task.start(), next(task.batches(1, None))
    w1, b1, w2, b2 = given = leaves(*params)
    loss = ((torch.tanh(torch.tensor(x) @ w1 + b1) @ w2 + b2 - torch.tensor(y)) ** 2).mean()
    value, grads = task.loss_and_grads(params, (x, y))
    assert value == pytest.approx(loss.item())
    wanted = [g.numpy() for g in torch.autograd.grad(loss, given)]
    assert_close(grads, wanted, 1e-13, least=1)


def test_the_starter_passes_its_test_and_its_run_does_not_survive(
    starter: Program, train: Train
) -> None:
    grad = np.array([3.0, 4.0])
    assert starter.clip([grad], 1.0) == pytest.approx(5)
    assert grad == pytest.approx([0.6, 0.8])
    losses, norms = train(starter, "SGD", "targets", 1.0, 400)
    assert losses[301] == pytest.approx(1.6e6, rel=0.02)
    assert losses[399] == pytest.approx(30, abs=5)  # how a CPU rounds decides which
    assert norms[300] == pytest.approx(13000, rel=0.01)
    without, _ = train(starter, "SGD", None, 1.0, 400)
    assert without[399] == pytest.approx(0.08, abs=0.001)
    assert not np.isfinite(train(starter, "SGD", "pixel", 1.0, 400)[0][-1])


@each("fault", ["targets", "pixel"])
def test_the_clipped_run_survives(reference: Program, train: Train, fault: str) -> None:
    losses, norms = train(reference, "SGD", fault, 1.0, 400)
    assert losses[350:].mean() < 0.1
    assert np.median(norms[200:300]) == pytest.approx(0.52, abs=0.005)
    assert int(np.sum(norms[200:300] > 1)) == 8


def test_adam_without_clipping_is_late_and_stays_high(reference: Program, train: Train) -> None:
    losses, _ = train(reference, "Adam", "targets", math.inf, 600)
    assert losses[[301, 310, 599]] == pytest.approx([0.076, 2.2, 1.6], rel=0.02)
    assert train(reference, "Adam", None, math.inf, 600)[0][599] == pytest.approx(0.04, abs=0.002)
    clipped, _ = train(reference, "Adam", "targets", 1.0, 600)
    assert clipped[[301, 599]] == pytest.approx([0.064, 0.041], abs=0.001)


def adam(helpers: tuple[Any, Any], change: Callable[[Any, Any, int], None]) -> tuple[Array, Array]:
    """Losses and lengths of steps of the Adam run without clipping; `change` sees each step."""
    optim, task = helpers
    params = task.start()
    opt, losses, lengths = optim.Adam(params, 0.01), [], []
    before = copy.deepcopy(vars(opt))
    for i, batch in enumerate(task.batches(600, "targets")):
        if i == task.BAD:
            before = copy.deepcopy(vars(opt))
        loss, grads = task.loss_and_grads(params, batch)
        old = [p.copy() for p in params]
        opt.step(params, grads)
        moved = np.concatenate([(p - q).ravel() for p, q in zip(params, old, strict=True)])
        losses.append(loss)
        lengths.append(float(np.linalg.norm(moved)))
        change(opt, before, i)
    return np.array(losses), np.array(lengths)


def put_back(names: str, at: int) -> Callable[[Any, Any, int], None]:
    def change(opt: Any, before: Any, step: int) -> None:
        if step == at:
            vars(opt).update({name: copy.deepcopy(before[name]) for name in names})

    return change


def test_the_first_moment_drives_the_climb_and_the_second_holds_it(
    helpers: tuple[Any, Any],
) -> None:
    whole, lengths = adam(helpers, put_back("", 0))
    # Without what is left in the first moment there is no climb, though steps are short at once.
    losses, short = adam(helpers, put_back("m", 300))
    assert losses[301:350].max() < 0.35 < 2 < whole[301:350].max()
    assert short[301:600].max() < 0.3 * lengths[200:300].min()
    # With a second moment that had not seen the batch the step after it would be enormous.
    assert adam(helpers, put_back("v", 300))[0][302] > 1000
    # And with the one of before the batch the run comes down.
    assert adam(helpers, put_back("v", 350))[0][599] == pytest.approx(0.08, abs=0.001)


def test_a_new_adam_saves_the_run(helpers: tuple[Any, Any]) -> None:
    def begin_anew(opt: Any, before: Any, step: int) -> None:
        if step == 350:
            opt.m, opt.v = ([np.zeros_like(a) for a in kind] for kind in (opt.m, opt.v))
            opt.t = 0

    assert adam(helpers, begin_anew)[0][599] == pytest.approx(0.05, abs=0.005)


def test_what_moves_the_weights_after_the_batch_is_its_gradient(helpers: tuple[Any, Any]) -> None:
    moments: list[Array] = []

    def look(opt: Any, before: Any, step: int) -> None:
        moment = np.concatenate([m.ravel() for m in opt.m])
        moments.append(moment / np.linalg.norm(moment))

    adam(helpers, look)
    assert min(moments[300] @ moments[step] for step in (301, 310, 320, 330, 340)) > 0.97


def test_a_lone_gradient_moves_a_weight_by_16_rates(helpers: tuple[Any, Any]) -> None:
    weight = [np.zeros(1)]
    opt = helpers[0].Adam(weight, lr=1.0)
    opt.t, moved = 300, []
    for step in range(400):
        opt.step(weight, [np.full(1, 0.0 if step else 1e4)])
        moved.append(-float(weight[0][0]))
    assert moved[0] == pytest.approx(1.6, abs=0.02)
    assert moved[-1] == pytest.approx(16.4, abs=0.05)
    left = [beta**299 for beta in (0.9, 0.999)]
    assert left == pytest.approx([2e-14, 0.74], rel=0.05)


# What feedback says


@each(
    ("name", "max_norm", "norm", "cosine", "length"),
    [
        ("norm-per-array", 1.0, None, 0.92, 1.41),
        ("clips-values", 1.0, None, 0.84, 1.73),
        ("always-scales", 20.0, 13, 1, 20),
        ("sum-of-norms", 1.0, 17, 1, None),
        ("one-array-decides / first", 1.0, 5, 1, None),
        ("largest-norm", 1.0, 12, 1, None),
        ("root-forgotten", 1.0, 169, 1, None),
        ("root-mean-square", 1.0, 5.81, 1, None),
    ],
)
def test_norms_directions_and_lengths_are_what_feedback_says(
    name: str, max_norm: float, norm: float | None, cosine: float, length: float | None
) -> None:
    before = np.array([3.0, 4.0, 0.0, 12.0])
    grads = [before[:2].copy(), before[2:].copy(), np.zeros(())]
    found = variant(name).clip(grads, max_norm)
    after = np.concatenate(grads[:2])
    size = float(np.linalg.norm(after))
    assert norm is None or found == pytest.approx(norm, abs=0.005)
    assert float(after @ before) / size / 13 == pytest.approx(cosine, abs=0.006)
    assert length is None or size == pytest.approx(length, abs=0.006)


def test_squares_of_float32_end_where_the_follow_up_says() -> None:
    assert np.isinf(np.sum(np.square(np.full(2, 1e20, np.float32))))
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.full((2,), 1e20)
    assert torch.nn.utils.clip_grad_norm_([weight], 1.0).isinf()
    assert math.sqrt(np.finfo(np.float32).max) == pytest.approx(1.8e19, rel=0.03)
    assert float(np.finfo(np.float32).max) == pytest.approx(3.4e38, rel=0.01)


def test_torch_goes_on_with_what_is_not_finite() -> None:
    grads, norm = clipped_by_torch([np.array([1.0, math.nan]), np.array([2.0])], 1.0)
    assert math.isnan(norm)
    assert all(np.isnan(g).all() for g in grads)
    grads, norm = clipped_by_torch([np.array([1.0, math.inf]), np.array([2.0])], 1.0)
    assert math.isinf(norm)
    assert [grads[0][0], grads[1][0]] == [0, 0]
    assert math.isnan(grads[0][1])
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.full((1,), math.nan)
    with pytest.raises(RuntimeError, match="non-finite"):
        torch.nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)


def test_what_underflows_is_zero_and_not_nan() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small = torch.tensor([1e-30]) * 1e-30
    assert small.item() == 0
    root = torch.zeros(1, requires_grad=True)
    value = root.sqrt().sum()
    value.backward()  # type: ignore[no-untyped-call]
    assert value.item() == 0
    assert root.grad is not None
    assert root.grad.item() == math.inf


def test_the_detector_has_the_figures_of_feedback(reference: Program) -> None:
    assert np.mean([2, 1, 40, 1, 2]) == pytest.approx(9.2)
    assert 10 * np.median([1, 40]) == 205
    rises = [0.001] * 60 + [1.0] * 160
    assert len(reference.find_spikes(rises)) == 50
    assert len(variant("whole-history").find_spikes(rises)) == 60
