"""The way through a drill: what is laid down and never written over, hints, runs, the solution."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.session import submission as running
from tests.cli import stand_in
from tests.cli.conftest import Drill, Ended

pytestmark = pytest.mark.usefixtures("one_zygote")

FOLDER = Path("double-trouble")
SUBMISSION = FOLDER / "submission.py"


def test_start_lays_down_the_starter_the_question_and_a_marker(drill: Drill) -> None:
    ended = drill("start", "double-trouble")
    assert ended.status == 0
    assert ended.err == ""
    assert SUBMISSION.read_bytes() == stand_in.STARTER
    text = (FOLDER / "QUESTION.md").read_text()
    for expected in ("# The sum that came", "25 min", "def double(x):", "drill grade"):
        assert expected in text
    assert json.loads((FOLDER / ".drill").read_text())["question"] == "double-trouble"
    assert sorted(p.name for p in FOLDER.iterdir()) == [".drill", "QUESTION.md", "submission.py"]
    assert "A colleague doubles numbers" in ended.out
    assert ended.out.endswith(
        "Edit  double-trouble/submission.py\nNext: cd double-trouble && drill grade\n"
    )


def test_start_again_leaves_work_alone_and_nests_nothing(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "double-trouble")
    before = (FOLDER / ".drill").read_bytes()
    SUBMISSION.write_text("mine")
    out = drill("start", "double-trouble").out
    assert "Edit  double-trouble/submission.py   it is yours and was left as it is" in out
    assert "A colleague doubles numbers" in out
    monkeypatch.chdir(FOLDER)
    out = drill("start", "double-trouble").out
    assert out.endswith("submission.py   it is yours and was left as it is\nNext: drill grade\n")
    assert not FOLDER.exists()
    assert (Path("submission.py").read_text(), Path(".drill").read_bytes()) == ("mine", before)


@pytest.mark.parametrize("name", ["submission.py", "QUESTION.md"])
def test_start_refuses_a_folder_with_work_in_it(drill: Drill, name: str) -> None:
    FOLDER.mkdir()
    (FOLDER / name).write_text("mine")
    drill("start", "double-trouble").refused("was not made by drill start; it is left as it is")
    assert [p.name for p in FOLDER.iterdir()] == [name]
    assert (FOLDER / name).read_text() == "mine"


def test_start_refuses_what_is_in_the_folders_place(drill: Drill) -> None:
    drill("start", "halve-well")
    Path("halve-well").rename(FOLDER)
    ended = drill("start", "double-trouble")
    ended.refused("expected a folder for double-trouble of ", ", found that of halve-well of ")
    FOLDER.rename("elsewhere")
    for target in ("elsewhere", "nowhere"):
        FOLDER.symlink_to(target)
        drill("start", "double-trouble").refused(f"found a symbolic link to {target}")
        FOLDER.unlink()
    FOLDER.write_text("a file")
    drill("start", "double-trouble").refused("the folder cannot be made: File exists")
    assert FOLDER.read_text() == "a file"


def test_a_broken_marker_is_one_sentence(drill: Drill) -> None:
    drill("start", "double-trouble")
    for text in ("{", "[]", '{"question": 3}', "\0" * 20):
        (FOLDER / ".drill").write_text(text)
        drill("start", "double-trouble").refused("expected what drill start wrote there")


def test_reset_keeps_a_numbered_copy_beside_and_in_the_records(drill: Drill) -> None:
    drill("start", "double-trouble")
    for number, text in enumerate(("first", "second"), 1):
        SUBMISSION.write_text(text)
        ended = drill("reset")
        copy = FOLDER / f"submission.before-reset-{number}.py"
        assert ended.status == 0
        assert str(copy) in ended.out
        assert copy.read_text() == text
        assert SUBMISSION.read_bytes() == stand_in.STARTER
    kept = drill("history", "--json").data["attempts"]
    assert [(a["kind"], a["verdict"]) for a in kept] == [("kept", None)] * 2
    drill("history", "restore", "1", "--to", "back.py")
    assert Path("back.py").read_text() == "first"


def test_reset_does_not_follow_a_symbolic_link(drill: Drill) -> None:
    drill("start", "double-trouble")
    Path("mine.py").write_text("mine")
    SUBMISSION.unlink()
    SUBMISSION.symlink_to(Path("mine.py").absolute())
    drill("reset").refused("found a symbolic link")
    assert SUBMISSION.is_symlink()
    assert Path("mine.py").read_text() == "mine"


def test_a_drill_that_is_started_inside_another_is_made_beside_it(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "double-trouble")
    top = Path.cwd()
    monkeypatch.chdir(FOLDER)
    drill("start", "halve-well")
    assert (top / "halve-well" / "submission.py").is_file()
    assert not Path("halve-well").exists()
    assert "it is yours and was left as it is" in drill("start", "halve-well").out


def test_hints_come_one_at_a_time_and_say_how_many_are_left(drill: Drill) -> None:
    drill("start", "double-trouble")
    first, second, third, again = (drill("hint").out for _ in range(4))
    assert "hint 1 of 3\n    Try 0.\n" in first
    assert "2 more hints   Next: drill hint" in first
    assert "Try 0." not in second
    assert "1 more hint   Next: drill hint" in second
    assert "that was the last hint" in third
    assert again.count("hint ") >= 3
    assert "these were all the hints" in again


def test_the_solution_waits_for_a_pass(drill: Drill) -> None:
    drill("start", "double-trouble")
    drill("grade")
    ended = drill("solution")
    assert ended.status == 2
    assert "return 2 * x" not in ended.out
    assert "Next: drill hint   drill solution --give-up\n" in ended.err
    SUBMISSION.write_text("# pass\n")
    drill("grade")
    ended = drill("solution")
    assert ended.status == 0
    assert ended.out.startswith("double-trouble: the starter (-) needs 1 change (+)")
    assert "\n1: x + x is 2 * x already.\n-    return x + x + 1\n+    return 2 * x\n" in ended.out
    assert ended.out.endswith(
        "\nNext: drill solution --mine   drill solution --full\n      drill solution --follow-ups\n"
    )
    assert "Multiply by 0.5." not in ended.out
    (change,) = drill("solution", "--json").data["repair"]
    assert change["why"] == [{"part": 1, "text": "x + x is 2 * x already."}]
    assert "Multiply by 0.5." in drill("solution", "--follow-ups").out
    full = drill("solution", "--full").out
    assert full.startswith("def double(x):\n    return 2 * x\n")
    assert "- Arithmetic, p. 1" in full


def test_ones_own_file_is_compared_with_a_right_one(drill: Drill) -> None:
    drill("start", "double-trouble")
    SUBMISSION.write_text("# pass\ndef double(x):\n    return x\n")
    drill("grade")
    out = drill("solution", "--mine").out
    assert out.startswith("double-trouble: yours (-) and a right file (+)\n-# pass\n def double(x)")
    assert "\n-    return x\n+    return 2 * x\n" in out
    plain = drill("solution", "--mine", "--plain").out
    assert "\ngoes:     return x\ncomes:     return 2 * x\n" in plain
    SUBMISSION.write_bytes(stand_in.REFERENCE)
    assert "yours is a right file, line by line" in drill("solution", "--mine").out
    SUBMISSION.unlink()
    assert "no file of yours" in drill("solution", "--mine").out
    assert drill("solution", "--json").data["mine"] is None


FILE = Path("my-fit") / "submission.py"
TRAIN = "def train(seed):\n"


@pytest.fixture
def fit(real: Drill) -> Callable[..., Ended]:
    """Start the question that `bank new --form diagnose` writes; give what runs its script."""
    assert real("--bank", "mine", "bank", "new", "my-fit", "--form", "diagnose").status == 0
    started = real("--bank", "mine", "start", "my-fit")
    assert "drill run" in started.out
    return lambda *words: real("--bank", "mine", "run", "my-fit", *words)


def script(body: str) -> None:
    """Let the script's run do something else."""
    text = FILE.read_text()
    head = text[: text.index(TRAIN)] if TRAIN in text else text
    FILE.write_text(f"{head}{TRAIN}    {body}\n")


