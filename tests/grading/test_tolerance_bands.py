"""Right solutions in other styles are within the bands, and wrong ones are outside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.explain.session import GradingSession
from grader.grading.compare import ResultMismatch, compare_result
from grader.grading.tolerance_bands import ExpectedResult, input_scale, minimum_tolerance
from grader.model.report import Verdict
from tests.grading.kinds.one_file import graded, of, opened

pytestmark = pytest.mark.usefixtures("one_zygote")

ATTENTION = """\
run:
  main: ["grad_q = backward(q, k, v, grad_out)"]
  whole: ["out = forward(q, k, v)", "grad_q = backward(q, k, v, grad_out)"]
cases:
  one-token: {q: {normal: [1, 4]}, k: {normal: [1, 4]}, v: {normal: [1, 4]}, grad_out: {normal: [1, 4]}}
  one-loud-token: {q: {normal: [1, 4], scale: 30}, k: {normal: [1, 4], scale: 30}, v: {normal: [1, 4], scale: 30}, grad_out: {normal: [1, 4], scale: 30}}
  certain: {q: {normal: [3, 4], scale: 60}, k: {normal: [3, 4], scale: 60}, v: {normal: [3, 4]}, grad_out: {normal: [3, 4]}}
  faint: {q: {normal: [3, 4]}, k: {normal: [3, 4]}, v: {normal: [3, 4]}, grad_out: {normal: [3, 4], scale: 1.0e-12}}
  usual: {q: {normal: [3, 4]}, k: {normal: [3, 4]}, v: {normal: [3, 4]}, grad_out: {normal: [3, 4]}}
checks:
  - {id: grads, kind: outputs, of: grad_q}
  - {id: numeric, kind: gradcheck, loss: out, cotangent: grad_out, gradients: {q: grad_q}, run: whole, cases: [one-token, one-loud-token, usual]}
  - {id: sums, kind: conservation, sum: grad_q, over: [1], equals: 0, run: whole, cases: one-token}
"""  # noqa: E501
PLAIN = """
import numpy as np

def forward(q, k, v):
    s = q @ k.T / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v

def backward(q, k, v, grad_out):
    s = q @ k.T / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    dp = grad_out @ v.T
    ds = p * (dp - (p * dp).sum(-1, keepdims=True))
    return ds @ k / np.sqrt(q.shape[-1])
"""
FLASH = """
import numpy as np
from math import sqrt

def forward(q, k, v):
    s = q @ k.T / sqrt(q.shape[-1])
    lse = np.logaddexp.reduce(s, axis=-1, keepdims=True)
    return np.exp(s - lse) @ v

def backward(q, k, v, grad_out):
    s = q @ k.T / sqrt(q.shape[-1])
    p = np.exp(s - np.logaddexp.reduce(s, axis=-1, keepdims=True))
    delta = (grad_out * (p @ v)).sum(-1, keepdims=True)
    return (p * (np.stack([(grad_out * row).sum(-1) for row in v], -1) - delta)) @ k / sqrt(q.shape[-1])
