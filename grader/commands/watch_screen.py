"""The terminal while a drill is watched: what is on its screen, and what each key does.

One loop waits for saves, signals and keys and does one thing after another, so that keys that are
pressed while a grade runs wait.  However it ends, the terminal is left as it was.
"""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from shutil import get_terminal_size
from typing import NamedTuple

import typer

from grader import forms
from grader.commands import entrypoint, output, questions
from grader.commands.case import case
from grader.commands.edit import open_editor
from grader.commands.grade import grade_context
from grader.commands.hint import hint
from grader.commands.show import show_on_screen
from grader.commands.solution import diff_lines, solution
from grader.commands.watching import WatchedDrill
from grader.model.errors import DrillError, UsageError
from grader.model.number_format import format_count
from grader.reports import sentences, text_layout
from grader.reports.blocks import Block, Paragraph
from grader.reports.grade import grade_page
from grader.sandbox import Closeable

SAVED_EVENT = "saved"
_WAKING = (signal.SIGWINCH, signal.SIGTSTP, signal.SIGCONT)
_SEQUENCE = re.compile(r"\x1b[\[O][0-?]*[ -/]*[@-~]?")  # what an arrow sends, say
_STYLE = re.compile(r"\x1b\[\d*m")
_DIFF = "what was graded before (-), and what is there now (+)"
_PRICE = "A hint is recorded in the debrief. Show one?"
_YES = ("y yes", "other keys: no")
_KEYS = ("p question", "d diff", "f full", "r again", "e edit", "n next", "q quit")


def watch_page(
    watched: WatchedDrill, *notes: str, keys: bool = False, full: bool = False, clock: str = ""
) -> list[Block]:
    """Return the page of the last grade, or why there is none; `keys` do what comes next."""
    graded = watched.last_grade
    fault = watched.fault
    if fault or graded is None:
        said = [fault.message, fault.hint, *notes] if fault else [*notes]
        said += [f"{clock}."] * bool(clock)
        return [Paragraph(text) for text in said if text]
    around = grade_context(graded, watched.graded_at, full=full)
    if keys:
        around = replace(around, steps=(), full_command="f")
    around = replace(around, clock=clock or around.clock or watched.time_text)
    time = datetime.fromisoformat(watched.graded_at).astimezone().strftime("%H:%M:%S")
    news = f"Graded at {time}. {watched.news}".rstrip()
    return list(grade_page(graded.report, replace(around, news=(news, *notes))))


def screen_events(wake: int) -> Iterator[str]:
    """Give what happens until standard input ends: a save, a signal by its name, a key."""
    while sys.stdin is not None:
        if wake in select.select([wake, sys.stdin], [], [])[0]:
            for number in sorted(set(os.read(wake, 1 << 16))):  # many saves are one
                yield signal.Signals(number).name if number else SAVED_EVENT
            continue  # meanwhile somebody else may have read what was typed
        typed = b""
        with suppress(OSError):  # the terminal is gone
            typed = os.read(sys.stdin.fileno(), 1024)
        if not typed:
            return
        yield from _SEQUENCE.sub("", typed.decode("utf-8", "replace"))


class InterviewControls(NamedTuple):
    """What an interview adds to a screen."""

    asked: str  # the first page: the question
    keys: tuple[str, ...]  # the foot of a page; the first key leaves the question
    time_left: Callable[[], str]  # the time in words; nothing when it is over
    leave_question: Callable[[], str]  # the question to answer before the question is left
    text_keys: Mapping[str, tuple[str, Callable[[str], object]]]  # by key: a text that is not shown


