"""`drill bank schema`."""

from __future__ import annotations

from grader.cli import output


def command() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.kinds import registry

    output.write(registry.schema().rstrip("\n"))
