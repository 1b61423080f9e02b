"""The audit reports what no case varies, with a case that would, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.audit.unvaried_inputs import unvaried_inputs
from grader.explain.session import GradingSession
from tests.audit.audits import audited, question

pytestmark = pytest.mark.usefixtures("one_zygote")

REFERENCE = """
    def scale(x, k, eps=1.0):
        return k * x + eps
"""
ROWS: dict[str, Any] = {"normal": [3, 4]}


def remarks_on(
    folder: Path, *cases: dict[str, Any], step: str = "scale(x, k)", **more: Any
) -> list[str]:
    """Return the remarks on a question with these cases."""
    asked = question(
        folder,
        reference=REFERENCE,
        variants={"open": "def scale(x, k, eps=1.0):\n    return x\n"},
        interface=more.pop("interface", "def scale(x, k): ..."),
        run=[f"y = {step}"],
        cases={f"case{number}": case for number, case in enumerate(cases)},
        **more,
    )
    with GradingSession(asked) as session:
        evaluation = session.new_evaluation(session.bank.reference, 0)
        return [
            text for text in unvaried_inputs(asked, evaluation) if not text.startswith("eps of")
        ]


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ((0.3, 0.3), ["every case has k 0.3; add `other-k: {extends: case0, k: 0.7}`"]),
        ((2, 2), ["every case has k 2; add `other-k: {extends: case0, k: 3}`"]),
        ((True, True), ["every case has k true; add `other-k: {extends: case0, k: false}`"]),
        (
            (2.0, -4.0),
            ["every case has k a whole number; add `other-k: {extends: case0, k: 3.25}`"],
        ),
        ((2.0, 0.5), []),
        ((2, 3), []),
        ((True, False), []),
        ((0.3,), []),  # a single case has no others to be like
    ],
)
def test_a_number_that_is_the_same_in_every_case_is_reported(
    tmp_path: Path, numbers: tuple[float, ...], expected: list[str]
) -> None:
    shapes = ([1, 2], [3, 4])
    cases = [{"x": {"normal": shape}, "k": k} for shape, k in zip(shapes, numbers, strict=False)]
    assert remarks_on(tmp_path, *cases) == expected


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("k  a number; x is scaled by it", True),
        ("x (N, D), and k a float", True),
        ("k  an int: a number", False),
        ("k  the number of rows", False),
        ("k  a side", False),
    ],
)
def test_an_input_that_is_called_a_number_and_is_always_whole_is_reported(
    tmp_path: Path, line: str, whole: bool
) -> None:
    cases: list[dict[str, Any]] = [{"x": {"normal": [n]}, "k": n} for n in (1, 2)]
    remarks = remarks_on(tmp_path, *cases, interface=f"def scale(x, k):\n    # {line}\n    ...")
    expected = ["every case has k a whole number; add `other-k: {extends: case0, k: 1.75}`"]
    assert remarks == (expected if whole else [])


def test_the_suggested_case_has_a_free_name(tmp_path: Path) -> None:
    cases = [{"x": {"normal": [n]}, "k": 2} for n in (1, 2)]
    with GradingSession(
        question(
            tmp_path,
            reference=REFERENCE,
            run=["y = scale(x, k)"],
            variants={"open": "def scale(x, k, eps=1.0):\n    return x\n"},
            cases={"rows": cases[0], "other-k": cases[1]},
        )
    ) as session:
        evaluation = session.new_evaluation(session.bank.reference, 0)
        (remark, *_) = (t for t in unvaried_inputs(session.question, evaluation) if " k " in t)
    assert remark == "every case has k 2; add `other-k-2: {extends: rows, k: 3}`"


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        (([[1.0, -2.5]], [[3.0]], [[1.0], [2.0]]), []),
        (([1.0, -2.0], [3.0], [4.0, 5.0, 6.0]), ["always whole"]),
        (([1.0, 2.5], [3.0], [4.0, 5.0, 6.0]), ["never negative"]),
        (({"normal": [2, 3]}, {"normal": [2, 4]}, {"normal": [2, 1]}),
         ["always of size 2 along axis 0"]),
        (({"normal": [2, 2]}, {"normal": [3, 3]}, {"normal": [1, 1]}),
         ["always of one size along axes 0 and 1"]),
        (({"normal": [1, 3]},) * 3, ["always of shape (1, 3)"]),
        (({"normal": [2]}, {"normal": [3]}, {"normal": [4]}), ["never of size 1"]),
        (({"normal": [2]}, {"normal": [3]}, {"normal": [0]}), []),
        (({"normal": [2, 3]}, {"normal": [3]}, {"normal": [4]}), []),  # in two forms
        (({"normal": [2]}, {"normal": [2]}), []),  # two cases say nothing of sizes
    ],
)  # fmt: skip
def test_an_array_that_is_alike_in_every_case_is_reported(
    tmp_path: Path, arrays: tuple[Any, ...], expected: list[str]
) -> None:
    cases = [{"x": x, "k": 0.5 + index} for index, x in enumerate(arrays)]
    assert remarks_on(tmp_path, *cases) == [f"x is {text}" for text in expected]


def test_a_dtype_that_is_promised_and_missing_in_all_cases_is_reported(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [{"x": ROWS, "k": 0.5}, {"x": {"normal": [1]}, "k": 1.5}]
    promised = "def scale(x, k):  # x float32 or float64"
    (text,) = remarks_on(tmp_path / "a", *cases, interface=promised)
    assert text == "no case is float32; add `other-dtype: {extends: case0, dtype: float32}`"
    assert remarks_on(tmp_path / "b", *cases) == []
    cases[1]["dtype"] = "float32"
    assert remarks_on(tmp_path / "c", *cases, interface=promised) == []


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (["y = scale(x, k)"], ["eps of scale is left out in every step"]),
        (["y = scale(x, k, eps)"], ["eps of scale is given in every step"]),
        (["y = scale(x, k, eps=0.5)"], ["eps of scale is given in every step"]),
        (["y = scale(x, k)", "z = scale(x, k, eps=k)"], []),
    ],
)
def test_an_argument_with_a_default_is_reported_unless_steps_vary_it(
    tmp_path: Path, steps: list[str], expected: list[str]
) -> None:
    case: dict[str, Any] = {"x": ROWS, "k": 0.5}
    case |= {"eps": 0.25} if "eps)" in steps[0] else {}
    report = audited(
        tmp_path,
        reference=REFERENCE,
        variants={"open": "def scale(x, k, eps=1.0):\n    return x\n"},
        interface="def scale(x, k): ...",
        run=steps,
        cases={"one": case, "other": case | dict.fromkeys({"k", "eps"} & {*case}, 1.75)},
    )
    assert [note.removeprefix("never varied: ") for note in report.notes] == expected
    assert report.ok, report.problems


@pytest.mark.parametrize(
    ("words", "numbers", "expected"),
    [
        ("k is at least 1", (2.5, 3.0), ["no case has k at its limit 1; add "
         "`other-k: {extends: case0, k: 1}`"]),
        ("k is at least 1", (2.5, 1.0), []),
        ("x, k and eps are at least 1", (2.5, 3.0), ["no case has k at its limit 1; add "
         "`other-k: {extends: case0, k: 1}`"]),
        ("0 <= k", (2.5, 3.0), ["no case has k at its limit 0; add "
         "`other-k: {extends: case0, k: 0}`"]),
        ("k from 2.5 to 4", (2.5, 3.0), ["no case has k at its limit 4; add "
         "`other-k: {extends: case0, k: 4}`"]),
        ("k is above 0", (2.5, 1e-9), ["no case has k near its limit 0; add "
         "`other-k: {extends: case0, k: 1.0e-20}`"]),
        ("k is above 0", (2.5, 1e-16), []),
        ("k is above 2", (2.5, 3.0), []),  # what is near 2 depends on the question
        ("k is below 1 - x, where eps is at least 1", (2.5, 3.0), []),
        ("blocks of k, at least 1", (2.5, 3.0), []),
    ],
)  # fmt: skip
def test_a_number_that_is_never_at_a_stated_limit_is_reported(
    tmp_path: Path, words: str, numbers: tuple[float, float], expected: list[str]
) -> None:
    cases: list[dict[str, Any]] = [
        {"x": {"normal": shape}, "k": k} for shape, k in zip(([1, 2], [3, 4]), numbers, strict=True)
    ]
    assert remarks_on(tmp_path, *cases, contract=[words]) == expected


def test_probabilities_that_are_never_nearly_0_are_reported(tmp_path: Path) -> None:
    cases: list[dict[str, Any]] = [{"x": [[0.25, 0.75, 0.0]], "k": 0.5}, {"x": [[1.0]], "k": 1.5}]
    expected = ["x is never between 0 and 0.25 and never negative"]
    assert remarks_on(tmp_path / "a", *cases) == expected
    cases[1]["x"] = [[1.0 - 1e-7, 1e-7]]
    assert remarks_on(tmp_path / "b", *cases) == ["x is never negative"]
