"""A store, and events as tests want them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import events
from grader.records.events import Event, What
from grader.records.store import Store

SOME = Event("begun", "2025-11-20T21:00:00+00:00", "ann", "0.1.0", "q", "b", "d")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give a store in a folder that does not exist yet."""
    return Store(tmp_path / "deep" / "home")


def begin(
    store: Store, content: bytes, question: str = "q", what: What = "begun", seed: int = 2**63 - 1
) -> int:
    """Begin an attempt and return its number."""
    event = replace(SOME, what=what, question=question, seed=seed)
    return store.write(lambda db: events.begin(db, event, content))


def finish(store: Store, number: int, verdict: str, parts: str | None = None) -> None:
    """Add a verdict to an attempt."""
    event = replace(
        SOME, what="graded", at="2025-11-20T21:00:01+00:00", attempt=number, verdict=verdict,
        isolation="process", seconds=0.5, report='{"format": 1}', parts=parts or verdict,
    )  # fmt: skip
    store.write(lambda db: events.add(db, event))


def start(store: Store, question: str = "q", folder: str = "f", bank: str = "b") -> None:
    """Record a start."""
    event = replace(SOME, what="started", question=question, bank=bank, path=folder)
    store.write(lambda db: events.add(db, event))
