"""`drill watch` redraws one page at every save, and leaves the terminal as it was."""

from __future__ import annotations

import itertools
import json
import os
import random
import select
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.commands.conftest import ROOT, Drill, Program
from tests.commands.on_terminal import OnTerminal

FILE = Path("double-trouble", "submission.py")
KEYS = "h hint  c case  p question  d diff  f full  r again  e edit  n next  q quit"


@pytest.fixture
def watch(drill: Drill) -> Callable[..., OnTerminal]:
    """Start a drill, and then to watch it on a terminal."""
    drill("start", "double-trouble")

    def on_terminal(*arguments: str, columns: int = 80, rows: int = 24, **more: str) -> OnTerminal:
        return OnTerminal("watch", *arguments, columns=columns, rows=rows, **more)

    return on_terminal


def save(text: str) -> None:
    """Save as an editor that replaces the file in one step."""
    aside = FILE.with_name("aside")
    aside.write_text(f"# {text}\n")
    aside.rename(FILE)


def test_a_new_page_replaces_the_last_one(watch: Callable[..., OnTerminal], drill: Drill) -> None:
    here = watch()
    first = here.until(KEYS)
    assert "FAIL  double-trouble/submission.py   double-trouble   0 of 25 min\r\n" in first
    assert "Graded at " in first
    assert "Next:" not in first
    save("pass")
    page = here.until("s solution  p question  d diff")
    assert page.startswith("...")  # the old page stays meanwhile
    assert "PASS  double-trouble/submission.py" in page
    assert "Since the last save: value passes now." in page
    save("fail")
    assert "Since the last save: new: value." in here.until(KEYS)
    here.type("r")
    assert "Since" not in here.until(KEYS)
    here.resize(50, 12)
    here.until("h hint  c case  p question  d diff  f full  q quit")
    here.resize(30, 12)
    page = here.until("h hint  c case  q quit")
    assert "FAIL  double-trouble/submission.py\r\n      double-trouble\r\n      seed" in page
    assert "value: y differs in 1 case in\r\n    case one.\r\n" in page
    here.resize(20, 5)
    here.until("h hint  q quit")
    save("error")
    here.until("ERROR")
    here.until("h hint  q quit")
    here.type("q")
    assert here.ended() == 0
    rows = drill("history", "--all", "--json").data["attempts"]
    assert [row["verdict"] for row in rows] == ["fail", "pass", "fail", "fail", "error"]
    assert len({row["seed"] for row in rows[:3]}) == 1 < len({row["seed"] for row in rows})


def test_a_key_replaces_the_page_until_the_next_key(
    watch: Callable[..., OnTerminal],
) -> None:
    save("fail")
    here = watch()
    here.until(KEYS)
    for key, expected in (
        ("h", "hint 1 of 3"),
        ("c", "Wrote double-trouble/cases/one.py"),
        ("s", "the solution of double-trouble is shown when all parts pass"),
        ("p", "A colleague doubles numbers"),
        ("n", "drill grade"),
        ("d", "-def double(x):\n-    return x + x + 1\n"),
        ("f", "value: "),
        ("e", "no editor is named: expected VISUAL or EDITOR"),
    ):
        here.type(key)
        view = here.until("space: back").replace("\r", "")
        assert expected in view, (key, view)
        assert "FAIL " in view.splitlines()[-1], key
        here.type("x")
        here.until(KEYS)
    here.type("h")
    page = here.until("space: back")
    assert "hint 2 of 3" in page
    assert "Next: press h" in page
    save("pass")  # its verdict replaces the hint
    assert "PASS" in here.until("s solution")
    here.type("q")
    assert here.ended() == 0


def test_every_key_acts_on_every_page(watch: Callable[..., OnTerminal]) -> None:
    save("fail")
    here = watch()
    here.until(KEYS)
    for key, text in (("h", "hint 1 of 3"), ("c", "Wrote double-trouble"), ("h", "hint 2 of 3")):
        here.type(key)
        assert text in here.until("space: back")
        here.until("q quit")
    here.type("\x1b")
    here.until(KEYS)
    here.type("hq")
    assert here.ended() == 0


def test_a_long_view_is_read_screen_by_screen(
    watch: Callable[..., OnTerminal],
) -> None:
    here = watch(rows=8)
    here.until(KEYS)
    here.type("p")
    assert "A colleague doubles" in here.until("space: more")
    here.type(" ")
    assert "A colleague doubles" not in here.until("space: back")
    here.type(" ")
    here.until(KEYS)
    here.type("pq")
    assert here.ended() == 0


