"""A command that is run in a stranger's folder runs no module of that folder.

The folder holds a file for every module that can be imported here. Each leaves a mark.
"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import pytest

from grader.bank import load_question
from tests.attacks.attack import MINI
from tests.classroom.builders import REFERENCE, notebook

pytestmark = pytest.mark.same_for_every_user

ROOT = Path(__file__).parents[2]
# As pip writes it: the folder of the script is on its path, and not the current one.
ENTRY = "import sys\nfrom grader.commands.app import main\nsys.exit(main())\n"
# Marks by its file's name. What imports it goes on, as if it had found the module that it wanted.
MARK = """\
with open({marks!r}, "a") as marks:
    marks.write(__file__ + "\\n")
"""
PACKAGES = ("pickle", "json", "multiprocessing", "numpy", "grader", "worker")
OURS = {"grader", "submission", "worker", "boot", "sitecustomize", "usercustomize", "drill"}


@dataclass(frozen=True, slots=True)
class Stranger:
    """Yield a folder full of traps, and a function that runs `drill` in it."""

    folder: Path
    work: Path  # of ours

    @property
    def environment(self) -> dict[str, str]:
        ours = {"DRILL_HOME": str(self.work / "home"), "PYTHONPATH": str(ROOT), "EDITOR": "true"}
        known = {k: v for k, v in os.environ.items() if not k.startswith(("DRILL_", "PYTHON"))}
        return known | ours | {"TERM": "xterm", "PAGER": "cat"}

    @property
    def command(self) -> list[str]:
        return [sys.executable, str(self.work / "drill")]

    def drill(
        self, *arguments: str, status: int = 0, typed: str = "", cwd: Path | None = None
    ) -> str:
        """Run a command in the folder; see that it ends as expected and left no mark."""
        ended = subprocess.run(
            [*self.command, *arguments], cwd=cwd or self.folder, env=self.environment, input=typed,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert self.marks() == [], arguments
        assert ended.returncode == status, (arguments, ended.stdout, ended.stderr)
        return ended.stdout

    def marks(self) -> list[str]:
        """Return the traps that were run."""
        marks = self.work / "marks"
        return sorted(set(marks.read_text().splitlines())) if marks.exists() else []


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    """Make a folder with a trap for each module."""
    made = Stranger(tmp_path / "stranger", tmp_path / "work")
    for folder in (made.folder, made.work):
        folder.mkdir()
    (made.work / "drill").write_text(ENTRY)
    trap = MARK.format(marks=str(made.work / "marks"))
    names = OURS | sys.stdlib_module_names | metadata.packages_distributions().keys()
    for name in filter(str.isidentifier, names):
        (made.folder / f"{name}.py").write_text(trap)
    for name in PACKAGES:
        (made.folder / name).mkdir()
        (made.folder / name / "__init__.py").write_text(trap)
    (made.folder / ".pdbrc").write_text(f"!open({str(made.work / 'marks')!r}, 'a').write('.pdbrc')")
    return made


def test_the_traps_work(stranger: Stranger) -> None:
    """A Python with the folder on its path runs them: with -c, with -m and in pdb."""
    for words in (["-c", "import signal, pickle"], ["-m", "signal"], ["-m", "pdb", __file__]):
        subprocess.run(
            [sys.executable, *words], cwd=stranger.folder, input="q\n", capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert stranger.marks() != [], words
        (stranger.work / "marks").unlink()


@pytest.mark.parametrize(
    "asked", ["deviations", pytest.param("squares-graph", marks=pytest.mark.slow)]
)
def test_grading_a_class_runs_no_module_of_the_folder(stranger: Stranger, asked: str) -> None:
    if asked == "squares-graph" and find_spec("torch") is None:
        pytest.skip("torch is not installed")
    reference = (MINI / "drills" / asked / "reference.py").read_text()
    for name in ("ann", "bo", "signal"):
        (stranger.folder / name).mkdir(exist_ok=True)
    (stranger.folder / "ann" / f"{asked}.py").write_text(reference)
    (stranger.folder / "bo" / f"{asked}.ipynb").write_bytes(notebook(reference))
    (stranger.folder / "signal" / "__init__.py").write_text("")
    (stranger.folder / "signal" / f"{asked}.py").write_text(reference)
    out = str(stranger.work / "results")
    words = ["--bank", str(MINI), "class", "grade", ".", "--question", asked, "--out", out]
    stranger.drill(*words, "--layout", "folders", "--jobs", "2", "--isolation", "process")
    csv = stranger.work / "class.csv"
    stranger.drill("class", "export", out, "--csv", str(csv))
    assert csv.read_text().count('"pass"') == 3
    stranger.drill("class", "report", out, "--html", str(stranger.work / "class.html"))


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("grade deviations --file ../work/right", 0),
        # These questions are not ready.
        pytest.param("bank audit --seeds 1 --jobs 2", 3, marks=pytest.mark.slow),
        pytest.param("doctor --walls", 0, marks=pytest.mark.slow),
    ],
)
def test_a_command_runs_no_module_of_the_folder(
    stranger: Stranger, words: str, status: int
) -> None:
    (stranger.work / "right").write_text(REFERENCE)
    stranger.drill("--bank", str(MINI), *words.split(), status=status)


@pytest.mark.slow
def test_a_drill_from_start_to_end_runs_no_module_of_the_folder(stranger: Stranger) -> None:
    """The command is run in the stranger's folder, and the drill is in another one."""
    bank, elsewhere = ("--bank", str(MINI)), str(stranger.work)
    stranger.drill(*bank, "start", "deviations", "--dir", elsewhere, "--edit")
    name = next(iter(load_question([MINI], "deviations").spec.cases))
    stranger.drill(*bank, "case", name, "deviations")
    shutil.copy(stranger.folder / ".pdbrc", stranger.work / "deviations" / "cases")
    said = stranger.drill(*bank, "case", name, "deviations", "--debug", typed="q\n")
    assert "(Pdb)" in said
    stranger.drill("start", "read-the-trace", "--dir", elsewhere)
    stranger.drill("run", "read-the-trace")
    own = stranger.work / "deviations"  # with files of a stranger's beside the submission
    for trap in stranger.folder.glob("*.py"):
        if not (own / trap.name).exists():
            (own / trap.name).write_bytes(trap.read_bytes())
    stranger.drill("grade", status=1, cwd=own)


