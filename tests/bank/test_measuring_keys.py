"""What is said about the keys of measurements: timed cases, large ones, forbidden calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bank.specs import edited, problems

TIMED = "  - {id: speed, kind: performance, at_most: 2, cases: CASES}\nmisconceptions:"
KEPT = (
    "  - {id: kept, kind: state, of: ctx, at_most: 8, cases: small, large: CASE}\nmisconceptions:"
)


@pytest.mark.parametrize(
    ("edits", "said"),
    [
        (
            ("misconceptions:", TIMED.replace("CASES", "[fixed]"),
             "  wide: {", "  fixed: {x: [[1.0]], factor: 3, grad_y: [[1.0]]}\n  wide: {"),
            "speed: expected inputs that are drawn, found only fixed ones in case fixed: "
            "remembering the answer would be fast",
        ),
        (
            ("misconceptions:", KEPT.replace("CASE", "wid")),
            "kept: expected the name of a case, found 'wid'; did you mean 'wide'?",
        ),
        (
            ("hints:", "forbids: [torch.relu]\nhints:"),
            "forbids: torch.relu needs torch in uses, found ['numpy']",
        ),
        (
            ("hints:", "forbids: ['aten::*pool*']\nhints:"),
            "forbids: aten::*pool* needs torch in uses, found ['numpy']",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_said(tmp_path: Path, edits: tuple[str, ...], said: str) -> None:
    assert any(said in problem for problem in problems(tmp_path, edited(*edits)))


@pytest.mark.parametrize(
    "edits",
    [
        ("misconceptions:", TIMED.replace("CASES", "[small, wide]")),
        ("misconceptions:", KEPT.replace("CASE", "wide")),
        ("hints:", "forbids: [numpy.multiply, numpy.linalg.solve]\nhints:"),
    ],
)
def test_what_can_be_measured_is_accepted(tmp_path: Path, edits: tuple[str, ...]) -> None:
    assert problems(tmp_path, edited(*edits)) == []


@pytest.mark.parametrize(
    "name", ["solve", "scipy.linalg.solve", "numpy", "numpy.", "aten::", "os.system"]
)
def test_only_names_of_numpy_and_torch_can_be_forbidden(tmp_path: Path, name: str) -> None:
    (problem,) = problems(tmp_path, edited("hints:", f"forbids: ['{name}']\nhints:"))
    expected = "expected a call such as numpy.dot, torch.relu or aten::relu*, found"
    assert f"forbids[0]: {expected}" in problem
