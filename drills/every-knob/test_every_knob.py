"""every-knob: its step against torch's autograd, what each fault breaks, and the figures it quotes.

torch computes in float64; nothing of the drill's algorithm is repeated.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from grader.explain.session import GradingSession
from grader.reports.blocks import render_text
from grader.reports.grade import GradeContext, grade_page
from tests.harness import Program, assert_close, each, load_text, question_of

STARTER = Path(__file__).with_name("starter.py").read_text()
CLOSE = 1e-12  # differences of 3e-16 were the largest seen
BAR = 0.795
REPAIRS = {  # of the starter, by cause
    "labels": (
        "    x, y = rng.permutation(x), rng.permutation(y)\n",
        "    order = rng.permutation(len(x))\n    x, y = x[order], y[order]\n",
    ),
    "pieces": (
        "    for x, y in pieces:\n"
        "        grads = {name: np.zeros_like(p) for name, p in params.items()}\n",
        "    grads = {name: np.zeros_like(p) for name, p in params.items()}\n"
        "    for x, y in pieces:\n",
    ),
    "evaluation": (
        "    logits, _, _ = forward(params, x, rng)\n",
        '    hidden = np.maximum(x @ params["w1"] + params["b1"], 0)\n'
        '    logits = hidden @ params["w2"] + params["b2"]\n',
    ),
}
BREAKS = {"labels": "pairs", "pieces": "update", "evaluation": "evaluation"}


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The run's own module, as nobody has changed it."""
    monkeypatch.delitem(sys.modules, "task", raising=False)
    return importlib.import_module("task")


def with_faults(faults: Collection[str], *changes: tuple[str, str]) -> Program:
    """Return the starter with all but some faults repaired, and changed otherwise."""
    text = STARTER
    repairs = [repair for cause, repair in REPAIRS.items() if cause not in faults]
    for was, becomes in (*repairs, *changes):
        assert was in text
        text = text.replace(was, becomes)
    return load_text(text)


def ends(program: Any, seeds: int) -> list[dict[str, Any]]:
    with contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        return [program.train(seed) for seed in range(seeds)]


def mean_accuracy(program: Any, seeds: int) -> float:
    return float(np.mean([history["accuracy"][-1] for history in ends(program, seeds)]))


# -- the step ---------------------------------------------------------------------------------


def by_torch(params: dict[str, Any], x: Any, y: Any, mask: Any, lr: float) -> tuple[Any, float]:
    """One step of torch's SGD on the mean cross-entropy of all rows."""
    tensors = {name: torch.tensor(p, requires_grad=True) for name, p in params.items()}
    hidden = torch.relu(torch.tensor(x) @ tensors["w1"] + tensors["b1"]) * torch.tensor(mask)
    logits = hidden @ tensors["w2"] + tensors["b2"]
    loss = torch.nn.functional.cross_entropy(logits, torch.tensor(y))
    loss.backward()  # type: ignore[no-untyped-call]
    torch.optim.SGD(tensors.values(), lr=lr).step()
    return {name: t.detach().numpy() for name, t in tensors.items()}, loss.item()


def rows_of(seed: int, rows: int) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    params = {"w1": (5, 7), "b1": (7,), "w2": (7, 4), "b2": (4,)}
    drawn = {name: rng.standard_normal(shape) for name, shape in params.items()}
    return rng.standard_normal((rows, 5)), rng.integers(0, 4, rows), drawn


@each("cuts", [(9,), (4, 4, 1), (2, 7)])
def test_a_step_is_that_of_torch_however_the_batch_is_cut(
    program: Program, cuts: tuple[int, ...]
) -> None:
    agrees(program, cuts, 0.0)


def test_with_dropout_too_it_is_that_of_torch(reference: Program) -> None:
    agrees(reference, (5, 3), 0.4)


def agrees(program: Program, cuts: tuple[int, ...], drop: float) -> None:
    x, y, params = rows_of(len(cuts), sum(cuts))
    pieces = [(x[a:b], y[a:b]) for a, b in pairwise(np.cumsum((0, *cuts)))]
    new, loss = program.step(params, pieces, np.random.default_rng(5), drop=drop, lr=0.3)
    again = np.random.default_rng(5)
    kept = np.concatenate([again.random((rows, 7)) for rows in cuts]) >= drop
    wanted, its_loss = by_torch(params, x, y, kept / (1 - drop), 0.3)
    assert_close((loss, *new.values()), (its_loss, *(wanted[n] for n in new)), CLOSE, least=1)


# -- the faults -------------------------------------------------------------------------------


