"""The commands: what each takes, and which function does it.

Bodies import what they need, so that a command pays for nothing but itself; `drill --version`
pays for typer alone.  The plain help (no rich) is part of that.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from typer.core import TyperGroup

from grader.cli import completion, lean, output, running
from grader.sandbox import host


class _ListByDefault(TyperGroup):
    """A group whose first command, `list`, need not be named: `drill history [ID]`."""

    # typer declares the context by the class of a private module.
    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the name of the default command where none was typed."""
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="drill",
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
_bank = typer.Typer(invoke_without_command=True)
_history = typer.Typer(
    cls=_ListByDefault,
    help="List what was graded; bring a version back.",
    subcommand_metavar="[ID] | restore NUMBER",
)
app.add_typer(_history, name="history")
app.add_typer(_bank, name="bank")

Id = Annotated[str, typer.Argument(metavar="ID", autocompletion=completion.ids)]
SomeId = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="The question; without it, that of this folder, else the one started last.",
        autocompletion=completion.ids,
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        from grader import __version__

        output.write(f"drill {__version__}")
        raise typer.Exit


def _help_without_command(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None and not ctx.resilient_parsing:
        output.write(ctx.get_help())
        raise typer.Exit(running.USAGE)


@app.callback()
def drill(
    ctx: typer.Context,
    bank: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Use this question bank alone."),
    ] = None,
    version: Annotated[  # noqa: ARG001 - its callback does everything
        bool,
        typer.Option("--version", help="Print it.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Interview drills in deep-learning internals, graded on your machine."""
    ctx.obj = bank
    _help_without_command(ctx)


@_bank.callback()
def bank_group(ctx: typer.Context) -> None:
    """Work on a question bank."""
    _help_without_command(ctx)


@app.command("list")
def list_questions(
    ctx: typer.Context,
    track: Annotated[
        str | None,
        typer.Option(metavar="TRACK", help="Only this track.", autocompletion=completion.tracks),
    ] = None,
    json: Json = False,
) -> int:
    """List the questions, and how far you are with each."""
    from grader.cli.listing import list_questions

    return list_questions(bank=ctx.obj, track=track, as_json=json)


@app.command()
def show(ctx: typer.Context, question: Id, json: Json = False) -> int:
    """Show a question without starting it."""
    from grader.cli.listing import show

    return show(question, bank=ctx.obj, as_json=json)


@app.command()
def start(
    ctx: typer.Context,
    question: Id,
    dir_: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to make the drill's folder."),
    ] = None,
    json: Json = False,
) -> int:
    """Lay a drill down in a folder of its own; never over anything."""
    from grader.cli.starting import start

    return start(question, bank=ctx.obj, parent=dir_, as_json=json)


@app.command()
def grade(
    ctx: typer.Context,
    question: SomeId = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Grade this file instead of submission.py."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", min=0, help="Repeat the cases of a grade."),
    ] = None,
    json: Json = False,
) -> int:
    """Grade your submission: 0 it passes, 1 it does not."""
    from grader.cli.grading import grade

    return grade(question, bank=ctx.obj, file=file, seed=seed, as_json=json)


@app.command()
def hint(ctx: typer.Context, question: SomeId = None, json: Json = False) -> int:
    """Show one more hint."""
    from grader.cli.helping import hint

    return hint(question, bank=ctx.obj, as_json=json)


@app.command()
def solution(
    ctx: typer.Context,
    question: SomeId = None,
    give_up: Annotated[
        bool, typer.Option("--give-up", help="Show it without a pass; this is recorded.")
    ] = False,
    json: Json = False,
) -> int:
    """Show a solution, after a pass."""
    from grader.cli.helping import solution

    return solution(question, bank=ctx.obj, give_up=give_up, as_json=json)


@app.command()
def reset(ctx: typer.Context, question: SomeId = None, json: Json = False) -> int:
    """Put the starter back; your file is kept beside it."""
    from grader.cli.starting import reset

    return reset(question, bank=ctx.obj, as_json=json)


@_history.command("list")
def history(
    ctx: typer.Context,
    question: Annotated[
        str | None,
        typer.Argument(
            metavar="ID",
            help="Only this question.",
            autocompletion=completion.ids_or_restore,
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> int:
    """List every version that was graded or kept (the default)."""
    from grader.cli.history import history

    return history(question, bank=ctx.obj, as_json=json)


@_history.command()
def restore(
    ctx: typer.Context,
    attempt: Annotated[int, typer.Argument(metavar="NUMBER", help="As drill history has it.")],
    to: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Into this new file instead of submission.py."),
    ] = None,
    json: Json = False,
) -> int:
    """Bring a version back, keeping what is there."""
    from grader.cli.history import restore

    return restore(attempt, bank=ctx.obj, to=to, as_json=json)


@app.command()
def doctor(ctx: typer.Context, json: Json = False) -> int:
    """Show what this machine has, and what is missing."""
    from grader.cli.doctor import doctor

    return doctor(bank=ctx.obj, as_json=json)


@_bank.command()
def audit(
    ctx: typer.Context,
    questions: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", autocompletion=completion.ids, show_default=False),
    ] = None,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, max=1000, help="How many seeds to try.")
    ] = 3,
    strict: Annotated[bool, typer.Option("--strict", help="Let a remark fail it too.")] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Try small changes of the reference as well.")
    ] = False,
    at_most: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --mutants: N of them, the same each time."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Questions at once; as many as cores if not given."),
    ] = None,
    json: Json = False,
) -> int:
    """Prove questions: every variant through every check."""
    from grader.cli.auditing import audit

    return audit(
        questions or [],
        bank=ctx.obj,
        seeds=seeds,
        strict=strict,
        mutants=mutants,
        at_most=at_most,
        jobs=jobs,
        as_json=json,
    )


@_bank.command("new")
def new_question(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="ID", show_default=False)],
    oracle: Annotated[
        str | None,
        typer.Option("--from", metavar="FUNCTION", help="Begin from a function of numpy or torch."),
    ] = None,
    one_file: Annotated[
        bool, typer.Option("--one-file", help="Everything in one YAML file.")
    ] = False,
    json: Json = False,
) -> int:
    """Lay down a question that passes its audit, to begin from."""
    from grader.cli.authoring import new

    return new(question, bank=ctx.obj, one_file=one_file, oracle=oracle, as_json=json)


@_bank.command("add")
def add_bank(
    path: Annotated[Path, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> int:
    """Use a bank: a folder, a zip, a wheel or a YAML file."""
    from grader.cli.banking import add

    return add(path, as_json=json)


@_bank.command("remove")
def remove_bank(
    path: Annotated[str, typer.Argument(metavar="PATH", show_default=False)],
    json: Json = False,
) -> int:
    """Stop using a bank; nothing is deleted."""
    from grader.cli.banking import remove

    return remove(path, as_json=json)


@_bank.command("list")
def list_banks(ctx: typer.Context, json: Json = False) -> int:
    """List the banks in use, and how many questions each holds."""
    from grader.cli.banking import list_banks

    return list_banks(bank=ctx.obj, as_json=json)


@_bank.command()
def schema() -> int:
    """Print the JSON Schema of a question, for editors."""
    from grader.cli.banking import schema

    return schema()


def run(arguments: list[str]) -> int:
    """Carry a command out and return its exit status."""
    command = typer.main.get_command(app)
    lean.spare(command)

    def invoke(args: list[str]) -> object:
        return command.main(args, prog_name="drill", standalone_mode=False)

    return running.run(invoke, arguments)


def main() -> NoReturn:
    """Be the program `drill`."""
    host.harden_this_process()
    sys.exit(run(sys.argv[1:]))
