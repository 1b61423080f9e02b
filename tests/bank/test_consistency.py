"""What needs more than one key to be wrong: every fault with its place, and nothing beside it."""

# ruff: noqa: E501 a message that is compared stands on one line

from __future__ import annotations

from pathlib import Path

import pytest

from grader.bank import load_question
from grader.model.errors import BankError
from tests.bank.specs import IDEAS, edited, load_problems, loaded, problems, write_bank

FIRST = "kind: outputs, of: y"  # of the check `forward`, line 16
X = "{normal: [2, 5]}"  # of the case `wide`, line 14


@pytest.mark.parametrize(
    "row",
    [
        (FIRST, "kind: outputs, of: y, needs: backward", "16:41: checks[0].needs: expected the id of an earlier check, found 'backward'"),
        ("wide: {x: {normal: [2, 5]}", "wide: {x: {n}", "14:10: cases.wide.x: expected exactly one generator (array, normal, uniform, integers, distinct, zeros, ones, full, simplex), found n; the place of a number needs quotes, '{n}'"),
        (FIRST, "kind: outputs, of: y, tolerance: {absolute: 7,000, because: any}", "16:65: checks[0].tolerance.000: found an unknown key; is it the end of a number? Write 0.03 and 7000, without a comma"),
        (FIRST, "kind: outputs, of: y, run: mian", "16:41: checks[0].run: expected the name of a run (default: main), found 'mian'; did you mean 'main'?"),
        (FIRST, "kind: outputs, of: y, cases: [wide, narrow]", "16:55: checks[0].cases[1]: expected the name of a case, found 'narrow'; known: small, wide"),
        (FIRST, "kind: outputs, of: yy", "16:34: checks[0].of: expected a result of the run main, found 'yy'; did you mean 'y'?"),
        (FIRST, "kind: outputs, of: []", "16:5: checks[0]: expected the name of a result, found none: the check could not fail"),
        (FIRST, "kind: numbers, of: y, parts: []", "16:5: checks[0]: expected the names of parts, found none: the check could not fail"),
        (FIRST, "kind: gradcheck, run: other", '  - y, ctx = scale(x, factor)\n  - grad_x = scale_backward(grad_y, ctx)', '  main: ["y, ctx = scale(x, factor)", "grad_x = scale_backward(grad_y, ctx)"]\n  other: ["z, kept = scale(x, factor)"]', "16:5: checks[0]: expected a loss and gradients, found none: the check could not fail"),
        (FIRST, "kind: curve, of: y", "16:5: checks[0]: expected ends_below, ends_above, falls or tolerance, found none: the check could not fail"),
        (FIRST, "kind: outputs, of: y, show: {beside: z}", "16:48: checks[0].show.beside: expected an input of the run, found 'z'; known: factor, grad_y, x"),
        (FIRST, "kind: outputs, of: y, show: {window: [3, factr, 0]}", "16:60: checks[0].show.window[1]: expected an input of the run, found 'factr'; did you mean 'factor'?"),
        (FIRST, "kind: gradcheck, loss: z, gradients: {x: grad_x}", "16:36: checks[0].loss: expected a result of the run main, found 'z'; known: ctx, grad_x, y"),
        (FIRST, "kind: gradcheck, loss: y, gradients: {x: grad}", "16:57: checks[0].gradients.x: expected a result of the run main, found 'grad'; did you mean 'grad_x'?"),
        (FIRST, "kind: conservation, sum: x, over: [0], equals: y", "16:39: checks[0].sum: expected a result of the run main, found 'x'; known: ctx, grad_x, y"),
        (FIRST, "kind: state, of: ctx, at_most: .nan", "16:41: checks[0].at_most: expected an input or a result, found 'nan'; known: ctx, factor, grad_x, grad_y, x, y"),
        (FIRST, "kind: state, of: ctx, at_most: '8 *'", "16:41: checks[0].at_most: expected arithmetic such as '8 * y.size + 256 bytes', found '8 *'"),
        (FIRST, "kind: graph, of: y", "16:19: checks[0].kind: graph needs torch in uses, found ['numpy']"),
        ("[numpy]", "[torch]", FIRST, "kind: memory, quantity: peak, against: main, at_most: 2 * x", "16:64: checks[0].at_most: expected a number, found 'x'"),
        ("[numpy]", "[torch]", FIRST, "kind: flops, against: zzz, at_most: 2", "16:32: checks[0].against: expected the name of a run, found 'zzz'; known: main"),
        ("[numpy]", "[torch]", FIRST, "kind: peak, of: y, at_most: 100", "16:19: checks[0].kind: peak does not see what torch allocates; kind: memory with quantity: peak does"),
        (FIRST, "kind: outputs, of: y, exact: true, zeros: exact", "16:54: checks[0].zeros: expected exact or zeros, found both; exact already includes zeros"),
        (FIRST, "kind: outputs, of: y, tolerance: {because: why}", "16:41: checks[0].tolerance: expected absolute or relative, found none"),
        (FIRST, "kind: outputs, of: y, tolerance: {of: z, absolute: 1, because: why}", "16:53: checks[0].tolerance.of: expected a result of the run main, found 'z'; known: ctx, grad_x, y"),
        (FIRST, "kind: outputs, of: y, cases: []", "16:41: checks[0].cases: expected at least one case, found none with x, factor, grad_y"),
        (FIRST, "kind: outputs, of: y, points: 60", "16:41: checks[0].points: expected points that add up to the part's 100, found 60"),
        (FIRST, "kind: outputs, of: y, points: 60", "needs: forward", "needs: forward, points: 30", "16:41: checks[0].points: expected points that add up to the part's 100, found 60 + 30"),
        (FIRST, "kind: outputs, of: y, points: 100", "17:5: checks[1]: expected points of backward, or of a check that needs it, found none: a part that fails only it would earn all points"),
        ("needs: forward", "needs: forward, stretch: true, points: 100", "17:78: checks[1].points: expected no points of a stretch, found 100"),
        (FIRST, "kind: outputs, of: y, stretch: true", "17:47: checks[1].needs: expected a check that decides, because backward does, found the stretch forward"),
        ("id: backward", "id: forward", "17:6: checks[1].id: expected each id once, found 'forward' again"),
        (FIRST, "kind: outputs, of: y, clause: 2", "16:41: checks[0].clause: expected the number of a clause of a contract, and there is none, found 2"),
        ("hints:", "  - {id: speed, kind: performance, at_most: 2, cases: [fixed]}\nhints:", "  wide: {", "  fixed: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n  wide: {", "19:56: checks[2].cases[0]: expected inputs that are drawn, found only fixed ones in case fixed: remembering the answer would be fast"),
        ("answer: A copy.", "answer: A copy., choice: [a, b], right: 3", "20:64: follow_ups[0].right: expected the number of one of 2 answers, found 3"),
        ("answer: A copy.", "answer: A copy., number: 3 MBB", "20:48: follow_ups[0].number: expected a finite number, a space and a known unit, or rows of one length, found '3 MBB'"),
        ("answer: A copy.", "answer: A copy., number: 3 MB, ideas: {4 MB: adds-itt}", "20:70: follow_ups[0].ideas.4 MB: expected an idea, found 'adds-itt'; did you mean 'adds-it'?"),
        ("hints:", "starter_holds: [adds-itt]\nhints:", "18:17: starter_holds[0]: expected the name of an idea, found 'adds-itt'; did you mean 'adds-it'?"),
        ("small: {x: [[1.0, 2.0]], factor: 3,", "small: {x: [[1.0, 2.0]],", FIRST, "kind: outputs, of: y, cases: small", "16:41: checks[0].cases: case small gives no value for factor, which 'y, ctx = scale(x, factor)' needs"),
        ("grad_y, ctx)", "grad_y, ctx, torch_seed)", "11:5: run[1]: expected an input of a case or an earlier result, found 'torch_seed'"),
        ("= scale(x, factor)", "= scale(x, grad_x)", "10:5: run[0]: expected an input of a case or an earlier result, found 'grad_x', which only a later step gives"),
        ("y, ctx = scale(x", "y, ctx = driver.scale(x", "10:5: run[0]: expected driver.py next to reference.py, or code.driver, found neither"),
        ("y, ctx = scale(x", "y, ctx = judge.scale(x", "hints:", "code: {driver: 'x = 1'}\nhints:", "11:5: run[1]: expected the steps of judge last, found 'grad_x = scale_backward(grad_y, ctx)' after one"),
        ("hints:", "code: {driver: 'x = 1'}\nhints:", "9:1: run: expected a step that calls driver.NAME, or no driver, found none"),
        ("interface: \"def scale(x, factor): ...\"\n", "", "1:1: the question: expected the key 'interface', found none"),
        ("hints:", "survivors:\n  - {in: scale, was: x * 2, becomes: x + x, because: they agree}\n  - {in: scale, was: x * 2, becomes: x + x, because: they agree}\nhints:", "20:5: survivors[1]: expected each mutant once, found that of survivors[0] again"),
        ("wide: {x: {normal: [2, 5]}, factor: 2", "wide: {x: {normal: [2, 5]}, factr: 2", "14:31: cases.wide.factr: expected an input that a step reads, found 'factr'; did you mean 'factor'?"),
        ("y, ctx = scale(x, factor)", "y, ctx == scale(x, factor)", "10:5: run[0]: expected one assignment of a call, found 'y, ctx == scale(x, factor)'"),
        ("hints:", "answers: {a: {ask: b}}\nhints:", "18:1: answers: expected form: estimate, predict or derive, found none"),
        ("hints:", "defaults: {kernl: 2}\nhints:", "18:12: defaults.kernl: expected an input that a step reads, found 'kernl'; known: factor, grad_y, x"),
        ("hints:", "defaults: {x: {normal: -1}}\nhints:", "18:16: defaults.x.normal: expected a shape (a list of sizes) or 'like NAME', found -1"),
        ("hints:", "defaults: {x: {nromal: [2]}}\nhints:", "18:12: defaults.x: expected exactly one generator (array, normal, uniform, integers, distinct, zeros, ones, full, simplex), found nromal; did you mean 'normal'?"),
        ("hints:", "defaults: {dtype: float16}\nhints:", "18:12: defaults.dtype: expected one of float32, float64, bfloat16, found 'float16'"),
        ("hints:", "defaults: {draws: 3}\nhints:", "18:12: defaults.draws: expected an input or dtype, found draws"),
        ("hints:", "display: {beside: [x, y]}\nhints:", "18:23: display.beside[1]: expected an input of a run, found 'y'; known: factor, grad_y, x"),
        ("hints:", "display: {beside: x, window: [factr, 1, 0]}\nhints:", "18:31: display.window[0]: expected an input of a run, found 'factr'; did you mean 'factor'?"),
        ("small: {", "small: {draws: 0, ", "13:11: cases.small.draws: expected a whole number from 1 to 24, found 0"),
        ("small: {", "small: {draws: {normal: [2]}, ", "13:11: cases.small.draws: expected a whole number from 1 to 24, found {'normal': [2]}; draws is a word of cases: an input needs another name"),
        ("small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}", "small: {draws: 3, x: [[1.0, 2.0]], factor: 3, grad_y: [[1.0, 1.0]]}", "13:11: cases.small.draws: expected inputs that are drawn, found only fixed ones: all draws are the same"),
        ("small: {", "small: {limits: {cpu_seconds: -1}, ", "13:11: cases.small.limits: expected cpu_seconds or wall_seconds, above 0 and up to 120, found {'cpu_seconds': -1}"),
        (X, "{nrmal: [2]}", "14:10: cases.wide.x: expected exactly one generator (array, normal, uniform, integers, distinct, zeros, ones, full, simplex), found nrmal; did you mean 'normal'?"),
        (X, "{normal: [2.5]}", "14:14: cases.wide.x.normal: expected a shape (a list of sizes) or 'like NAME', found [2.5]"),
        (X, "{normal: [-1]}", "14:14: cases.wide.x.normal: expected a shape (a list of sizes) or 'like NAME', found [-1]"),
        (X, "{normal: [99999, 99999]}", "14:14: cases.wide.x.normal: expected at most 8 dimensions and 4,000,000 entries, found [99999, 99999]"),
        (X, "{distinct: [10000000]}", "14:14: cases.wide.x.distinct: expected at most 8 dimensions and 4,000,000 entries, found [10000000]"),
        (X, "{normal: [2], scale: .inf}", "14:27: cases.wide.x.scale: expected a finite number, found inf"),
        (X, "{normal: [2], sort: 1}", "14:27: cases.wide.x.sort: expected true or false, found 1"),
        (X, "{simplex: []}", "14:14: cases.wide.x.simplex: expected at least one dimension, found []"),
        (X, "{normal: [2], dtype: flaot32}", "14:27: cases.wide.x.dtype: expected one of float32, float64, bfloat16, int64, int32, int16, uint8, bool, found 'flaot32'; did you mean 'float32'?"),
        (X, "{integers: [2], from: 1}", "14:10: cases.wide.x: integers needs from and to"),
        (X, "{integers: [2], from: 0.5, to: 1}", "14:29: cases.wide.x.from: expected a whole number, found 0.5"),
        (X, "{distinct: [2], gap: 0}", "14:29: cases.wide.x.gap: expected a gap above 0, found 0"),
        (X, "{normal: [2], sprinkle: {value: 1, share: 2}}", "14:27: cases.wide.x.sprinkle: expected {value: NUMBER, share: NUMBER from 0 to 1}"),
        (X, "{normal: [2], gap: 1}", "14:27: cases.wide.x.gap: normal takes scale, shift, sprinkle, sort, dtype, layout, found the key 'gap'"),
        (X, "{normal: [2], scal: 2}", "14:27: cases.wide.x.scal: normal takes scale, shift, sprinkle, sort, dtype, layout, found the key 'scal'; did you mean 'scale'?"),
        (X, "{integers: [2], from: 3, to: 1}", "14:29: cases.wide.x.from: expected from to be at most to"),
        (X, "{normal: like factor}", "14:10: cases.wide.x: expected 'like' an array, found factor"),
        (X, "[[1], [2, 3]]", "14:10: cases.wide.x: the rows of an array differ in length"),
        (X, "[1, a]", "14:10: cases.wide.x: expected numbers in an array, found 'a'"),
        (X, "{normal: like x}", "14:10: cases.wide.x: x cannot take its own shape"),
        (X, "{normal: like z}", "14:10: cases.wide.x: expected 'like' an input or a result, found 'z'; known: ctx, factor, grad_x, grad_y, y"),
        (X, "{normal: like grad_yy}", "14:10: cases.wide.x: expected 'like' an input or a result, found 'grad_yy'; did you mean 'grad_y'?"),
        (X, "3, layout: fotran", "14:16: cases.wide.layout: expected one of contiguous, fortran, reversed, strided, readonly, broadcast, found 'fotran'; did you mean 'fortran'?"),
        (X, "3, frozen: [[x]]", "14:16: cases.wide.frozen: expected a list of this case's inputs, found [['x']]"),
        (X, "3, extends: smal", "14:16: cases.wide.extends: expected the name of another case, found 'smal'; did you mean 'small'?"),
        (X, "3, extends: [small]", "14:16: cases.wide.extends: expected the name of another case, found ['small']; did you mean 'small'?"),
        (X, "3, dtype: float46", "14:16: cases.wide.dtype: expected one of float32, float64, bfloat16, found 'float46'; did you mean 'float64'?"),
    ],
)  # fmt: skip
def test_one_fault_is_one_sentence_with_its_place(tmp_path: Path, row: tuple[str, ...]) -> None:
    *edits, message = row
    assert problems(tmp_path, edited(*edits)) == [message]


