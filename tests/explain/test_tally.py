"""The tally of the corpus counts wrong programs by how they are explained."""

from __future__ import annotations

import runpy

import pytest

from tests.asking import ROOT

TALLY = runpy.run_path(str(ROOT / "benchmarks" / "corpus_reports.py"))
is_held_out, way_of = TALLY["is_held_out"], TALLY["way_of"]
NAMED, RULE, RESULTS = {"id": "x"}, {"kind": "rule"}, {"kind": "results"}


@pytest.mark.parametrize(
    ("message", "way"),
    [
        ("y differs in 3 of 9 entries in case rows", "numbers"),
        ("y differs in 2 of 3 cases; the smallest is rows", "numbers"),
        ("loss is 1.889, expected 1.960 in case one", "numbers"),
        ("loss is None, expected the number 0", "numbers"),
        ("moved[1] is False, expected True", "numbers"),
        ("y holds NaN where 0 is expected", "numbers"),
        ("grad_q disagrees with differences of the forward in 3 of 6 entries in case a", "numbers"),
        ("grad_k summed over axes [1] is 0.0825, expected 0, 0 at [1, 0] in case a", "numbers"),
        ("the last of 21 values of losses is 1.959, expected below 1.250 (case rate)", "numbers"),
        ("weights, total are wrong in case seven", "numbers"),
        ("your step raised TypeError in case late", "check"),
        ("grad_w has shape (2, 3), expected (3, 2)", "check"),
        ("y is float64, expected float32", "check"),
        ("y is a list of 3, expected a float64 array of shape (3)", "check"),
        ("900 bytes kept in ctx, 400 bytes allowed (2.3x) in case a", "check"),
        ("step changes its caller's grad_p (case two)", "check"),
    ],
)
def test_a_message_says_what_is_wrong_or_gives_numbers(message: str, way: str) -> None:
    check = {"message": message, "verdict": "fail", "stretch": False}
    numbers = {"message": "y differs in 1 of 9 entries", "verdict": "fail", "stretch": False}
    report = {"checks": [numbers, check], "message": ""}
    assert way_of(report) == way
    assert way_of({**report, "explanations": [RESULTS]}) == "results"
    assert way_of({**report, "explanations": [RESULTS, RULE]}) == "explained"
    assert way_of({**report, "explanations": [RULE], "misconceptions": [NAMED]}) == "named"


def test_a_third_of_the_corpus_is_held_out_by_name() -> None:
    names = [f"question/wrong/{number}" for number in range(3000)]
    number_held_out = sum(map(is_held_out, names))
    assert 900 < number_held_out < 1100
    assert is_held_out("lm-loss-step/wrong/sum") != is_held_out("adamw/wrong/sum")
