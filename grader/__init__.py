"""drill: interview drills and an auto-grader for deep-learning internals."""

__version__ = "0.1.0"
