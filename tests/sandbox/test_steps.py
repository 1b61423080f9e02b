"""Side effects that a run reports: changed inputs, results changed later, shared memory."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from grader.cases.step_syntax import parse_step
from grader.sandbox.messages import to_wire_steps
from grader.sandbox.worker import steps as stepping
from grader.sandbox.worker.protocol import Outcome, Outcomes, Run, WireInput, WireInputs
from grader.sandbox.worker.steps import LoadedProgram, StepFault

# Nobody should any more, says numpy from 2.5 on; it still can be done.
IN_PLACE = pytest.mark.filterwarnings("ignore:Setting the (shape|dtype):DeprecationWarning")
TWO = ("y = f(x)", "z = g(x, y)")


def program(**functions: Any) -> LoadedProgram:
    """Return a loaded program with these functions."""
    module = types.ModuleType("submission")
    module.__dict__.update(functions)
    return LoadedProgram(module, None, "submission.py")


def plain(**inputs: Any) -> WireInputs:
    """Return contiguous inputs."""
    return {n: WireInput(v) for n, v in inputs.items()}


def run(
    functions: dict[str, Any], texts: Sequence[str] = TWO, x: Any = None, want: str = "yz"
) -> Outcome:
    """Run two steps on an array of three."""
    inputs = plain(x=np.arange(3.0) if x is None else x)
    asked = Run("submission", to_wire_steps([parse_step(t) for t in texts]), (inputs,), tuple(want))
    return stepping.run_in_lockstep(program(**functions), asked).runs[0]


def copy(x: Any, *_: Any) -> Any:
    """Return a copy."""
    return np.array(x)


def bump(x: Any) -> Any:
    """Add one to the caller's array and return a copy."""
    x += 1
    return np.array(x)


def drop(x: Any, _: Any) -> Any:
    """Subtract one from the caller's array and return a copy."""
    x -= 1
    return np.array(x)


def test_a_run_without_side_effects_reports_none() -> None:
    found = run({"f": copy, "g": copy})
    assert {n: v.tolist() for n, v in found.values.items()} == {"y": [0, 1, 2], "z": [0, 1, 2]}
    assert (found.changed, found.stale, found.shared) == ((), (), ())


def test_the_step_that_changes_an_input_is_reported_even_if_a_later_step_restores_it() -> None:
    found = run({"f": bump, "g": drop})
    assert found.changed == ((0, "x"),)
    assert found.values["z"].tolist() == [0, 1, 2]
    assert run({"f": copy, "g": lambda x, _: bump(x)}).changed == ((1, "x"),)
    assert run({"f": bump, "g": lambda x, _: bump(x)}).changed == ((0, "x"),)


@IN_PLACE
@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.__setitem__(0, np.nan),
        lambda x: x.sort(),
        lambda x: x.resize(3, 1, refcheck=False),
        lambda x: setattr(x, "shape", (3, 1)),
        lambda x: setattr(x, "dtype", np.int64),
        lambda x: setattr(x.flags, "writeable", False),
        lambda x: x.__setitem__(0, -0.0),
        lambda x: x.view(np.uint8).__setitem__(0, 1),
        lambda x: x.byteswap(inplace=True),
    ],
)
def test_any_change_of_an_input_is_noticed(change: Any) -> None:
    x = np.array([0.0, 2.0, 1.0])
    assert run({"f": lambda x: (change(x), 1)[1], "g": copy}, x=x).changed == ((0, "x"),)
    assert x.tolist() == [0.0, 2.0, 1.0], "the judge's own copy is lent to nobody"


@IN_PLACE
def test_a_change_of_the_strides_alone_is_noticed() -> None:
    def turn(x: Any) -> int:
        x.shape = x.shape[::-1]
        return 1

    assert run({"f": turn, "g": copy}, x=np.zeros((1, 3))).changed == ((0, "x"),)


