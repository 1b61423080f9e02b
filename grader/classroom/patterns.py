"""Layouts that an instructor describes: `{student}/{question}.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from grader.classroom.layouts import (
    ANY,
    EXACT,
    LONGEST,
    PROGRAMS,
    TEXT,
    Asked,
    Place,
    student,
    suffix,
)
from grader.classroom.platforms import utc
from grader.model.errors import UsageError

FIELDS = ("student", "question", "at", "name", "email", "_")
_MOST = 12  # pieces of a pattern
_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")


class Pattern:
    """A pattern with named fields, each of which is any text without `/`."""

    name = "pattern"
    misfit = "it does not fit the pattern, or says no question that is asked"
    skip = 0

    def __init__(self, text: str, asked: Asked) -> None:
        """Read a pattern.

        Raises:
            UsageError: It is none.
        """
        self.looks_like = text
        self._asked = asked
        self._pieces = list(_pieces(text))
        fields = [value for field, value in self._pieces if field and value != "_"]
        twice = next((one for one in fields if fields.count(one) > 1), "")
        if twice:
            raise _wrong(text, f"each field once, found {{{twice}}} twice")
        if "student" not in fields:
            raise _wrong(text, "the field {student}, found none")
        if len(self._pieces) > _MOST:
            raise _wrong(text, f"at most {_MOST} fields and texts between them")
        for (one, _), (two, after) in zip(self._pieces, self._pieces[1:], strict=False):
            if one and two:
                raise _wrong(text, f"something between two fields, found none before {{{after}}}")

    def places(self, path: str) -> list[Place]:
        """Return whose a file is and what it answers."""
        end = suffix(path.rpartition("/")[2])
        if end not in {*PROGRAMS, TEXT}:
            return []
        found = list(self._whose(path, 0, 0))
        if len({fields["student"] for fields in found}) != 1:  # nobody's, or of two people
            return []
        fields = found[0]
        called = student(fields["student"])
        if not called:
            return []
        questions = [fields["question"]] if "question" in fields else self._asked.ids
        rank = EXACT if "question" in fields else ANY
        name, email = fields.get("name", ""), fields.get("email", "")
        at = fields.get("at")
        return [
            Place(called, one, (rank, 1), at, name, email)
            for one in questions
            if (one in self._asked.texts) is (end == TEXT)
        ]

    def _whose(self, path: str, piece: int, start: int) -> Iterator[dict[str, str]]:
        """Give the fields of each way in which a path fits.

        Up to the student a field ends where what follows it first occurs, whatever it says: were
        another end tried where the rest does not fit, the rest, which a student may have chosen,
        would decide whose the file is.  Only questions and times, which are few, may go on.
        """
        is_field, value = self._pieces[piece]
        if not is_field:
            if path.startswith(value, start):
                yield from self._whose(path, piece + 1, start + len(value))
            return
        closed = value in {"question", "at"}
        ends = self._ends(path, piece, start)
        for end in ends if closed else islice(ends, 1):
            if closed and end - start > LONGEST:
                return
            text = path[start:end]
            if value == "student":
                rest = self._rest(path, piece + 1, end)
                if rest is not None:
                    yield {value: text, **rest}
            elif read := self._read(value, text, copies=False):
                for fields in self._whose(path, piece + 1, end):
                    yield {value: read, **fields}

    def _rest(self, path: str, first: int, begin: int) -> dict[str, str] | None:
        """Return the fields after the student, each as short as can be.

        What failed once is not tried again: a regular expression would take years for some names.
        """
        failed: set[tuple[int, int]] = set()
        fields: dict[str, str] = {}

        def fits(piece: int, start: int) -> bool:
            if piece == len(self._pieces):
                return start == len(path)
            if (piece, start) in failed:
                return False
            is_field, value = self._pieces[piece]
            if not is_field:
                if path.startswith(value, start) and fits(piece + 1, start + len(value)):
                    return True
            else:
                for end in self._ends(path, piece, start):
                    read = self._read(value, path[start:end])
                    if read and fits(piece + 1, end):
                        fields[value] = read
                        return True
            failed.add((piece, start))
            return False

        return fields if fits(first, begin) else None

    def _ends(self, path: str, piece: int, start: int) -> Iterator[int]:
        """Give where a field may end: before what follows it."""
        stop = path.find("/", start)
        stop = len(path) if stop < 0 else stop
        if piece + 1 == len(self._pieces):
            yield from range(stop, stop + (stop == len(path) > start))
            return
        after = self._pieces[piece + 1][1]
        if piece + 2 == len(self._pieces):  # the path ends with it
            end = len(path) - len(after)
            yield from range(end, end + (start < end <= stop and path.endswith(after)))
            return
        end = path.find(after, start + 1)
        while 0 <= end <= stop:
            yield end
            end = path.find(after, end + 1)

    def _read(self, field: str, text: str, *, copies: bool = True) -> str:
        """Return what a field says, "" where it cannot be that.

        Args:
            field: Which it is.
            text: What stands there.
            copies: Whether a question may have what a browser adds at the end of a name.
        """
        if field == "question":
            return self._asked.named(text, copies=copies)
        return utc(text) if field == "at" else text


def _pieces(text: str) -> Iterator[tuple[bool, str]]:
    for found in _PIECE.finditer(text):
        field, between, brace = found.groups()
        if brace:
            raise _wrong(text, f"braces around a field, found {brace!r} alone")
        if field is not None and field not in FIELDS:
            known = ", ".join(f"{{{one}}}" for one in FIELDS)
            raise _wrong(text, f"{known}, found {{{field}}}")
        yield (False, between) if field is None else (True, field)


def _wrong(text: str, expected: str) -> UsageError:
    return UsageError(
        f"--pattern {text}: expected {expected}",
        hint="for example --pattern '{student}/{question}.py'; {_} is anything",
    )
