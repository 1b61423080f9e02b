"""A machine that lacks a library."""

from __future__ import annotations


def without_torch(name: str) -> str | None:
    """Find every module but torch, in the place of `importlib.util.find_spec`."""
    return None if name == "torch" else name