def test_unknown_names_are_reported_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    spec = edited(
        "y, ctx = scale(x, factor)", "y, ctx = scale(x, factr)",
        "of: grad_x, needs", "of: grad_z, needs",
        X, "{normal: like w}, w: {normal: like y}",
    )  # fmt: skip
    assert problems(tmp_path, spec) == [
        "10:5: run[0]: expected an input of a case or an earlier result, found 'factr'; did you mean 'factor'?",
        "17:35: checks[1].of: expected a result of the run main, found 'grad_z'; did you mean 'grad_x'?",
    ]
    spec = edited(X, "{normal: like w}, w: {normal: like x}")
    assert len(problems(tmp_path, spec)) == 2, "each takes the shape of the other"


@pytest.mark.parametrize(
    "edits",
    [
        ("hints:", "  - {id: speed, kind: performance, at_most: 2, cases: [small, wide]}\nhints:"),
        ("wide: {x: {normal: [2, 5]},", "wide: {w: {zeros: [2, 5]}, n: 3, x: {normal: like w},", FIRST, "kind: state, of: ctx, cases: wide, at_most: 8 * n"),
        ("run:\n", "run:\n  twin:\n  - t = scale(x, factor)\n  main:\n", "of: y}", "of: y}\n  - {id: twin, kind: outputs, of: t, run: twin}"),
    ],
    ids=["drawn beside fixed", "an input for a shape, one for an amount", "shaped like a result of another run"],
)  # fmt: skip
def test_a_consistent_spec_is_accepted(tmp_path: Path, edits: tuple[str, ...]) -> None:
    assert problems(tmp_path, edited(*edits)) == []


