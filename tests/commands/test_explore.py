"""`drill explore`: pages, faults, and the screen that arrows play on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Static

from grader.commands import explore, output
from grader.commands.explore_screen import Explorer
from grader.costs import MODELS
from tests.commands.conftest import Drill
from tests.harness import each


def test_what_is_set_is_printed_once(real: Drill) -> None:
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
    ("words", "said"),
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
def test_a_fault_is_one_sentence(real: Drill, words: str, said: str) -> None:
    real("explore", *words.split()).refused(said)


def test_a_page_for_a_browser_is_written(real: Drill) -> None:
    ended = real("explore", "mlp", "--html", "costs.html", "--set", "hidden=0")
    assert ended.out == (
        "hidden 0: from 1 to 1,000,000,000; 1 is counted.\n"
        "the page is in costs.html; any browser shows it, and it fetches nothing\n"
    )
    assert Path("costs.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_without_textual_a_terminal_gets_the_page_and_what_to_install(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "is_dialog", lambda: True)
    monkeypatch.setattr(explore, "find_spec", lambda _: None)
    ended = real("explore", "mlp")
    assert "Memory of each GPU" in ended.out
    assert ended.err == (
        "drill: setting sizes with arrows needs textual\n    pip install 'drill-dl[explore]'\n"
    )


def test_a_terminal_gets_the_screen_with_the_sizes_of_a_preset(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Explorer] = []
    monkeypatch.setattr(output, "is_dialog", lambda: True)
    monkeypatch.setattr(Explorer, "run", lambda app: begun.append(app))
    monkeypatch.setenv("TERM", "xterm")
    assert real("explore", "--preset", "70b").out == ""
    assert begun[0].wanted_settings == MODELS["transformer"].presets["70b"]
    assert begun[0].marked == "reverse"
    monkeypatch.setenv("NO_COLOR", "1")
    real("explore", "mlp")
    assert begun[1].marked == ""
    for name, value in (("TERM", "dumb"), ("DRILL_PLAIN", "1")):
        monkeypatch.setenv(name, value)
        assert "weights" in real("explore", "mlp").out
    assert len(begun) == 2


def screens(name: str, size: tuple[int, int], *keys: Iterable[str]) -> list[dict[str, str]]:
    """What each text of the screen says at first, and after some keys each."""
    model = MODELS[name]
    shown: list[dict[str, str]] = []

    async def play() -> None:
        app = Explorer(model, next(iter(model.presets.values())), reverse=False)
        async with app.run_test(size=size) as pilot:
            for some in ((), *keys):
                await pilot.press(*some)
                found: dict[str, Any] = {str(one.id): one.content for one in app.query(Static)}
                shown.append({key: str(text) for key, text in found.items()})
                bottom = max(one.region.bottom for one in app.query(Static) if one.id is None)
                assert bottom <= size[1]

    asyncio.run(play())
    return shown


@each("size", [(80, 24), (120, 40)])
def test_arrows_choose_a_setting_and_set_it(size: tuple[int, int]) -> None:
    first, second, third = screens("transformer", size, ["right"], ["down", "left", "left"])
    assert ">layers    32 " in first["settings"]
    assert max(map(len, first["settings"].splitlines())) <= 80
    assert first["about"] == "layers: of attention and MLP"
    assert first["short"].startswith("parameters 6,738,415,616, memory of each GPU 129.61 GB")
    assert ">layers    48 " in second["settings"]
    assert second["short"] != first["short"]
    assert ">width     2048 " in third["settings"]
    assert "Memory of each GPU" in third["costs"]


def test_arrows_step_over_what_cannot_be() -> None:
    start, down = ["down", "down", "right"], ["down", "left"]
    _, right, left, shared = screens("transformer", (80, 24), start, ["left"], down)
    assert ">heads     64 " in right["settings"]  # 48 heads do not split a width of 4,096
    assert ">heads     32 " in left["settings"]
    assert ">kv_heads  16 " in shared["settings"]  # nor is 24 shared by 32


def test_digits_are_a_number_and_what_cannot_be_is_said() -> None:
    *_, typed, right, below = screens(
        "transformer", (80, 24), ["down", "down", "4", "8"], ["right"], ["down", "7", "down", "5"]
    )
    assert ">heads     48 " in typed["settings"]
    heads = "heads 48: heads split a width of 4,096 into even parts; 32 is counted."
    assert typed["about"] == heads
    assert ">heads     64 " in right["settings"]
    assert right["about"] == "heads: of queries"
    assert below["about"] == "kv_heads 7: each serves as many of 64 heads; 8 is counted."
    assert ">mlp       gated " in below["settings"]  # a word is not typed


def test_a_question_mark_shows_what_the_keys_do() -> None:
    _, first, more, less = screens("transformer", (80, 24), ["down"], ["question_mark"], ["tab"])
    assert "left and right change it" in more["about"]
    assert first["about"] == less["about"] != more["about"]
    assert first["settings"] == more["settings"]


def test_words_have_ends_views_turn_and_a_preset_sets_everything() -> None:
    stage = ["up", "up", "right"]
    two, end, first, work, preset = screens(
        "mlp", (80, 24), [*stage, "right"], ["right"] * 3, ["left"] * 5, ["tab"], ["p"]
    )[1:]
    for number, screen in ((2, two), (3, end), (0, first)):
        assert f">zero      {number}" in screen["settings"]
    assert "Work of a step" in work["costs"]
    assert "Memory" not in work["costs"]
    assert " hidden    11008 " in preset["settings"]


def test_a_view_that_is_longer_than_the_screen_scrolls_and_q_ends() -> None:
    model = MODELS["transformer"]

    async def play() -> None:
        app = Explorer(model, model.presets["7b"], reverse=True)
        async with app.run_test(size=(80, 24)) as pilot:
            await pilot.press("tab", "tab", "tab", "pagedown")
            scrolled = app.query_one("VerticalScroll").scroll_y
            await pilot.press("pageup", "x")
            assert (scrolled > 5, app.query_one("VerticalScroll").scroll_y) == (True, 0)
            await pilot.press("q")
        assert app.return_code == 0

    asyncio.run(play())
