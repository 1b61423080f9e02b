"""The screen while a drill is watched: its content, and the action of each key.

One loop waits for keys and signals and looks at the file.  It handles one event after another: keys
that are pressed during a grade wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from shutil import get_terminal_size
from typing import TYPE_CHECKING, NamedTuple

import typer

from grader import forms
from grader.commands import output
from grader.commands.case import case
from grader.commands.edit import open_editor
from grader.commands.grade import grade_context
from grader.commands.hint import hint
from grader.commands.list_and_next import next_
from grader.commands.show import show_on_screen
from grader.commands.solution import diff_lines, solution
from grader.commands.whole_screen import LOOK_EVENT, WholeScreen
from grader.model.errors import DrillError, UsageError
from grader.model.number_format import format_count
from grader.reports import grade_sentences, text_layout
from grader.reports.blocks import Block, Paragraph
from grader.reports.grade import grade_page

if TYPE_CHECKING:
    from grader.commands.watched_drill import WatchedDrill

_LOOKS_AT_CLOCK = 50  # looks at the file between two looks at the clock
_STYLE = re.compile(r"\x1b\[\d*m")
_DIFF_TITLE = "what was graded before (-), and what is there now (+)"
_HINT_QUESTION = "A hint is recorded in the debrief. Show one?"
_YES_KEYS = ("y yes", "other keys: no")
_KEYS = ("p question", "d diff", "f full", "r again", "e edit", "n next", "q quit")


def watch_page(
    watched: WatchedDrill, *notes: str, keys: bool = False, full: bool = False, clock: str = ""
) -> list[Block]:
    """Return the page of the last grade, or why there is no grade, with `notes` as last sentences.

    `keys`: leave out the commands to type next, because the screen has keys.  `full`: shorten
    nothing.  `clock` is the time to show: "31 of 45 minutes left".  By default it is the time
    left that the grade has from an interview, or else the time spent: "12 of 15 min".
    """
    graded = watched.last_grade
    fault = watched.fault
    if fault or graded is None:
        texts = [fault.message, fault.hint, *notes] if fault else [*notes]
        if clock:
            texts.append(f"{clock}.")
        return [Paragraph(text) for text in texts if text]
    time = datetime.fromisoformat(watched.graded_at).astimezone().strftime("%H:%M:%S")
    news = f"Graded at {time}. {watched.news}".rstrip()
    page_context = grade_context(graded, watched.graded_at, full=full)
    page_context = replace(
        page_context,
        clock=clock or page_context.clock or watched.time_text,
        news=(news, *notes),
    )
    if keys:
        page_context = replace(page_context, steps=(), full_command="f")
    return list(grade_page(graded.report, page_context))


class InterviewControls(NamedTuple):
    """The keys and texts that an interview adds to a screen."""

    asked: str  # the first page: the question
    keys: tuple[str, ...]  # the last line of a page; the first key leaves the question
    time_left: Callable[[], str]  # a text; empty after the end
    leave_question: Callable[[], str]  # returns what to confirm before the question is left
    # By key: the name of a text to type, such as "note", and the function that records it.
    text_keys: Mapping[str, tuple[str, Callable[[str], object]]]


class WatchScreen(WholeScreen):
    """The screen while a drill is watched: the page of the last grade, or the output of a key."""

    def __init__(
        self,
        ctx: typer.Context,
        watched: WatchedDrill,
        notes: list[str],
        interview: InterviewControls | None = None,
    ) -> None:
        """Show nothing yet; `notes` are warnings to show, and more may be appended later."""
        super().__init__()
        self._watched = watched
        self._notes = notes
        self._interview = interview
        self._first_word = ""  # of the page: its verdict
        self._clock = ""  # the time that the page shows: "12 of 15 min"
        # Text to show instead of the page, from its first unread line: the output of a key, or the
        # question of an interview.
        self._view = interview.asked if interview else ""
        self._actions = self._key_actions(ctx)
        watched.on_begin = lambda: self._replace_first_word("...")
        watched.confirm_answers = self._confirm_answers
        watched.on_verdict = lambda report: self._replace_first_word(f"{report.verdict.upper():5}")

    def _key_actions(self, ctx: typer.Context) -> dict[str, Callable[[], object]]:
        """Return the action of each key; the screen shows its output, unless it returns False."""
        watched = self._watched
        interview = self._interview
        question_id = watched.resolved_drill.typed_name

        def show_diff() -> None:
            output.write_lines([_DIFF_TITLE, *diff_lines(watched.diff_since_last())])

        def ask_for_hint() -> bool:
            is_confirmed = self._confirms(_HINT_QUESTION, *_YES_KEYS)
            if is_confirmed:
                hint(ctx, question_id)
            return is_confirmed

        actions: dict[str, Callable[[], object]] = {
            "h": ask_for_hint if interview else partial(hint, ctx, question_id),
            "c": lambda: case(ctx, self._failing_case(), question_id),
            "p": partial(show_on_screen, ctx, question_id),
            "d": show_diff,
            "f": lambda: output.show_page(watch_page(watched, keys=True, full=True)),
            "r": watched.grade_again,
            "e": self._edit,
        }
        if interview is None:
            actions["s"] = partial(solution, ctx, question_id)
            actions["n"] = partial(next_, ctx)
        else:
            for key, (kind, keep) in interview.text_keys.items():
                actions[key] = partial(self._read_text, kind, keep)
        return actions

    def run(self) -> bool:
        """Grade and handle keys until the person leaves or the interview's time is over.

        Return True if the person leaves a question of an interview that still has time.
        """
        self.take()
        interview = self._interview
        if interview:
            self._draw()
        self._watched.grade_if_changed()
        self._draw()
        for number, event in enumerate(self.events):
            if event == "q":
                return False
            if interview and event == interview.keys[0][0]:
                if self._confirms(interview.leave_question(), *_YES_KEYS):
                    return bool(interview.time_left())
                has_changed = True
            else:
                has_changed = self._handle(event)
            if number % _LOOKS_AT_CLOCK and not has_changed:
                continue
            if interview and not interview.time_left():
                return False
            if has_changed or self._time_text() != self._clock:  # a minute has passed
                self._draw()
        return False

    def _handle(self, event: str) -> bool:
        """Handle an event; return True if a redraw is needed, as after any signal.

        At a `LOOK_EVENT` grade the file if it has changed; at a key do its action.
        """
        if event == LOOK_EVENT:
            has_changed = self._watched.grade_if_changed()
            if has_changed:  # the verdict replaces any other output
                self._view = ""
            return has_changed
        is_signal = event.startswith("SIG")
        return is_signal or self._press(event)

    def _press(self, key: str) -> bool:
        """Do the action of a key; any other key shows the next screen of a long output.

        Return True if a redraw is needed.
        """
        if key not in self._actions:
            had_view = bool(self._view)
            self._view = "".join(self._screens(self._view)[1:])
            return had_view
        with output.capture_output() as text:
            try:
                if self._actions[key]() is False:  # the person said no
                    return True
            except DrillError as fault:
                output.warn(fault.message, fault.hint)
        command = f"drill hint{self._watched.resolved_drill.drill_argument}"
        self._view = text.getvalue().replace(command, "press h").expandtabs()
        return True

    def _failing_case(self) -> str | None:
        """Return the name of the failing case that the page shows, if it shows one."""
        graded = self._watched.last_grade
        if graded and not graded.next_part:
            for check in grade_sentences.failing_required_checks(graded.report):
                if check.failing:
                    return check.failing[0]
        return None

    def _edit(self) -> None:
        self.close()
        try:
            open_editor(self._watched.path)
        finally:
            self.take()
        self._watched.grade_if_changed()

    def _confirm_answers(self, answers: bytes) -> bool:
        """Return True if the person lets a prediction be graded, which is possible only once.

        UsageError if not.
        """
        text = text_layout.escape_text(answers.decode("utf-8", "replace"))
        question = f"Only the first grade counts.\n\n{text}"
        if self._confirms(question, "y grade", "other keys: not yet"):
            return True
        raise UsageError(
            "only the first grade of a prediction counts, and nothing is graded yet",
            "r asks again, and so does the next save",
        )

    def _confirms(self, text: str, *keys: str) -> bool:
        """Show a question above its `keys`, and return True if the next key is y or Y."""
        for event in chain(["begin"], self.events):
            if len(event) == 1:
                return event in "yY"
            if event != LOOK_EVENT:
                self.put(text, *keys)
        return False

    def _read_text(self, kind: str, keep: Callable[[str], object]) -> None:
        """Read a text until Enter and pass it to `keep`, unless it is blank.

        Only its length is shown, as the candidate may see the screen.  `kind` names it: "note".
        """
        typed = ""
        try:
            for event in chain(["begin"], self.events):
                if event in {"\r", "\n"}:
                    break
                if event == "\x15":  # Ctrl-U
                    typed = ""
                elif event in {"\x7f", "\b"}:
                    typed = typed[:-1]
                elif len(event) == 1 and event.isprintable():
                    typed += event
                if event != LOOK_EVENT:
                    length = format_count(len(typed), "character")
                    self.put_keys(f"{kind}, not shown: {length}", "Ctrl-U: empty", "Enter: keep")
        finally:  # Ctrl-C keeps the text as well
            if typed.strip():
                keep(typed)
        if typed.strip():
            output.write(f"noted, {format_count(len(typed), 'character')}")
        else:
            output.write("no note")

    def _draw(self) -> None:
        """Show the page, or the output of a key, in the current size of the screen."""
        self._clock = self._time_text()
        with output.capture_output() as text:
            clock = self._clock if self._interview else ""
            blocks = watch_page(self._watched, *self._notes, keys=True, clock=clock)
            output.show_page(blocks, rows=get_terminal_size().lines - 1)
        words = _STYLE.sub("", text.getvalue()).split()
        self._first_word = words[0] if words else ""
        first_screen, *more = self._screens(self._view or text.getvalue())
        keys = self._page_keys()
        if self._view:
            heading = self._clock if self._interview else self._first_word
            keys = [heading, "space: more" if more else "space: back", *keys]
        self.put(first_screen, *keys)

    def _page_keys(self) -> list[str]:
        """Return the texts of the last line, such as "h hint", that apply now."""
        graded = self._watched.last_grade
        if self._interview:
            keys = [*self._interview.keys]
        elif graded and graded.report.verdict == "pass":
            keys = ["s solution", *_KEYS]
        else:
            keys = ["h hint", "c case", *_KEYS]
        form = forms.form_of(self._watched.resolved_drill.question.spec)
        if form.is_text or form.runs_in_two_processes:  # a case has no script
            keys = [key for key in keys if key != "c case"]
        return keys

    def _time_text(self) -> str:
        """Return the time left of an interview, or else the time spent: "12 of 15 min"."""
        return self._interview.time_left() if self._interview else self._watched.time_text

    def _replace_first_word(self, word: str) -> None:
        """Overwrite the verdict, the first word of the page, unless other output hides the page."""
        if not self._view:
            output.send(f"\x1b[H{word:{len(self._first_word) + 1}}")

    def _screens(self, text: str) -> list[str]:
        """Cut a text into pieces of one screen each, counting lines that the terminal wraps."""
        size = get_terminal_size()
        pieces = [""]
        used_rows = 0
        for line in text.splitlines(keepends=True):
            rows = text_layout.count_rows([_STYLE.sub("", line)], size.columns)
            if used_rows and used_rows + rows > size.lines - 1:
                pieces.append("")
                used_rows = 0
            pieces[-1] += line
            used_rows += rows
        return pieces
