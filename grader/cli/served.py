"""Drills as tools and prompts of an assistant, over the Model Context Protocol.

A tool is its command, recorded: what comes back is the document of `--json` and the page. The
program keeps the rules, whatever a prompt says: nothing of a right solution comes before a pass or
before somebody gives up, and nothing of a part before it is asked.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import Parameter, Signature, signature
from itertools import count
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from mcp.server.mcpserver import Context as Talk
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts import Prompt
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

# What a grade needs, numpy among it, which an interrupted import breaks for good.
import grader.session  # noqa: F401
from grader import __version__
from grader.app import files, grading
from grader.app.context import Context
from grader.app.resolve import Choice, resolve
from grader.cli import drill, entrypoint, output, prompts, questions
from grader.cli.context import SomeId, context, flag, now, option
from grader.cli.desk import Desk
from grader.cli.discuss import discuss
from grader.cli.grade import around_of
from grader.model.errors import DrillError, UsageError
from grader.reports.grade import document, page
from grader.reports.question import question_markdown

_LONGEST = 1000  # characters of an argument
_WHERE = {"bank", "digest"}  # keys of documents that lead to the answers
_LOOKS, _ADDS, _ENDS = (
    ToolAnnotations(read_only_hint=looks, destructive_hint=ends, open_world_hint=False)
    for looks, ends in ((True, False), (False, False), (False, True))
)
# A command, its parameters, what it changes, what it does; None: to grade, as only the server may.
_TOOLS: tuple[tuple[Callable[..., object] | None, str, ToolAnnotations, str], ...] = (
    (questions.list_, "track level role new due under", _LOOKS, "List questions, how far one is."),
    (questions.next_, "", _LOOKS, "Say what to do next, and why."),
    (questions.show, "question", _LOOKS, "Show a question, as far as it is asked."),
    (drill.start, "question again", _ADDS, "Make its folder. `again`: of a question that is due."),
    (None, "question file yes", _ADDS, "Grade the person's file: a try."),
    (drill.run, "question seed", _ADDS, "Run the script of a diagnosis, once of a few times."),
    (drill.case, "name question run seed", _ADDS, "Write a case as a script to run."),
    (drill.hint, "question", _ADDS, "Show one more hint, which is recorded: ask before."),
    (drill.solution, "question give_up", _ENDS, "Show the solution, which ends the drill."),
    (discuss, "question part answer ticked", _ADDS, "List what else is asked about what is passed,"
     " or give their own `answer` to the next one, which shows ours and its key points."),
)  # fmt: skip


def serve(ctx: typer.Context, named: Sequence[Path]) -> None:
    """Serve until standard input ends; the files `named` may be graded wherever they are."""
    desk = Desk()
    try:
        desk.serve(_Server(ctx, desk, named).run_stdio_async)
    except BaseExceptionGroup as faults:
        if faults.subgroup(BrokenPipeError) is None:
            raise
        raise output.PipeClosedError from None


class _Server(MCPServer[Any]):
    def __init__(self, ctx: typer.Context, desk: Desk, named: Sequence[Path]) -> None:
        super().__init__(
            "drill", instructions=prompts.RULES, version=__version__, log_level="CRITICAL"
        )
        self._ctx, self._desk, self._named = ctx, desk, named
        for command, takes, hints, about in _TOOLS:
            self._add_command(command or self._grade, takes.split(), hints, about)
        for name, about, text in prompts.ROLES:
            self._add_role(name, about, text)

    def _add_command(
        self, command: Callable[..., object], takes: list[str], hints: ToolAnnotations, about: str
    ) -> None:
        """Make a tool of a command, with some of its parameters."""
        name = command.__name__.strip("_")

        async def tool(talk: Talk[Any, Any], **given: object) -> CallToolResult:
            loop, steps = asyncio.get_running_loop(), count(1)

            def doing(step: str) -> None:
                said = talk.report_progress(next(steps), message=step)
                asyncio.run_coroutine_threadsafe(said, loop)

            def carry_out() -> output.Recording:
                with output.recorded(doing) as said:
                    try:
                        command(self._called(name), **given)
                    except Exception as fault:  # noqa: BLE001 - whoever is at fault, it is said
                        entrypoint.explain(fault)
                return said

            return _told(await self._desk.do(carry_out))

        known = signature(command, eval_str=True).parameters
        tool.__signature__ = Signature([_described(known[one]) for one in takes])  # type: ignore[attr-defined]
        self.add_tool(tool, name, description=about, annotations=hints)

    def _add_role(self, name: str, about: str, text: str) -> None:
        """Make a prompt of what an assistant is to be."""

        async def role(question: str | None = None) -> str:
            def said() -> str:
                here = context(self._called("show"))
                choice = resolve(here, question)
                more = _passed_file(here, choice) if text is prompts.REVIEWER else ""
                asked = here.progress(choice.question).asked(len(choice.question.spec.parts))
                return f"{text}\n{question_markdown(choice.question, parts=asked)}{more}"

            try:
                return await self._desk.do(said)
            except DrillError as fault:
                why = ". ".join(filter(None, (fault.message, fault.hint)))
                raise MCPError(INVALID_PARAMS, why) from fault

        self.add_prompt(Prompt.from_function(role, name, description=about))

    def _called(self, name: str) -> typer.Context:
        """The context of another command of the same line."""
        return typer.Context(self._ctx.command, self._ctx.parent, name)

    def _grade(
        self,
        ctx: typer.Context,
        question: SomeId = None,
        file: Annotated[str | None, option("PATH", "Another file there; no try.")] = None,
        yes: Annotated[bool, flag("", "They know that a prediction is graded once.")] = False,
    ) -> None:
        here = context(ctx)
        choice = resolve(here, question)
        parts = len(choice.question.spec.parts)
        asked = here.progress(choice.question).asked(parts)
        path = None if file is None else self._allowed(here, choice, file)
        with output.waiting() as doing:
            graded = grading.grade(
                here, question, file=path, explain=False, doing=doing, agreed=lambda _: yes
            )
        passed = graded.report.parts_passed
        if asked <= passed < parts:  # also where it is no try: what comes next was not asked
            graded = replace(graded, next_part=passed + 1)
        seen = around_of(graded, here.now())
        output.answer(json=True, **document(graded.report, seen))
        output.show(page(graded.report, seen), rows=seen.rows)

    def _allowed(self, here: Context, choice: Choice, file: str) -> Path:
        """Return a file that may be graded: in the drill's folder, or one that was named."""
        own = choice.workspace and os.path.realpath(choice.workspace.folder)
        path = Path(os.path.realpath(Path(own or here.here(), file.replace("\0", "?"))))
        if path in self._named or (own and path.is_relative_to(own)):
            return path
        raise UsageError(
            f"{file}: expected a file in the folder of the drill that was started",
            hint="drill mcp --file PATH lets another one be graded",
        )