@pytest.mark.parametrize(
    ("edits", "message"),
    [
        (("small: {x: [[1.0, 2.0]], factor: 3,", "small: {x: [[1.0, 2.0]],", "of: y}", "of: y, cases: [small, wide]}", "of: grad_x, needs", "of: grad_x, cases: [wide, small], needs"),
         "16:49: checks[0].cases[0]: case small gives no value for factor, which 'y, ctx = scale(x, factor)' needs"),
        ((X, "{nrmal: [2]}", "checks:", "  float: {extends: wide, dtype: float32}\nchecks:"),
         "14:10: cases.wide.x: expected exactly one generator (array, normal, uniform, integers, distinct, zeros, ones, full, simplex), found nrmal; did you mean 'normal'?"),
        (("small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}", "small: [[1.0], 3]", "wide: {x: {normal: [2, 5]}, factor: 2, grad_y: {normal: like y}}", "wide: [[2.0], 3]"),
         "13:3: cases.small: expected inputs by name, or a key 'columns' with the names of the entries, found a list"),
    ],
    ids=["an input that two checks lack", "a recipe that is inherited", "rows without columns"],
)  # fmt: skip
def test_one_fault_is_reported_once(tmp_path: Path, edits: tuple[str, ...], message: str) -> None:
    assert problems(tmp_path, edited(*edits)) == [message]


