"""The server of `drill mcp`: drills as tools and prompts of an assistant.

Each call runs in its own process (`grader/commands/mcp_tools.py`), one after another.
Canceling a call kills its process, and so does the end of the server, even if it is killed.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from inspect import Parameter, Signature, signature
from itertools import count
from pathlib import Path
from typing import Annotated, Any, get_args

import anyio
from mcp.server.mcpserver import Context as Talk
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    PARSE_ERROR,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    TextContent,
    ToolAnnotations,
)
from pydantic import Field, ValidationError

from grader.commands import entrypoint, mcp_prompts, output
from grader.commands.mcp_tools import TOOLS, Request, Tool, without_private_keys
from grader.model.version import __version__

MAX_ARGUMENT_LENGTH = 1000  # characters
_COMMAND = (sys.executable, "-P", "-m", "grader.commands.mcp_tools")


def serve(bank: Path | None) -> None:
    """Serve until standard input ends; PipeClosedError if the client does not read any more."""
    try:
        asyncio.run(_run(McpServer(bank)))
    except BaseExceptionGroup as faults:
        if faults.subgroup(BrokenPipeError) is None:
            raise
        raise output.PipeClosedError from None


async def _run(server: McpServer) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, _exit_on_interrupt)
    await server.run_stdio_async()


def _exit_on_interrupt() -> None:
    """Exit at once: Python would wait for the thread that reads standard input."""
    output.info("interrupted")
    os._exit(entrypoint.EXIT_INTERRUPTED)


class CommandCaller:
    """Runs requests, each in its own process, one after another.

    No two grades compete for the machine, and no two commands write the records at once.
    """

    def __init__(self, command: Sequence[str] = _COMMAND) -> None:
        self._command = command
        self._lock = anyio.Lock()

    async def call(
        self, request: Request, show_step: Callable[[str], Awaitable[None]] | None = None
    ) -> dict[str, Any]:
        """Return {"document": ..., "page": ...} for a request; if canceled, kill its process.

        If the process ends without a result, the document is an error.
        """
        async with self._lock:
            process = await anyio.open_process(
                self._command,
                stderr=None,
                start_new_session=True,  # Ctrl-C goes to the server only
                # Import the modules of this process, even if the current folder has others.
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            )
            async with process:  # closes the pipes, and kills the process if it is canceled
                assert process.stdin is not None
                assert process.stdout is not None
                with suppress(anyio.BrokenResourceError):  # the process has ended without a result
                    await process.stdin.send(json.dumps(request._asdict()).encode() + b"\n")
                incomplete_line = b""
                async for chunk in process.stdout:
                    *lines, incomplete_line = (incomplete_line + chunk).split(b"\n")
                    for line in lines:
                        message = json.loads(line, object_hook=without_private_keys)
                        if "result" in message:
                            return dict(message["result"])
                        if show_step:
                            await show_step(message["step"])
        status = process.returncode
        text = f"the process of this call ended with status {status} and without a result"
        error = {"kind": "internal", "status": status, "message": text, "hint": "please report it"}
        return {"document": {"error": error}, "page": f"drill: {text}\n"}


class McpServer(MCPServer[Any]):
    """A server that offers tools and prompts; a `CommandCaller` runs each call in a process."""

    def __init__(self, bank: Path | None, caller: CommandCaller | None = None) -> None:
        """Offer all tools and prompts; `bank` is the value of `--bank`."""
        super().__init__(
            "drill", instructions=mcp_prompts.RULES, version=__version__, log_level="CRITICAL"
        )
        self._request = Request("", {}, str(bank) if bank else None, output.style.plain)
        self._caller = caller or CommandCaller()
        for tool in TOOLS:
            self._add_tool(tool)
        for name, role in mcp_prompts.ROLES.items():
            self._add_role(name, role.about)

    async def run_stdio_async(self) -> None:
        """Serve standard input; answer invalid messages, too, which the SDK alone would drop."""
        options = self._lowlevel_server.create_initialization_options()
        async with stdio_server() as (received, answers), anyio.create_task_group() as tasks:
            sink, messages = anyio.create_memory_object_stream[Any]()

            async def forward_messages() -> None:
                async with sink:
                    async for message in received:
                        await sink.send(message)
                        if isinstance(message, ValidationError):
                            with suppress(ValueError, TypeError, KeyError, RecursionError):
                                await answers.send(_parse_error(message.errors()[0]["input"]))

            tasks.start_soon(forward_messages)
            await self._lowlevel_server.run(messages, answers, options)

    def _add_tool(self, tool: Tool) -> None:
        """Offer a command as a tool, with the parameters that `tool.parameters` names."""

        async def call(talk: Talk[Any, Any], **arguments: object) -> CallToolResult:
            steps = count(1)

            async def report(step: str) -> None:
                await talk.report_progress(next(steps), message=step)

            request = self._request._replace(name=tool.name, arguments=arguments)
            result = await self._caller.call(request, report)
            return CallToolResult(
                content=[TextContent(text=result["page"])],
                structured_content=result["document"],
                is_error="error" in result["document"],
            )

        command_parameters = signature(tool.command, eval_str=True).parameters
        parameters = [_tool_parameter(command_parameters[name]) for name in tool.parameters.split()]
        call.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        annotations = ToolAnnotations(
            read_only_hint=tool.is_read_only,
            destructive_hint=tool.is_destructive,
            open_world_hint=False,
        )
        self.add_tool(call, tool.name, description=tool.about, annotations=annotations)

    def _add_role(self, name: str, about: str) -> None:
        """Offer a role as a prompt with one argument, the ID of a question."""

        async def role(question: str | None = None) -> str:
            request = self._request._replace(name=name, arguments={"question": question})
            result = await self._caller.call(request)
            if "error" in result["document"]:
                raise MCPError(INVALID_PARAMS, result["page"])
            return str(result["document"]["text"])

        self.add_prompt(Prompt.from_function(role, name, description=about))


def _parse_error(line: str) -> SessionMessage:
    """Return the answer to an invalid message; raise an error if the message has no usable id."""
    number = json.loads(line)["id"]
    str(number).encode()  # raises an error for a surrogate, which cannot be sent back
    error = ErrorData(code=PARSE_ERROR, message="expected a message in JSON and Unicode")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))


def _tool_parameter(parameter: Parameter) -> Parameter:
    """Return a command's parameter with its help and limits as pydantic annotations.

    A text may have `MAX_ARGUMENT_LENGTH` characters.
    """
    kind, declared = get_args(parameter.annotation)[:2]
    bounds: dict[str, Any] = {"ge": declared.min, "le": declared.max}
    if str in (kind, *get_args(kind)):
        bounds = {"max_length": MAX_ARGUMENT_LENGTH}
    description = ": ".join(filter(None, (declared.metavar, declared.help)))
    return parameter.replace(annotation=Annotated[kind, Field(description=description, **bounds)])
