"""F2: a Python file running in its own process, spoken to in plain data."""

from grader.programs.process import isolation_level

__all__ = ["isolation_level"]
