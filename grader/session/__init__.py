"""A question and submissions become reports."""

from grader.session.session import GradingSession, grade

__all__ = ["GradingSession", "grade"]
