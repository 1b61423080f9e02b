# ruff: noqa: F401
"""Programs, cases and results of an evaluation, as kinds of checks use them (`base.api`).

`kinds/base.py` imports this module only when a kind first uses a name of it.  Reading a spec
imports the files of its kinds, for their keys, and must not load numpy.  Each kind could have one
file for its keys and another for judging, but one file with everything about a kind reads better.
"""

from __future__ import annotations

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe as Case
from grader.grading.bank_errors import BankProgramError, blame_bank
from grader.grading.case_by_case import (
    SubmissionStopped,
    check_result,
    exception_finding,
    verdict_of_process_end,
)
from grader.grading.compare import ResultMismatch, compare_result, mismatch_of_entries
from grader.grading.evaluation import Evaluation
from grader.grading.exhibits import make_bars, make_grids
from grader.grading.reruns import load_again
from grader.grading.tolerance_bands import (
    allowed_by_check,
    expected_result,
    input_scale,
    minimum_tolerance,
)
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
from grader.model.report import Bars
from grader.model.steps import Step
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Inputs, Measured, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.wire import Tensor