def test_a_result_that_a_later_step_changes_is_stale_and_sent_as_it_was() -> None:
    def g(x: Any, y: Any) -> Any:
        y[0] = 9
        return x.copy()

    found = run({"f": copy, "g": g})
    assert found.stale == (("y", 1),)
    assert found.values["y"].tolist() == [0, 1, 2]
    inside = run({"f": lambda x: {"a": [1, x.copy()]}, "g": lambda x, y: g(x, y["a"][1])})
    assert inside.stale == (("y", 1),)
    assert run({"f": lambda _: [1], "g": lambda _, y: y.append(2)}).stale == (("y", 1),)


@pytest.mark.parametrize(
    ("make", "shares"),
    [
        (lambda x: x, True),
        (lambda x: x[1:2], True),
        (lambda x: x[::-1].T, True),
        (lambda x: x.reshape(3, 1), True),
        (lambda x: [1, {"a": (x[:1],)}], True),
        (lambda x: np.broadcast_to(x, (9, 3)), True),
        (lambda x: np.lib.stride_tricks.as_strided(x, (2,), (8,)), True),
        (lambda x: x.view(np.uint8)[3:4], True),
        (lambda x: memoryview(x), False),
        (lambda x: x.copy(), False),
        (lambda x: x[:0], False),
        (lambda x: x[[0, 1]], False),
        (lambda x: x.sum(), False),
        (lambda _: None, False),
    ],
)  # fmt: skip
def test_a_result_in_the_memory_of_an_input_is_noticed(make: Any, shares: bool) -> None:
    found = run({"f": make, "g": copy})
    assert found.shared == ((("y", "x"),) if shares else ())


def interleaved(functions: dict[str, Any], *xs: Any, want: str = "yz") -> Outcomes:
    """Run the two steps on several inputs in lockstep."""
    texts = to_wire_steps([parse_step(t) for t in TWO])
    asked = Run("submission", texts, tuple(plain(x=x) for x in xs), tuple(want))
    return stepping.run_in_lockstep(program(**functions), asked)


def test_interleaved_runs_take_turns_step_by_step() -> None:
    order = []

    def f(x: Any) -> Any:
        order.append(("f", x[0]))
        return x.copy()

    def g(x: Any, _: Any) -> Any:
        order.append(("g", x[0]))
        return x.copy()

    found = interleaved({"f": f, "g": g}, np.zeros(1), np.ones(1))
    assert order == [("f", 0.0), ("f", 1.0), ("g", 0.0), ("g", 1.0)]
    assert [r.values["z"].tolist() for r in found.runs] == [[0.0], [1.0]]
    assert found.common == ()


def test_state_in_a_global_disturbs_interleaved_runs_and_only_them() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        kept[:] = [x.copy()]
        return x.copy()

    functions = {"f": f, "g": lambda *_: kept[0].copy()}
    assert run(functions).values["z"].tolist() == [0, 1, 2]
    found = interleaved(functions, np.zeros(1), np.ones(1))
    assert [r.values["z"].tolist() for r in found.runs] == [[1.0], [1.0]]


def test_a_buffer_that_the_next_call_reuses_is_noticed() -> None:
    buffer = np.zeros(2)

    def f(x: Any) -> Any:
        buffer[:] = x
        return buffer

    found = interleaved({"f": f, "g": copy}, np.zeros(2), np.ones(2))
    assert found.common == ("y",)
    assert found.runs[0].stale == (("y", 1),)
    assert found.runs[0].values["y"].tolist() == [0, 0]


def test_a_changed_input_belongs_to_the_run_that_changed_it() -> None:
    lent: list[Any] = []

    def f(x: Any) -> Any:
        lent.append(x)
        lent[0][0] = 7
        return x.copy()

    found = interleaved({"f": f, "g": copy}, np.zeros(2), np.zeros(2))
    assert found.runs[0].changed == ((0, "x"),)
    assert found.runs[1].changed == ()


def test_the_failed_step_is_reported() -> None:
    with pytest.raises(stepping.StepFailed) as stopped:
        run({"f": copy, "g": lambda _, y: y["a"]})
    assert stopped.value.step == 1
    assert isinstance(stopped.value.error, IndexError)
    with pytest.raises(stepping.StepFailed) as stopped:
        run({"f": copy}, ["a, b = f(x)"])
    assert isinstance(stopped.value.error, ValueError | StepFault)