"""  # noqa: E501
LONG = PLAIN.replace(
    "def backward(q, k, v, grad_out):\n",
    "def backward(*given):\n    q, k, v, grad_out = (a.astype(np.longdouble) for a in given)\n",
).replace(
    "return ds @ k / np.sqrt(q.shape[-1])", "return (ds @ k / np.sqrt(q.shape[-1])).astype('f8')"
)
UNSCALED = PLAIN.replace("return ds @ k / np.sqrt(q.shape[-1])", "return ds @ k")
SINGLE = LONG.replace("longdouble", "float32")


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with opened(tmp_path_factory.mktemp("attention"), ATTENTION, PLAIN) as session:
        yield session


@pytest.mark.parametrize("source", [PLAIN, FLASH, LONG], ids=["plain", "flash", "long"])
def test_right_ways_to_compute_numbers_that_cancel_pass_on_every_draw(
    attention: GradingSession, source: str
) -> None:
    for seed in range(12):
        report = graded(attention, source, seed)
        assert report.verdict is Verdict.PASS, [(c.message, c.mismatch) for c in report.checks]


@pytest.mark.parametrize("source", [UNSCALED, SINGLE], ids=["unscaled", "single"])
def test_wrong_programs_fail_where_small_results_matter(
    attention: GradingSession, source: str
) -> None:
    for seed in range(4):
        assert {"faint", "usual"} <= set(of(graded(attention, source, seed), "grads").failing)


def mismatch_of(
    got: Any, want: Any, *, scale_of_inputs: float = 0.0, moved: Any = None, **more: Any
) -> ResultMismatch | None:
    others = [want] if moved is None else [np.asarray(moved)]
    expected = ExpectedResult(
        want, want, lambda: others, input_scale=lambda: scale_of_inputs, **more
    )
    return compare_result("y", got, expected)


def test_a_small_entry_beside_a_large_one_is_judged_by_its_own_size() -> None:
    want = np.array([1e12, 1.0, 2.0])
    mismatch = mismatch_of(np.array([1e12, 77.0, -5.0]), want)
    assert mismatch is not None
    assert (mismatch.wrong, mismatch.index) == (2, (1,))
    rows = np.array([[1e12, -2e11], [1.0, 2.0]])
    mismatch = mismatch_of(rows * [[1.0], [2.0]], rows)
    assert mismatch is not None
    assert mismatch.wrong == 2


def test_an_entry_that_rounding_moves_may_be_off_by_as_much() -> None:
    want = np.array([1e12, 1.0])  # the second a difference of numbers of 1e6
    moved = want + np.array([1e-4, 2e-10])
    assert mismatch_of(want + np.array([0.0, 1e-9]), want, moved=moved) is None
    assert mismatch_of(want + np.array([0.0, 1.0]), want, moved=moved) is not None


def test_the_error_of_a_transform_follows_the_norm_of_its_input() -> None:
    rng = np.random.default_rng(0)
    for seed in range(50):
        x, h = rng.standard_normal(64) * np.logspace(0, 9, 64), rng.standard_normal(9)
        want = np.convolve(x, h)
        n = len(want)
        got = np.fft.irfft(np.fft.rfft(x, n) * np.fft.rfft(h, n), n)
        assert mismatch_of(got, want) is None, seed


def test_the_input_scale_gives_a_minimum_tolerance_below_every_idea() -> None:
    zero = np.zeros(3)
    assert mismatch_of(zero - 4.088e-16, zero) is not None
    assert mismatch_of(zero - 4.088e-16, zero, scale_of_inputs=2.0) is None
    assert mismatch_of(zero + 1e-6, zero, scale_of_inputs=2.0) is not None
    tiny = np.full(3, 1e-74)
    assert mismatch_of(tiny * 1.5, tiny, scale_of_inputs=2.0) is None
    assert mismatch_of(tiny * 1.5, tiny) is not None
    small = np.full(3, 1e-9)
    assert mismatch_of(small * 1.001, small, scale_of_inputs=2.0) is not None
    assert mismatch_of(2e-16, 0.0, scale_of_inputs=2.0) is None
    assert mismatch_of(1e-3, 0.0, scale_of_inputs=2.0) is not None


@pytest.mark.parametrize(("dtype", "judged"), [("float64", 1.2e-11), ("float32", 1e-4)])
@pytest.mark.parametrize("scale", [0.0, 1e-80, 1e-13, 1.2e-11, 1e-6, 1e-4, 1.0])
def test_the_minimum_tolerance_is_far_below_any_result_that_can_be_judged(
    dtype: str, judged: float, scale: float
) -> None:
    floor = minimum_tolerance(dtype, scale, 1.0)
    assert 0 < floor <= 1e-5
    assert floor <= 0.02 * scale or scale < judged


@pytest.mark.parametrize(
    ("name", "size"), [("grad_y", 1000.0), ("grading", 1.0), ("gradual", 1.0), ("x", 1.0)]
)
def test_only_an_input_called_grad_something_scales_a_band(
    tmp_path: Path, name: str, size: float
) -> None:
    spec = f"""\
run: ["y = f({name})"]
cases:
  large: {{{name}: [1000.0]}}
checks:
  - {{id: values, kind: outputs, of: y}}
"""
    reference = "def f(x):\n    return 2 * x\n"
    with opened(tmp_path, spec, reference) as session:
        evaluation = session.evaluate_bank_program("reference", [reference.encode()], 3)
        assert input_scale(evaluation, "main", evaluation.cases["large"], "y") == size


def test_float32_has_a_minimum_tolerance_by_the_input_scale_too() -> None:
    want = np.zeros(2, np.float32)
    expected = ExpectedResult(want, want.astype(np.float64), lambda: [], "float32", lambda: 1.0)
    assert compare_result("y", want + np.float32(1e-6), expected) is None
    assert compare_result("y", want + np.float32(1e-3), expected) is not None


def test_zeros_must_be_exact_only_if_they_stay_zero() -> None:
    want, close = np.array([1.0, 0.0, 0.0]), np.array([1.0, 1e-17, 0.0])
    assert mismatch_of(close, want, exact_zeros=True) is not None
    assert mismatch_of(close, want, exact_zeros=True, moved=[1.0, 1e-16, 0.0]) is None
    assert (
        mismatch_of(close[[0, 2, 1]], want, exact_zeros=True, moved=[1.0, 1e-16, 0.0]) is not None
    )
