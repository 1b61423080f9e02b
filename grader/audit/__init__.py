"""The proof of a question, and the mutants of its reference."""

from __future__ import annotations

from grader.audit.proof import audit

__all__ = ["audit"]
