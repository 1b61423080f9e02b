"""Grading leaves its host as it was: children, signals and capabilities.

Every host here is a process of its own, which says what it saw; `PRELUDE` is what they share.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.attacks.attack import MINI

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at what Linux tells")

ROOT = Path(__file__).parents[2]
PRELUDE = f"""\
import ctypes, os, signal, subprocess, sys, threading
from pathlib import Path
from grader import bank
from grader.sandbox.client import WorkerClient
from grader.sandbox.spawn import Zygote
from grader.explain.session import grade

QUESTION = bank.load_question([Path({str(MINI)!r})], "deviations")
libc = ctypes.CDLL(None)

def right():
    report = grade(QUESTION, QUESTION.reference, seed=3)
    assert report.verdict == "pass", report
    return report.isolation

def powers():
    subreaper = ctypes.c_int(-1)
    libc.prctl(37, ctypes.byref(subreaper), 0, 0, 0)  # PR_GET_CHILD_SUBREAPER
    death = ctypes.c_int(-1)
    libc.prctl(2, ctypes.byref(death), 0, 0, 0)  # PR_GET_PDEATHSIG
    handlers = [repr(signal.getsignal(s)) for s in sorted(signal.valid_signals())]
    return subreaper.value, libc.prctl(3, 0, 0, 0, 0), death.value, handlers, os.umask(0o22)

def children():
    found = set()
    for task in Path("/proc/self/task").glob("*/children"):
        found |= set(map(int, task.read_text().split()))
    return found
"""


WITHOUT = """\
import ctypes, os, sys
number, *command = sys.argv[1:]
assert ctypes.CDLL(None).prctl(24, int(number), 0, 0, 0) == 0  # PR_CAPBSET_DROP
os.execv(command[0], command)  # what is not in the bounding set, a program that is run lacks
"""


Host = Callable[..., str]


@pytest.fixture
def begun(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Start a host that runs `PRELUDE` and a text; the command `by` may run it."""

    def begin(source: str, by: Sequence[str] = ()) -> subprocess.Popen[str]:
        script = tmp_path / "host.py"
        script.write_text(PRELUDE + textwrap.dedent(source), encoding="utf-8")
        environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
        command = [*by, sys.executable, str(script)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)

    return begin


@pytest.fixture
def host(begun: Callable[..., subprocess.Popen[str]], tmp_path: Path) -> Host:
    """Run a host to its end and return its output; no process or folder may be left."""

    def run(source: str, by: Sequence[str] = ()) -> str:
        process = begun(source, by)
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        assert [p.name for p in tmp_path.glob("drill-*")] == []
        return printed

    return run


@pytest.mark.parametrize(("own", "dumpable"), [(False, "1"), (True, "0")])
def test_a_grade_leaves_its_host_as_it_was_but_closes_the_memory_of_the_command_line(
    host: Host, own: bool, dumpable: str
) -> None:
    said = host(
        f"""
        from grader import sandbox
        sandbox.own_process = {own}
        before = powers()
        level = right()
        after = powers()
        assert (after[0], *after[2:]) == (before[0], *before[2:]), (before, after)
        assert children() == set()
        print(before[0], before[1], after[1], level)
        """
    )
    assert said.split() == ["0", "1", dumpable, "strong"]


def test_children_of_the_host_survive_and_keep_their_status(host: Host) -> None:
    """The children are plain, in their own session, forked twice, or end during the grade."""
    host(
        """
        wait = [sys.executable, "-c", "import sys; sys.stdin.read(); sys.exit(7)"]
        plain = subprocess.Popen(wait, stdin=subprocess.PIPE)
        apart = subprocess.Popen(wait, stdin=subprocess.PIPE, start_new_session=True)
        ended = os.fork()
        if ended == 0:
            os._exit(9)
        os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
        assert libc.prctl(36, 1, 0, 0, 0) == 0  # this host is a subreaper, by its own choice
        reading, writing = os.pipe()
        first = os.fork()
        if first == 0:
            os.setsid()
            second = os.fork()
            if second == 0:
                os.close(writing)
                os.read(reading, 1)
                os._exit(0)
            os._exit(0)
        os.waitpid(first, 0)
        grandchild = (children() - {plain.pid, apart.pid, ended}).pop()
        right()
        for _ in range(2):
            with WorkerClient(torch=False) as worker:
                worker.isolation
        assert plain.poll() is None and apart.poll() is None
        os.kill(grandchild, 0)
        assert children() == {plain.pid, apart.pid, ended, grandchild}
        assert os.waitstatus_to_exitcode(os.waitpid(ended, 0)[1]) == 9
        os.close(writing)
        assert os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]) == 0
        for process in (plain, apart):
            process.communicate()
            assert process.returncode == 7
        """
    )


def test_several_threads_can_grade_at_once(host: Host) -> None:
    said = host(
        """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor(4) as pool:
            levels = set(pool.map(lambda _: right(), range(4)))
        with Zygote(torch=False) as shared:
            def ask(_):
                with WorkerClient(torch=False, zygote=shared) as worker:
                    return worker.isolation.level
            with ThreadPoolExecutor(4) as pool:
                levels |= set(pool.map(ask, range(8)))
        assert children() == set()
        print(*levels)
        """
    )
    assert said.split() == ["strong"]


