"""How fast a class is graded, and what the table of a large one costs.

    python benchmarks/classes.py [--n 50 100 200] [--jobs 2] [--uses numpy torch]
    python benchmarks/classes.py --pretend 1000 10000

The first grades generated submissions by the command.  The shares are those of a class: 55 % right
in several styles, 30 % ideas that the questions list, 8 % other wrong programs, 3 % that raise or
do not parse, 2 % empty or the starter, 1 % that hang, 1 % hostile; no two are equal.  Memory is
that
of the command, its processes and all workers (PSS, sampled every quarter of a second), CPU time
that of the same.  On a machine with other work, CPU time says more.

The second pretends every grade, so that what is left is reading, keeping and going on.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader import bank
from grader.classroom.grading_jobs import GradingJob, LocalPool, grade_all
from grader.classroom.results import ClassResults
from grader.model.classroom import (
    AssignedQuestion,
    ClassSettings,
    HandIn,
    ProgramGrade,
    SubmittedProgram,
)
from grader.model.question import Question
from grader.model.report import Report
from tests import corpus

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


@dataclass(frozen=True)
class Run:
    """What one command took."""

    seconds: float
    cpu: float
    peak: float  # MiB


def sources(question: Question) -> dict[str, list[bytes]]:
    """The programs of each share; text is appended to make them different."""
    right = [program.source for program in corpus.right_programs(question.id).values()]
    wrong = [program.source for program in corpus.wrong_programs(question.id).values()]
    reference, listed = question.reference, question.variants.values()
    until, last = question.accepted_until_part, len(question.spec.parts)
    whole = [text for name, text in question.accepted.items() if until[name] == last]
    return {
        "right": [reference, *whole, *right],
        "listed": [reference + b"\n\n" + one for idea in listed for one in idea],
        "other": wrong,
        "broken": [reference + b"\n" + text.encode() for text in BROKEN],
        "unbegun": [b"", question.starter],
        "hanging": [reference + HANGING.encode()],
        "hostile": [reference + text.encode() for text in HOSTILE],
    }  # fmt: skip


def generate(folder: Path, names: Sequence[str], count: int) -> None:
    """Write a class: `STUDENT/QUESTION.py`, the questions in turn, the shares as near as can be."""
    rng = random.Random(count)
    known = {name: sources(bank.load_question([ROOT], name)) for name in names}
    shares = [share for share, percent in SHARES.items() for _ in range(percent)]
    order = [shares[number * 100 // count] for number in range(count)]
    rng.shuffle(order)
    for number, share in enumerate(order):
        name = names[number % len(names)]
        source = rng.choice(known[name][share])
        path = folder / f"student{number:05}" / f"{name}.py"
        path.parent.mkdir(parents=True)
        path.write_bytes(source + f"\n# {number}\n".encode() if source else b"")


def tree(root: int) -> set[int]:
    """A process and all that come from it."""
    parents: dict[int, int] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            with suppress(OSError, ValueError):
                stat = Path(f"/proc/{entry}/stat").read_text()
                parents[int(entry)] = int(stat.rpartition(")")[2].split()[1])
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def taken(root: int) -> tuple[float, float]:
    """MiB of a process and all that come from it, shared ones once; their seconds of CPU time."""
    kilobytes = ticks = 0
    for pid in tree(root):
        with suppress(OSError, ValueError, StopIteration):
            stat = Path(f"/proc/{pid}/stat").read_text()
            ticks += sum(map(int, stat.rpartition(")")[2].split()[11:15]))
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            kilobytes += int(next(line for line in lines if line.startswith("Pss:")).split()[1])
    return kilobytes / 1024, ticks / os.sysconf("SC_CLK_TCK")


def graded(folder: Path, names: Sequence[str], count: int, jobs: int, level: str) -> Run:
    """Grade a class by the command."""
    generate(folder / f"class{count}", names, count)
    asked = [word for name in names for word in ("--question", name)]
    command = [
        sys.executable, "-m", "grader", "--bank", str(ROOT), "class", "grade",
        str(folder / f"class{count}"), *asked, "--out", str(folder / f"results{count}"),
        "--jobs", str(jobs), "--isolation", level, "--seed", "7",
    ]  # fmt: skip
    began, peak, cpu = time.perf_counter(), 0.0, 0.0
    environment = {**os.environ, "DRILL_HOME": str(folder / "home"), "PYTHONPATH": str(ROOT)}
    done = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while done.poll() is None:
        now, ticked = taken(done.pid)
        peak, cpu = max(peak, now), max(cpu, ticked)
        with suppress(subprocess.TimeoutExpired):
            done.wait(0.25)
    return Run(time.perf_counter() - began, cpu, peak)


class Pretended(LocalPool):
    """Has every grade done at once."""

    def __init__(self, report: Report) -> None:
        """Know what comes of each."""
        super().__init__(2)
        self._report = report

    def grade(self, job: GradingJob) -> ProgramGrade:
        """End a grade as it begins."""
        return ProgramGrade(job.key, self._report)


def pretend(folder: Path, count: int) -> str:
    """Have so many grades pretended and kept, and all of it read again; a row of a table."""
    from grader.explain.session import GradingSession

    with GradingSession(bank.load_question([ROOT], "maxpool-routing")) as session:
        report = session.grade(session.question.starter, seed=1)
    question = AssignedQuestion("maxpool-routing", "", "d" * 64, str(ROOT), (1,), 100)
    terms = ClassSettings(7, "strong", "0", (question,))

    def handed() -> Iterator[tuple[HandIn, SubmittedProgram]]:
        for number in range(count):
            name = f"student{number:07}"
            yield (
                HandIn(name, question.id, f"{name}.py", f"{number:064x}"),
                SubmittedProgram(b"%d" % number + b"x" * 3000),
            )

    def clocked(since: float) -> str:
        return f"{1000 * (time.process_time() - since) / count:.2f}"

    with ClassResults(folder, write=terms) as results:
        times, began = [], time.process_time()
        results.store_hand_ins(handed())
        times.append(clocked(began))
        began = time.process_time()
        waiting = results.programs_to_grade(question)
        jobs = (GradingJob(key, question, program, 7, "strong") for key, program, _ in waiting)
        for one in grade_all(jobs, Pretended(report)):
            results.store_grade(one, "now")
        times.append(clocked(began))
        began = time.process_time()
        assert sum(1 for _ in results.counting_entries()) == count
        times.append(clocked(began))
    size = (folder / "grades.sqlite").stat().st_size / count / 1000
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return f"| {count} | {' | '.join(times)} | {size:.1f} | {peak:.0f} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=[50, 100, 200, 400])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--uses", nargs="+", choices=list(USES), default=list(USES))
    parser.add_argument("--isolation", default="strong")
    parser.add_argument("--pretend", type=int, nargs="+", metavar="N")
    chosen = parser.parse_args()
    if chosen.pretend:
        print("CPU ms for each\n\n| N | reading | keeping | reading again | KB each | peak MiB |")
        print("|---|---|---|---|---|---|")
        for count in chosen.pretend:
            with tempfile.TemporaryDirectory() as name:
                print(pretend(Path(name), count), flush=True)
        return
    for uses in chosen.uses:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            folder.chmod(0o711)
            print(f"\n{uses}, {chosen.jobs} processes, {chosen.isolation}\n")
            print("| n | seconds | per second | CPU s each | peak MiB |\n|---|---|---|---|---|")
            for count in chosen.n:
                run = graded(folder, USES[uses], count, chosen.jobs, chosen.isolation)
                print(
                    f"| {count} | {run.seconds:.1f} | {count / run.seconds:.2f} | "
                    f"{run.cpu / count:.3f} | {run.peak:.0f} |", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    main()
