"""A fixture that imitates another machine for worker processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.sandbox import config


@pytest.fixture
def beginning_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str], None]:
    """Return a function that makes every process of drill start with a line of code."""

    def begin(line: str) -> None:
        source = config.BOOT.read_text(encoding="utf-8")
        here = f"os.path.dirname(os.path.abspath({str(config.BOOT)!r}))"
        source = source.replace("os.path.dirname(os.path.abspath(__file__))", here)
        marker = "    from worker import roles"
        before = next(row for row in source.splitlines() if row.startswith(marker))
        boot = tmp_path / "boot.py"
        boot.write_text(source.replace(before, f"    {line}\n{before}"), encoding="utf-8")
        monkeypatch.setattr(config, "BOOT", boot)

    return begin
