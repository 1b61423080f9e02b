"""From arguments to an exit status: every way a command can end, in one place.

0 pass, 1 any other verdict on a submission, 2 usage, 3 the bank is at fault, 4 the grader is;
130 after Ctrl-C and 141 when nobody reads our output any more, as a shell would have it.
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
from typing import NoReturn

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

_NO_QUESTION = re.compile(r"no question (\S+); did you mean (\S+)\?")
_WORDS = {  # what typer and pydantic say: as we say it
    " (Possible options: ": "; did you mean ",
    ". Did you mean ": "; did you mean ",
    ", unable to parse string as an integer": "",
    "Input should be greater": "expected a number greater",
    "Input should be less": "expected a number less",
    "Input should be ": "expected ",
}


def end_by_signals() -> None:
    """Let SIGTERM and SIGHUP end this process as Ctrl-C does, so that no temporary file is left."""
    for number in ENDING:
        signal.signal(number, _end)


def _end(number: int, _frame: object) -> NoReturn:
    """End with the status that a shell gives a program that a signal has ended."""
    raise SystemExit(128 + number)


def run(command: Callable[[list[str]], object], arguments: Sequence[str]) -> int:
    """Carry a command out and return its exit status; no exception gets past this."""
    try:
        try:
            output.prepare()
            status = command(global_options_first(arguments))
            output.flush()
        except SystemExit as ended:
            status = _left(ended, arguments)
        except (output.PipeClosedError, typer.Abort):
            raise
        except Exception as fault:  # noqa: BLE001 - whoever is at fault, it is said
            return report_error(fault, arguments)
    except (KeyboardInterrupt, typer.Abort):  # Abort: end of input at a prompt
        status = EXIT_INTERRUPTED
    except output.PipeClosedError:
        return output.EXIT_PIPE_CLOSED
    except DrillError as fault:  # saying what is wrong went wrong itself: a full disk, say
        output.warn(fault.message)
        return fault.exit_status
    if status == EXIT_INTERRUPTED:
        output.info("interrupted")
    return status if isinstance(status, int) else 0


_WITH_VALUE = ("--bank", "--color")  # options of the program, which may be typed anywhere
_ALONE = ("--plain", "--no-pager")


def global_options_first(arguments: Sequence[str]) -> list[str]:
    """Move the options of the program, `--bank DIR` first of all, before the command."""
    options = _options(arguments)
    first: list[str] = []
    rest: list[str] = []
    words = iter(options)
    for word in words:
        ours = word.partition("=")[0] in (*_WITH_VALUE, *_ALONE)
        (first if ours else rest).append(word)
        first += islice(words, word in _WITH_VALUE)
    return [*first, *rest, *arguments[len(options) :]]


def _options(arguments: Sequence[str]) -> list[str]:
    """Return the arguments up to `--`, after which nothing is an option."""
    return list(arguments[: arguments.index("--")] if "--" in arguments else arguments)


def _left(ended: SystemExit, arguments: Sequence[str]) -> object:
    """Return the status of a command that typer ended.

    It ends one on its own business (completion), and whenever a pipe is broken: its own to our
    reader, which is no fault, or any pipe of the grader's, which must not look like a verdict.
    """
    cause = ended.__context__
    if not isinstance(cause, OSError):
        return ended.code
    *_, (frame, _) = walk_tb(cause.__traceback__)
    if not str(frame.f_globals.get("__name__")).startswith("typer."):
        return report_error(cause, arguments)
    if sys.__stdout__ is not None:  # typer has put something of its own in its place
        output.discard(sys.__stdout__)
    return output.EXIT_PIPE_CLOSED


def report_error(raised: Exception, arguments: Sequence[str] = ()) -> int:
    """Say what is wrong with the command, the bank or the grader, and return the status."""
    fault = _error(raised)
    status = fault.exit_status
    message = fault.message
    hint = fault.hint
    problems = getattr(fault, "problems", ())
    found = _NO_QUESTION.fullmatch(message)
    if found and not hint and found[1] in arguments:  # what was typed, with the id that was meant
        words = (found[2] if word == found[1] else word for word in arguments)
        hint = f"Next: drill {shlex.join(words)}"
    kind = {EXIT_USAGE: "usage", EXIT_BANK_FAULT: "bank"}.get(status, "internal")
    error = {"kind": kind, "status": status, "message": message, "hint": hint}
    error |= {"problems": problems} if problems else {}
    if not output.emit_json("--json" in _options(arguments), error=error):
        *others, last = dict.fromkeys([message, *problems])
        for problem in others:
            output.warn(problem)
        output.warn(last, hint, getattr(fault, "excerpt", ()))
    return status


def _error(fault: Exception) -> DrillError:
    """Return what is said of a fault: ours, typer's complaint in our form, or the program's own."""
    if isinstance(fault, DrillError):
        return fault
    if isinstance(fault, typer.TyperException):
        message = fault.format_message().removesuffix(".")
        for words, better in _WORDS.items():
            message = message.replace(words, better)
        if message.endswith(")") and "; did you mean " in message:
            message = message.removesuffix(")") + "?"
        # What the parser itself raises carries no context: the innermost one is of the command.
        contexts = [frame.f_locals.get("ctx") for frame, _ in walk_tb(fault.__traceback__)]
        path = ["drill", *filter(None, (getattr(ctx, "command_path", "") for ctx in contexts))][-1]
        return UsageError(message[:1].lower() + message[1:], f"{path} --help shows what it takes")
    debug = os.environ.get("DRILL_DEBUG", "") not in {"", "0"}
    limit = to_machine_error(fault)
    if limit and not debug:
        return limit
    text = "".join(format_exception(fault))
    message = f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
    message = f"the grader is at fault ({message})"
    if debug:
        sys.stderr.write(escape_text(text))
        return GraderError(message)
    where = "DRILL_DEBUG=1 shows the traceback"
    with suppress(OSError, DrillError):
        folder = data_folder() / "tracebacks"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = folder / f"drill-{now().replace(':', '')}-{os.getpid()}.txt"
        kept.write_text(text, encoding="utf-8", errors="backslashreplace")
        where = f"the traceback is in {kept}"
    return GraderError(f"{message}; {where}", hint="please report it")
