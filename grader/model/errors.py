"""Errors, by the person or machine that caused them.

DrillError
    UsageError      the person typing: an unknown id, a missing file, a folder that is in the way
      MachineError  the machine: a full disk, too little memory, a limit of the shell
    BankError       the question bank: broken YAML, a missing file, a reference that fails
    GraderError     the grader

A message has one or two sentences: the place, the expected and the found value, and the fix.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence

KeyPath = tuple[str | int, ...]  # the way to a place in a YAML file: ("parts", 0, "checks", 2)
SpecError = tuple[KeyPath, str]  # a place, and what was expected and found there
SpecErrors = Iterator[SpecError]


class DrillError(Exception):
    """Error that ends a command with a sentence and an `exit_status`."""

    exit_status = 4

    def __init__(self, message: str, hint: str = "") -> None:
        """Store the sentence and, separately, how to fix the problem."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(DrillError):
    """The command cannot be carried out as typed."""

    exit_status = 2


class MachineError(UsageError):
    """This machine has too little of something, or a limit is too low."""


class BankError(DrillError):
    """The question bank is at fault; `problems` lists every fault."""

    exit_status = 3

    def __init__(
        self,
        message: str,
        hint: str = "",
        problems: Sequence[str] = (),
        excerpt: Sequence[str] = (),
    ) -> None:
        """Store the first problem as the message, all problems, and lines of the file to show."""
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
_LIMITS = {  # by error number: the problem of the machine, and its fix
    errno.ENOSPC: ("the disk is full, or takes no more files", _DISK),
    errno.EDQUOT: ("your quota on this disk is used up", _DISK),
    errno.EFBIG: ("a file may not be as large as it must", "ulimit -f unlimited lifts the limit"),
    errno.ENOMEM: ("there is not enough memory", _MEMORY),
    errno.EMFILE: ("this program may not open more files", _FILES),
    errno.ENFILE: ("this machine may not open more files", "end some programs"),
    errno.EAGAIN: ("no more processes or threads can be started", _PROCESSES),
}


def to_machine_error(fault: BaseException | None) -> MachineError | None:
    """Return the error to show if this machine caused an exception: a full disk, for example.

    The exceptions that led to it are examined as well.  Returns None if nothing is recognized.
    """
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


# Measured over the names of kinds, keys and generators: with one typo 99.7 % of them are found,
# with two 80 %.  Of 2,300 words of docs and numpy that are unlike any kind, 1 % get a wrong
# suggestion (at a similarity of 0.5: 32 %).
MIN_SIMILARITY = 0.7
MIN_SIMILARITY_OF_SHORT = 0.65  # of three letters a swap leaves two thirds alike
MIN_LETTERS = 3  # a shorter word would be the beginning, or a part, of too many words
MAX_LETTERS = 100  # of a misspelled word: comparing takes time


def closest_word(word: str, words: Iterable[str], *, parts: bool = True) -> str | None:
    """Return the word most like a misspelled one, or None if no word is similar.

    A word that begins with it comes first.  With `parts`, a part of a word may stand for it:
    `routing` for `plane-routing`.
    """
    from difflib import get_close_matches  # only if somebody misspelled a word

    if not 0 < len(word) <= MAX_LETTERS:
        return None
    candidates = list(words)
    lower = word.lower()
    similarity = MIN_SIMILARITY_OF_SHORT if len(word) <= MIN_LETTERS else MIN_SIMILARITY
    similar = get_close_matches(word, candidates, 1, similarity)
    beginning: list[str] = []
    containing: list[str] = []
    if len(word) >= MIN_LETTERS:
        beginning = [name for name in candidates if name.lower().startswith(lower)]
        containing = [name for name in candidates if parts and lower in name.lower()]
    return next(iter([*beginning, *similar, *containing]), None)


def did_you_mean(word: object, words: Iterable[str], *, parts: bool = True) -> str:
    """Return the end of a sentence that suggests the closest word, or "" if no word is similar."""
    near = closest_word(str(word), words, parts=parts)
    return f"; did you mean {near!r}?" if near else ""
