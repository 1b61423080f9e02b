"""Every key of a spec is described once, for editors and for docs/keys.md."""

from __future__ import annotations

import json

from grader.bank import schema
from grader.cases import recipe
from grader.model import descriptions


def test_every_word_of_a_case_is_described_and_no_other() -> None:
    assert tuple(descriptions.GENERATORS) == recipe.GENERATORS
    assert tuple(descriptions.MODIFIERS) == recipe.MODIFIERS
    assert tuple(descriptions.CASE) == recipe.RESERVED


def test_the_schema_that_editors_read_describes_every_key() -> None:
    whole = json.loads(schema.text(extended=False))
    assert len(whole["$defs"]) >= 16
    for name, part in {**whole["$defs"], "Spec": whole}.items():
        for key, found in part["properties"].items():
            assert found.get("description", "").endswith("."), (name, key)
