"""What all tests share: an option, temporary folders, zygotes, and the programs of a question."""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.explain.session import GradingSession
from grader.sandbox import config as sandbox_config
from grader.sandbox import spawn
from grader.sandbox.spawn import Zygote, zygote_if_safe
from tests.content import TestSelection
from tests.harness import Lend, load, load_text, question_of, right_solutions

DRILLS = Path(__file__).parent / "drills"
# Processes of tests that share the cores would wait for each other, busily.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which rewrites snapshots, and the options of `tests/content.py`."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        default=False,
        help="write snapshots anew; read the difference before committing it",
    )
    parser.addoption(
        "--quick",
        action="store_true",
        help="leave out slow tests, and those of questions that passed as they are",
    )
    parser.addoption(
        "--record",
        action="store_true",
        help="write which questions passed into tests/content.json",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give each process of the tests its own folder: some look for what was left in it."""
    # A shell's background has programs ignore Ctrl-C, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
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
    config.pluginmanager.register(TestSelection(config))
    gc.disable()  # while tests are collected: nothing is garbage, and looking for it takes as long


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what measures on a GPU where there is none, and nobody asks for it."""
    if not sandbox_config.cuda_device_files() and "cuda" not in config.option.markexpr:
        items[:] = [item for item in items if "cuda" not in item.keywords]


def pytest_collection_finish() -> None:
    """Take what was imported and collected out of the garbage collector's way: it stays."""
    gc.freeze()
    gc.enable()


class Lent(Zygote):
    """A zygote that is used again: who borrows it ends the workers that were forked, not it."""

    def __init__(self, owner: Zygote) -> None:
        """Take what starts workers from the one that owns it."""
        self.starter = owner.starter
        self.has_compiler = owner.has_compiler

    def close(self) -> None:
        """Leave it running."""


@pytest.fixture(scope="session")
def lend() -> Iterator[Lend]:
    """Give one zygote with torch and one without to all who ask, where there are zygotes."""
    owner = os.getpid()
    with contextlib.ExitStack() as stack:

        @functools.cache
        def shared(*, torch: bool) -> Zygote | None:
            found = zygote_if_safe(torch=torch)
            if found is None:
                return None
            stack.enter_context(found)
            assert found.process.pid  # for those who count the processes that there are
            return Lent(found)

        def lent(*, torch: bool) -> Zygote | None:
            # A fork of this process, as an audit of several questions makes, needs its own.
            return shared(torch=torch) if os.getpid() == owner else zygote_if_safe(torch=torch)

        yield lent


@pytest.fixture(scope="module")
def one_zygote(lend: Lend) -> Iterator[None]:
    """Have all grading sessions of a file fork their workers from the same zygotes.

    For tests about what is found, not about processes: importing numpy for each session takes a
    fifth of a second, torch two.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spawn, "zygote_if_safe", lend)
        yield


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give `program`, unless a file has its own: the reference and every right solution."""
    folder = metafunc.definition.path.parent
    wants = folder.parent == DRILLS and "program" in metafunc.fixturenames
    if wants and "program" not in vars(metafunc.module):
        reference = (folder / "reference.py").read_bytes()
        known = {"reference": reference} | right_solutions(folder.name)
        metafunc.parametrize("program", known.values(), ids=known, indirect=True, scope="module")


@pytest.fixture(scope="module", autouse=True)
def _helpers_are_found(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the programs of a question import the modules that lie beside them, while it is tested.

    Several questions have a `task`, so they are forgotten afterwards.
    """
    folder = request.path.parent
    if folder.parent != DRILLS:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield
    for name, module in list(sys.modules.items()):
        if Path(getattr(module, "__file__", None) or "/").parent == folder:
            del sys.modules[name]


@pytest.fixture(scope="module")
def session(request: pytest.FixtureRequest) -> Iterator[GradingSession]:
    """Grades submissions to the question that a file of tests lies beside."""
    request.getfixturevalue("one_zygote")
    with GradingSession(question_of(str(request.path))) as opened:
        yield opened


@pytest.fixture(scope="module")
def program(request: pytest.FixtureRequest) -> SimpleNamespace:
    """One right program after another."""
    return load(request.param)


@pytest.fixture(scope="module")
def reference(request: pytest.FixtureRequest) -> SimpleNamespace:
    """The question's own solution."""
    path = request.path.parent / "reference.py"
    return load(path) if path.exists() else load_text(question_of(str(request.path)).reference)


@pytest.fixture(scope="module")
def starter(request: pytest.FixtureRequest) -> SimpleNamespace:
    """What a candidate begins with."""
    return load(request.path.parent / "starter.py")


@pytest.fixture(scope="module")
def driver(request: pytest.FixtureRequest) -> SimpleNamespace:
    """What steps of the question call besides the solution."""
    return load(request.path.parent / "driver.py")
