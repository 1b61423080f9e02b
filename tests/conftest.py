"""The one option of the test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which rewrites the snapshots instead of comparing with them."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="write tests/golden/*.txt anew; read the difference before committing it",
    )