SIX = "  small: {x: [[1.0, 2.0]], factor: 3, grad_y: {normal: like y}}\n"


@pytest.mark.parametrize(
    ("columns", "row", "message"),
    [
        ("about, x, factor, grad_y", "[a row, [[1.0]], 3]", "14:3: cases.small: gives no grad_y, which the run main needs, so that no check looks at it"),
        ("about, x, factor, grad_y", "[a row, [[1.0]]]", "14:3: cases.small: gives no factor and no grad_y, which the run main needs, so that no check looks at it"),
        ("about, x, factor, grad_y", "[[[1.0]], 3, 2, [[1.0]]]", "14:11: cases.small[0]: expected a text, found a list; is a cell missing?"),
        ("about, x, factor, grad_y", "[a row, of two, [[1.0]], 3, [[1.0]]]", "14:3: cases.small: expected at most 4 entries, one for each of the columns, found 5; a comma in a text needs quotes"),
        ("about, x, fctor, grad_y", "[a row, [[1.0]], 3, [[1.0]]]", "12:21: columns[2]: expected an input that a step reads, found 'fctor'; did you mean 'factor'?"),
        ("about, x, factor, grad_y", "[a row, [[1.0]], inf, [[1.0]]]", "14:27: cases.small[2]: expected a number as in other cases, found the text 'inf'; infinity is .inf, NaN .nan"),
        ("about, x, factor, grad_y", "[a row, [[1.0]], wide, [[1.0]]]", ""),
    ],
)  # fmt: skip
def test_a_row_that_is_wrong_is_one_sentence(
    tmp_path: Path, columns: str, row: str, message: str
) -> None:
    spec = edited("cases:\n", f"columns: [{columns}]\ncases:\n", SIX, f"  small: {row}\n")
    assert problems(tmp_path, spec) == [message] * bool(message)


