"""Steps are assignments of calls with names and literals, and nothing else."""

from __future__ import annotations

import pytest

from grader.cases.step_syntax import StepError, parse_step
from grader.model.steps import Argument

ARGUMENT = "expected a name, a literal or a list of these as an argument"
NO_CALL = "expected one assignment of a call"


def test_a_step_is_read_into_its_parts() -> None:
    step = parse_step(
        " y, ctx = forward(x, 3, [a, 2], stride=stride, mode='same', bias=None, into=[]) "
    )
    assert (
        step.text
        == "y, ctx = forward(x, 3, [a, 2], stride=stride, mode='same', bias=None, into=[])"
    )
    assert (step.targets, step.unpack) == (("y", "ctx"), True)
    assert (step.owner, step.function) == ("submission", "forward")
    assert step.arguments == (
        Argument("x"),
        Argument(None, 3),
        Argument(None, items=(Argument("a"), Argument(None, 2))),
        Argument("stride", None, "stride"),
        Argument(None, "same", "mode"),
        Argument(None, None, "bias"),
        Argument(None, None, "into", ()),
    )
    assert step.names_read == ("x", "a", "stride")


@pytest.mark.parametrize(
    ("text", "torch", "owner", "unpack"),
    [
        ("g = vjp(y, grad_y, x)", True, "torch", False),
        ("g = vjp(y, grad_y, x)", False, "submission", False),
        ("g = driver.vjp(y, x)", True, "driver", False),
        ("y = f(-1.5e-3, True, 1_000)", False, "submission", False),
        ("(y,) = f()", False, "submission", True),
        ("[a, b] = f(x)", False, "submission", True),
    ],
)
def test_the_forms_of_a_step(text: str, torch: bool, owner: str, unpack: bool) -> None:
    step = parse_step(text, torch=torch)
    assert (step.owner, step.is_backward, step.unpack) == (owner, owner == "torch", unpack)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NO_CALL), ("y += f(x)", NO_CALL), ("y = z = f(x)", NO_CALL), ("import os", NO_CALL),
        ("y = x", "expected a call on the right of '='"),
        ("y = [f(x)]", "expected a call on the right of '='"),
        ("y[0] = f(x)", "expected names on the left of '='"),
        ("y = f(x)(z)", "expected FUNCTION, driver.FUNCTION or judge.FUNCTION"),
        ("y = driver.a.b(x)", "expected FUNCTION, driver.FUNCTION or judge.FUNCTION"),
        ("y = f(x + 1)", ARGUMENT), ("y = f(g(x))", ARGUMENT),
        ("y = f([[x], 2])", f"{ARGUMENT}, found '[[x], 2]'; a list holds no lists"),
        ("y = f([*x])", ARGUMENT), ("y = f(())", ARGUMENT), ("y = f(1j)", ARGUMENT),
        ("y = f(f'{x}')", ARGUMENT), ("y = f(x := 1)", ARGUMENT),
        (f"y = f({'-' * 180}x)", ARGUMENT),
        ("y = f(**x)", "expected plain arguments, found '**'"),
        ("y = f(a=1, a=2)", "expected each argument once"),
        ("y = f([a, b]", "expected 'NAME = FUNCTION(NAMES)'"),
        (f"y = {'f(' * 90}", "expected 'NAME = FUNCTION(NAMES)'"),
        (f"y = f({'-' * 100_000}1)", "expected a step of at most 200 characters"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_with_a_sentence(text: str, expected: str) -> None:
    with pytest.raises(StepError) as raised:
        parse_step(text)
    assert str(raised.value).startswith(expected)
    assert len(str(raised.value)) < 600
