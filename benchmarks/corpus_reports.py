"""Write the report of every file of the corpus, or say where two such collections differ.

    python benchmarks/corpus_reports.py write OUT.jsonl [--tree CHECKOUT] [--only QUESTION]
    python benchmarks/corpus_reports.py compare BEFORE.jsonl AFTER.jsonl

Each file of `tests/solutions`, each starter and each reference is graded by the command line with
the same seed.  What a clock or a byte counter of the system says is left out of a comparison; so
is what only a newer report has.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SEED = 20
# Of a report: clocks; and of a check: what depends on the machine.
UNSTABLE = {"seconds", "figures", "isolation", "sha256", "printed"}
MEASURED = {"performance"}  # kinds whose verdict may be `inconclusive` on a busy machine


def corpus(tree: Path) -> Iterator[tuple[str, Path]]:
    """Question and file of everything there is to grade."""
    for folder in sorted((tree / "tests" / "solutions").iterdir()):
        for path in sorted(folder.glob("*/*.py")):
            yield folder.name, path
        for name in ("starter.py", "reference.py"):
            yield folder.name, tree / "drills" / folder.name / name


def graded(tree: Path, question: str, path: Path, home: str) -> dict[str, Any]:
    """One report, with the name of its file."""
    command = [sys.executable, "-m", "grader", "grade", question, "--file", str(path)]
    found = subprocess.run(
        [*command, "--seed", str(SEED), "--json"],
        cwd=tree,
        env={**os.environ, "DRILL_HOME": home},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        report = json.loads(found.stdout)
    except ValueError:
        report = {"unreadable": found.stdout[-500:] + found.stderr[-500:]}
    return {"file": path.relative_to(tree).as_posix(), "exit": found.returncode, "report": report}


def write(out: Path, tree: Path, only: str | None, jobs: int) -> None:
    """Grade everything and write a line of JSON for each file."""
    wanted = [(q, p) for q, p in corpus(tree) if only in (None, q)]
    with (
        tempfile.TemporaryDirectory() as home,
        ThreadPoolExecutor(jobs) as pool,
        out.open("w", encoding="utf-8") as file,
    ):
        for row in pool.map(lambda item: graded(tree, item[0], item[1], home), wanted):
            file.write(json.dumps(row, sort_keys=True) + "\n")
            file.flush()


def differences(before: Any, after: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 JSON
    """Where two documents differ, as dotted paths with both values."""
    if isinstance(before, dict) and isinstance(after, dict):
        unstable = (
            UNSTABLE if before.get("kind") not in MEASURED else {*UNSTABLE, "message", "exhibit"}
        )
        for key in before:
            if key not in unstable:
                yield from differences(before[key], after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, pair in enumerate(zip(before, after, strict=True)):
            yield from differences(*pair, f"{path}[{number}]")
    elif before != after:
        yield f"{path}: {json.dumps(before)[:300]} -> {json.dumps(after)[:300]}"


def compare(before: Path, after: Path) -> int:
    """Print every difference; return how many files have one."""

    def read(path: Path) -> dict[str, Any]:
        lines = path.read_text(encoding="utf-8").splitlines()
        return {row["file"]: row for row in map(json.loads, lines)}

    old, new = read(before), read(after)
    different = 0
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name}: only {'before' if name in old else 'after'}")
            different += 1
        elif found := list(differences(old[name], new[name])):
            print(name, *(f"    {line}" for line in found), sep="\n")
            different += 1
    verdicts = Counter(row["report"].get("verdict", "none") for row in new.values())
    print(f"{len(new)} files, {different} with differences; verdicts now: {dict(verdicts)}")
    return different


def main() -> int:
    """Parse, and do the one or the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("out", type=Path)
    writing.add_argument("--tree", type=Path, default=ROOT)
    writing.add_argument("--only")
    writing.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.command == "write":
        write(chosen.out.resolve(), chosen.tree.resolve(), chosen.only, chosen.jobs)
        return 0
    return min(1, compare(chosen.before, chosen.after))


if __name__ == "__main__":
    sys.exit(main())
