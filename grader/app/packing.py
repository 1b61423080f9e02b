"""What another machine needs to grade as this one does: the program, its libraries, the questions.

Nothing is fetched: the program is packed as it runs here, and the versions are those that are
installed here.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from pathlib import Path

import grader
from grader import __version__
from grader.bank.storage import files_of
from grader.model.errors import UsageError
from grader.model.question import Question

PROGRAM = "drill-dl"
WHEEL = f"drill_dl-{__version__}-py3-none-any.whl"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # one time for all: equal content makes an equal archive
_ELSEWHERE = re.compile(r"!= *['\"]linux|== *['\"](win32|darwin|windows)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")


def zipped(files: Mapping[str, bytes], executable: Iterable[str] = ()) -> bytes:
    """An archive of some files by name, the same bytes for the same files."""
    programs = frozenset(executable)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix: the only one whose modes are read
            entry.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def wheel() -> bytes:
    """The program as a wheel, made of the package that is running; without questions.

    Raises:
        UsageError: It is not installed, so that nobody knows what it requires.
    """
    package = Path(grader.__file__).parent
    files = {
        f"grader/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and not {"__pycache__", "_bank"} & {*path.parts}
    }
    about = f"drill_dl-{__version__}.dist-info"
    found = _installed()
    required = [f"Requires-Dist: {one}" for one in found.requires or ()]
    python = found.metadata["Requires-Python"]
    lines = ["Metadata-Version: 2.1", f"Name: {PROGRAM}", f"Version: {__version__}",
             f"Requires-Python: {python}", *required]  # fmt: skip
    files[f"{about}/METADATA"] = _text(lines)
    files[f"{about}/WHEEL"] = _text(
        ["Wheel-Version: 1.0", f"Generator: drill {__version__}", "Root-Is-Purelib: true",
         "Tag: py3-none-any"]
    )  # fmt: skip
    files[f"{about}/entry_points.txt"] = _text(["[console_scripts]", "drill = grader.cli.app:main"])
    record = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{about}/RECORD"] = _text([*record, f"{about}/RECORD,,"])
    return zipped(files)


def pins(libraries: Sequence[str]) -> list[str]:
    """The program's requirements and some libraries, at the versions that are installed here.

    With all that these require in turn and is installed; what belongs to an extra is not.
    """
    wanted = [*_required(_installed()), *libraries]
    found: dict[str, str] = {}
    while wanted:
        name = _canonical(wanted.pop())
        if name in found:
            continue
        try:
            one = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue  # for another system, or another version of Python
        found[name] = one.version.partition("+")[0]  # `+cpu` is a build's, of no other index
        if name not in libraries:  # what torch requires depends on its build
            wanted += _required(one)
    return [f"{name}=={found[name]}" for name in sorted(found)]


def bank(questions: Sequence[Question]) -> dict[str, bytes]:
    """The files of some questions, by their paths in a bank.

    Raises:
        UsageError: Two have one id, or a file cannot be read.
    """
    ids = [question.id for question in questions]
    if twice := next((one for one in ids if ids.count(one) > 1), None):
        raise UsageError(f"expected questions with different ids, found {twice} twice")
    try:
        return {name: content for one in questions for name, content in files_of(one).items()}
    except OSError as fault:
        raise UsageError(f"{fault.filename}: cannot be read: {fault.strerror}") from fault


def _installed() -> metadata.Distribution:
    try:
        return metadata.distribution(PROGRAM)
    except metadata.PackageNotFoundError:
        raise UsageError(
            "expected drill to be installed, found its source alone",
            hint="pip install . in the checkout does that",
        ) from None


def _required(of: metadata.Distribution) -> list[str]:
    """Names of what a distribution requires on Linux, whatever extras are chosen."""
    found = []
    for requirement in of.requires or ():
        text, _, marker = requirement.partition(";")
        name = _NAME.match(text.strip())
        if name is not None and "extra" not in marker and not _ELSEWHERE.search(marker):
            found.append(name[0])
    return found


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
