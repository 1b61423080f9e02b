"""How long a grade takes from nothing: with numpy against pytest, and with torch its import.

    python benchmarks/grade.py [--rounds 5] [--json]

The reference of a question is graded, which passes, and its starter, which fails and is diagnosed.
pytest runs equivalent_test_maxpool.py as lean as it gets: an oracle in numpy, no plugin, no cache.
The typer app has five lines and prints a table of forty questions.
Without torch, its part is left out.  Exits with 1 when a limit does not hold.
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
from pathlib import Path

from cold import DRILL, ROOT, Limit, Program, measure, rounds_asked, show
from startup import QUESTIONS, TABLE

NUMPY, TORCH, COMPILER = "maxpool-routing", "vram-bottleneck", "hooked-gradients"
LIMITS = (
    Limit("numpy, pass", 0.6),
    Limit("numpy, pass", 1.5, "pytest"),
    Limit("numpy, pass", 3.4, "typer app"),
    Limit("numpy, fail", 0.8),
    Limit("numpy, fail", 4.2, "typer app"),
)
TORCH_LIMITS = (
    Limit("torch, pass", 1.6, "import torch"),
    Limit("torch, fail", 1.9, "import torch"),
)
COMPILER_LIMITS = (  # of a question whose programs use an optimizer, which needs torch's compiler
    Limit("compiler, pass", 1.6, "import torch._dynamo"),
    Limit("compiler, fail", 1.9, "import torch._dynamo"),
)


def main() -> int:
    """Measure, print, and return the exit status."""
    rounds, as_json = rounds_asked("Cold grades against pytest and import torch.", 5)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "drills" / NUMPY / "reference.py", folder / "submission.py")
        shutil.copy(ROOT / "benchmarks" / "equivalent_test_maxpool.py", folder / "test_it.py")
        lean = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
        pytest = Program("pytest", lean, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
        rows = [
            (f"{NUMPY}-{n}", "Max pooling and its gradient", "hard", "40", "new")
            for n in range(QUESTIONS)
        ]
        (folder / "table.py").write_text(TABLE.format(rows=rows))
        table = Program("typer app", (str(folder / "table.py"),))
        found = measure((*grades("numpy", NUMPY), pytest, table), LIMITS, folder, rounds)
        if importlib.util.find_spec("torch") is not None:
            bare = Program("import torch", ("-c", "import torch"))
            found += measure((*grades("torch", TORCH), bare), TORCH_LIMITS, folder, rounds)
            whole = Program("import torch._dynamo", ("-c", "import torch._dynamo"))
            programs = (*grades("compiler", COMPILER), whole)
            found += measure(programs, COMPILER_LIMITS, folder, rounds)
    return show(found, as_json=as_json)


def grades(uses: str, question: str) -> tuple[Program, Program]:
    """Return the grades of a question's reference and of its starter."""
    drill = ROOT / "drills" / question
    arguments = (*DRILL, "grade", question, "--file")
    return (
        Program(f"{uses}, pass", (*arguments, str(drill / "reference.py"))),
        Program(f"{uses}, fail", (*arguments, str(drill / "starter.py")), status=1),
    )


if __name__ == "__main__":
    sys.exit(main())
