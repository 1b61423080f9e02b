# ruff: noqa: F401
"""Programs, cases and results in one evaluation; what a kind of check uses of it stands here."""

from __future__ import annotations

import numpy as np

from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe as Case
from grader.evaluation.bands import entered, least, tolerated
from grader.evaluation.compare import Fault, fault_of, report
from grader.evaluation.evaluation import BankFault, Evaluation, blame_bank
from grader.evaluation.exhibit import bars, grids
from grader.evaluation.tally import Finding, Stopped, tally
from grader.evaluation.values import (
    PRECISE,
    Value,
    array_of,
    describe,
    dict_keys,
    floats,
    largest,
    same_value,
)
from grader.model.question import Step
from grader.model.report import Bars
from grader.sandbox.client import WorkerError
from grader.sandbox.messages import Inputs, Measured, Outcome, ProgramError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.worker.wire import Tensor