def broken(program: Any, reference: Any, driver: Any, seed: int) -> set[str]:
    """The properties that a program breaks, by what the checks look at."""
    x, y, _ = rows_of(seed, 64)
    seeds = np.array([seed, seed + 100, seed + 200])
    cuts = np.array([20, 20, 20, 4])
    found = set()
    with np.errstate(all="ignore"):
        passes = [driver.one_pass(p, 150, seeds) for p in (program, reference)]
        mine, right = (driver.pairs(*one[:3], 150) for one in passes)
        if any(np.any(a != b) for a, b in zip(mine[:2], right[:2], strict=True)):
            found.add("pairs")
        if (mine[2], passes[0][3]) != (right[2], passes[1][3]):
            found.add("kept")
        stepped = [driver.one_step(p, x, y, cuts, 6) for p in (program, reference)]
        if not all(np.allclose(a, b, rtol=1e-9) for a, b in zip(*stepped, strict=True)):
            found.add("update")
        if not driver.one_batch(driver.fitted(program, seeds), seeds)[-1] < 1.25:
            found.add("rate")
        if driver.twice(program, x, y, seeds) != driver.twice(reference, x, y, seeds):
            found.add("evaluation")
        dropped = [driver.dropped(p, 300, 0.6, 2.0, seeds) for p in (program, reference)]
        noise = [driver.noise(*one, 2.0) for one in dropped]
        if noise[0][3:] != noise[1][3:] or abs(noise[0][0] - noise[1][0]) > 0.05:
            found.add("noise")
    return found


@each("cause", BREAKS)
def test_each_fault_alone_breaks_its_own_property_and_no_other(
    cause: str, reference: Any, driver: Any
) -> None:
    program = with_faults({cause})
    assert all(broken(program, reference, driver, n) == {BREAKS[cause]} for n in range(20))


def test_the_right_script_breaks_none_and_the_starter_three(reference: Any, driver: Any) -> None:
    assert all(not broken(with_faults(()), reference, driver, n) for n in range(20))
    assert broken(with_faults(BREAKS), reference, driver, 0) == set(BREAKS.values())


def test_faults_end_below_the_bar_and_the_right_script_above() -> None:
    right = [h["accuracy"][-1] for h in ends(with_faults(()), 20)]
    assert np.mean(right) - 3 * np.std(right) > BAR
    worst = [h["accuracy"][-1] for h in ends(with_faults({"evaluation"}), 20)]  # of all 7
    assert np.mean(worst) + 3 * np.std(worst) < BAR
    assert 0.835 < np.mean(right) < 0.855  # a follow-up says 0.84
    assert 0.735 < np.mean(worst) < 0.745


def test_while_labels_are_wrong_no_other_repair_shows() -> None:
    others = [("pieces", "evaluation"), ("pieces",), ("evaluation",), ()]
    ends = [mean_accuracy(with_faults({"labels", *left}), 20) for left in others]
    assert ends == pytest.approx([0.25] * 4, abs=0.02)


# -- what the question says -------------------------------------------------------------------


@each(
    "change",
    [
        ("EPOCHS = 8", "EPOCHS = 8\ntask.HIDDEN = 32"),
        ("EPOCHS = 8", "EPOCHS = 8\ntask.TRAINED = 1280"),
        ("RATE, DROP = 0.15", "RATE, DROP = 0.015"),
        ("RATE, DROP = 0.15", "RATE, DROP = 1.5"),
        (
            "params = task.start(rng)",
            "params = {n: p / 10 for n, p in task.start(rng).items()}",
        ),
        (
            "params = task.start(rng)",
            "params = task.start(rng); x = (x - x.mean(axis=0)) / x.std(axis=0)",
        ),
    ],
)
def test_no_knob_helps_and_the_loss_stays_above_that_of_guessing(
    change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "task", raising=False)  # it is changed
    for history in ends(with_faults(BREAKS, change), 3):
        assert history["accuracy"][-1] < 0.36
        assert history["loss"][-1] > 0.99 * np.log(4)


def test_what_clears_the_innocent_is_so(task: Any, reference: Any) -> None:
    for seed in range(20):
        x, y, x_held, _ = task.rows(seed)
        assert not set(x[:, 0]) & set(x_held[:, 0])
        rng = np.random.default_rng(seed)
        params = task.start(rng)
        assert 1.5 < reference.step(params, [(x[:64], y[:64])], rng)[1] < 3
        for _ in range(5):
            params, _ = reference.step(params, [(x[:64], y[:64])], rng, drop=0.0)
        assert reference.step(params, [(x[:64], y[:64])], rng, drop=0.0)[1] < 1


def test_wrong_labels_are_learned_by_heart(task: Any, reference: Any) -> None:
    rng = np.random.default_rng(0)
    x, y, *_ = task.rows(0)
    params, labels = task.start(rng), rng.permutation(y)[:64]
    for _ in range(400):
        params, _ = reference.step(params, [(x[:64], labels)], rng, drop=0.0)
    assert reference.evaluate(params, x[:64], labels, rng) == 1


def test_the_causes_are_the_repairs() -> None:
    spec = question_of(__file__).spec
    (causes,) = (check for check in spec.checks if check.kind == "causes")
    assert set(causes.exactly) == set(REPAIRS)  # type: ignore[attr-defined]
    assert len(spec.parts[0].prompt.split()) <= 90


def test_the_page_of_the_untouched_starter_names_a_symptom_and_no_property(
    session: GradingSession,
) -> None:
    report = replace(session.grade(STARTER.encode(), seed=1), unchanged=True)
    said, whole = (render_text(grade_page(report, GradeContext(explain=e))) for e in (False, True))
    assert "trains:" in said
    for check in ("pairs", "update", "evaluation"):
        assert check not in said
        assert check in whole
