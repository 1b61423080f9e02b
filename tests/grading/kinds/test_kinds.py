"""Kinds of checks on a right and on wrong submissions, with the sentence of each failure."""

# ruff: noqa: E501 a sentence that is compared stands on one line

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.grading.bank_errors import BankProgramError
from grader.grading.case_by_case import SubmissionStopped
from grader.model.report import Grids, Verdict
from grader.sandbox.client import WorkerClient
from tests.grading.kinds.grading import Desk
from tests.grading.kinds.one_file import graded, of, opened

Y = "def centre(x, w):\n    d = _centred(x)\n    y = {}\n    return y, (d, np.array(w))\n"
GRADS = "def centre_backward(grad_y, ctx):\n    d, w = ctx\n    return {}, {}\n"
GRAD_X, GRAD_W = "_centred(w * grad_y)", "grad_y * d"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("forward", "4 cases"),
        ("backward", "4 cases"),
        ("total", "2 cases"),
        ("slopes", "2 cases"),
        ("manners", "inputs, ownership, repeated calls, 4 layouts"),
        ("kept", "192 bytes kept, 256 bytes allowed"),
    ],
)
@pytest.mark.parametrize("seed", [0, 7])
def test_the_reference_passes(deviations: Desk, check: str, message: str, seed: int) -> None:
    result = deviations.result(check, seed=seed)
    assert (result.verdict, result.message) == (Verdict.PASS, message)
    assert result.failing == ()
    assert result.mismatch is None


@pytest.mark.parametrize(
    ("y", "verdict", "message"),
    [
        ("d", "fail", "y differs in 3 of 4 cases; the smallest is small"),
        ("w * d * (1 + 1e-7)", "fail", "y differs in 2 of 4 cases; the smallest is small"),
        ("(w * d).astype(np.float32).astype(x.dtype) * (1 + 1e-9)", "fail", "y differs in 2 of 4 cases; the smallest is small"),
        ("w * d if len(x) else np.zeros((0, 5))", "fail", "y has shape (0, 5), expected (0, 4)"),
        ("None", "fail", "y is None, expected a float64 array of shape (1, 2)"),
        ("(v for v in w * d)", "fail", "y is a generator, expected a float64 array of shape (1, 2)"),
        ("10 ** 10_000", "fail", "y is an int of more than 300 digits, expected a float64 array of shape (1, 2)"),
        ("np.ma.masked_array(w * d, True)", "fail", "y is a numpy.ma.MaskedArray, expected a float64 array of shape (1, 2)"),
        ("np.asmatrix(w * d)", "fail", "y is a numpy.matrix, expected a float64 array of shape (1, 2)"),
        ("(w * d).astype(np.float32)", "fail", "y is float32, expected float64"),
        ("w * d * np.nan", "fail", "y holds NaN where -2.000 is expected"),
        ("w @ d", "error", "your centre raised ValueError in case small"),
        ("np.ones(1 << 40)", "limit", "your centre raised MemoryError in case small"),
    ],
)  # fmt: skip
def test_outputs_describe_the_first_mismatch(
    deviations: Desk, y: str, verdict: str, message: str
) -> None:
    result = deviations.result("forward", Y.format(y))
    assert (result.verdict, result.message) == (verdict, message)


def test_outputs_show_the_smallest_case_with_what_stands_beside_it(deviations: Desk) -> None:
    result = deviations.result("forward", Y.format("w * d + (d > 0)"))
    assert result.message == "y differs in 3 of 4 cases; the smallest is small"
    assert result.failing == ("small", "rows", "float32")
    assert result.case_line == "one row of two: x (1, 2), w (1, 2), grad_y (1, 2)"
    assert result.mismatch is not None
    assert (result.mismatch.result, result.mismatch.case) == ("y", "small")
    assert (result.mismatch.index, result.mismatch.wrong, result.mismatch.total) == ((0, 1), 1, 2)
    assert (result.mismatch.observed, result.mismatch.expected) == ("0", "-1.000")
    assert isinstance(result.exhibit, Grids)
    assert [p.title for p in result.exhibit.panels] == ["x", "w", "y, yours", "y, expected"]
    assert [p.rows for p in result.exhibit.panels] == [
        (("1", "3"),),
        (("2", "-1"),),
        (("-2", "0"),),
        (("-2", "-1"),),
    ]
    assert result.exhibit.panels[2].wrong == {(0, 1)}


