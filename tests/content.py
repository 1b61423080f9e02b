"""Tests about the content of one question, which run if they have not passed on what is there.

These are the tests in `drills/ID` and those marked `content(ID)`.  `tests/content.json` says on
which digest all tests of a question passed.  The digest covers the question, its solutions, the
files of tests in `TEST_FILES`, the code that decides verdicts, and the versions of libraries.

    pytest                 runs all tests
    pytest --untested      leaves out content that passed as it is: what `.ci/test` runs
    pytest --record        runs all tests and writes tests/content.json: `.ci/test --all`
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from grader.audit.proofs import grader_digest

ROOT = Path(__file__).resolve().parents[1]
DRILLS = ROOT / "drills"
RECORD = ROOT / "tests" / "content.json"
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.yaml"))
# Pages of these are tested always, as examples: code, torch, numbers on paper.
ALWAYS = ("maxpool-routing", "vram-bottleneck", "decode-on-paper")
TEST_FILES = (
    "harness", "corpus", "test_corpus", "test_follow_ups", "test_given",
    "attacks/test_known_values",
)  # fmt: skip
LIBRARIES = ("numpy", "torch")


def each_question(*, always: Iterable[str] = ()) -> pytest.MarkDecorator:
    """Run a test for the `name` of every question, as a test of its content, or always for some."""
    return pytest.mark.parametrize("name", contents(always=always))


def contents(*, always: Iterable[str] = ()) -> list[Any]:
    """Return every question as a parameter of tests, some for tests that always run."""
    return [question if question in always else content(question) for question in QUESTIONS]


def content(question: str, *values: Any, id: str | None = None) -> Any:
    """Return a parameter of tests about a question: its id, or some values and their id."""
    return pytest.param(*(values or (question,)), marks=pytest.mark.content(question), id=id)


def digests() -> dict[str, str]:
    """Return the digest of each question's content and of what judges it, by question."""
    shared = hashlib.sha256(grader_digest().encode())
    shared.update(repr(sys.version_info[:2]).encode())
    for library in LIBRARIES:
        shared.update(f"{library} {metadata.version(library).partition('+')[0]}\n".encode())
    for file in TEST_FILES:
        shared.update((ROOT / "tests" / f"{file}.py").read_bytes())
    found = {}
    for question in QUESTIONS:
        digest = shared.copy()
        folders = (DRILLS / question, ROOT / "tests" / "solutions" / question)
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        files = [path for path in files if "__pycache__" not in path.parts]
        for path in [ROOT / "questions" / f"{question}.yaml", *sorted(files)]:
            digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
            digest.update(path.read_bytes())
        found[question] = digest.hexdigest()
    return found


def read_record() -> dict[str, str]:
    """Return the digest on which the content of each question passed, by question."""
    if not RECORD.exists():
        return {}
    record: dict[str, str] = json.loads(RECORD.read_text("utf-8"))
    return record


class ContentTests:
    """Plugin of pytest that leaves content out, or records which passed."""

    def __init__(self, config: pytest.Config) -> None:
        """Find out what has passed; a process of pytest-xdist is told by the one that began it."""
        self.config = config
        self.record = bool(config.option.record) and not hasattr(config, "workerinput")
        if self.record and (config.args_source is not pytest.Config.ArgsSource.TESTPATHS):
            raise pytest.UsageError("--record: expected no files or folders, found some")
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        if hasattr(config, "workerinput"):
            self.left_out = set(config.workerinput["left_out"])
        elif config.option.untested:
            record = read_record()
            self.left_out = {q for q, digest in digests().items() if record.get(q) == digest}
        else:
            self.left_out = set()

    def pytest_report_header(self) -> str | None:
        """Say how many questions are left out."""
        return f"content of questions left out, as it passed: {len(self.left_out)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a process of pytest-xdist what is left out."""
        node.workerinput["left_out"] = sorted(self.left_out)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out the folders of questions."""
        is_left_out = collection_path.parent == DRILLS and collection_path.name in self.left_out
        return True if is_left_out else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out marked tests, and note the question of each other one in its report."""
        left_out: list[pytest.Item] = []
        kept: list[pytest.Item] = []
        for item in items:
            question = question_of(item)
            if question is not None:
                item.user_properties.append(("question", question))
            (left_out if question in self.left_out else kept).append(item)
        items[:] = kept
        self.config.hook.pytest_deselected(items=left_out)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test of a question passed."""
        question = dict(report.user_properties).get("question")
        if isinstance(question, str):
            (self.failed if report.failed else self.passed).add(question)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the record, unless the run was cut short."""
        if self.record and exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            current = digests()
            record = {q: current[q] for q in sorted(self.passed - self.failed) if q in current}
            RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def question_of(item: pytest.Item) -> str | None:
    """Return the question that a test is about, if it is about the content of one."""
    if item.path.parent.parent == DRILLS:
        return item.path.parent.name
    mark = item.get_closest_marker("content")
    return str(mark.args[0]) if mark else None
