"""Errors that are somebody's fault, and whose.

DrillError
    UsageError      the person typing: an unknown id, a missing file, a folder that is in the way
    BankError       the question bank: broken YAML, a missing file, a reference that fails
    GraderError     us

Every message is one sentence or two: where, what was expected, what was found, what to do.
"""

from __future__ import annotations


class DrillError(Exception):
    """Something that a sentence explains; the command ends with its `exit_status`."""

    exit_status = 4

    def __init__(self, message: str, hint: str = "") -> None:
        """Store the sentence and, separately, what to do about it."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DrillError):
    """The command cannot be carried out as typed."""

    exit_status = 2


class BankError(DrillError):
    """The question bank is at fault; `problems` holds every one that was found."""

    exit_status = 3

    def __init__(
        self,
        message: str,
        hint: str = "",
        problems: tuple[str, ...] = (),
        excerpt: tuple[str, ...] = (),
    ) -> None:
        """Store the first problem as the message, all of them, and lines of the file to show."""
        super().__init__(message, hint)
        self.problems = problems or (message,)
        self.excerpt = excerpt


class GraderError(DrillError):
    """The grader is at fault."""
