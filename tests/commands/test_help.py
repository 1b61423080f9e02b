"""`drill help` explains every topic and every command, and is complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader import forms
from grader.commands import help as help_module
from grader.model.report import Verdict
from tests.commands.conftest import ROOT, Drill

TOPICS = {path.stem for path in (Path(help_module.__file__).parent / "topics").glob("*.md")}


def test_help_without_words_lists_commands_and_topics(drill: Drill) -> None:
    result = drill("help")
    assert result.status == 0
    assert {"forms", "parts", "verdicts", "classes", "isolation"} == TOPICS
    assert all(f"drill help {topic}" in result.out for topic in TOPICS)
    assert "\n  grade " in result.out
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
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert not re.findall(r".*(?:: Else|; else) .*", page)
    assert "(default: the one in this folder)" in drill("hint", "--help").out


@pytest.mark.parametrize("topic", sorted(TOPICS))
def test_a_topic_is_a_page(drill: Drill, topic: str) -> None:
    result = drill("help", topic)
    assert result.status == 0
    lines = result.out.splitlines()
    assert 5 < len(lines) <= 22
    assert max(map(len, lines)) <= 80


def test_topics_name_all_forms_verdicts_and_levels(drill: Drill) -> None:
    page = drill("help", "forms").out
    assert all(f"`{name}`:" in page for name in forms.FORM_NAMES)
    page = drill("help", "verdicts").out
    of_a_grade = set(Verdict) - {Verdict.SKIPPED, Verdict.INCONCLUSIVE}
    assert all(f"`{verdict.upper()}`:" in page for verdict in of_a_grade)
    page = drill("help", "isolation").out
    assert all(f"`{level}`" in page for level in ("strong", "limited", "process"))


def test_a_command_has_its_own_help(drill: Drill) -> None:
    for words in (["grade"], ["bank", "audit"], ["history", "restore"], ["class"]):
        result = drill("help", *words)
        assert result.status == 0
        assert result.out == drill(*words, "--help").out


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        (["partz"], "found 'partz'; did you mean 'parts'?"),
        (["bank", "adit"], "found 'adit'; did you mean 'audit'?"),
        (["grade", "parts"], "found 'parts'"),
        (["../app"], "found '../app'"),
    ],
)
def test_help_refuses_an_unknown_word(drill: Drill, words: list[str], phrase: str) -> None:
    result = drill("help", *words)
    assert result.status == 2
    assert phrase in result.err
    assert "expected a command, or classes, forms, isolation, parts, verdicts" in result.err
