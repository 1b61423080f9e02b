"""Whether a verdict depends on load: a right solution in plain Python loops beside busy loops.

    python benchmarks/load.py [--loops 4] [--grades 20]

Prints the verdicts and the seconds by the clock, alone and beside the busy loops.  Exits with 1
where a verdict differs from a pass.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from grader import bank
from grader.explain.session import GradingSession
from grader.model.report import Verdict
from tests import corpus

ROOT = Path(__file__).parents[1]
SLOWEST = {"maxpool-routing": "plain_loops", "conv1d-per-step": "plain_loops"}


def graded(name: str, source: bytes, grades: int) -> tuple[Counter[str], float]:
    """The verdicts on a program, each with another seed, and the median of the seconds."""
    verdicts, seconds = Counter[str](), []
    with GradingSession(bank.load_question([ROOT], name)) as session:
        for seed in range(grades):
            began = time.perf_counter()
            verdicts[session.grade(source, seed=seed).verdict] += 1
            seconds.append(time.perf_counter() - began)
    return verdicts, statistics.median(seconds)


def busy(loops: int) -> Sequence[subprocess.Popen[bytes]]:
    """Processes that never wait."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]


def main() -> int:
    """Print what came of each program, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loops", type=int, default=4)
    parser.add_argument("--grades", type=int, default=20)
    chosen = parser.parse_args()
    status = 0
    for name, solution in SLOWEST.items():
        source = corpus.right_programs(name)[solution].source
        for loops in (0, chosen.loops):
            others = busy(loops)
            try:
                verdicts, seconds = graded(name, source, chosen.grades)
            finally:
                for one in others:
                    one.kill()
                    one.wait()
            print(
                f"{name}, beside {loops} busy loops: {dict(verdicts)}, {seconds:.1f} s", flush=True
            )
            status |= verdicts.keys() != {Verdict.PASS}
    return status


if __name__ == "__main__":
    sys.exit(main())
