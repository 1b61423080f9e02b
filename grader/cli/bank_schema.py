"""`drill bank schema`."""

from __future__ import annotations

from grader.cli import output


def command() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.kinds.schema import schema

    output.write(schema().rstrip("\n"))