def test_an_assistants_grade_runs_no_module_of_the_folder(stranger: Stranger) -> None:
    stranger.drill("--bank", str(MINI), "start", "deviations", "--dir", str(stranger.work))
    hello = {
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }  # fmt: skip
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {
            "id": 2,
            "method": "tools/call",
            "params": {"name": "grade", "arguments": {"question": "deviations"}},
        },
    ]
    process = subprocess.Popen(
        [*stranger.command, "--bank", str(MINI), "mcp"], cwd=stranger.folder,
        env=stranger.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()
        answers = map(json.loads, process.stdout)
        result = next(one["result"] for one in answers if one.get("id") == 2)
        process.stdin.close()
    assert result["structuredContent"]["verdict"] == "fail", result
    assert stranger.marks() == []


def test_watching_runs_no_module_of_the_folder(stranger: Stranger) -> None:
    stranger.drill("--bank", str(MINI), "start", "deviations", "--dir", str(stranger.work))
    near, far = pty.openpty()
    process = subprocess.Popen(
        [*stranger.command, "--bank", str(MINI), "watch", "deviations"], cwd=stranger.folder,
        env=stranger.environment, stdin=far, stdout=far, stderr=far, start_new_session=True,
    )  # fmt: skip
    os.close(far)
    shown = b""
    with process:
        while b"FAIL" not in shown:
            shown += os.read(near, 1 << 16)
        os.write(near, b"q")
        with suppress(OSError):  # the other end is closed
            while os.read(near, 1 << 16):
                pass
    os.close(near)
    assert process.returncode == 0
    assert stranger.marks() == []
