"""What the canary makes of files that are out of sight, and of acts that no level rests on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from grader.sandbox.levels import ACTS, BEYOND, STRONG, read
from grader.sandbox.worker.walls import canary


def test_what_is_beyond_the_levels_is_tried_and_does_not_change_them(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.touch()
    tried = canary.report(judge=os.getpid(), private=str(private), kept=[str(private)])
    assert set(tried) == set(ACTS) | set(BEYOND)
    assert tried["probe"] == canary.DONE
    acts = dict.fromkeys(tried, canary.REFUSED)
    for name in BEYOND:
        found = read({"acts": {**acts, name: canary.DONE}, "missing": []})
        assert (found.level, found.done, found.acts[name]) == (STRONG, [], canary.DONE)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other words for it")
def test_what_is_surely_there_and_cannot_be_found_was_refused(tmp_path: Path) -> None:
    hidden = str(tmp_path / "folder" / "hidden")
    acts = canary.report(judge=os.getpid(), private=hidden, kept=[hidden])
    assert {acts[name] for name in ("read", "write", "kept", "probe")} == {canary.REFUSED}
    assert acts["list"] == canary.DONE  # what is always in sight, the root, and no wall closes here
