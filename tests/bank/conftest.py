"""What a bank says of an edited spec."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bank.specs import Problems, edited, problems


@pytest.fixture
def said(tmp_path: Path) -> Problems:
    """Return everything that is said about the small spec once it is edited."""
    return lambda *edits: problems(tmp_path, edited(*edits))
