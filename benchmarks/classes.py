"""How fast a class is graded: generated submissions against one cold process each, and pytest.

    python benchmarks/classes.py [--n 50 100 200 400 1000] [--jobs 2] [--uses numpy torch]

The shares are those of a class: 55 % right in several styles, 30 % ideas that the questions list,
8 % other wrong programs, 3 % that raise or do not parse, 2 % empty or the starter, 1 % that hang,
1 % hostile.  No two are equal.  What is compared is measured on a sample, in turns, and multiplied.

Memory is that of the command, its processes and all workers (PSS, sampled every quarter of a
second), CPU time that of the same.  On a machine with other work, CPU time says more.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader import bank
from grader.model.question import Question

ROOT = Path(__file__).parents[1]
USES = {
    "numpy": ("maxpool-routing", "softmax-cross-entropy", "adam-7b-memory"),
    "torch": ("vram-bottleneck",),
}
SHARES = {
    "right": 55, "listed": 30, "other": 8, "broken": 3, "unbegun": 2, "hanging": 1, "hostile": 1,
}  # fmt: skip
BROKEN = ("def f(:\n", "raise ValueError('not yet')\n", "import nothing_like_this\n")
HANGING = "\nwhile True:\n    pass\n"
HOSTILE = (
    "\nimport os\nwhile True:\n    os.fork()\n",
    "\nkept = []\nwhile True:\n    kept.append(bytearray(1 << 24))\n",
    "\nwhile True:\n    print('x' * 65536)\n",
    "\nimport os\nos._exit(0)\n",
    "\nfor n in range(10**9):\n    open(f'file{n}', 'wb').write(b'x' * (1 << 20))\n",
)
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
LONGEST = 60.0  # seconds for pytest, which has no deadline of its own


@dataclass(frozen=True)
class Run:
    """What one command took."""

    seconds: float
    cpu: float
    peak: float  # MiB


def sources(question: Question) -> dict[str, list[bytes]]:
    """The programs of each share; text is appended to make them different."""
    folder = ROOT / "tests" / "solutions" / question.id

    def files(name: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted((folder / name).glob("*.py"))]

    reference, listed = question.reference, question.variants.values()
    return {
        "right": [reference, *question.accepted.values(), *files("right")],
        "listed": [reference + b"\n\n" + one for idea in listed for one in idea],
        "other": files("wrong"),
        "broken": [reference + b"\n" + text.encode() for text in BROKEN],
        "unbegun": [b"", question.starter],
        "hanging": [reference + HANGING.encode()],
        "hostile": [reference + text.encode() for text in HOSTILE],
    }  # fmt: skip


def generate(folder: Path, names: Sequence[str], count: int) -> list[Path]:
    """Write a class: `STUDENT/QUESTION.py`, the questions in turn, the shares as near as can be."""
    rng = random.Random(count)
    known = {name: sources(bank.load([ROOT], name)) for name in names}
    shares = [share for share, percent in SHARES.items() for _ in range(percent)]
    order = [shares[number * 100 // count] for number in range(count)]
    rng.shuffle(order)
    written = []
    for number, share in enumerate(order):
        name = names[number % len(names)]
        source = rng.choice(known[name][share])
        path = folder / f"student{number:05}" / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_bytes(source + f"\n# {number}\n".encode() if source else b"")
        written.append(path)
    return written


def tree(root: int) -> set[int]:
    """A process and all that come from it."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            with suppress(OSError, ValueError):
                stat = Path(f"/proc/{entry}/stat").read_text()
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found, more = {root}, {root}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    return found


def taken(root: int) -> tuple[float, float]:
    """What a process and all that come from it take.

    Returns:
        MiB, what they share counted once, and seconds of CPU time, of those that ended too.
    """
    kilobytes = ticks = 0
    for pid in tree(root):
        with suppress(OSError, ValueError, StopIteration):
            stat = Path(f"/proc/{pid}/stat").read_text()
            ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kilobytes += int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return kilobytes / 1024, ticks / os.sysconf("SC_CLK_TCK")


