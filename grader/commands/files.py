"""Reading and writing a person's files: nothing is written over that is not kept."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from itertools import count
from pathlib import Path

from grader.bank.bank_files import read_regular_file, write_atomically
from grader.model.errors import UsageError
from grader.model.limits import MAX_SUBMISSION_FILE_BYTES

_ELSEWHERE = "choose a folder that you can write, with drill start ID --dir DIR"


def read_submission(path: Path) -> bytes:
    """Return the bytes of a submission; whether they are a program is for the judge to say."""
    try:
        content, found = read_regular_file(path, MAX_SUBMISSION_FILE_BYTES + 1)
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
        size = max(found.st_size, len(content))
        raise UsageError(
            f"{path}: expected a submission of at most {MAX_SUBMISSION_FILE_BYTES:,} bytes, "
            f"found {size:,}"
        )
    return content


def create(path: Path, content: bytes, advice: str = _ELSEWHERE) -> bool:
    """Write a new file, and its folder; return False, touching nothing, if one is there."""
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
    """Put a file in the place of another, at once; the caller has kept what was there.

    UsageError, with `advice`, where the path is a symbolic link or cannot be written.
    """
    refuse_link(path)
    write_atomically(path, [content], advice, keep_mode=True)


def zip_files(content: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """Return a zip file of files by path, some of them executable; equal for equal content."""
    import zipfile  # which most commands do without

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in content.items():
            entry = zipfile.ZipInfo(name)  # its time is always 1980
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def keep_copy(path: Path, content: bytes, why: str) -> Path:
    """Keep what a file holds in a new one beside it, and return that.

    For the reason `before-reset` that is submission.before-reset-1.py, or the first number free.
    """
    copies = (path.with_name(f"{path.stem}.{why}-{n}{path.suffix}") for n in count(1))
    return next(copy for copy in copies if create(copy, content))


def refuse_link(path: Path) -> None:
    """Raise UsageError where a path is a symbolic link: nothing is written where one leads."""
    with suppress(OSError):  # it is no link, or nobody may know
        target = os.readlink(path)  # noqa: PTH115 - Path.readlink normalizes what was written
        raise UsageError(
            f"{path}: expected a file or a folder of its own, found a symbolic link to {target}",
            hint="remove the link, or work in another folder (drill start ID --dir DIR)",
        )
