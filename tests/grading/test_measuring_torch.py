"""Activations count wherever they are kept, on the CPU too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.bank import load_question
from grader.cases.recipe import read_cases
from grader.grading.evaluation import Evaluation
from grader.model.report import CheckResult, Verdict
from grader.sandbox.client import WorkerClient
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.spawn import Zygote
from tests.grading.kinds.grading import MINI, run_check
from tests.harness import Lend

pytest.importorskip("torch")

# Right in every result, and it keeps the product of x and w, which a backward can do again.
KEEPS = """
import itertools
import numpy as np
import torch
{before}
count = itertools.count()

class Squares(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        h = x @ w
        ctx.key = key = next(count)
        ctx.like = h.shape
        {stash}
        return h * h

    @staticmethod
    def backward(ctx, grad_y):
        x, w = ctx.saved_tensors
        key = ctx.key
        g = torch.as_tensor(np.asarray({fetch}), dtype=x.dtype).reshape(ctx.like) * grad_y * 2
        need_x, need_w = ctx.needs_input_grad
        return g @ w.t() if need_x else None, x.t() @ g if need_w else None

def squares(x, w):
    return Squares.apply(x, w)
"""
PLACES = {
    "an attribute of ctx": ("", "ctx.h = h", "ctx.h.double()"),
    "a global by id(ctx)": ("kept = {}", "kept[id(ctx)] = h", "kept[id(ctx)].double()"),
    "torch's own module": (
        "",
        "setattr(torch, f'k{key}', h)",
        "getattr(torch, f'k{key}').double()",
    ),
}  # fmt: skip
ROWS = {"about": "8,192 rows", "dtype": "float32", "x": {"normal": [8192, 64]},
        "w": {"normal": [64, 400]}, "grad_y": {"normal": "like y"}}  # fmt: skip
SOME = {**ROWS, "about": "256 rows", "x": {"normal": [256, 64]}}


@pytest.fixture(scope="module")
def zygote(lend: Lend) -> Zygote:
    lent = lend(torch=True)
    if lent is None:
        pytest.skip("no worker can be forked safely on this system")
    return lent


@pytest.fixture(scope="module")
def ours(zygote: Zygote) -> Iterator[WorkerClient]:
    with WorkerClient(torch=True, zygote=zygote) as worker:
        yield worker


@pytest.fixture
def theirs(zygote: Zygote) -> Iterator[WorkerClient]:
    with WorkerClient(torch=True, zygote=zygote) as worker:
        yield worker


def alive(ours: WorkerClient, theirs: WorkerClient, source: str) -> CheckResult:
    question = load_question([MINI], "squares-graph")
    reference = RemoteProgram(ours, "reference", [question.reference], question.support)
    submission = RemoteProgram(theirs, "submission", [source.encode()], question.support)
    reference.load(())
    submission.load(())
    evaluation = Evaluation(question, 1, submission, reference)
    evaluation.cases = read_cases({**question.spec.cases, "some": SOME, "rows": ROWS})[0]
    checks = {c.id: c for c in question.spec.checks}
    values = run_check(evaluation, checks["values"].model_copy(update={"cases": ["few", "rows"]}))
    assert values.verdict is Verdict.PASS, values.message
    return run_check(evaluation, checks["alive"].model_copy(update={"cases": ["few", "some"]}))


def test_the_reference_passes(ours: WorkerClient, theirs: WorkerClient) -> None:
    result = alive(ours, theirs, load_question([MINI], "squares-graph").reference.decode())
    assert (result.verdict, result.message) == (
        "pass",
        "0 bytes alive after forward, 64 bytes allowed",
    )


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_activations_kept_elsewhere_count(
    ours: WorkerClient, theirs: WorkerClient, place: tuple[str, str, str]
) -> None:
    before, stash, fetch = place
    result = alive(ours, theirs, KEEPS.format(before=before, stash=stash, fetch=fetch))
    assert result.verdict is Verdict.FAIL
    assert "alive after forward" in result.message
