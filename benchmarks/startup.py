"""How long `drill` takes to say anything, as a ratio to the least that typer can do.

    python benchmarks/startup.py [--rounds 21] [--json]

Each round starts every program once, ours and the five-line one it is held against, in turn, so
that a busy moment of the machine falls on both; the figure is the median of the rounds' ratios.
The list is measured on a bank of thirty questions, copies of those that come with the program.
Exits with 1 when a bar is exceeded.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = 30

DRILL = """
import sys
from grader.cli.app import main
sys.exit(main())
"""

ONE_LINE = """
import typer
app = typer.Typer()
@app.command()
def main() -> None: print("drill 0.1.0")
app()
"""

ONE_TABLE = """
import typer
from rich import box, console, table
app = typer.Typer()
@app.command()
def main() -> None:
    shown = table.Table("question", "title", "level", "min", "you", box=None)
    for row in {rows!r}: shown.add_row(*row)
    console.Console().print(shown)
app()
"""


@dataclass(frozen=True, slots=True)
class Contest:
    """Ours against the least that typer can do, and how many times that is allowed."""

    name: str
    ours: tuple[str, ...]
    least: str
    bar: float
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The medians of one contest, and the median of the ratios."""

    name: str
    ms: float
    least_ms: float
    ratio: float
    bar: float

    @classmethod
    def of(cls, contest: Contest, taken: list[tuple[float, float]]) -> Result:
        """Sum up what was measured, in seconds, of both in each round."""
        return cls(
            contest.name,
            round(1000 * statistics.median(ours for ours, _ in taken), 1),
            round(1000 * statistics.median(least for _, least in taken), 1),
            round(statistics.median(ours / least for ours, least in taken), 3),
            contest.bar,
        )


CONTESTS = (
    Contest("drill --version", ("--version",), "line.py", 1.1),
    Contest(
        "completion of ids",
        (),
        "line.py",
        1.1,
        (("_DRILL_COMPLETE", "complete_bash"), ("COMP_WORDS", "drill grade "), ("COMP_CWORD", "2")),
    ),
    Contest("drill list", ("list",), "table.py", 1.25),
)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description="Start-up of drill against a five-line typer app.")
    parser.add_argument("--rounds", type=int, default=21, help="how often (default 21)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = prepare(place)
        results = measure(place, environment, options.rounds)
    if options.json:
        sys.stdout.write(
            json.dumps({"format": 1, "results": [asdict(r) for r in results]}, indent=2) + "\n"
        )
    else:
        show(results)
    return 0 if all(result.ratio <= result.bar for result in results) else 1


def prepare(place: Path) -> dict[str, str]:
    """Write the programs and a bank of thirty questions; return the environment to run in."""
    specs = sorted((ROOT / "questions").glob("*.yaml"))
    (place / "bank" / "questions").mkdir(parents=True)
    for number in range(QUESTIONS):
        spec = specs[number % len(specs)]
        name = f"{spec.stem}-{number}" if number >= len(specs) else spec.stem
        shutil.copy(spec, place / "bank" / "questions" / f"{name}.yaml")
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "DRILL_HOME": str(place / "home"),
        "DRILL_BANK": str(place / "bank"),
        "COLUMNS": "80",
    }
    (place / "drill.py").write_text(DRILL)
    (place / "line.py").write_text(ONE_LINE)
    command: list[str | Path] = [sys.executable, place / "drill.py", "list", "--json"]
    found = json.loads(subprocess.check_output(command, env=environment))["questions"]
    rows = [(q["id"], q["title"], q["level"], str(q["minutes"]), q["state"]) for q in found]
    (place / "table.py").write_text(ONE_TABLE.format(rows=rows))
    record_a_start(environment, place)
    return environment


def record_a_start(environment: dict[str, str], place: Path) -> None:
    """Start a drill, so that the list has records to read, as it has for everybody."""
    first = sorted((ROOT / "questions").glob("*.yaml"))[0].stem
    settings = environment | {"DRILL_BANK": str(ROOT)}
    arguments: list[str | Path] = ["start", first, "--dir", place / "work"]
    command = [sys.executable, place / "drill.py", *arguments]
    subprocess.run(command, env=settings, check=False, capture_output=True)


def measure(place: Path, environment: dict[str, str], rounds: int) -> list[Result]:
    """Return, for each contest, both medians in milliseconds and the median ratio."""
    taken: dict[str, list[tuple[float, float]]] = {contest.name: [] for contest in CONTESTS}
    for number in range(rounds + 1):
        for contest in CONTESTS:
            least = seconds([place / contest.least], environment)
            settings = environment | dict(contest.environment)
            ours = seconds([place / "drill.py", *contest.ours], settings)
            if number:  # the first round fills the caches
                taken[contest.name].append((ours, least))
    return [Result.of(contest, taken[contest.name]) for contest in CONTESTS]


def seconds(arguments: list[Path | str], environment: dict[str, str]) -> float:
    """Run a program and return the wall-clock time it took."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, check=True, capture_output=True)
    return time.perf_counter() - begun


def show(results: list[Result]) -> None:
    """Print a small table."""
    lines = [f"{'':<20}{'ms':>8}{'typer, ms':>12}{'ratio':>8}{'bar':>7}"]
    lines += [f"{r.name:<20}{r.ms:>8}{r.least_ms:>12}{r.ratio:>8}{r.bar:>7}" for r in results]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