def test_keys_that_mean_nothing_do_nothing(watch: Callable[..., OnTerminal]) -> None:
    here = watch()
    here.until(KEYS)
    draw = random.Random(0)
    for _ in range(20):
        garbage = bytes(draw.choice([*range(0x80, 0x100), *b"XYZ0[;~@\t\r\n "]) for _ in range(50))
        os.write(here.master, garbage)
    here.type("\x1b[A\x1b[1;5q\x1bOq\x1b[200~")  # arrows, and a letter in a sequence
    save("pass")
    here.until("s solution")
    here.type("q")
    assert here.ended() == 0


@pytest.mark.parametrize(
    ("way", "status"),
    [("q", 0), ("\x03", 0), ("SIGINT", 0), ("SIGTERM", 143), ("SIGHUP", 129), ("crash", 4)],
)
def test_however_it_ends_the_terminal_is_as_it_was(
    watch: Callable[..., OnTerminal], way: str, status: int
) -> None:
    here = watch()
    here.until(KEYS)
    if way.startswith("SIG"):
        os.kill(here.job, signal.Signals[way])
    elif way == "crash":
        save(way)
    else:
        here.type(way)
    assert here.ended() == status
    assert ("the grader is at fault (RuntimeError: the judge fell over)" in here.raw) is (
        way == "crash"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nobody tells when it has ended")
def test_a_terminal_that_goes_away_ends_it(watch: Callable[..., OnTerminal]) -> None:
    here = watch()
    here.until(KEYS)
    with os.fdopen(os.pidfd_open(here.job)) as job:
        here.hang_up()
        assert select.select([job], [], [], 60)[0]
    here.process.wait(60)


def test_it_can_be_stopped_and_continued(watch: Callable[..., OnTerminal]) -> None:
    here = watch()
    here.until(KEYS)
    for _ in range(2):
        here.type("\x1a")
        here.until("stopped")
        here.require_restored()
        save("pass")
        here.type("fg\n")
        here.until("q quit")
    os.kill(here.job, signal.SIGSTOP)  # which leaves it no time
    here.until("stopped")
    here.type("fg\n")
    here.until("q quit")
    here.type("q")
    assert here.ended() == 0


def test_the_editor_has_the_terminal_meanwhile(
    watch: Callable[..., OnTerminal], tmp_path: Path
) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho ready\nread line\necho "# $line" > "$2"\nexit $3\n')
    editor.chmod(0o755)
    here = watch(EDITOR=f"{editor} -n", VISUAL="")
    here.until(KEYS)
    here.type("e")
    here.until("ready")
    here.require_restored()
    here.type("error\n")  # with echo, as the editor found the terminal
    page = here.until(KEYS)
    assert page.lstrip().startswith("error\r\n")
    assert "ERROR double-trouble/submission.py" in page
    here.type("q")
    assert here.ended() == 0


def test_after_many_saves_the_last_one_is_shown(
    watch: Callable[..., OnTerminal], drill: Drill
) -> None:
    here = watch()
    here.until(KEYS)
    for number in range(300):
        save(f"fail {number}" if number < 299 else "limit")
    here.until("LIMIT")
    here.type("q")
    assert here.ended() == 0
    rows = drill("history", "--all", "--json").data["attempts"]
    assert rows[-1]["verdict"] == "limit"
    assert len(rows) < 300  # one that was saved meanwhile is gone


def test_plain_output_is_never_redrawn(watch: Callable[..., OnTerminal]) -> None:
    for more in ({"DRILL_PLAIN": "1"}, {"TERM": "dumb"}):
        save("fail")
        here = watch(**more)
        here.until("Graded at")
        save("pass")
        here.until("Since the last save: value passes now.")
        here.type("\x04")
        assert here.ended() == 0
        assert "\x1b" not in here.raw


def test_it_asks_before_the_grade_of_a_prediction_that_counts(
    drill: Drill, real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT))
    real("start", "seven-windows")
    here = OnTerminal("watch", "seven-windows")
    keys = KEYS.replace("c case  ", "")  # answers have no case to run
    here.until(keys)
    answers = Path("seven-windows", "answers.txt")
    for key, expected in (("n", "r asks again, and so does the next save"), ("y", "answers.txt")):
        answers.write_text(f"grad_x[1] = 2\ngrad_x[4] = 5\ngrad_x[6] = 0\n# {key}\n")
        asked = here.until("y grade  other keys: not yet")
        assert "Only the first grade counts.\r\n" in asked
        assert f"grad_x[4] = 5\r\ngrad_x[6] = 0\r\n# {key}" in asked
        here.type(key)
        page = here.until(keys)
        assert expected in page
        assert "--yes" not in page  # which nobody can type here
        if key == "n":
            here.type("r")
            here.until("y grade  other keys: not yet")
            here.type(" ")
            here.until(keys)
    here.type("q")
    assert here.ended() == 0
    (row,) = (row for row in real("list", "--json").data["questions"] if row["tries"])
    assert row["id"] == "seven-windows"


