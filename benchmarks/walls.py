"""What the walls cost a worker, and what a worker costs.

    python benchmarks/walls.py [--rounds 40] [--json]

The walls are raised in children of this process, one by one, each timed in the child; the figures
are medians.  Forking, importing and
starting afresh are there to compare with.  Exits with 1 when the walls together take 5 ms or more.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import statistics
import struct
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy  # noqa: F401  as a zygote has

from grader.sandbox import config
from grader.sandbox.client import WorkerClient
from grader.sandbox.scratch_folder import ScratchFolder
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker import roles
from grader.sandbox.worker.control import SharedConfig, WorkerConfig
from grader.sandbox.worker.walls import canary, kernel, landlock, seccomp

BAR = 5.0  # milliseconds
WALLS = ("limits", "user and capabilities", "Landlock", "seccomp", "trying them all")


def raised(own: WorkerConfig, shared: SharedConfig, parent: int) -> Iterator[None]:
    """Raise one wall after another."""
    kernel.set_limits(memory=shared.memory, cpu_seconds=own.cpu_seconds, threads=own.threads)
    yield
    kernel.drop_privileges(own.user, shared.readable)
    yield
    roles.die_with_parent(parent)
    landlock.apply([*shared.grants, (landlock.WRITE, own.scratch)])
    yield
    seccomp.apply(devices=False)
    yield
    canary.try_forbidden_acts(
        judge=shared.judge, judge_file=own.judge_file, forbidden=shared.forbidden
    )
    yield


def in_a_child(own: WorkerConfig, shared: SharedConfig) -> list[float]:
    """Milliseconds that each wall takes in a fresh child."""
    reading, writing = os.pipe()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        marks = [time.perf_counter()]
        marks += [time.perf_counter() for _ in raised(own, shared, parent)]
        spent = [1e3 * (after - before) for before, after in itertools.pairwise(marks)]
        os.write(writing, struct.pack(f"{len(WALLS)}d", *spent))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    data = os.read(reading, 8 * len(WALLS))
    os.close(reading)
    return list(struct.unpack(f"{len(WALLS)}d", data))


def milliseconds(act: Callable[[], object]) -> float:
    """How long something takes."""
    start = time.perf_counter()
    act()
    return 1e3 * (time.perf_counter() - start)


def answered(zygote: Zygote | None) -> str:
    """Have a worker start, answer once, and end; return its level."""
    with WorkerClient(torch=False, zygote=zygote) as worker:
        return worker.isolation.level


def main() -> int:
    """Measure, print, and say whether the bar holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found: dict[str, list[float]] = defaultdict(list)
    shared = config.shared_config(torch=False)
    seccomp.prepare(devices=False)  # as a zygote does
    with Zygote(torch=False) as zygote:
        level = answered(zygote)
        for _ in range(options.rounds):
            scratch = ScratchFolder()
            spent = in_a_child(config.worker_config(scratch, 10), shared)
            scratch.remove()
            for wall, took in zip(WALLS, spent, strict=True):
                found[wall].append(took)
            found["all walls"].append(sum(spent))
            found["a worker forked, asked once, ended"].append(
                milliseconds(lambda: answered(zygote))
            )
            found["a worker started afresh, asked once, ended"].append(
                milliseconds(lambda: answered(None))
            )
    medians = {name: round(statistics.median(values), 2) for name, values in found.items()}
    if options.json:
        print(json.dumps({"isolation": level, "milliseconds": medians}))
    else:
        print(f"isolation {level}; medians of {options.rounds} rounds")
        for name, took in medians.items():
            print(f"{took:8.2f} ms  {name}")
    return int(medians["all walls"] >= BAR)


if __name__ == "__main__":
    sys.exit(main())
