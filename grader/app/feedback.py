"""Feedback to students: a file of Markdown and one of HTML for each, in a folder."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from grader.app import files
from grader.classroom.results import Results
from grader.model.errors import UsageError
from grader.reports.feedback import feedback, to_html, to_markdown

_ADVICE = "choose a folder that you can write"
_LONGEST = 60  # characters of a name
# A name that every file system has, and that no other student's can be: what is made safe ends in a
# hash, and nothing that ends like one counts as safe.
_SAFE = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9_])?")
_HASHED = re.compile(r".*-[0-9a-f]{16}")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")


@dataclass(frozen=True, slots=True)
class Written:
    """What became of the feedback to a class."""

    students: int
    changed: int  # files that were written: the others were as they are to be


def write_feedback(results: Results, folder: Path) -> Written:
    """Write what each student of a class is told, each file whole or not at all.

    What is in the folder already and is as it is to be stays untouched.

    Raises:
        UsageError: The folder cannot be written, or some files; all others are then written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise UsageError(f"{folder}: expected a folder to write: {fault.strerror}") from fault
    students = changed = 0
    refused: list[UsageError] = []
    for student, entries in groupby(results.entries(), key=lambda one: one.handed.student):
        said = feedback(results.terms, list(entries))
        students += 1
        for ending, text in ((".md", to_markdown(said)), (".html", to_html(said))):
            path = folder / f"{stem(student)}{ending}"
            try:
                changed += _put(path, text.encode("utf-8", "backslashreplace"))
            except UsageError as fault:  # a link, say: everybody else's is written
                refused.append(fault)
    if refused:
        more = f" (and {len(refused) - 1:,} more)" if len(refused) > 1 else ""
        raise UsageError(
            f"{refused[0]}{more}; all other files are as they are to be", refused[0].hint
        )
    return Written(students, changed)


def stem(student: str) -> str:
    """Return what a student's files are called: safe everywhere, and nobody else's.

    It depends on the student alone, so that it stays when others come and go.
    """
    safe = len(student) <= _LONGEST and _SAFE.fullmatch(student) and not _HASHED.fullmatch(student)
    if safe and not _DEVICES.fullmatch(student):
        return student
    kept = re.sub(r"[^A-Za-z0-9]+", "-", student)[:_LONGEST].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kept}-{digest[:16]}"


def _put(path: Path, content: bytes) -> bool:
    """Write a file where it is not as it is to be, and return whether that was so."""
    try:
        found, _ = files.read_regular(path, len(content) + 1)
    except (OSError, UsageError):
        found = None
    if found == content:
        return False
    files.replace(path, content, _ADVICE)
    return True
