"""The commands of one drill: start, reset, hint, run and solution."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.commands.solution import diff_code
from grader.grading import submission as running
from tests.commands import stand_in
from tests.commands.conftest import Drill, follow, without_torch

pytestmark = pytest.mark.usefixtures("one_zygote")

FOLDER = Path("double-trouble")
SUBMISSION = FOLDER / "submission.py"
LEFT = "it is yours and was left as it is"


def test_start_writes_the_starter_the_question_and_a_marker(drill: Drill) -> None:
    result = drill("start", "double-trouble")
    assert (result.status, result.err) == (0, "")
    assert SUBMISSION.read_bytes() == stand_in.STARTER
    text = (FOLDER / "QUESTION.md").read_text()
    for expected in ("# The sum that came", "25 min", "def double(x):", "drill grade"):
        assert expected in text
    assert json.loads((FOLDER / ".drill").read_text())["question"] == "double-trouble"
    assert sorted(p.name for p in FOLDER.iterdir()) == [".drill", "QUESTION.md", "submission.py"]
    assert "A colleague doubles numbers" in result.out
    assert result.out.endswith(
        "Edit  double-trouble/submission.py   drill watch grades every save\n"
        "Next: cd double-trouble && drill grade\n"
    )


def test_start_warns_if_torch_is_missing(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)
    result = drill("start", "needs-torch")
    assert result.status == 0  # it can be read, and solved elsewhere
    assert "needs-torch needs torch to be graded, which is not installed" in result.err
    assert "pip install torch==" in result.err
    assert drill("start", "double-trouble").err == ""


def test_a_second_start_keeps_the_file_and_creates_no_inner_folder(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "double-trouble")
    before = (FOLDER / ".drill").read_bytes()
    SUBMISSION.write_text("mine")
    follow(drill, f"start double-trouble => 0 | {SUBMISSION} {LEFT} | A colleague doubles numbers")
    top = Path.cwd()
    monkeypatch.chdir(FOLDER)
    out = drill("start", "double-trouble").out
    assert out.endswith(f"submission.py   {LEFT}\nNext: drill grade\n")
    assert (Path("submission.py").read_text(), Path(".drill").read_bytes()) == ("mine", before)
    # Another one that is started inside is made beside it.
    follow(drill, f"start halve-well => 0 | !{LEFT}\nstart halve-well => 0 | {LEFT}")
    assert (top / "halve-well" / "submission.py").is_file()
    assert {path.name for path in Path().iterdir()} == {".drill", "QUESTION.md", "submission.py"}


@pytest.mark.parametrize("name", ["submission.py", "QUESTION.md"])
def test_start_refuses_a_folder_with_work_in_it(drill: Drill, name: str) -> None:
    FOLDER.mkdir()
    (FOLDER / name).write_text("mine")
    drill("start", "double-trouble").refused("was not made by drill start; it is left as it is")
    assert [p.name for p in FOLDER.iterdir()] == [name]
    assert (FOLDER / name).read_text() == "mine"


def test_start_refuses_a_file_or_link_at_the_path_of_its_folder(drill: Drill) -> None:
    drill("start", "halve-well")
    Path("halve-well").rename(FOLDER)
    result = drill("start", "double-trouble")
    result.refused("was started for halve-well of ", ", not for double-trouble of ")
    FOLDER.rename("elsewhere")
    for target in ("elsewhere", "nowhere"):
        FOLDER.symlink_to(target)
        drill("start", "double-trouble").refused(f"found a symbolic link to {target}")
        FOLDER.unlink()
    FOLDER.write_text("a file")
    drill("start", "double-trouble").refused("the folder cannot be made: File exists")
    assert FOLDER.read_text() == "a file"


def test_a_broken_marker_is_reported_in_one_sentence(drill: Drill) -> None:
    drill("start", "double-trouble")
    for text in ("{", "[]", '{"question": 3}', "\0" * 20):
        (FOLDER / ".drill").write_text(text)
        drill("start", "double-trouble").refused("was not made by drill start")


def test_reset_keeps_a_numbered_copy_next_to_the_file_and_in_the_records(drill: Drill) -> None:
    drill("start", "double-trouble")
    for number, text in enumerate(("first", "second"), 1):
        SUBMISSION.write_text(text)
        copy = FOLDER / f"submission.before-reset-{number}.py"
        follow(drill, f"reset => 0 | {copy}")
        assert (copy.read_text(), SUBMISSION.read_bytes()) == (text, stand_in.STARTER)
    attempts = drill("history", "--json").data["attempts"]
    assert [(a["kind"], a["verdict"]) for a in attempts] == [("kept", None)] * 2
    drill("history", "restore", "1", "--to", "back.py")
    assert Path("back.py").read_text() == "first"


def test_reset_does_not_follow_a_symbolic_link(drill: Drill) -> None:
    drill("start", "double-trouble")
    Path("mine.py").write_text("mine")
    SUBMISSION.unlink()
    SUBMISSION.symlink_to(Path("mine.py").absolute())
    drill("reset").refused("found a symbolic link")
    assert (SUBMISSION.is_symlink(), Path("mine.py").read_text()) == (True, "mine")


def test_the_solution_waits_for_a_pass(drill: Drill) -> None:
    result = follow(
        drill,
        """
        start double-trouble => 0
        grade => 1
        solution => 2 | Next: drill hint drill solution --give-up | !return 2 * x
        double-trouble/submission.py < # pass
        grade => 0
        solution => 0 | !Multiply by 0.5. | Sources - Arithmetic, p. 1
        """,
    )
    assert result.out.startswith("double-trouble: the starter (-) needs 1 change (+)")
    assert "\n1: x + x is 2 * x already.\n-    return x + x + 1\n+    return 2 * x\n" in result.out
    assert result.out.endswith(
        "\nNext: drill discuss   drill solution --mine   drill solution --full\n"
    )
    (change,) = drill("solution", "--json").data["repair"]
    assert change["why"] == [{"part": 1, "text": "x + x is 2 * x already."}]
    full = drill("solution", "--full").out
    assert full.startswith(
        "def double(x):\n    return 2 * x\nNext: drill solution   drill solution --mine"
    )


def test_a_solution_shows_its_lessons_and_the_next_questions(
    drill: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bank = tmp_path / "mine"
    shutil.copytree(stand_in.BANK, bank)
    first, other = (bank / "questions" / f"{n}.yaml" for n in ("double-trouble", "halve-well"))
    lines = "teaches:\n  - Twice is a sum.\n  - Two lines of it.\n"
    first.write_text(f"{first.read_text()}{lines}")
    before = "prerequisites: [double-trouble]\nuses: [numpy]"
    other.write_text(other.read_text().replace("uses: [numpy]", before))
    monkeypatch.setenv("DRILL_BANK", str(bank))
    result = drill("--bank", str(bank), "solution", "double-trouble", "--give-up")
    assert result.out.startswith(
        "double-trouble: what to keep\n- Twice is a sum.\n- Two lines of it.\n\n"
        "What goes on from here\n- halve-well (arithmetic)\n\n"
        "double-trouble: the starter (-) needs 1 change (+)\n\n1: x + x is 2 * x already.\n"
    )
    data = drill("--bank", str(bank), "solution", "double-trouble", "--json").data
    assert data["teaches"] == ["Twice is a sum.", "Two lines of it."]
    assert [header["id"] for header in data["leads_to"]] == ["halve-well"]
    assert data["sources"] == ["Arithmetic, p. 1"]


def test_mine_compares_the_persons_file_with_a_right_one(drill: Drill) -> None:
    out = follow(
        drill,
        r"""
        start double-trouble => 0
        double-trouble/submission.py < # pass\ndef double(x):\n    return x
        grade => 0
        solution --mine => 0
        """,
    ).out
    assert out.startswith("double-trouble: yours (-) and a right file (+)\n def double(x)")
    assert "\n-    return x\n+    return 2 * x\n" in out
    plain = drill("solution", "--mine", "--plain").out
    assert "\ngoes:     return x\ncomes:     return 2 * x\n" in plain
    SUBMISSION.write_bytes(stand_in.REFERENCE)
    follow(drill, "solution --mine => 0 | yours is a right file, comments aside")
    SUBMISSION.unlink()
    follow(drill, "solution --mine => 0 | no file of yours")
    assert drill("solution", "--json").data["mine"] is None


def test_a_difference_leaves_out_comments_docstrings_and_blank_lines() -> None:
    own_file = (
        b'''"""Mine."""\n\ndef f(x):\n    """Do.\n\n    It.\n    """\n    return x  # done\n'''
    )
    right = b'''def f(x):\n    # The same.\n    r"""Twice."""\n    return x\n'''
    assert diff_code(own_file, right) == ()
    text = b'''TEXT = """\n# kept\n"""\ndef f(x):\n    return "# " + x\n'''
    changed = text.replace(b"kept", b"told")
    assert ("-", "# kept") in diff_code(text, changed)
    assert [
        text for sign, text in diff_code(text, b"") if sign == "-"
    ] == text.decode().splitlines()


