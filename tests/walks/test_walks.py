"""The way of a candidate through the built-in questions, with snapshots of the pages.

The pages of five questions are kept in `golden`, as a terminal of 80 columns and 24 rows shows
them.  `pytest --update-golden tests/walks` writes them again; read the difference first.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from grader import bank, forms
from grader.commands.app import load_command, run
from grader.commands.entrypoint import split_global_options
from grader.explain import session
from grader.model.question import Question
from grader.model.report import Report
from grader.sandbox import config
from tests.content import QUESTIONS, content

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
KEPT = sorted(path.stem for path in GOLDEN.glob("*.txt"))
SEED = "8121"
AGAIN = {"maxpool-routing", "vram-bottleneck"}  # in which a fault comes again, then edited
# What differs from run to run, or from one version of Python to the next.
_VARYING = (
    (re.compile(r"(\d+ minutes?|less than a minute|under a minute) \("), "N minutes ("),
    (re.compile(r"[\d.]+x(\s+the\s+reference's)"), r"?x\1"),
    (re.compile(r"[\d,]+(\s+bytes\s+(kept|at\s+once))"), r"?\1"),
)
_PAGED = {"list", "history", "solution", "show"}  # documents, which go through a pager

Typed = Callable[..., str]

pytestmark = pytest.mark.usefixtures("one_zygote", "_graded_once")


@pytest.fixture
def _graded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grade equal files once: with one seed the report is the same, only the page is not."""
    reports: dict[bytes, Report] = {}

    class CachingSession(session.GradingSession):
        def grade(self, submission: bytes, **more: Any) -> Report:
            if submission not in reports:
                reports[submission] = super().grade(submission, **more)
            return reports[submission]

    monkeypatch.setattr(session, "GradingSession", CachingSession)


def without_varying_numbers(text: str) -> str:
    """A page without what differs from run to run."""
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text


def programs_of(question: Question) -> Iterator[tuple[str, bytes]]:
    """Yield submissions: the starter, an idea of each part, the reference."""
    spec = question.spec
    yield "the starter", question.without_leading_blank_lines(question.starter)
    if forms.form_of(spec).is_text:
        return
    for number in range(1, len(spec.parts) + 1):
        own = (
            name
            for name, idea in question.ideas.items()
            if spec.part_of(idea.killed_by[0]) == number and name not in spec.starter_holds
        )
        if (name := next(own, None)) is None:  # the starter has the idea that its checks stop
            continue
        text = question.reference + b"\n\n" + question.variants[name][0].lstrip(b"\n")
        yield f"part {number}: {name}", text
        if number > 1 and question.id in AGAIN:
            yield f"the same again, part {number}: {name}", text
            yield f"an edit, part {number}: {name}", text + b"\n\nEDITED = True\n"
    yield "the reference", question.reference


def commands(page: Sequence[str]) -> Iterator[str]:
    """Yield the commands that a page suggests; further ones are below, indented by six blanks."""
    is_next = False
    for line in page:
        is_next = "Next: " in line or (is_next and line.startswith("      "))
        if is_next:
            command_line = line.rpartition("Next: ")[2].strip()
            yield from re.sub(r"^edit \S+, then ", "", command_line).split("   ")


def parse(command: str) -> None:
    """See that a command can be pasted: a shell and our command line take it."""
    *before, words = map(shlex.split, command.split(" && "))
    assert all(first == "cd" for first, _ in before), command
    assert words[0] in {"drill", "python", "python3"}, command
    if words[0] == "drill":
        group: Any = load_command()
        options, others = split_global_options(words[1:])
        context = group.make_context("drill", [*options, *others])
        _, subcommand, arguments = group.resolve_command(
            context, [*context._protected_args, *context.args]
        )
        subcommand.make_context("drill", arguments, parent=context)


@pytest.fixture
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """Return a function that runs a command on a terminal of 80 columns and 24 rows."""
    for name, value in {
        "DRILL_HOME": str(tmp_path / "home"),
        "COLUMNS": "80",
        "LINES": "24",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(config, "_device", "cpu")  # a page counts checks that need a GPU
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def type_(*words: str) -> str:
        capsys.readouterr()
        run(list(words))
        page = capsys.readouterr().out
        assert len(page.splitlines()) <= 24 or words[0] in _PAGED, (words, page)
        lines = page.splitlines()
        # A command alone on its line is as long as it is.
        wide = [line for line in lines if len(line) > 80 and "   drill" in line[6:]]
        wide += [line for line in lines if len(line) > 80 and "drill" not in line]
        # Whole programs are as wide as their authors wrote them.
        assert wide == [] or words[0] in {"show", "solution"}, words
        for command in commands(lines):
            parse(command)
        return page

    return type_


def load(name: str) -> Question:
    """Load a question; skip the test if it needs torch and torch is missing."""
    question = bank.load_question([ROOT], name)
    if question.spec.needs_torch:
        pytest.importorskip("torch")
    return question


@pytest.mark.parametrize("name", KEPT)
def test_the_pages_of_a_question_match_the_snapshot(
    name: str, typed: Typed, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    question = load(name)
    pages = [f"$ drill start {name}\n{typed('start', name)}"]
    monkeypatch.chdir(name)
    for what, text in programs_of(question):
        Path(forms.form_of(question.spec).file).write_bytes(text)
        page = typed("grade", "--seed", SEED)
        pages.append(f"$ drill grade --seed {SEED}     ({what})\n{page}")
        assert page.startswith("PASS") or what != "the reference"
    history = re.sub(r"[A-Z][a-z]{2} +\d+ \d\d:\d\d", "Nov 22 12:00", typed("history"))
    pages.append(f"$ drill history\n{history}")
    page_text = without_varying_numbers("\n".join(pages))
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden"):
        path.write_text(page_text, encoding="utf-8")
    assert page_text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("other", [content(name) for name in QUESTIONS if name not in KEPT])
def test_a_page_fits_a_screen_and_its_commands_can_be_pasted(
    other: str, typed: Typed, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(other)
    assert typed("start", other).splitlines()[-1].startswith("Next: ")
    monkeypatch.chdir(other)
    typed("grade", "--seed", SEED)
    typed("grade", "--seed", SEED, "--explain")
    question = load(other)
    if not forms.form_of(question.spec).is_text:
        (_, _), (_, idea), *_ = programs_of(question)
        Path("submission.py").write_bytes(idea)
        typed("grade", "--seed", SEED)
    for words in ("show", "hint", "next", "history", "list", "solution --give-up"):
        typed(*words.split())
