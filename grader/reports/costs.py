"""Costs of a model: blocks of a page, and an HTML page whose settings can be changed.

The HTML page has the same blocks, and their formulas as JavaScript: when a setting changes, its
script computes the cells of the tables again, in order.  So no number is written twice, and
without scripts the page shows the numbers that Python computed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

from grader.costs.formulas import (
    CostCell,
    CostModel,
    CostTable,
    Setting,
    Settings,
    Values,
    evaluate_formula,
    to_javascript,
)
from grader.reports.blocks import BlankLine, Blocks, Figure, Heading, Paragraph, Table, render_html
from grader.reports.text_layout import format_columns

_MAX_BAR = 20  # characters
_RIGHT = (" ", "  ", "times", "FLOPs", "moved", "FLOP/B", "kept", "in all")
_SCRIPT = Path(__file__).with_name("costs.js")
_CSS = """\
body { max-width: 84rem; }
main { display: grid; grid-template-columns: 21rem minmax(0, 1fr); gap: 0 3rem; }
header { grid-column: 1 / -1; }
aside { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; }
aside div { display: grid; grid-template-columns: 6rem 7rem 1fr; gap: 0 .6rem; margin: .2rem 0; }
aside .soft { grid-column: 1 / -1; font-size: .75rem; line-height: 1.2; }
input, select, button { font: inherit; min-width: 0; margin: 0; }
output { display: block; white-space: pre-line; font-weight: 600; min-height: 1.5em; }
table { display: table; width: 100%; }
tr { background: linear-gradient(#3b78b866, #3b78b866) no-repeat 0 / 0; }
tr:nth-child(n + 6) { background-image: linear-gradient(#d0702066, #d0702066); }
tr[hidden], tr:first-child:has(th:nth-child(2):empty), h2:first-of-type { display: none; }
td:not(.soft) { white-space: nowrap; font-variant-numeric: tabular-nums; }
td + td:not(.soft), th + th { text-align: right; }
table:not(:has(th:nth-child(4))) td + td { width: 25%; }
table:first-of-type td + td { font-size: 1.6rem; line-height: 1.25; }
@media (max-width: 56rem) { main, table { display: block; }
  aside { position: static; max-height: none; } td + td { font-size: 1rem !important; } }
@media print { main { display: block; } aside { position: static; columns: 3; max-height: none; }
  [type="range"], button, aside .soft { display: none; } tr { print-color-adjust: exact; } }
"""


def page(model: CostModel, title: str, taken: Settings, notes: Iterable[str]) -> Blocks:
    """Yield the page of a model with the settings `taken`; `notes` are sentences on them."""
    values = model.formula_values(taken)
    yield Heading(title, name=model.name)
    yield Paragraph(model.about)
    yield BlankLine()
    settings = [f"{setting.name} {taken[setting.name]}" for setting in model.settings]
    yield Paragraph(f"{', '.join(settings)}.")
    yield from (Paragraph(note, hang=4) for note in notes)
    for table in model.tables:
        yield from table_blocks(table, values)


def table_blocks(table: CostTable, values: Values, *, whole: bool = False) -> Blocks:
    """Yield a table, with numbers computed from the values of formulas.

    If `whole`, it also has the rows whose condition is false, and no bars: the script of the HTML
    page shows and hides rows, and draws the bars.
    """
    yield Heading(table.title)
    rows = [row for row in table.rows if whole or evaluate_formula(row.condition, values)]
    texts = [[cell_text(cell, values) for cell in row.cells] for row in rows]
    if whole or any(cell.strip() for cell in table.head):
        yield Table(table.head, texts, _RIGHT, indent=2)
    else:
        with_bars = []
        for row, text in zip(rows, texts, strict=True):
            length = _MAX_BAR * evaluate_formula(row.bar, values) // 1000
            with_bars.append([*text, "#" * length])
        lines = format_columns([*table.head, "   "], with_bars, right=_RIGHT, indent=2)
        yield Figure(lambda _width: lines, tuple(f"{text[0]}: {text[1]}" for text in texts))
    if table.note:
        yield Paragraph(table.note, indent=2)


def cell_text(cell: str | CostCell, values: Values) -> str:
    """Return the text of a cell; its number is computed from the values of formulas."""
    return cell if isinstance(cell, str) else cell.text(values)


def to_json(model: CostModel, taken: Settings) -> dict[str, Any]:
    """Return settings, costs, and rows of tables by their first cell.

    A shape is a list, a ratio a float.  Cells in GiB are left out, as are rows whose condition is
    false.
    """
    values = model.formula_values(taken)

    def plain(cell: CostCell) -> object:
        numbers = [evaluate_formula(formula, values) for formula in cell.formulas]
        divisor = evaluate_formula(cell.over, values)
        if cell.unit == "shape":
            return numbers
        return numbers[0] if divisor == 1 else numbers[0] / divisor

    rows = {
        table.title: {
            row.cells[0]: [plain(cell) for cell in row.cells
                           if isinstance(cell, CostCell) and cell.unit != "iB"]
            for row in table.rows if evaluate_formula(row.condition, values)
        }
        for table in model.tables
    }  # fmt: skip
    return {"model": model.name, "settings": taken, "costs": values, "tables": rows}


def html(model: CostModel, taken: Settings, notes: Iterable[str]) -> tuple[str, str]:
    """Return the body and the script of an HTML page that begins with the settings `taken`."""
    values = model.formula_values(taken)
    buttons = " ".join(
        f'<button type="button" name="{preset}">{preset}</button>' for preset in model.presets
    )
    fields = "".join(_field(setting, str(taken[setting.name])) for setting in model.settings)
    tables = (block for table in model.tables for block in table_blocks(table, values, whole=True))
    body = (
        f"<header><style>\n{_CSS}</style><h1>What a model costs: {model.name}</h1>"
        f"<p>{escape(model.about)}</p></header>\n<aside>{buttons}\n{fields}</aside>\n<div>"
        f'<output aria-live="polite">{escape(chr(10).join(notes))}</output>\n'
        f"{render_html(tables)}</div>\n"
    )
    functions = re.sub(r'"(s => [^"]*)"', r"\1", json.dumps(_script_data(model)))
    return body, f"const MODEL = {functions};\n{_SCRIPT.read_text('utf-8')}"


def _script_data(model: CostModel) -> dict[str, object]:
    """Return the settings, rules and formulas of a model for its script."""
    settings = {}
    for setting in model.settings:
        settings[setting.name] = {**setting._asdict(), "stops": setting.slider_values()}
    rules = []
    for name, when, then, why in model.rules:
        rules.append((name, to_javascript(when), to_javascript(then), why))
    rows = []
    for table in model.tables:
        for row in table.rows:
            cells = [_script_cell(cell) for cell in row.cells]
            rows.append((to_javascript(row.condition), to_javascript(row.bar), cells))
    return {
        "settings": settings,
        "presets": model.presets,
        "rules": rules,
        "costs": [(name, to_javascript(formula)) for name, formula in model.costs.items()],
        "rows": rows,
    }


def _script_cell(cell: str | CostCell) -> tuple[str, str, list[str]] | None:
    if isinstance(cell, str):
        return None
    return cell.unit, to_javascript(cell.over), [*map(to_javascript, cell.formulas)]


def _field(setting: Setting, value: str) -> str:
    """Return a setting as a list of words, or as a number field with a slider."""
    name = setting.name
    if setting.words:
        options = ""
        for word in setting.words:
            selected = " selected" if word == value else ""
            options += f"<option{selected}>{word}</option>"
        field = f'<select id="{name}">{options}</select><span></span>'
    else:
        field = (
            f'<input type="number" id="{name}" value="{value}" min="{setting.least}"'
            f' max="{setting.most}"><input type="range" name="{name}" min="0"'
            f' max="{len(setting.slider_values()) - 1}" aria-label="{name}, slider">'
        )
    about = f'<span class="soft">{escape(setting.about)}</span>'
    return f'<div><label for="{name}">{name}</label>{field}{about}</div>\n'
