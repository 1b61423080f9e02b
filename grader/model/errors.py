"""Errors that are somebody's fault, and whose.

DrillError
    UsageError      the person typing: an unknown id, a missing file, a folder that is in the way
    BankError       the question bank: broken YAML, a missing file, a reference that fails
    GraderError     us

Every message is one sentence or two: where, what was expected, what was found, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


class DrillError(Exception):
    """Something that a sentence explains; the command ends with its `exit_status`."""

    exit_status = 4

    def __init__(self, message: str, hint: str = "") -> None:
        """Store the sentence and, separately, what to do about it."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DrillError):
    """The command cannot be carried out as typed."""

    exit_status = 2


class BankError(DrillError):
    """The question bank is at fault; `problems` holds every one that was found."""

    exit_status = 3

    def __init__(
        self,
        message: str,
        hint: str = "",
        problems: Sequence[str] = (),
        excerpt: Sequence[str] = (),
    ) -> None:
        """Store the first problem as the message, all of them, and lines of the file to show."""
        super().__init__(message, hint)
        self.problems = tuple(problems) or (message,)
        self.excerpt = tuple(excerpt)


class GraderError(DrillError):
    """The grader is at fault."""


# Over the names of kinds, keys and generators: with one typo 99.7 % of them are found, with two
# 80 %, and of 2,300 words of docs and numpy that are not like any kind 1 % get one (at 0.5: 32 %).
CUTOFF, OF_SHORT = 0.7, 0.65  # of three letters a swap leaves two thirds alike
LEAST = 3  # letters of a beginning or a part: fewer stand in too many words


def closest(word: str, words: Iterable[str], *, parts: bool = True) -> str | None:
    """The nearest of some words, or None when none is near: one that begins so before all others.

    With `parts`, a part of a word may stand for it: `routing` for `plane-routing`.
    """
    import difflib  # only when somebody misspelled a word

    known = list(words) if 0 < len(word) <= 100 else []
    lower = word.lower() if len(word) >= LEAST else "\0"  # which is in no word
    found = [w for w in known if w.lower().startswith(lower)]
    found += difflib.get_close_matches(word, known, 1, CUTOFF if len(word) > LEAST else OF_SHORT)
    found += [w for w in known if parts and lower in w.lower()]
    if parts and len(word) > LEAST:  # `learnin` for `learning-rate`
        found += [
            w for w in known if difflib.get_close_matches(lower, w.lower().split("-"), 1, CUTOFF)
        ]
    return found[0] if found else None


def did_you_mean(word: object, words: Iterable[str], *, parts: bool = True) -> str:
    """The end of a sentence that suggests the closest of some words; empty where none is near."""
    near = closest(str(word), words, parts=parts)
    return f"; did you mean {near!r}?" if near else ""
