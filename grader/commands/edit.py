"""`drill edit`, and `open_editor`, which opens the person's editor for other commands."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from grader.commands import output
from grader.commands.options import SomeId, command_context, option
from grader.model.errors import UsageError


def edit(
    ctx: typer.Context,
    question: SomeId = None,
    editor: Annotated[str | None, option("CMD", "Editor (default: VISUAL or EDITOR).")] = None,
) -> None:
    """Open your file in your editor, and wait for it."""
    from grader.commands.workspaces import resolve_drill

    drill = resolve_drill(command_context(ctx), question)
    open_editor(drill.require_workspace().submission, editor)
    output.write_next_steps(
        f"drill grade{drill.drill_argument}", f"drill watch{drill.drill_argument}"
    )


def open_editor(path: Path, command: str | None = None) -> None:
    """Open a file in an editor, and wait until the editor ends.

    `command`, by default VISUAL or EDITOR, may have options: "code --wait".  UsageError if no
    editor is named, or the editor ends with an error.
    """
    import subprocess

    command = command or os.environ.get("VISUAL") or os.environ.get("EDITOR") or ""
    if not command.strip():
        raise UsageError(
            "no editor is named: expected VISUAL or EDITOR in the environment, found neither",
            hint="export EDITOR=nano names one; drill edit --editor CMD takes another",
        )
    output.flush()
    shell = ["/bin/sh", "-c", f'{command} "$@"', command, str(path)]
    # The editor handles Ctrl-C.  It starts first, because a process inherits ignored signals.
    with subprocess.Popen(shell) as process, output.interrupts_ignored():
        status = process.wait()
    if status:
        raise UsageError(
            f"the editor {command} ended with status {status}; {path.name} is as it left it",
            hint="drill edit --editor CMD takes another",
        )
