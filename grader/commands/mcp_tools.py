"""The tools and prompts of `drill mcp`, and the process that carries one of them out.

`python -P -m grader.commands.mcp_tools` reads one request from standard input and writes lines of JSON: the
steps of a long command, then the result. A tool is a command with some of its parameters. Its
result is the document of `--json` and the page. The program keeps the rules, whatever a prompt
says: nothing of a right solution comes before a pass or before the person gives up, and nothing of
a part before it is asked.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from grader import sandbox
from grader.commands import (
    case,
    entrypoint,
    files,
    hint,
    mcp_prompts,
    output,
    questions,
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

_PRIVATE = {"bank", "digest"}  # keys of documents that lead to the answers


class Tool(NamedTuple):
    """A command that an assistant may call."""

    command: Callable[..., object]
    parameters: str  # names of the command's parameters that it may give
    about: str
    is_read_only: bool = False
    is_destructive: bool = False

    @property
    def name(self) -> str:
        """Name of the tool: that of its command."""
        return self.command.__name__.strip("_")


class Request(NamedTuple):
    """One call of a tool or a prompt, as the server passes it to a process."""

    name: str
    arguments: dict[str, Any]
    bank: str | None = None  # the value of --bank
    plain: bool = False  # whether --plain was given
    files: Sequence[str] = ()  # files that may be graded wherever they are


def main() -> None:
    """Carry out the request on standard input; end when standard input does."""
    sandbox.own_process = True
    gc.set_threshold(100_000)  # as for every command
    request = Request(**json.loads(sys.stdin.buffer.readline()))
    threading.Thread(target=_exit_at_end_of_input, daemon=True).start()
    _send({"result": run_request(request, lambda step: _send({"step": step}))})
    os._exit(0)


def _exit_at_end_of_input() -> None:
    """End this process when the server closes the pipe or is gone."""
    sys.stdin.buffer.read()
    os._exit(entrypoint.EXIT_INTERRUPTED)


def _send(content: dict[str, Any]) -> None:
    sys.stdout.buffer.write(to_json_line(content))
    sys.stdout.buffer.flush()


def to_json_line(content: dict[str, Any]) -> bytes:
    """Return a line of JSON, in which half a character, as of a file's name, becomes a `?`."""
    text = json.dumps(content, ensure_ascii=False)
    return text.encode("utf-8", "replace") + b"\n"


def run_request(request: Request, doing: Callable[[str], None]) -> dict[str, Any]:
    """Return the document and the page of a command; `doing` is called with each of its steps."""
    with output.record_output(doing, plain=request.plain) as recording:
        try:
            _call(request)
        except Exception as fault:  # noqa: BLE001 - the assistant learns of every fault
            entrypoint.report_error(fault)
    document = recording.document | {"at": now()}  # an assistant does not know the time
    if recording.remarks and "error" not in document:
        document["remarks"] = recording.remarks.splitlines()
    text = json.dumps(document, allow_nan=False, default=os.fspath)
    public = json.loads(
        text,
        object_hook=lambda content: {key: content[key] for key in content if key not in _PRIVATE},
    )
    return {"document": public, "page": recording.page}


def _call(request: Request) -> None:
    from grader.commands.app import load_command

    bank = request.bank and Path(request.bank)
    ctx = typer.Context(load_command("show"), info_name=request.name, obj=bank)
    if request.name in mcp_prompts.ROLES:
        _show_role(ctx, request.name, **request.arguments)
        return
    tool = next(tool for tool in TOOLS if tool.name == request.name)
    more = {"files": request.files} if tool.command is grade else {}
    tool.command(ctx, **request.arguments, **more)


def grade(
    ctx: typer.Context,
    question: SomeId = None,
    file: Annotated[str | None, option("PATH", "Another file there; no try.")] = None,
    yes: Annotated[bool, flag("", "They know that a prediction is graded once.")] = False,
    files: Sequence[str] = (),
) -> None:
    """Grade a file, and show no more than its page says."""
    from grader.commands.grade import GradeHooks, grade_context, grade_file
    from grader.reports.grade import assistant_document, grade_page

    here = command_context(ctx)
    choice = resolve_drill(here, question)
    parts = len(choice.question.spec.parts)
    asked = here.parts_asked(choice.question)
    path = None if file is None else _allowed(here, choice, file, files)
    with output.show_status() as doing:
        hooks = GradeHooks(doing, lambda _answers: yes)
        graded = grade_file(here, question, file=path, explain=False, hooks=hooks)
    passed = graded.report.parts_passed
    if asked <= passed < parts:  # also if it is no try: the next part is not asked yet
        graded = graded._replace(next_part=passed + 1)
    seen = grade_context(graded, here.now())
    output.emit_json(json=True, **assistant_document(graded.report, seen))
    output.show_page(grade_page(graded.report, seen), rows=seen.rows)


def _allowed(here: Context, choice: ResolvedDrill, file: str, named: Sequence[str]) -> Path:
    """Return a file that may be graded: one in the drill's folder, or one that was named."""
    own = choice.workspace and os.path.realpath(choice.workspace.folder)
    path = Path(os.path.realpath(Path(own or here.current_folder(), file.replace("\0", "?"))))
    if str(path) in named or (own and path.is_relative_to(own)):
        return path
    raise UsageError(
        f"{file}: expected a file in the folder of the drill that was started",
        hint="drill mcp --file PATH lets another one be graded",
    )


def _show_role(ctx: typer.Context, name: str, question: str | None = None) -> None:
    """Show the text of a prompt, with the question as far as it is asked."""
    from grader.reports.question import question_markdown

    here = command_context(ctx)
    choice = resolve_drill(here, question)
    more = _passed_file(here, choice) if name == "reviewer" else ""
    shown = question_markdown(choice.question, parts=here.parts_asked(choice.question))
    output.emit_json(json=True, text=f"{mcp_prompts.ROLES[name].text}\n{shown}{more}")


def _passed_file(here: Context, choice: ResolvedDrill) -> str:
    """Return the person's file as Markdown; UsageError before a pass."""
    if not here.progress(choice.question).passed:
        raise UsageError(
            f"{choice.typed_name} is not passed yet, and a review tells what is wrong",
            hint=f"Next: drill grade{choice.drill_argument}",
        )
    path = choice.require_workspace().submission
    code = files.read_submission(path).decode("utf-8", "replace")
    return f"\n## {path.name}\n\n```python\n{code}```\n"


# Parameters that show more than the person has reached are left out, such as --all and --full.
TOOLS = (
    Tool(
        questions.list_,
        "track level role new due under",
        "List questions, how far one is.",
        is_read_only=True,
    ),
    Tool(questions.next_, "", "Say what to do next, and why.", is_read_only=True),
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
