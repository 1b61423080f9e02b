"""`drill explore`: its pages, its errors, and its screen."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from grader.commands import explore_screen, output
from grader.commands.explore_screen import Explorer
from grader.costs import MODELS
from grader.reports import text_layout
from tests.commands.conftest import Drill
from tests.commands.on_terminal import OnTerminal
from tests.harness import each


def test_with_settings_the_costs_are_printed_once(real: Drill) -> None:
    ended = real("explore", "transformer", "--set", "layers=80", "--set", "heads=48")
    assert (ended.status, ended.err) == (0, "")
    assert "layers 80, width 4096, heads 32," in ended.out
    assert "heads 48: heads split a width of 4,096 into even parts; 32 is counted." in ended.out
    assert real("explore").out == real("explore", "transformer", "--preset", "7b").out
    assert "weights: 1.63 MB" in real("--plain", "explore", "mlp").out


def test_json_has_settings_notes_and_whole_numbers(real: Drill) -> None:
    content = real("explore", "mlp", "--set", "batch=0", "--json").data
    assert content["notes"] == ["batch 0: from 1 to 1,000,000,000; 1 is counted."]
    assert content["settings"]["batch"] == 1
    assert content["costs"]["params"] == 407_050


@each(
    ("words", "message"),
    [
        ("transfomer", "no model transfomer; did you mean 'transformer'?"),
        ("mlp --preset 7b", "no preset 7b\n    one of digits, wide"),
        ("--set layer=3", "no setting layer; did you mean 'layers'?"),
        ("--set layers", "--set: expected NAME=VALUE, such as batch=8, found layers"),
        ("--set layers=many", "--set layers: expected a whole number, found many"),
        ("--set layers=1.5", "--set layers: expected a whole number, found 1.5"),
        (f"--set layers={'9' * 5000}", f"expected a whole number, found {'9' * 40}\n"),
        ("--set attention=flash", "no attention flash"),
        ("--html costs.py", "--html: expected a name that ends in .html, found costs.py"),
        ("--html nowhere/costs.html", "can be written, found nowhere/costs.html"),
    ],
)
def test_a_fault_is_one_sentence(real: Drill, words: str, message: str) -> None:
    real("explore", *words.split()).refused(message)


def test_a_page_for_a_browser_is_written(real: Drill) -> None:
    ended = real("explore", "mlp", "--html", "costs.html", "--set", "hidden=0")
    assert ended.out == (
        "hidden 0: from 1 to 1,000,000,000; 1 is counted.\n"
        "the page is in costs.html; any browser shows it, and it fetches nothing\n"
    )
    assert Path("costs.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_terminal_gets_the_screen_with_the_sizes_of_a_preset(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Explorer] = []
    monkeypatch.setattr(output, "is_dialog", lambda: True)
    monkeypatch.setattr(explore_screen, "show_explorer", begun.append)
    monkeypatch.setenv("TERM", "xterm")
    assert real("explore", "--preset", "70b").out == ""
    assert begun[0].requested_settings == MODELS["transformer"].presets["70b"]
    for name, value in (("TERM", "dumb"), ("DRILL_PLAIN", "1")):
        monkeypatch.setenv(name, value)
        assert "weights" in real("explore", "mlp").out
    assert len(begun) == 1


def screens(name: str, *keys: Iterable[str], width: int = 80, rows: int = 22) -> list[str]:
    """Return the screen at first, and after each group of keys."""
    model = MODELS[name]
    explorer = Explorer(model, next(iter(model.presets.values())))
    shown = []
    for group in ((), *keys):
        for key in group:
            explorer.press(key)
        lines = [text_layout.without_styles(line) for line in explorer.lines(width, rows)]
        assert len(lines) <= rows
        assert max(map(len, lines)) <= width
        shown.append("\n".join(lines))
    return shown


@each(("width", "rows"), [(80, 22), (120, 38)])
def test_arrows_choose_a_setting_and_change_it(width: int, rows: int) -> None:
    keys = (["right"], ["down", "left", "left"])
    first, second, third = screens("transformer", *keys, width=width, rows=rows)
    assert ">layers    32 " in first
    assert "\nlayers: of attention and MLP\n" in first
    assert "parameters 6,738,415,616, memory of each GPU 129.61 GB" in first
    assert ">layers    48 " in second
    assert "parameters 9,976,549,376" in second
    assert ">width     2048 " in third
    assert "Memory of each GPU" in third


def test_arrows_skip_impossible_values() -> None:
    start, down = ["down", "down", "right"], ["down", "left"]
    _, right, left, shared = screens("transformer", start, ["left"], down)
    assert ">heads     64 " in right  # 48 heads do not split a width of 4,096
    assert ">heads     32 " in left
    assert ">kv_heads  16 " in shared  # nor is 24 shared by 32


def test_digits_type_a_number_and_an_impossible_one_is_explained() -> None:
    *_, typed, right, below = screens(
        "transformer", ["down", "down", "4", "8"], ["right"], ["down", "7", "down", "5"]
    )
    assert ">heads     48 " in typed
    heads = "heads 48: heads split a width of 4,096 into even parts; 32 is counted."
    assert heads in typed
    assert ">heads     64 " in right
    assert "heads: of queries" in right
    assert "kv_heads 7: each serves as many of 64 heads; 8 is counted." in below
    assert ">mlp       gated " in below  # a word is not typed


def test_a_question_mark_shows_what_the_keys_do() -> None:
    _, first, more, less = screens("transformer", ["down"], ["?"], ["\t"])
    assert "left and right change it" in more
    assert "width: " in first
    assert "width: " not in more
    assert "width: " in less


def test_words_have_ends_tab_turns_views_and_a_preset_sets_everything() -> None:
    stage = ["up", "up", "right"]
    two, end, first, work, preset = screens(
        "mlp", [*stage, "right"], ["right"] * 3, ["left"] * 5, ["\t"], ["p"]
    )[1:]
    for number, screen in ((2, two), (3, end), (0, first)):
        assert f">zero      {number}" in screen
    assert "Work of a step" in work
    assert "Memory of each GPU" not in work
    assert " hidden    11008 " in preset


def test_a_view_that_is_longer_than_the_screen_has_pages() -> None:
    whole = screens("transformer", ["\t"], rows=500)[1]
    _, first, last, beyond, again = screens(
        "transformer", ["\t"], ["page down"], ["page down"] * 9, ["page up"] * 9
    )
    assert again == first != last == beyond
    assert whole.splitlines()[-1] == last.splitlines()[-1]


@pytest.mark.parametrize("end", ["q", "\x03"])
def test_the_screen_shows_what_keys_change_and_q_or_ctrl_c_ends(home: Path, end: str) -> None:
    here = OnTerminal("explore")
    here.until(">layers    32 ")
    here.until("q: quit")
    here.type("\x1b[C")
    here.until(">layers    48 ")
    here.type("\x1bOD")
    here.until(">layers    32 ")
    here.until("q: quit")
    here.resize(40, 12)
    here.until("arrows, digits: set  q: quit")
    here.type(end)
    assert here.ended() == 0
