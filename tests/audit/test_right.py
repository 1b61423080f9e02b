"""What is right passes every check, however it is written, or the question is at fault."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.audit import right
from grader.audit.audit import audit
from grader.model.audit import Accepted, AuditReport
from grader.sandbox.worker.mutate.styles import OtherStyle, Reversed, backwards
from tests.audit.audits import SPEC, audited, question

pytestmark = pytest.mark.usefixtures("one_zygote")

RNG = np.random.default_rng(7)
SUMS: list[tuple[tuple[int, ...], Any]] = [
    ((50,), None), ((3, 40), 0), ((3, 40), (0, 1)), ((30, 4), -1), ((2, 30, 4), (0, 2)),
    ((0, 3), 0),
]  # fmt: skip
PRODUCTS = [
    ((30,), (30,)), ((2, 30), (30,)), ((30,), (30, 4)), ((2, 30), (30, 4)), ((5, 2, 30), (30, 4)),
    ((5, 2, 30), (5, 30, 4)), ((30,), (5, 30, 4)), ((5, 2, 30), (30,)), ((2, 0), (0, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "axis"), SUMS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_in_another_order_are_the_same_sums(
    shape: tuple[int, ...], axis: Any, keepdims: bool
) -> None:
    plain = RNG.standard_normal(shape)
    for function in (np.sum, np.mean) if plain.size else (np.sum,):
        found = function(backwards(plain), axis=axis, keepdims=keepdims)
        wanted = function(plain, axis=axis, keepdims=keepdims)
        assert np.shape(found) == np.shape(wanted)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("left", "right"), PRODUCTS)
def test_so_are_products_of_matrices(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = RNG.standard_normal(left), RNG.standard_normal(right)
    found = backwards(a) @ b
    assert np.shape(found) == np.shape(a @ b)
    np.testing.assert_allclose(np.asarray(found), a @ b, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("subscripts", ["nck,ok->nco", "nck,ok->no", "nck,ok->", "nck,ok"])
def test_so_are_einsums(subscripts: str) -> None:
    a, b = RNG.standard_normal((2, 3, 40)), RNG.standard_normal((5, 40))
    found = np.einsum(subscripts, backwards(a), b)
    np.testing.assert_allclose(np.asarray(found), np.einsum(subscripts, a, b), rtol=1e-11)


def test_the_order_is_another_one_indeed() -> None:
    plain = RNG.standard_normal((200, 300))
    assert np.any(np.asarray(backwards(plain).sum(1)) != plain.sum(1))
    assert np.any(np.asarray(backwards(plain) @ plain.T) != plain @ plain.T)


def test_an_array_that_is_masked_or_written_to_by_numpy_is_as_always() -> None:
    some = backwards(RNG.standard_normal(6))
    whole = np.divide(1.0, some, out=np.zeros(6), where=some > 0)
    np.testing.assert_array_equal(whole, np.where(some > 0, 1 / np.asarray(some), 0))
    assert type(np.where(some > 0, some, 0)) is Reversed


def styled(style: str, function: Any, *given: Any) -> Any:
    """What a function gives in a style."""
    return OtherStyle(style).stand_in(function)(*given)


def test_float64_inside_gives_back_the_types_of_the_reference() -> None:
    x = RNG.standard_normal((40, 50)).astype(np.float32)

    def mean(x: np.ndarray[Any, Any], floor: float) -> Any:
        return {"mean": x.mean(1), "first": float(x[0, 0]), "ctx": (x, floor)}, x.argmax()

    def context(x: np.ndarray[Any, Any]) -> Any:
        return SimpleNamespace(dtype=x.dtype)

    assert styled("float64", context, x).dtype == np.float32, "an object is the original's"
    (found, place), (plain, right) = styled("float64", mean, x, 0.5), mean(x, 0.5)
    assert found["mean"].dtype == np.float32
    assert type(found["ctx"][0]) is np.ndarray
    assert found["ctx"][0].dtype == np.float32
    assert place == right
    np.testing.assert_array_equal(found["mean"], x.astype(np.float64).mean(1).astype(np.float32))
    assert np.any(found["mean"] != plain["mean"])


@pytest.mark.parametrize("style", [*right.STYLES])
def test_what_a_reference_writes_into_its_arguments_is_written(style: str) -> None:
    weights = [RNG.standard_normal((3, 4)).astype(np.float32)]
    wanted = weights[0] * np.float32(0.5)

    def decay(weights: list[np.ndarray[Any, Any]]) -> None:
        weights[0] *= np.float32(0.5)

    styled(style, decay, weights)
    np.testing.assert_array_equal(weights[0], wanted)


CENTER = """
    import numpy as np

    def relu(x):
        return x - x.sum(-1, keepdims=True) / x.shape[-1]