def measured(command: Sequence[str], folder: Path, limit: float | None = None, **env: str) -> Run:
    """Carry out a command, and measure it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began, peak, seen = time.perf_counter(), 0.0, 0.0
    done = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while done.poll() is None:
        with suppress(subprocess.TimeoutExpired):
            if limit is None:
                now, cpu = taken(done.pid)
                peak, seen = max(peak, now), max(seen, cpu)
            done.wait(0.25 if limit is None else limit)
        if limit is not None and done.poll() is None:
            done.kill()
    seconds = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(seconds, max(cpu, seen), peak)


def graded(
    folder: Path, names: Sequence[str], count: int, jobs: int, level: str, *, dask: bool = False
) -> Run:
    """Grade a class by the command, or on Dask."""
    class_ = folder / f"class{count}"
    if not class_.exists():
        generate(class_, names, count)
    if dask:
        given = [str(class_), str(folder / f"dask{count}"), str(jobs), level, *names]
        return measured([sys.executable, __file__, "--on-dask", *given], folder)
    asked = [word for name in names for word in ("--question", name)]
    command = [
        sys.executable, "-m", "grader", "--bank", str(ROOT), "class", "grade", str(class_), *asked,
        "--out", str(folder / f"results{count}"), "--jobs", str(jobs), "--isolation", level,
        "--seed", "7",
    ]  # fmt: skip
    return measured(command, folder, DRILL_HOME=str(folder / "home"))


def on_dask(class_: Path, out: Path, jobs: int, level: str, names: Sequence[str]) -> None:
    """Grade a class on a Dask cluster of this machine; this is a process of its own."""
    from distributed import LocalCluster

    from grader.app.classes import Plan, grade_class
    from grader.app.context import Context

    cluster: Any = LocalCluster(jobs, threads_per_worker=1, dashboard_address=None)  # type: ignore[no-untyped-call]
    with cluster:
        plan = Plan(
            class_, tuple(names), out, seed=7, level=level,
            scheduler=cluster.scheduler_address,
        )  # fmt: skip
        context = Context(out.parent, out.parent / "home", lambda: "", bank=ROOT)
        print(sum(1 for _ in grade_class(context, plan)))


def sampled(folder: Path, names: Sequence[str], size: int) -> Iterator[tuple[str, Run]]:
    """Grade some of a class in a cold process each, and the same with pytest where it can be."""
    class_ = folder / "sample"
    for path in generate(class_, names, 100)[:size]:
        command = [sys.executable, "-m", "grader", "--bank", str(ROOT), "grade", path.stem,
                   "--file", str(path)]  # fmt: skip
        yield "cold", measured(command, folder, LONGEST, DRILL_HOME=str(folder / "home"))
        if path.stem == "maxpool-routing":
            alone = path.parent / "pytest"
            alone.mkdir()
            shutil.copy(path, alone / "submission.py")
            shutil.copy(ROOT / "benchmarks" / "equivalent_test_maxpool.py", alone / "test_it.py")
            limits = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
            if not any(text in path.read_text(errors="replace") for text in (HANGING, *HOSTILE)):
                yield "pytest", measured([sys.executable, *PYTEST], alone, LONGEST, **limits)


def main() -> None:
    """Print a Markdown table for each library, and lines of the fit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[50, 100, 200, 400, 1000])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--uses", nargs="+", choices=list(USES), default=list(USES))
    parser.add_argument("--isolation", default="strong")
    parser.add_argument("--sample", type=int, default=12, help="of what is compared")
    parser.add_argument("--dask", action="store_true", help="on as many Dask workers too")
    parser.add_argument("--on-dask", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.on_dask:
        class_, out, jobs, level, *asked = chosen.on_dask
        on_dask(Path(class_), Path(out), int(jobs), level, asked)
        return
    for uses in chosen.uses:
        with tempfile.TemporaryDirectory() as name:
            folder, names = Path(name), USES[uses]
            folder.chmod(0o711)
            print(f"\n{uses}, {chosen.jobs} processes, {chosen.isolation}\n")
            print("| n | seconds | per second | CPU s each | peak MiB |\n|---|---|---|---|---|")
            found: list[tuple[int, Run]] = []
            for count in chosen.n:
                run = graded(folder, names, count, chosen.jobs, chosen.isolation)
                found.append((count, run))
                print(f"| {count} | {run.seconds:.1f} | {count / run.seconds:.2f} | "
                      f"{run.cpu / count:.3f} | {run.peak:.0f} |", flush=True)  # fmt: skip
            if len(found) > 1:
                counts = [count for count, _ in found]
                for what, unit, values in (
                    ("time", "s", [run.seconds for _, run in found]),
                    ("CPU time", "s", [run.cpu for _, run in found]),
                    ("memory", "MiB", [run.peak for _, run in found]),
                ):
                    slope, start = np.polyfit(counts, values, 1)
                    print(f"{what}: {start:.1f} {unit} + {slope:.4f} {unit} per submission")
            compare(folder, names, chosen.sample, found[-1])
            if chosen.dask:
                count, local = found[-1]
                run = graded(folder, names, count, chosen.jobs, chosen.isolation, dask=True)
                print(f"| Dask | {run.seconds / count:.3f} | {run.cpu / count:.3f} | "
                      f"{run.seconds:.0f} s | {run.seconds / local.seconds:.2f} |")  # fmt: skip


def compare(folder: Path, names: Sequence[str], size: int, last: tuple[int, Run]) -> None:
    """Print what a sample takes in the ways that are compared, per submission."""
    count, run = last
    others: dict[str, list[Run]] = {}
    for what, one in sampled(folder, names, size):
        others.setdefault(what, []).append(one)
    print(f"\n| way | seconds each | CPU s each | of {count}, extrapolated | ratio |")
    print("|---|---|---|---|---|")
    each = run.seconds / count
    print(f"| class grade | {each:.3f} | {run.cpu / count:.3f} | {run.seconds:.0f} s | 1 |")
    for what, runs in others.items():
        mean = statistics.mean(one.seconds for one in runs)
        cpu = statistics.mean(one.cpu for one in runs)
        print(f"| {what} ({len(runs)} sampled) | {mean:.3f} | {cpu:.3f} | {mean * count:.0f} s "
              f"| {mean / each:.1f} |", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
