"""`drill run`: one run of the script of a diagnosis, out of a budget that the records keep."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from grader.session import submission as running
from tests.cli.conftest import Drill, Ended

FILE = Path("my-fit") / "submission.py"
TRAIN = "def train(seed):\n"


@pytest.fixture
def fit(real: Drill) -> Callable[..., Ended]:
    """Start the question that `bank new --form diagnose` writes; give what runs its script."""
    assert real("--bank", "mine", "bank", "new", "my-fit", "--form", "diagnose").status == 0
    started = real("--bank", "mine", "start", "my-fit")
    assert "drill run" in started.out
    return lambda *words: real("--bank", "mine", "run", "my-fit", *words)


def script(body: str) -> None:
    """Let the script's run do something else."""
    text = FILE.read_text()
    head = text[: text.index(TRAIN)] if TRAIN in text else text
    FILE.write_text(f"{head}{TRAIN}    {body}\n")


def test_a_run_shows_numbers_and_prints_and_counts(fit: Callable[..., Ended], real: Drill) -> None:
    first = fit()
    assert (first.status, first.err) == (0, "")
    head, *printed, last = first.out.splitlines()
    assert head.startswith("run 1 of 3, seed 0   loss 14.62 -> 6.4")
    assert printed == ["  loss at first 14.6", "  loss at last 6e+26"]
    assert last.startswith("2 left   Next: drill run --bank mine   drill grade --bank mine")
    script(r"print(*range(30), '\x1b[31mred', sep='\n'); return 2.5")
    second = fit("--seed", "7")
    head, *printed, _ = second.out.splitlines()
    assert head.startswith("run 2 of 3, seed 7   result 2.5   ")
    assert printed[0].startswith("  ... the last of ")
    assert printed[1] == "  11"
    assert printed[-1] == r"  \x1b[31mred"
    script("return {'loss': [1, float('nan')], 'name': 'x'}")
    data = fit("--json").data
    assert (data["run"], data["used"], data["budget"], data["seed"]) == (3, 3, 3, 0)
    assert (data["numbers"], data["fault"]) == ({"loss": [1.0, "NaN"]}, "")
    spent = fit()
    assert (spent.status, spent.out) == (2, "")
    assert "3 of 3 runs are used; you can still edit and grade" in spent.err
    assert real("--bank", "mine", "reset", "my-fit").status == 0
    assert fit().out.startswith("run 1 of 3")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def train(", "the file is not valid Python at line 1"),
        ("x = 1 / 0", "loading the file raised ZeroDivisionError: division by zero"),
        ("def trian(seed): pass", "expected train, found trian; is trian meant"),
        ("", "the file is empty"),
    ],
)
def test_what_is_not_begun_costs_nothing(fit: Callable[..., Ended], text: str, said: str) -> None:
    FILE.write_text(text)
    ended = fit()
    assert ended.status == 1
    assert " ".join(ended.out.split()).startswith(f"no run, nothing is used {said}")
    assert "3 left" in ended.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return 1 / (seed - seed)", "run 1 of 3, seed 0   raised ZeroDivisionError   "),
        ("import os; os._exit(3)", "run 1 of 3, seed 0   your script ended its process (exit sta"),
        ("while True: pass", "run 1 of 3, seed 0   your script did not finish within 0.2 seconds"),
    ],
)
def test_what_comes_to_no_end_has_cost_a_run(
    fit: Callable[..., Ended], body: str, said: str
) -> None:
    spec = Path("mine/questions/my-fit.yaml")
    spec.write_text(spec.read_text().replace("seconds: 5", "seconds: 0.2"))
    script(body)
    ended = fit()
    assert ended.status == 1
    assert ended.out.startswith(said)
    assert "2 left" in ended.out
    if "/" in body:
        assert "submission.py:15  return 1 / (seed - seed)" in ended.out


def test_of_endless_prints_the_end_is_shown(fit: Callable[..., Ended]) -> None:
    script("print('first'); [print('x' * 99) for _ in range(20_000)]; print('last')")
    ended = fit()
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert len(lines) == 23
    assert lines[1] == "  ... the last of 2,000,011 characters that it printed ..."
    assert lines[21] == "  last"


def test_where_nothing_can_be_recorded_a_run_is_not_counted(
    fit: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").write_text("")
    monkeypatch.setenv("DRILL_HOME", str(Path("file/home").resolve()))
    ended = fit()
    assert ended.out.startswith("run, not counted, seed 0   loss 14.6")
    assert ended.err.count("\n") == 1
    assert "Your history cannot be written" in ended.err


def test_a_run_that_is_stopped_counts(
    fit: Callable[..., Ended], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **named: Callable[[], None]) -> None:
        named["begin"]()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(running, "experiment", stopped)
        ended = fit()
    assert (ended.status, ended.out) == (130, "")
    assert ended.err.startswith("drill: run 1 of 3 was stopped, and counts\n")
    assert fit().out.startswith("run 2 of 3")
