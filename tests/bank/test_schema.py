"""The JSON Schema that editors complete a spec by."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from grader.bank import document
from grader.cases import inputs
from grader.kinds import registry

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "questions").glob("*.yaml"))


def test_it_knows_every_key_and_that_others_are_errors() -> None:
    found = json.loads(registry.schema())
    assert found["$schema"].startswith("https://json-schema.org/")
    assert {"title", "run", "cases", "checks", "code", "misconceptions"} <= found[
        "properties"
    ].keys()
    assert found["additionalProperties"] is False
    programs = {"reference", "starter", "driver", "accepted"}
    assert programs == found["$defs"]["Code"]["properties"].keys()


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_first_line_of_every_question_names_it(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named, first
    assert (path.parent / named[1]).resolve() == ROOT / "docs" / "question.schema.json"


def test_it_describes_every_key() -> None:
    whole = json.loads(registry.schema())
    assert len(whole["$defs"]) >= 16
    for name, part in {**whole["$defs"], "Spec": whole}.items():
        for key, found in part.get("properties", {}).items():
            assert found.get("description", "").endswith("."), (name, key)


def fits(value: object, one: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a value is of a schema, as far as types, keys and words go."""
    if "$ref" in one:
        return fits(value, whole["$defs"][one["$ref"].rpartition("/")[2]], whole)
    if "anyOf" in one:
        return any(fits(value, other, whole) for other in one["anyOf"])
    if "enum" in one:
        return value in one["enum"]
    types = one.get("type", [])
    known: dict[str, Any] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
    }
    known |= {"integer": int, "number": (int, float)}
    if not any(isinstance(value, known[t]) for t in ([types] if isinstance(types, str) else types)):
        return False
    if isinstance(value, dict):
        own, others = one["properties"], one.get("additionalProperties", False)
        return set(one.get("required", ())) <= value.keys() and all(
            fits(item, own[key], whole) if key in own else others and fits(item, others, whole)
            for key, item in value.items()
        )
    return re.match(one.get("pattern", ""), value) is not None if isinstance(value, str) else True


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_every_case_of_the_questions_is_one_by_it(path: Path) -> None:
    whole = json.loads(registry.schema())
    case = whole["properties"]["cases"]["additionalProperties"]
    # As the program and an editor read it: in YAML 1.2, of which 1e-9 is a number.
    cases = document.parse(path.read_bytes(), path).data["cases"]
    assert [name for name, written in cases.items() if not fits(written, case, whole)] == []


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ({"normal": [2, 3]}, True),
        ({"normal": "like y", "scale": 2, "dtype": "float32"}, True),
        ({"nromal": [2, 3]}, False),
        ({"normal": "y"}, False),
        ({"normal": [2], "gap": 1}, False),
        ({"normal": [2], "distinct": [2]}, False),
        ({"integers": [2], "from": 0, "to": 3, "sort": True}, True),
        ({"integers": [2], "from": 0}, False),
        ({"full": [2]}, False),
        ({"ones": [2], "layout": "bent"}, False),
        ({"ones": [2], "sprinkle": {"value": 1, "share": 0.5}}, True),
        ({"ones": [2], "sprinkle": {"value": 1}}, False),
        ([[1.0, 2.0]], True),
        (3, True),
        (None, True),
        ({}, False),
    ],
)
def test_an_input_is_right_by_it_exactly_where_the_program_reads_it(
    written: object, right: bool
) -> None:
    whole = json.loads(registry.schema())
    assert fits(written, whole["properties"]["defaults"]["additionalProperties"], whole) is right
    with nullcontext() if right else pytest.raises(inputs.RecipeError):
        inputs.read_input(written)


def test_an_editor_can_offer_every_generator_and_every_kind() -> None:
    whole = json.loads(registry.schema())
    offered = {one["required"][0] for one in whole["$defs"]["Input"]["anyOf"][1:]}
    assert offered == inputs.GENERATORS.keys()
    kinds = whole["$defs"]["Part"]["properties"]["checks"]["items"]["oneOf"]
    words = [whole["$defs"][k["$ref"].rpartition("/")[2]]["properties"]["kind"] for k in kinds]
    assert {w["const"] for w in words} == {*registry.KINDS}
