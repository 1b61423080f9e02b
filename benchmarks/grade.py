"""How long a grade takes, cold, against pytest running an equivalent test file.

    python benchmarks/grade.py [--rounds 15] [--json]

Two submissions of maxpool-routing, the reference and the starter, are graded by `drill grade` and
by pytest, in turn, so that a busy moment of the machine falls on both.  pytest runs
equivalent_test_maxpool.py in three ways: as lean as it gets (an oracle in numpy, no plugin, no
cache), with the plugins that are installed here, and with torch's max_pool2d for the oracle.  Then
every question is graded with its reference and its starter.  Every figure is a median of programs
started from nothing.  Exits with 1 when a bar is exceeded.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAIN = "maxpool-routing"
BAR_SECONDS = 0.7
BAR_RATIO = 0.5  # against the lean way
DRILL = "from grader.cli.app import main; main()"
LEAN = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run pytest: what it is called, and what it adds to the environment."""

    name: str
    environment: dict[str, str]


@dataclass(frozen=True, slots=True)
class Contest:
    """`drill grade` against one way to run pytest on one submission; medians."""

    submission: str
    pytest: str
    drill_seconds: float
    pytest_seconds: float
    ratio: float  # the median of the rounds' ratios


@dataclass(frozen=True, slots=True)
class Grade:
    """The median of one question's cold grades of one submission."""

    question: str
    submission: str
    status: int
    seconds: float


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description="Cold grades against pytest.")
    parser.add_argument("--rounds", type=int, default=15, help="how often (default 15)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        contests = [c for s in ("reference", "starter") for c in compete(s, place, options.rounds)]
        grades = [g for q in questions() for g in grade_all(q, place, max(3, options.rounds // 3))]
    lean = [c for c in contests if c.pytest == "lean, numpy"]
    good = all(c.drill_seconds <= BAR_SECONDS and c.ratio <= BAR_RATIO for c in lean)
    if options.json:
        document = {
            "format": 1,
            "ok": good,
            "machine": machine(),
            "bars": {"seconds": BAR_SECONDS, "ratio": BAR_RATIO},
            "contests": [asdict(c) for c in contests],
            "grades": [asdict(g) for g in grades],
        }
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    else:
        show(contests, grades)
    return 0 if good else 1


def compete(submission: str, place: Path, rounds: int) -> list[Contest]:
    """Grade one submission of the main question in every way, in turn."""
    arena = place / submission
    arena.mkdir()
    shutil.copy(ROOT / "drills" / MAIN / f"{submission}.py", arena / "submission.py")
    shutil.copy(ROOT / "benchmarks" / "equivalent_test_maxpool.py", arena / "test_submission.py")
    by_pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_submission.py"]
    ours: list[float] = []
    theirs: dict[str, list[float]] = {way.name: [] for way in ways()}
    for number in range(rounds + 1):
        drill, status = seconds(drill_command(MAIN, arena / "submission.py"), place)
        assert status == (submission != "reference"), f"drill grade ended with {status}"
        taken = {
            way.name: seconds(by_pytest, arena, way.environment, status=status) for way in ways()
        }
        if number:  # the first round fills the caches
            ours.append(drill)
            for name, (spent, _) in taken.items():
                theirs[name].append(spent)
    return [
        Contest(
            submission,
            name,
            round(statistics.median(ours), 3),
            round(statistics.median(spent), 3),
            round(statistics.median(a / b for a, b in zip(ours, spent, strict=True)), 2),
        )
        for name, spent in theirs.items()
    ]


def ways() -> Iterator[Way]:
    """Yield the ways to run pytest that this machine has."""
    yield Way("lean, numpy", LEAN)
    yield Way("plugins, numpy", {})
    if importlib.util.find_spec("torch") is not None:
        yield Way("lean, torch", LEAN | {"ORACLE": "torch"})


def grade_all(question: str, place: Path, rounds: int) -> Iterator[Grade]:
    """Grade the reference and the starter of a question."""
    for submission in ("reference", "starter"):
        file = ROOT / "drills" / question / f"{submission}.py"
        taken = [seconds(drill_command(question, file), place) for _ in range(rounds + 1)]
        median = round(statistics.median(spent for spent, _ in taken[1:]), 2)
        yield Grade(question, submission, taken[-1][1], median)


def questions() -> list[str]:
    """Return the ids of the questions that can be graded here."""
    command = [sys.executable, "-c", DRILL, "list", "--json"]
    listed = json.loads(subprocess.check_output(command, env=environment(Path.cwd())))
    torch = importlib.util.find_spec("torch") is not None
    return [
        q["id"]
        for q in listed["questions"]
        if torch or "uses: [numpy]" in (ROOT / "questions" / f"{q['id']}.yaml").read_text("utf-8")
    ]


def drill_command(question: str, file: Path) -> list[str]:
    """Return the arguments to python that grade a file."""
    return ["-c", DRILL, "grade", question, "--file", str(file)]


def environment(home: Path) -> dict[str, str]:
    """Return an environment in which records go to a folder of their own."""
    ours = {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(home / "home"), "COLUMNS": "80"}
    return {k: v for k, v in os.environ.items() if not k.startswith(("DRILL_", "PYTEST_"))} | ours


def seconds(
    arguments: list[str], folder: Path, more: dict[str, str] | None = None, *, status: int = -1
) -> tuple[float, int]:
    """Run python; return the wall-clock time and the exit status, which is checked if given."""
    settings = environment(folder) | (more or {})
    command = [sys.executable, *arguments]
    begun = time.perf_counter()
    ended = subprocess.run(command, env=settings, cwd=folder, capture_output=True, check=False)
    spent = time.perf_counter() - begun
    if ended.returncode not in ({0, 1} if status < 0 else {status}):
        sys.stderr.buffer.write(ended.stdout + ended.stderr)
        raise SystemExit(f"{' '.join(command)} ended with {ended.returncode}")
    return spent, ended.returncode


def machine() -> str:
    """Return what the figures were taken on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {cores} cores, Python {python}"


def show(contests: list[Contest], grades: list[Grade]) -> None:
    """Print two small tables."""
    lines = [
        machine(),
        "",
        f"{MAIN:<18}{'pytest, oracle':<16}{'drill, s':>9}{'pytest, s':>11}{'ratio':>7}",
    ]
    lines += [
        f"  {c.submission:<16}{c.pytest:<16}{c.drill_seconds:>9}{c.pytest_seconds:>11}{c.ratio:>7}"
        for c in contests
    ]
    lines += ["", f"{'question':<24}{'submission':<12}{'seconds':>9}"]
    lines += [f"{g.question:<24}{g.submission:<12}{g.seconds:>9}" for g in grades]
    lines += ["", f"bars: {BAR_SECONDS} s, and {BAR_RATIO} times the leanest pytest"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
