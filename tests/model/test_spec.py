"""One name or many read alike, the kind decides the keys, nothing changes after loading."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from grader.grading.kinds import registry
from grader.grading.kinds.outputs import OutputsCheck
from grader.model.spec import Idea

SPEC = {
    "format": 3, "title": "T", "track": "t", "level": "core", "minutes": 1, "uses": ["numpy"],
    "prompt": "p", "interface": "i", "run": ["y = f(x)"], "cases": {"c": {"x": 1}},
    "checks": [{"id": "a", "kind": "outputs", "of": "y"}],
}  # fmt: skip


def test_one_name_and_a_list_of_names_read_alike() -> None:
    one = {"id": "a", "kind": "outputs", "of": "y", "needs": "b", "show": {"beside": "x"}}
    many = {**one, "of": ["y"], "needs": ["b"], "show": {"beside": ["x"]}}
    for keys in (one, many):
        check = registry.read_spec({**SPEC, "checks": [keys]}).checks[0]
        assert isinstance(check, OutputsCheck)
        assert (check.results, check.needs, check.show.beside) == (("y",), ["b"], ["x"])
    idea = Idea.model_validate({"killed_by": "a", "feedback": "f"})
    assert idea.killed_by == ["a"]


def test_the_kind_decides_which_keys_there_are() -> None:
    with pytest.raises(ValidationError, match="at_most"):
        registry.read_spec(
            {**SPEC, "checks": [{"id": "a", "kind": "outputs", "of": "y", "at_most": 3}]}
        )


def test_a_spec_does_not_change_after_loading() -> None:
    spec = registry.read_spec(SPEC)
    with pytest.raises(ValidationError, match="frozen"):
        spec.title = "other"
    with pytest.raises(ValidationError, match="frozen"):
        spec.checks[0].stretch = True


@pytest.mark.parametrize(
    ("name", "ok"),
    [
        ("max-pool", True), ("a", True), ("a1-2b", True), ("A", False), ("a_b", False),
        ("", False), ("-a", False), ("a-", False), ("a--b", False), ("a b", False), ("a/b", False),
        ("..", False), ("a\n", False), ("\u00e9", False), ("a" * 61, False),
    ],
)  # fmt: skip
def test_an_id_is_lower_case_words_joined_by_hyphens(name: str, ok: bool) -> None:
    if ok:
        assert registry.read_spec({**SPEC, "track": name}).track == name
    else:
        with pytest.raises(ValidationError):
            registry.read_spec({**SPEC, "track": name})