@pytest.mark.parametrize(
    ("factor", "digits"), [("1.00000003", 7), ("(1 + 3e-10)", 9), ("1.002", 0)]
)
def test_outputs_that_are_nearly_right_are_said_to_be_so_and_no_cause_is_guessed(
    deviations: Desk, factor: str, digits: int
) -> None:
    result = deviations.result("forward", Y.format(f"(w * d * {factor})"), cases="rows")
    message = f"; it is right to about {digits} digits in case rows"
    assert result.message.endswith(message) is (digits > 0)
    assert "float32" not in result.message


def test_a_missing_result_is_asked_for(deviations: Desk) -> None:
    result = deviations.result("backward", "def centre_backward(grad_y, ctx): return grad_y")
    assert (result.verdict, result.message) == (
        Verdict.FAIL,
        "centre_backward returned one numpy.ndarray, expected 2 results (grad_x, grad_w) (case small)",
    )


def test_an_exception_carries_its_own_frames_and_what_was_called(deviations: Desk) -> None:
    source = "def helper(x):\n    return x[9]\n\n\ndef centre(x, w):\n    return helper(x), None\n"
    result = deviations.result("forward", source)
    assert result.verdict is Verdict.ERROR
    assert result.raised is not None
    assert [(f.line, f.function, f.source) for f in result.raised.frames] == [
        (6, "centre", "return helper(x), None"),
        (2, "helper", "return x[9]"),
    ]
    assert result.raised.step == "y, ctx = centre(x, w)"
    assert result.raised.called_with == "x (1, 2), w (1, 2)"


@pytest.mark.parametrize(
    ("grad_x", "grad_w", "message"),
    [
        ("w * grad_y", GRAD_W, "grad_x differs in 2 of 2 cases; the smallest is small"),
        (GRAD_X, "0 * d", "grad_w differs in 2 of 2 cases; the smallest is small"),
        (GRAD_X, "grad_y * d * (1 + 1e-5)", "grad_w differs in 2 of 2 cases; the smallest is small"),
        (GRAD_X + " * np.nan", GRAD_W, "grad_x differs in 2 of 2 cases; the smallest is small"),
        (GRAD_X, "None", "grad_w is None, expected floats of shape (1, 2)"),
        (GRAD_X, "d[0]", "grad_w is a float64 array of shape (2,), expected floats of shape (1, 2)"),
        (GRAD_X, "d > 0", "grad_w is a bool array of shape (1, 2), expected floats of shape (1, 2)"),
    ],
)  # fmt: skip
def test_gradcheck_finds_wrong_gradients(
    deviations: Desk, grad_x: str, grad_w: str, message: str
) -> None:
    result = deviations.result("slopes", GRADS.format(grad_x, grad_w))
    assert result.verdict is Verdict.FAIL
    assert result.message.removesuffix(" (case small)") == message


