"""Errors carry whose fault they are; a misspelled name gets its suggestion, another word none."""

from __future__ import annotations

import errno

import pytest

from grader.cases import recipe
from grader.grading.kinds import registry
from grader.model.errors import (
    BankError,
    DrillError,
    GraderError,
    UsageError,
    closest_word,
    to_machine_error,
)

NAMES = ([*registry.KINDS], [*recipe.GENERATORS, *recipe.MODIFIERS])


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (OSError(errno.ENOSPC, "No space", "/tmp/x"), "/tmp/x: the disk is full"),
        (OSError(errno.EDQUOT, "Quota"), "your quota"),
        (OSError(errno.EFBIG, "Too large"), "a file may not be as large"),
        (OSError(errno.EMFILE, "Too many"), "may not open more files"),
        (MemoryError(), "not enough memory"),
        (ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
        (RuntimeError("can't start new thread"), "no more processes or threads"),
        (OSError(errno.EACCES, "Permission denied"), ""),
        (ValueError("a bug"), ""),
    ],
)
def test_a_lack_of_the_machine_is_a_machine_error(fault: Exception, said: str) -> None:
    outer = RuntimeError("because of that")
    outer.__cause__ = fault
    for one in (fault, outer):
        found = to_machine_error(one)
        assert (found.message if found else "").startswith(said) or said in str(found)
        assert (found is None) is (said == "")
        assert found is None or (found.exit_status == 2 and found.hint)


def test_every_error_has_the_exit_status_of_its_cause() -> None:
    assert (UsageError("u").exit_status, BankError("b").exit_status) == (2, 3)
    assert (GraderError("g").exit_status, DrillError("d").exit_status) == (4, 4)
    error = BankError("first", "do this", ("first", "second"))
    assert (error.message, error.hint, error.problems) == ("first", "do this", ("first", "second"))
    assert BankError("only").problems == ("only",)


@pytest.mark.parametrize(
    ("word", "words", "expected"),
    [
        ("maxpool", ["maxpool-routing", "conv"], "maxpool-routing"),
        ("routing", ["maxpool-routing", "conv"], "maxpool-routing"),
        ("routin", ["maxpool-routing", "conv"], "maxpool-routing"),
        ("nothing", ["maxpool-routing", "conv"], None),
        ("POOL", ["maxpool-routing"], "maxpool-routing"),
        ("minuets", ["minutes", "minus"], "minutes"),
        ("mini", ["minus", "minimum"], "minimum"),  # one that begins so comes first
        ("o", ["numbers", "forward"], None),  # a letter is in too many words
        ("zzz", ["minutes"], None),
        ("", ["minutes"], None),
        ("a", [], None),
        ("gruop-norm", ["rope", "batch-norm", "group-norm"], "group-norm"),
        ("gruop-nrom-twice", ["group-norm"], None),
    ],
)
def test_the_closest_word_is_found(word: str, words: list[str], expected: str | None) -> None:
    assert closest_word(word, words) == expected


@pytest.mark.parametrize("names", NAMES)
def test_a_missing_extra_or_swapped_letter_is_recognized(names: list[str]) -> None:
    for name in names:
        for at in range(1, len(name)):
            swapped = f"{name[: at - 1]}{name[at]}{name[at - 1]}{name[at + 1 :]}"
            for typed in (f"{name[:at]}x{name[at:]}", name[:at] + name[at + 1 :], swapped):
                assert closest_word(typed, names) == name, typed


@pytest.mark.parametrize("names", NAMES)
def test_an_unrelated_word_is_not_taken_for_a_typo(names: list[str]) -> None:
    words = "forms subtract yours machines random gaussian constant tensors change points values"
    for word in [*words.split(), "backward", "loss", "kernel"]:
        assert closest_word(word, names) is None, word
