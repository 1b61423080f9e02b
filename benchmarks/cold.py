"""Programs started from nothing, in turn, and what each may take: what two benchmarks share.

Each round starts every program once, so that a busy moment of the machine falls on all of them.  A
ratio is the median of the rounds' ratios; seconds are the median of the rounds'.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DRILL = ("-m", "grader")


@dataclass(frozen=True, slots=True)
class Program:
    """What Python is started with, and the exit status it must end with."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    status: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that a program may take: seconds, or times what another program takes."""

    program: str
    most: float
    baseline: str = ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One limit and what was measured."""

    program: str
    seconds: float
    baseline: str
    measured: float  # seconds, or the ratio to the baseline
    most: float
    holds: bool


def rounds_asked(description: str, default: int) -> tuple[int, bool]:
    """Return the options of the command line: how many rounds, and whether to print JSON."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=default, help=f"default {default}")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    return options.rounds, options.json


def measure(
    programs: Sequence[Program], limits: Sequence[Limit], folder: Path, rounds: int
) -> list[Figure]:
    """Start every program in each round and return a figure for each limit."""
    compileall.compile_dir(ROOT / "grader", quiet=2)  # as pip leaves what it installs
    taken: dict[str, list[float]] = {program.name: [] for program in programs}
    for number in range(rounds + 1):
        for program in programs:
            spent = seconds(program, folder)
            if number:  # the first round fills the caches
                taken[program.name].append(spent)
    found = []
    for limit in limits:
        own = taken[limit.program]
        compared = own
        if limit.baseline:
            compared = [a / b for a, b in zip(own, taken[limit.baseline], strict=True)]
        measured = round(statistics.median(compared), 2)
        usual = round(statistics.median(own), 3)
        holds = measured <= limit.most
        found.append(Figure(limit.program, usual, limit.baseline, measured, limit.most, holds))
    return found


def environment(folder: Path) -> dict[str, str]:
    """Return an environment in which `drill` is this checkout and its records are the folder's."""
    own = {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(folder / "home"), "COLUMNS": "80"}
    return {k: v for k, v in os.environ.items() if not k.startswith(("DRILL_", "PYTEST_"))} | own


def seconds(program: Program, folder: Path) -> float:
    """Run a program in a folder and return the wall-clock time it took."""
    command = [sys.executable, *program.arguments]
    settings = environment(folder) | dict(program.environment)
    begun = time.perf_counter()
    ended = subprocess.run(command, env=settings, cwd=folder, capture_output=True, check=False)
    spent = time.perf_counter() - begun
    if ended.returncode != program.status:
        sys.stderr.buffer.write(ended.stdout + ended.stderr)
        raise SystemExit(f"{program.name}: expected status {program.status}: {ended.returncode}")
    return spent


def show(figures: Sequence[Figure], *, as_json: bool) -> int:
    """Print the figures; return the exit status, 1 where a limit does not hold."""
    good = all(figure.holds for figure in figures)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    machine = f"{platform.system()} {platform.machine()}, {cores} cores, Python "
    machine += platform.python_version()
    if as_json:
        document = {"format": 2, "ok": good, "machine": machine}
        rows = [asdict(figure) for figure in figures]
        sys.stdout.write(json.dumps(document | {"figures": rows}, indent=2) + "\n")
        return 0 if good else 1
    lines = [machine, f"{'':<30}{'seconds':>8}  {'measured':<38}{'at most':>8}"]
    for figure in figures:
        said = f"{figure.measured} times {figure.baseline}" if figure.baseline else "seconds"
        end = "" if figure.holds else "  too slow"
        lines.append(f"{figure.program:<30}{figure.seconds:>8}  {said:<38}{figure.most:>8}{end}")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0 if good else 1
