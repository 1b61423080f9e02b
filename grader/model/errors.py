"""Errors that are somebody's fault, and whose.

DrillError
    UsageError      the person typing: an unknown id, a missing file, a folder that is in the way
      MachineError  the machine: a full disk, too little memory, a limit of the shell
    BankError       the question bank: broken YAML, a missing file, a reference that fails
    GraderError     us

Every message is one sentence or two: where, what was expected, what was found, what to do.
"""

from __future__ import annotations

import errno
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


class MachineError(UsageError):
    """This machine has too little of something, or a limit is too low."""


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


_DISK = (
    "make room there, or name a folder on another disk: TMPDIR for what is temporary, DRILL_HOME"
)
_TEMP = "make room on the disk, name a folder with TMPDIR, or lift the limit: ulimit -f unlimited"
_MEMORY = "free some memory, or raise the limit of the shell: ulimit -v unlimited"
_FILES = "raise the limit of the shell: ulimit -n 256"
_PROCESSES = "end some programs, or raise the limit of the shell: ulimit -u"
_LIMITS = {  # of the machine, by the number of the error: what is wrong, what to do
    errno.ENOSPC: ("the disk is full, or takes no more files", _DISK),
    errno.EDQUOT: ("your quota on this disk is used up", _DISK),
    errno.EFBIG: ("a file may not be as large as it must", "ulimit -f unlimited lifts the limit"),
    errno.ENOMEM: ("there is not enough memory", _MEMORY),
    errno.EMFILE: ("this program may not open more files", _FILES),
    errno.ENFILE: ("this machine may not open more files", "end some programs"),
    errno.EAGAIN: ("no more processes or threads can be started", _PROCESSES),
}


def to_machine_error(fault: BaseException | None) -> MachineError | None:
    """Return what to say of an exception if the machine is to blame for it or for its cause."""
    while fault is not None:
        number = fault.errno if isinstance(fault, OSError) else None
        if isinstance(fault, MemoryError) or "failed to map segment" in str(fault):
            number = errno.ENOMEM
        elif isinstance(fault, RuntimeError) and "start new thread" in str(fault):
            number = errno.EAGAIN
        elif number == errno.ENOENT and "usable temporary directory" in str(fault):
            return MachineError(
                "no temporary file can be written, in any of the usual folders", _TEMP
            )
        if number in _LIMITS:
            text, hint = _LIMITS[number]
            place = getattr(fault, "filename", None)
            return MachineError(f"{place}: {text}" if place else text, hint)
        fault = fault.__cause__ or fault.__context__
    return None


# Over the names of kinds, keys and generators: with one typo 99.7 % of them are found, with two
# 80 %, and of 2,300 words of docs and numpy that are not like any kind 1 % get one (at 0.5: 32 %).
MIN_SIMILARITY, MIN_SIMILARITY_OF_SHORT = (
    0.7,
    0.65,
)  # of three letters a swap leaves two thirds alike
MIN_SIMILARITY_OF_PART = (
    0.8  # more: many words are a little like some part, as `nothing` is like `routing`
)
MIN_LETTERS = 3  # letters of a beginning or a part: fewer stand in too many words


def closest_word(word: str, words: Iterable[str], *, parts: bool = True) -> str | None:
    """The nearest of some words, or None when none is near: one that begins so before all others.

    With `parts`, a part of a word may stand for it: `routing` for `plane-routing`.
    """
    import difflib  # only when somebody misspelled a word

    known = list(words) if 0 < len(word) <= 100 else []
    lower = word.lower() if len(word) >= MIN_LETTERS else "\0"  # which is in no word
    found = [w for w in known if w.lower().startswith(lower)]
    found += difflib.get_close_matches(
        word, known, 1, MIN_SIMILARITY if len(word) > MIN_LETTERS else MIN_SIMILARITY_OF_SHORT
    )
    found += [w for w in known if parts and lower in w.lower()]
    if parts and len(word) > MIN_LETTERS:  # `learnin` for `learning-rate`
        count = lower.count("-") + 1
        found += [
            w
            for w in known
            if difflib.get_close_matches(
                lower, _stretches(w.lower(), count), 1, MIN_SIMILARITY_OF_PART
            )
        ]
    return found[0] if found else None


def _stretches(word: str, count: int) -> list[str]:
    """Return every stretch of so many parts of a hyphened word: of two, a-b and b-c of a-b-c."""
    parts = word.split("-")
    return ["-".join(parts[i : i + count]) for i in range(len(parts) - count + 1)]


def did_you_mean(word: object, words: Iterable[str], *, parts: bool = True) -> str:
    """The end of a sentence that suggests the closest of some words; empty where none is near."""
    near = closest_word(str(word), words, parts=parts)
    return f"; did you mean {near!r}?" if near else ""
