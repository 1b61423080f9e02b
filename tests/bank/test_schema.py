"""The JSON Schema that editors complete a spec by."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.cases import recipe
from grader.kinds import registry
from grader.kinds.schema import schema

ROOT = Path(__file__).parents[2]
SPECS = sorted((ROOT / "questions").glob("*.yaml"))


@pytest.mark.parametrize("path", SPECS, ids=lambda p: p.stem)
def test_the_first_line_of_every_question_names_it(path: Path) -> None:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    named = re.fullmatch(r"# yaml-language-server: \$schema=(\S+)", first)
    assert named, first
    assert (path.parent / named[1]).resolve() == ROOT / "docs" / "question.schema.json"


def test_it_describes_every_key() -> None:
    whole = json.loads(schema())
    assert len(whole["$defs"]) >= 16
    for name, part in {**whole["$defs"], "Spec": whole}.items():
        for key, found in part.get("properties", {}).items():
            assert found.get("description", "").endswith("."), (name, key)


def test_an_editor_can_offer_every_generator_and_every_kind() -> None:
    whole = json.loads(schema())
    offered = {one["required"][0] for one in whole["$defs"]["Input"]["anyOf"][1:]}
    assert offered == recipe.GENERATORS.keys()
    kinds = whole["$defs"]["Part"]["properties"]["checks"]["items"]["anyOf"][1]["oneOf"]
    words = [whole["$defs"][k["$ref"].rpartition("/")[2]]["properties"]["kind"] for k in kinds]
    assert {w["const"] for w in words} == {*registry.KINDS}
