# ruff: noqa: F401
"""Programs, cases and results in one evaluation; what a kind of check uses of it stands here."""

from __future__ import annotations

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe as Case
from grader.grading.case_by_case import CaseFinding, SubmissionStopped, judge_all_cases
from grader.grading.compare import ResultMismatch, find_mismatch, mismatch_of_entries
from grader.grading.evaluation import BankProgramError, Evaluation, blame_bank
from grader.grading.exhibits import make_bars, make_grids
from grader.grading.tolerance_bands import allowed_by_check, input_scale, minimum_tolerance
from grader.grading.values import (
    PRECISE,
    Value,
    describe_value,
    format_dict_keys,
    largest_magnitude,
    same_value,
    to_array,
    to_floats,
)
from grader.model.question import Step
from grader.model.report import Bars
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Inputs, Measured, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.wire import Tensor
