"""The spec's small conveniences: one name or many read alike, and nothing changes after loading."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from grader.kinds import registry
from grader.kinds.counted_torch import MemoryCheck
from grader.kinds.outputs import OutputsCheck
from grader.model import spec as model
from grader.model.errors import BankError, DrillError, GraderError, UsageError
from grader.model.question import Argument, Question, Step
from grader.model.report import Verdict
from grader.model.spec import Check

SPEC = {
    "format": 2, "title": "T", "track": "t", "level": "core", "minutes": 1, "uses": ["numpy"],
    "prompt": "p", "interface": "i", "run": ["y = f(x)"], "cases": {"c": {"x": 1}},
    "checks": [{"id": "a", "kind": "outputs", "of": "y"}],
}  # fmt: skip


def check(**keys: object) -> Check:
    """Return one check as a spec would hold it."""
    return registry.read({**SPEC, "checks": [{"id": "a", **keys}]}).checks[0]


def test_one_name_and_a_list_of_names_read_alike() -> None:
    one = check(kind="outputs", of="y", needs="b", show={"beside": "x"})
    many = check(kind="outputs", of=["y"], needs=["b"], show={"beside": ["x"]})
    assert isinstance(one, OutputsCheck)
    assert isinstance(many, OutputsCheck)
    assert one.results == many.results == ("y",)
    assert one.needs == many.needs == ["b"]
    assert one.show.beside == many.show.beside == ["x"]
    idea = model.Misconception.model_validate({"killed_by": "a", "feedback": "f", "code": "x"})
    assert (idea.killed_by, idea.code) == (["a"], ["x"])


def test_the_kind_decides_which_keys_there_are() -> None:
    found = check(kind="memory", quantity="saved", at_most="8 * x.size", **{"except": ["w"]})
    assert isinstance(found, MemoryCheck)
    assert (found.without, found.device, found.against) == (["w"], "cpu", None)
    with pytest.raises(ValidationError):
        check(kind="outputs", of="y", at_most=3)


def test_a_spec_does_not_change_after_loading() -> None:
    spec = registry.read(SPEC)
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
        assert registry.read({**SPEC, "track": name}).track == name
    else:
        with pytest.raises(ValidationError):
            registry.read({**SPEC, "track": name})


def step(owner: str, function: str, *arguments: Argument) -> Step:
    """Return a step that assigns y."""
    return Step("", ("y",), False, owner, function, arguments)  # type: ignore[arg-type]


def test_a_question_asks_for_the_functions_of_all_its_runs_once() -> None:
    question = Question(
        id="q", bank=Path(), spec=registry.read(SPEC),
        runs={
            "main": (step("submission", "f"), step("torch", "vjp"), step("submission", "g")),
            "other": (step("driver", "train"), step("submission", "f"), step("submission", "h")),
        },
        starter=b"", reference=b"", driver=None, variants={}, spec_path=Path(),
    )  # fmt: skip
    assert question.functions == ("f", "g", "h")


def test_a_step_reads_the_names_among_its_arguments() -> None:
    reading = step("submission", "f", Argument("x"), Argument(None, 3), Argument("k", None, "key"))
    assert reading.reads == ("x", "k")


def test_errors_carry_whose_fault_they_are() -> None:
    assert (UsageError("u").exit_status, BankError("b").exit_status) == (2, 3)
    assert (GraderError("g").exit_status, DrillError("d").exit_status) == (4, 4)
    error = BankError("first", "do this", ("first", "second"))
    assert (error.message, error.hint, error.problems) == ("first", "do this", ("first", "second"))
    assert BankError("only").problems == ("only",)


def test_verdicts_are_the_words_of_the_documents() -> None:
    assert [str(v) for v in Verdict] == [
        "pass", "fail", "error", "limit", "skipped", "inconclusive", "invalid",
        "internal",
    ]  # fmt: skip
