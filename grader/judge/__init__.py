"""F4: a question and a submission become a Report; diagnosis; the audit of a bank."""

from grader.judge.grading import grade

__all__ = ["grade"]
