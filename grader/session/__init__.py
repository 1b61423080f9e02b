"""A question and submissions become reports.

What grades is imported when it is asked for: workers start sooner, and import numpy meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.session.session import GradingSession, grade
    from grader.session.workers import Workers

__all__ = ["GradingSession", "Workers", "grade"]


def __getattr__(name: str) -> object:
    if name == "Workers":
        from grader.session.workers import Workers

        return Workers
    if name in __all__:
        from grader.session import session

        return getattr(session, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
