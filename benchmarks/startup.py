"""How long `drill list` takes, against a five-line typer app that prints the same rich table.

    python benchmarks/startup.py [--rounds 15] [--json]

The bank has forty questions, copies of those that come with the program, and a drill is started, so
that there are records to read.  Exits with 1 when the limit does not hold.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from cold import DRILL, ROOT, Limit, Program, environment, measure, rounds_asked, show

QUESTIONS = 40
TABLE = """
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
LIMITS = (Limit("drill list", 0.8, "typer app"),)


def main() -> int:
    """Measure, print, and return the exit status."""
    rounds, as_json = rounds_asked("Start-up of drill against a five-line typer app.", 15)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bank = make_bank(folder / "bank")
        first = min((ROOT / "questions").glob("*.yaml")).stem
        run(folder, "start", first, "--dir", "work")
        found = json.loads(run(folder, "--bank", str(bank), "list", "--json"))["questions"]
        rows = [(q["id"], q["title"], q["level"], str(q["minutes"]), q["state"]) for q in found]
        (folder / "table.py").write_text(TABLE.format(rows=rows))
        programs = (
            Program("drill list", (*DRILL, "list"), {"DRILL_BANK": str(bank)}),
            Program("typer app", (str(folder / "table.py"),)),
        )
        return show(measure(programs, LIMITS, folder, rounds), as_json=as_json)


def make_bank(bank: Path) -> Path:
    """Make a bank of forty questions."""
    specs = sorted((ROOT / "questions").glob("*.yaml"))
    (bank / "questions").mkdir(parents=True)
    for number in range(QUESTIONS):
        spec = specs[number % len(specs)]
        copy = spec.stem if number < len(specs) else f"{spec.stem}-{number}"
        shutil.copy(spec, bank / "questions" / f"{copy}.yaml")
    return bank


def run(folder: Path, *arguments: str) -> bytes:
    """Run drill once and return what it printed."""
    command = [sys.executable, *DRILL, *arguments]
    return subprocess.check_output(command, env=environment(folder), cwd=folder)


if __name__ == "__main__":
    sys.exit(main())