FILE = Path("my-fit") / "submission.py"
TRAIN = "def train(seed):\n"


@pytest.fixture
def run_script(real: Drill) -> Drill:
    """Start the question that `bank new --form diagnose` writes; give what runs its script."""
    follow(
        real,
        """
        --bank mine bank new my-fit --form diagnose => 0
        --bank mine start my-fit => 0 | drill run
        """,
    )
    return lambda *words: real("--bank", "mine", "run", "my-fit", *words)


def write_script(body: str) -> None:
    """Let the script's run do something else."""
    text = FILE.read_text()
    head = text[: text.index(TRAIN)] if TRAIN in text else text
    FILE.write_text(f"{head}{TRAIN}    {body}\n")


def test_a_run_shows_numbers_and_output_and_is_counted(run_script: Drill, real: Drill) -> None:
    first = run_script()
    assert (first.status, first.err) == (0, "")
    head, *printed, left, last = first.out.splitlines()
    assert head.startswith("run 1 of 3, seed 0   loss 14.62 -> 6.4")
    assert printed == ["  loss at first 14.6", "  loss at last 6e+26"]
    assert (left, last) == ("2 left", "Next: drill run --bank mine   drill grade --bank mine")
    write_script(r"print(*range(30), '\x1b[31mred', sep='\n'); return 2.5")
    head, *printed, _, _ = run_script("--seed", "7").out.splitlines()
    assert head.startswith("run 2 of 3, seed 7   result 2.5   ")
    assert printed[0].startswith("  ... the last of ")
    assert (printed[1], printed[-1]) == ("  12", r"  \x1b[31mred")
    write_script("return {'loss': [1, float('nan')], 'name': 'x'}")
    data = run_script("--json").data
    assert (data["run"], data["used"], data["budget"], data["seed"]) == (3, 3, 3, 0)
    assert (data["numbers"], data["fault"]) == ({"loss": [1.0, "NaN"]}, "")
    run_script().refused("3 of 3 runs are used; you can still edit and grade")
    follow(real, "--bank mine reset my-fit => 0\n--bank mine run my-fit => 0 | run 1 of 3")


