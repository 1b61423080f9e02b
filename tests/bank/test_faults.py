"""What one key may hold: each fault with its place, what was expected, what was found, the nearest key."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bank.specs import Problems, loaded

KINDS = (
    "outputs, gradcheck, conservation, side-effects, state, numbers, curve, graph, memory, flops, "
    "performance, peak, choices, findings, causes, verdicts"
)
LIBRARIES = "'numpy' or 'torch'"


def test_the_small_spec_is_right(tmp_path: Path) -> None:
    question = loaded(tmp_path)
    assert question.functions == ("scale", "scale_backward")
    assert question.spec.runs == {
        "main": ["y, ctx = scale(x, factor)", "grad_x = scale_backward(grad_y, ctx)"]
    }
    assert list(question.variants) == ["adds-it"]
    assert question.driver is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format: 2", "format: 3", "1:9: format: expected 2, found the number 3"),
        ("A scaled copy", "''", "2:8: title: expected some text, found the text ''"),
        (
            "track: basics",
            "track: Basic Things",
            "3:8: track: expected lower-case words joined by hyphens, found the text 'Basic Things'",
        ),
        ("warm-up", "warm-upp", "4:8: level: expected one of 'warm-up', 'core' or 'senior', found the text 'warm-upp'; did you mean 'warm-up'?"),
        ("minutes: 5", "minutes: 5.5", "5:10: minutes: expected a whole number, found the number 5.5"),
        ("minutes: 5", "minutes: .nan", "5:10: minutes: expected a whole number, found the number nan"),
        ("minutes: 5", "minutes: 0", "5:10: minutes: expected a number above 0, found the number 0"),
        ("[numpy]", "numpy", "6:7: uses: expected a list, found the text 'numpy'"),
        ("prompt: Multiply x.", "prompt:", "7:8: prompt: expected text, found nothing"),
        (
            "hints: [Twice 3 is what]",
            "hints: Twice 3 is what",
            "22:8: hints: expected a list, found the text 'Twice 3 is what'",
        ),
        ("answer: A copy.", "answer: 0", "24:39: follow_ups[0].answer: expected text, found the number 0"),
        (
            "  small: {x",
            "  Small Case: {x",
            "13:15: cases.Small Case: expected lower-case words joined by hyphens, found the text 'Small Case'",
        ),
        (
            "of: y}",
            "of: y, stretch: 1}",
            "16:50: checks[0].stretch: expected true or false, found the number 1",
        ),
        (
            "of: y}",
            "of: y z}",
            "16:38: checks[0].of: expected a name (letters, digits, _) or a list, found the text 'y z'",
        ),
        (
            "kind: outputs, of: y",
            "of: y",
            "16:5: checks[0]: expected a mapping with the key 'kind', found a mapping with id, of",
        ),
        (
            "kind: outputs, of: y",
            "kind: 7, of: y",
            f"16:25: checks[0].kind: expected one of {KINDS}, found 7",
        ),
        (
            "kind: outputs, of: y",
            "kind: performance, at_most: -1",
            "16:47: checks[0].at_most: expected a number above 0.0, found the number -1",
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_is_placed_and_named(
    said: Problems, old: str, new: str, message: str
) -> None:
    assert message in said(old, new)


@pytest.mark.parametrize(
    "key", ["title", "track", "level", "minutes", "uses", "prompt", "run", "cases"]
)
def test_a_missing_key_is_asked_for(said: Problems, key: str) -> None:
    found = said(f"\n{key}:", "\nzzz:")
    assert f"1:1: the question: expected the key '{key}', found none" in found


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "kind: outputs, of: y}",
            "kind: outputs, of: y, about: right, and fast}",
            "16:55: checks[0]: found the unknown key 'and fast'; is it the end of a text? "
            "A text that holds a comma needs quotes here",
        ),
        ("hints:", "hint:", "22:1: the question: found the unknown key 'hint'; did you mean 'hints'?"),
        ("of: y}", "off: y}", "16:34: checks[0]: found the unknown key 'off'; did you mean 'of'?"),
        (
            "killed_by: forward",
            "killed: forward",
            "20:5: misconceptions.adds-it: found the unknown key 'killed'; did you mean 'killed_by'?",
        ),
        (
            "{ask: And without factor,",
            "{zzz: 1, ask: And without factor,",
            "24:6: follow_ups[0]: found the unknown key 'zzz'; known keys: ask, answer",
        ),
    ],
)  # fmt: skip
def test_an_unknown_key_suggests_the_nearest(
    said: Problems, old: str, new: str, message: str
) -> None:
    assert message in said(old, new)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("run: []", "9:6: run: expected at least one entry or a mapping, found a list of 0"),
        ("run: {main: []}", "9:13: run.main: expected at least one entry, found a list of 0"),
        ("run: y = f(x)", "9:6: run: expected a list or a mapping, found the text 'y = f(x)'"),
        ("run: {main: [3]}", "9:14: run.main[0]: expected text, found the number 3"),
    ],
)
def test_a_run_without_steps_is_refused(said: Problems, run: str, message: str) -> None:
    steps = "run:\n  - y, ctx = scale(x, factor)\n  - grad_x = scale_backward(grad_y, ctx)"
    assert message in said(steps, run)


def test_all_faults_of_a_file_are_said_at_once_in_its_order(said: Problems) -> None:
    found = said(
        "minutes: 5", "minutes: long",
        "[numpy]", "[numpy, jax]",
        "of: y}", "of: y, exat: 1}",
        "killed_by: forward", "killed_by: 3",
    )  # fmt: skip
    assert found == [
        "5:10: minutes: expected a whole number, found the text 'long'",
        f"6:15: uses[1]: expected one of {LIBRARIES}, found the text 'jax'",
        "16:41: checks[0]: found the unknown key 'exat'; did you mean 'exact'?",
        "20:16: misconceptions.adds-it.killed_by: expected text or a list, found the number 3",
    ]
