"""`drill class schema`."""

from __future__ import annotations

from grader.cli import output


def command() -> None:
    """Print the JSON Schema of a class.yaml, for editors."""
    from grader.classroom import config

    output.write(config.schema().rstrip("\n"))
