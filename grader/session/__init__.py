"""A question and submissions become reports; diagnosis."""

from __future__ import annotations

from grader.session.session import GradingSession, grade
from grader.session.workers import Workers

__all__ = ["GradingSession", "Workers", "grade"]