def test_a_comma_without_quotes_that_puts_a_text_in_place_of_an_array_is_named(
    tmp_path: Path,
) -> None:
    columns = "defaults: {grad_y: {normal: like x}}\ncolumns: [about, x, factor]\ncases:\n"
    spec = edited("cases:\n", columns, SIX, "  small: [a row, of two, 3]\n")
    assert problems(tmp_path, spec) == [
        "15:18: cases.small[1]: expected an array, which grad_y is 'like', found the text 'of two'; "
        "a text that holds a comma needs quotes in a row"
    ]


@pytest.mark.parametrize("ideas", [None, "", "# Later.\n"])
def test_starter_holds_without_ideas_names_the_file_of_ideas(
    tmp_path: Path, ideas: str | None
) -> None:
    bank = write_bank(tmp_path, edited("hints:", "starter_holds: [adds-it]\nhints:"))
    path = bank / "drills" / "scaled-copy" / "ideas.py"
    path.unlink()
    if ideas is not None:
        path.write_text(ideas)
    assert load_problems(bank) == [
        "18:17: starter_holds[0]: expected the name of an idea, found 'adds-it'; the question has "
        "no ideas: write drills/scaled-copy/ideas.py or code.ideas"
    ]


def test_a_repeated_id_is_reported_next_to_an_unknown_check_of_an_idea(
    tmp_path: Path,
) -> None:
    bank = write_bank(tmp_path, edited("{id: forward,", "{id: backward,"))
    with pytest.raises(BankError) as caught:
        load_question([bank], "scaled-copy")
    found = [problem.partition("scaled-copy")[2] for problem in caught.value.problems]
    assert ".yaml:17:6: checks[1].id: expected each id once, found 'backward' again" in found
    assert found[-1].startswith("/ideas.py:2:3: adds-it.killed_by: expected the id of a check, ")


