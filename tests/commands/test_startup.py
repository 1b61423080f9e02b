"""Start-up is fast: modules that a command may load, and words that completion offers."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"numpy", "torch", "pydantic", "rich", "yaml", "sqlite3", "json", "platformdirs", "fsrs"}

_LOADED = """
import sys
from grader.commands.app import run
status = run(sys.argv[1:])
names = {name.split(".")[0] for name in sys.modules}
sys.stderr.write(" ".join([str(status), *sorted(names)]))
"""


def imported(home: Path, *arguments: str, code: str) -> set[str]:
    """Return the names that a program prints about a command that ends with 0."""
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DRILL_HOME": str(home)}
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    status, *names = ended.stderr.split()
    assert status == "0"
    return set(names)


def loaded(home: Path, *arguments: str, code: str = _LOADED) -> set[str]:
    """Return which of the heavy modules a command loads."""
    return HEAVY & imported(home, *arguments, code=code)


def test_what_a_command_loads(tmp_path: Path) -> None:
    assert loaded(tmp_path, "--version") == set()
    assert loaded(tmp_path, "grade", "--help") == set()
    assert loaded(tmp_path, "list") <= {"yaml", "sqlite3"}
    assert loaded(tmp_path, "next") <= {"yaml", "sqlite3", "json"}
    assert loaded(tmp_path, "history") <= {"sqlite3", "json"}
    assert loaded(tmp_path, "show", "maxpool-routing") <= {"yaml", "sqlite3", "json", "pydantic"}
    assert loaded(tmp_path, "--bank", str(ROOT), "list") <= {"yaml", "sqlite3", "json"}


_LOADED_COMMANDS = """
import sys
from grader.commands.app import run
status = run(sys.argv[1:])
names = {name.rpartition(".")[2] for name in sys.modules if name.startswith("grader.commands.")}
sys.stderr.write(" ".join([str(status), *sorted(names)]))
"""
SHARED_FILES = {"app", "context", "entrypoint", "options", "output", "schedule", "workspaces"}


def test_a_command_imports_no_file_of_another_command(tmp_path: Path) -> None:
    def files_of(*arguments: str) -> set[str]:
        return imported(tmp_path, *arguments, code=_LOADED_COMMANDS) - SHARED_FILES

    assert files_of("list") == {"list_and_next"}
    assert files_of("--bank", str(ROOT), "list") == {"list_and_next"}
    assert files_of("show", "maxpool-routing") == {"show"}
    assert files_of("history") == {"files", "history"}


_WHEN_WORKERS_START = """
import sys
from grader.sandbox import spawn
def start(zygote, **about):
    sys.stderr.write("0 " + " ".join({name.split(".")[0] for name in sys.modules}))
    sys.exit()
spawn.Zygote.__init__ = start
from grader.commands.app import run
run(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no zygote imports numpy meanwhile")
def test_workers_start_before_what_takes_long_is_imported(tmp_path: Path) -> None:
    reference = ROOT / "drills" / "maxpool-routing" / "reference.py"
    command = ["--bank", str(ROOT), "grade", "maxpool-routing", "--file", str(reference)]
    imported = loaded(tmp_path, *command, code=_WHEN_WORKERS_START)
    assert not imported & {"numpy", "torch", "pydantic", "rich"}


class _Interrupted:
    """Finds modules as if Ctrl-C came while the command line is imported."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "grader.commands.app":
            raise KeyboardInterrupt


def test_an_interrupt_while_commands_are_imported_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "grader.commands.app")
    monkeypatch.setattr(sys, "meta_path", [_Interrupted(), *sys.meta_path])
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["drill"]
    with pytest.raises(SystemExit) as ended:
        metadata.EntryPoint("drill", named, "console_scripts").load()()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted\n"


_INTERRUPTED_AT_THE_END = """
import atexit, multiprocessing, os, signal
atexit.register(os.kill, os.getpid(), signal.SIGINT)
from grader.commands.app import main
main()
"""


def test_an_interrupt_of_a_command_that_ends_changes_nothing() -> None:
    command = [sys.executable, "-c", _INTERRUPTED_AT_THE_END, "--version"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def complete(home: Path, words: str) -> list[str]:
    """Return the words that completion offers for the last word."""
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "DRILL_HOME": str(home),
        "_DRILL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    command = [sys.executable, "-c", "from grader.commands.app import main; main()"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return ended.stdout.split()


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Give a bank of two questions, one of which is not even YAML."""
    folder = tmp_path / "bank"
    (folder / "questions").mkdir(parents=True)
    head = "format: 1\ntitle: One\ntrack: first\nlevel: core\nminutes: 5\n"
    (folder / "questions" / "alpha-one.yaml").write_text(head)
    (folder / "questions" / "alpha-two.yaml").write_text("{[ not yaml")
    return folder


def test_ids_are_completed_for_every_command_that_takes_one(tmp_path: Path, bank: Path) -> None:
    commands = "show,start,grade,hint,solution,reset,bank audit,bank preview"
    for command in commands.split(","):
        assert complete(tmp_path, f"drill --bank {bank} {command} alpha-t") == ["alpha-two"]
    offered = ["alpha-one", "alpha-two", "restore"]
    assert complete(tmp_path, f"drill --bank {bank} history ") == offered


def test_tracks_and_commands_are_completed(tmp_path: Path, bank: Path) -> None:
    assert complete(tmp_path, f"drill --bank {bank} list --track f") == ["first"]
    assert complete(tmp_path, "drill sol") == ["solution"]
    assert complete(tmp_path, "drill grade --s") == ["--seed"]
