"""A question may use further libraries: its programs have them, and no others do."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from grader.app import requirements
from grader.bank.locate import header
from grader.model.errors import BankError, UsageError
from grader.model.libraries import further
from grader.model.verdict import Verdict
from grader.sandbox.file_grants import FURTHER
from grader.session import GradingSession, Workers, grade
from tests.audit.audits import question

SYMBOLIC = """
    import numpy as np
    import sympy
    from sympy.functions.elementary.miscellaneous import Max

    def relu(x):
        t = sympy.symbols("t")
        gate = sympy.lambdify(t, Max(t, 0))
        return np.vectorize(lambda one: float(gate(one)))(x)
"""
RIGHT = dedent(SYMBOLIC).encode()


def test_every_program_has_the_librarys_modules(tmp_path: Path) -> None:
    asked = question(tmp_path, reference=SYMBOLIC, uses=["numpy", "sympy"])
    with GradingSession(asked) as session:
        for _ in range(2):
            report = session.grade(RIGHT, seed=1)
            assert report.verdict is Verdict.PASS, report
        late = RIGHT + b"\nimport sympy.matrices, mpmath.calculus\n"
        assert session.grade(late, seed=1).verdict is Verdict.PASS
        for other in (b"torch", b"yaml", b"pydantic", b"grader"):
            report = session.grade(RIGHT + b"\nimport " + other, seed=1)
            assert report.verdict is Verdict.ERROR
            assert report.message.endswith("allows numpy, sympy and the standard library")


def test_a_question_that_does_not_say_so_has_none(tmp_path: Path) -> None:
    report = grade(question(tmp_path), RIGHT, seed=1)
    assert report.verdict is Verdict.ERROR
    assert "No module named 'sympy'" in report.message


def test_workers_that_were_started_for_others_are_not_taken(tmp_path: Path) -> None:
    asked = question(tmp_path, reference=SYMBOLIC, uses=["sympy"])
    with Workers(torch=False) as plain, GradingSession(asked, workers=plain) as session:
        assert session.grade(RIGHT, seed=1).verdict is Verdict.PASS
    with (
        Workers(torch=False, further=("sympy",)) as own,
        GradingSession(asked, workers=own) as session,
    ):
        assert session.grade(RIGHT, seed=1).verdict is Verdict.PASS


def test_the_head_of_a_spec_says_which_are_needed(tmp_path: Path) -> None:
    question(tmp_path, uses=["sympy", "torch", "numpy", "einops"])
    head = header([tmp_path], "gate")
    assert (head.torch, head.further) == (True, ("einops", "sympy"))


def test_one_that_is_not_installed_is_named_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = {"numpy", "torch"}
    monkeypatch.setattr(requirements, "find_spec", lambda name: name if name in there else None)
    asked = question(tmp_path, uses=["numpy", "scipy", "sympy", "torch"])
    with pytest.raises(UsageError) as raised:
        requirements.need_libraries(asked)
    assert raised.value.message == "gate needs scipy and sympy, which are not installed"
    assert raised.value.hint == "pip install scipy sympy"
    there |= {"scipy", "sympy"}
    requirements.need_libraries(asked)
    there -= {"torch"}
    with pytest.raises(UsageError, match="gate needs torch, which is not installed") as raised:
        requirements.need_libraries(asked)
    assert raised.value.hint == requirements.GET_TORCH


@pytest.mark.parametrize("name", ["grader", "os", "scipi", "../numpy"])
def test_no_other_name_is_one(tmp_path: Path, name: str) -> None:
    with pytest.raises(BankError, match=r"uses\[1\]: expected one of 'numpy', 'torch', 'einops'"):
        question(tmp_path, uses=["numpy", name])


def test_it_is_known_of_each_what_it_is_made_of() -> None:
    every = {"numpy", "torch", "x", *FURTHER}
    assert further(every) == tuple(FURTHER)
