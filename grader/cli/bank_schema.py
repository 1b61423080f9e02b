"""`drill bank schema`."""

from __future__ import annotations

from grader.cli import output


def command() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.kinds import registry

    # With the kinds of installed extensions.
    output.write(registry.schema(extended=True).rstrip("\n"))