@pytest.mark.parametrize(
    ("killer", "said_"),
    [("forwards", "'forwards' in 2 ideas; did you mean 'forward'?"), ("zzz", "'zzz' in 2 ideas")],
)
def test_a_check_that_ideas_claim_and_that_does_not_exist_is_reported_once(
    tmp_path: Path, killer: str, said_: str
) -> None:
    bank = write_bank(tmp_path)
    text = IDEAS.replace("forward", killer)
    ideas = bank / "drills" / "scaled-copy" / "ideas.py"
    ideas.write_text(text + text.replace("adds-it", "adds-too"), encoding="utf-8")
    with pytest.raises(BankError) as caught:
        load_question([bank], "scaled-copy")
    (problem,) = caught.value.problems
    place = "ideas.py:2:3: adds-it.killed_by: expected the id of a check, found "
    assert problem.endswith(place + said_)


def test_a_result_of_another_run_is_reported_with_that_run(tmp_path: Path) -> None:
    spec = edited(
        "run:\n  - y, ctx = scale(x, factor)\n  - grad_x = scale_backward(grad_y, ctx)\n",
        "run:\n  main: ['y, ctx = scale(x, factor)', 'grad_x = scale_backward(grad_y, ctx)']\n"
        "  again: z = scale(x, factor)\n",
        FIRST, "kind: outputs, of: z",
    )  # fmt: skip
    (problem,) = problems(tmp_path, spec)
    text = "expected a result of the run main, found 'z'; say `run: again`, which gives it"
    assert problem.endswith(text)


def test_unused_cases_are_reported_with_their_places(tmp_path: Path) -> None:
    base = "  base: {factor: 2}\n"
    spare = "  spare: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n"
    seen = "  seen: {extends: base, x: {normal: [2, 5]}, grad_y: {normal: like y}}\n"
    spec = edited(
        "checks:\n", f"{base}{spare}{seen}checks:\n",
        "of: y}", "of: y, cases: [small, wide]}",
        "of: grad_x,", "of: grad_x, cases: [seen],",
    )  # fmt: skip
    text = "cases.spare: no check looks at it; name it in a check, or remove it"
    assert loaded(tmp_path, spec).unused_case_problems == (
        f"questions/scaled-copy.yaml:16:3: {text}",
    )
    assert loaded(tmp_path, edited("of: y}", "of: y, cases: small}")).unused_case_problems == ()