def _described(known: Parameter) -> Parameter:
    """A parameter of a command as one of a tool."""
    kind, said = get_args(known.annotation)[:2]
    is_text = str in (kind, *get_args(kind))
    bounds = {"max_length": _LONGEST} if is_text else {"ge": said.min, "le": said.max}
    words = ": ".join(filter(None, (said.metavar, said.help)))
    return known.replace(annotation=Annotated[kind, Field(description=words, **bounds)])


def _told(said: output.Recording) -> CallToolResult:
    """What a command said, and the time, which an assistant does not know."""
    failed = "error" in said.document
    content = said.document | {"at": now()}
    if said.remarks and not failed:
        content["remarks"] = said.remarks.splitlines()
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=os.fspath)
    plain = json.loads(
        text.encode("utf-8", "replace"),  # half a character, as a file's name may have, is not sent
        object_hook=lambda found: {key: found[key] for key in found if key not in _WHERE},
    )
    shown = TextContent(text=said.page)
    return CallToolResult(content=[shown], structured_content=plain, is_error=failed)


def _passed_file(here: Context, choice: Choice) -> str:
    """The person's file, after a pass."""
    if not here.progress(choice.question).passed:
        text = f"{choice.called} is not passed yet, and a review tells what is wrong"
        raise UsageError(text, hint=f"Next: drill grade{choice.argument}")
    path = choice.need_workspace().submission
    code = files.read_submission(path).decode("utf-8", "replace")
    return f"\n## {path.name}\n\n```python\n{code}```\n"
