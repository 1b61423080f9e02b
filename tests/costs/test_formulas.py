"""Formulas in Python and in JavaScript, and invalid settings."""

from __future__ import annotations

import ast
import operator
import re
from typing import Any

import pytest

from grader.costs import MODELS, formulas
from grader.costs.formulas import (
    CostCell,
    CostModel,
    evaluate_formula,
    nearest_divisor,
    to_javascript,
)
from tests.harness import each

MODEL = MODELS["transformer"]
LARGE = {
    "layers": 10**9,
    "width": 10**9,
    "heads": 10_000,
    "kv_heads": 10,
    "seq": 10**9,
    "batch": 10**9,
}


def every_formula(model: CostModel) -> list[str]:
    """Return the formulas of costs, rules, rows and cells."""
    rows = [row for table in model.tables for row in table.rows]
    cells = [cell for row in rows for cell in row.cells if isinstance(cell, CostCell)]
    return [
        *model.costs.values(),
        *(formula for _, broken, instead, _ in model.rules for formula in (broken, instead)),
        *(formula for row in rows for formula in (row.condition, row.bar)),
        *(formula for cell in cells for formula in (*cell.formulas, cell.over)),
    ]


@each("model", MODELS.values())
def test_a_formula_in_javascript_is_the_same_as_in_python(model: CostModel) -> None:
    """Translated back, it is the same tree.  BigInt divides like // if nothing is negative."""
    for formula in every_formula(model):
        text = to_javascript(formula).removeprefix("s => ")
        back = "".join(map(_plain, re.findall(r"s\.\w+|\w+|\W", text)))
        assert ast.dump(ast.parse(back)) == ast.dump(ast.parse(formula)), formula


def _plain(word: str) -> str:
    if word[0].isdigit():
        assert word.endswith("n")  # BigInt
        return word[:-1]
    assert word.startswith("s.") or not word.isidentifier() or word in formulas._FUNCTIONS
    return "//" if word == "/" else word.removeprefix("s.")


@each(("name", "preset"), [(name, preset) for name in MODELS for preset in MODELS[name].presets])
def test_nothing_in_a_formula_is_negative(
    monkeypatch: pytest.MonkeyPatch, name: str, preset: str
) -> None:
    def subtract(first: int, second: int) -> int:
        assert first >= second
        return first - second

    monkeypatch.setitem(formulas._OPERATIONS, ast.Sub, subtract)
    model = MODELS[name]
    for setting in model.settings:
        for stop in setting.words or (
            setting.least,
            *setting.slider_values()[4:20:5],
            setting.most,
        ):
            settings, _ = model.resolve_settings({**model.presets[preset], setting.name: stop})
            values = model.formula_values(settings)
            for formula in every_formula(model):
                evaluate_formula(formula, values)
    monkeypatch.setitem(formulas._OPERATIONS, ast.Sub, operator.sub)


def test_only_arithmetic_over_names_is_a_formula() -> None:
    assert evaluate_formula("max(2 * a, divisor(12, 5)) % 7 // 2", {"a": 3}) == 3
    for text in ("a ** 2", "a.b", "'a'", "a if b else c", "print(a, b)", "-a"):
        with pytest.raises((ValueError, KeyError)):
            evaluate_formula(text, {"a": 1, "b": 1, "c": 1})


@each(
    ("number", "near", "divisor"),
    [(4096, 48, 32), (4096, 50, 64), (32, 5, 4), (7, 3, 1), (7, 6, 7), (12, 12, 12), (1, 9, 1),
     (6, 100, 6), (499_999_993, 10_000, 1)],
)  # fmt: skip
def test_the_nearest_divisor(number: int, near: int, divisor: int) -> None:
    assert nearest_divisor(number, near) == divisor


@each(
    ("unit", "number", "over", "text"),
    [("B", 0, 1, "-"), ("B", 999, 1, "999 B"), ("B", 1000, 1, "1.00 KB"),
     ("iB", 1023, 1, "1,023 B"), ("iB", 1 << 30, 1, "1.00 GiB"),
     ("B", 13_476_831_232, 1, "13.48 GB"),
     ("B", 999_995_000, 1, "1,000 MB"), ("FLOP", 10**24, 1, "1,000,000 EFLOP"),
     ("FLOP", 12, 1, "12 FLOP"), ("FLOP/B", 5, 2, "2.50 FLOP/B"), ("", 1, 8, "0.13"),
     ("", 12_345_678, 1, "12,345,678"), ("%", 1, 200, "0.01 %")],
)  # fmt: skip
def test_numbers_are_formatted_with_their_unit(
    unit: str, number: int, over: int, text: str
) -> None:
    assert CostCell(unit, ("a",), "b").text({"a": number, "b": over}) == text


def test_whole_numbers_are_exact_however_large() -> None:
    large = {**MODEL.presets["7b"], **LARGE, "attention": "explicit"}
    settings, notes = MODEL.resolve_settings(large)
    values = MODEL.formula_values(settings)
    assert notes == []
    assert values["pairs"] == 4 * 10**9 * 10**9 * 10**18 * 10**9
    assert values["pairs"] > 2**150


def sentences(**sizes: int) -> tuple[list[str], dict[str, Any]]:
    settings, notes = MODEL.resolve_settings({**MODEL.presets["7b"], **sizes})
    return notes, {name: settings[name] for name in sizes}


def test_an_invalid_setting_gets_a_sentence_and_the_nearest_valid_value() -> None:
    assert sentences(heads=64) == ([], {"heads": 64})
    assert sentences(heads=48, kv_heads=5) == (
        ["heads 48: heads split a width of 4,096 into even parts; 32 is counted.",
         "kv_heads 5: each serves as many of 32 heads; 4 is counted."],
        {"heads": 32, "kv_heads": 4},
    )  # fmt: skip
    assert sentences(layers=0, gpus=-3) == (
        ["layers 0: from 1 to 1,000,000,000; 1 is counted.",
         "gpus -3: from 1 to 1,000,000,000; 1 is counted."],
        {"layers": 1, "gpus": 1},
    )  # fmt: skip
    notes, settings = sentences(width=10**20, heads=10**20, kv_heads=10**20)
    assert settings == {"width": 10**9, "heads": 10_000, "kv_heads": 10_000}
    assert [note.split(":")[0] for note in notes] == [
        f"{name} 100,000,000,000,000,000,000" for name in ("width", "heads", "kv_heads")
    ]
    notes, settings = sentences(width=7, heads=7)
    assert settings == {"width": 6, "heads": 3}
    assert notes[0] == "width 7: rotation needs an even width; 6 is counted."
    assert sentences(heads=10**6)[0][0] == (
        "heads 1,000,000: heads split a width of 4,096 into even parts; 2,048 is counted."
    )
