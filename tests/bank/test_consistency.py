"""What needs more than one key to be wrong: names that nothing gives, checks that could not fail."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load
from tests.bank.specs import Problems, edited, loaded, write_bank

FIRST = "kind: outputs, of: y"  # of the check `forward`, line 16
TIMED = "  - {id: speed, kind: performance, at_most: 2, cases: CASES}\nmisconceptions:"
KEPT = (
    "  - {id: kept, kind: state, of: ctx, at_most: 8, cases: small, large: CASE}\nmisconceptions:"
)
TWIN = "  - {in: scale, was: x * 2, becomes: x + x, because: they agree}\n"


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (
            "kind: outputs, of: y, needs: backward",
            "16:48: checks[0].needs: expected the id of an earlier check, found 'backward'",
        ),
        (
            "kind: outputs, of: y, run: mian",
            "16:46: checks[0].run: expected the name of a run, found 'mian'; did you mean 'main'?",
        ),
        (
            "kind: outputs, of: y, cases: [wide, narrow]",
            "16:55: forward: expected the name of a case, found 'narrow'",
        ),
        (
            "kind: outputs, of: yy",
            "16:38: forward: expected a result of the run main, found 'yy'; did you mean 'y'?",
        ),
        (
            "kind: outputs, of: []",
            "16:5: forward: expected the name of a result, found none: the check could not fail",
        ),
        (
            "kind: numbers, of: y, parts: []",
            "16:5: forward: expected the names of parts, found none: the check could not fail",
        ),
        (
            "kind: gradcheck, loss: y, gradients: {}",
            "16:5: forward: expected gradients, found none: the check could not fail",
        ),
        (
            "kind: outputs, of: y, show: {beside: z}",
            "16:56: forward: expected an input of the run, found 'z'",
        ),
        (
            "kind: gradcheck, loss: z, gradients: {x: grad_x}",
            "16:42: forward: expected a result of the run main, found 'z'",
        ),
        (
            "kind: gradcheck, loss: y, gradients: {x: grad}",
            "16:60: forward: expected a result of the run main, found 'grad'; did you mean 'grad_x'?",
        ),
        (
            "kind: conservation, sum: x, over: [0], equals: z",
            "16:44: forward: expected a result of the run main, found 'x'",
        ),
        (
            "kind: state, of: ctx, at_most: .nan",
            "16:50: forward: expected an input or a result, found 'nan'",
        ),
        ("kind: graph, of: y", "16:25: forward: the kind graph needs torch in uses, found ['numpy']"),
        (
            "kind: memory, quantity: peak, against: main, at_most: 2 * x",
            "16:73: forward: expected a number, found 'x'",
        ),
    ],
)  # fmt: skip
def test_a_check_can_only_name_what_there_is(said: Problems, new: str, message: str) -> None:
    assert message in said(FIRST, new)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "killed_by: forward",
            "killed_by: forwad",
            "20:16: expected the id of a check, found 'forwad'; did you mean 'forward'?",
        ),
        (
            "misconceptions:\n",
            "starter_holds: [adds-itt]\nmisconceptions:\n",
            "18:17: expected the id of a misconception, found 'adds-itt'; did you mean 'adds-it'?",
        ),
        (
            "small: {x: [[1.0, 2.0]], factor: 3,",
            "small: {x: [[1.0, 2.0]],",
            "16:40: forward: case small gives no value for factor, "
            "which 'y, ctx = scale(x, factor)' needs",
        ),
        (
            "grad_y, ctx)",
            "grad_y, ctx, torch_seed)",
            "11:5: step 2 of main: expected an input of a case or an earlier result, found 'torch_seed'",
        ),
    ],
)  # fmt: skip
def test_names_elsewhere_must_exist_too(said: Problems, old: str, new: str, message: str) -> None:
    edits = [old, new]
    if "gives no value" in message:
        edits += [FIRST, f"{FIRST}, cases: small"]
        message = message.replace("16:40", "16:48")
    assert message in said(*edits)


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (("y, ctx = scale(x", "y, ctx = driver.scale(x"), "10:5: 'y, ctx = driver.scale(x, factor)' needs the file driver.py next to reference.py, or code.driver, found neither"),
        (("hints:", "code: {driver: 'x = 1'}\nhints:"), "10:3: run: expected a step that calls driver.NAME, or no driver, found none"),
        (("hints:", "helpers: [json]\nhints:"), "22:11: helpers: expected a name that no other module has, found json"),
        (
            ("[numpy]", "[torch]", '(x, factor): ..."', '(x, factor): ...\\ndef vjp(y, g, x): ..."', "scale_backward(grad_y, ctx)", "vjp(y, grad_y, x)"),
            "11:5: 'grad_x = vjp(y, grad_y, x)' asks torch for gradients: the interface needs another name",
        ),
        (("[numpy]", "[torch]", FIRST, "kind: peak, of: y, at_most: 100"), "16:25: forward: the kind peak does not see what torch allocates; kind: memory with quantity: peak does"),
        (("= scale(x, factor)", "= scale(x, grad_x)"), "10:5: step 1 of main: expected an input of a case or an earlier result, found 'grad_x', which only a later step gives"),
        (('interface: "def scale(x, factor): ..."\n', ""), "1:1: the question: expected the key 'interface', found none"),
        ((FIRST, f"{FIRST}, points: 60"), "16:49: checks: expected points that add up to the part's 100, found 60"),
        ((FIRST, f"{FIRST}, points: 60", "needs: forward", "needs: forward, points: 30"), "16:49: checks: expected points that add up to the part's 100, found 60 + 30 = 90"),
        (("needs: forward", "needs: forward, stretch: true, points: 1"), "17:86: checks[1].points: expected no points of a stretch, found 1"),
        ((FIRST, f"{FIRST}, stretch: true"), "17:54: checks[1].needs: expected a check that decides, because backward does, found the stretch forward"),
        (("id: backward", "id: forward"), "17:10: checks[1].id: expected each id once, found 'forward' again"),
        ((FIRST, f"{FIRST}, cases: []"), "16:48: forward: expected at least one case, found none with x, factor, grad_y"),
        ((FIRST, "kind: state, of: ctx, at_most: '8 *'"), "16:50: forward: expected arithmetic such as '8 * y.size + 256 bytes', found '8 *'"),
        ((FIRST, "kind: curve, of: y"), "16:5: forward: expected ends_below, ends_above, falls or tolerance, found none: the check could not fail"),
        ((FIRST, "kind: flops, against: zzz, at_most: 2"), "16:41: forward: expected the name of a run, found 'zzz'"),
        ((FIRST, f"{FIRST}, exact: true, zeros: exact"), "16:61: forward: expected exact or zeros, found both; exact already includes zeros"),
        ((FIRST, f"{FIRST}, show: {{window: [3, factr, 0]}}"), "16:60: forward: expected an input of the run, found 'factr'; did you mean 'factor'?"),
        ((FIRST, f"{FIRST}, tolerance: {{because: why}}"), "16:52: forward: expected absolute, relative or digits, found none"),
        ((FIRST, f"{FIRST}, tolerance: {{of: z, absolute: 1, because: why}}"), "16:57: forward: expected a result of the run main, found 'z'"),
        (
            ("misconceptions:", TIMED.replace("CASES", "[fixed]"), "  wide: {", "  fixed: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n  wide: {"),
            "speed: expected inputs that are drawn, found only fixed ones in case fixed: remembering the answer would be fast",
        ),
        (("misconceptions:", KEPT.replace("CASE", "wid")), "kept: expected the name of a case, found 'wid'; did you mean 'wide'?"),
        (("hints:", f"survivors:\n{TWIN}{TWIN}hints:"), "24:5: survivors[1]: expected each mutant once, found that of survivors[0] again"),
        (("small: {", "small: {draws: 0, "), "13:18: cases.small.draws: expected a whole number from 1 to 24, found 0"),
        (("small: {", "small: {draws: {normal: [2]}, "), "found {'normal': [2]}; draws is a word of cases: an input needs another name"),
        (("small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}", "small: {draws: 3, x: [[1.0, 2.0]], factor: 3, grad_y: [[1.0, 1.0]]}"), "13:18: cases.small.draws: expected inputs that are drawn, found only fixed ones: all draws are the same"),
        (("small: {", "small: {limits: {cpu_seconds: -1}, "), "13:19: cases.small.limits: expected cpu_seconds or wall_seconds, above 0 and up to 120, found {'cpu_seconds': -1}"),
        (("prompt: Multiply x.", "prompt: {Note: this}"), "7:9: prompt: expected text, found a mapping with Note; a text that holds ': ' needs quotes"),
        (("prompt: Multiply x.", "prompt: true"), "7:9: prompt: expected text, found the word 'true'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_together_has_a_place(
    said: Problems, edits: tuple[str, ...], message: str
) -> None:
    found = said(*edits)
    assert any(message in problem for problem in found), found


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ("{nrmal: [2]}", "cases.wide.x: expected exactly one generator"),
        ("{normal: [2.5]}", "14:22: cases.wide.x.normal: expected a shape (a list of sizes) or 'like NAME', found [2.5]"),
        ("{normal: [-1]}", "14:22: cases.wide.x.normal: expected a shape (a list of sizes) or 'like NAME', found [-1]"),
        ("{normal: [99999, 99999]}", "14:22: cases.wide.x.normal: expected at most 8 dimensions and 4,000,000 entries, found [99999, 99999]"),
        ("{distinct: [10000000]}", "14:24: cases.wide.x.distinct: expected at most 8 dimensions and 4,000,000 entries, found [10000000]"),
        ("{normal: [2], scale: .inf}", "14:34: cases.wide.x.scale: expected a finite number, found inf"),
        ("{normal: [2], sort: 1}", "14:33: cases.wide.x.sort: expected true or false, found 1"),
        ("{one_hot: []}", "14:23: cases.wide.x.one_hot: expected at least one dimension, found []"),
        ("{normal: [2], dtype: f32}", "14:34: cases.wide.x.dtype: expected one of float32, float64"),
        ("{integers: [2], from: 1}", "14:13: cases.wide.x: integers needs from and to"),
        ("{integers: [2], from: 0.5, to: 1}", "14:35: cases.wide.x.from: expected a whole number, found 0.5"),
        ("{distinct: [2], gap: 0}", "14:34: cases.wide.x.gap: expected a gap above 0, found 0"),
        ("{normal: [2], sprinkle: {value: 1, share: 2}}", "14:37: cases.wide.x.sprinkle: expected {value: NUMBER, share: NUMBER from 0 to 1}"),
        ("{normal: [2], gap: 1}", "14:32: cases.wide.x.gap: normal takes scale, shift, sprinkle, sort, dtype, layout, found the key 'gap'"),
        ("{integers: [2], from: 3, to: 1}", "14:35: cases.wide.x.from: expected from to be at most to"),
        ("{normal: like factor}", "14:13: cases.wide.x: expected 'like' an array, found factor"),
        ("[[1], [2, 3]]", "14:13: cases.wide.x: the rows of an array differ in length"),
        ("[1, a]", "14:13: cases.wide.x: expected numbers in an array, found 'a'"),
        ("{normal: like x}", "14:13: cases.wide.x: x cannot take its own shape"),
        ("{normal: like z}", "14:13: cases.wide.x: expected 'like' an input or a result, found 'z'"),
        ("3, layout: [a]", "14:24: cases.wide.layout: expected one of contiguous, fortran"),
        ("3, frozen: [[x]]", "14:24: cases.wide.frozen: expected a list of this case's inputs, found [['x']]"),
        ("3, extends: smal", "14:25: cases.wide.extends: expected the name of another case, found 'smal'"),
        ("3, extends: [small]", "14:25: cases.wide.extends: expected the name of another case, found ['small']"),
    ],
)  # fmt: skip
def test_an_input_that_cannot_be_drawn_is_refused(said: Problems, x: str, message: str) -> None:
    found = said("{normal: [2, 5]}", x)
    assert len(found) == 1, "one fault, one message"
    assert message in found[0]


def test_what_can_be_measured_is_accepted(said: Problems) -> None:
    for check in (TIMED.replace("CASES", "[small, wide]"), KEPT.replace("CASE", "wide")):
        assert said("misconceptions:", check) == []


def test_inputs_that_take_each_others_shape_are_refused(said: Problems) -> None:
    found = said("{normal: [2, 5]}", "{normal: like w}, w: {normal: like x}")
    assert found == [
        "14:13: cases.wide.x: x cannot take its own shape",
        "14:34: cases.wide.w: w cannot take its own shape",
    ]


def test_a_case_may_be_drawn_like_a_result_of_another_run(tmp_path: Path) -> None:
    spec = edited(
        "run:\n", "run:\n  twin:\n  - t = scale(x, factor)\n  main:\n",
        "of: y}", "of: y}\n  - {id: twin, kind: outputs, of: t, run: twin}",
    )  # fmt: skip
    assert loaded(tmp_path, spec).runs.keys() == {"twin", "main"}


def test_an_input_that_nothing_reads_is_refused_with_the_one_that_is_missing(
    said: Problems,
) -> None:
    found = said("wide: {x: {normal: [2, 5]}, factor: 2", "wide: {x: {normal: [2, 5]}, factr: 2")
    assert found == [
        "14:38: cases.wide.factr: expected an input that a step reads, found 'factr'; did you mean 'factor'?"
    ]


def test_an_input_that_only_another_is_like_or_an_amount_needs_is_read(tmp_path: Path) -> None:
    spec = edited(
        "wide: {x: {normal: [2, 5]},", "wide: {w: {zeros: [2, 5]}, n: 3, x: {normal: like w},",
        FIRST, "kind: state, of: ctx, cases: wide, at_most: 8 * n",
    )  # fmt: skip
    assert loaded(tmp_path, spec).spec.cases["wide"]["n"] == 3


def test_wrong_names_are_said_together(said: Problems) -> None:
    found = said(
        "y, ctx = scale(x, factor)", "y, ctx = scale(x, factr)",
        "of: grad_x, needs", "of: grad_z, needs",
        "killed_by: forward", "killed_by: forwad",
    )  # fmt: skip
    assert found == [
        "10:5: step 1 of main: expected an input of a case or an earlier result, found 'factr'; did you mean 'factor'?",
        "17:39: backward: expected a result of the run main, found 'grad_z'; did you mean 'grad_x'?",
        "20:16: expected the id of a check, found 'forwad'; did you mean 'forward'?",
    ]


def test_what_only_refers_to_a_broken_part_is_not_blamed(said: Problems) -> None:
    assert said("kind: outputs, of: y}", "kind: outputs, of: 3}") == [
        "16:38: checks[0].of: expected text or a list, found the number 3"
    ]
    assert said(
        "killed_by: forward", "killed_by: 3", "hints:", "starter_holds: [adds-it]\nhints:"
    ) == ["20:16: misconceptions.adds-it.killed_by: expected text or a list, found the number 3"]
    broken_step = said("y, ctx = scale(x, factor)", "y, ctx == scale(x, factor)")
    assert len(broken_step) == 1
    assert said("small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}", "small: 3") == [
        "13:10: cases.small: expected a mapping, found the number 3"
    ]


@pytest.mark.parametrize(
    ("x", "hint"),
    [
        ("{nrmal: [2, 5]}", "'normal'"),
        ("{normal: [2, 5], scal: 2}", "'scale'"),
        ("{normal: [2, 5], dtype: flaot32}", "'float32'"),
        ("{normal: [2, 5], layout: fotran}", "'fortran'"),
        ("{normal: [2, 5]}, extends: smal", "'small'"),
        ("{normal: like grad_yy}", "'grad_y'"),
        ("{normal: [2, 5]}, dtype: float46", "'float64'"),
    ],
)
def test_a_misspelt_word_of_a_case_suggests_the_nearest(said: Problems, x: str, hint: str) -> None:
    (found,) = said("{normal: [2, 5]}", x)
    assert found.endswith(f"did you mean {hint}?")


def test_a_misconception_without_its_check_is_asked_for_one_where_it_would_stand(
    said: Problems,
) -> None:
    expected = "misconceptions.adds-it: expected the key 'killed_by', found none"
    write = "write the check that stops it here: killed_by: ID"
    assert said("    killed_by: forward\n", "") == [f"20:5: {expected}; {write}"]


def test_a_key_that_is_misspelled_is_not_said_to_be_missing_too(said: Problems) -> None:
    assert said("killed_by: forward", "killed-by: forward") == [
        "20:5: misconceptions.adds-it: found the unknown key 'killed-by'; did you mean 'killed_by'?"
    ]


def test_cases_that_no_check_looks_at_have_their_places(tmp_path: Path) -> None:
    base = "  base: {factor: 2}\n"
    spare = "  spare: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n"
    seen = "  seen: {extends: base, x: {normal: [2, 5]}, grad_y: {normal: like y}}\n"
    write_bank(
        tmp_path,
        edited(
            "checks:\n", f"{base}{spare}{seen}checks:\n",
            "of: y}", "of: y, cases: [small, wide]}",
            "of: grad_x,", "of: grad_x, cases: [seen],",
        ),
    )  # fmt: skip
    text = "cases.spare: no check looks at it; name it in a check, or remove it"
    assert load([tmp_path], "scaled-copy").unused == (f"questions/scaled-copy.yaml:16:3: {text}",)
    write_bank(tmp_path, edited("of: y}", "of: y, cases: small}"))
    assert load([tmp_path], "scaled-copy").unused == ()  # the other check looks at all
