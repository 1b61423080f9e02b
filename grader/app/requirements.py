"""What some questions need and not every machine has: torch; never loaded to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.model.question import Question

# `torch` alone may choose a build that brings gigabytes of CUDA packages with it.
TORCH_ADVICE = (
    "in a clone: pip install -c constraints.txt torch; elsewhere: pip install torch, into the"
    " environment of drill (the build for CPUs is enough)"
)


def torch_installed() -> bool:
    """Return whether torch could be imported, without importing it."""
    from importlib.util import find_spec

    return find_spec("torch") is not None


def need_torch(question: Question) -> None:
    """Check that what the question runs on is installed, without loading it.

    Raises:
        UsageError: It needs torch, and there is none.
    """
    if question.spec.needs_torch and not torch_installed():
        raise UsageError(f"{question.id} needs torch, which is not installed", hint=TORCH_ADVICE)