@pytest.mark.parametrize(
    ("source", "verdict"),
    [
        (GRADS.format(GRAD_X, GRAD_W + " * (1 + 1e-9)"), "pass"),
        # The reference's forward is what counts.
        (Y.format("2 * w * d") + GRADS.format(f"2 * {GRAD_X}", f"2 * {GRAD_W}"), "fail"),
    ],
)
def test_gradcheck_allows_rounding_only(deviations: Desk, source: str, verdict: str) -> None:
    assert deviations.result("slopes", source).verdict == verdict


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (Y.format("w * d\n    x += 1\n    x -= 1"), "centre changes its caller's x (case rows)"),
        (
            "def centre(x, w):\n    d = _centred(x)\n    w *= d\n    return w.copy(), (d, w / d)\n",
            "centre changes its caller's w (case rows)",
        ),
        (
            GRADS.format("grad_y.__imul__(w) - grad_y.mean(-1, keepdims=True)", "d * grad_y / w"),
            "centre_backward changes its caller's grad_y (case rows)",
        ),
        (
            "def centre(x, w):\n    d = _centred(x)\n    y = w * d\n    return y, (d, w, y)\n"
            "def centre_backward(grad_y, ctx):\n    d, w, y = ctx\n    y *= 0\n"
            f"    return {GRAD_X}, {GRAD_W}\n",
            "y is changed afterwards by centre_backward (case rows)",
        ),
        (
            "kept = []\ndef centre(x, w):\n    d = _centred(x)\n    kept[:] = [d]\n"
            "    return w * d, np.array(w)\n"
            f"def centre_backward(grad_y, w):\n    d = kept[0]\n    return {GRAD_X}, {GRAD_W}\n",
            "grad_w is right in a first call and wrong when calls take turns: something is kept "
            "outside of what the steps hand on (case rows)",
        ),
        (
            "room = np.empty((3, 4))\ndef centre(x, w):\n    d = _centred(x)\n"
            "    return np.multiply(w, d, out=room), (d, np.array(w))\n",
            "two calls return the same memory for y: what happens to one result happens to the other "
            "(case rows)",
        ),
        (
            Y.format("np.frombuffer(x.tobytes()).reshape(x.shape) * 0 + w * d "
                     "if x.flags.c_contiguous else d"),
            "y is wrong when the arrays are in Fortran order (case rows)",
        ),
        (
            "def centre_backward(grad_y, ctx):\n    return grad_y[...], grad_y",
            "grad_x shares its memory with grad_y: writing to one changes the other (case rows)",
        ),
        (
            Y.format("w * d if x.flags.writeable else 1 / 0"),
            "centre raises ZeroDivisionError when the arrays are read-only (case rows)",
        ),
        (
            Y.format("w * d if all(s > 0 for s in x.strides) else None"),
            "y is wrong when the arrays are reversed views (case rows)",
        ),
        (
            Y.format("w * d if x.strides[-1] == x.itemsize or x.flags.f_contiguous or "
                     "x.strides[-1] < 0 else 0 * d"),
            "y is wrong when the arrays are strided views (case rows)",
        ),
    ],
)  # fmt: skip
def test_side_effects_are_found(deviations: Desk, source: str, message: str) -> None:
    result = deviations.result("manners", source)
    assert (result.verdict, result.message) == (Verdict.FAIL, message)


@pytest.mark.parametrize(
    ("ctx", "message"),
    [
        ("(d, w)", None),
        ("(d, np.array(w), 1, 2.5, x.dtype, x.shape)", None),
        ("(d, np.array(w), x, x.copy())", "384 bytes kept in ctx, 256 bytes allowed (1.50x) in case rows"),
        ("lambda a=np.zeros(99): (d, w, a)", "984 bytes kept in ctx, 256 bytes allowed (3.8x) in case rows"),
        ("hidden.append(np.zeros(1000))", "4,312 bytes kept in ctx, 256 bytes allowed (16.8x) in case rows"),
        ("np.concatenate([d, w, np.zeros((999, 4))])[:6]", "32,160 bytes kept in ctx, 256 bytes allowed (126x) in case rows"),
    ],
)  # fmt: skip
def test_state_counts_every_reachable_byte(deviations: Desk, ctx: str, message: str | None) -> None:
    source = f"hidden = []\ndef centre(x, w):\n    d = _centred(x)\n    return w * d, {ctx}\n"
    result = deviations.result("kept", source)
    assert result.verdict is (Verdict.PASS if message is None else Verdict.FAIL)
    assert message is None or result.message == message


IN_PLACE = """
    run:
      - sums = begin(x)
      - y, after = add(x, sums)
      - last = end(after)
    cases: {long: {x: {normal: [4000]}}}
    checks:
      - {id: kept, kind: state, of: after, at_most: x.nbytes + 64}
"""


