"""Fixtures that share one session per question: the bank's programs start once per test file."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

import pytest

from grader.explain.session import GradingSession
from grader.model.report import Report
from tests.explain.making import Grade, load


@pytest.fixture(scope="module")
def graded(one_zygote: None) -> Iterator[Grade]:
    """Return a function that grades a file without a deadline."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def session_of(question_id: str) -> GradingSession:
            opened = GradingSession(load(question_id), proved=True, clock=lambda: 0.0)
            return stack.enter_context(opened)

        def grade(question_id: str, source: str | bytes, *, seed: int = 3) -> Report:
            data = source.encode() if isinstance(source, str) else source
            return session_of(question_id).grade(data, seed=seed)

        yield grade
