"""Grade what one student handed in, on a platform that runs a grader for each of them.

There a result is written whatever happens: a grade that came to no end says so, and why.
Everything is done by commands that anybody can type: `drill class grade`, in a process of its own
and for a limited time.  What a student's folder holds chooses nothing but the file that is graded.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.app.exporting import dumped
from grader.classroom import notebook
from grader.classroom.disk import write_whole
from grader.classroom.layouts import TEXT
from grader.classroom.results import Results
from grader.classroom.submissions import MOST_BYTES
from grader.model.classroom import Entry, Posed
from grader.model.errors import DrillError
from grader.reports import class_gradescope
from grader.reports.class_rows import note

SETTINGS, COURSE, BANK = "settings.json", "class.yaml", "bank"
SECONDS = 540.0  # Gradescope ends a grade after 10 minutes, with a zero
SUFFIXES = (".py", ".ipynb")
STUDENT = "handed-in"  # whose it is, the platform knows
TO_DO = (
    "drill doctor --walls shows what this machine refuses a submission. If students may see each "
    "other's work no way from here, or you trust them, make it again with --isolation {found}."
)


@dataclass(frozen=True, slots=True)
class Settings:
    """How a platform's grader grades; it lies next to a class.yaml and the bank."""

    asked: tuple[Posed, ...]
    seconds: float = SECONDS

    def dumps(self) -> str:
        """Return it as a file holds it."""
        return dumped(asdict(self))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a student's folder."""

    asked: tuple[Posed, ...]
    entries: dict[str, Entry]  # by question; none where no file answers it
    fault: str = ""  # of the grader: nothing is known then
    instructor: str = ""  # what to do about it


def read_settings(home: Path) -> Settings:
    """Return the settings that lie in a folder."""
    content = json.loads((home / SETTINGS).read_bytes())
    asked = tuple(
        Posed(**{**one, "parts": tuple(one["parts"]), "hidden": tuple(one["hidden"])})
        for one in content.pop("asked")
    )
    return Settings(asked, **content)


def for_gradescope(root: str, home: str) -> None:
    """Grade `submission` in a folder, and write its `results/results.json`.

    Args:
        root: the folder, on Gradescope /autograder.
        home: where the settings and the bank are.
    """
    file = Path(root) / "results" / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    found = graded(Path(root) / "submission", Path(home))
    if found.fault:
        result = class_gradescope.not_graded(found.fault, found.instructor)
    else:
        result = class_gradescope.results(found.asked, found.entries)
    write_whole(file, [dumped(result)])


def graded(folder: Path, home: Path) -> Outcome:
    """Grade the files in a student's folder that answer questions; nothing raises but a bug."""
    try:
        settings = read_settings(home)
    except (OSError, ValueError, TypeError, KeyError) as fault:
        return Outcome((), {}, f"{SETTINGS} cannot be read: {fault}", "make it again")
    with tempfile.TemporaryDirectory(prefix="drill-class-") as work:
        place = Path(work) / "submissions" / STUDENT
        place.mkdir(parents=True)
        ids = [one.id for one in settings.asked]
        found = find(folder, ids)
        copied = [copied_to(path, place / f"{name}{path.suffix}") for name, path in found]
        if not any(copied):
            return Outcome(settings.asked, {})
        try:
            return _graded(settings, home, Path(work))
        except (OSError, DrillError) as fault:
            return Outcome(settings.asked, {}, str(fault) or type(fault).__name__)


def find(folder: Path, ids: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Give the file that answers each question, as far as there is one.

    `ID.py`, with underscores for hyphens or without, else `ID/submission.py`, as `drill start`
    makes it; where one question is asked, `submission.py` too, or the only program there is.
    Notebooks likewise.
    """
    for name in ids:
        stems = [name, name.replace("-", "_")]
        ends = (*SUFFIXES, TEXT)
        candidates = [folder / f"{stem}{suffix}" for stem in stems for suffix in ends]
        candidates += [folder / name / f"submission{suffix}" for suffix in SUFFIXES]
        candidates.append(folder / name / f"answers{TEXT}")
        if len(ids) == 1:
            candidates += [folder / f"submission{suffix}" for suffix in SUFFIXES]
            candidates.append(folder / f"answers{TEXT}")
            try:
                programs = [one for one in folder.iterdir() if one.suffix in SUFFIXES]
            except OSError:
                programs = []
            candidates += programs if len(programs) == 1 else []
        found = next((path for path in candidates if _is_file(path, folder)), None)
        if found is not None:
            yield name, found


def copied_to(path: Path, to: Path) -> bool:
    """Copy a regular file, and no link; return whether that was possible.

    Of one that is too long a byte too much is copied, which grading then finds and says.
    """
    most = notebook.MOST_BYTES if path.suffix == ".ipynb" else MOST_BYTES
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            to.write_bytes(file.read(most + 1))
    except OSError:
        return False
    return True


def _is_file(path: Path, top: Path) -> bool:
    """Whether a path is a regular file, neither it nor a folder of the student's a link."""
    try:
        plain = stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
    return plain and (path.parent == top or not path.parent.is_symlink())


def _graded(settings: Settings, home: Path, work: Path) -> Outcome:
    out, log = work / "results", work / "log"
    # Apart from what the student's folder or the environment has under names of modules.
    command = [sys.executable, "-I", "-m", "grader", "--bank", str(home.absolute() / BANK),
               "class", "grade", str(work / "submissions"), "--class",
               str(home.absolute() / COURSE), "--out", str(out)]  # fmt: skip
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, cwd=work,
            start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(settings.seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            _end(process)
    if status is None:
        text = f"it took longer than {settings.seconds:g} seconds"
        return Outcome(settings.asked, {}, text, "give it more time, or more of a processor")
    said = [line for line in log.read_text("utf-8", "replace").splitlines() if line.strip()]
    if status not in {0, 4} or not (out / "class.json").exists():
        return Outcome(settings.asked, {}, *_why(said, status))
    entries = {one.posed.id: one for one in Results(out).entries()}
    if any(one.points is None for one in entries.values()):
        reasons = dict.fromkeys(note(one) for one in entries.values() if one.points is None)
        return Outcome(settings.asked, {}, *_why(list(reasons), status))
    return Outcome(settings.asked, entries)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command that is still going on, and all that it has started."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _why(said: Sequence[str], status: int) -> tuple[str, str]:
    """What went wrong, and what the instructor must do about it."""
    text = "; ".join(line.strip() for line in said[-3:]) or f"the grader ended with {status}"
    for level in ("process", "limited"):
        if f"found {level}" in text and "isolation" in text:
            return text, TO_DO.format(found=level)
    return text, "the log of drill class grade says no more than this; try it on your machine"
