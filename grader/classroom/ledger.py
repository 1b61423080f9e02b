"""What has been graded, a line each, so that nothing is lost or done twice whenever it is killed.

A line is on the disk before anybody is shown it.  One process at a time writes to a file; what a
killed one left half written is no line, and is graded again.
"""

from __future__ import annotations

import fcntl
import functools
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from grader.classroom.disk import MOST_LINE, lines, regular
from grader.model.classroom import RESULTS_FORMAT, Graded
from grader.model.errors import UsageError
from grader.model.report import Report
from grader.reports.json import to_json
from grader.sandbox.closing import Closing

FILES = "verdicts*.jsonl"  # of a folder of results: one for each shard


class Ledger(Closing):
    """A file of verdicts that this process alone adds to."""

    def __init__(self, path: Path) -> None:
        """Open it, made if there is none, and drop what was left half written at its end.

        Raises:
            UsageError: Another process is writing to it, or it cannot be written.
        """
        self.path = path
        try:
            self._file: BinaryIO = open(path, "a+b", buffering=0, opener=regular)  # noqa: SIM115
        except OSError as fault:
            raise UsageError(f"{path}: expected a file to write: {fault.strerror}") from fault
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise UsageError(
                f"{path.parent}: another drill class grade is writing its results",
                hint="wait for it to end, or stop it: this one goes on where it was",
            ) from None
        self._cut()
        _sync(path.parent)

    def add(self, found: Sequence[Graded]) -> None:
        """Write down what came of some grades; they are on the disk when this returns.

        Raises:
            UsageError: The disk is full, say.
        """
        self.copy([_line(one) for one in found])

    def copy(self, lines: Sequence[bytes]) -> None:
        """Write down whole lines of another ledger, as they are.

        Raises:
            UsageError: The disk is full, say.
        """
        text = b"".join(lines)
        if not text:
            return
        try:
            if self._file.write(text) != len(text):
                self._cut()  # what is left of the line: nothing of it counts
                raise OSError(0, "only a part could be written")
            os.fsync(self._file.fileno())
        except OSError as fault:
            raise UsageError(
                f"{self._file.name}: the verdicts cannot be written: {fault.strerror}",
                hint="make room and start again: what was written is kept",
            ) from fault

    def close(self) -> None:
        """Let another process write."""
        self._file.close()

    def _cut(self) -> None:
        """Cut what follows the last whole line."""
        size = end = os.fstat(self._file.fileno()).st_size
        while end:
            start = max(0, end - (1 << 16))
            block = os.pread(self._file.fileno(), end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            os.ftruncate(self._file.fileno(), end)


def _sync(folder: Path) -> None:
    """Have the name of a new file on the disk as well."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _line(graded: Graded) -> bytes:
    report = None if graded.report is None else to_json(graded.report, whole=True)
    content = {
        "format": RESULTS_FORMAT, "key": graded.key, "at": graded.at, "fault": graded.fault,
        "settled": graded.settled, "report": report,
    }  # fmt: skip
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def verdicts(folder: Path) -> Iterator[tuple[Path, int, bytes]]:
    """Give every whole line of every file of verdicts: the file, where it begins, its text."""
    for path in sorted(folder.glob(FILES)):
        for start, line in _lines(path):
            yield path, start, line


def _lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Give every whole line of a file from some place on, and where it begins."""
    return (one for one in lines(path, start) if one[1].endswith(b"\n"))


def settled(folder: Path) -> set[bytes]:
    """Return the keys of everything that need not be graded again, 16 bytes each."""
    return Index(folder).settled()


def _head(line: bytes) -> dict[str, Any] | None:
    """Return the fields of a line before its report, None where it is none.

    Half of the time of starting again would go into reading reports that nobody looks at.
    """
    before, found, _ = line.partition(_REPORT)
    try:
        head = json.loads(before + b"}") if found else None
        if not isinstance(head, dict) or head.get("format") != RESULTS_FORMAT:
            return None
        alike = len(bytes.fromhex(head["key"])) == 16 and isinstance(head["settled"], bool)
        alike = alike and isinstance(head["fault"], str) and isinstance(head["at"], str)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return head if alike else None


_REPORT = b',"report":'
_FILE_BITS = 20  # of a place: which file it is in, and whether what is there is settled


class Index:
    """The latest verdict of every key, found without reading the others.

    A place is one number: a million of them are held at once.
    """

    def __init__(self, folder: Path) -> None:
        """Note where each line is; one that is settled counts before one that is not."""
        self._folder = folder
        self._paths: list[Path] = []
        self._read: dict[Path, int] = {}  # up to where, in bytes
        self._places: dict[bytes, int] = {}
        self.unreadable = 0  # lines that are no verdict
        self.update()

    def update(self) -> None:
        """Note what was written since."""
        for path in sorted(self._folder.glob(FILES)):
            if path not in self._read:
                self._read[path] = 0
                self._paths.append(path)
            number = self._paths.index(path)
            for start, line in _lines(path, self._read[path]):
                self._read[path] = start + len(line)
                self._note(line, start << _FILE_BITS | number << 1)

    def _note(self, line: bytes, place: int) -> None:
        head = _head(line)
        if head is None:
            self.unreadable += 1
            return
        key, done = bytes.fromhex(head["key"]), bool(head["settled"])
        if done or not self.is_settled(key):
            self._places[key] = place | done

    def settled(self) -> set[bytes]:
        """Return the keys of everything that need not be graded again, 16 bytes each."""
        return {key for key, place in self._places.items() if place & 1}

    def is_settled(self, key: bytes) -> bool:
        """Return whether something need not be graded again."""
        return bool(self._places.get(key, 0) & 1)

    def get(self, key: str) -> Graded | None:
        """Return what came of grading something, if it was graded."""
        place = self._places.get(bytes.fromhex(key))
        if place is None:
            return None
        with open(self._paths[place % (1 << _FILE_BITS) >> 1], "rb", opener=regular) as file:
            file.seek(place >> _FILE_BITS)
            return graded_of(file.readline(MOST_LINE))


def graded_of(line: bytes) -> Graded:
    """Read a line.

    Raises:
        UsageError: It is no verdict of this version.
    """
    head, _, report = line.rstrip().removesuffix(b"}").partition(_REPORT)
    content = json.loads(head + b"}")
    try:
        read = None if report == b"null" else _reports().validate_json(report)
    except ValueError as fault:
        text = f"results: expected the report of {content['key']}, found {str(fault)[:200]}"
        raise UsageError(text) from fault
    return Graded(content["key"], read, content["fault"], content["at"])


@functools.cache
def _reports() -> Any:  # noqa: ANN401 - pydantic's class is generic in a dataclass it adapts
    from pydantic import TypeAdapter

    return TypeAdapter(Report)
