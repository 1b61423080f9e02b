"""Run a command and return its exit status: every way a command can end, in one place.

0 pass, 1 any other verdict on a submission, 2 usage, 3 a fault of the bank, 4 a fault of the
grader; 130 after Ctrl-C and 141 when the reader of the output is gone, as in a shell.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from traceback import format_exception, walk_tb
from typing import Any, NoReturn

import typer

from grader.commands import output
from grader.commands.options import data_folder, now
from grader.model.errors import DrillError, GraderError, UsageError, to_machine_error
from grader.reports.text_layout import escape_text

EXIT_INTERRUPTED = 130
EXIT_BANK_FAULT = 3
EXIT_GRADER_FAULT = 4
EXIT_USAGE = 2
ENDING = (signal.SIGTERM, signal.SIGHUP)

_OPTIONS_WITH_VALUE = ("--bank", "--color")  # of the program, which may be typed anywhere
_OPTIONS_WITHOUT_VALUE = ("--plain", "--no-pager")
_NO_QUESTION = re.compile(r"no question (\S+); did you mean (\S+)\?")
_WORDS = {  # phrases of typer and pydantic, and ours
    " (Possible options: ": "; did you mean ",
    ". Did you mean ": "; did you mean ",
    ", unable to parse string as an integer": "",
    "Input should be greater": "expected a number greater",
    "Input should be less": "expected a number less",
    "Input should be ": "expected ",
}


def end_by_signals() -> None:
    """Let SIGTERM and SIGHUP raise SystemExit: temporary files are removed, as after Ctrl-C."""
    for number in ENDING:
        signal.signal(number, _exit_by_signal)


def _exit_by_signal(number: int, _frame: object) -> NoReturn:
    """Exit with 128 + `number`, as a shell reports a program that a signal ended."""
    raise SystemExit(128 + number)


def run(load_command: Callable[[str], Any], arguments: Sequence[str]) -> int:
    """Run the command of these arguments and return its exit status; no exception gets out.

    `load_command` is called with the first word after the options of the program, or with "", and
    returns the program with that command.
    """
    try:
        try:
            output.prepare()
            options, words = split_global_options(arguments)
            command = load_command(words[0] if words else "")
            status = command.main([*options, *words], prog_name="drill", standalone_mode=False)
            output.flush()
        except SystemExit as ended:
            status = _status_after_exit(ended, arguments)
        except (output.PipeClosedError, typer.Abort):
            raise
        except Exception as fault:  # noqa: BLE001 - every fault is reported
            return report_error(fault, arguments)
    except (KeyboardInterrupt, typer.Abort):  # Abort: end of input at a prompt
        status = EXIT_INTERRUPTED
    except output.PipeClosedError:
        return output.EXIT_PIPE_CLOSED
    except DrillError as fault:  # the report of a fault failed, for example by a full disk
        output.warn(fault.message)
        return fault.exit_status
    if status == EXIT_INTERRUPTED:
        output.info("interrupted")
    return status if isinstance(status, int) else 0


def split_global_options(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split off the options of the program, which may be typed anywhere before `--`.

    For `show ID --bank DIR --json` return ["--bank", "DIR"] and ["show", "ID", "--json"].
    """
    before_dashes = _before_dashes(arguments)
    options: list[str] = []
    others: list[str] = []
    words = iter(before_dashes)
    for word in words:
        if word.partition("=")[0] in (*_OPTIONS_WITH_VALUE, *_OPTIONS_WITHOUT_VALUE):
            options.append(word)
        else:
            others.append(word)
        if word in _OPTIONS_WITH_VALUE:
            options += islice(words, 1)
    return options, [*others, *arguments[len(before_dashes) :]]


def _before_dashes(arguments: Sequence[str]) -> list[str]:
    """Return the arguments before `--`, after which nothing is an option."""
    if "--" not in arguments:
        return list(arguments)
    return list(arguments[: arguments.index("--")])


