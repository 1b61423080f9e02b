"""What a model costs: blocks of a page, and a page of HTML whose settings can be moved.

The page of HTML has the same blocks and, as JavaScript, the formulas that they are made of: its
script works the cells of the tables out again, in their order, whenever something is set.  So no
number is written twice, and without scripts the page shows what Python has worked out.
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
from grader.reports import blocks, text_layout
from grader.reports.blocks import BlankLine, Blocks, Figure, Heading, Paragraph, render_html

_BAR = 20  # cells of the longest bar
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
    """Everything that a model costs where these settings are taken."""
    values = model.formula_values(taken)
    yield Heading(title, name=model.name)
    yield Paragraph(model.about)
    yield BlankLine()
    said = (f"{one.name} {taken[one.name]}" for one in model.settings)
    yield Paragraph(f"{', '.join(said)}.")
    yield from (Paragraph(note, hang=4) for note in notes)
    for table in model.tables:
        yield from table_blocks(table, values)


def table_blocks(table: CostTable, values: Values, *, whole: bool = False) -> Blocks:
    """A table as blocks; `whole`: with the rows that are not there."""
    yield Heading(table.title)
    rows = [row for row in table.rows if whole or evaluate_formula(row.condition, values)]
    texts = [[cell_text(cell, values) for cell in row.cells] for row in rows]
    if whole or any(map(str.strip, table.head)):
        yield blocks.Table(table.head, texts, _RIGHT, indent=2)
    else:
        bars = ["#" * (_BAR * evaluate_formula(row.bar, values) // 1000) for row in rows]
        drawn = [[*text, bar] for text, bar in zip(texts, bars, strict=True)]
        lines = text_layout.format_columns([*table.head, "   "], drawn, right=_RIGHT, indent=2)
        yield Figure(lambda _width: lines, tuple(f"{text[0]}: {text[1]}" for text in texts))
    if table.note:
        yield Paragraph(table.note, indent=2)


def cell_text(cell: str | CostCell, values: Values) -> str:
    """What is shown in a row."""
    return cell if isinstance(cell, str) else cell.text(values)


def to_json(model: CostModel, taken: Settings) -> dict[str, Any]:
    """Settings and every number; of each table the rows, a shape as a list, a ratio as a float."""
    values = model.formula_values(taken)

    def plain(cell: CostCell) -> object:
        numbers = [evaluate_formula(one, values) for one in cell.formulas]
        over = evaluate_formula(cell.over, values)
        return numbers if cell.unit == "shape" else numbers[0] if over == 1 else numbers[0] / over

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
    """The body of a page that begins with these settings, and its script."""
    values = model.formula_values(taken)
    buttons = " ".join(
        f'<button type="button" name="{one}">{one}</button>' for one in model.presets
    )
    fields = "".join(_field(one, str(taken[one.name])) for one in model.settings)
    shown = (block for table in model.tables for block in table_blocks(table, values, whole=True))
    body = (
        f"<header><style>\n{_CSS}</style><h1>What a model costs: {model.name}</h1>"
        f"<p>{escape(model.about)}</p></header>\n<aside>{buttons}\n{fields}</aside>\n<div>"
        f'<output aria-live="polite">{escape(chr(10).join(notes))}</output>\n'
        f"{render_html(shown)}</div>\n"
    )
    content = {
        "settings": {one.name: {**one._asdict(), "stops": one.slider_values()} for one in model.settings},
        "presets": model.presets,
        "rules": [(name, to_javascript(when), to_javascript(then), why) for name, when, then, why in model.rules],
        "costs": [(name, to_javascript(formula)) for name, formula in model.costs.items()],
        "rows": [
            (to_javascript(row.condition), to_javascript(row.bar),
             [None if isinstance(cell, str) else
              (cell.unit, to_javascript(cell.over), [*map(to_javascript, cell.formulas)]) for cell in row.cells])
            for table in model.tables for row in table.rows
        ],
    }  # fmt: skip
    functions = re.sub(r'"(s => [^"]*)"', r"\1", json.dumps(content))
    return body, f"const MODEL = {functions};\n{_SCRIPT.read_text('utf-8')}"


def _field(one: Setting, now: str) -> str:
    """A setting as what can be typed, chosen or moved."""
    if one.words:
        options = (f"<option{' selected' * (word == now)}>{word}</option>" for word in one.words)
        field = f'<select id="{one.name}">{"".join(options)}</select><span></span>'
    else:
        field = (
            f'<input type="number" id="{one.name}" value="{now}" min="{one.least}"'
            f' max="{one.most}"><input type="range" name="{one.name}" min="0"'
            f' max="{len(one.slider_values()) - 1}" aria-label="{one.name}, slider">'
        )
    about = f'<span class="soft">{escape(one.about)}</span>'
    return f'<div><label for="{one.name}">{one.name}</label>{field}{about}</div>\n'
