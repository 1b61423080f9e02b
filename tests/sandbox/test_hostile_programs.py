"""The judge gets an exception, and nothing stays, even if a submission abuses its process.

Every test has a worker of its own; `started` checks that process and scratch folder are gone.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.sandbox.client import LIMITED, LimitExceeded, WorkerClient, WorkerDied
from grader.sandbox.spawn import Zygote
from tests.harness import Lend
from tests.sandbox.running import load, run, started

DEF = "def f(x):\n    "


@pytest.mark.parametrize(
    ("source", "how"),
    [
        (f"import os\n{DEF}os._exit(0)", "exit status 0"),
        (f"import os\n{DEF}os._exit(7)", "exit status 7"),
        ("import os; os._exit(0)", "exit status 0"),
        (f"import os\n{DEF}os.kill(os.getpid(), 9)", "SIGKILL"),
        (f"import ctypes\n{DEF}ctypes.string_at(0)", "SIGSEGV"),
        (f"import os\n{DEF}os.closerange(3, 64)\n    return 1", "exit status 70"),
    ],
)
def test_the_end_of_a_process_is_described_and_later_requests_fail(
    source: str, how: str, lend: Lend
) -> None:
    with started(zygote=lend(torch=False)) as worker:
        with pytest.raises(WorkerDied) as told:
            run(load(worker, source))
        assert str(told.value) == f"ended its process ({how}) before it answered"
        with pytest.raises(WorkerDied):
            worker.ask({"op": "reportisolation"})


@pytest.mark.parametrize(
    "source",
    [
        f"{DEF}print('x' * 100, flush=True)\n    return x",
        f"import os\n{DEF}os.write(2, b'x' * 3_000_000)\n    return x",
        f"import sys\n{DEF}sys.stdout = None\n    return x",
        f"import sys\n{DEF}sys.stdout.close()\n    return x",
        f"import os\n{DEF}os.close(1); os.close(2)\n    return x",
        f"import sys\n{DEF}sys.stdout = sys.stderr = 3\n    return x",
        f"import signal\n{DEF}signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    return x",
        f"import atexit, time\natexit.register(time.sleep, 60)\n{DEF}return x",
        f"import gc\n{DEF}gc.disable(); gc.freeze()\n    return x",
        f"import os\n{DEF}os.chdir('/'); os.environ.clear()\n    return x",
        f"import sys\n{DEF}sys.setrecursionlimit(10**6)\n    return x",
    ],
)
def test_odd_behavior_does_no_harm(source: str, lend: Lend) -> None:
    with started(zygote=lend(torch=False)) as worker:
        outcome = run(load(worker, source))
        assert outcome.values["y"].tolist() == [0, 1, 2]


FILLS = """
import itertools, threading
def fill():
    for n in itertools.count():
        with open(f"f{n}", "wb") as file:
            file.write(b"x" * (8 << 20))
def f(x):
    threading.Thread(target=fill, daemon=True).start()
    return x
"""
BURNS = (
    f"import time\n{DEF}end = time.process_time() + 0.1\n    while time.process_time() < end: pass"
)


def test_threads_of_a_program_are_watched_during_requests_to_another() -> None:
    with WorkerClient(torch=False) as theirs, WorkerClient(torch=False) as ours:
        filling, other = load(theirs, FILLS), load(ours, BURNS)
        run(filling)
        for _ in range(200):
            run(other)
            if theirs.failure is not None:
                break
        assert not Path(theirs.scratch).exists()
        with pytest.raises(LimitExceeded, match="wrote more than 64 MB to files"):
            run(filling)


@pytest.fixture
def no_filter(beginning_with: Callable[[str], None]) -> None:
    """Yield workers without a filter of system calls, as on an unknown machine."""
    beginning_with("from worker.walls import seccomp; seccomp.apply = lambda **_: 'left out'")


# A child, and a grandchild in a session of its own; their ids come back through a file.
STARTS = """\
import os, time
def f(x):
    child = os.fork()
    if not child:
        os.setsid()
        if not os.fork():
            with open("new", "w") as file: file.write(str(os.getpid()))
            os.rename("new", "id")
        time.sleep(600)
        os._exit(0)
    while not os.path.exists("id"): time.sleep(0.001)
    return [child, int(open("id").read())]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="watches processes as Linux does")
@pytest.mark.parametrize("forked", [False, True], ids=["cold", "forked"])
@pytest.mark.usefixtures("no_filter")
def test_processes_that_a_program_starts_end_with_it(forked: bool) -> None:
    with contextlib.ExitStack() as stack:
        zygote = stack.enter_context(Zygote(torch=False)) if forked else None
        worker = stack.enter_context(WorkerClient(torch=False, zygote=zygote))
        assert worker.isolation.level == LIMITED
        assert "process" in worker.isolation.possible_acts
        watched = [os.pidfd_open(pid) for pid in run(load(worker, STARTS)).values["y"]]
        assert select.select(watched, [], [], 0)[0] == []
        worker.close()
        for end in watched:
            assert select.select([end], [], [], 30)[0] == [end]
            os.close(end)
