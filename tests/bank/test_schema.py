"""The JSON Schema that editors complete a spec by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from grader.bank.yaml_document import parse_yaml
from grader.cases import recipe
from grader.commands.app import run
from grader.grading.kinds import registry
from grader.grading.kinds.schema import question_schema
from grader.model.spec import FormName

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "questions").glob("*.yaml"))
EXAMPLES = [
    path
    for folder in ("docs/examples", "tests/banks")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
    if b"\nformat: 3" in b"\n" + path.read_bytes()
]
VALIDATOR = Draft202012Validator(json.loads(question_schema()))


def faults(path: Path, change: Callable[[dict[str, Any]], object] | None = None) -> list[str]:
    """What an editor underlines in a spec: in JSON every key is a text."""
    data = parse_yaml(path.read_bytes(), path).data
    if change is not None:
        change(data)
    found = VALIDATOR.iter_errors(json.loads(json.dumps(data)))
    return [f"{error.json_path}: {error.message}" for error in found]


@pytest.mark.parametrize("path", [*SPECS, *EXAMPLES], ids=lambda p: p.stem)
def test_a_validator_accepts_every_question(path: Path) -> None:
    assert faults(path) == []


@pytest.mark.parametrize(
    "options",
    [*(["--form", form] for form in get_args(FormName)), ["--parts", "2"], ["--one-file"]],
)
def test_a_validator_accepts_every_skeleton(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["bank", "new", "mine", *options]) == 0
    (path,) = tmp_path.rglob("mine.yaml")
    assert faults(path) == []


def _set(*keys: str | int, to: object) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        inner: Any = data
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = to

    return change


MISTAKES = {
    "a misspelt key": _set("titel", to="A"),
    "no title": lambda data: data.pop("title"),
    "an empty title": _set("title", to=""),
    "another format": _set("format", to=2),
    "an unknown form": _set("form", to="multiple-choice"),
    "an unknown level": _set("level", to="hard"),
    "a track in capitals": _set("track", to="Convolution"),
    "a library that is not there": _set("uses", to=["pandas"]),
    "a library as a text": _set("uses", to="numpy"),
    "parts as a mapping": lambda data: data.update(parts={"1": data["parts"][0]}),
    "no parts": _set("parts", to=[]),
    "no time": _set("parts", 0, "minutes", to=0),
    "points in words": _set("parts", 0, "points", to="forty"),
    "a contract as a text": _set("parts", 0, "contract", to="y is right."),
    "a misspelt key of a part": _set("parts", 0, "hint", to=["look"]),
    "no checks": _set("parts", 0, "checks", to=[]),
    "an unknown kind": _set("parts", 0, "checks", 0, to={"id": "a", "kind": "output"}),
    "a key of another kind": _set(
        "parts", 0, "checks", 0, to={"id": "a", "kind": "outputs", "at_most": 3}
    ),
    "a misspelt tolerance": _set(
        "parts", 0, "checks", 0, to={"id": "a", "tolerance": {"relativ": 1e-3, "because": "so"}}
    ),
    "a case with a space in its name": lambda data: data["cases"].update({"one two": {}}),
    "a case that is a number": lambda data: data["cases"].update({"one": 3}),
    "an unknown generator": lambda data: data["cases"].update({"one": {"x": {"norml": [2]}}}),
    "an option of another generator": lambda data: data["cases"].update(
        {"one": {"x": {"normal": [2], "from": 1}}}
    ),
    "a negative size": lambda data: data["cases"].update({"one": {"x": {"normal": [-2]}}}),
    "a run that is a mapping of texts to nothing": _set("run", to={}),
    "a column with a hyphen": _set("columns", to=["kernel-size"]),
    "an answer of a follow-up beyond nine": lambda data: data["parts"][0].update(
        follow_ups=[{"ask": "?", "answer": "!", "choice": ["a"] * 10, "right": 1}]
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_validator_refuses_typical_mistakes(mistake: str) -> None:
    path = ROOT / "questions" / "maxpool-routing.yaml"
    assert faults(path, MISTAKES[mistake]) != []


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_first_line_of_every_question_names_it(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named, first
    assert (path.parent / named[1]).resolve() == ROOT / "docs" / "question.schema.json"


def test_it_describes_every_key() -> None:
    whole = json.loads(question_schema())
    assert len(whole["$defs"]) >= 16
    for name, part in {**whole["$defs"], "Spec": whole}.items():
        for key, found in part.get("properties", {}).items():
            assert found.get("description", "").endswith("."), (name, key)


def test_an_editor_can_offer_every_generator_and_every_kind() -> None:
    whole = json.loads(question_schema())
    offered = {one["required"][0] for one in whole["$defs"]["Input"]["anyOf"][1:]}
    assert offered == recipe.GENERATORS.keys()
    kinds = whole["$defs"]["Part"]["properties"]["checks"]["items"]["anyOf"][1]["oneOf"]
    words = [whole["$defs"][k["$ref"].rpartition("/")[2]]["properties"]["kind"] for k in kinds]
    assert {w["const"] for w in words} == {*registry.KINDS}
