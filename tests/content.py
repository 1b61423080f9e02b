"""Tests that `.ci/test` leaves out: of content that passed as it is, and slow ones of a kind.

Tests about the content of one question are those in `drills/ID` and those marked `content(ID)`.
They are left out while nothing has changed since they passed: the question, its solutions, the
code that decides verdicts, the versions of libraries, and the file of the test.  The digests on
which they passed are in `tests/content.json`.

Tests marked `slow` repeat on more inputs, or more thoroughly, what a faster test covers.

    pytest             runs all tests
    pytest --quick     leaves out these: what `.ci/test` runs
    pytest --record    runs all tests and writes tests/content.json: `.ci/test --all`
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
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
SHARED_FILES = ("harness", "corpus")
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


def question_digests() -> dict[str, str]:
    """Return the digest of each question's content and of what judges it, by question."""
    shared = hashlib.sha256(grader_digest().encode())
    shared.update(repr(sys.version_info[:2]).encode())
    for library in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(library).partition("+")[0]  # `+cpu` names a build
            shared.update(f"{library} {version}\n".encode())
    for file in SHARED_FILES:
        shared.update((ROOT / "tests" / f"{file}.py").read_bytes())
    digests = {}
    for question in QUESTIONS:
        digest = shared.copy()
        folders = (DRILLS / question, ROOT / "tests" / "solutions" / question)
        files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        files = [path for path in files if "__pycache__" not in path.parts]
        for path in [ROOT / "questions" / f"{question}.yaml", *sorted(files)]:
            digest.update(f"{path.relative_to(ROOT).as_posix()}\n".encode())
            digest.update(path.read_bytes())
        digests[question] = digest.hexdigest()
    return digests


def file_digest(file: str) -> str:
    """Return the digest of a file of tests, given by its path in the repository; '' if none."""
    path = ROOT / file
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


class TestSelection:
    """Plugin of pytest that leaves tests out, or records which passed.

    The record has two keys, `questions` and `files` of tests, both with digests by name.
    """

    __test__ = False

    def __init__(self, config: pytest.Config) -> None:
        """Find out what has passed; a process of pytest-xdist is told by the one that began it."""
        self.config = config
        self.is_quick = bool(config.option.quick)
        worker_input = getattr(config, "workerinput", None)  # of a process of pytest-xdist
        self.record = bool(config.option.record) and worker_input is None
        if self.record and config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
            raise pytest.UsageError("--record: expected no files or folders, found some")
        self.passed: set[tuple[str, str]] = set()  # questions and files
        self.failed: set[tuple[str, str]] = set()
        self.questions: set[str] = set()  # those that passed as they are
        self.files: set[str] = set()
        if worker_input is not None:
            self.questions = set(worker_input["questions"])
            self.files = set(worker_input["files"])
        elif self.is_quick and RECORD.exists():
            record = json.loads(RECORD.read_text("utf-8"))
            digests = question_digests()
            self.questions = {
                name for name, digest in record["questions"].items() if digests.get(name) == digest
            }
            self.files = {
                name for name, digest in record["files"].items() if file_digest(name) == digest
            }

    def pytest_report_header(self) -> str | None:
        """Say how many questions are left out."""
        if not self.is_quick:
            return None
        return f"questions whose content passed as it is: {len(self.questions)}"

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a process of pytest-xdist what has passed."""
        node.workerinput["questions"] = sorted(self.questions)
        node.workerinput["files"] = sorted(self.files)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leave out the folders of questions."""
        is_drill = collection_path.parent == DRILLS
        return True if is_drill and collection_path.name in self.questions else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave tests out, and note the question of each other one in its report."""
        left_out: list[pytest.Item] = []
        kept: list[pytest.Item] = []
        for item in items:
            question = question_of(item)
            if question is not None:
                item.user_properties.append(("question", question))
            (left_out if self.leaves_out(item, question) else kept).append(item)
        items[:] = kept
        self.config.hook.pytest_deselected(items=left_out)

    def leaves_out(self, item: pytest.Item, question: str | None) -> bool:
        """Return True if a test, about the content of a question or None, is left out."""
        if self.is_quick and item.get_closest_marker("slow"):
            return True
        return question in self.questions and _file_of(item.nodeid) in self.files

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note whether a test about a question passed."""
        question = dict(report.user_properties).get("question")
        if isinstance(question, str):
            names = {("questions", question), ("files", _file_of(report.nodeid))}
            (self.failed if report.failed else self.passed).update(names)

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write the record, unless the run was cut short."""
        if self.record and exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}:
            write_record(self.passed - self.failed)


def write_record(passed: Iterable[tuple[str, str]]) -> None:
    """Write which questions and files of tests passed, as they are now."""
    digests = question_digests()
    record: dict[str, dict[str, str]] = {"questions": {}, "files": {}}
    for kind, name in sorted(passed):
        record[kind][name] = digests[name] if kind == "questions" else file_digest(name)
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def question_of(item: pytest.Item) -> str | None:
    """Return the question that a test is about, if it is about the content of one."""
    if item.path.parent.parent == DRILLS:
        return item.path.parent.name
    mark = item.get_closest_marker("content")
    return str(mark.args[0]) if mark else None


def _file_of(node_id: str) -> str:
    return node_id.partition("::")[0]