def test_a_run_shows_numbers_and_prints_and_counts(fit: Callable[..., Ended], real: Drill) -> None:
    first = fit()
    assert (first.status, first.err) == (0, "")
    head, *printed, last = first.out.splitlines()
    assert head.startswith("run 1 of 3, seed 0   loss 14.62 -> 6.4")
    assert printed == ["  loss at first 14.6", "  loss at last 6e+26"]
    assert last.startswith("2 left   Next: drill run --bank mine   drill grade --bank mine")
    script(r"print(*range(30), '\x1b[31mred', sep='\n'); return 2.5")
    second = fit("--seed", "7")
    head, *printed, _ = second.out.splitlines()
    assert head.startswith("run 2 of 3, seed 7   result 2.5   ")
    assert printed[0].startswith("  ... the last of ")
    assert printed[1] == "  11"
    assert printed[-1] == r"  \x1b[31mred"
    script("return {'loss': [1, float('nan')], 'name': 'x'}")
    data = fit("--json").data
    assert (data["run"], data["used"], data["budget"], data["seed"]) == (3, 3, 3, 0)
    assert (data["numbers"], data["fault"]) == ({"loss": [1.0, "NaN"]}, "")
    spent = fit()
    assert (spent.status, spent.out) == (2, "")
    assert "3 of 3 runs are used; you can still edit and grade" in spent.err
    assert real("--bank", "mine", "reset", "my-fit").status == 0
    assert fit().out.startswith("run 1 of 3")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def train(", "the file is not valid Python at line 1"),
        ("", "the file is empty"),
    ],
)
def test_what_is_not_begun_costs_nothing(fit: Callable[..., Ended], text: str, said: str) -> None:
    FILE.write_text(text)
    ended = fit()
    assert ended.status == 1
    assert " ".join(ended.out.split()).startswith(f"no run, nothing is used {said}")
    assert "3 left" in ended.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1 / 0", "loading the file raised ZeroDivisionError: division by zero"),
        ("raise SyntaxError('3.1')", "loading the file raised SyntaxError: 3.1"),
        ("def trian(seed): pass", "expected train, found trian; is trian meant"),
    ],
)
def test_what_is_done_while_the_file_is_loaded_has_cost_a_run(
    fit: Callable[..., Ended], text: str, said: str
) -> None:
    FILE.write_text(text)
    ended = fit()
    assert ended.status == 1
    assert " ".join(ended.out.split()).startswith(f"run 1 of 3, seed 0 {said}")
    assert "2 left" in ended.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / (seed - seed)", "run 1 of 3, seed 0   raised ZeroDivisionError   "),
        ("import os; os._exit(3)", "run 1 of 3, seed 0   your script ended its process (exit sta"),
        ("while True: pass", "run 1 of 3, seed 0   your script did not finish within 0.2 seconds"),
    ],
)
def test_what_comes_to_no_end_has_cost_a_run(
    fit: Callable[..., Ended], body: str, said: str
) -> None:
    spec = Path("mine/questions/my-fit.yaml")
    spec.write_text(spec.read_text().replace("seconds: 5", "seconds: 0.2"))
    script(body)
    ended = fit()
    assert ended.status == 1
    assert ended.out.startswith(said)
    assert "2 left" in ended.out
    if "/" in body:
        assert "submission.py:15  return 1 / (seed - seed)" in ended.out


def test_of_endless_prints_the_end_is_shown(fit: Callable[..., Ended]) -> None:
    script("print('first'); [print('x' * 99) for _ in range(20_000)]; print('last')")
    ended = fit()
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert len(lines) == 23
    assert lines[1] == "  ... the last of 2,000,011 characters that it printed ..."
    assert lines[21] == "  last"


def test_where_nothing_can_be_recorded_a_run_is_not_counted(
    fit: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("")
    monkeypatch.setenv("DRILL_HOME", str(Path("file/home").resolve()))
    ended = fit()
    assert ended.out.startswith("run, not counted, seed 0   loss 14.6")
    assert ended.err.count("\n") == 1
    assert "Your history cannot be written" in ended.err


def test_a_run_that_is_stopped_counts(
    fit: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **named: Callable[[], None]) -> None:
        named["begin"]()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(running, "experiment", stopped)
        ended = fit()
    assert (ended.status, ended.out) == (130, "")
    assert ended.err.startswith("drill: run 1 of 3 was stopped, and counts\n")
    assert fit().out.startswith("run 2 of 3")
