"""Zygotes that are used again, victims, and the level that the attacks were up against."""

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
    """A process with numpy that forks workers; one that came later would look like a trace."""
    return cast("Zygote", lend(torch=False))


@pytest.fixture(scope="package")
def in_session(numpy_zygote: Zygote) -> Iterator[Graded]:
    """Sessions in which one submission follows another, in workers that are forked."""
    with one_session(numpy_zygote) as graded:
        yield graded


@pytest.fixture(scope="package")
def torch_zygote(lend: Lend) -> Zygote:
    """A process with torch that forks workers."""
    return cast("Zygote", lend(torch=True))


@pytest.fixture
def victims() -> Iterator[Victims]:
    """Files, a journal and programs to be harmed."""
    made = Victims()
    yield made
    made.close()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the attacks were up against."""
    terminalreporter.write_line(f"attacks as uid {os.getuid()}: {level_here()}")
