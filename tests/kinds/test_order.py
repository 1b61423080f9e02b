"""What is measured in the middle of a run, where steps change what others have handed on."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.cases.recipe import divided
from tests.kinds.one_file import graded, opened

REST = """
run:
  - cache = begin(x)
  - y0 = read(cache, q)
  - cache2 = append(cache, x)
  - y = read(cache2, q)
cases:
  small: {x: {normal: [3, 4]}, q: {normal: [4]}}
  large: {x: {normal: [300, 4]}, q: {normal: [4]}}
checks:
  - {id: y, kind: outputs, of: [y0, y], cases: small}
  - {id: kept, kind: state, of: cache2, cases: large, at_most: 2 * x.nbytes + 256}
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
IN_PLACE = """
def append(cache, x):
    cache.append(x.copy())
    return cache
"""
TOO_MUCH = """
def append(cache, x):
    cache.append(np.concatenate([x, x, x])[: len(x)])
    return cache
"""


@pytest.mark.parametrize(
    ("more", "verdict"), [("", "pass"), (IN_PLACE, "pass"), (TOO_MUCH, "fail")]
)
def test_a_cache_may_be_appended_to_in_place(tmp_path: Path, more: str, verdict: str) -> None:
    with opened(tmp_path, REST, COPIES) as session:
        report = graded(session, COPIES + more)
        assert report.verdict == verdict, [c.message for c in report.checks]
        steps = session.question.runs["main"]
        first, rest = divided(steps, "cache2")
    assert [step.function for step in first] == ["begin", "append"]
    assert [step.targets for step in rest] == [("y",)]
