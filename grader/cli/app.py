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
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from grader import sandbox
from grader.cli import classroom, entrypoint, lean, output

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
    bank: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Use this question bank alone."),
    ] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="One fact per line, for a screen reader.")
    ] = False,
    no_pager: Annotated[
        bool, typer.Option("--no-pager", help="Never show anything in a pager.")
    ] = False,
    color: Annotated[
        str, typer.Option(metavar="WHEN", help="auto, always or never.", show_default=False)
    ] = "auto",
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
_COMMANDS = {  # of each group: GROUP_NAME.py in this folder, with a function `command`
    app: ("", "list show start grade case hint run solution next reset doctor"),
    _history: ("history_", "list restore"),
    _bank: ("bank_", "audit preview new new-idea add remove list schema"),
}
for _group, (_prefix, _names) in _COMMANDS.items():
    for _name in _names.split():
        _module = import_module(f"grader.cli.{_prefix}{_name.replace('-', '_')}")
        _group.command(_name)(_module.command)
for _name in ["grade", "report", "export", "gradescope", "schema"]:
    _class.command(_name)(getattr(classroom, _name))


def run(arguments: list[str]) -> int:
    """Carry a command out and return its exit status."""
    return entrypoint.run(_carried_out, arguments)


def _carried_out(arguments: list[str]) -> object:
    """Build the commands, and carry one out; both may be interrupted."""
    command = typer.main.get_command(app)
    lean.spare(command)
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
