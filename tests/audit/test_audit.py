"""The audit proves a good question, and finds each fault that was put into a bad one.

A cause is one problem, with file, line and seeds.  Its consequences are not reported.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from grader.audit import audit as auditing
from grader.audit.audit import AuditPlan, audit_question, audit_questions
from grader.audit.kill_matrix import results_as_graded
from grader.bank import load_question
from grader.model.audit import AuditReport, MatrixCell
from grader.model.question import Question
from grader.model.report import CheckResult, Verdict
from grader.reports.audit import audit_page
from grader.reports.blocks import render_terminal
from grader.reports.text_layout import without_styles
from tests.asking import with_checks
from tests.audit.audits import (
    GATE,
    IDEAS,
    MINI,
    REFERENCE,
    SIGNS,
    VARIANTS,
    audited,
    question,
    remarks_about,
)

pytestmark = pytest.mark.usefixtures("one_zygote")

SECOND = {**GATE, "id": "second", "cases": "many"}
OPEN = {"killed_by": "gate", "feedback": "Open."}


def test_a_question_passes_with_every_variant_stopped_and_named(tmp_path: Path) -> None:
    report = audited(tmp_path, seeds=(1, 2))
    assert report.problems == ()
    assert [row.name for row in report.programs] == ["reference", "starter", "open"]
    row, (facts,) = report.programs[2], report.checks
    assert (row.claimed_by, row.cells) == (("gate",), {"gate": MatrixCell.KILLS})
    assert (row.named_well, facts.stops, facts.first) == (2, 2, 2)


ROOM = {"id": "room", "kind": "peak", "of": "y", "at_most": "64 * x.nbytes + 4096"}


@pytest.mark.parametrize(
    ("check", "killers", "remarked"),
    [
        pytest.param({**SECOND, "needs": "gate"}, "gate", True, id="never the first to stop"),
        pytest.param(SECOND, ["gate", "second"], False, id="claimed"),
        pytest.param(ROOM, "gate", False, id="no idea can be named by it"),
    ],
)
def test_a_check_that_stops_nothing_first_is_remarked_on_unless_it_earns_its_place(
    tmp_path: Path, check: dict[str, Any], killers: Any, remarked: bool
) -> None:
    ideas = {"open": {**OPEN, "killed_by": killers}}
    report = audited(tmp_path, checks=[GATE, check], misconceptions=ideas)
    assert report.problems == ()
    redundant = remarks_about(report, "redundant")
    assert [text.split(":")[0] for text in redundant] == ["second"] * remarked


@pytest.mark.parametrize(
    ("verdict", "then"),
    [
        (Verdict.PASS, Verdict.PASS),
        (Verdict.INCONCLUSIVE, Verdict.PASS),
        (Verdict.FAIL, Verdict.SKIPPED),
        (Verdict.SKIPPED, Verdict.SKIPPED),
    ],
)
def test_an_inconclusive_check_blocks_no_other(verdict: Verdict, then: Verdict) -> None:
    question = load_question([MINI], "deviations")
    by_id = {check.id: check for check in question.spec.checks}
    checks = [
        by_id["speed"].model_copy(update={"needs": []}),
        by_id["forward"].model_copy(update={"needs": ["speed"]}),
    ]
    results = {
        "speed": CheckResult("speed", "performance", verdict, ""),
        "forward": CheckResult("forward", "outputs", Verdict.PASS, ""),
    }
    graded, _ = results_as_graded(with_checks(question, checks), lambda check: results[check.id])
    assert [result.verdict for result in graded.values()] == [verdict, then]


# -- programs that break ---------------------------------------------------------------------------


def test_a_reference_that_raises_is_one_fault_with_message_and_line(tmp_path: Path) -> None:
    reference = "def relu(x):\n    raise ValueError('too small')\n"
    report = audited(tmp_path, seeds=(1, 2), reference=reference)
    assert report.problems == (
        "the reference fails on case many: raised ValueError: too small, in "
        "drills/gate/reference.py:2: raise ValueError('too small')",
    )
    assert report.programs == ()


def test_a_driver_that_raises_is_told_apart_from_the_reference(tmp_path: Path) -> None:
    driver = "def twice(program, x):\n    return program.relu(y)\n"
    report = audited(tmp_path, seeds=(1,), driver=driver, run=["y = driver.twice(x)"])
    assert report.problems == (
        "the driver, or a helper, fails on case many: raised NameError: name 'y' is not defined, "
        "in drills/gate/driver.py:2: return program.relu(y)",
    )


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("y = rleu(x)", "the reference does not define rleu, which the step 'y = rleu(x)' calls; "
         "did you mean 'relu'?"),
        ("y = vjp(x)", "the reference does not define vjp, which the step 'y = vjp(x)' calls; vjp "
         "needs torch in uses"),
        ("y = driver.tiwce(x)", "the driver does not define tiwce, which the step 'y = "
         "driver.tiwce(x)' calls; did you mean 'twice'?"),
    ],
)  # fmt: skip
def test_a_step_that_calls_a_missing_function_is_named(
    tmp_path: Path, step: str, problem: str
) -> None:
    driver = "def twice(program, x):\n    return program.relu(x)\n" * ("driver" in step)
    assert audited(tmp_path, seeds=(1,), driver=driver, run=[step]).problems == (problem,)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("relu = 1 / 0\n", "ZeroDivisionError: division by zero, in {}:1: relu = 1 / 0"),
        ("def relu(x):\n    return (x\n", "SyntaxError: '(' was never closed, in {}:2: return (x"),
        (
            "\nimport nunpy\n",
            "ModuleNotFoundError: No module named 'nunpy' (did you mean 'numpy'?), in {}:2: import "
            "nunpy",
        ),
        (
            "import torch.nn\n",
            "ModuleNotFoundError: No module named 'torch' (add torch to uses), in {}:1: import "
            "torch.nn",
        ),
        (
            "import scipy\n",
            "ModuleNotFoundError: No module named 'scipy' (only numpy, torch if uses has it, and "
            "modules in helpers can be imported), in {}:1: import scipy",
        ),
    ],
)
def test_a_reference_that_does_not_load_is_reported_with_its_line(
    tmp_path: Path, reference: str, message: str
) -> None:
    report = audited(tmp_path, reference=reference, begin="relu = print\n")
    expected = message.format("drills/gate/reference.py")
    assert report.problems == (f"the reference cannot be loaded: raised {expected}",)
    assert report.programs == ()


def test_other_programs_that_do_not_load_are_reported_with_their_line(tmp_path: Path) -> None:
    (problem,) = audited(tmp_path / "a", begin="import nunpy\n").problems
    assert problem == (
        "seed 1, starter: starter cannot be loaded: raised ModuleNotFoundError: No module named "
        "'nunpy' (did you mean 'numpy'?), in drills/gate/starter.py:1: import nunpy"
    )
    broken = {"open": "def relu(x):\n    return x\n", "half-open": "\nhalf = x\n"}
    ideas = dict.fromkeys(broken, OPEN)
    (problem,) = audited(tmp_path / "b", variants=broken, misconceptions=ideas).problems
    where = "name 'x' is not defined, in drills/gate/ideas.py:11: half = x"
    assert problem.endswith(where)


TYPO = {"open": "def relu(x):\n    return np.maxmum(x, 0)\n"}


def test_a_wrong_idea_with_a_typo_is_a_fault_unless_it_is_about_raising(
    tmp_path: Path,
) -> None:
    begin = "def relu(x):\n    return x.copy()\n"
    report = audited(tmp_path / "a", seeds=(1, 2), variants=TYPO, begin=begin, starter_holds=[])
    (problem,) = report.problems
    assert problem.startswith(
        "open raises AttributeError in relu, drills/gate/ideas.py:5, on every case"
    )
    assert "has no attribute 'maxmum'" in problem
    for feedback in ("It raises there.", "Here an AttributeError comes out."):
        ideas = {"open": {**OPEN, "feedback": feedback}}
        meant = audited(tmp_path / feedback, variants=TYPO, misconceptions=ideas)
        assert meant.ok, meant.problems


@pytest.mark.parametrize(
    ("raised", "feedback", "faulty", "remarked"),
    [
        ("ValueError('to do')", "It is wrong.", 2, False),
        ("ValueError('to do')", "It raises ValueError.", 0, False),
        ("NotImplementedError", "It is wrong.", 1, True),  # as the idea does, which nobody holds
    ],
)
def test_a_starter_that_only_raises_is_a_fault_unless_it_is_not_written_yet(
    tmp_path: Path, raised: str, feedback: str, faulty: int, remarked: bool
) -> None:
    broken = {"open": f"def relu(x):\n    raise {raised}\n"}
    ideas = {"open": {**OPEN, "feedback": feedback}}
    report = audited(tmp_path, seeds=(1, 2), variants=broken, misconceptions=ideas)
    remarks = remarks_about(report, "starter")
    assert (len(report.problems), len(remarks)) == (faulty, remarked)
    own = [text for text in report.problems if text.startswith("starter")]
    assert bool(own) == (faulty == 2)
    for text in (*own, *remarks):
        assert text.startswith(
            f"starter raises {raised.split('(')[0]} in relu, drills/gate/starter.py:"
        )
        assert text.endswith("; a starter runs, looks plausible and fails by its values")


# -- ideas that are not stopped as they should be --------------------------------------------------


def test_a_wrong_idea_that_passes_everything_is_one_fault_for_all_seeds(tmp_path: Path) -> None:
    report = audited(
        tmp_path,
        seeds=(1, 2, 3),
        variants={"open": "def relu(x):\n    return np.maximum(x, 0)\n"},
        begin="def relu(x):\n    return x * 1\n",
        starter_holds=[],
    )
    assert report.problems == (
        "open passes every check on all 3 seeds: drills/gate/ideas.py:4 gives the reference's "
        "results on every case; change it, or add a case",
    )


def test_an_idea_that_equals_the_reference_is_reported_with_its_line(tmp_path: Path) -> None:
    same = (
        "\ndef relu(x):\n    # Another comment.\n    return np.where(x > 0, x, 0).astype(x.dtype)\n"
    )
    (problem,) = audited(
        tmp_path,
        variants={"open": same},
        begin="def relu(x):\n    return x * 1\n",
        starter_holds=[],
    ).problems
    assert problem == "open passes every check: drills/gate/ideas.py:5 equals the reference"


ESTIMATE = Path(auditing.__file__).parents[1] / "commands" / "templates" / "estimate.yaml.txt"


def estimate(folder: Path, was: str, becomes: str) -> AuditReport:
    """Audit the skeleton of an estimate with a text replaced."""
    text = ESTIMATE.read_text(encoding="utf-8")
    assert was in text
    (folder / "card.yaml").write_text(text.replace(was, becomes).replace("@TRACK@", "memory"))
    return audit_question(load_question([folder / "card.yaml"], "card"), seeds=(1,))


@pytest.mark.parametrize("idea", ["BYTES = 2", "BYTES, BANDWIDTH = 2, 2e12", "[BYTES] = [2]"])
def test_a_constant_that_is_assigned_in_a_tuple_counts_as_defined(
    tmp_path: Path, idea: str
) -> None:
    (problem,) = estimate(tmp_path, "BYTES = 4\n", f"{idea}\n").problems
    same = "equals the reference" if "," in idea else "gives the reference's results on every case"
    assert problem.startswith(f"float32-weights passes every check: card.yaml:51 {same}")


def test_a_misspelled_function_below_an_import_of_the_reference_is_reported(tmp_path: Path) -> None:
    source = "import numpy as np\n\ndef rellu(x):\n    return x.copy()\n"
    begin = "def relu(x):\n    return x * 1\n"
    (problem,) = audited(
        tmp_path, variants={"open": source}, begin=begin, starter_holds=[]
    ).problems
    assert "it defines rellu, which the reference has not; did you mean 'relu'?" in problem


def test_a_wrong_key_in_a_dict_of_the_reference_is_named(tmp_path: Path) -> None:
    (problem,) = estimate(tmp_path, '"weight_bytes": B', '"weight_byte": B').problems
    assert problem.endswith("found a dict with weight_byte")


def test_a_tolerance_that_takes_gb_for_gib_is_remarked_on(tmp_path: Path) -> None:
    assert remarks_about(estimate(tmp_path, "relative: 0.03", "relative: 0.05"), "tolerance") == []
    first, second = remarks_about(
        estimate(tmp_path, "relative: 0.03", "relative: 0.3"), "tolerance"
    )
    assert first.startswith("size: 30 % is a wide tolerance: at 7 % GB passes for GiB; expected 5")
    assert second.startswith("pace: 30 %")


def test_a_wrong_idea_that_passes_on_some_seeds_is_reported_with_these_seeds(
    tmp_path: Path,
) -> None:
    report = audited(
        tmp_path,
        seeds=range(8),
        variants={"open": "def relu(x):\n    return x if x.size == 1 else np.maximum(x, 0)\n"},
        cases={"one": {"x": {"normal": [1, 1]}}},
        starter_holds=[],
        begin="def relu(x):\n    return x - 7\n",
    )
    assert report.programs[2].cells["gate"] is MatrixCell.VARIES
    lucky = report.programs[2].passing_seeds["gate"]
    assert 0 < len(lucky) < 8
    seeds = f"seed{'' if len(lucky) == 1 else 's'} {', '.join(map(str, lucky))}"
    assert report.problems[0].startswith(
        f"open is stopped on {8 - len(lucky)} of 8 seeds, and passes every check on {seeds}: give"
    )
    assert not any("killed by" in p or "diagnosed" in p for p in report.problems)


def test_a_claimed_check_that_another_check_precedes_is_reported_with_advice(
    tmp_path: Path,
) -> None:
    floor = {**SECOND, "id": "floor", "needs": "gate"}
    last = {**SECOND, "id": "last", "needs": "floor"}
    ideas = {"open": {**OPEN, "killed_by": "last"}}
    report = audited(tmp_path, seeds=(1, 2), checks=[GATE, floor, last], misconceptions=ideas)
    assert report.problems == (
        "open is said to be killed by last, but gate, which last needs, stops it first "
        "on all 2 seeds: use cases on which it passes gate, or claim gate",
    )


def test_a_claimed_check_that_the_idea_passes_is_reported_and_not_called_idle(
    tmp_path: Path,
) -> None:
    report = audited(
        tmp_path,
        cases={"signs": SIGNS, "many": {"x": {"normal": [4, 5]}}, "positive": {"x": [[1.0]]}},
        checks=[GATE, {**GATE, "id": "below", "cases": "positive"}],
        misconceptions={"open": {**OPEN, "killed_by": ["gate", "below"]}},
    )
    assert "open is said to be killed by below, which it passes" in report.problems
    assert not any("idle" in problem for problem in report.problems)
    # A check that passes contradicts the idea that it claims.
    assert "open is diagnosed as nothing, expected open" in report.problems


def test_ideas_that_no_case_tells_apart_are_a_fault(tmp_path: Path) -> None:
    ideas = {
        "all": "def total(x, k):\n    return x.sum()\n",
        "one-more": "def total(x, k):\n    return x[:k + 1].sum()\n",
    }
    report = audited(
        tmp_path,
        reference="def total(x, k):\n    return x[:k].sum()\n",
        variants=ideas,
        interface="def total(x, k):  # x (N,) float64 -> a float",
        run=["s = total(x, k)"],
        # One entry more than k is the same as all entries, on both cases.
        cases={"two": {"x": [1.0, 2.0], "k": 1}, "some": {"x": {"normal": [4]}, "k": 3}},
        checks=[{**GATE, "of": "s"}],
        misconceptions=dict.fromkeys(ideas, OPEN),
        starter_holds=[],
    )
    assert report.problems == (
        "all and one-more cannot be told apart on any case: add one on which they differ, or make "
        "them variants of one misconception",
    )


# -- parts -----------------------------------------------------------------------------------------

NAME = "mean-and-spread"
PARTS = (MINI.parent / "parts" / "questions" / f"{NAME}.yaml").read_text(encoding="utf-8")
VARIANCE = PARTS[PARTS.index("    # %% variance") :]
PROMPT = "Our dashboard shows a mean that grows with the number of samples."
CLAUSE = "contract: [m is the arithmetic mean of the entries of x.]"
IDLE = "the check {} kills no variant: it is idle, or a misconception is missing"


def edited(folder: Path, *edits: str, seeds: Sequence[int] = (1, 2)) -> AuditReport:
    """Audit the question of three parts with each text of the pairs replaced by the next one."""
    text = PARTS
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    path = folder / f"{NAME}.yaml"
    path.write_text(text, encoding="utf-8")
    return audit_question(load_question([path], NAME), seeds=seeds)


def test_a_question_with_parts_passes_its_audit(tmp_path: Path) -> None:
    report = edited(tmp_path)
    assert (report.problems, report.remarks, report.notes) == ((), (), ())
    kills = {
        row.name: [c for c, cell in row.cells.items() if cell == "kills"] for row in report.programs
    }
    assert kills == {
        "reference": [],
        "starter": ["mean"],
        "sums": ["mean"],
        "divides-by-nothing": ["nothing"],
        "doubles-in-place": ["alone"],
        "variance": ["spread"],
        "cancels": ["far"],
    }


@pytest.mark.parametrize(
    ("edits", "problems"),
    [
        pytest.param(
            ("found = float(x.mean())", "found = float(x.mean()) + 1.0"),
            (
                "doubles-in-place is said to be killed by alone, but mean of part 1 stops it first "
                "on all 2 seeds: an idea of part 2 passes the parts before, or claim mean",
                IDLE.format("alone"),
            ),
            id="an idea passes the parts before its own",
        ),
        pytest.param(
            ("killed_by: mean", "killed_by: [mean, spread]"), (), id="claimed by a later part too"
        ),
        pytest.param(
            ("killed_by: mean", "killed_by: [mean, nothing]"),
            (
                "sums is said to be killed by nothing, which it passes, and mean of part 1 stops "
                "it on all 2 seeds: claim mean",
            ),
            id="claimed by a later part, which it passes",
        ),
        pytest.param(  # others do not pass these, and a grade stops all of them in the first part
            (VARIANCE, ""),
            (IDLE.format("spread"), IDLE.format("far")),
            id="a check earns its place among those who get there",
        ),
    ],
)
def test_every_check_and_idea_has_its_part(
    tmp_path: Path, edits: tuple[str, ...], problems: tuple[str, ...]
) -> None:
    assert edited(tmp_path, *edits).problems == problems


def test_a_question_of_parts_without_a_repair_is_remarked() -> None:
    unrepaired = load_question([MINI.parent / "parts"], NAME)
    (remark,) = remarks_about(audit_question(unrepaired, seeds=(1,)), "repair")
    assert remark.startswith("there is no drills/mean-and-spread/repair.py, so that `drill ")
    repaired = replace(unrepaired, repair=unrepaired.reference)
    assert remarks_about(audit_question(repaired, seeds=(1,)), "repair") == []


def test_the_starter_fails_in_the_first_part(tmp_path: Path) -> None:
    right = "        return total / len(x)\n"
    report = edited(tmp_path, "        return total\n", right, "[sums]", "[]")
    assert "starter passes part 1 on all 2 seeds, in which it has to fail" in report.problems


# -- the text --------------------------------------------------------------------------------------


def test_a_first_part_is_short(tmp_path: Path) -> None:
    clauses = f"contract: [{', '.join('abcdefg')}]"
    longer = (PROMPT, PROMPT + " word" * 80, CLAUSE, clauses)
    first, second = remarks_about(edited(tmp_path, *longer, seeds=(1,)), "parts")
    assert "the prompt of part 1 has 98 words" in first
    assert "the contract of part 1 has 7 clauses" in second
    assert remarks_about(edited(tmp_path, PROMPT, PROMPT + " word" * 72, seeds=(1,)), "parts") == []


def test_a_case_that_no_check_looks_at_is_remarked_on_with_its_place(tmp_path: Path) -> None:
    (text,) = remarks_about(audited(tmp_path, checks=[{**GATE, "cases": "signs"}]), "unused")
    assert re.fullmatch(r"questions/gate\.yaml:\d+:3: cases\.many: no check looks at it; .*", text)


def test_a_prerequisite_must_be_another_question_of_the_bank(tmp_path: Path) -> None:
    before = ["there", "nowhere", "gate"]
    asked = question(tmp_path, prerequisites=before)
    (tmp_path / "questions" / "there.yaml").write_text("title: There\n")
    assert remarks_about(audit_question(asked, seeds=(1,)), "prerequisites") == [
        f"prerequisites: there is no other question {name} in this bank" for name in before[1:]
    ]


# -- several questions at once ---------------------------------------------------------------------

HERE = os.getpid()
forked = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere questions come one by one")


@pytest.fixture
def questions(tmp_path: Path) -> list[Question]:
    only = question(tmp_path)
    return [replace(only, id=name) for name in ("first", "second", "third", "fourth")]


@pytest.fixture
def fails(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the audit by one that reports where it ran; its process ends on these questions."""
    ids: list[str] = []

    def stand_in(
        asked: Question, *, seeds: Sequence[int], progress: Callable[[str], None]
    ) -> AuditReport:
        progress(f"{asked.id}: looking")
        if asked.id in ids and os.getpid() != HERE:
            os._exit(3)
        where = "here" if os.getpid() == HERE else "elsewhere"
        return AuditReport(asked.id, where, tuple(seeds), 0.0, (), (), ())

    monkeypatch.setattr(auditing, "audit_question", stand_in)
    return ids


