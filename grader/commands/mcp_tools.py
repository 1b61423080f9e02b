"""The tools and prompts of `drill mcp`, and the process that runs one of them.

`python -P -m grader.commands.mcp_tools` reads one request from standard input and writes lines of
JSON: the steps of a long command, then the result.  A tool is a command with some of its
parameters.  Its result is the document of `--json` and the page.  The program itself keeps the
rules: it shows no part of a right solution before the person passes or gives up, and no part of a
question before it is asked.
"""

from __future__ import annotations

import gc
import io
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand

from grader import sandbox
from grader.commands import (
    case,
    entrypoint,
    files,
    hint,
    list_and_next,
    mcp_prompts,
    output,
    run,
    show,
    solution,
    start,
)
from grader.commands.context import Context
from grader.commands.discuss import discuss
from grader.commands.options import SomeId, command_context, flag, now, option
from grader.commands.workspaces import ResolvedDrill, resolve_drill
from grader.model.errors import UsageError

_PRIVATE_KEYS = {"bank", "digest"}  # the path and the hash of files that hold the answers


class Tool(NamedTuple):
    """A command that an assistant may call."""

    command: Callable[..., object]
    parameters: str  # names of the command's parameters that an assistant may set
    about: str
    is_read_only: bool = False
    is_destructive: bool = False

    @property
    def name(self) -> str:
        """Name of the tool, which is the name of its command."""
        return self.command.__name__.strip("_")


class Request(NamedTuple):
    """One call of a tool or a prompt, as the server passes it to a process."""

    name: str
    arguments: dict[str, Any]
    bank: str | None = None  # the value of --bank
    plain: bool = False  # whether --plain was given


