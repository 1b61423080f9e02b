"""`drill class gradescope`: make an autograder for Gradescope, and grade one submission there.

The archive holds this program, a class.yaml, and the questions with their references.  It does not
hold the libraries, but pins them to the versions that are installed here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import grader
from grader.bank.bank_files import write_atomically
from grader.commands import output
from grader.commands.class_grade import (
    ClassFileOption,
    ClassPlan,
    IsolationOption,
    grade_class,
    read_class,
)
from grader.commands.options import argument, command_context, ids, option
from grader.model.errors import DrillError, UsageError
from grader.model.limits import AUTOGRADER_SECONDS
from grader.model.version import __version__

if TYPE_CHECKING:
    from grader.classroom.export import JsonObject
    from grader.commands.context import Context

STUDENT_ID = "handed-in"  # of every student here: only the platform knows who it is
STOPPED_MESSAGE = "the grader was stopped before it was done, or could not be started"
LOG_ADVICE = "the log of the autograder says more: too little memory or time, or setup.sh failed"
_PROGRAM = "drill-dl"
_MAX_FILE_SIZE = 64_000_000  # bytes; larger files are ignored: no answer is as large
_PYTHON_VERSIONS = ("3.14", "3.13", "3.12", "3.11")
# Left out of the class.yaml: the platform decides them, or they do not matter for one student.
_KEYS_OF_NO_AUTOGRADER = {"title", "deadline", "late", "counts", "layout", "pattern"}
_START_GRADING = (
    "import sys; sys.path.insert(0, sys.argv[2] + '/program'); "
    "from grader.commands import class_gradescope; "
    "class_gradescope.grade_submission(*sys.argv[1:])"
)
SETUP_SCRIPT = """\
#!/usr/bin/env bash
# Made by drill {version}. Gradescope runs it once, when it builds the autograder.
# Everything is in this archive, but for a Python and the pinned libraries that pip installs.
set -eu
home=${{DRILL_AUTOGRADER:-/autograder}}/source
newest() {{
    for minor in {pythons}; do
        if "python$minor" -c 'import ensurepip, venv' 2>/dev/null; then
            echo "python$minor"
            return
        fi
    done
}}
python=$(newest)
if [ -z "$python" ]; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update
    for minor in {pythons}; do
        apt-get install -y "python$minor" "python$minor-venv" && break
    done
    python=$(newest)
fi
if [ -z "$python" ]; then
    echo "expected Python {lowest} or later: choose a newer base image" >&2
    exit 1
fi
"$python" -m venv "$home/venv"
"$home/venv/bin/pip" install --requirement "$home/requirements.txt"
# The walls of this machine, for readers of this log.
PYTHONPATH=$home/program "$home/venv/bin/python" -P -m grader doctor --walls || true
"""
RUN_SCRIPT = """\
#!/bin/sh
# Made by drill {version}. Gradescope runs it for every submission. There is always a result: the
# first one says that nothing was graded, and the grader replaces it.
root=${{DRILL_AUTOGRADER:-/autograder}}
home=$root/source
python=${{DRILL_PYTHON:-$home/venv/bin/python}}
mkdir -p "$root/results"
cp "$home/not-graded.json" "$root/results/.results.json" &&
    mv "$root/results/.results.json" "$root/results/results.json"
"$python" -I -c {called} "$root" "$home" "${{DRILL_SECONDS:-{seconds}}}" ||
    echo "drill could not grade this submission" >&2
