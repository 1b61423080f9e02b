"""`drill explore` on the whole screen: arrows and digits change the settings of a model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from shutil import get_terminal_size

from grader.commands import output
from grader.commands.whole_screen import LOOK_EVENT, WholeScreen
from grader.costs.formulas import CostModel, Setting, Settings
from grader.reports.blocks import BlankLine, Block, render_terminal
from grader.reports.costs import cell_text, table_blocks
from grader.reports.text_layout import REVERSE, Line, Spans, wrap_words

_SETTING_WIDTH = 20  # columns of a name and a value
_KEYS = (
    "arrows, digits: set",
    "Tab: next view",
    "p: preset",
    "?: more about this",
    "q: quit",
)
_HELP = (
    "Up and down choose a setting, left and right change it, digits set a number. "
    "Tab shows the next table, PgUp and PgDn scroll it, p takes the sizes of the next preset."
)


def show_explorer(explorer: Explorer) -> None:
    """Show an explorer on the whole screen until q or Ctrl-C."""
    with suppress(KeyboardInterrupt), WholeScreen() as screen:
        screen.take()
        event = ""
        while event != "q":
            if event != LOOK_EVENT:
                explorer.press(event)
                with output.capture_output() as text:
                    size = get_terminal_size()
                    output.write_lines(explorer.lines(size.columns, size.lines - 2))
                screen.put(text.getvalue(), *_KEYS)
            event = next(screen.events, "q")


class Explorer:
    """What the screen shows: the settings of a model, and below them one view of its costs."""

    def __init__(self, model: CostModel, settings: Settings) -> None:
        self.requested_settings = dict(settings)
        self._model = model
        self._views = list(dict.fromkeys(table.view for table in model.tables if table.view))
        self._view_number = 0
        self._page_number = 0  # of the view, if it is longer than the screen
        self._preset_number = 0
        self._chosen_number = 0  # index of the setting that keys change
        self._typed_digits = ""
        self._shows_help = False

    def press(self, key: str) -> None:
        """Handle a key: choose a setting or a view, turn a page, change the chosen setting.

        Digits typed one after another make one number.  Unknown keys do nothing.
        """
        chosen = self._model.settings[self._chosen_number]
        typed_digits = ""
        self._shows_help = key == "?"
        if key in {"up", "down"}:
            step = 1 if key == "down" else -1
            self._chosen_number = (self._chosen_number + step) % len(self._model.settings)
        elif key in {"left", "right"}:
            self.requested_settings[chosen.name] = self._neighbor(is_right=key == "right")
        elif key == "page up":
            self._page_number = max(self._page_number - 1, 0)
        elif key == "page down":
            self._page_number += 1
        elif key == "\t":
            self._view_number = (self._view_number + 1) % len(self._views)
            self._page_number = 0
        elif key == "p":
            presets = list(self._model.presets.values())
            self._preset_number = (self._preset_number + 1) % len(presets)
            self.requested_settings = dict(presets[self._preset_number])
        elif key.isdecimal() and not chosen.words:
            typed_digits = f"{self._typed_digits}{key}"[:10]
            self.requested_settings[chosen.name] = int(typed_digits)
        self._typed_digits = typed_digits

    def _neighbor(self, *, is_right: bool) -> int | str:
        """Return the next larger value of the chosen setting (`is_right`), or the next smaller.

        For a setting with words it is the next or the previous word.  At an end it is the present
        value.
        """
        setting = self._model.settings[self._chosen_number]
        value = self.requested_settings[setting.name]
        stops: list[int | str] = [*setting.words]
        if isinstance(value, int):
            stops = [*sorted({value, *self._possible_numbers(setting)})]
        number = stops.index(value) + (1 if is_right else -1)
        return stops[min(max(number, 0), len(stops) - 1)]

    def _possible_numbers(self, setting: Setting) -> Iterator[int]:
        """Yield the values on a setting's slider that are valid with the other settings."""
        for stop in setting.slider_values():
            settings, _ = self._model.resolve_settings(
                {**self.requested_settings, setting.name: stop}
            )
            if settings[setting.name] == stop:
                yield int(stop)

    def lines(self, width: int, rows: int) -> list[Line]:
        """Return the lines of the screen: settings, notes, totals, and a page of the view.

        A view, a group of tables, has several pages if it does not fit below the other lines.
        """
        counted, notes = self._model.resolve_settings(self.requested_settings)
        values = self._model.formula_values(counted)
        chosen = self._model.settings[self._chosen_number]
        about = notes or [f"{chosen.name}: {chosen.about}"]
        if self._shows_help:
            about = [self._model.about, _HELP]
        short, *tables = self._model.tables
        totals = (" ".join(cell_text(cell, values) for cell in row.cells[:2]) for row in short.rows)
        lines: list[Line] = [*self._setting_lines(width)]
        for text in (*about, ", ".join(totals)):
            lines += wrap_words(text, width)
        lines.append("")
        blocks: list[Block] = []
        for table in tables:
            if table.view == self._views[self._view_number]:
                blocks += [*table_blocks(table, values), BlankLine()]
        view = render_terminal(blocks, width)
        page_rows = max(rows - len(lines), 1)
        self._page_number = min(self._page_number, (len(view) - 1) // page_rows)
        first = self._page_number * page_rows
        return [*lines, *view[first : first + page_rows]]

    def _setting_lines(self, width: int) -> list[Spans]:
        """Return the settings in columns, the chosen one marked."""
        settings = self._model.settings
        rows = -(-len(settings) // max(width // _SETTING_WIDTH, 1))
        lines = []
        for row in range(rows):
            line = []
            for number in range(row, len(settings), rows):
                name = settings[number].name
                is_chosen = number == self._chosen_number
                cell = f"{'>' if is_chosen else ' '}{name:<9} {self.requested_settings[name]}"
                line.append((cell, REVERSE if is_chosen else ""))
                line.append((" " * (_SETTING_WIDTH - len(cell)), ""))
            lines.append(tuple(line))
        return lines
