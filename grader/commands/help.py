"""`drill help`: topics, and the help of a command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.commands import output
from grader.commands.options import argument
from grader.model.errors import UsageError, did_you_mean

_TOPICS = Path(__file__).parent / "topics"


def _topics() -> list[str]:
    return sorted(path.stem for path in _TOPICS.glob("*.md"))


def help_(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        argument(
            "TOPIC|COMMAND",
            "What to explain (default: list it all).",
            autocompletion=_topics,
        ),
    ] = None,
) -> None:
    """Explain a topic, or a command."""
    from grader.reports.blocks import from_markdown

    root = ctx.find_root()
    if not words:
        output.write(root.get_help())
        output.write_next_steps(*(f"drill help {topic}" for topic in _topics()))
    elif len(words) == 1 and words[0] in _topics():
        text = (_TOPICS / f"{words[0]}.md").read_text("utf-8")
        output.show_page([*from_markdown(text)], paged=True)
    else:
        command = root.command
        info = root
        for word in words:
            subcommands = getattr(command, "commands", {})
            if word not in subcommands:
                suggestion = did_you_mean(word, [*subcommands, *_topics()])
                expected = f"a command, or {', '.join(_topics())}"
                raise UsageError(f"help: expected {expected}, found {word!r}{suggestion}")
            command = subcommands[word]
            info = type(info)(command, parent=info, info_name=word)
        output.write(command.get_help(info))
