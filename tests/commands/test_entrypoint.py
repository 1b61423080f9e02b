"""Every way a command can end: a status, at most two lines, and never a traceback."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from grader import __version__
from grader.commands.entrypoint import split_global_options
from tests.commands.conftest import ROOT, Drill, Program

pytestmark = pytest.mark.usefixtures("one_zygote")


def test_version_and_help(drill: Drill) -> None:
    assert drill("--version").out == f"drill {__version__}\n"
    for arguments in ((), ("bank",)):
        ended = drill(*arguments)
        assert ended.status == 2
        assert "Usage: drill" in ended.out
        assert ended.err == ""


def test_every_command_has_help_that_fits(drill: Drill) -> None:
    pages = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    words = re.findall(r"^(?:## |- \*\*`)drill ([a-z-]+(?: [a-z-]+)?)", pages, re.MULTILINE)
    assert len(words) > 20
    for command in ("", *words):
        ended = drill(*command.split(), "--help")
        assert ended.status == 0, command
        assert drill(*command.split(), "-h") == ended
        assert max(map(len, ended.out.splitlines())) <= 80
        assert "..." not in ended.out.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("grad", "no such command 'grad'; did you mean 'grade'?"),
        ("doctor --jsn", "no such option: --jsn; did you mean --json?"),
        ("grade --seed x", "'--seed': expected a valid integer"),
        ("grade --seed -1", "'--seed': expected a number greater than or equal to 0"),
        ("start", "missing argument 'ID'"),
        ("show a b", "unexpected extra argument"),
        ("history restore", "missing argument 'NUMBER'"),
        ("list --track", "requires an argument"),
        ("grade --file", "drill grade --help shows what it takes"),
        ("bank audit --seeds 0", "expected a number greater than or equal to 1"),
    ],
)
def test_usage_errors(drill: Drill, typed: str, expected: str) -> None:
    ended = drill(*typed.split())
    assert ended.status == 2
    assert ended.out == ""
    assert expected in ended.err.lower().replace("'id'", "'ID'").replace("'number'", "'NUMBER'")
    assert "--help shows what it takes" in ended.err
    assert ended.err.count("\n") == 2


@pytest.mark.parametrize(
    ("typed", "kind", "status"),
    [
        ("show doubel-trouble --json", "usage", 2),
        ("show --json", "usage", 2),
        ("list --json --jsn", "usage", 2),
        ("bank audit halve-well --json --write-proofs", "usage", 2),
        ("--json", "usage", 2),
        ("grade double-trouble --file crash.py --json", "internal", 4),
    ],
)
def test_errors_as_json(drill: Drill, typed: str, kind: str, status: int) -> None:
    Path("crash.py").write_text("# crash")
    ended = drill(*typed.split())
    assert ended.status == status
    assert ended.err == ""
    assert ended.data["format"] == 1
    assert (ended.data["error"]["kind"], ended.data["error"]["status"]) == (kind, status)


def test_every_problem_of_a_bank_is_reported(drill: Drill, broken: str) -> None:
    ended = drill("show", broken)
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.count(f"{broken}.yaml:") == 2
    error = drill("show", broken, "--json").data["error"]
    assert (error["kind"], error["status"], len(error["problems"])) == ("bank", 3, 2)


def test_a_fault_of_the_grader_is_reported_as_its_own(
    drill: Drill, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("crash.py").write_text("# crash")
    ended = drill("grade", "double-trouble", "--file", "crash.py")
    assert ended.status == 4
    assert "the grader is at fault (RuntimeError: the judge fell over)" in ended.err
    (kept,) = (home / "tracebacks").iterdir()
    assert str(kept) in ended.err
    assert "Traceback" in kept.read_text()
    assert drill("history", "--json").data["attempts"][0]["verdict"] is None  # the bytes are safe
    monkeypatch.setenv("DRILL_DEBUG", "1")
    assert "Traceback" in drill("grade", "double-trouble", "--file", "crash.py").err


def test_a_broken_pipe_inside_the_grader_is_no_verdict_and_ctrl_c_is_reported_once(
    drill: Drill,
) -> None:
    Path("file.py").write_text("# broken pipe")
    ended = drill("grade", "double-trouble", "--file", "file.py")
    assert ended.status == 4
    assert "the grader is at fault (BrokenPipeError" in ended.err
    Path("file.py").write_text("# interrupt")
    ended = drill("grade", "double-trouble", "--file", "file.py")
    assert (ended.status, ended.out, ended.err) == (130, "", "interrupted\n")


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        (resource.RLIMIT_FSIZE, 0, "no temporary file can be written"),
        (resource.RLIMIT_NOFILE, 8, "this program may not open more files"),
    ],
)
def test_a_limit_of_the_machine_is_no_fault_of_ours(
    home: Path, limit: int, most: int, said: str
) -> None:
    command = [sys.executable, "-P", "-m", "grader", "--bank", str(ROOT)]
    file = ROOT / "drills" / "maxpool-routing" / "starter.py"
    ended = subprocess.run(
        [*command, "grade", "maxpool-routing", "--file", str(file)],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(limit, (most, most)),
    )  # fmt: skip
    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in " ".join(ended.stderr.split())
    assert "at fault" not in ended.stderr
    assert "ulimit" in ended.stderr
    assert not (home / "tracebacks").exists()


def test_a_disk_without_room_is_no_fault_of_ours(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device", "/tmp/drill-x")

    monkeypatch.setattr("tempfile.mkdtemp", full)
    file = str(ROOT / "drills" / "maxpool-routing" / "starter.py")
    ended = real("--bank", str(ROOT), "grade", "maxpool-routing", "--file", file)
    ended.refused("/tmp/drill-x: the disk is full, or takes no more files", "TMPDIR")


@pytest.mark.parametrize("command", ["list", "--help", "--version", "show double-trouble"])
def test_a_closed_pipe_is_silent(program: Program, command: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = program(*command.split(), stdout=writer)
    os.close(writer)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (141, "")


def test_a_full_disk_behind_the_output_is_one_sentence(program: Program) -> None:
    with Path("/dev/full").open("w") as full:
        process = program("list", stdout=full)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert err == "drill: the output cannot be written: No space left on device\n"


def test_an_output_that_knows_ascii_only(program: Program) -> None:
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    process = program("show", "no-such-\u00e9", env=environment)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "no-such-\\xe9" in err


def test_the_bank_may_be_named_anywhere(drill: Drill, tmp_path: Path) -> None:
    def split(words: str) -> tuple[str, str]:
        options, others = split_global_options(words.split())
        return " ".join(options), " ".join(others)

    assert split("list --bank x --json") == ("--bank x", "list --json")
    assert split("a --bank=x b") == ("--bank=x", "a b")
    assert split("a -- --bank x") == ("", "a -- --bank x")
    assert split("a --bank") == ("--bank", "a")
    options = "--plain --color never --no-pager --color=always"
    assert split(f"a {options.replace('never', 'never b')}") == (options, "a b")
    assert drill("list", "--bank", str(tmp_path)).status == 2
    assert "found nothing at nowhere" in drill("list", "--bank", "nowhere").err


def test_a_folder_removed_under_our_feet(drill: Drill) -> None:
    gone = Path("gone").absolute()
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    ended = drill("grade")
    os.chdir(gone.parent)
    assert ended.status == 2
    assert "the current folder is gone" in ended.err


def test_one_document_even_where_records_are_damaged(drill: Drill, home: Path) -> None:
    home.mkdir()
    (home / "drill.sqlite3").write_bytes(b"not a database " * 100)
    ended = drill("list", "--json")
    assert ended.status == 0
    assert json.loads(ended.out)["format"] == 1
    assert "Your history cannot be read" in ended.err


@pytest.mark.parametrize("installed", [True, False])
def test_the_module_runs_nothing_of_the_folder_it_is_started_in(
    tmp_path: Path, installed: bool
) -> None:
    folder = tmp_path / "stranger"
    folder.mkdir()
    for name in ("typer", "rich", "yaml", "numpy", "json", "sqlite3", "shutil", "tempfile"):
        (folder / f"{name}.py").write_text("import sys\nsys.exit('the folder was run')\n")
    home = {"DRILL_HOME": str(tmp_path / "home")}
    environment = os.environ | home | ({} if installed else {"PYTHONPATH": str(ROOT)})
    command = [sys.executable, "-m", "grader", "list"]
    ended = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "maxpool-routing" in ended.stdout


BAD = "x" * 300


def close(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a folder that nothing in this process can look into, whoever runs it."""
    folder.mkdir()
    closed = folder.absolute()
    for name in ("stat", "lstat", "open", "mkdir", "link", "scandir", "listdir"):
        true = getattr(os, name)

        def refuse(path: Any, *more: Any, true: Any = true, name: str = name, **named: Any) -> Any:
            given = Path(path).absolute() if isinstance(path, str | Path) else Path("/")
            itself = given == closed and name in {"scandir", "listdir", "mkdir"}
            if itself or closed in given.parents:
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return true(path, *more, **named)

        monkeypatch.setattr(os, name, refuse)
        if name == "open":
            monkeypatch.setattr(io, name, partial(refuse, true=io.open))


@pytest.mark.parametrize(
    "words",
    [
        ("grade", "{}"),
        ("grade", "./{}"),
        ("grade", "maxpool-routing", "--file", "{}"),
        ("start", "maxpool-routing", "--dir", "{}"),
        ("bank", "add", "{}"),
        ("--bank", "{}", "list"),
        ("--bank", "{}", "grade", "maxpool-routing"),
        ("history", "restore", "1", "--to", "{}"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("fault", ["too long", "closed", "closed above"])
def test_a_path_that_cannot_be_opened_is_a_sentence(
    real: Drill, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], fault: str
) -> None:
    real("start", "maxpool-routing", "--dir", "mine")
    if words[0] == "history":
        Path("mine/maxpool-routing/submission.py").write_text("(")  # an attempt all the same
        assert real("grade", "maxpool-routing").status == 1
    path = {"too long": BAD, "closed": "closed", "closed above": "closed/bank"}[fault]
    if fault != "too long":
        close(monkeypatch, Path("closed"))
    ended = real(*(word.format(path) for word in words))
    assert ended.status == 2, ended
    assert path.split("/")[0] in ended.err
    assert "at fault" not in ended.err
