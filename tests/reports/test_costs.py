"""The page of what a model costs, and the script that works it out again."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import re
import shutil
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from grader.commands.explore import explore_model, write_page
from grader.costs import MODELS
from grader.costs.formulas import CostCell, CostModel, Settings, evaluate_formula
from grader.reports.blocks import render_terminal, render_text
from grader.reports.costs import html, page, to_json
from tests import pages
from tests.classroom.builders import Page
from tests.harness import each

# What the script finds in a browser: fields, sliders, an output, and the rows of all tables.
_BROWSER = """
const fields = FIELDS, sliders = {}, output = {}, listeners = {};
let rows;
const document = {
  getElementById: name => fields[name],
  querySelector: selector => selector === "output" ? output : sliders[selector] ??= {},
  querySelectorAll: () => rows ??= MODEL.rows.map(
    ([, , cells]) => ({style: {}, cells: cells.map(() => ({}))})),
  addEventListener: (type, listener) => listeners[type] = listener,
};
"""
_DRIVER = """
const found = GRID.map(wanted => {
  for (const [name, value] of Object.entries(wanted)) fields[name].value = value;
  listeners.input({target: {}});
  return {
    notes: output.textContent,
    rows: rows.map(({hidden, style, cells}) =>
      [!hidden, style.backgroundSize, cells.map(cell => cell.textContent ?? null)]),
  };
});
console.log(JSON.stringify(found));
"""


def grid(model: CostModel, count: int) -> list[dict[str, int | str]]:
    """Settings at random, some of which cannot be."""
    draw = random.Random(7)
    found = []
    for preset, _ in zip(itertools.cycle(model.presets.values()), range(count), strict=False):
        wanted = dict(preset)
        for one in draw.sample(model.settings, 4):
            numbers = [
                *one.slider_values(),
                0,
                -5,
                draw.randrange(10**4),
                draw.randrange(10**10),
                10**25,
            ]
            wanted[one.name] = draw.choice(list(one.words) or numbers)
        found.append(wanted)
    return found


def worked_out(model: CostModel, wanted: Settings) -> dict[str, Any]:
    taken, notes = model.resolve_settings(wanted)
    known = model.formula_values(taken)
    rows = [
        [bool(evaluate_formula(row.condition, known)), _percent(evaluate_formula(row.bar, known)),
         [cell.text(known) if isinstance(cell, CostCell) else None for cell in row.cells]]
        for table in model.tables for row in table.rows
    ]  # fmt: skip
    return {"notes": "\n".join(notes), "rows": rows}


def _percent(permille: int) -> str:
    return f"{permille / 10:g}% 100%"


@pytest.mark.skipif(shutil.which("node") is None, reason="the script is run by node")
@pytest.mark.parametrize("name", MODELS)
def test_the_script_computes_the_same_values_as_python(name: str) -> None:
    model = MODELS[name]
    asked = grid(model, 120)
    _, script = html(model, *model.resolve_settings(next(iter(model.presets.values()))))
    typed = [{key: str(one) for key, one in wanted.items()} for wanted in asked]
    fields = {key: {"value": one} for key, one in typed[0].items()}
    browser = _BROWSER.replace("FIELDS", json.dumps(fields))
    program = f'"use strict";{browser}{script}{_DRIVER.replace("GRID", json.dumps(typed))}'
    ended = subprocess.run(["node", "-"], input=program, capture_output=True, text=True, check=True)
    for wanted, found in zip(asked, json.loads(ended.stdout), strict=True):
        assert found == worked_out(model, wanted), wanted


def shown(name: str, **changed: int | str) -> str:
    """The page for a terminal of 80 columns."""
    model = MODELS[name]
    preset = next(iter(model.presets))
    taken, notes = model.resolve_settings({**model.presets[preset], **changed})
    return pages.text(render_terminal(list(page(model, preset, taken, notes)), 80))


@each("name", MODELS)
def test_a_page_fits_eighty_columns_and_says_its_units(name: str) -> None:
    text = shown(name, batch=8, precision="mixed", heads=48) if name != "mlp" else shown(name)
    assert max(map(len, text.splitlines())) <= 80
    assert "1 GB is 10^9 bytes, 1 GiB 2^30." in " ".join(text.split())


def test_a_page_has_all_settings_their_corrections_and_every_number() -> None:
    text = shown("transformer", heads=48, attention="explicit")
    assert text.startswith("transformer  7b\n")
    assert "heads 48: heads split a width of 4,096 into even parts; 32 is counted." in text
    assert re.search("^  weights +13.48 GB +12.55 GiB  ", text, re.MULTILINE)
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in text.splitlines() if line}
    assert rows["softmax"] == "(1, 32, 4096, 4096) batch, heads, seq, seq 1.07 GB"
    assert rows["scores"] == "(1, 32, 4096, 4096) batch, heads, seq, seq -"
    assert "logsumexp" not in text


def test_rows_that_an_optimizer_lacks_are_left_out_and_bars_show_shares_of_the_total() -> None:
    text = shown("transformer", precision="fp32", optimizer="sgd")
    assert "moments of the optimizer" not in text
    assert "fp32 copy of the weights" not in text
    bars = re.findall(r"GiB  (#+)$", text, re.MULTILINE)
    assert [len(bar) for bar in bars] == [5, 5, 8]


def test_a_page_read_aloud_has_no_bars() -> None:
    model = MODELS["mlp"]
    text = render_text(page(model, "digits", model.presets["digits"], []), aloud=True)
    assert "#" not in text
    assert "weights: 1.63 MB\n" in text


def test_numbers_in_json_are_whole_and_shapes_are_lists() -> None:
    model = MODELS["transformer"]
    content = json.loads(json.dumps(to_json(model, model.presets["70b"])))
    assert content["costs"]["params"] == 70_553_706_496
    assert content["settings"]["recompute"] == "none"
    tables = content["tables"]
    assert tables["Activations of each layer"]["up"] == [[1, 8192, 28672], 469_762_048]
    assert tables["In short"]["work of a step"] == [4_031_874_779_316_224]
    assert tables["Products of the forward pass: (m, k) times (k, n)"]["gate"][-1] == 3584.0


@each("name", MODELS)
def test_an_html_page_fetches_nothing_and_runs_only_its_own_script(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / "costs.html"
    explored = explore_model(name, ["batch=0"])
    write_page(explored, file)
    content = file.read_text("utf-8")
    found = Page.of(content)
    assert found.wrong == found.open == []
    assert found.tags.keys() & {"link", "img", "iframe", "object", "form", "base"} == set()
    assert found.tags["script"] == 1
    acting = ("on", "href", "src")
    assert [one for _, one, _ in found.attributes if one.startswith(acting)] == []
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|fetch|import\(|eval", content)
    script = content.partition("<script>")[2].partition("</script>")[0]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in content
    assert "batch 0: from 1 to 1,000,000,000; 1 is counted." in found.text
    named = [value for _, one, value in found.attributes if one == "id"]
    labels = [value for tag, one, value in found.attributes if (tag, one) == ("label", "for")]
    assert named == labels == [one.name for one in explored.model.settings]


@each("name", MODELS)
def test_the_page_and_its_script_have_the_same_rows(name: str) -> None:
    model = MODELS[name]
    body, _ = html(model, next(iter(model.presets.values())), ["<b>"])
    rows = [row.count("<td>") for row in re.findall("<tr>(.*?)</tr>", body) if "<td>" in row]
    assert rows == [len(row.cells) for table in model.tables for row in table.rows]
    assert "&lt;b&gt;" in body
