"""All requests to a program in a worker, and forged replies.

That no forged reply makes the judge fail is tried in `tests/attacks`.
"""

from __future__ import annotations

import numpy as np
import pytest

from grader.sandbox.client import ProtocolViolation
from grader.sandbox.messages import Outcome, ProgramError
from tests.harness import Lend
from tests.sandbox.running import FIND, X, load, run, started, steps
from tests.sandbox.running import given as inputs_of

STEPS = steps("y = f(x)")

FORGE = (
    FIND
    + """\
def f(x): return x
def forged(self, request): return {reply}
serve = sys.modules["worker.serve"]
serve.RequestServer.answer = forged
"""
)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ("{'ok': True, 'reply': {'missing': (), 'uncallable': (), 'defined': ()} "
         "if request['op'] == 'load' else {'runs': ({'values': {'y': 1}},), 'common': ()}}", None),
        ("{'ok': True}", ProtocolViolation),
        ("{'ok': 1}", ProtocolViolation),
        ("{'ok': 'yes', 'reply': {}}", ProtocolViolation),
        ("{}", ProtocolViolation),
        ("[]", ProtocolViolation),
        ("None", ProtocolViolation),
        ("{'ok': True, 'reply': {'runs': ({'values': []},), 'common': ()}}", ProtocolViolation),
        ("{'ok': False}", ProtocolViolation),
        ("{'ok': False, 'fault': {'fault': 'says it'}}", ProgramError),
        ("{'ok': False, 'fault': {'raised': {'type': 'T', 'message': 'm', 'frames': ()}}}",
         ProgramError),
        ("{'ok': False, 'fault': {'raised': {'frames': ((9e999, 'f', 's'),), 'type': 1}}}",
         ProtocolViolation),
        ("{'ok': False, 'fault': {'broken': 10 ** 5000}}", ProtocolViolation),
    ],
)  # fmt: skip
def test_a_program_that_took_over_its_worker_can_only_send_a_reply(
    reply: str, kind: type[Exception] | None, lend: Lend
) -> None:
    with started(zygote=lend(torch=False)) as worker:
        program = load(worker, FORGE.format(reply=reply))
        if kind is None:
            assert run(program).values == {"y": 1}
        else:
            with pytest.raises(kind):
                run(program)


def test_time_is_measured_outside_the_process() -> None:
    lie = "{'ok': True, 'reply': {'values': {}, 'spent': 0 * sum(range(3_000_000))}}"
    with started() as worker:
        outcome, spent = load(worker, "def f(x): return sum(range(9)) + x").run_timed(
            STEPS, X, ["y"]
        )
        assert outcome.values["y"].tolist() == [36, 37, 38]
        assert spent > 0
        if worker.cpu_nanoseconds() is not None:  # where there is a clock of another process
            assert load(worker, FORGE.format(reply=lie)).run_timed(STEPS, X, [])[1] > 1_000_000


def test_state_counts_kept_arrays_even_if_a_global_hides_them() -> None:
    source = """\
import numpy as np
hidden = []
def kept(x): return {"x": np.zeros(100)}
def hides(x):
    hidden.append(np.zeros(10_000))
    return {}
def result(x): return np.zeros(10_000), {}
def both(x):
    hidden.append(np.zeros(10_000))
    return {"x": hidden[-1][:10]}
def lent(x):
    hidden.append(x)
    return {"x": x}
def replaced(x):
    hidden[:] = [np.zeros(10_000)]
    return {}
class Room: kept = None
def in_a_class(x):
    Room.kept = np.zeros(10_000)
    return {}
"""
    with started() as worker:
        for step, least, most in (
            ("ctx = kept(x)", 800, 800),
            ("ctx = hides(x)", 75_000, 78_000),
            ("y, ctx = result(x)", 0, 0),
            ("ctx = both(x)", 80_000, 80_000),
            ("ctx = lent(x)", 24, 24),
            ("ctx = replaced(x)", 75_000, 78_000),
            ("ctx = in_a_class(x)", 75_000, 78_000),
        ):
            program = load(worker, source)
            for _ in range(2):  # a second run takes the place of what was there
                found = program.measure("state", steps(step), X, of="ctx").value
                assert isinstance(found, int)
                assert least <= found <= most, step


def test_gradients_are_returned_by_input() -> None:
    with started() as worker:
        program = load(worker, "def f(x, k): return x ** k")
        found = program.numerical_gradients(
            steps("y = f(x, k)"),
            inputs_of(x=np.array([1.0, 2.0]), k=2),
            wrt=["x"], of="y", cotangent=np.array([1.0, 10.0]), kinks=False,
        )  # fmt: skip
    assert np.allclose(found["x"]["value"], [2.0, 40.0])


def test_several_inputs_run_in_one_request_even_if_some_raise() -> None:
    source = "def f(x):\n    return 1 / float(x[0])"
    with started() as worker:
        program = load(worker, source)
        given = [inputs_of(x=np.full(1, n)) for n in (2.0, 0.0, 4.0)]
        first, wrong, last = program.run_several(STEPS, given, ["y"])
    assert isinstance(first, Outcome)
    assert isinstance(last, Outcome)
    assert (first.values["y"], last.values["y"]) == (0.5, 0.25)
    assert isinstance(wrong, ProgramError)
    assert wrong.raised is not None
    assert wrong.raised.type == "ZeroDivisionError"


def test_the_message_about_a_missing_file_says_that_submissions_have_no_files() -> None:
    with started() as worker, pytest.raises(ProgramError) as told:
        run(load(worker, "def f(x):\n    return open('weights.npy').read()"))
    assert told.value.raised is not None
    assert told.value.raised.type == "FileNotFoundError"
    assert "an empty folder to work in" in told.value.raised.message