def main() -> None:
    """Run one request from standard input and exit; exit early if standard input ends."""
    sandbox.own_process = True
    gc.set_threshold(100_000)  # as for every command
    request = Request(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    lines = sys.stdout.buffer  # the real output, which `run_request` redirects

    def send(**content: object) -> None:
        lines.write(to_json_line(content))
        lines.flush()

    send(result=run_request(request, lambda step: send(step=step)))
    os._exit(0)


def _exit_at_end_of_input() -> None:
    """End this process when the server closes the pipe or ends."""
    sys.stdin.buffer.read()
    os._exit(entrypoint.EXIT_INTERRUPTED)


def to_json_line(content: dict[str, Any]) -> bytes:
    """Return a line of JSON; a character that UTF-8 cannot encode (a surrogate) becomes `?`."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=os.fspath)
    return text.encode("utf-8", "replace") + b"\n"


def without_private_keys(content: dict[str, Any]) -> dict[str, Any]:
    """Drop `bank` and `digest` from a JSON object: they lead to the answers."""
    return {key: content[key] for key in content if key not in _PRIVATE_KEYS}


def run_request(request: Request, show_step: Callable[[str], None]) -> dict[str, Any]:
    """Run a tool or a prompt; return {"document": its `--json` output, "page": its text}.

    A fault becomes the `error` of the document, and warnings its `remarks`.
    """
    style = output.Style(request.plain, color="never", show_step=show_step, document={})
    output.style = style
    with redirect_stdout(io.StringIO()) as page, redirect_stderr(io.StringIO()) as remarks:
        try:
            _call(request)
        except Exception as fault:  # noqa: BLE001 - every fault is reported to the assistant
            entrypoint.report_error(fault)
    document = (style.document or {}) | {"at": now()}  # an assistant has no clock
    if remarks.getvalue() and "error" not in document:
        document["remarks"] = remarks.getvalue().splitlines()
    return {"document": document, "page": remarks.getvalue() + page.getvalue()}


def _call(request: Request) -> None:
    bank = request.bank and Path(request.bank)
    ctx = typer.Context(TyperCommand(request.name), info_name=request.name, obj=bank)
    if request.name in mcp_prompts.ROLES:
        _show_role(ctx, request.name, **request.arguments)
        return
    tool = next(tool for tool in TOOLS if tool.name == request.name)
    tool.command(ctx, **request.arguments)


def grade(
    ctx: typer.Context,
    question: SomeId = None,
    file: Annotated[str | None, option("PATH", "Another file there; no try.")] = None,
    yes: Annotated[bool, flag("", "They know that a prediction is graded once.")] = False,
) -> None:
    """Grade a file; unlike with `--json`, the document says no more than the page."""
    from grader.commands.grade import GradeSettings, grade_context, grade_file
    from grader.reports.grade import assistant_document, grade_page

    context = command_context(ctx)
    drill = resolve_drill(context, question)
    parts = len(drill.question.spec.parts)
    asked_parts = context.parts_asked(drill.question)
    path = None if file is None else _path_in_folder(drill, file)
    with output.show_status() as doing:
        settings = GradeSettings(doing, lambda _answers: yes, explain=False)
        graded = grade_file(context, question, file=path, settings=settings)
    passed = graded.report.parts_passed
    # A grade that is not a try asks no further part, but its failures must stay hidden, too.
    if asked_parts <= passed < parts:
        graded = graded._replace(next_part=passed + 1)
    page_context = grade_context(graded, context.now())
    output.emit_json(json=True, **assistant_document(graded.report, page_context))
    output.show_page(grade_page(graded.report, page_context), rows=page_context.rows)


def _path_in_folder(drill: ResolvedDrill, file: str) -> Path:
    """Return the real path of a file in the drill's folder; UsageError if it is elsewhere."""
    if drill.workspace:
        folder = os.path.realpath(drill.workspace.folder)
        path = Path(os.path.realpath(Path(folder, file.replace("\0", "?"))))
        if path.is_relative_to(folder):
            return path
    raise UsageError(
        f"{file}: expected a file in the folder of the drill that was started",
        hint="drill grade --file PATH, typed by the person, grades another one",
    )


def _show_role(ctx: typer.Context, name: str, question: str | None = None) -> None:
    """Output a role's text and the parts asked so far; a reviewer also gets the passed file."""
    from grader.reports.question import question_markdown

    context = command_context(ctx)
    drill = resolve_drill(context, question)
    file = _passed_file(context, drill) if name == "reviewer" else ""
    shown = question_markdown(drill.question, parts=context.parts_asked(drill.question))
    output.emit_json(json=True, text=f"{mcp_prompts.ROLES[name].text}\n{shown}{file}")


def _passed_file(context: Context, drill: ResolvedDrill) -> str:
    """Return the person's file as Markdown; UsageError if the question was never passed."""
    if not context.progress(drill.question).passed:
        raise UsageError(
            f"{drill.typed_name} is not passed yet, and a review tells what is wrong",
            hint=f"Next: drill grade{drill.drill_argument}",
        )
    path = drill.require_workspace().submission
    code = files.read_submission(path).decode("utf-8", "replace")
    return f"\n## {path.name}\n\n```python\n{code}```\n"


# Options that show later parts or solutions are left out, such as --all and --full.
TOOLS = (
    Tool(
        list_and_next.list_,
        "track level role new due under",
        "List questions, how far one is.",
        is_read_only=True,
    ),
    Tool(list_and_next.next_, "", "Say what to do next, and why.", is_read_only=True),
    Tool(show.show, "question", "Show a question, as far as it is asked.", is_read_only=True),
    Tool(start.start, "question again", "Make its folder. `again`: of a question that is due."),
    Tool(grade, "question file yes", "Grade the person's file: a try."),
    Tool(run.run, "question seed", "Run the script of a diagnosis, once of a few times."),
    Tool(case.case, "name question run seed", "Write a case as a script to run."),
    Tool(hint.hint, "question", "Show one more hint, which is recorded: ask before."),
    Tool(
        solution.solution,
        "question give_up",
        "Show the solution, which ends the drill.",
        is_destructive=True,
    ),
    Tool(
        discuss,
        "question part answer ticked",
        "List what else is asked about what is passed, or give their own `answer` to the next one, "
        "which shows ours and its key points.",
    ),
)

if __name__ == "__main__":
    main()
