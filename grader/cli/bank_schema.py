"""`drill bank schema`."""

from __future__ import annotations

from grader.cli import output


def command() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.bank.schema import text

    # With the kinds of installed extensions.
    output.write(text(extended=True).rstrip("\n"))
