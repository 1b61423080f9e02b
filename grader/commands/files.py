"""Read and write a person's files; an old file is kept in a copy before it is overwritten."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from grader.bank.bank_files import read_regular_file, write_atomically
from grader.model.errors import UsageError
from grader.model.limits import MAX_SUBMISSION_FILE_BYTES
from grader.records import events

if TYPE_CHECKING:
    from grader.commands.context import Context
    from grader.records.events import Event

_ELSEWHERE = "choose a folder that you can write, with drill start ID --dir DIR"


def read_submission(path: Path) -> bytes:
    """Return the bytes of a submission; grading decides if they are a program.

    UsageError if the file is missing, a symbolic link, unreadable or too large.
    """
    try:
        content, status = read_regular_file(path, MAX_SUBMISSION_FILE_BYTES + 1)
    except FileNotFoundError:
        where = "" if path.parent.is_dir() else f" (nor the folder {path.parent})"
        raise UsageError(f"{path}: there is no such file{where}") from None
    except OSError as fault:
        if fault.errno == errno.ELOOP:
            raise UsageError(
                f"{path}: expected a file, found a symbolic link, which is not followed",
                hint="put a copy of the file in its place",
            ) from None
        what = ", found" if fault.errno == errno.EINVAL else " to read:"
        raise UsageError(f"{path}: expected a file{what} {fault.strerror}") from fault
    if len(content) > MAX_SUBMISSION_FILE_BYTES:
        size = max(status.st_size, len(content))
        limit = f"{MAX_SUBMISSION_FILE_BYTES:,} bytes"
        raise UsageError(f"{path}: expected a submission of at most {limit}, found {size:,}")
    return content


def create(path: Path, content: bytes, advice: str = _ELSEWHERE) -> bool:
    """Write a new file and create its folder; return False and do nothing if the file exists.

    UsageError, with `advice`, if it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as fault:
        raise UsageError(
            f"{path}: cannot be written: {fault.strerror or fault}", hint=advice
        ) from fault
    return True


def replace(path: Path, content: bytes, advice: str = _ELSEWHERE) -> None:
    """Write a file atomically, over the old content, which the caller has kept if it matters.

    UsageError, with `advice`, if the path is a symbolic link or cannot be written.
    """
    refuse_link(path)
    write_atomically(path, [content], advice, keep_mode=True)


def replace_keeping_copy(
    ctx: Context, path: Path, content: bytes, reason: str, event: Event
) -> Path | None:
    """Write a file and record `event`; keep a different old content in a copy and in the records.

    Return the path of the copy, such as submission.before-reset-1.py for the reason "reset"; None
    if there was nothing to keep.
    """
    refuse_link(path)
    if os.path.lexists(path):
        old_content = read_submission(path)
        if old_content != content:
            copy = keep_copy(path, old_content, f"before-{reason}")
            ctx.write(lambda db: events.begin_attempt(db, event, old_content))
            replace(path, content)
            return copy
    create(path, content)
    ctx.record_event(event)
    return None


def keep_copy(path: Path, content: bytes, reason: str) -> Path:
    """Write the content of a file into a new file next to it, and return that path.

    For the reason "before-reset" it is submission.before-reset-1.py, or the first free number.
    """
    copies = (path.with_name(f"{path.stem}.{reason}-{n}{path.suffix}") for n in count(1))
    return next(copy for copy in copies if create(copy, content))


def refuse_link(path: Path) -> None:
    """Raise UsageError if a path is a symbolic link: nothing is written through a link."""
    with suppress(OSError):  # it is not a link, or it cannot be read
        target = os.readlink(path)  # noqa: PTH115 - Path.readlink normalizes the target
        raise UsageError(
            f"{path}: expected a file or a folder of its own, found a symbolic link to {target}",
            hint="remove the link, or work in another folder (drill start ID --dir DIR)",
        )


def zip_files(content: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """Return a zip file of `content`, by path; equal content gives equal bytes.

    Paths in `executable` get the permission to execute.
    """
    import zipfile  # most commands do not need it

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name)  # its time is always 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, data)
    return buffer.getvalue()
