"""Snapshots: what a page looks like, compared with tests/golden."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Protocol

import pytest
from rich.console import Console, RenderableType

GOLDEN = Path(__file__).parent.parent / "golden"


class Golden(Protocol):
    """Compares text with the snapshot of a name."""

    def __call__(self, name: str, text: str, folder: Path = GOLDEN) -> None:
        """Fail where they differ."""


def shown(renderable: RenderableType, width: int, *, colour: bool = False) -> str:
    """What a console of that width writes, whatever the terminal the tests run in."""
    out = io.StringIO()
    Console(
        file=out,
        width=width,
        color_system="standard" if colour else None,
        force_terminal=colour,
        legacy_windows=False,
        _environ={},
    ).print(renderable, crop=False)
    return out.getvalue()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """A function that compares text with the snapshot of that name."""

    def compare(name: str, text: str, folder: Path = GOLDEN) -> None:
        path = folder / f"{name}.txt"
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8", newline="\n")
        assert path.exists(), f"no snapshot {name}: run pytest --update-golden"
        assert text == path.read_text(encoding="utf-8")

    return compare
