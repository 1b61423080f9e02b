"""The one option of the test suite, and a folder for temporary files of its own."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which rewrites the snapshots instead of comparing with them."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="write tests/golden/*.txt anew; read the difference before committing it",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of the tests its own folder: some look for what was left in it."""
    own = tempfile.TemporaryDirectory(prefix="tests-")
    Path(own.name).chmod(0o711)  # what a worker of root's goes through
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = tempfile.tempdir = own.name

    def restore() -> None:
        tempfile.tempdir = None
        if before is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = before
        own.cleanup()

    config.add_cleanup(restore)
