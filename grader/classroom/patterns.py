"""Layouts that an instructor describes: `{student}/{question}.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.classroom.layouts import ANY, EXACT, PROGRAMS, Asked, Place, student, suffix
from grader.classroom.platforms import utc
from grader.model.errors import UsageError

FIELDS = ("student", "question", "at", "name", "email", "_")
_MOST = 12  # pieces of a pattern
_PIECE = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")


class Pattern:
    """A pattern with named fields, each of which is any text without `/`."""

    name = "pattern"
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
        if suffix(path.rpartition("/")[2]) not in PROGRAMS:
            return []
        fields = self._match(path)
        if fields is None:
            return []
        called = student(fields["student"])
        questions = [fields["question"]] if "question" in fields else self._asked.ids
        rank = EXACT if "question" in fields else ANY
        name, email = fields.get("name", ""), fields.get("email", "")
        at = fields.get("at")
        return [Place(called, one, (rank, 1), at, name, email) for one in questions]

    def _match(self, path: str) -> dict[str, str] | None:
        """Return the fields, each as short as can be; what failed once is not tried again.

        A regular expression would take years for some file names.
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

        return fields if fits(0, 0) else None

    def _ends(self, path: str, piece: int, start: int) -> Iterator[int]:
        """Give where a field may end: before what follows it."""
        stop = path.find("/", start)
        stop = len(path) if stop < 0 else stop
        if piece + 1 == len(self._pieces):
            yield from range(stop, stop + (stop == len(path)))
            return
        after = self._pieces[piece + 1][1]
        end = path.find(after, start + 1)
        while 0 <= end <= stop:
            yield end
            end = path.find(after, end + 1)

    def _read(self, field: str, text: str) -> str:
        """Return what a field says, "" where it cannot be that."""
        if field == "question":
            return self._asked.named(text)
        if field == "at":
            return utc(text)
        return student(text) if field == "student" else text


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
