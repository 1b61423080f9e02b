"""Questions in one file each, written for a test and graded as any other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.bank import load_question
from grader.explain.session import GradingSession
from grader.model.report import CheckResult, Report

HEAD = """\
format: 3
title: {name}
track: tests
level: core
minutes: 5
uses: [{uses}]
prompt: Mend it.
interface: "def f(x): ..."
starter_holds: []
follow_ups: []
code:
  starter: pass
  reference: |
{reference}
"""


def written(
    folder: Path, spec: str, reference: str, *, uses: str = "numpy", ideas: str = ""
) -> Path:
    code = textwrap.indent(textwrap.dedent(reference), " " * 4)
    if ideas:
        code += "\n  ideas: |\n" + textwrap.indent(textwrap.dedent(ideas), " " * 4)
    path = folder / "one.yaml"
    head = HEAD.format(name="One file", uses=uses, reference=code)
    path.write_text(head + textwrap.dedent(spec), encoding="utf-8")
    return path


@contextmanager
def opened(
    folder: Path, spec: str, reference: str, *, uses: str = "numpy", ideas: str = ""
) -> Iterator[GradingSession]:
    path = written(folder, spec, reference, uses=uses, ideas=ideas)
    with GradingSession(load_question([path], "one")) as session:
        yield session


def graded(session: GradingSession, source: str, seed: int = 1) -> Report:
    return session.grade(textwrap.dedent(source).encode(), seed=seed)


def of(report: Report, check: str) -> CheckResult:
    return next(c for c in report.checks if c.id == check)
