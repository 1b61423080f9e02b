"""What not every machine has: libraries, never loaded to find out, and more than one core."""

from __future__ import annotations

import os
from importlib.util import find_spec

from grader.model.errors import UsageError
from grader.model.question import Question

# The version of constraints.txt; a looser request may fetch gigabytes of CUDA packages.
GET_TORCH = "pip install torch==2.13.0 (a build for the CPU will do, and any version from 2.4)"


def cores() -> int:
    """Return how many cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def torch_installed() -> bool:
    """Return whether torch could be imported, without importing it."""
    return find_spec("torch") is not None


def need_torch(question: Question) -> None:
    """Check that torch is installed if the question needs it, without loading it.

    Raises:
        UsageError: It is not there.
    """
    if question.spec.needs_torch and not torch_installed():
        raise UsageError(f"{question.id} needs torch, which is not installed", hint=GET_TORCH)
