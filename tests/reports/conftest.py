"""Snapshots: what a page looks like, compared with a file of its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
Golden = Callable[[str, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """A function that compares text with the snapshot of that name."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"no snapshot {name}: run pytest --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
