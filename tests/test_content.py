"""A quick run leaves out what passed as it is, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import content
from tests.content import DRILLS, ROOT, TestSelection

FILE = "tests/test_corpus.py"


def selection(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: dict[str, Any], *, quick: bool = True
) -> TestSelection:
    """Return the selection of a run, where `adamw` has the digest "now"."""
    monkeypatch.setattr(content, "RECORD", tmp_path / "content.json")
    monkeypatch.setattr(content, "question_digests", lambda: {"adamw": "now", "rope": "other"})
    content.RECORD.write_text(json.dumps(record))
    config: Any = SimpleNamespace(option=SimpleNamespace(quick=quick, record=False))
    return TestSelection(config)


def item(file: str, *marks: str) -> Any:
    """Return a test of a file with marks."""
    return SimpleNamespace(nodeid=f"{file}::test", get_closest_marker=lambda name: name in marks)


def test_content_is_left_out_only_if_question_and_file_are_as_they_passed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    passed = {"questions": {"adamw": "now", "rope": "before"}, "files": {FILE: "before"}}
    changed_file = selection(monkeypatch, tmp_path, passed)
    assert not changed_file.leaves_out(item(FILE), "adamw")
    passed["files"][FILE] = content.file_digest(FILE)
    chosen = selection(monkeypatch, tmp_path, passed)
    assert chosen.leaves_out(item(FILE), "adamw")
    assert not chosen.leaves_out(item(FILE), "rope")
    assert not chosen.leaves_out(item(FILE), "never-recorded")
    assert not chosen.leaves_out(item(FILE), None)
    assert chosen.pytest_ignore_collect(DRILLS / "adamw")
    assert not chosen.pytest_ignore_collect(DRILLS / "rope")
    assert not chosen.pytest_ignore_collect(ROOT / "tests" / "adamw")


def test_a_run_that_is_not_quick_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    passed = {"questions": {"adamw": "now"}, "files": {FILE: content.file_digest(FILE)}}
    whole = selection(monkeypatch, tmp_path, passed, quick=False)
    assert not whole.leaves_out(item(FILE, "slow"), "adamw")
    assert not whole.pytest_ignore_collect(DRILLS / "adamw")
    quick = selection(monkeypatch, tmp_path, passed)
    assert quick.leaves_out(item("tests/test_docs.py", "slow"), None)


def test_a_question_with_one_failing_test_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chosen = selection(monkeypatch, tmp_path, {"questions": {}, "files": {}})
    chosen.record = True
    for question, failed in (("adamw", False), ("rope", False), ("rope", True)):
        report: Any = SimpleNamespace(
            nodeid=f"{FILE}::test", user_properties=[("question", question)], failed=failed
        )
        chosen.pytest_runtest_logreport(report)
    chosen.pytest_sessionfinish(pytest.ExitCode.INTERRUPTED)
    assert json.loads(content.RECORD.read_text())["questions"] == {}
    chosen.pytest_sessionfinish(pytest.ExitCode.TESTS_FAILED)
    assert json.loads(content.RECORD.read_text()) == {"questions": {"adamw": "now"}, "files": {}}


def test_the_digest_of_a_question_covers_its_corpus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = content.question_digests()
    assert before.keys() == set(content.QUESTIONS)
    (tmp_path / "tests" / "solutions" / "adamw").mkdir(parents=True)
    for name in ("questions", "drills", *(f"tests/{file}.py" for file in content.SHARED_FILES)):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "tests" / "solutions" / "adamw" / "wrong.diff").write_text("another program")
    monkeypatch.setattr(content, "ROOT", tmp_path)
    monkeypatch.setattr(content, "DRILLS", tmp_path / "drills")
    after = content.question_digests()
    assert after["adamw"] != before["adamw"]
    assert after["decode-on-paper"] == before["decode-on-paper"]
