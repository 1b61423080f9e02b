"""Snapshots: what a page looks like, compared with tests/golden."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import pytest

from grader.reports.sheet import Line
from tests.pages import text

GOLDEN = Path(__file__).parent.parent / "golden"


class Golden(Protocol):
    """Compares text with the snapshot of a name."""

    def __call__(self, name: str, text: str, folder: Path = GOLDEN) -> None:
        """Fail where they differ."""


def shown(lines: Iterable[Line], *, color: bool = False) -> str:
    """What a command writes of a page, with the styles where there is color."""
    if not color:
        return text(lines)
    whole = ([(line, "")] if isinstance(line, str) else line for line in lines)
    styled = (
        "".join(f"\x1b[{style}m{part}\x1b[0m" if style else part for part, style in line)
        for line in whole
    )
    return "".join(f"{line.rstrip(' ')}\n" for line in styled)


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
