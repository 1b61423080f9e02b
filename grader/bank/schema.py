"""The JSON Schema of a question, from the model: editors complete and check a spec by it."""

from __future__ import annotations

import json

from grader.model.descriptions import describe
from grader.model.spec import Spec


def text(*, extended: bool) -> str:
    """The schema as text.

    Args:
        extended: with the kinds of check of installed extensions.
    """
    model = Spec
    if extended:
        from grader.bank.kinds import extended_spec

        model = extended_spec()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | model.model_json_schema()
    describe(schema)
    return json.dumps(schema, indent=2) + "\n"