exit 0
"""


# Making the archive.


def build_autograder(
    ctx: Context, ids: Sequence[str], level: str = "", file: Path | None = None
) -> bytes:
    """Return the zip file of an autograder; for the arguments see `read_class`.

    If the class.yaml has no seed, one is drawn here, for all students.
    """
    from grader.bank.bank_files import question_files
    from grader.classroom.export import to_json_text, ungraded_result
    from grader.commands.context import choose_seed
    from grader.commands.files import zip_files

    config, questions = read_class(ctx, file, ids, level)
    asked = [
        asked.model_copy(update={"id": question.id})
        for asked, question in zip(config.questions_asked, questions, strict=True)
    ]
    seed = choose_seed() if config.seed is None else config.seed  # one seed for all students
    config = config.model_copy(update={"seed": seed, "questions": asked})
    libraries = {name for question in questions for name in question.spec.uses}
    requirements = pinned_requirements(libraries)
    class_file = config.model_dump_json(exclude=_KEYS_OF_NO_AUTOGRADER, exclude_defaults=True)
    texts = {
        **_scripts(),
        "not-graded.json": to_json_text(ungraded_result(STOPPED_MESSAGE, LOG_ADVICE)),
        "class.yaml": class_file,  # JSON is YAML
        "requirements.txt": "".join(f"{line}\n" for line in requirements),
    }
    files = {name: text.encode() for name, text in texts.items()}
    for question in questions:
        for name, content in question_files(question).items():
            files[f"bank/{name}"] = content
    package = Path(grader.__file__).parent
    for path in sorted(package.rglob("*")):
        if path.is_file() and not {"__pycache__", "_bank"} & {*path.parts}:
            name = path.relative_to(package).as_posix()
            files[f"program/grader/{name}"] = path.read_bytes()
    return zip_files(files, {"setup.sh", "run_autograder"})


def _scripts() -> dict[str, str]:
    import shlex

    this_version = f"{sys.version_info.major}.{sys.version_info.minor}"
    values = {
        "version": __version__,
        "seconds": AUTOGRADER_SECONDS,
        "called": shlex.quote(_START_GRADING),
        "lowest": _PYTHON_VERSIONS[-1],
        "pythons": " ".join(dict.fromkeys([this_version, *_PYTHON_VERSIONS])),
    }
    return {
        "setup.sh": SETUP_SCRIPT.format(**values),
        "run_autograder": RUN_SCRIPT.format(**values),
    }


def pinned_requirements(libraries: Iterable[str]) -> list[str]:
    """Return requirements such as "numpy==2.1.0" for the program and `libraries`, as installed.

    UsageError if drill itself is not installed.
    """
    from importlib import metadata

    try:
        required = metadata.requires(_PROGRAM) or []
    except metadata.PackageNotFoundError:
        raise UsageError(
            "expected drill to be installed, found its source alone",
            hint="pip install . in the checkout does that",
        ) from None
    names = {*libraries}
    for requirement in required:
        if ";" not in requirement:  # with a marker, it is an extra or for another system
            names.add(re.split(r"[^A-Za-z0-9._-]", requirement)[0])
    # PyPI has no builds with a local version such as `+cpu`.
    return sorted(f"{name}=={metadata.version(name).partition('+')[0]}" for name in names)


# On the platform.


def grade_submission(root: str, home: str, seconds: str = str(AUTOGRADER_SECONDS)) -> None:
    """Grade the folder `submission`, and write `results/results.json` even if grading fails.

    Both are in `root`, /autograder on Gradescope. The class.yaml and the bank are in `home`. The
    grade is stopped after `seconds`. All arguments are texts, as run_autograder passes them.
    """
    import signal

    from grader.classroom.export import to_json_text, ungraded_result

    file = Path(root) / "results" / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)

    def stop_grading(*_: object) -> None:
        raise TimeoutError("it took longer than Gradescope gives a grade")

    signal.signal(signal.SIGALRM, stop_grading)
    signal.alarm(int(seconds))
    try:
        result = _grade_folder(Path(root) / "submission", Path(home))
    except DrillError as error:
        result = ungraded_result(error.message, error.hint or LOG_ADVICE)
    except OSError as error:  # TimeoutError is one
        result = ungraded_result(str(error) or type(error).__name__, LOG_ADVICE)
    finally:
        signal.alarm(0)
    write_atomically(file, [to_json_text(result)])


def _grade_folder(submission: Path, home: Path) -> JsonObject:
    import shutil
    import tempfile
    from contextlib import suppress

    from grader.classroom.export import gradescope_result
    from grader.classroom.notices import NothingHandedIn
    from grader.classroom.results import ClassResults
    from grader.commands.context import Context

    with tempfile.TemporaryDirectory(prefix="drill-class-") as work:
        folder = Path(work) / "submissions" / STUDENT_ID
        # Links stay links: grading refuses them.
        shutil.copytree(submission, folder, symlinks=True, ignore=_ignored_names)
        out = Path(work) / "results"
        ctx = Context(Path(work), Path(work) / "data", lambda: "", bank=home / "bank")
        plan = ClassPlan(folder.parent, (), out, file=home / "class.yaml", layout="folders", jobs=1)
        with suppress(NothingHandedIn):
            for _ in grade_class(ctx, plan):
                pass
        with ClassResults(out) as results:
            entries = {entry.question.id: entry for entry in results.counting_entries()}
            return gradescope_result(results.class_settings.questions, entries)


def _ignored_names(folder: str, names: list[str]) -> set[str]:
    """Return the names in a folder that are not copied: pipes, devices, and too large files."""

    def is_copied(path: Path) -> bool:
        is_small_file = path.is_file() and path.stat().st_size <= _MAX_FILE_SIZE
        return path.is_symlink() or path.is_dir() or is_small_file

    return {name for name in names if not is_copied(Path(folder, name))}


# The command.


def gradescope(
    ctx: typer.Context,
    out: Annotated[Path, option("FILE", "The archive to upload.")],
    questions: Annotated[list[str] | None, argument("[ID]...", autocompletion=ids)] = None,
    file: ClassFileOption = None,
    isolation: IsolationOption = "",
) -> None:
    """Make an autograder for Gradescope."""
    archive = build_autograder(command_context(ctx), questions or (), isolation, file)
    write_atomically(out, [archive])
    output.write(f"{out}: upload it under Configure Autograder")
    output.info("it holds the references: it is for the platform alone")
