"""A question and a submission become a Report; diagnosis."""

from __future__ import annotations

from grader.session.grading import grade

__all__ = ["grade"]
