"""A grader for Gradescope, which runs one for each submission: making it, and what it does there.

The archive holds all it needs but the libraries, which are pinned to the versions that are
installed here: this program, a class.yaml, and the questions with their references.
"""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import grader
from grader.bank.bank_files import question_files, write_atomically
from grader.classroom.export import JsonObject, gradescope_result, to_json_text, ungraded_result
from grader.classroom.results import ClassResults
from grader.commands.classes import ClassPlan, NothingHandedIn, grade_class, read_class
from grader.commands.context import Context, choose_seed
from grader.commands.files import zip_files
from grader.model.errors import DrillError, UsageError
from grader.model.limits import AUTOGRADER_SECONDS
from grader.model.version import __version__

STUDENT_ID = "handed-in"  # whose it is, the platform knows
STOPPED_MESSAGE = "the grader was stopped before it was done, or could not be started"
LOG_ADVICE = "the log of the autograder says more: too little memory or time, or setup.sh failed"
_PROGRAM = "drill-dl"
_LARGEST = 64_000_000  # bytes of a file that is looked at
_PYTHONS = ("3.14", "3.13", "3.12", "3.11")
_CALLED = (
    "import sys; sys.path.insert(0, sys.argv[2] + '/program'); "
    "from grader.commands import autograder; autograder.grade_submission(*sys.argv[1:])"
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
# What a submission is refused here, for whoever reads this log.
PYTHONPATH=$home/program "$home/venv/bin/python" -P -m grader doctor --walls || true
"""
RUN_SCRIPT = """\
#!/bin/sh
# Made by drill {version}. Gradescope runs it for every submission. Whatever happens, there is a
# result: first one that says that nothing was graded, over which the grader writes its own.
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


def build_autograder(
    ctx: Context, ids: Sequence[str], level: str = "", file: Path | None = None
) -> bytes:
    """Return an autograder for Gradescope, to be uploaded as it is; see `read_class`."""
    config, questions = read_class(ctx, file, ids, level)
    seed = choose_seed() if config.seed is None else config.seed
    asked = [
        one.model_copy(update={"id": question.id})
        for one, question in zip(config.questions_asked, questions, strict=True)
    ]
    there = config.model_copy(update={"seed": seed, "questions": asked})  # one seed for everybody
    counts = {
        "format",
        "isolation",
        "on_error",
        "partial",
        "questions",
        "seed",
        "stretch",
        "strict_text",
    }
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    names = {
        "version": __version__, "seconds": AUTOGRADER_SECONDS, "called": shlex.quote(_CALLED),
        "lowest": _PYTHONS[-1], "pythons": " ".join(dict.fromkeys([here, *_PYTHONS])),
    }  # fmt: skip
    uses = sorted({name for question in questions for name in question.spec.uses})
    files = {
        "setup.sh": SETUP_SCRIPT.format(**names).encode(),
        "run_autograder": RUN_SCRIPT.format(**names).encode(),
        "not-graded.json": to_json_text(ungraded_result(STOPPED_MESSAGE, LOG_ADVICE)).encode(),
        # What is JSON is YAML.
        "class.yaml": there.model_dump_json(include=counts, exclude_defaults=True).encode(),
        "requirements.txt": "".join(f"{one}\n" for one in pinned_requirements(uses)).encode(),
    }
    for question in questions:
        files |= {f"bank/{name}": content for name, content in question_files(question).items()}
    package = Path(grader.__file__).parent
    files |= {
        f"program/grader/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and not {"__pycache__", "_bank"} & {*path.parts}
    }
    return zip_files(files, {"setup.sh", "run_autograder"})


def pinned_requirements(libraries: Sequence[str]) -> list[str]:
    """Return what the program requires and some libraries, at the versions installed here."""
    try:
        required = metadata.requires(_PROGRAM) or []
    except metadata.PackageNotFoundError:
        raise UsageError(
            "expected drill to be installed, found its source alone",
            hint="pip install . in the checkout does that",
        ) from None
    # What has a marker is an extra, or for another system than the platform's.
    wanted = {re.split(r"[^A-Za-z0-9._-]", one)[0] for one in required if ";" not in one}
    # `+cpu` is a build's, of no other index.
    return sorted(
        f"{name}=={metadata.version(name).partition('+')[0]}" for name in wanted | {*libraries}
    )


# On the platform.


def grade_submission(root: str, home: str, seconds: str = str(AUTOGRADER_SECONDS)) -> None:
    """Grade what lies in `submission`, and write `results/results.json`, whatever happens.

    Both are in `root`, on Gradescope /autograder; the class.yaml and the bank in `home`.
    """
    file = Path(root) / "results" / "results.json"
    file.parent.mkdir(parents=True, exist_ok=True)

    def too_long(*_: object) -> None:
        raise TimeoutError("it took longer than Gradescope gives a grade")

    signal.signal(signal.SIGALRM, too_long)
    signal.alarm(int(seconds))
    try:
        result = _graded(Path(root) / "submission", Path(home))
    except DrillError as error:
        result = ungraded_result(error.message, error.hint or LOG_ADVICE)
    except (OSError, TimeoutError) as error:
        result = ungraded_result(str(error) or type(error).__name__, LOG_ADVICE)
    finally:
        signal.alarm(0)
    write_atomically(file, [to_json_text(result)])


def _graded(submission: Path, home: Path) -> JsonObject:
    with tempfile.TemporaryDirectory(prefix="drill-class-") as work:
        folder = Path(work) / "submissions" / STUDENT_ID
        # Links stay links, which are refused.
        shutil.copytree(submission, folder, symlinks=True, ignore=_not_looked_at)
        out = Path(work) / "results"
        data = Path(work) / "data"
        ctx = Context(Path(work), data, lambda: "", bank=home / "bank")
        plan = ClassPlan(folder.parent, (), out, file=home / "class.yaml", layout="folders", jobs=1)
        with suppress(NothingHandedIn):
            for _ in grade_class(ctx, plan):
                pass
        with ClassResults(out) as results:
            entries = {one.question.id: one for one in results.counting_entries()}
            return gradescope_result(results.class_settings.questions, entries)


def _not_looked_at(folder: str, names: list[str]) -> set[str]:
    """Leave out pipes and devices, and what is larger than any answer."""
    return {
        name
        for name in names
        if not ((path := Path(folder) / name).is_dir() or path.is_symlink())
        and (not path.is_file() or path.stat().st_size > _LARGEST)
    }
