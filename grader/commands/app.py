"""The program `drill` and its commands.

A command imports what it needs in its body, so that it pays for nothing but itself; `drill
--version` pays for typer alone.  The plain help (no rich) is part of that.
"""

from __future__ import annotations

import copy
import gc
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperArgument, TyperGroup, TyperOption

from grader import sandbox
from grader.commands import entrypoint, output
from grader.commands.options import flag, option
from grader.reports import text_layout

_EVERYDAY = (
    "next list show start grade watch edit case hint run solution discuss reset history progress"
    " interview"
)
_HELP = {"help_option_names": ["-h", "--help"]}


class _DefaultCommandGroup(TyperGroup):
    """A group whose first command need not be named: `drill history [ID]`."""

    # typer declares the context by the class of a private module.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the name of the default command where none was typed."""
        if not args or args[0] not in {*self.commands, *_HELP["help_option_names"]}:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="drill",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_HELP,
    epilog="Begin with `drill next`. `drill help TOPIC` explains forms, parts, verdicts, classes, "
    "isolation.",
)
_history = typer.Typer(
    cls=_DefaultCommandGroup,
    help="List what was graded; bring a version back.",
    subcommand_metavar="[ID] | restore NUMBER",
)
_interview = typer.Typer(
    cls=_DefaultCommandGroup,
    help="Be interviewed against the clock, or interview somebody.",
    subcommand_metavar="[ID...] | COMMAND",
)


def _help_without_command(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        if ctx.parent is None:
            _show_everyday(ctx.command)
        else:
            output.write(ctx.get_help())
        raise typer.Exit(entrypoint.EXIT_USAGE)


def _show_everyday(program: Any) -> None:  # noqa: ANN401 - of a class of a private module
    """Show the commands of practice on one screen, and name the others."""
    about = {name: command.get_short_help_str(200) for name, command in program.commands.items()}
    width = output.text_width()
    output.write_lines(["Usage: drill COMMAND", *text_layout.wrap_words(program.help, width), ""])
    for name in _EVERYDAY.split():
        output.write_lines(text_layout.wrap_words(about.pop(name), width, first=f"  {name:9} "))
    more = f"Also: {', '.join(about)}. `drill --help` has all of them. {app.info.epilog}"
    output.write_lines(["", *text_layout.wrap_words(more, width)])


@app.callback()
def drill(
    ctx: typer.Context,
    bank: Annotated[Path | None, option("PATH", "Use this question bank alone.")] = None,
    plain: Annotated[bool, flag("--plain", "One fact per line, for a screen reader.")] = False,
    no_pager: Annotated[bool, flag("--no-pager", "Never show anything in a pager.")] = False,
    color: Annotated[str, option("WHEN", "auto, always or never.", show_default=False)] = "auto",
    version: Annotated[bool, flag("--version", "Print it.")] = False,
) -> None:
    """Interview drills in deep-learning internals, graded on your machine."""
    ctx.obj = bank
    output.configure(plain=plain, paging=not no_pager, color=color)
    if version:
        from grader.model.version import __version__

        output.write(f"drill {__version__}")
        raise typer.Exit
    _help_without_command(ctx)


_bank, _class = (
    typer.Typer(invoke_without_command=True, callback=_help_without_command, help=about)
    for about in ("Work on a question bank.", "Grade a class, and see what it knows.")
)
for _group, _name in (
    (_history, "history"), (_interview, "interview"), (_bank, "bank"), (_class, "class")
):  # fmt: skip
    app.add_typer(_group, name=_name)
_COMMANDS = {  # of each group, as FILE.FUNCTION of this folder
    app: "questions.list_ questions.show drill.start grade.grade watch.watch edit.edit drill.case"
    " drill.hint drill.run drill.solution discuss.discuss questions.next_ progress.progress"
    " drill.reset explore.explore questions.pack mcp.mcp doctor.doctor"
    " help.help_",
    _history: "history.list_ history.restore",
    _interview: "interview.begin interview.next_ interview.end interview.note interview.mark"
    " interview.decide interview.debrief interview.list_",
    _bank: "bank.audit bank.preview bank.new bank.new_idea bank.add bank.remove bank.list_"
    " bank.schema",
    _class: "classroom.grade classroom.report classroom.export classroom.gradescope"
    " classroom.schema",
}
for _group, _paths in _COMMANDS.items():
    for _file, _, _name in (path.partition(".") for path in _paths.split()):
        _function = getattr(import_module(f"grader.commands.{_file}"), _name)
        _group.command(_name.rstrip("_").replace("_", "-"))(_function)


def _convert_without_pydantic(convert: Any) -> Any:  # noqa: ANN401 - typer keeps the class of a parameter to itself
    """Convert None, a bool, a text and a path without pydantic, all else by typer's own method.

    Importing pydantic takes longer than the rest of a start-up together.  `drill grade` needs it,
    but only once its workers are starting.  Only `process_value` and `type_descriptor` are relied
    on; pyproject.toml bounds the version of typer.
    """

    def process_value(parameter: Any, ctx: object, value: Any) -> object:  # noqa: ANN401 - as above
        kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
        several = parameter.nargs != 1 or getattr(parameter, "multiple", False)
        simple = isinstance(value, bool) or kind in {str, Path}
        if several or not (simple if value is not None else not parameter.required):
            return convert(parameter, ctx, value)
        if kind is Path and value is not None:
            value = Path(value)
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    return process_value


for _kind in (TyperArgument, TyperOption):
    _kind.process_value = _convert_without_pydantic(_kind.process_value)  # type: ignore[method-assign]


@cache
def command_named(name: str) -> Any:  # noqa: ANN401 - of a class that typer keeps to itself
    """Build one command or group, which takes a third of the time; all without a name."""
    chosen = copy.copy(app)
    if name:
        for kind in ("registered_commands", "registered_groups"):
            setattr(chosen, kind, [one for one in getattr(app, kind) if one.name == name])
    return typer.main.get_command(chosen)


def run(arguments: list[str]) -> int:
    """Carry a command out and return its exit status."""

    def carried_out(words: list[str]) -> object:  # building the commands may be interrupted, too
        known = {str(one.name) for one in (app.registered_commands + app.registered_groups)}
        command = command_named(words[0] if known - {"help"} & {*words[:1]} else "")
        return command.main(words, prog_name="drill", standalone_mode=False)

    return entrypoint.run(carried_out, arguments)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    sandbox.own_process = True
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # no other package in this process
    gc.set_threshold(100_000)  # what is imported stays: looking through it takes a tenth of a start
    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C: all that is left is to end
    if "multiprocessing" in sys.modules:  # it ends what it has started when Python ends
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or nobody reads it: the status says so already
            stream.flush()
    os._exit(status)  # taking every module apart takes as long as importing pydantic