NOTHING, RUN = "no run, nothing is used", "run 1 of 3, seed 0"


@pytest.mark.parametrize(
    ("text", "phrase", "left"),
    [
        ("def train(", f"{NOTHING} the file is not valid Python at line 1", 3),
        ("", f"{NOTHING} the file is empty", 3),
        ("x = 1 / 0", f"{RUN} loading the file raised ZeroDivisionError: division by zero", 2),
        ("raise SyntaxError('3.1')", f"{RUN} loading the file raised SyntaxError: 3.1", 2),
        (
            "def trian(seed): pass",
            f"{RUN} submission.py does not define train(seed) yet; is trian meant",
            2,
        ),
    ],
)
def test_a_file_with_a_syntax_error_costs_no_run_and_loading_a_file_costs_one(
    run_script: Drill, text: str, phrase: str, left: int
) -> None:
    FILE.write_text(text)
    result = run_script()
    assert result.status == 1
    assert " ".join(result.out.split()).startswith(phrase)
    assert f"{left} left" in result.out


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        ("return 1 / (seed - seed)", "raised ZeroDivisionError   "),
        ("import os; os._exit(3)", "your script ended its process (exit sta"),
        ("while True: pass", "your script did not finish within 0.2 seconds"),
    ],
)
def test_a_run_that_does_not_finish_is_counted(run_script: Drill, body: str, phrase: str) -> None:
    spec = Path("mine/questions/my-fit.yaml")
    spec.write_text(spec.read_text().replace("seconds: 5", "seconds: 0.2"))
    write_script(body)
    result = run_script()
    assert result.status == 1
    assert result.out.startswith(f"{RUN}   {phrase}")
    assert "2 left" in result.out
    assert ("submission.py:15  return 1 / (seed - seed)" in result.out) is ("/" in body)


def test_a_run_shows_the_tail_of_endless_output(run_script: Drill) -> None:
    write_script("print('first'); [print('x' * 99) for _ in range(20_000)]; print('last')")
    result = run_script()
    assert result.status == 0
    lines = result.out.splitlines()
    assert len(lines) == 23
    assert lines[1] == "  ... the last of 2,000,011 characters that it printed ..."
    assert lines[20] == "  last"


def test_a_run_that_is_stopped_counts(run_script: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **named: Callable[[], None]) -> None:
        named["begin"]()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(running, "run_experiment", stopped)
        result = run_script()
    assert (result.status, result.out) == (130, "")
    assert result.err.startswith("drill: run 1 of 3 was stopped, and counts\n")
    assert run_script().out.startswith("run 2 of 3")
