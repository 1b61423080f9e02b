"""What a kind of check uses of the bench, in one place."""

from __future__ import annotations

import numpy as np

from grader.bench import moved, peak_probe, rss_probe
from grader.bench.bands import least, tolerated
from grader.bench.bench import BankFault, Bench, trusting
from grader.bench.clock_probe import contradiction
from grader.bench.compare import Fault, compare, excess, explained, fault_of, report
from grader.bench.encoding import PRECISE
from grader.bench.exhibit import bars, grids
from grader.bench.expected import entered, expected
from grader.bench.measured import amount, baseline, measure
from grader.bench.results import Value, array_of, describe, dict_keys, largest, same_value
from grader.bench.tally import Finding, Stopped, tally
from grader.cases.dataflow import divided, producing, results
from grader.cases.draw import Array
from grader.cases.recipe import CaseRecipe as Case
from grader.model.question import Step
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Kept, Measured, Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

__all__ = [
    "PRECISE", "Array", "BankFault", "Bench", "Case", "Fault", "Finding", "Kept", "Measured",
    "Outcome", "ProgramError", "RemoteProgram", "Step", "Stopped", "Tensor", "Value", "WorkerError",
    "amount", "array_of", "bars", "baseline", "compare", "contradiction", "describe", "dict_keys",
    "divided", "entered", "excess", "expected", "explained", "fault_of", "grids", "largest",
    "least", "measure", "moved", "np", "peak_probe", "producing", "report", "results", "rss_probe",
    "same_value", "tally", "tolerated", "trusting",
]  # fmt: skip
