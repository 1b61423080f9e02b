"""What the reference is sure to be asked for is asked for at once, and nothing else follows."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from grader.evaluation.encoding import NUDGES
from grader.model.question import Question
from grader.model.report import Report
from grader.model.verdict import Verdict
from grader.sandbox.remote import RemoteProgram
from grader.session import GradingSession
from tests.audit.audits import question

pytestmark = pytest.mark.usefixtures("one_zygote")

REFERENCE = """
    import numpy as np

    def forward(x):
        return np.where(x > 0, x, 0).astype(x.dtype)

    def backward(x, grad_y):
        return np.where(x > 0, grad_y, 0).astype(x.dtype)
"""
VARIANTS = {"open": "def backward(x, grad_y):\n    return grad_y\n"}
CASES = {f"of-{n}": {"x": {"normal": [n, 3]}, "grad_y": {"normal": "like y"}} for n in range(1, 9)}


def asked(folder: Path, **changes: Any) -> Question:
    given: dict[str, Any] = {
        "reference": REFERENCE,
        "variants": VARIANTS,
        "interface": "def forward(x):  # -> y\ndef backward(x, grad_y):  # -> grad_x",
        "run": ["y = forward(x)", "grad_x = backward(x, grad_y)"],
        "cases": CASES,
        "checks": [{"id": "gate", "kind": "outputs", "of": ["y", "grad_x"]}],
    }
    return question(folder, **given | changes)


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, str]]:
    """How often which program is asked for what."""
    found: Counter[tuple[str, str]] = Counter()
    ask = RemoteProgram._ask

    def counted(self: RemoteProgram, operation: str, *given: Any, **named: Any) -> Any:
        found[self.name, operation] += 1
        return ask(self, operation, *given, **named)

    monkeypatch.setattr(RemoteProgram, "_ask", counted)
    return found


def graded(found: Question, source: str = REFERENCE, seed: int = 3) -> Report:
    with GradingSession(found, proved=True) as one:
        return one.grade(dedent(source).encode(), seed=seed)


def test_shapes_and_results_of_small_cases_take_one_request_each(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    assert graded(asked(tmp_path)).verdict is Verdict.PASS
    assert requests["submission", "run"] == len(CASES)
    assert requests["reference", "run"] == 0
    assert requests["reference", "several"] == 2


def test_large_cases_and_those_with_limits_are_asked_for_alone(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    large = {"x": {"normal": [50, 100]}, "grad_y": {"normal": "like y"}}
    slow = CASES["of-1"] | {"limits": {"cpu_seconds": 9}}
    cases = {**CASES, "large": large, "slow": slow}
    assert graded(asked(tmp_path, cases=cases)).verdict is Verdict.PASS
    assert requests["reference", "run"] == 4  # a shape and the results of each
    assert requests["reference", "several"] == 2


def test_a_draw_that_meets_its_conditions_late_has_the_shape_of_its_own_results(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    # How many numbers differ is by chance, and three in four attempts at a draw miss.
    reference = """
        import numpy as np

        def forward(x):
            return np.unique(x)

        def backward(x, grad_y):
            return grad_y + np.unique(x)
    """
    drawn = {"integers": [1, 4], "from": 0, "to": 5}
    case = {"x": drawn, "grad_y": {"normal": "like y"}, "where": ["ties(x[0]) == 0"]}
    cases = {f"of-{n}": case for n in range(8)}
    found = asked(tmp_path, reference=reference, cases=cases)
    assert graded(found, reference).verdict is Verdict.PASS
    assert requests["reference", "several"] == 2
    assert requests["reference", "run"] > 0


@pytest.mark.parametrize("end", ["raise ValueError", "__import__('os').abort()"])
def test_a_case_that_the_reference_fails_on_is_the_one_that_is_named(
    tmp_path: Path, end: str
) -> None:
    fails = REFERENCE.replace(
        "def backward(x, grad_y):",
        f"def backward(x, grad_y):\n        if len(x) == 8:\n            {end}",
    )
    report = graded(asked(tmp_path, reference=fails))
    assert report.verdict is Verdict.INVALID
    assert "the reference fails on case of-8" in report.message


def test_a_reference_that_is_too_slow_for_all_at_once_is_asked_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, requests: Counter[tuple[str, str]]
) -> None:
    # Eight cases of 0.1 s of CPU time each, where half a second is allowed.
    monkeypatch.setattr("grader.sandbox.remote.CALL_SECONDS", 0.5)
    slow = REFERENCE.replace(
        "def backward(x, grad_y):",
        "def backward(x, grad_y):\n"
        "        import time\n"
        "        end = time.process_time() + 0.1\n"
        "        while time.process_time() < end:\n"
        "            pass",
    )
    report = graded(asked(tmp_path, reference=slow))
    assert report.verdict is Verdict.PASS
    assert requests["reference", "run"] >= len(CASES)


def test_nudged_inputs_of_a_case_are_one_request(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    found = asked(tmp_path)
    with GradingSession(found) as one:
        evaluation = one.bank.evaluation(one.bank.reference, 3)
        case, (run,) = evaluation.cases["of-4"], found.runs
        values = [evaluation.truth(run, case, mode=mode).values["grad_x"] for mode in NUDGES]
        assert requests["reference", "several"] == 2  # shapes, and all of them
        assert requests["reference", "run"] == 0
        assert len({value.tobytes() for value in values}) > 1


def test_a_variant_is_tried_on_the_first_cases_at_once(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    wrong = REFERENCE.replace("np.where(x > 0, grad_y, 0)", "-np.where(x > 0, grad_y, 0)")
    report = graded(asked(tmp_path), wrong)
    assert report.verdict is Verdict.FAIL
    assert report.misconceptions == ()
    assert requests["open/0", "loads"] == 1
    assert requests["open/0", "load"] == requests["open/0", "run"] == 0
    assert requests["open/0", "several"] == 1


def multiples(folder: Path, many: dict[str, str], **changes: Any) -> Question:
    ideas = {name: {"killed_by": "gate", "feedback": "It is another multiple."} for name in many}
    first = next(iter(many))
    return asked(folder, variants=many, misconceptions=ideas, starter_holds=[first], **changes)


def test_many_variants_take_few_requests(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    many = {f"times-{n}": f"def backward(x, grad_y):\n    return {n} * grad_y\n" for n in range(40)}
    report = graded(multiples(tmp_path, many), dedent(REFERENCE) + many["times-7"])
    assert [idea.id for idea in report.misconceptions] == ["times-7"]
    of_variants = {key: n for key, n in requests.items() if "/" in key[0]}
    assert sum(n for (_, what), n in of_variants.items() if what == "loads") == 2
    assert sum(n for (_, what), n in of_variants.items() if what == "several") <= 6
    assert {what for _, what in of_variants} == {"loads", "several"}


SLOW = """
import time

