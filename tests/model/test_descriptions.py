"""Every key of a spec is described once, for editors and for docs/keys.md."""

from __future__ import annotations

import json
from typing import get_args

from grader.bank import schema
from grader.cases import recipe
from grader.model import descriptions, spec

CHECKS = get_args(get_args(spec.AnyCheck)[0])
PARTS = [
    spec.Spec, spec.Code, spec.Misconception, spec.FollowUp, spec.Survivor, spec.Show,
    spec.Conserved, *CHECKS,
]  # fmt: skip


def test_every_key_of_every_part_is_described_and_no_other() -> None:
    keys = {
        part.__name__: {field.alias or name for name, field in part.model_fields.items()}
        for part in PARTS
    }
    assert {name: set(known) for name, known in descriptions.KEYS.items()} == keys


def test_every_word_of_a_case_is_described_and_no_other() -> None:
    assert tuple(descriptions.GENERATORS) == recipe.GENERATORS
    assert tuple(descriptions.MODIFIERS) == recipe.MODIFIERS
    assert tuple(descriptions.CASE) == recipe.RESERVED


def test_the_schema_that_editors_read_has_them_all() -> None:
    whole = json.loads(schema.text(extended=False))
    for name, part in {**whole["$defs"], "Spec": whole}.items():
        for key, found in part["properties"].items():
            assert found["description"] == descriptions.KEYS[name][key]