"""


def centered(folder: Path, **changes: Any) -> AuditReport:
    """Audit a question about a mean."""
    return audited(folder, seeds=(1, 2), reference=CENTER, **changes)


def test_every_style_passes_a_question_with_a_fair_band(tmp_path: Path) -> None:
    report = centered(tmp_path)
    assert report.problems == ()
    names = ["longdouble", "reversed", "fortran"]  # nothing is narrower than float64
    assert report.accepted == tuple(Accepted(name, 2, 2, derived=True) for name in names)


def test_a_band_that_turns_them_down_is_a_fault_of_the_question(tmp_path: Path) -> None:
    exact = [{"id": "gate", "kind": "outputs", "of": "y", "exact": True}]
    cases = {"many": {"x": {"normal": [40, 50]}}}
    problems = centered(tmp_path, checks=exact, cases=cases).problems
    assert problems[0].startswith(
        "the reference computed in long double and cast back is right, and gate does not pass it "
        "on all 2 seeds: y differs"
    )
    assert "adds from the last term to the first is right" in problems[1]


def test_a_style_that_cannot_be_made_is_a_note(tmp_path: Path) -> None:
    picky = CENTER.replace("return x", "assert x.dtype == np.float64\n        return x")
    report = audited(tmp_path, reference=picky)
    assert report.problems == ()
    assert report.notes == (
        "there is no right program in the style longdouble: its relu raised AssertionError in case "
        "signs",
    )


def test_a_class_has_none_and_that_is_one_note(tmp_path: Path) -> None:
    source = CENTER + "\n    class relu:\n        def __new__(cls, x):\n            return x * 2\n"
    report = audited(tmp_path, reference=source)
    assert report.problems == ()
    assert report.notes == (
        "there is no right program in the style longdouble or reversed or fortran: "
        "what is called is no function",
    )


# Those that come with a question.

LOOPS = """\
import numpy as np

def relu(x):
    y = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        if x[place] > 0:
            y[place] = x[place]
    return y
"""
LEAKY = """\
import numpy as np

def relu(x):
    return np.where(x > 0, x, 0.01 * x)
"""


def held(folder: Path, *, seeds: tuple[int, ...] = (1, 2), **sources: str) -> AuditReport:
    """Audit the question with these right solutions inline."""
    code: dict[str, Any] = {"accepted": sources}
    return audit(question(folder, **(SPEC | {"code": code})), seeds=seeds)


def test_right_solutions_in_other_styles_are_held_on_every_seed(tmp_path: Path) -> None:
    report = held(tmp_path, loops=LOOPS)
    assert report.problems == ()
    assert report.accepted[0] == Accepted("loops", 2, 2)


def test_one_that_a_check_does_not_pass_is_a_fault_with_file_check_and_message(
    tmp_path: Path,
) -> None:
    report = held(tmp_path, loops=LOOPS, leaky=LEAKY)
    (problem,) = report.problems
    assert problem.startswith(
        "questions/gate.yaml: gate does not pass leaky, and it is right, on all 2 seeds: "
        "y differs in 2 of 2 cases"
    )
    assert report.accepted[:2] == (Accepted("loops", 2, 2), Accepted("leaky", 0, 2))


def test_one_that_does_not_load_is_a_fault_with_its_line(tmp_path: Path) -> None:
    (problem,) = held(tmp_path, broken="import nunpy\n").problems
    assert problem.startswith("questions/gate.yaml: the accepted broken cannot be loaded: raised")
    assert "No module named 'nunpy'" in problem


def test_it_stands_alone_and_not_over_the_reference(tmp_path: Path) -> None:
    (problem,) = held(tmp_path, empty="def other(x):\n    return x\n").problems
    assert problem == (
        "questions/gate.yaml: the accepted empty does not define relu on all 2 seeds"
    )