def backward(x, grad_y):
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    return {} * grad_y
"""


def test_variants_that_take_long_together_are_asked_in_several_requests(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    slow = {f"times-{n}": SLOW.format(n) for n in (2, 3, 4)}
    fast = f"{dedent(REFERENCE)}\ndef backward(x, grad_y):\n    return 5 * grad_y\n"
    report = graded(multiples(tmp_path, slow, cases={"one": CASES["of-3"]}), fast)
    assert report.misconceptions == ()
    of_variants = {key: n for key, n in requests.items() if "/" in key[0]}
    assert of_variants == {
        ("times-2/0", "loads"): 1,
        ("times-2/0", "several"): 1,
        ("times-4/0", "several"): 1,
    }


def test_what_is_counted_inside_is_counted_once(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    kept = {
        "id": "kept", "kind": "state", "of": "y", "at_most": "8 * x.size + 256 bytes",
        "cases": "of-8",
    }  # fmt: skip
    gate = {"id": "gate", "kind": "outputs", "of": ["y", "grad_x"]}
    report = graded(asked(tmp_path, checks=[gate, kept]))
    assert report.verdict is Verdict.PASS
    assert requests["submission", "state"] == 1  # for the count, and for what the system sees
    assert requests["submission", "pack"] == requests["submission", "go on"] == 1
    assert requests["submission", "hold"] == 0  # what was moved is enough


def test_many_large_results_fit_into_one_reply(
    tmp_path: Path, requests: Counter[tuple[str, str]]
) -> None:
    reference = "import numpy as np\n\ndef forward(x):\n    return np.tile(x, (3000, 1))\n"
    checks = [{"id": "gate", "kind": "outputs", "of": "y"}]
    cases = {f"of-{n}": {"x": {"normal": [n, 3]}} for n in range(1, 9)}
    more = {"run": ["y = forward(x)"], "interface": "def forward(x):  # -> y"}
    variants = {"open": "def forward(x):\n    return np.tile(-x, (3000, 1))\n"}
    found = asked(
        tmp_path, reference=reference, checks=checks, cases=cases, variants=variants, **more
    )
    assert graded(found, reference).verdict is Verdict.PASS
    assert requests["reference", "several"] == 1
    assert requests["reference", "run"] == 0
