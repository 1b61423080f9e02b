"""The nearest of some words, for 'did you mean'."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(word: str, words: Iterable[str], *, parts: bool = True) -> str | None:
    """The nearest of some words, or None when none is near.

    With `parts`, a part of a word may stand for it: `routing` for `plane-routing`.
    """
    known = list(words) if 0 < len(word) <= 100 else []
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    found += [w for w in known if parts and word.lower() in w.lower()]
    return found[0] if found else None


def did_you_mean(word: object, words: Iterable[str], *, parts: bool = True) -> str:
    """The end of a sentence that suggests the closest of some words; empty where none is near."""
    near = closest(str(word), words, parts=parts)
    return f"; did you mean {near!r}?" if near else ""
