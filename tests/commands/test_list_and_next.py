"""`drill list` shows progress, `show` reveals no answer, `next` suggests a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.commands import list_and_next
from tests.bank.specs import edited, write_bank
from tests.commands.conftest import ROOT, Drill, follow, without_torch


@pytest.fixture(autouse=True)
def _torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", str)


def state_of_each(drill: Drill) -> dict[str, tuple[str, int]]:
    rows = drill("list", "--json").data["questions"]
    return {q["id"]: (q["state"], q["tries"]) for q in rows}


def test_the_state_of_each_question(drill: Drill, home: Path) -> None:
    assert set(state_of_each(drill).values()) == {("new", 0)}
    assert not home.exists()
    drill("start", "double-trouble")
    assert state_of_each(drill)["double-trouble"] == ("started", 0)
    drill("grade")
    assert state_of_each(drill)["double-trouble"] == ("started", 0)  # nothing was tried
    for text in ("# fail", "", "# fail 2", "# fail 2"):
        Path("double-trouble/submission.py").write_text(text)
        drill("grade")
    assert state_of_each(drill)["double-trouble"] == ("tried", 2)
    assert "2 tries" in drill("list").out
    Path("double-trouble/submission.py").write_text("# pass")
    drill("grade")
    assert state_of_each(drill)["double-trouble"] == ("passed", 3)
    Path("double-trouble/submission.py").write_text("# fail 3")
    drill("grade")
    assert state_of_each(drill)["double-trouble"] == ("passed", 4)


def test_list_shows_one_track_and_suggests_the_nearest_name(drill: Drill) -> None:
    rows = drill("list", "--track", "tensors", "--json").data["questions"]
    assert [q["id"] for q in rows] == ["needs-torch"]
    drill("list", "--track", "tensor").refused("did you mean 'tensors'?")
    drill("list", "--role", "kernel").refused("did you mean 'kernels'?", "inference, research")


@pytest.mark.parametrize("columns", [60, 71, 72, 80, 120])
def test_the_table_fits_the_window(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    long = edited("A scaled copy", "A title so long that it has to be cut " + "x" * 30)
    write_bank(tmp_path / "bank", long, "online-softmax-attention-2")
    real("bank", "add", str(tmp_path / "bank"))  # next to the built-in bank
    monkeypatch.setenv("COLUMNS", str(columns))
    out = real("list").out
    assert max(map(len, out.splitlines())) <= columns
    assert not any(line.endswith(" ") for line in out.splitlines())
    for question in real("list", "--json").data["questions"]:
        assert f"  {question['id']} " in out


def test_show_does_not_reveal_the_solution(drill: Drill) -> None:
    result = drill("show", "double-trouble")
    assert result.status == 0
    assert "A colleague doubles numbers" in result.out
    assert "drill start double-trouble" in result.out
    data = drill("show", "double-trouble", "--json").data
    assert data["minutes"] == 25
    assert "2 * x" not in str(data)
    assert "Leave out" not in str(data)
    assert not list(Path().iterdir())


def suggested(drill: Drill) -> tuple[str, str]:
    """Return the question to do next, and why."""
    following = drill("next", "--json").data["next"]
    return following["question"], following["reason"]


NEW = "new, core, 25 min: the easiest come first"


def test_an_unfinished_question_comes_before_a_new_one(drill: Drill) -> None:
    new = f"double-trouble   {NEW}\nNext: drill start double-trouble\n"
    assert drill("next").out == new
    drill("start", "halve-well")
    assert suggested(drill) == ("halve-well", "begun: no try at it yet")
    Path("halve-well/submission.py").write_text("# fail\n")
    drill("grade", "halve-well")
    page = "halve-well   begun: 1 try\nNext: cd halve-well && drill grade\n"
    assert drill("next").out == page
    drill("solution", "halve-well", "--give-up")
    assert suggested(drill) == ("double-trouble", NEW)
    drill("start", "double-trouble")
    assert suggested(drill) == ("double-trouble", "begun: no try at it yet")


def test_a_question_without_torch_installed_is_suggested_last(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)
    assert suggested(drill) == ("double-trouble", NEW)
    for name in ("double-trouble", "halve-well"):
        drill("solution", name, "--give-up")
    why = "; it needs torch, which is not installed"
    assert suggested(drill) == ("needs-torch", NEW + why)


def test_a_question_is_suggested_after_its_prerequisites(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_questions = list_and_next.list_questions

    def with_prerequisites(*args: Any, **more: Any) -> Any:
        before = {
            "double-trouble": ("halve-well", "nothing-of-this-bank"),
            "needs-torch": ("double-trouble",),
            "halve-well": ("needs-torch",) * circular,
        }
        return [
            row._replace(header=replace(row.header, prerequisites=before[row.header.id]))
            for row in list_questions(*args, **more)
        ]

    circular = True
    monkeypatch.setattr(list_and_next, "list_questions", with_prerequisites)
    assert suggested(drill) == ("double-trouble", f"{NEW}; better after halve-well")
    circular = False
    for name in ("halve-well", "double-trouble", "needs-torch"):
        assert suggested(drill) == (name, NEW)
        drill("start", name)
        Path(name, "submission.py").write_text("# pass\n")
        drill("grade", name)


def test_a_question_that_cannot_be_read_is_listed_and_never_suggested(
    real: Drill, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "bank")
    (bank / "questions" / "broken.yaml").write_text("title: [")
    follow(
        real,
        f"""
        --bank {bank} list => 0 | (unreadable) | 0 of 2 passed
        --bank {bank} next => 0 | drill start scaled-copy
        """,
    )
    (bank / "questions" / "scaled-copy.yaml").unlink()
    follow(real, f"--bank {bank} next => 0 | no questions")


def test_the_guide_is_markdown_in_a_pipe_and_a_page_at_a_terminal(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = drill("show", "double-trouble").out
    markdown = drill("show", "double-trouble", "--interviewer").out
    assert markdown.startswith("# ")
    assert "\n\n## Part 1 of 1, 25 minutes, 100 points\n\nRead out: A colleague doubles" in markdown
    assert "made by `drill start double-trouble`." in markdown
    spoken = drill("--plain", "show", "double-trouble", "--interviewer").out
    assert "#" not in spoken
    assert "**" not in spoken
    assert "Read out: A colleague doubles" in spoken
    with monkeypatch.context() as patch:
        patch.setattr("grader.commands.output._is_terminal", lambda _: True)
        words = ("--no-pager", "--color", "never", "show", "double-trouble", "--interviewer")
        page = drill(*words).out
    assert page.startswith("double-trouble  ")
    assert page.endswith("\nNext: drill solution double-trouble --give-up --full\n")
    assert "Next:" not in markdown
    assert max(map(len, page.splitlines())) <= 80
    assert "**" not in page
    assert not list(Path().iterdir())
    assert before == drill("show", "double-trouble").out


def test_the_guide_as_json_adds_hints_follow_ups_and_ideas(drill: Drill) -> None:
    public = drill("show", "double-trouble", "--json").data
    data = drill("show", "double-trouble", "--interviewer", "--json").data
    guide = data.pop("interviewer")
    assert data == public
    assert [len(part["hints"]) for part in guide["parts"]] == [public["hints"]]
    assert all(idea["answer"] and idea["check"] for idea in guide["ideas"])
    assert set(guide) == {"parts", "ideas"}


def test_a_guide_needs_torch_where_the_question_does(
    drill: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)
    drill("show", "needs-torch", "--interviewer", "--all").refused("torch")


def test_a_guide_of_programs_that_cannot_be_loaded_blames_the_bank(
    real: Drill, tmp_path: Path
) -> None:
    bank = tmp_path / "broken"
    write_bank(bank)  # its programs are empty
    result = real("--bank", str(bank), "show", "scaled-copy", "--interviewer", "--all")
    assert (result.status, result.out) == (3, "")
    assert "does not define" in result.err


def test_a_list_is_narrowed_by_a_text_and_by_a_form(real: Drill) -> None:
    def ids(*words: str) -> list[str]:
        rows = real("--bank", str(ROOT), "list", *words, "--json").data["questions"]
        return [question["id"] for question in rows]

    assert ids("roofline") == ["roofline-and-ledger"]
    assert "rope" in ids("PORT of ro")
    assert set(ids("--form", "predict")) == {"seven-windows", "three-rows", "four-averages"}
    assert ids("windows", "--form", "estimate") == []
    refused = real("--bank", str(ROOT), "list", "--form", "estimates")
    refused.refused("there is no such form; did you mean 'estimate'?", "write-the-test")
