"""`drill list` shows how far you are, `show` gives nothing away, `next` says what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.app import catalog
from tests.bank.specs import edited, write_bank
from tests.cli.conftest import Drill, without_torch


@pytest.fixture(autouse=True)
def _torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.app.context.find_spec", str)


def states(drill: Drill) -> dict[str, tuple[str, int]]:
    found = drill("list", "--json").data["questions"]
    return {q["id"]: (q["state"], q["tries"]) for q in found}


def test_the_state_of_each_question(drill: Drill, home: Path) -> None:
    assert set(states(drill).values()) == {("new", 0)}
    assert not home.exists()
    drill("start", "double-trouble")
    assert states(drill)["double-trouble"] == ("started", 0)
    drill("grade")
    assert states(drill)["double-trouble"] == ("started", 0)  # nothing was tried
    for text in ("# fail", "", "# fail 2", "# fail 2"):
        Path("double-trouble/submission.py").write_text(text)
        drill("grade")
    assert states(drill)["double-trouble"] == ("tried", 2)
    assert "2 tries" in drill("list").out
    Path("double-trouble/submission.py").write_text("# pass")
    drill("grade")
    assert states(drill)["double-trouble"] == ("passed", 3)
    Path("double-trouble/submission.py").write_text("# fail 3")
    drill("grade")
    assert states(drill)["double-trouble"] == ("passed", 4)


def test_one_track(drill: Drill) -> None:
    found = drill("list", "--track", "tensors", "--json").data["questions"]
    assert [q["id"] for q in found] == ["needs-torch"]
    drill("list", "--track", "tensor").refused("did you mean 'tensors'?")


@pytest.mark.parametrize("columns", [60, 71, 72, 80, 120])
def test_the_table_fits_the_window(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    long = edited("A scaled copy", "A title so long that it has to be cut " + "x" * 30)
    write_bank(tmp_path / "bank", long, "online-softmax-attention-2")
    real("bank", "add", str(tmp_path / "bank"))  # beside those of the program
    monkeypatch.setenv("COLUMNS", str(columns))
    out = real("list").out
    assert max(map(len, out.splitlines())) <= columns
    assert not any(line.endswith(" ") for line in out.splitlines())
    for question in real("list", "--json").data["questions"]:
        assert f"  {question['id']} " in out


def test_show_gives_nothing_away(drill: Drill) -> None:
    ended = drill("show", "double-trouble")
    assert ended.status == 0
    assert "A colleague doubles numbers" in ended.out
    assert "drill start double-trouble" in ended.out
    data = drill("show", "double-trouble", "--json").data
    assert data["minutes"] == 25
    assert "2 * x" not in str(data)
    assert "Leave out" not in str(data)
    assert not list(Path().iterdir())


def suggested(drill: Drill) -> list[tuple[str, str]]:
    """Return the next question and the one after it, with their reasons."""
    data = drill("next", "--json").data
    rows = [data[name] for name in ("next", "then") if data[name]]
    return [(row["question"], row["reason"]) for row in rows]


def test_what_was_begun_comes_before_what_is_new(drill: Drill) -> None:
    assert drill("next").out == (
        "double-trouble   new, core, 25 min\n"
        "Then: halve-well (new, core, 25 min)\n"
        "Next: drill start double-trouble\n"
    )
    drill("start", "halve-well")
    assert suggested(drill)[0] == ("halve-well", "begun: not graded yet")
    Path("halve-well/submission.py").write_text("# fail\n")
    drill("grade", "halve-well")
    assert drill("next").out == (
        "halve-well   begun: 1 try\n"
        "Then: double-trouble (new, core, 25 min)\n"
        "Next: cd halve-well && drill grade\n"
    )


def test_what_is_passed_is_done_and_what_was_given_up_comes_last(drill: Drill) -> None:
    for name in ("double-trouble", "halve-well"):
        drill("start", name)
    Path("double-trouble/submission.py").write_text("# pass\n")
    drill("grade", "double-trouble")
    drill("solution", "halve-well", "--give-up")
    assert suggested(drill) == [
        ("needs-torch", "new, core, 25 min"),
        ("halve-well", "given up: try it again without the solution"),
    ]
    for name in ("halve-well", "needs-torch"):
        drill("start", name)
        Path(name, "submission.py").write_text("# pass\n")
        drill("grade", name)
    ended = drill("next")
    assert ended.out == "Every question is passed.\nNext: drill list   drill history\n"
    assert drill("next", "--json").data == {"format": 1, "next": None, "then": None}


def test_what_cannot_be_graded_here_is_not_first(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.app.context.find_spec", without_torch)
    for name in ("double-trouble", "halve-well"):
        drill("solution", name, "--give-up")
    (first, reason), _ = suggested(drill)
    assert first == "needs-torch"
    assert reason.endswith("; it needs torch, which is not installed")


def test_what_asks_for_another_comes_after_it(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = catalog.questions

    def asking(*args: Any, **more: Any) -> Any:
        found = questions(*args, **more)
        before = ("halve-well", "nothing-of-this-bank")
        return [
            (replace(header, prerequisites=before * (header.id == "double-trouble")), yours)
            for header, yours in found
        ]

    monkeypatch.setattr(catalog, "questions", asking)
    assert suggested(drill)[0] == ("halve-well", "new, core, 25 min")
    drill("solution", "needs-torch", "--give-up")
    assert suggested(drill)[1] == (
        "double-trouble", "new, core, 25 min; better after halve-well"
    )  # fmt: skip
    drill("start", "halve-well")
    Path("halve-well/submission.py").write_text("# pass\n")
    drill("grade", "halve-well")
    assert suggested(drill)[0] == ("double-trouble", "new, core, 25 min")
