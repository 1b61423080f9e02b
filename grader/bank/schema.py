"""The JSON Schema of a question, from the model: editors complete and check a spec by it."""

from __future__ import annotations

import json

from grader.kinds import registry
from grader.model.spec import Check


def text(*, extended: bool) -> str:
    """The schema as text.

    Args:
        extended: with the kinds of check of installed extensions.
    """
    kinds, _ = registry.usable(registry.names() if extended else registry.BUILT_IN)
    model = registry.spec_model(*kinds.values())
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | model.model_json_schema()
    kind = Check.model_fields["kind"].description
    for part in schema["$defs"].values():
        if "const" in part.get("properties", {}).get("kind", ()):
            part["properties"]["kind"]["description"] = kind
    return json.dumps(schema, indent=2) + "\n"
