"""The way through a question of which the answers are text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT, Drill

pytestmark = pytest.mark.usefixtures("one_zygote")

FOLDER = Path("seven-windows")
ANSWERS = FOLDER / "answers.txt"
RIGHT = "grad_x[1] = 2\ngrad_x[4] = 8\ngrad_x[6] = 0\n"


def grade(drill: Drill, *words: str) -> tuple[int, str]:
    ended = drill("--bank", str(ROOT), "grade", "seven-windows", *words)
    return ended.status, ended.out


def test_from_start_to_pass(real: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    started = real("--bank", str(ROOT), "start", "seven-windows")
    assert started.status == 0
    assert "Edit  seven-windows/answers.txt" in started.out
    assert sorted(p.name for p in FOLDER.iterdir()) == [".drill", "QUESTION.md", "answers.txt"]
    assert "`drill grade` grades `answers.txt`" in (FOLDER / "QUESTION.md").read_text()
    status, page = grade(real)
    assert status == 1
    assert "nothing is answered yet" in page
    assert "try" not in page.splitlines()[0]  # it costs none
    ANSWERS.write_text(RIGHT.replace("8", "8 apples"))
    status, page = grade(real)
    assert status == 1
    assert "answers.txt:2: grad_x[4]: needs a number such as 0.25, -3 or 2/3" in page
    assert "try" not in page.splitlines()[0]
    ANSWERS.write_text(RIGHT.replace("8", "5"))
    status, page = grade(real)
    assert status == 1
    assert "try 1" in page.splitlines()[0]
    assert "Idea: overwrite. It gives your numbers in the failing case." in page
    assert "8.000" in page  # after a prediction what is right is shown
    assert page.endswith("\nNext: drill start maxpool-routing --bank " + str(ROOT) + "\n")
    ANSWERS.write_text(RIGHT)
    monkeypatch.chdir(FOLDER)
    status, page = grade(real)  # the first prediction is what counts
    assert status == 0
    assert page.startswith("PASS  answers.txt")
    assert "try" not in page.splitlines()[0]
    (state,) = (
        row["state"]
        for row in real("--bank", str(ROOT), "list", "--json").data["questions"]
        if row["id"] == "seven-windows"
    )
    assert state == "tried"
    following = real("--bank", str(ROOT), "next", "--json").data
    assert "seven-windows" not in {following["next"]["question"], following["then"]["question"]}


def test_no_script_calls_a_text(real: Drill) -> None:
    real("--bank", str(ROOT), "start", "seven-windows")
    ANSWERS.write_text(RIGHT.replace("8", "5"))
    assert "drill case" not in grade(real)[1]
    ended = real("--bank", str(ROOT), "case", "seven", "seven-windows")
    ended.refused("seven-windows asks for text, which no script can call")


def test_an_estimate_never_shows_what_is_right(real: Drill) -> None:
    answers = Path("mine.txt")
    answers.write_text(
        "kv_token = 96 KiB\nkv_total = 14 GB\ndecode_intensity = 24 FLOP/B\n"
        "decode_time = 8.8 ms\nprefill_time = 0.4 s\n"
    )
    for words in ((), ("--full",), ("--plain",), ("--json",)):
        ended = real(
            "--bank", str(ROOT), "grade", "decode-on-paper", "--seed", "7", "--file", str(answers),
            *words,
        )  # fmt: skip
        assert ended.status == 1
        said = re.sub(r'"(seconds|sha256|digest|outputs)": [^,]+', "", ended.out)  # any digits
        for kept_back in ("28.3", "2831", "12.27", "0.0172", "17.2", "0.359", "too large", "half"):
            assert kept_back not in said, (words, kept_back)
        if not words:
            assert "cache: kv_total is wrong in case card: the model and the card of the" in said


def test_what_a_review_is_about_can_be_read_before_it_begins(real: Drill) -> None:
    shown = real("--bank", str(ROOT), "show", "data-parallel-review").out
    assert "\n  19  +    params -= lr * velocity\n" in shown
    assert "\n  overwritten        something that should be added up is replaced\n" in shown
    real("--bank", str(ROOT), "start", "data-parallel-review")
    written = Path("data-parallel-review", "QUESTION.md").read_text()
    assert "- `overwritten` something that should be added up is replaced\n" in written
    shown = real("--bank", str(ROOT), "show", "decode-on-paper", "--json").out
    assert '"heading": "Answers"' in shown