@pytest.mark.parametrize("more", ["", "    hidden.append(x.copy())\n"])
def test_an_update_in_place_does_not_excuse_hidden_state(tmp_path: Path, more: str) -> None:
    source = (
        "import numpy as np\nhidden = []\ndef begin(x):\n    return [np.zeros_like(x)]\n"
        f"def add(x, sums):\n{more}    sums[0] += x\n    return x + 1, sums\n"
        "def end(sums):\n    return sums[0] * 2\n"
    )
    with opened(tmp_path, IN_PLACE, source.replace(more, "")) as session:
        result = of(graded(session, source), "kept")
    assert result.verdict is (Verdict.FAIL if more else Verdict.PASS), result.message
    assert result.figures["bytes"] == pytest.approx(64_000 if more else 32_000, abs=5_000)


def test_a_budget_with_an_unknown_size_is_blamed_on_the_bank(deviations: Desk) -> None:
    for amount in ("8 * x.shape[7]", "1 / 0", "8 * y.sise"):
        with pytest.raises(BankProgramError, match=r"^kept: "):
            deviations.result("kept", at_most=amount)


@pytest.mark.parametrize("over", [[5], [-3], [0, 7]])
def test_axes_that_do_not_exist_are_blamed_on_the_bank(deviations: Desk, over: list[int]) -> None:
    with pytest.raises(BankProgramError, match="grad_x of shape"):
        deviations.result("rows-sum-to-0", over=over)


DEAD = "import os\ndef centre(x, w):\n    os._exit(3)\n"


def test_a_check_stops_if_the_process_has_ended(
    workers: tuple[WorkerClient, WorkerClient],
) -> None:
    with WorkerClient(torch=False) as doomed, pytest.raises(SubmissionStopped) as stopped:
        Desk("deviations", doomed, workers[1]).result("forward", DEAD)
    assert stopped.value.result.verdict is Verdict.ERROR
    assert stopped.value.result.message == (
        "your code ended its process (exit status 3) before it answered (case small)"
    )


def test_a_reference_that_fails_is_the_banks_fault(deviations: Desk) -> None:
    evaluation = deviations.evaluation()
    evaluation.reference = deviations.evaluation("def centre(x, w): raise ValueError").subject
    with pytest.raises(BankProgramError, match="the reference fails on case"):
        evaluation.reference_outcome("main", evaluation.cases["rows"])


def test_cases_are_tried_smallest_first(deviations: Desk) -> None:
    evaluation = deviations.evaluation()
    forward = deviations.check("forward")
    assert [c.name for c in evaluation.cases_of(forward)] == ["small", "rows", "empty", "float32"]


def test_every_program_gets_its_own_inputs(deviations: Desk) -> None:
    source = "def centre(x, w):\n    x[...] = 0\n    return w * x, None\n"
    evaluation = deviations.evaluation(source)
    before = {n: np.array(v) for n, v in evaluation.drawn_inputs(evaluation.cases["rows"]).items()}
    evaluation.subject_outcome("total", evaluation.cases["rows"])
    with pytest.raises(Exception, match="raised"):
        evaluation.subject_outcome("main", evaluation.cases["rows"])
    after: dict[str, Any] = evaluation.drawn_inputs(evaluation.cases["rows"])
    assert all(np.array_equal(before[n], after[n]) for n in before)


def test_the_failing_call_of_several_calls_of_a_function_is_named(tmp_path: Path) -> None:
    driver = "  driver: |\n    def third(program, x):\n        return program.f(x)\n"
    run = "run:\n  - a = f(x)\n  - b = f(y)\n  - c = driver.third(x)\n"
    spec = run + "cases:\n  one: {x: [1.0], y: [2.0, 3.0]}\nchecks:\n"
    spec += "  - {id: values, kind: outputs, of: [a, b, c]}\n"
    source = "CALLS = []\ndef f(x):\n    CALLS.append(1)\n"
    with opened(tmp_path, driver + spec, "def f(x): return 2 * x") as session:
        for count, step in [(2, "b = f(y)"), (3, "c = driver.third(x)")]:
            raises = f"{source}    return 2 * x / (len(CALLS) < {count} or [][0])\n"
            result = of(graded(session, raises), "values")
            assert result.message.startswith("your f raised IndexError")
            assert result.raised is not None
            assert result.raised.step == step
