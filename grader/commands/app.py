"""The program `drill` and its commands.

To start fast, only the file of the typed command is imported, commands import large modules inside
their functions, and the help is plain text (no rich).
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

# Commands of the program and of its groups, in the order of the help, as FILE.FUNCTION of this
# folder.  The first command of history and of interview need not be typed.
_COMMANDS = {
    "": "list_and_next.list_ show.show start.start grade.grade watch.watch edit.edit case.case"
    " hint.hint run.run solution.solution discuss.discuss list_and_next.next_ progress.progress"
    " start.reset explore.explore pack.pack mcp.mcp doctor.doctor help.help_",
    "history": "history.list_ history.restore",
    "interview": "interview.begin interview.next_ interview.end interview.note interview.mark"
    " interview.decide debrief.debrief interview.list_",
    "bank": "bank_audit.audit bank_ideas.preview bank_new.new bank_ideas.new_idea bank_places.add"
    " bank_places.remove bank_places.list_ bank_new.schema",
    "class": "class_grade.grade class_report.report class_report.export"
    " class_gradescope.gradescope class_report.schema",
}
_EVERYDAY = (
    "next list show start grade watch edit case hint run solution discuss reset history progress"
    " interview"
)
_HELP = {"help_option_names": ["-h", "--help"]}


class _DefaultCommandGroup(TyperGroup):
    """A group whose first command need not be named: `drill history [ID]`."""

    # typer declares the context by the class of a private module.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Insert the first command's name, unless a command or `--help` is typed."""
        if not args or args[0] not in {*self.commands, *_HELP["help_option_names"]}:
            args = [next(iter(self.commands)), *args]
        return super().parse_args(ctx, args)


_program = typer.Typer(
    name="drill",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_HELP,
    epilog="Begin with `drill next`. `drill help TOPIC` explains forms, parts, verdicts, classes, "
    "isolation.",
)


def _help_without_command(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        if ctx.parent is None:
            _show_everyday(ctx.command)
        else:
            output.write(ctx.get_help())
        raise typer.Exit(entrypoint.EXIT_USAGE)


def _show_everyday(program: Any) -> None:  # noqa: ANN401 - of a class of a private module
    """Show the everyday commands, each with its help text, and name the other commands."""
    help_texts = {
        name: command.get_short_help_str(200) for name, command in program.commands.items()
    }
    width = output.text_width()
    output.write_lines(["Usage: drill COMMAND", *text_layout.wrap_words(program.help, width), ""])
    for name in _EVERYDAY.split():
        text = help_texts.pop(name)
        output.write_lines(text_layout.wrap_words(text, width, first=f"  {name:9} "))
    others = ", ".join(help_texts)
    more = f"Also: {others}. `drill --help` has all of them. {_program.info.epilog}"
    output.write_lines(["", *text_layout.wrap_words(more, width)])


@_program.callback()
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


_GROUPS = {
    "history": typer.Typer(
        cls=_DefaultCommandGroup,
        help="List what was graded; bring a version back.",
        subcommand_metavar="[ID] | restore NUMBER",
    ),
    "interview": typer.Typer(
        cls=_DefaultCommandGroup,
        help="Be interviewed against the clock, or interview somebody.",
        subcommand_metavar="[ID...] | COMMAND",
    ),
    "bank": typer.Typer(
        invoke_without_command=True,
        callback=_help_without_command,
        help="Work on a question bank.",
    ),
    "class": typer.Typer(
        invoke_without_command=True,
        callback=_help_without_command,
        help="Grade a class, and see what it knows.",
    ),
}


def _convert_without_pydantic(convert: Any) -> Any:  # noqa: ANN401 - typer keeps the class of a parameter to itself
    """Return a faster `process_value` for a typer parameter: it avoids pydantic for simple values.

    It converts a bool, a text, a path and a missing optional value itself, and passes any other
    value to `convert`, typer's own method.  Importing pydantic takes longer than the rest of a
    start-up.  `drill grade` needs it, but only once its workers are starting.  This relies on
    `process_value` and `type_descriptor` of typer; pyproject.toml bounds its version.
    """

    def process_value(parameter: Any, ctx: object, value: Any) -> object:  # noqa: ANN401 - as above
        kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
        if value is None:
            is_simple = not parameter.required
        else:
            is_simple = isinstance(value, bool) or kind in {str, Path}
        is_list = parameter.nargs != 1 or getattr(parameter, "multiple", False)
        if is_list or not is_simple:
            return convert(parameter, ctx, value)
        if kind is Path and value is not None:
            value = Path(value)
        if parameter.callback is None:
            return value
        return parameter.callback(ctx, parameter, value)

    return process_value


for _kind in (TyperArgument, TyperOption):
    _kind.process_value = _convert_without_pydantic(_kind.process_value)  # type: ignore[method-assign]


@cache
def load_command(name: str = "") -> Any:  # noqa: ANN401 - of a class that typer keeps to itself
    """Return the program with one command or group, or with all of them if none is named."""
    program = _with_commands("", _program, name)
    for group_name, group in _GROUPS.items():
        if name in {"", group_name}:
            program.add_typer(_with_commands(group_name, group), name=group_name)
    return typer.main.get_command(program)


def _with_commands(group_name: str, group: typer.Typer, only: str = "") -> typer.Typer:
    """Return a copy of a group with its commands, whose files are imported.

    With `only`, just the command of that typed name is added, or none if the group lacks it.
    """
    group = copy.copy(group)
    group.registered_commands = []
    group.registered_groups = []
    for path in _COMMANDS[group_name].split():
        if only in {"", _typed_name(path)}:
            file, _, function_name = path.partition(".")
            function = getattr(import_module(f"grader.commands.{file}"), function_name)
            group.command(_typed_name(path))(function)
    return group


def _typed_name(path: str) -> str:
    """Return a command's name as it is typed: next for "list_and_next.next_"."""
    return path.partition(".")[2].rstrip("_").replace("_", "-")


def _load_typed_command(word: str) -> Any:  # noqa: ANN401 - as above
    """Return the program with only the command or group `word`; for `help` or no command, all."""
    names = {*_GROUPS, *map(_typed_name, _COMMANDS[""].split())} - {"help"}
    return load_command(word if word in names else "")


def run(arguments: list[str]) -> int:
    """Run a command line, such as ["grade", "--json"], and return its exit status."""
    return entrypoint.run(_load_typed_command, arguments)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    sandbox.own_process = True
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # no other package in this process
    gc.set_threshold(100_000)  # modules stay: collecting them takes a tenth of a start
    status = run(sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C: the command has ended
    if "multiprocessing" in sys.modules:  # a normal exit ends its processes
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or nobody reads it: the status says so already
            stream.flush()
    os._exit(status)  # unloading every module takes as long as importing pydantic