def reports(questions: Sequence[Question], jobs: int) -> list[tuple[str, str]]:
    audits = audit_questions(questions, AuditPlan(range(1), jobs=jobs), lambda _: None)
    return [(report.question, report.title) for report, _ in audits]


@forked
def test_reports_come_in_the_order_of_the_questions(
    questions: list[Question], fails: list[str]
) -> None:
    assert reports(questions, 3) == [(question.id, "elsewhere") for question in questions]
    assert {where for _, where in reports(questions, 1)} == {"here"}
    assert reports(questions[:1], 8) == [("first", "here")]
    fails.append("second")  # whose process ends without a report: it is done again here
    again = dict(reports(questions, 2))
    assert (list(again), again["second"]) == ([q.id for q in questions], "here")


@forked
def test_no_process_stays_if_the_caller_stops_early(
    questions: list[Question], fails: list[str]
) -> None:
    audits = audit_questions(questions, AuditPlan(range(1), jobs=2), lambda _: None)
    next(audits)
    audits.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []


PEAK = {"id": "peak", "kind": "peak", "of": "y", "cases": "long", "needs": "gate"}


@pytest.mark.parametrize(
    ("bytes_", "hoarded", "fault"),
    [
        (30, 8, []),  # bytes of an entry: the reference takes 16
        (20, 8, ["1.25x what reference takes", "expected at least 1.50x"]),
        (20, 2, []),  # the wrong idea takes 24, which is 1.5 times as much
        (19, 2, ["1.19x what reference takes", "expected at least 1.23x"]),
        (25, 8, ["1.04x what copies takes", "expected at least 1.50x"]),
    ],
)
def test_a_budget_that_is_tight_for_right_styles_is_a_problem(
    tmp_path: Path, bytes_: int, hoarded: int, fault: list[str]
) -> None:
    copies = "# %% copies\n" + dedent(REFERENCE).replace("return", "x = x.copy()\n    return")
    hoards = (
        f"def relu(x):\n    y, kept = np.where(x > 0, x, 0), x.repeat({hoarded})\n    return y\n"
    )
    idea = {"killed_by": "peak", "feedback": "It keeps too much."}
    report = audited(
        tmp_path,
        cases={"signs": SIGNS, "long": {"x": {"normal": [100_000]}}},
        checks=[{**GATE, "cases": "all"}, {**PEAK, "at_most": f"{bytes_} * x.size"}],
        variants={**VARIANTS, "hoards": hoards},
        misconceptions={**IDEAS, "hoards": idea},
        code={"accepted": copies} if bytes_ == 25 else None,
    )
    said_of_it = [p for p in report.problems if p.startswith("peak: its budget")]
    assert len(said_of_it) == bool(fault), report.problems
    assert all(text in said_of_it[0] for text in fault)
    (budget,) = report.budgets
    assert (budget.check, budget.wrong) == ("peak", "hoards")
    page = "\n".join(map(without_styles, render_terminal(list(audit_page(report)), 80)))
    assert f"takes {budget.right_share:.2f} of its budget; hoards" in page
