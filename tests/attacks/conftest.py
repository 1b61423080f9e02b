"""Zygotes and victims that tests share, and the level of isolation for the summary."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import cast

import pytest

from grader.sandbox.spawn import Zygote
from tests.attacks.level import level_here
from tests.attacks.running import Graded, one_session
from tests.attacks.victims import Victims
from tests.harness import Lend


@pytest.fixture(scope="package")
def numpy_zygote(lend: Lend) -> Zygote:
    """Return a zygote with numpy; if it started later, it would look like a trace."""
    return cast("Zygote", lend(torch=False))


@pytest.fixture(scope="package")
def in_session(numpy_zygote: Zygote) -> Iterator[Graded]:
    """Yield a function that grades one submission after another in forked workers."""
    with one_session(numpy_zygote) as graded:
        yield graded


@pytest.fixture(scope="package")
def torch_zygote(lend: Lend) -> Zygote:
    """Return a zygote with torch."""
    return cast("Zygote", lend(torch=True))


@pytest.fixture
def victims() -> Iterator[Victims]:
    """Yield files, a journal and programs that attacks try to harm."""
    made = Victims()
    yield made
    made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the level of isolation after the tests."""
    terminalreporter.write_line(f"attacks as uid {os.getuid()}: {level_here()}")
