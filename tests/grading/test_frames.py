"""Few calls lie between a session and the comparison of a result."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from grader import bank
from grader.explain.session import GradingSession
from grader.grading.compare import compare_result
from grader.grading.session import JudgingSession
from grader.model.report import Verdict
from tests.asking import ROOT

pytestmark = pytest.mark.usefixtures("one_zygote")

MINI = ROOT / "tests" / "banks" / "mini"
MAX_FRAMES = 7  # of the package, from `grade` to `compare_result`, both counted


def package_frames(frame: FrameType | None) -> list[str]:
    """Return the functions of the package on the stack of a frame, up to `JudgingSession.grade`."""
    names: list[str] = []
    while frame is not None:
        if frame.f_code.co_filename.startswith(str(ROOT / "grader")):
            names.append(frame.f_code.co_qualname)
        if frame.f_code is JudgingSession.grade.__code__:
            return names
        frame = frame.f_back
    return []


def test_few_frames_lie_between_a_grade_and_a_comparison() -> None:
    question = bank.load_question([MINI], "deviations")
    stacks: list[list[str]] = []

    def note_comparison(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is compare_result.__code__:
            stacks.append(package_frames(frame))

    with GradingSession(question) as session:
        sys.setprofile(note_comparison)
        try:
            report = session.grade(question.reference, seed=1)
        finally:
            sys.setprofile(None)
    assert report.verdict is Verdict.PASS
    of_outputs = [stack for stack in stacks if "OutputsKind.judge" in stack]
    assert of_outputs
    assert [stack for stack in of_outputs if len(stack) > MAX_FRAMES] == []
