"""Fixtures that call `drill` in this process or another one, in an empty folder."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from grader.commands.app import run
from tests.commands.stand_in import BANK, put_in_place

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Result of a command."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)

    def refused(self, *phrases: str) -> None:
        """Check that it was refused: status 2, nothing on standard output, these words."""
        assert (self.status, self.out) == (2, ""), self
        for words in phrases:
            assert words in self.err, self


Drill = Callable[..., CommandResult]


def follow(drill: Drill, script: str) -> CommandResult:
    """Run the lines of a script, and return the result of its last command.

    COMMAND => STATUS | phrase | !phrase    runs a command; its page has a phrase, or (!) has not
    PATH < TEXT                             writes a file, in which \\n ends a line
    rm PATH                                 removes a file or a folder
    """
    for line in filter(None, map(str.strip, script.splitlines())):
        typed, arrow, expected = line.partition(" => ")
        if line.startswith("rm "):
            gone = Path(line.removeprefix("rm "))
            shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        elif not arrow:
            path, text = line.split(" < ")
            Path(path).write_text(text.replace("\\n", "\n") + "\n", encoding="utf-8")
        else:
            status, *phrases = expected.split(" | ")
            result = drill(*shlex.split(typed))
            page = " ".join(f"{result.out} {result.err}".split())
            assert result.status == int(status), (line, result)
            for words in phrases:
                is_shown = words.removeprefix("!") in page
                assert is_shown is not words.startswith("!"), (line, words, result)
    return result


Program = Callable[..., "subprocess.Popen[str]"]


def without_torch(name: str) -> str | None:
    """Find every module but torch, in the place of `importlib.util.find_spec`."""
    return None if name == "torch" else name


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder for the records, and start in an empty folder."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("DRILL_CANDIDATE", "")  # which a command may set
    for name in ("DRILL_DEBUG", "DRILL_BANK", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def real(home: Path, capsys: pytest.CaptureFixture[str]) -> Drill:
    """Call the command line in this process, with nothing standing in for anything."""
    assert home.name

    def call(*arguments: str) -> CommandResult:
        capsys.readouterr()
        status = run(list(arguments))
        return CommandResult(status, *capsys.readouterr())

    return call


@pytest.fixture
def drill(real: Drill, monkeypatch: pytest.MonkeyPatch) -> Drill:
    """Call the command line in this process, against the stand-ins."""
    for module, name, function in put_in_place():
        monkeypatch.setattr(module, name, function)
    return real


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: Path) -> str:
    """Put a bank in use whose only question, of this name, has two faults."""
    assert home.name
    spec = tmp_path / "broken-yaml.yaml"
    text = (BANK / "questions" / "halve-well.yaml").read_text(encoding="utf-8")
    spec.write_text(text.replace("level: core", "level: 7").replace("minutes: 25", "minutes: x"))
    monkeypatch.setenv("DRILL_BANK", str(spec))
    return spec.stem


@pytest.fixture
def program(home: Path) -> Program:
    """Start the command line in another process, with the stand-ins."""
    assert home.name

    def start(*arguments: str, **more: Any) -> subprocess.Popen[str]:
        pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
        environment = {**more.pop("env", os.environ), "PYTHONPATH": str(ROOT)}
        settings: dict[str, Any] = {"stdin": subprocess.DEVNULL, **pipes, "env": environment}
        command = [sys.executable, "-m", "tests.commands.stand_in", *arguments]
        return subprocess.Popen(command, text=True, **(settings | more))

    return start
