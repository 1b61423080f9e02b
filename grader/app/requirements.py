"""What not every machine has: libraries, never loaded to find out, and more than one core."""

from __future__ import annotations

import os
from collections.abc import Sequence
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


def missing(libraries: Sequence[str]) -> list[str]:
    """Return those of some libraries that could not be imported, without importing any."""
    others = [name for name in libraries if name != "torch" and find_spec(name) is None]
    return others if "torch" not in libraries or torch_installed() else [*others, "torch"]


def need_libraries(question: Question) -> None:
    """Check that what the question runs on is installed, without loading it.

    Raises:
        UsageError: It needs a library that is not there.
    """
    if lacking := missing(question.spec.uses):
        hint = GET_TORCH if "torch" in lacking else f"pip install {' '.join(lacking)}"
        listed = " and ".join(lacking)
        are = "are" if len(lacking) > 1 else "is"
        raise UsageError(f"{question.id} needs {listed}, which {are} not installed", hint=hint)
