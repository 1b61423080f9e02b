"""Workers for all numpy questions of the miniature bank; no test ends them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from grader.sandbox.client import WorkerClient
from tests.grading.kinds.grading import Desk
from tests.harness import Lend


@pytest.fixture(scope="package")
def workers(lend: Lend) -> Iterator[tuple[WorkerClient, WorkerClient]]:
    zygote = lend(torch=False)
    with (
        WorkerClient(torch=False, zygote=zygote) as theirs,
        WorkerClient(torch=False, zygote=zygote) as ours,
    ):
        yield theirs, ours


@pytest.fixture(scope="package")
def deviations(workers: tuple[WorkerClient, WorkerClient]) -> Desk:
    return Desk("deviations", *workers)


@pytest.fixture(scope="package")
def ledger(workers: tuple[WorkerClient, WorkerClient]) -> Desk:
    return Desk("ledger", *workers)
