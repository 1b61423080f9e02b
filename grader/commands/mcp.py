"""`drill mcp`: drills as the tools of an assistant."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from grader import bank
from grader.commands import output
from grader.commands.options import option
from grader.model.errors import UsageError


def mcp(
    ctx: typer.Context,
    dir_: Annotated[
        Path | None, option("DIR", "Work in this folder, not in the current one.", "--dir")
    ] = None,
) -> None:
    """Let an assistant help you practice, over MCP."""
    try:
        from grader.commands.mcp_server import serve
    except ModuleNotFoundError as fault:
        if (fault.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise UsageError(
            "drill mcp needs the package mcp, version 2 or later, which is not installed",
            hint="pip install 'drill-dl[mcp]'",
        ) from None
    if sys.stdin is None or sys.stdout is None:
        raise UsageError("drill mcp speaks on standard input and output, and one of them is closed")
    try:  # a client starts this command without a shell, which would expand `~`
        os.chdir(bank.expand_path(str(dir_ or ".")))
    except OSError as fault:
        raise UsageError(f"--dir: {dir_}: {fault.strerror}") from fault
    if sys.stdin.isatty():
        output.info("drill mcp waits for an assistant to speak on standard input; Ctrl-C ends it")
    serve(ctx.obj)
