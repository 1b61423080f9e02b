"""Kinds that count bytes: allocated at once, and kept in the middle of a run."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader.explain.session import GradingSession
from grader.model.errors import BankError
from grader.model.report import Verdict
from tests.grading.kinds.one_file import graded, of, opened

REST = """
run:
  main: ["dz = vjp(p, g)"]
  after: ["q = wide(p)", "dz = vjp(q, g)", "twice = vjp(dz, late)"]
cases:
  small: {p: {normal: [3, 5]}, g: {normal: [3, 5]}}
  large: {dtype: float32, p: {normal: [4, 2000]}, g: {normal: [4, 2000]}, late: {normal: [4, 2000]}}
checks:
  - {id: values, kind: outputs, of: dz, cases: small}
  - {id: peak, kind: peak, of: dz, cases: large, at_most: 4 * p.nbytes}
  - {id: later, kind: peak, run: after, of: dz, cases: large, at_most: 4 * p.nbytes}
"""
REFERENCE = """
import numpy as np

def wide(p):
    return np.repeat(p, 50, axis=0)[::50] + 0

def vjp(p, g):
    return p * (g - (p * g).sum(-1, keepdims=True))
"""
HEAD = REFERENCE.partition("\ndef vjp")[0]
RIGHT = {
    "einsum": "return p * g - p * np.einsum('bc,bc->b', p, g)[:, None]",
    "row by row": "return np.stack([a * (b - a @ b) for a, b in zip(p, g)])",
    "in place": "out = p * g\n    out -= p * out.sum(-1, keepdims=True)\n    return out",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GradingSession]:
    with opened(tmp_path_factory.mktemp("bank"), REST, REFERENCE) as session:
        yield session


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_a_program_within_the_budget_passes(session: GradingSession, body: str) -> None:
    report = graded(session, f"{HEAD}\ndef vjp(p, g):\n    {body}\n")
    assert report.verdict is Verdict.PASS, [c.message for c in report.checks]


def test_a_matrix_per_row_is_counted(session: GradingSession) -> None:
    body = "[(np.diag(a) - np.outer(a, a)) @ b for a, b in zip(p, g)]"
    report = graded(session, f"{HEAD}\ndef vjp(p, g):\n    return np.stack({body})\n")
    for check in ("peak", "later"):
        result = of(report, check)
        assert result.verdict is Verdict.FAIL
        assert result.message.startswith("vjp allocates ")
        # Two float32 matrices of 2,000 by 2,000, at least; a budget of 4 arrays of (4, 2000).
        assert result.figures["bytes"] >= 2 * 4 * 2000**2
        assert result.figures["allowed"] == 4 * 4 * 4 * 2000


def test_the_count_is_the_bytes_of_the_arrays(session: GradingSession) -> None:
    result = of(graded(session, f"{HEAD}\ndef vjp(p, g):\n    {RIGHT['in place']}\n"), "peak")
    p, g = (np.ones((4, 2000), np.float32) for _ in range(2))
    tracemalloc.start()
    out = p * g
    out -= p * out.sum(-1, keepdims=True)
    expected = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.figures["bytes"] == pytest.approx(expected, abs=8 << 10)


def test_a_question_with_torch_may_not_have_a_peak(tmp_path: Path) -> None:
    with (
        pytest.raises(BankError, match="memory with quantity: peak"),
        opened(tmp_path, REST, REFERENCE, uses="torch"),
    ):
        pass


@pytest.mark.parametrize("amount", ["4 * p.nbytes", "p.nbytes + 8 bytes", "64000 bytes", "8bytes"])
def test_a_budget_may_end_in_bytes_or_in_nbytes(tmp_path: Path, amount: str) -> None:
    spec = REST.replace("at_most: 4 * p.nbytes", f"at_most: {amount}")
    with opened(tmp_path, spec, REFERENCE) as session:
        assert session.question.spec.checks


# What is counted where steps change what others have handed on.
CACHE = """
run:
  - cache = begin(x)
  - y0 = read(cache, q)
  - cache2 = append(cache, x)
  - y = read(cache2, q)
cases:
  small: {x: {normal: [3, 4]}, q: {normal: [4]}}
  long: {x: {normal: [300, 4]}, q: {normal: [4]}}
checks:
  - {id: y, kind: outputs, of: [y0, y], cases: small}
  - {id: kept, kind: state, of: cache2, cases: long, at_most: 2 * x.nbytes + 256}
"""
COPIES = """
import numpy as np

def begin(x):
    return [x.copy()]

def read(cache, q):
    return sum(part @ q for part in np.split(np.concatenate(cache), len(cache)))

def append(cache, x):
    return [*cache, x.copy()]
"""
APPENDS = """
def append(cache, x):
    cache.append(x.copy())
    return cache
"""
TOO_MUCH = """
def append(cache, x):
    cache.append(np.concatenate([x, x, x])[: len(x)])
    return cache
"""


@pytest.mark.parametrize(("more", "verdict"), [("", "pass"), (APPENDS, "pass"), (TOO_MUCH, "fail")])
def test_a_cache_may_be_appended_to_in_place(tmp_path: Path, more: str, verdict: str) -> None:
    with opened(tmp_path, CACHE, COPIES) as session:
        report = graded(session, COPIES + more)
        assert report.verdict == verdict, [c.message for c in report.checks]
