"""What one key may hold: each fault with its place, what was expected, what was found, the nearest key."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel, Field, ValidationError, create_model

from grader.bank.validation_errors import validation_errors
from grader.grading.kinds import registry
from tests.bank.specs import edited, load_problems, one_file, problems

FIRST = "kind: outputs, of: y"  # of the check `forward`, line 16
STEPS = "run:\n  - y, ctx = scale(x, factor)\n  - grad_x = scale_backward(grad_y, ctx)"
PARTS = Path(__file__).parents[1] / "banks" / "parts"
IN_PARTS = (PARTS / "questions" / "mean-and-spread.yaml").read_text(encoding="utf-8")
ALL_PARTS = IN_PARTS[IN_PARTS.index("parts:") : IN_PARTS.index("run:\n")]
CONTRACT = "    contract: [m is the arithmetic mean of the entries of x.]\n"


@pytest.mark.parametrize(
    "row",
    [
        ("format: 3", "format: 2", "1:1: format: expected 3, found the number 2"),
        ("A scaled copy", "''", "2:1: title: expected some text, found the text ''"),
        ("track: basics", "track: Basic Things", "3:1: track: expected lower-case words joined by hyphens, found the text 'Basic Things'"),
        ("warm-up", "warm-upp", "4:1: level: expected one of 'warm-up', 'core' or 'senior', found the text 'warm-upp'; did you mean 'warm-up'?"),
        ("minutes: 5", "minutes: 5.5", "5:1: minutes: expected a whole number, found the number 5.5"),
        ("minutes: 5", "minutes: .nan", "5:1: minutes: expected a whole number, found the number nan"),
        ("minutes: 5", "minutes: 0", "5:1: minutes: expected a number above 0, found the number 0"),
        ("[numpy]", "numpy", "6:1: uses: expected a list, found the text 'numpy'"),
        ("[numpy]", "[numpy, jax]", "6:15: uses[1]: expected one of 'numpy' or 'torch', found the text 'jax'"),
        ("prompt: Multiply x.", "prompt:", "7:1: prompt: expected text, found nothing"),
        ("prompt: Multiply x.", "prompt: {Note: this}", "7:1: prompt: expected text, found a mapping with Note; a text that holds ': ' needs quotes"),
        ("prompt: Multiply x.", "prompt: true", "7:1: prompt: expected text, found the word 'true'"),
        ("hints: [Twice 3 is what]", "hints: Twice 3 is what", "18:1: hints: expected a list, found the text 'Twice 3 is what'"),
        ("answer: A copy.", "answer: 0", "20:31: follow_ups[0].answer: expected text, found the number 0"),
        ("  small: {x", "  Small Case: {x", "13:3: cases.Small Case: expected lower-case words joined by hyphens, found the text 'Small Case'"),
        ("of: y}", "of: y, stretch: 1}", "16:41: checks[0].stretch: expected true or false, found the number 1"),
        ("of: y}", "of: y z}", "16:34: checks[0].of: expected a name (letters, digits, _) or a list, found the text 'y z'"),
        (FIRST, "kind: 7, of: y", f"16:19: checks[0].kind: expected one of {', '.join(registry.KINDS)}, found 7"),
        (FIRST, "kind: outptus, of: y", f"16:19: checks[0].kind: expected one of {', '.join(registry.KINDS)}, found 'outptus'; did you mean 'outputs'?"),
        (FIRST, "kind: performance, at_most: -1", "16:38: checks[0].at_most: expected a number above 0.0, found the number -1"),
        (FIRST, "kind: outputs, of: y, tolerance: {relative: 1.0e+9, because: any}", "16:53: checks[0].tolerance.relative: expected a number below 1.0, found the number 1000000000.0"),
        (FIRST, "kind: outputs, of: y, tolerance: {relative: 3, because: any}", "16:53: checks[0].tolerance.relative: expected a number below 1.0, found the number 3; write 0.03 for 3 %"),
        (FIRST, "kind: outputs, of: y, tolerance: {relative: 0.5 %, because: any}", "16:53: checks[0].tolerance.relative: expected a number, found the text '0.5 %'; write 0.005 for 0.5 %"),
        (FIRST, "kind: outputs, of: y, tolerance: {absolute: 3%, because: any}", "16:53: checks[0].tolerance.absolute: expected a number, found the text '3%'; write 0.03 for 3 %, as relative"),
        (FIRST, "kind: outputs, of: y, tolerance: {relative: 0, because: any}", "16:53: checks[0].tolerance.relative: expected a number above 0.0, found the number 0"),
        ("answer: A copy.", "answer: A copy., number: 3, within: 1", "20:59: follow_ups[0].within: expected a number below 1.0, found the number 1; write 0.01 for 1 %"),
        ("answer: A copy.", "answer: A copy., number: 3, within: 2.5%", "20:59: follow_ups[0].within: expected a number, found the text '2.5%'; write 0.025 for 2.5 %"),
        (FIRST, "kind: findings, of: y, wrong: [{lines: [1], reason: a, symptom: b}], innocent: {one: c}", "16:99: checks[0].innocent.one: expected the number of a line, found the text 'one'"),
        (FIRST, "kind: outputs, of: 3", "16:34: checks[0].of: expected text or a list, found the number 3"),
        ("small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}", "small: 3", "13:3: cases.small: expected a mapping, found the number 3"),
        (FIRST, "kind: outputs, of: y, about: right, and fast", "16:55: checks[0].and fast: found an unknown key; is it the end of a text? A text that holds a comma needs quotes here"),
        ("hints:", "hint:", "18:1: hint: found an unknown key; did you mean 'hints'?"),
        ("prompt:", "promt:", "7:1: promt: found an unknown key; did you mean 'prompt'?"),
        (FIRST, "kind: outputs, off: y", "16:34: checks[0].off: found an unknown key; did you mean 'of'?"),
        ("{ask: And without factor,", "{zzz: 1, ask: And without factor,", "20:6: follow_ups[0].zzz: found an unknown key; known keys: ask, answer, choice, right, number, array, within, points, ideas"),
        ("answer: A copy.", "answer: A copy., choice: [one]", "20:48: follow_ups[0].choice: expected at least 2 entries, found a list of 1"),
        ("answer: A copy.", "answer: A copy., number: []", "20:48: follow_ups[0].number: expected text, found a list of 0"),
        ("answer: A copy.", "answer: A copy., array: [[1, two]]", "20:60: follow_ups[0].array[0][1]: expected a number, found the text 'two'"),
        ("hints:", "teaches: [a, b, c, d]\nhints:", "18:1: teaches: expected at most 3 entries, found a list of 4"),
        ("hints:", f"teaches: [{'long ' * 30}]\nhints:", "18:11: teaches[0]: expected text of at most 110 characters, found the text 'long long long long long long long lo...'"),
        (STEPS, "run: []", "9:1: run: expected at least one entry or a mapping, found a list of 0"),
        (STEPS, "run: {main: []}", "9:7: run.main: expected at least one entry, found a list of 0"),
        (STEPS, "run: 3", "9:1: run: expected a list or a mapping, found the number 3"),
        (STEPS, "run: {main: [3]}", "9:14: run.main[0]: expected text, found the number 3"),
    ],
)  # fmt: skip
def test_one_fault_is_one_sentence_with_its_place(tmp_path: Path, row: tuple[str, ...]) -> None:
    *edits, message = row
    assert problems(tmp_path, edited(*edits)) == [message]


@pytest.mark.parametrize(
    "row",
    [
        ("points: 30", "points: 20", "6:1: parts: expected points that add up to 100, found 50 + 20 + 20 = 90"),
        ("points: 30", "points: lots", "20:5: parts[1].points: expected a whole number, found the text 'lots'"),
        ("points: 30", "marks: 30", "20:5: parts[1]: expected the key 'points', found none", "20:5: parts[1].marks: found an unknown key; known keys: id, points, minutes, prompt, interface, contract, checks, hints, follow_ups"),
        ("points: 30", "id: spread\n    points: 30", "29:5: parts[2].id: expected each id once, found 'spread' again"),
        ("  - id: spread", "  - id: 1", "28:5: parts[2].id: expected text, found the number 1"),
        ("cases: nothing, about", "case: nothing, about", "25:45: parts[1].checks[0].case: found an unknown key; did you mean 'cases'?"),
        ("kind: outputs, of: m, cases: nothing", "kind: outputs, of: n, cases: nothing", "25:38: parts[1].checks[0].of: expected a result of the run main, found 'n'; known: m"),
        ("    prompt: One worker now sends nothing at all.\n", "", "20:5: parts[1]: expected the key 'prompt', found none"),
        ("uses: [numpy]", "uses: [numpy]\nhints: [a]", "6:1: hints: found an unknown key; it is a key of a part here"),
        ("starter_holds: [sums]", "starter_hold: [sums]", "48:1: starter_hold: found an unknown key; did you mean 'starter_holds'?"),
        ("m, cases: nothing", "m, clause: 3, cases: nothing", "25:45: parts[1].checks[0].clause: expected the number of a clause up to 2, found 3"),
        ("m, cases: nothing", "m, clause: 0, cases: nothing", "25:45: parts[1].checks[0].clause: expected a number above 0, found the number 0"),
        ("killed_by: far", "killed_by: fra", "101:3: cancels.killed_by: expected the id of a check, found 'fra'; did you mean 'far'?"),
        (CONTRACT, "", "m, cases: [few, many]", "m, clause: 1, cases: [few, many]", "16:42: parts[0].checks[0].clause: expected the number of a clause of a contract, and there is none, found 1"),
        ("cases: [few, many]}\n      - {id: far, run: spread, kind: outputs, of: s, cases: far, needs: spread}", "cases: [few, many], stretch: true}", "killed_by: far", "killed_by: spread", "  far: {x: {normal: [5], shift: 1.0e+8}}\n", "", "37:5: parts[2].checks: expected a check that decides, found none: no submission could fail this part"),
        (ALL_PARTS, "parts: []\n", "6:1: parts: expected at least one entry, found a list of 0"),
        (ALL_PARTS, "parts: 3\n", "6:1: parts: expected a list, found the number 3"),
        (ALL_PARTS, "parts: [one]\n", "6:9: parts[0]: expected a mapping of id, points, minutes, prompt, interface, contract, checks, hints, follow_ups, found the text 'one'"),
        (ALL_PARTS, "parts: [{}]\n", "6:9: parts[0]: expected the key 'points', found none", "6:9: parts[0]: expected the key 'minutes', found none", "6:9: parts[0]: expected the key 'prompt', found none", "6:9: parts[0]: expected the key 'checks', found none"),
        (ALL_PARTS, "parts: [{points: 100, minutes: 1, prompt: a, interface: a, checks: [3]}]\n", "6:69: parts[0].checks[0]: expected a mapping of id, kind, about, run, cases, needs, stretch, clause, points, found the number 3"),
    ],
)  # fmt: skip
def test_a_fault_of_a_part_has_its_place(tmp_path: Path, row: tuple[str, ...]) -> None:
    edits = [text for text in row if not text[:1].isdigit()]
    found = load_problems(one_file(tmp_path, edited(*edits, text=IN_PARTS)), "one")
    assert found == [text for text in row if text[:1].isdigit()]


def test_all_faults_of_a_file_are_reported_at_once_in_its_order(tmp_path: Path) -> None:
    spec = edited(
        "minutes: 5", "minutes: long",
        "[numpy]", "[numpy, jax]",
        "of: y}", "of: y, exat: 1}",
    )  # fmt: skip
    assert problems(tmp_path, spec) == [
        "5:1: minutes: expected a whole number, found the text 'long'",
        "6:15: uses[1]: expected one of 'numpy' or 'torch', found the text 'jax'",
        "16:41: checks[0].exat: found an unknown key; did you mean 'exact'?",
    ]


@pytest.mark.parametrize(
    "row",
    [
        (int, {"gt": 1}, 0), (int, {"ge": 1}, 0), (int, {"lt": 1}, 2), (int, {"le": 1}, 2),
        (str, {"min_length": 1}, ""), (str, {"max_length": 1}, "ab"), (str, {"pattern": "^b$"}, "a"),
        (list, {"min_length": 1}, []), (list, {"max_length": 1}, [1, 2]),
        (dict, {"min_length": 1}, {}), (dict, {"max_length": 1}, {"a": 1, "b": 2}),
        (float, {"allow_inf_nan": False}, float("inf")), (float, {"multiple_of": 2.0}, 1.0),
        (int, {}, 1.5), (int, {}, "1"), (bool, {}, 1), (str, {}, 1), (float, {}, "1"),
        (list, {}, 1), (dict, {}, 1),
    ],
)  # fmt: skip
def test_no_message_about_a_limit_is_written_by_the_library(
    row: tuple[type, dict[str, object], object],
) -> None:
    kind, limits, value = row
    model: type[BaseModel] = create_model("Model", key=(kind, Field(strict=True, **limits)))  # type: ignore[call-overload]
    data = {"key": value}
    with pytest.raises(ValidationError) as refused:
        model.model_validate(data)
    ((_, sentence),) = validation_errors(refused.value, data, model)
    assert sentence.startswith("expected ")
    assert "should" not in sentence
    assert "valid" not in sentence
