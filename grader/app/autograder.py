"""A grader for Gradescope, which runs one for each student: an archive.

It holds all it needs but the libraries, which are pinned to the versions that are installed here:
this program as a wheel, and the questions with their references.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader import __version__
from grader.app import packing
from grader.app.alone import BANK, COURSE, SETTINGS, Settings
from grader.app.context import Context
from grader.app.exporting import dumped
from grader.app.posing import course_of, load, posed
from grader.classroom.jobs import LEVELS
from grader.model.errors import UsageError
from grader.reports import class_gradescope

REQUIREMENTS, NOT_GRADED = "requirements.txt", "not-graded.json"
CALLED = "import sys; from grader.app import alone; alone.for_gradescope(*sys.argv[1:])"
STOPPED = "the grader was stopped before it came to an end, or could not be started"
LOOK = "the log of the autograder says more: too little memory or time, or setup.sh failed"
PYTHONS = ("3.14", "3.13", "3.12", "3.11")

SETUP = """\
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
"$home/venv/bin/pip" install --requirement "$home/{requirements}" "$home/{wheel}"
# What a submission is refused here, for whoever reads this log.
"$home/venv/bin/drill" doctor --walls || true
"""

RUN = """\
#!/bin/sh
# Made by drill {version}. Gradescope runs it for every submission. Whatever happens, there is a
# result: first one that says that nothing was graded, over which the grader writes its own.
root=${{DRILL_AUTOGRADER:-/autograder}}
home=$root/source
python=${{DRILL_PYTHON:-$home/venv/bin/python}}
mkdir -p "$root/results"
cp "$home/{not_graded}" "$root/results/.results.json" &&
    mv "$root/results/.results.json" "$root/results/results.json"
"$python" -I -c {called} "$root" "$home" ||
    echo "drill could not grade this submission" >&2
exit 0
"""


def gradescope(
    ctx: Context, ids: Sequence[str], level: str = "", file: Path | None = None
) -> bytes:
    """Return an autograder for Gradescope, to be uploaded as it is.

    Args:
        ctx: where the questions are looked for.
        ids: the questions, if the file does not name them.
        level: of isolation, at least; what the file says, else strong, when empty.
        file: a class.yaml: questions, parts, weights, what is hidden, seed.

    Raises:
        UsageError: There is no such question or level, or the program is not installed.
        BankError: A question is broken.
    """
    called = shlex.quote(CALLED)
    stopped = class_gradescope.not_graded(STOPPED, LOOK)
    files = {
        "setup.sh": _filled(SETUP).encode(),
        "run_autograder": _filled(RUN, called=called).encode(),
        NOT_GRADED: dumped(stopped).encode(),
        **_needed(ctx, ids, level, file),
    }
    return packing.zipped(files, executable=("setup.sh", "run_autograder"))


def _needed(ctx: Context, ids: Sequence[str], level: str, file: Path | None) -> dict[str, bytes]:
    """Return what grading takes: the course, its bank, the program and its libraries."""
    course = course_of(file, tuple(ids))
    level = level or course.file.isolation
    if level not in LEVELS:
        raise UsageError(f"--isolation: expected {', '.join(LEVELS)}, found {level}")
    questions = load(ctx, course)
    posed_ = zip(course.file.asked, questions, strict=True)
    asked = tuple(replace(posed(*one), bank=BANK, libraries={}) for one in posed_)
    seed = course.file.seed
    there = {
        "format": 1,
        "seed": int.from_bytes(os.urandom(4), "big") if seed is None else seed,  # everybody's
        "isolation": level,
        "questions": [{"id": one.id, "parts": [*one.parts]} for one in asked],
    }
    uses = sorted({name for question in questions for name in question.spec.uses})
    return {
        SETTINGS: Settings(asked).dumps().encode(),
        COURSE: dumped(there).encode(),  # what is JSON is YAML
        REQUIREMENTS: "".join(f"{one}\n" for one in packing.pins(uses)).encode(),
        **{f"{BANK}/{name}": content for name, content in packing.bank(questions).items()},
        packing.WHEEL: packing.wheel(),
    }


def _filled(template: str, **more: str) -> str:
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    return template.format(
        version=__version__, wheel=packing.WHEEL,
        pythons=" ".join(dict.fromkeys([here, *PYTHONS])), lowest=PYTHONS[-1],
        requirements=REQUIREMENTS, not_graded=NOT_GRADED, **more,
    )  # fmt: skip