def test_a_fault_of_the_records_is_on_the_page_and_shown_at_the_end(
    watch: Callable[..., OnTerminal], home: Path
) -> None:
    (home / "drill.sqlite3").write_bytes(b"no database" * 100)
    here = watch()
    here.until("Your history cannot be read")
    here.until(KEYS)
    save("pass")
    here.until("q quit")
    here.type("q")
    assert here.ended() == 0
    assert here.raw.count("drill: Your history cannot be read") == 1
    assert here.raw.index("\x1b[?1049l") < here.raw.index("drill: Your history cannot be read")


def test_a_kill_while_a_verdict_is_written_loses_nothing_before_it(
    watch: Callable[..., OnTerminal], drill: Drill, home: Path
) -> None:
    here = watch()
    here.until(KEYS)
    save("killed")
    here.until(f"ended with {-signal.SIGKILL}")
    here.process.wait(60)
    here.hang_up()
    with closing(sqlite3.connect(home / "drill.sqlite3")) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    states = [row["verdict"] for row in drill("history", "--all", "--json").data["attempts"]]
    assert states == ["fail", None]
    drill("history", "restore", "2", "--to", "mine.py")
    assert Path("mine.py").read_text() == "# killed\n"  # the bytes come first
    save("pass")
    again = watch()
    assert "PASS" in again.until("q quit")
    again.type("q")
    assert again.ended() == 0
    states = [row["verdict"] for row in drill("history", "--all", "--json").data["attempts"]]
    assert states == ["fail", None, "pass"]


@pytest.mark.parametrize("way", ["damaged", "no folder", "read-only"])
def test_records_that_come_back_are_complete(
    watch: Callable[..., OnTerminal], drill: Drill, home: Path, way: str
) -> None:
    here = watch()
    here.until(KEYS)
    file, aside = home / "drill.sqlite3", home.with_name("aside")
    if way == "read-only":  # root may write all the same
        home.chmod(0o500)
        file.chmod(0o400)
    else:
        home.rename(aside)
        home.touch() if way == "no folder" else home.mkdir()
    if way == "damaged":
        file.write_bytes(b"no database" * 100)
    save("limit")
    page = here.until("LIMIT") + here.until(KEYS)
    unsaved = "Your history cannot be" in page
    assert unsaved or (way == "read-only" and os.geteuid() == 0)
    if way == "read-only":
        home.chmod(0o700)
        file.chmod(0o600)
    else:
        assert way == "no folder" or file.read_bytes() == b"no database" * 100  # left alone
        home.rename(home.with_name("broken"))
        aside.rename(home)
    save("pass")
    here.until("s solution")
    here.type("q")
    assert here.ended() == 0
    assert here.raw.count("drill: Your history cannot be") == unsaved
    states = [row["verdict"] for row in drill("history", "--all", "--json").data["attempts"]]
    assert states == ["fail", *["limit"] * (not unsaved), "pass"]


def test_in_a_pipe_each_page_is_printed_once_until_the_input_ends(
    drill: Drill, program: Program
) -> None:
    drill("start", "double-trouble")
    ended = program("watch").communicate(timeout=60)  # of /dev/null at once
    assert ended[0].startswith("FAIL  double-trouble/submission.py")
    assert ended[1] == ""
    watching = program("watch", stdin=subprocess.PIPE, bufsize=1)
    assert watching.stdout is not None

    def page() -> str:
        lines = iter(watching.stdout.readline, "") if watching.stdout else iter(())
        return "".join(itertools.takewhile(lambda line: not line.startswith("Next:"), lines))

    assert page().startswith("FAIL ")
    save("pass")
    assert "Since the last save: value passes now." in page()
    FILE.unlink()
    assert watching.stderr is not None
    assert watching.stderr.readline().endswith("submission.py: there is no such file\n")
    rest, err = watching.communicate(timeout=60)
    assert (rest.strip(), err, watching.returncode) == ("", "", 0)


def test_in_a_pipe_ctrl_c_ends_it_and_a_program_reads_lines_of_json(
    drill: Drill, program: Program
) -> None:
    drill("start", "double-trouble")
    watching = program("watch", "--json", stdin=subprocess.PIPE)
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline())["verdict"] == "fail"
    save("pass")
    assert json.loads(watching.stdout.readline())["verdict"] == "pass"
    watching.send_signal(signal.SIGINT)
    assert watching.communicate(timeout=60) == ("", "")
    assert watching.returncode == 0


def test_only_a_drill_is_watched(drill: Drill) -> None:
    drill("watch").refused("no drill is here")
    drill("watch", "double-trouble").refused("has no folder here", "Next: drill start")
    drill("watch", "double-troubel").refused("did you mean double-trouble?")
