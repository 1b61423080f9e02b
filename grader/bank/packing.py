"""One question as a small zip, which can be sent to where its bank is not."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import PurePosixPath

from grader.bank.storage import files_of
from grader.model.question import Question

_FOLDERS = ("", "/misconceptions", "/accepted")
_BEGINNING = (1980, 1, 1, 0, 0, 0)  # equal questions make equal archives


def packed(question: Question) -> bytes:
    """Return a bank with this question alone, as a zip; loaded from it, it has the same digest.

    Raises:
        OSError: Its spec cannot be read any more.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(question):
            archive.writestr(zipfile.ZipInfo(name, _BEGINNING), content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def _files(question: Question) -> Iterator[tuple[str, bytes]]:
    files, home = files_of(question.bank), f"drills/{question.id}"
    spec = files.specs()[question.id]
    yield f"questions/{PurePosixPath(spec).name}", files.read(spec)
    names = {f"{home}{folder}/{name}" for folder in _FOLDERS for name in files.names(home + folder)}
    for name in sorted(names):
        with suppress(OSError):  # a folder, say; what is missing, the digest shows
            yield name, files.read(name)
