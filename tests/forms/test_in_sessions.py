"""Answers graded: right ones in any form pass, wrong ones are named, none of them runs here."""

from __future__ import annotations

import math
import types
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader import bank
from grader.model.question import Question
from grader.model.report import Report, Verdict
from grader.session import GradingSession

pytestmark = pytest.mark.usefixtures("one_zygote")

ROOT = Path(__file__).parents[2]
IDS = (
    "decode-on-paper",
    "nine-cells",
    "roofline-and-ledger",
    "seven-windows",
    "softmax-five-lines",
    "two-rows-count",
)
LINES = """L = {L}
dL_dp[i] = {dL_dp}
dp_dz[i,j] = {dp_dz}
chain[j] = {chain}
dL_dz[j] = {dL_dz}
"""
RIGHT = {
    "L": "-sum(k, y[k] * log(p[k]))",
    "dL_dp": "-y[i] / p[i]",
    "dp_dz": "p[i] * (d(i, j) - p[j])",
    "chain": "sum(k, -y[k] * (d(k, j) - p[j]))",
    "dL_dz": "p[j] - y[j]",
}
WRONG = {  # what the table of the question's ideas says of each, and two that are not listed
    ("L", "-log(sum(k, y[k] * p[k]))"): "log-of-the-sum",
    ("dL_dp", "y[i] / p[i]"): "minus-forgotten",
    ("dL_dp", "-1 / p[i]"): "weight-forgotten",
    ("dp_dz", "d(i,j) * p[i] * (1 - p[i])"): "diagonal-only",
    ("dp_dz", "p[i] * (p[j] - d(i,j))"): "softmax-sign",
    ("chain", "sum(k, d(k, j) * y[k] * (p[j] - 1))"): "own-term-only",
    ("dL_dz", "y[j] - p[j]"): "descent-direction",
    ("dL_dz", "y[j] * (p[j] - 1)"): "target-only",
    ("dL_dz", "p[j] * (p[j] - y[j])"): "sigmoid-habit",
    # Beyond the list: no idea may be named.
    ("L", "sum(k, y[k] * log(p[k]))"): "",
    ("L", "-sum(k, log(p[k]))"): "",
    ("L", "-sum(k, y[k] * p[k])"): "",
    ("L", "-sum(k, y[k] * log(p[k])) / 3"): "",
    ("dL_dp", "-y[i]"): "",
    ("dL_dp", "-log(p[i])"): "",
    ("dL_dp", "-p[i] / (y[i] + 1)"): "",
    ("dp_dz", "p[i] * (1 - p[j])"): "delta-forgotten",
    ("dp_dz", "p[i] * (1 - p[i])"): "delta-forgotten",
    ("dp_dz", "-p[i] * p[j]"): "",
    ("dp_dz", "p[j] * (d(i, j) - p[j])"): "",
    ("dp_dz", "d(i, j) * p[i]"): "",
    ("chain", "sum(k, y[k] * (d(k, j) - p[j]))"): "",
    ("chain", "sum(k, -y[k] / p[k])"): "",
    ("dL_dz", "2 * (p[j] - y[j])"): "",
    ("dL_dz", "p[j]"): "",
    ("dL_dz", "p[j] - 1"): "",
    ("dL_dz", "exp(z[j]) - y[j]"): "",
}
NUMBERS = (
    "kv_token = {}\nkv_total = {}\ndecode_intensity = {}\ndecode_time = {}\nprefill_time = {}\n"
)
ESTIMATES = {
    "": ("96 KiB", "28.3 GB", "12.3 FLOP/B", "17.3 ms", "359 ms"),
    "query-heads": ("480 KiB", "141.6 GB", "4.15 FLOP/B", "51 ms", "0.359 s"),
    "keys-only": ("48 KiB", "14.2 GB", "16.2 FLOP/B", "13 ms", "0.359 s"),
    "cache-in-bf16": ("192 KiB", "56.6 GB", "8.24 FLOP/B", "25.7 ms", "0.359 s"),
    "one-layer": ("2 KiB", "590 MB", "23.5 FLOP/B", "9.01 ms", "0.359 s"),
    "one-sequence": ("96 KiB", "1.18 GB", "12.3 FLOP/B", "17.3 ms", "0.359 s"),
    "gib-labelled-gb": ("96 KiB", "26.4 GB", "12.3 FLOP/B", "17.3 ms", "0.359 s"),
    "cache-not-read": ("96 KiB", "28.3 GB", "24 FLOP/B", "8.84 ms", "0.359 s"),
    "weights-per-sequence": ("96 KiB", "28.3 GB", "0.962 FLOP/B", "220 ms", "0.359 s"),
    "decode-by-peak": ("96 KiB", "28.3 GB", "12.3 FLOP/B", "0.718 ms", "0.359 s"),
    "one-flop-per-weight": ("96 KiB", "28.3 GB", "6.13 FLOP/B", "17.3 ms", "0.180 s"),
    "sparse-peak": ("96 KiB", "28.3 GB", "12.3 FLOP/B", "17.3 ms", "0.1795 s"),
    "bits-for-bytes": ("96 KiB", "28.3 GB", "12.3 FLOP/B", "138 ms", "0.359 s"),
}


