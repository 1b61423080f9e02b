"""Events as tests want them."""

from __future__ import annotations

from dataclasses import replace

from grader.records import attempts
from grader.records.events import Event, What, add
from grader.records.store import Store

SOME = Event("begun", "2025-11-20T21:00:00+00:00", "ann", "0.1.0", "q", "b", "d")


def begin(
    store: Store, content: bytes, question: str = "q", what: What = "begun", seed: int = 2**63 - 1
) -> int:
    """Begin an attempt and return its number."""
    event = replace(SOME, what=what, question=question, seed=seed)
    return store.write(lambda db: attempts.begin(db, event, content))[0]


def finish(
    store: Store, number: int, verdict: str, question: str = "q", parts: str | None = None
) -> None:
    """Add a verdict to an attempt."""
    event = replace(
        SOME,
        what="graded",
        at="2025-11-20T21:00:01+00:00",
        question=question,
        attempt=number,
        verdict=verdict,
        isolation="process",
        seconds=0.5,
        report='{"format": 1}',
        parts=parts,
    )
    store.write(lambda db: add(db, event))


def start(store: Store, question: str = "q", folder: str = "f", bank: str = "b") -> None:
    """Record a start."""
    event = replace(SOME, what="started", question=question, bank=bank, path=folder)
    store.write(lambda db: add(db, event))
