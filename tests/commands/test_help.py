"""`drill help` knows every topic and every command, and what it says is what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import forms
from grader.commands import help as help_module
from grader.model.report import Verdict
from tests.commands.conftest import ROOT, Drill

TOPICS = {path.stem for path in (Path(help_module.__file__).parent / "topics").glob("*.md")}


def test_without_words_it_says_what_there_is(drill: Drill) -> None:
    ended = drill("help")
    assert ended.status == 0
    assert {"forms", "parts", "verdicts", "classes", "isolation"} == TOPICS
    assert all(f"drill help {topic}" in ended.out for topic in TOPICS)
    assert "\n  grade " in ended.out
    bare = drill()
    assert "Begin with `drill next`." in bare.out


def test_the_commands_of_practice_fit_a_screen(drill: Drill) -> None:
    bare = drill()
    assert bare.status == 2
    lines = bare.out.splitlines()
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    for name in ("next", "list", "show", "start", "grade", "watch", "hint", "interview"):
        assert any(line.startswith(f"  {name} ") for line in lines)
    assert not any(line.startswith(("  bank ", "  class ", "  mcp ")) for line in lines)
    assert "`drill --help` has all of them" in " ".join(lines)
    assert "\n  bank " in drill("--help").out


def test_help_names_defaults_and_has_no_elses(drill: Drill) -> None:
    said = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert not re.findall(r".*(?:: Else|; else) .*", said)
    assert "(default: the one in this folder)" in drill("hint", "--help").out


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_topic_is_a_page(drill: Drill, topic: str) -> None:
    ended = drill("help", topic)
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert 5 < len(lines) <= 22
    assert max(map(len, lines)) <= 80


def test_topics_name_what_there_is(drill: Drill) -> None:
    said = drill("help", "forms").out
    assert all(f"`{name}`:" in said for name in forms.FORM_NAMES)
    said = drill("help", "verdicts").out
    of_a_grade = set(Verdict) - {Verdict.SKIPPED, Verdict.INCONCLUSIVE}
    assert all(f"`{verdict.upper()}`:" in said for verdict in of_a_grade)
    said = drill("help", "isolation").out
    assert all(f"`{level}`" in said for level in ("strong", "limited", "process"))


def test_a_command_has_its_own_help(drill: Drill) -> None:
    for words in (["grade"], ["bank", "audit"], ["history", "restore"], ["class"]):
        ended = drill("help", *words)
        assert ended.status == 0
        assert ended.out == drill(*words, "--help").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["partz"], "found 'partz'; did you mean 'parts'?"),
        (["bank", "adit"], "found 'adit'; did you mean 'audit'?"),
        (["grade", "parts"], "found 'parts'"),
        (["../app"], "found '../app'"),
    ],
)
def test_another_word_is_refused(drill: Drill, words: list[str], said: str) -> None:
    ended = drill("help", *words)
    assert ended.status == 2
    assert said in ended.err
    assert "expected a command, or classes, forms, isolation, parts, verdicts" in ended.err
