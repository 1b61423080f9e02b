"""Programs that try to look cheaper than they are: none of them gains.

Every cheat computes the right results, so that nothing but the measurement can tell.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from grader.model.report import CheckResult, Verdict
from grader.model.spec import Check
from grader.sandbox.client import WorkerClient
from grader.sandbox.messages import Outcome
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.spawn import Zygote, zygote_if_safe
from tests.grading.kinds.grading import Desk, run_check

SOME = {"extends": "rows", "about": "64 rows of 64", "x": {"normal": [64, 64]}}
RACED = {"extends": "rows", "about": "96 rows of 128", "x": {"normal": [96, 128]}}
BIG = {"extends": "rows", "about": "512 rows of 512", "x": {"normal": [512, 512]}}


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    started = zygote_if_safe(torch=False)
    if started is None:
        pytest.skip("no worker can be forked safely on this system")
    with started:
        yield started


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with WorkerClient(torch=False) as theirs, WorkerClient(torch=False) as ours:
        opened = Desk("deviations", theirs, ours)
        spec = opened.question.spec
        cases = {**spec.cases, "some": SOME, "raced": RACED, "big": BIG}
        opened.question = replace(opened.question, spec=spec.model_copy(update={"cases": cases}))
        yield opened


def on_its_own(desk: Desk, zygote: Zygote, source: str, check: Check) -> CheckResult:
    with WorkerClient(torch=False, zygote=zygote) as worker:
        alone = copy.copy(desk)
        alone.theirs = worker
        evaluation = alone.evaluation(source)
        values = run_check(evaluation, alone.check("backward", cases=["rows", "big"]))
        assert values.verdict is Verdict.PASS, values.message
        return run_check(evaluation, check)


def kept(desk: Desk, zygote: Zygote, source: str) -> CheckResult:
    return on_its_own(desk, zygote, source, desk.check("kept", cases=["rows", "some"]))


HONEST = {
    "the reference": "",
    "one array": """
def centre(x, w):
    both = np.stack([_centred(x), w])
    return w * both[0], both
def centre_backward(grad_y, ctx):
    return _centred(ctx[1] * grad_y), grad_y * ctx[0]
""",
    "much in passing": """
def centre(x, w):
    d = _centred(x)
    much = np.tile(d, (16, 1))
    return w * d, (d, np.array(w))
""",
}


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_state_passes(desk: Desk, zygote: Zygote, source: str) -> None:
    result = kept(desk, zygote, source)
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "65,536 bytes kept, 65,600 bytes allowed",
    )


# Each keeps the 2 arrays of the reference and as much again four times, or keeps nothing but a key.
STASH = """
import itertools
{before}
count = itertools.count()
def centre(x, w):
    d = _centred(x)
    key = next(count)
    data = np.concatenate([d, w, x, d * w, d + w, x * w, d - w, x + w])
    {stash}
    return w * d, {ctx}
def centre_backward(grad_y, ctx):
    both = {fetch}
    d, w = np.asarray(both, np.float64).reshape(8, *grad_y.shape)[:2]
    return _centred(w * grad_y), grad_y * d
"""


def stash(before: str, stash: str, fetch: str, ctx: str = "key") -> str:
    return STASH.format(before=before, stash=stash, fetch=fetch, ctx=ctx)


PLACES = {
    "a global": stash("kept = {}", "kept[key] = data", "kept[ctx]"),
    "a closure": stash("", "fetch = lambda: data", "ctx()", "fetch"),
    "a list of floats": stash("kept = {}", "kept[key] = data.ravel().tolist()", "kept[ctx]"),
    "an object that comes back from the dead": stash(
        "graves = {}\nclass Box:\n    def __del__(self): graves[self.key] = self",
        "box = Box(); box.key, box.data = key, data; del box",
        "graves[ctx].data",
    ),
    "a thread's own memory": stash(
        "import threading\nlocal = threading.local(); local.kept = {}",
        "local.kept[key] = data",
        "local.kept[ctx]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("source", PLACES.values(), ids=PLACES)
def test_state_that_is_kept_elsewhere_counts(desk: Desk, zygote: Zygote, source: str) -> None:
    result = kept(desk, zygote, source)
    assert result.verdict is Verdict.FAIL
    assert "bytes" in result.message


BURN = """
import threading
def burn():
    for _ in range(2_000_000):
        pass
honest = centre
"""
SLOW = BURN + "def centre(x, w):\n    burn()\n    return honest(x, w)\n"
# Each does a hundred times the work of the reference, and tries not to be seen doing it.
RACES = {
    "openly": SLOW,
    "while the file is loaded, for the inputs of the seed": BURN + """
import hashlib
known = {}
def drawn(name, turn):
    seed = int.from_bytes(hashlib.sha256(f"1/raced/{name}/{turn}".encode()).digest()[:16], "little")
    return np.random.default_rng(seed).standard_normal((96, 128))
for turn in range(80):
    x, w = drawn("x", turn), drawn("w", turn)
    known[x.tobytes()] = honest(x, w)
def centre(x, w):
    if x.tobytes() not in known:
        burn()
        return honest(x, w)
    y, (d, w) = known[x.tobytes()]
    return y.copy(), (d.copy(), w.copy())
""",
}  # fmt: skip


def raced(desk: Desk, zygote: Zygote, source: str) -> CheckResult:
    return on_its_own(desk, zygote, source, desk.check("speed", cases=["raced"], at_most=5.0))


@pytest.mark.parametrize("source", RACES.values(), ids=RACES)
def test_work_that_is_moved_elsewhere_still_counts(desk: Desk, zygote: Zygote, source: str) -> None:
    result = raced(desk, zygote, source)
    assert result.verdict is Verdict.FAIL
    assert "the reference's CPU time, 5.0x allowed" in result.message


def test_the_submission_never_measures_the_cost_of_an_exchange(
    desk: Desk, zygote: Zygote, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    real = RemoteProgram.run_timed

    def watched(self: RemoteProgram, steps: Any, inputs: Any, want: Any) -> tuple[Outcome, int]:
        if not steps:
            asked.append(self.name)
        return real(self, steps, inputs, want)

    monkeypatch.setattr(RemoteProgram, "run_timed", watched)
    assert raced(desk, zygote, "").verdict is Verdict.PASS
    assert set(asked) == {"reference of deviations"}
