"""`drill explore` on the whole screen: arrows and digits set what is counted."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.events import Key
from textual.widgets import Static

from grader.costs.formulas import CostModel, Settings
from grader.reports import text_layout
from grader.reports.blocks import BlankLine, render_terminal
from grader.reports.costs import cell_text, table_blocks

_COLUMNS = 4  # of settings
_KEYS = "arrows, digits: set   Tab: next view   p: preset   ?: more about this   q: quit"
_HELP = (
    "Up and down choose a setting, left and right change it, digits set a number. "
    "Tab shows the next table, PgUp and PgDn scroll it, p takes the sizes of the next preset."
)


class Explorer(App[None]):
    """Settings above, and below one view of what they cost."""

    CSS = "Static { height: auto; } VerticalScroll { scrollbar-size: 0 0; margin: 1 0; }"
    BINDINGS: ClassVar = [
        Binding("tab", "turn(1)", priority=True),
        Binding("ctrl+c", "quit", priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, model: CostModel, wanted: Settings, *, reverse: bool) -> None:
        super().__init__(ansi_color=True)
        self.model, self.wanted_settings, self.marked = (
            model,
            dict(wanted),
            "reverse" if reverse else "",
        )
        self.views = [*dict.fromkeys(table.view for table in model.tables if table.view)]
        self.view_index = self.preset = 0
        self.typed_digits = ""

    def compose(self) -> ComposeResult:
        """Texts below one another, of which the costs scroll."""
        yield from (Static(id=name) for name in ("settings", "about", "short"))
        with VerticalScroll(can_focus=False):
            yield Static(id="costs")
        yield Static(_KEYS)

    def on_mount(self) -> None:
        """Show what there is to begin with."""
        self.theme = "ansi-dark"  # of which only the colors of the terminal are used
        self.show()

    def action_turn(self, by: int) -> None:
        """Show the next view."""
        self.views = self.views[by:] + self.views[:by]
        self.show()

    def on_key(self, event: Key) -> None:
        """Choose a setting, or set it: to a neighbor, or to what is typed."""
        name, _, words, *_ = setting = self.model.settings[self.view_index]
        scroll, (typed, self.typed_digits) = self.query_one(VerticalScroll), (self.typed_digits, "")
        model = self.model
        wanted = self.wanted_settings
        now = self.wanted_settings[name]
        stops = [
            n
            for n in setting.slider_values()
            if n == model.resolve_settings({**wanted, name: n})[0][name]
        ]
        match event.key:
            case "up":
                self.view_index = (self.view_index - 1) % len(self.model.settings)
            case "down":
                self.view_index = (self.view_index + 1) % len(self.model.settings)
            case "left" | "right" as key:
                order: Any = stops.index if words else int
                side = [n for n in stops if n != now and (order(n) < order(now)) == (key == "left")]
                self.wanted_settings[name] = side[-1 if key == "left" else 0] if side else now
            case "pageup":
                scroll.scroll_page_up(animate=False)
            case "pagedown":
                scroll.scroll_page_down(animate=False)
            case "p":
                self.preset = (self.preset + 1) % len(self.model.presets)
                self.wanted_settings = dict([*self.model.presets.values()][self.preset])
            case "q":
                self.exit()
            case "question_mark":  # until the next key
                self.query_one("#about", Static).update(f"{self.model.about}\n{_HELP}")
                return
            case digit if digit.isdecimal() and not words:
                self.typed_digits = f"{typed}{digit}"[:10]
                self.wanted_settings[name] = int(self.typed_digits)
        self.show()

    def show(self) -> None:
        """Work everything out and draw it."""
        taken, notes = self.model.resolve_settings(self.wanted_settings)
        values = self.model.formula_values(taken)
        chosen = self.model.settings[self.view_index]
        down = -(-len(self.model.settings) // _COLUMNS)
        grid = Text()
        for row in range(down):
            for one in self.model.settings[row::down]:
                cell = (
                    f"{'>' if one is chosen else ' '}{one.name:<9} {self.wanted_settings[one.name]}"
                )
                grid.append(cell, self.marked if one is chosen else "")
                grid.append(" " * (20 - len(cell)))
            grid.append("\n")
        short, *tables = self.model.tables
        viewed = (table for table in tables if table.view == self.views[0])
        shown = [block for one in viewed for block in (*table_blocks(one, values), BlankLine())]
        totals = (" ".join(cell_text(cell, values) for cell in row.cells[:2]) for row in short.rows)
        texts: dict[str, Text | str] = {
            "settings": grid,
            "about": "\n".join(notes) or f"{chosen.name}: {chosen.about}",
            "short": ", ".join(totals),
            "costs": Text("\n").join(map(_styled, render_terminal(shown, self.size.width))),
        }
        for name, content in texts.items():
            self.query_one(f"#{name}", Static).update(content)


def _styled(line: text_layout.Line) -> Text:
    spans = [(line, "")] if isinstance(line, str) else line
    return Text.assemble(*((said, "bold" if style else "") for said, style in spans))
