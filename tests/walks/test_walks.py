"""The way of a candidate through every question of the program, and what each page says.

The pages are kept in `golden`, as a terminal of 80 columns and 24 rows or of 120 and 40 shows them.
`pytest --update-golden tests/walks` writes them anew; read the difference before you commit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from grader.reports.around import Around

from grader import bank
from grader.cli.app import run
from grader.forms import registry as forms
from grader.model.question import Question
from grader.model.report import Report
from grader.reports import terminal
from grader.reports.page import Page

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
QUESTIONS = sorted(path.stem for path in (ROOT / "questions").glob("*.yaml"))
SEED = "8121"
AGAIN = {"maxpool-routing", "vram-bottleneck"}  # in which the same fault is handed in twice
# What differs from run to run, or from one version of Python to the next.
_VARYING = (
    (re.compile(r"(\d+ minutes?|less than a minute|under a minute) \("), "N minutes ("),
    (re.compile(r"[\d.]+x(\s+the\s+reference's)"), r"?x\1"),
    (re.compile(r"[\d,]+( bytes\s+(kept|at\s+once))"), r"?\1"),
)

pytestmark = pytest.mark.usefixtures("one_zygote")


def sources(question: Question) -> Iterator[tuple[str, bytes]]:
    """What somebody hands in: the starter, an idea of each part, the reference."""
    spec = question.spec
    yield "the starter", question.handed_out(question.starter)
    if forms.of(spec).is_text:
        right = next(iter(question.accepted.values()))
        last = next(line for line in reversed(right.splitlines()) if b"=" in line)
        yield "an answer left open", right.replace(last, last.partition(b"=")[0] + b"= ?")
        yield "no name that is asked for", right + b"\nx = 1\n"
        yield "the reference", right
        return
    for number in range(1, len(spec.parts) + 1):
        name = next(
            name
            for name, idea in spec.misconceptions.items()
            if spec.part_of(idea.killers[0]) == number and name not in spec.starter_holds
        )
        text = question.reference + b"\n\n" + question.variants[name][0].lstrip(b"\n")
        yield f"part {number}: {name}", text
        if number > 1 and question.id in AGAIN:
            yield f"the same again, part {number}: {name}", text
    yield "the reference", question.reference


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_way_through_a_question(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    question = bank.load([ROOT], name)
    if question.spec.needs_torch:
        pytest.importorskip("torch")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    wide: list[str] = []  # the pages of the larger terminal

    def typed(*words: str, columns: int = 80, rows: int = 24) -> str:
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setenv("LINES", str(rows))
        capsys.readouterr()
        run(list(words))
        return capsys.readouterr().out

    monkeypatch.setattr(terminal, "render_report", _also_wide(terminal.render_report, wide))
    start = typed("start", name, "--dir", "elsewhere", columns=120, rows=40)
    narrow = [f"$ drill start {name}\n{typed('start', name)}"]
    wide.append(f"$ drill start {name}\n{start.replace('elsewhere/', '')}")
    monkeypatch.chdir(work / name)
    for what, text in sources(question):
        (work / name / forms.of(question.spec).file).write_bytes(text)
        command = f"$ drill grade --seed {SEED}     ({what})\n"
        wide.append(command)
        page = typed("grade", "--seed", SEED)
        narrow.append(command + page)
        assert len(page.splitlines()) <= 24, what
        assert page.startswith("PASS") or what != "the reference"
    history = re.sub(r"[A-Z][a-z]{2} +\d+ \d\d:\d\d", "Nov 22 12:00", typed("history"))
    narrow.append(f"$ drill history\n{history}")
    for pages, size in ((narrow, "80x24"), (wide, "120x40")):
        seen = "\n".join(pages)
        for pattern, instead in _VARYING:
            seen = pattern.sub(instead, seen)
        path = GOLDEN / f"{name}_{size}.txt"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(seen, encoding="utf-8")
        assert seen == path.read_text(encoding="utf-8")


def _also_wide(render: Callable[..., Page], wide: list[str]) -> Callable[..., Page]:
    """The same, and a page as it would be in a terminal of 120 columns is noted."""

    def both(*reports: Report, width: int, around: Around) -> Page:
        wide.append(render(*reports, width=120, around=around).plain)
        return render(*reports, width=width, around=around)

    return both