def question(name: str) -> Question:
    return bank.load([ROOT], name)


@pytest.fixture(scope="module", params=IDS)
def session(request: pytest.FixtureRequest) -> Iterator[GradingSession]:
    with GradingSession(question(request.param)) as opened:
        yield opened


@pytest.fixture(scope="module")
def derivation() -> Iterator[GradingSession]:
    with GradingSession(question("softmax-five-lines")) as opened:
        yield opened


@pytest.fixture(scope="module")
def estimate() -> Iterator[GradingSession]:
    with GradingSession(question("decode-on-paper")) as opened:
        yield opened


def graded(session: GradingSession, text: str) -> Report:
    return session.grade(text.encode(), seed=11, filename="answers.txt")


def names(report: Report) -> set[str]:
    return {one.id for one in report.misconceptions if one.exact}


def test_accepted_answers_pass(session: GradingSession) -> None:
    assert session.question.accepted
    for name, text in session.question.accepted.items():
        report = session.grade(text, seed=11, filename="answers.txt")
        assert report.verdict is Verdict.PASS, name


def test_an_untouched_file_says_so_and_costs_no_try(session: GradingSession) -> None:
    report = session.grade(session.question.starter, seed=11, filename="answers.txt")
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("answers.txt: nothing is answered yet")
    assert report.unchanged  # a class does not count who hands it in
    assert report.raised is not None
    assert report.raised.is_of_text


@pytest.mark.parametrize("text", ["", "import os", "x = 1", "\0", "L = ?" * 9000, "\ud800"[:0]])
def test_what_is_no_file_of_answers_never_runs(session: GradingSession, text: str) -> None:
    report = graded(session, text)
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("answers.txt:")


@pytest.mark.parametrize("line", WRONG, ids=lambda line: f"{line[0]}: {line[1]}")
def test_a_wrong_line_is_named(line: tuple[str, str], derivation: GradingSession) -> None:
    report = graded(derivation, LINES.format(**{**RIGHT, line[0]: line[1]}))
    assert report.verdict is Verdict.FAIL
    assert names(report) == ({WRONG[line]} if WRONG[line] else set())
    assert len([c for c in report.checks if c.verdict is Verdict.FAIL]) == 1


def test_a_line_that_is_open_leaves_the_others_judged(derivation: GradingSession) -> None:
    report = graded(derivation, LINES.format(**{**RIGHT, "chain": "?"}))
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts.pop("chain") is Verdict.FAIL
    assert set(verdicts.values()) == {Verdict.PASS}
    open_ = next(check for check in report.checks if check.id == "chain")
    assert open_.message == "chain[j] has no answer yet"


def test_estimates_that_are_open_leave_the_others_judged(estimate: GradingSession) -> None:
    report = graded(estimate, NUMBERS.format("96 KiB", "28 GB", "?", "?", "?"))
    assert {check.id: check.message for check in report.checks} == {
        "cache": "1 case",
        "decode": "decode_intensity and decode_time have no answer yet",
        "prefill": "prefill_time has no answer yet",
    }


def test_the_caret_is_at_what_is_wrong(estimate: GradingSession) -> None:
    report = graded(estimate, NUMBERS.format("96 KiB", "28.3 gb", "?", "?", "?"))
    assert report.raised is not None
    assert report.raised.frames[0].source[(report.raised.column or 0) - 1 :] == "gb"


@pytest.mark.parametrize(
    ("name", "formula", "said"),
    [
        ("chain", "p[j] - y[j]", "chain[j] is to be written with sum"),
        ("L", "q", "q is not a symbol; use z, p, y"),
    ],
)
def test_a_line_that_breaks_the_rules_has_its_place(
    name: str, formula: str, said: str, derivation: GradingSession
) -> None:
    report = graded(derivation, LINES.format(**{**RIGHT, name: formula}))
    line = [*RIGHT].index(name) + 1
    assert report.message == f"answers.txt:{line}: {said}"
    assert report.raised is not None
    assert report.raised.frames[0].line == line


def test_what_overflows_fails_its_line_alone(derivation: GradingSession) -> None:
    report = graded(derivation, LINES.format(**{**RIGHT, "dL_dp": "9 ** 9 ** 9"}))
    verdicts = {check.id: check.verdict for check in report.checks}
    assert verdicts.pop("outer") is Verdict.ERROR
    assert set(verdicts.values()) == {Verdict.PASS}
    outer = next(check for check in report.checks if check.id == "outer")
    assert outer.raised is not None
    assert outer.raised.type == "OverflowError"
    (frame,) = outer.raised.frames
    assert (frame.line, frame.source) == (2, "dL_dp[i] = 9 ** 9 ** 9")  # of the file