def _status_after_exit(ended: SystemExit, arguments: Sequence[str]) -> object:
    """Return the exit status of a command that ended with SystemExit.

    typer raises it with status 1 for any broken pipe.  If typer itself wrote to the pipe, the
    reader of the output is gone, which is not a fault.  Otherwise the pipe led to a process of the
    grader: that is reported as an error, because status 1 would look like a verdict.  Without a
    broken pipe, the status is that of SystemExit.
    """
    cause = ended.__context__
    if not isinstance(cause, OSError):
        return ended.code
    *_, (frame, _) = walk_tb(cause.__traceback__)
    if not str(frame.f_globals.get("__name__")).startswith("typer."):
        return report_error(cause, arguments)
    if sys.__stdout__ is not None:  # typer has replaced sys.stdout
        output.discard(sys.__stdout__)
    return output.EXIT_PIPE_CLOSED


def report_error(raised: Exception, arguments: Sequence[str] = ()) -> int:
    """Show an exception as an error, with `--json` as a document, and return the exit status."""
    fault = _to_drill_error(raised)
    status = fault.exit_status
    message = fault.message
    hint = fault.hint
    problems = getattr(fault, "problems", ())
    unknown = _NO_QUESTION.fullmatch(message)
    if unknown and not hint and unknown[1] in arguments:  # suggest the same with the right id
        words = (unknown[2] if word == unknown[1] else word for word in arguments)
        hint = f"Next: drill {shlex.join(words)}"
    kind = {EXIT_USAGE: "usage", EXIT_BANK_FAULT: "bank"}.get(status, "internal")
    error = {"kind": kind, "status": status, "message": message, "hint": hint}
    if problems:
        error["problems"] = problems
    if not output.emit_json("--json" in _before_dashes(arguments), error=error):
        *others, last = dict.fromkeys([message, *problems])
        for problem in others:
            output.warn(problem)
        output.warn(last, hint, getattr(fault, "excerpt", ()))
    return status


def _to_drill_error(fault: Exception) -> DrillError:
    """Return an exception as a DrillError.

    A usage error of typer is reworded, and a limit of the machine, such as a full disk, is named.
    Anything else is a fault of the grader: its traceback is written to a file in the data folder,
    or to standard error if DRILL_DEBUG is set.
    """
    if isinstance(fault, DrillError):
        return fault
    if isinstance(fault, typer.TyperException):
        return _usage_error(fault)
    debug = os.environ.get("DRILL_DEBUG", "") not in {"", "0"}
    limit = to_machine_error(fault)
    if limit and not debug:
        return limit
    traceback = "".join(format_exception(fault))
    message = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    message = f"the grader is at fault ({message})"
    if debug:
        sys.stderr.write(escape_text(traceback))
        return GraderError(message)
    where = "DRILL_DEBUG=1 shows the traceback"
    with suppress(OSError, DrillError):
        folder = data_folder() / "tracebacks"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"drill-{now().replace(':', '')}-{os.getpid()}.txt"
        path.write_text(traceback, encoding="utf-8", errors="backslashreplace")
        where = f"the traceback is in {path}"
    return GraderError(f"{message}; {where}", hint="please report it")


def _usage_error(fault: typer.TyperException) -> UsageError:
    """Return a usage error of typer, reworded as `_WORDS` says, with `COMMAND --help` as hint."""
    message = fault.format_message().removesuffix(".")
    for words, better in _WORDS.items():
        message = message.replace(words, better)
    if message.endswith(")") and "; did you mean " in message:
        message = message.removesuffix(")") + "?"
    # An error of the parser carries no context: the innermost one is that of the command.
    contexts = [frame.f_locals.get("ctx") for frame, _ in walk_tb(fault.__traceback__)]
    path = ["drill", *filter(None, (getattr(ctx, "command_path", "") for ctx in contexts))][-1]
    return UsageError(message[:1].lower() + message[1:], f"{path} --help shows what it takes")
