"""Write the pages that are made from the program: `python docs/generate.py`.

    docs/commands.md             every command's --help
    docs/question.schema.json    the JSON Schema of a question, for editors

tests/test_docs.py fails while a page is not what this would write.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import typer

from grader.cli.app import app, run
from grader.model.spec import Spec

DOCS = Path(__file__).resolve().parent
WIDTH = "80"

_INTRODUCTION = """\
# Commands

Made from the program by `python docs/generate.py`. `--bank DIR` may stand anywhere in a command.
"""


def main() -> None:
    """Write every page."""
    for name, text in pages().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    return {"commands.md": commands_page(), "question.schema.json": schema_page()}


def commands_page() -> str:
    """Return the help of all commands under a heading each."""
    parts = [_INTRODUCTION]
    for words in commands():
        parts.append(f"## {' '.join(['drill', *words])}\n\n```text\n{_help(words)}\n```\n")
    return "\n".join(parts)


def commands() -> Iterator[tuple[str, ...]]:
    """Yield the words of every command and group, the bare `drill` first."""
    waiting: list[tuple[tuple[str, ...], object]] = [((), typer.main.get_command(app))]
    while waiting:
        words, command = waiting.pop(0)
        yield words
        below: dict[str, object] = getattr(command, "commands", {})
        waiting[:0] = [((*words, name), found) for name, found in below.items()]


def schema_page() -> str:
    """Return the schema; editors find it by the first line of a spec."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | Spec.model_json_schema()
    return json.dumps(schema, indent=2) + "\n"


def _help(words: tuple[str, ...]) -> str:
    printed = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS=WIDTH), contextlib.redirect_stdout(printed):
        run([*words, "--help"])
    return printed.getvalue().strip()


if __name__ == "__main__":
    main()