class Screen(Closeable):
    """The other screen of a terminal: the page, or what a key has put in its place."""

    def __init__(
        self, ctx: typer.Context, watched: WatchedDrill, notes: list[str], wake: int, waker: int,
        live: InterviewControls | None = None,
    ) -> None:  # fmt: skip
        """Show nothing yet; `notes` are what was said so far, and the pipe wakes who waits."""
        self._watched = watched
        self._notes = notes
        self._wake = wake
        self._waker = waker
        self._mode = termios.tcgetattr(sys.stdin)
        self._events = self._read_events()  # one for all, or keys would change their order
        self._word = self._clock = ""  # the first of the page, and the minutes in its first line
        self._view = ""  # what is in the place of the page, as far as it was not read yet
        watched.on_begin = lambda: self._head("...")
        watched.confirm_answers = self._agreed
        watched.on_verdict = lambda report: self._head(f"{report.verdict.upper():5}")
        called = watched.resolved_drill.typed_name
        self._does: dict[str, Callable[[], object]] = {
            "h": lambda: hint(ctx, called),
            "c": lambda: case(ctx, self._case(), called),
            "s": lambda: solution(ctx, called),
            "p": lambda: show_on_screen(ctx, called),
            "d": lambda: output.write_lines([_DIFF, *diff_lines(watched.diff_since_last())]),
            "f": lambda: output.show_page(watch_page(watched, keys=True, full=True)),
            "r": watched.grade_again,
            "e": self._edit,
            "n": lambda: questions.next_(ctx),
        }
        self._live = live
        if live:
            self._view = live.asked
            del self._does["s"], self._does["n"]
            self._does["h"] = lambda: hint(ctx, called) if self._asks(_PRICE, *_YES) else False
            for key, (kind, keep) in live.text_keys.items():
                self._does[key] = partial(self._note, kind, keep)

    def take(self) -> None:
        """Have keys at once, and the other screen, until `close`."""
        entrypoint.end_by_signals()
        for number in _WAKING:
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        tty.setcbreak(sys.stdin, termios.TCSADRAIN)
        output.send("\x1b[?1049h\x1b[?25l")

    def close(self) -> None:
        """Leave the terminal exactly as it was; one that is gone is no fault."""
        with output.interrupts_ignored():  # a second would end this half way
            for number in (*entrypoint.ENDING, *_WAKING):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            with suppress(output.PipeClosedError, DrillError, termios.error):
                termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._mode)
                output.send("\x1b[?25h\x1b[?1049l")

    def run(self) -> bool:
        """Do what is asked for, until the end is; return whether what is asked next is."""
        self.take()
        live = self._live
        if live:
            self._draw()
        self._watched.grade_if_changed()
        self._draw()
        for event in self._events:
            if event == "q":
                return False
            if event == SAVED_EVENT:
                changed = self._watched.grade_if_changed()
                if changed:  # the verdict replaces any other page
                    self._view = ""
            elif live and event == live.keys[0][0]:
                changed = True
                if self._asks(live.leave_question(), *_YES):
                    return bool(live.time_left())
            else:
                changed = len(event) > 1 or self._key(event)
            if live and not live.time_left():
                return False
            if changed or self._time() != self._clock:  # a minute has gone by
                self._draw()
        return False

    def _read_events(self) -> Iterator[str]:
        """Give what happens; after a signal all is to be drawn again."""
        for event in screen_events(self._wake):
            if event == "SIGTSTP":
                self.close()
                os.kill(os.getpid(), signal.SIGTSTP)
            if event in {"SIGTSTP", "SIGCONT"}:  # who was stopped by force could not give it back
                self.take()
            yield event

    def _key(self, key: str) -> bool:
        """Do what a key asks for; return whether there is something else to show."""
        if key not in self._does:
            is_read = bool(self._view)
            self._view = "".join(self._screens(self._view)[1:])
            return is_read
        with output.capture_output() as text:
            try:
                if self._does[key]() is False:  # the person said no
                    return True
            except DrillError as fault:
                output.warn(fault.message, fault.hint)
        command = f"drill hint{self._watched.resolved_drill.drill_argument}"
        self._view = text.getvalue().replace(command, "press h").expandtabs()
        return True

    def _case(self) -> str | None:
        """The case that the page shows, if it shows one."""
        graded = self._watched.last_grade
        failing = (
            sentences.failing_required_checks(graded.report)
            if graded and not graded.next_part
            else []
        )
        return next((case for check in failing for case in check.failing), None)

    def _edit(self) -> None:
        self.close()
        try:
            open_editor(self._watched.path)
        finally:
            self.take()
        self._watched.grade_if_changed()

    def _agreed(self, answers: bytes) -> bool:
        """Ask before the only grade of a prediction that counts."""
        text = text_layout.escape_text(answers.decode("utf-8", "replace"))
        if self._asks(f"Only the first grade counts.\n\n{text}", "y grade", "other keys: not yet"):
            return True
        raise UsageError(
            "only the first grade of a prediction counts, and nothing is graded yet",
            "r asks again, and so does the next save",
        )

    def _asks(self, text: str, *foot: str) -> bool:
        for event in chain(["begin"], self._events):
            if len(event) == 1:
                return event in "yY"
            if event != SAVED_EVENT:
                self._put(text, *foot)
        return False

    def _note(self, kind: str, keep: Callable[[str], object]) -> None:
        """Take a text, of which a screen that is shared shows how long it is."""
        typed = ""
        try:
            for event in chain(["begin"], self._events):
                if event in {"\r", "\n"}:
                    break
                if event in {"\x7f", "\b", "\x15"}:  # the last character, or all
                    typed = typed[:-1] if event != "\x15" else ""
                elif len(event) == 1 and event.isprintable():
                    typed += event
                if event != SAVED_EVENT:
                    many = format_count(len(typed), "character")
                    self._foot(f"{kind}, not shown: {many}", "Ctrl-U: empty", "Enter: keep")
        finally:  # also what was typed until Ctrl-C
            if typed.strip():
                keep(typed)
        output.write(
            f"noted, {format_count(len(typed), 'character')}" if typed.strip() else "no note"
        )

    def _draw(self) -> None:
        """Show the page, or what is in its place, as large as the screen is now."""
        self._clock = self._time()
        with output.capture_output() as text:
            left = self._clock if self._live else ""
            blocks = watch_page(self._watched, *self._notes, keys=True, clock=left)
            output.show_page(blocks, rows=get_terminal_size().lines - 1)
        self._word = next(iter(_STYLE.sub("", text.getvalue()).split()), "")
        shown, *more = self._screens(self._view or text.getvalue())
        graded = self._watched.last_grade
        passed = graded and graded.report.verdict == "pass"
        foot = (*(["s solution"] if passed else ["h hint", "c case"]), *_KEYS)
        if self._live:
            foot = self._live.keys
        form = forms.form_of(self._watched.resolved_drill.question.spec)
        if form.is_text or form.runs_in_two_processes:  # there is no script of a case
            foot = tuple(key for key in foot if key != "c case")
        if self._view:
            first = self._clock if self._live else self._word
            foot = (first, "space: more" if more else "space: back", *foot)
        self._put(shown, *foot)

    def _time(self) -> str:
        """What is left of an interview, or else how long the sitting takes."""
        return self._live.time_left() if self._live else self._watched.time_text

    def _put(self, text: str, *foot: str) -> None:
        """Show a text above a line of keys."""
        output.send(f"\x1b[H\x1b[J{text}")
        self._foot(*foot)

    def _foot(self, *foot: str) -> None:
        """Show keys in the last line, of which the last is there in the narrowest window."""
        size = get_terminal_size()
        keys = [*foot]
        while len(keys) > 1 and text_layout.display_width("  ".join(keys)) > size.columns:
            del keys[-2]
        with output.capture_output() as line:
            output.write_lines(
                [((text_layout.truncate("  ".join(keys), size.columns), text_layout.REVERSE),)]
            )
        output.send(f"\x1b[{size.lines};1H\x1b[K{line.getvalue().rstrip()}")

    def _head(self, word: str) -> None:
        """Put a word in the place of the first one of the page."""
        if not self._view:
            output.send(f"\x1b[H{word:{len(self._word) + 1}}")

    def _screens(self, text: str) -> list[str]:
        """A text in pieces that fill a screen each, with lines that the terminal wraps."""
        size = get_terminal_size()
        pieces = [""]
        used = 0
        for line in text.splitlines(keepends=True):
            rows = max(
                1, -(-text_layout.display_width(_STYLE.sub("", line.rstrip())) // size.columns)
            )
            if used and used + rows > size.lines - 1:
                pieces.append("")
                used = 0
            pieces[-1] += line
            used += rows
        return pieces
