"""The program `drill` and its commands.

A command imports what it needs in its body, so that it pays for nothing but itself; `drill
--version` pays for typer alone.  The plain help (no rich) is part of that.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from grader import sandbox
from grader.cli import entrypoint, output
from grader.cli.context import flag, option

_HELP = {"help_option_names": ["-h", "--help"]}


class _ListByDefault(TyperGroup):
    """A group whose first command, `list`, need not be named: `drill history [ID]`."""

    # typer declares the context by the class of a private module.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the name of the default command where none was typed."""
        if not args or args[0] not in {*self.commands, *_HELP["help_option_names"]}:
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="drill",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=_HELP,
)
_history = typer.Typer(
    cls=_ListByDefault,
    help="List what was graded; bring a version back.",
    subcommand_metavar="[ID] | restore NUMBER",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from grader import __version__

        output.write(f"drill {__version__}")
        raise typer.Exit


def _help_without_command(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        output.write(ctx.get_help())
        raise typer.Exit(entrypoint.EXIT_USAGE)


@app.callback()
def drill(
    ctx: typer.Context,
    bank: Annotated[Path | None, option("PATH", "Use this question bank alone.")] = None,
    plain: Annotated[bool, flag("--plain", "One fact per line, for a screen reader.")] = False,
    no_pager: Annotated[bool, flag("--no-pager", "Never show anything in a pager.")] = False,
    color: Annotated[str, option("WHEN", "auto, always or never.", show_default=False)] = "auto",
    version: Annotated[  # noqa: ARG001 - its callback does everything
        bool,
        typer.Option("--version", help="Print it.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Interview drills in deep-learning internals, graded on your machine."""
    ctx.obj = bank
    output.configure(plain=plain, paging=not no_pager, color=color)
    _help_without_command(ctx)


_bank, _class = (
    typer.Typer(invoke_without_command=True, callback=_help_without_command, help=about)
    for about in ("Work on a question bank.", "Grade a class, and see what it knows.")
)
for _group, _name in ((_history, "history"), (_bank, "bank"), (_class, "class")):
    app.add_typer(_group, name=_name)
_COMMANDS = {  # of each group, as FILE.FUNCTION of this folder
    app: "questions.list_ questions.show drill.start grade.grade case.case drill.hint drill.run"
    " drill.solution questions.next_ drill.reset doctor.doctor",
    _history: "history.list_ history.restore",
    _bank: "bank.audit bank.preview bank.new bank.new_idea bank.add bank.remove bank.list_"
    " bank.schema",
    _class: "classroom.grade classroom.report classroom.export classroom.gradescope"
    " classroom.schema",
}
for _group, _paths in _COMMANDS.items():
    for _file, _, _name in (path.partition(".") for path in _paths.split()):
        _function = getattr(import_module(f"grader.cli.{_file}"), _name)
        _group.command(_name.rstrip("_").replace("_", "-"))(_function)


def _spare(command: Any) -> None:  # noqa: ANN401 - typer keeps the class of a parameter to itself
    """Make a command and those below it skip needless conversions.

    Typer converts every value of a command line through pydantic, also the None of an option that
    was not given, and importing pydantic takes longer than the rest of a start-up together.  `drill
    grade` needs it, but only once its workers are starting.  Only `get_params`, `process_value` and
    `type_descriptor` are relied on; pyproject.toml bounds the version of typer.
    """
    get_params = command.get_params

    def get_spared(ctx: object) -> object:
        found = get_params(ctx)  # with the one of --help, which is made at the first call
        for parameter in found:
            if "process_value" not in vars(parameter):
                _spare_one(parameter)
        return found

    command.get_params = get_spared
    for below in getattr(command, "commands", {}).values():
        _spare(below)


def _spare_one(parameter: Any) -> None:  # noqa: ANN401 - as above
    convert = parameter.process_value
    several = parameter.nargs != 1 or getattr(parameter, "multiple", False)
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)

    def process_value(ctx: object, value: Any) -> object:  # noqa: ANN401 - as above
        if several or (parameter.required and value is None):
            return convert(ctx, value)
        if kind in {str, Path} and value is not None:
            value = kind(value)
        elif value is not None and not isinstance(value, bool):
            return convert(ctx, value)
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    parameter.process_value = process_value


def run(arguments: list[str]) -> int:
    """Carry a command out and return its exit status."""
    return entrypoint.run(_carried_out, arguments)


def _carried_out(arguments: list[str]) -> object:
    """Build the commands, and carry one out; both may be interrupted."""
    command = typer.main.get_command(app)
    _spare(command)
    return command.main(arguments, prog_name="drill", standalone_mode=False)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    sandbox.own_process = True
    gc.set_threshold(100_000)  # what is imported stays: looking through it takes a tenth of a start
    status = run(sys.argv[1:])
    if "multiprocessing" in sys.modules:  # it ends what it has started when Python ends
        sys.exit(status)
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # closed, or nobody reads it: the status says so already
            stream.flush()
    os._exit(status)  # taking every module apart takes as long as importing pydantic