def test_a_notebook_and_a_thread_that_ends_can_grade(host: Host) -> None:
    """A worker outlives its thread; the notebook's loop and children are left alone."""
    host(
        """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        async def cells():
            sleeper = await asyncio.create_subprocess_exec(
                sys.executable, "-c", "input()", stdin=subprocess.PIPE)
            right()
            made = []
            def make():
                made.append(Zygote(torch=False))
                made.append(WorkerClient(torch=False, zygote=made[0]))
                assert made[1].isolation.level == "strong"
            for act in (make, right):
                thread = threading.Thread(target=act)
                thread.start()
                while thread.is_alive():
                    await asyncio.sleep(0)
                thread.join()
            zygote, worker = made
            assert worker.ask({"op": "reportisolation"})["ok"]
            worker.close()
            zygote.close()
            await asyncio.get_running_loop().run_in_executor(None, right)
            sleeper.stdin.write(b"on\\n")
            assert await sleeper.wait() == 0

        asyncio.run(cells())
        """
    )


def test_a_forked_pool_can_grade_after_its_parent_graded(host: Host) -> None:
    """A fork can neither use nor end its parent's workers."""
    said = host(
        """
        import multiprocessing
        from grader.model.errors import GraderError

        def in_a_fork(_):
            try:
                worker.ask({"op": "reportisolation"})
            except GraderError as error:
                assert "a fork of it" in str(error)
            else:
                raise AssertionError("used the parent's worker")
            worker.close()
            zygote.close()
            return right()

        right()
        zygote = Zygote(torch=False)
        worker = WorkerClient(torch=False, zygote=zygote)
        worker.ask({"op": "reportisolation"})
        with multiprocessing.get_context("fork").Pool(2) as pool:
            levels = set(pool.map(in_a_fork, range(2)))
            assert worker.ask({"op": "reportisolation"})["ok"]
            worker.close()
            zygote.close()  # though the pool holds copies of its sockets
            assert os.getpid() not in levels
            pool.close()
            pool.join()
        assert children() == set()
        print(*levels)
        """
    )
    assert said.split() == ["strong"]


def test_a_killed_host_leaves_no_process_even_if_a_fork_of_it_lives(
    begun: Callable[..., subprocess.Popen[str]],
) -> None:
    """The fork keeps the sockets open, so the supervisor has to notice its new parent."""
    source = """
    zygote = Zygote(torch=False)
    worker = WorkerClient(torch=False, zygote=zygote)
    worker.ask({"op": "reportisolation"})
    fork = os.fork()
    if fork == 0:
        signal.pause()
    print(worker.pid, zygote.process.pid, *children() - {fork}, fork, flush=True)
    signal.pause()
    """
    with begun(source) as process:
        assert process.stdout is not None
        *ours, fork = map(int, process.stdout.readline().split())
        assert len(ours) == 3
        watched = [os.pidfd_open(pid) for pid in ours]
        process.kill()
        for handle in watched:
            assert select.select([handle], [], [], 30)[0] == [handle]
            os.close(handle)
        os.kill(fork, signal.SIGKILL)


@pytest.mark.skipif(os.getuid() != 0, reason="only root has what is taken from it")
@pytest.mark.parametrize("lost", [1, 7], ids=["CAP_DAC_OVERRIDE", "CAP_SETUID"])
def test_root_without_capabilities_is_not_at_level_strong(lost: int, host: Host) -> None:
    by = (sys.executable, "-I", "-S", "-c", WITHOUT, str(lost))
    source = """
    with WorkerClient(torch=False) as worker:
        print(right(), worker.isolation.level, worker.isolation.acts["root"])
    """
    assert host(source, by).split() == ["limited", "limited", "done"]
    readme = (ROOT / "README.md").read_text().splitlines()
    (strong,) = [line for line in readme if "| `strong`" in line]
    for name in ("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "KILL", "SETGID", "SETUID"):
        assert f"`CAP_{name}`" in strong


@pytest.mark.skipif(os.getuid() != 0, reason="only root has what is taken from it")
@pytest.mark.parametrize("owner", [0, 1000], ids=["of root", "of somebody else"])
def test_a_package_that_only_its_owner_can_read_lowers_the_level_or_is_refused(
    owner: int, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    shutil.copytree(ROOT / "grader", closed / "grader", ignore=lambda *_: ["__pycache__"])
    os.chown(closed, owner, owner)
    closed.chmod(0o700)
    source = """
from grader.model.errors import GraderError
from grader.sandbox.client import WorkerClient
with WorkerClient(torch=False) as worker:
    try:
        print(worker.isolation.level, *worker.isolation.missing)
    except GraderError as error:
        print(error)
"""
    by = (sys.executable, "-I", "-S", "-c", WITHOUT, "2")  # CAP_DAC_READ_SEARCH
    environment = dict(os.environ) | {"PYTHONPATH": str(closed)}
    printed = subprocess.check_output(
        [*by, sys.executable, "-P", "-c", source], env=environment, text=True
    )
    if owner == 0:
        assert printed.startswith("limited privileges: other users cannot read /")
    else:
        assert f"cannot read {closed}" in printed
        assert "(chmod -R o+rX)" in printed


@pytest.mark.skipif(os.getuid() != 0, reason="only root's workers are somebody else")
def test_a_temporary_folder_that_only_root_may_enter_lowers_the_level(
    host: Host, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    said = host("""
        from grader.sandbox import config
        config._needed_files = lambda: ()  # as if everybody could read Python's files
        lines = ["import tempfile", "open('here', 'w').close()", "tempfile.TemporaryFile()", ""]
        report = grade(QUESTION, QUESTION.reference + "\\n".join(lines).encode(), seed=3)
        print(report.verdict, report.message)
    """)
    assert said.split() == ["pass"]
