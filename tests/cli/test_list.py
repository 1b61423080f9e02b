"""`drill list` shows how far you are; `drill show` gives nothing away."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli import stand_in
from tests.cli.conftest import Drill


def states(drill: Drill) -> dict[str, tuple[str, int]]:
    found = drill("list", "--json").data["questions"]
    return {q["id"]: (q["state"], q["tries"]) for q in found}


def test_the_state_of_each_question(drill: Drill, home: Path) -> None:
    assert set(states(drill).values()) == {("new", 0)}
    assert not home.exists()
    drill("start", "double-trouble")
    assert states(drill)["double-trouble"] == ("started", 0)
    drill("grade")
    drill("grade")
    assert states(drill)["double-trouble"] == ("tried", 2)
    assert "2 tries" in drill("list").out
    Path("double-trouble/submission.py").write_text("# pass")
    drill("grade")
    assert states(drill)["double-trouble"] == ("passed", 3)
    Path("double-trouble/submission.py").write_text("# fail")
    drill("grade")
    assert states(drill)["double-trouble"] == ("passed", 4)


def test_one_track(drill: Drill) -> None:
    found = drill("list", "--track", "tensors", "--json").data["questions"]
    assert [q["id"] for q in found] == ["needs-torch"]
    drill("list", "--track", "tensor").refused("did you mean tensors?")


@pytest.mark.parametrize("columns", [60, 71, 72, 80, 120])
def test_the_table_fits_the_window(
    drill: Drill, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    long = stand_in.spec("A title so long that it has to be folded " + "x" * 30, "t", ["numpy"])
    monkeypatch.setitem(stand_in.SPECS, "online-softmax-attention", long)
    monkeypatch.setenv("COLUMNS", str(columns))
    out = drill("list").out
    assert max(map(len, out.splitlines())) <= columns
    assert "online-softmax-attention" in out
    assert not any(line.endswith(" ") for line in out.splitlines())


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


def test_the_questions_that_come_with_the_program_fit_a_narrow_window(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    out = real("list").out
    assert max(map(len, out.splitlines())) <= 60
    for question in real("list", "--json").data["questions"]:
        assert f"  {question['id']} " in out