@pytest.mark.parametrize("idea", ESTIMATES)
def test_estimates_as_people_round_them_are_named(idea: str, estimate: GradingSession) -> None:
    report = graded(estimate, NUMBERS.format(*ESTIMATES[idea]))
    assert report.verdict is (Verdict.FAIL if idea else Verdict.PASS)
    assert names(report) == ({idea} if idea else set())
    assert all(one.rounded for one in report.misconceptions)


@pytest.mark.parametrize(
    "texts",
    [
        ("98 B", "28.3 GB", "12.3 FLOP/B", "17.3 ms", "359 ms"),  # a thousand times too small
        ("96 KiB", "30 GB", "12.3 FLOP/B", "17.3 ms", "359 ms"),  # rounded too far
        ("96 KiB", "28.3 GB", "295 FLOP/B", "17.3 ms", "359 ms"),  # the ridge of the card
        ("96 KiB", "28.3 GB", "12.3 FLOP/B", "17.3 s", "359 ms"),
        ("96 KiB", "28.3 GB", "12.3 FLOP/B", "17.3 ms", "0.0000299 s"),  # of one token
        ("0 B", "0 B", "0 FLOP/B", "0 s", "0 s"),
    ],
)
def test_other_wrong_estimates_are_given_no_name(
    texts: tuple[str, ...], estimate: GradingSession
) -> None:
    report = graded(estimate, NUMBERS.format(*texts))
    assert report.verdict is Verdict.FAIL
    assert names(report) == set()


def test_the_numbers_are_those_of_other_people() -> None:
    """Torch's pooling and autograd, and what the source of the estimates has computed."""
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 4, 4, 2, 9, 3, 9], dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.max_pool1d(x[None, None], 3, 2)
    (grad,) = torch.autograd.grad(y, x, torch.tensor([[[2.0, 3, 5]]], dtype=torch.float64))
    program = types.ModuleType("reference")
    exec(question("seven-windows").reference, vars(program))
    given = (x.detach().tolist(), 3, 2, [2.0, 3.0, 5.0])
    assert program.entries(*given) == {f"grad_x[{i}]": grad[i].item() for i in (1, 4, 6)}

    logits = torch.tensor([[0.0, math.log(3), math.log(6)]] * 3, dtype=torch.float64)
    targets = torch.tensor([1, 0, -1])
    logits.requires_grad_()
    (slopes,) = torch.autograd.grad(
        torch.nn.functional.cross_entropy(logits, targets, ignore_index=-1), logits
    )
    counted = types.ModuleType("reference")
    exec(question("two-rows-count").reference, vars(counted))
    found = counted.entries([1.0, 3.0, 6.0], 1, 2, 3)
    assert list(found.values()) == pytest.approx(slopes[0].tolist(), abs=1e-15)

    lines = types.ModuleType("reference")
    exec(question("softmax-five-lines").reference, vars(lines))
    z = torch.tensor([0.3, -1.2, 2.0, 0.1], dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.1, 0.2, 0.3, 0.4], dtype=torch.float64)
    loss = torch.nn.functional.cross_entropy(z[None], weights[None])
    (slope,) = torch.autograd.grad(loss, z)
    jacobian = torch.autograd.functional.jacobian(lambda a: a.softmax(0), z)
    p = z.detach().softmax(0).requires_grad_()
    (outer,) = torch.autograd.grad(-(weights * p.log()).sum(), p)
    args = (z.detach().numpy(), p.detach().numpy(), weights.numpy())
    assert np.isclose(lines.L(*args), loss.item(), rtol=1e-12)
    assert np.allclose(lines.dL_dp(*args), outer.numpy(), rtol=1e-12)
    assert np.allclose(lines.dp_dz(*args), jacobian.numpy(), rtol=1e-12)
    assert np.allclose(lines.chain(*args), slope.numpy(), rtol=1e-12)
    assert np.allclose(lines.dL_dz(*args), slope.numpy(), rtol=1e-12)


def test_the_figures_of_the_estimate() -> None:
    """Bytes by hand: 2 * 48 * 8 * 128, times 288,000 tokens; the rest by division."""
    program = types.ModuleType("reference")
    exec(question("decode-on-paper").reference, vars(program))
    shape = (48, 40, 8, 128, 12_000, 24)
    assert program.cache(*shape) == {"kv_token": 98_304, "kv_total": 98_304 * 288_000}
    decode = program.decode(*shape, 14_800_000_000)
    read = 29.6e9 + 28.311552e9
    assert decode == pytest.approx(
        {"decode_intensity": 710.4e9 / read, "decode_time": read / 3.35e12}
    )
    assert program.prefill(12_000, 14_800_000_000)["prefill_time"] == pytest.approx(
        355.2e12 / 989e12
    )
