"""Steps are assignments of calls with names and literals, and nothing else."""

from __future__ import annotations

import pytest

from grader.bank.steps import StepError, parse
from grader.model.question import Argument


def test_a_step_is_read_into_its_parts() -> None:
    step = parse(" y, ctx = forward(x, 3, stride=stride, mode='same', bias=None) ")
    assert step.text == "y, ctx = forward(x, 3, stride=stride, mode='same', bias=None)"
    assert step.targets == ("y", "ctx")
    assert step.unpack
    assert (step.owner, step.function) == ("submission", "forward")
    assert step.arguments == (
        Argument("x"),
        Argument(None, 3),
        Argument("stride", None, "stride"),
        Argument(None, "same", "mode"),
        Argument(None, None, "bias"),
    )
    assert step.reads == ("x", "stride")


def test_an_argument_may_be_a_list_of_names_and_literals() -> None:
    step = parse("y = add([a, 2, b, 'c'], [], into=[a])")
    listed = (Argument("a"), Argument(None, 2), Argument("b"), Argument(None, "c"))
    assert step.arguments == (
        Argument(None, items=listed),
        Argument(None, items=()),
        Argument(None, None, "into", (Argument("a"),)),
    )
    assert step.reads == ("a", "b", "a")


@pytest.mark.parametrize(
    ("text", "torch", "owner"),
    [
        ("g = vjp(y, grad_y, x)", True, "torch"),
        ("g = vjp(y, grad_y, x)", False, "submission"),
        ("g = driver.vjp(y, x)", True, "driver"),
    ],
)
def test_gradients_are_asked_for_by_one_word(text: str, torch: bool, owner: str) -> None:
    step = parse(text, torch=torch)
    assert (step.owner, step.backward) == (owner, owner == "torch")


@pytest.mark.parametrize(
    ("text", "owner", "unpack"),
    [
        ("y = f()", "submission", False),
        ("(y,) = f()", "submission", True),
        ("[a, b] = f(x)", "submission", True),
        ("curve = driver.train(x, 0.1)", "driver", False),
        ("y = f(-1.5e-3, True, 1_000)", "submission", False),
    ],
)
def test_the_forms_of_a_step(text: str, owner: str, *, unpack: bool) -> None:
    step = parse(text)
    assert (step.owner, step.unpack) == (owner, unpack)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "expected one assignment of a call"),
        ("y = x", "expected a call on the right of '='"),
        ("y = [f(x)]", "expected a call on the right of '='"),
        ("y += f(x)", "expected one assignment of a call"),
        ("y = z = f(x)", "expected one assignment of a call"),
        ("import os", "expected one assignment of a call"),
        ("y[0] = f(x)", "expected names on the left of '='"),
        ("y = f(x)(z)", "expected a function or driver.FUNCTION"),
        ("y = driver.a.b(x)", "expected a function or driver.FUNCTION"),
        ("y = f(x + 1)", "expected a name, a literal or a list of these as an argument"),
        ("y = f(g(x))", "expected a name, a literal or a list of these as an argument"),
        ("y = f([[x], 2])", "expected a name, a literal or a list of these as an argument"),
        ("y = f([*x])", "expected a name, a literal or a list of these as an argument"),
        ("y = f([a, b]", "expected 'NAME = FUNCTION(NAMES)'"),
        ("y = f(())", "expected a name, a literal or a list of these as an argument"),
        ("y = f(1j)", "expected a name, a literal or a list of these as an argument"),
        ("y = f(f'{x}')", "expected a name, a literal or a list of these as an argument"),
        ("y = f(**x)", "expected plain arguments, found '**'"),
        ("y = f(x := 1)", "expected a name, a literal or a list of these as an argument"),
        ("y = f(a=1, a=2)", "expected each argument once"),
        (
            "y = f(" + "-" * 180 + "x)",
            "expected a name, a literal or a list of these as an argument",
        ),
        ("y = f(" + "-" * 100_000 + "1)", "expected a step of at most 200 characters"),
        ("y = " + "f(" * 5000, "expected a step of at most 200 characters"),
    ],
)
def test_everything_else_is_refused_in_words(text: str, expected: str) -> None:
    with pytest.raises(StepError) as raised:
        parse(text)
    assert str(raised.value).startswith(expected)
    assert len(str(raised.value)) < 600
