"""Right and wrong programs of every question, in files of many programs each.

`tests/solutions/ID/right.py` and `wrong.py` hold whole programs, each below a line `# %% NAME`,
with a docstring that describes it.  `wrong.diff` holds programs as edits of others:

    === NAME, over BASE
    named: IDEA
    What is wrong, in plain words.
    @@
     a line that stays, which shows the place
    -a line of BASE
    +the line in its place

BASE is `reference`, an accepted solution, or a program of `right.py` or `wrong.py`.  Its docstring
is dropped.  The lines of an edit that do not begin with `+` occur in BASE exactly once.
`named: IDEA` (a comment if the program is whole) is the only idea that its grade may name.

Programs with CRLF line ends are files of their own, in `tests/solutions/ID/right/`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import bank

ROOT = Path(__file__).resolve().parents[1]
SOLUTIONS = ROOT / "tests" / "solutions"
QUESTIONS = sorted(folder.name for folder in SOLUTIONS.iterdir() if folder.is_dir())

_CELL = re.compile(r"^# %% (\S+)\n(?:# named: (\S+)\n)?", re.MULTILINE)
_EDITED = re.compile(r"^=== (\S+), over (\S+)\n(?:named: (\S+)\n)?", re.MULTILINE)
_EDIT = re.compile(r"^@@\n", re.MULTILINE)
_DOCSTRING = re.compile(r'(?:\s|#[^\n]*\n)*[rR]?(?:""".*?"""|\'\'\'.*?\'\'\')\n', re.DOTALL)


@dataclass(frozen=True, slots=True)
class CorpusProgram:
    """A program of the corpus."""

    question_id: str
    name: str
    is_right: bool
    idea: str | None  # the one that its grade must name
    text: str  # the program, or its description and edits if it has a base
    base: str | None = None

    @property
    def id(self) -> str:
        """Return the name by which tests and reports call the program."""
        return f"{self.question_id}/{'right' if self.is_right else 'wrong'}/{self.name}"

    @property
    def source(self) -> bytes:
        """Return the whole program.

        Raises:
            ValueError: an edit does not fit its base.
        """
        if self.base is None:
            return self.text.encode()
        lines = _lines_below_docstring(_base_source(self.question_id, self.base))
        for edit in _EDIT.split(self.text)[1:]:
            apply_edit(edit.splitlines(), lines, self.id)
        return "\n".join([*lines, ""]).encode()


def right_programs(question_id: str) -> dict[str, CorpusProgram]:
    """Return the right programs of a question, by name."""
    return {name: p for name, p in programs(question_id).items() if p.is_right}


def wrong_programs(question_id: str) -> dict[str, CorpusProgram]:
    """Return the wrong programs of a question, by name."""
    return {name: p for name, p in programs(question_id).items() if not p.is_right}


@functools.cache
def programs(question_id: str) -> dict[str, CorpusProgram]:
    """Return all programs of a question, by name and sorted by it.

    Raises:
        ValueError: two programs have one name.
    """
    found: dict[str, CorpusProgram] = {}
    for program in _read_programs(question_id):
        if program.name in found:
            raise ValueError(f"{program.id}: expected a new name, found one that is taken")
        found[program.name] = program
    return dict(sorted(found.items()))


def _read_programs(question_id: str) -> Iterator[CorpusProgram]:
    folder = SOLUTIONS / question_id
    for kind in ("right", "wrong"):
        # Starting at 1: above the first name there is nothing.
        parts = _CELL.split(_read(folder / f"{kind}.py"))[1:]
        for name, idea, text in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
            yield CorpusProgram(question_id, name, kind == "right", idea, text.rstrip() + "\n")
    parts = _EDITED.split(_read(folder / "wrong.diff"))[1:]
    for name, base, idea, text in zip(*(parts[place::4] for place in range(4)), strict=True):
        yield CorpusProgram(question_id, name, False, idea, text.rstrip() + "\n", base)
    for path in (folder / "right").glob("*.py"):
        yield CorpusProgram(question_id, path.stem, True, None, path.read_bytes().decode())


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


@functools.cache
def _base_source(question_id: str, name: str) -> str:
    question = bank.load_question([ROOT], question_id)
    if name == "reference":
        return question.reference.decode()
    if name in question.accepted:
        return question.accepted[name].decode()
    return programs(question_id)[name].source.decode()


def _lines_below_docstring(source: str) -> list[str]:
    docstring = _DOCSTRING.match(source)
    return source[docstring.end() if docstring else 0 :].strip("\n").splitlines()


def apply_edit(edit: list[str], lines: list[str], program_id: str) -> None:
    """Replace the lines of a program that an edit names by the lines that it gives.

    Raises:
        ValueError: they do not occur exactly once.
    """
    edit = [line or " " for line in edit]
    old = [line[1:] for line in edit if line[0] != "+"]
    new = [line[1:] for line in edit if line[0] != "-"]
    starts = range(len(lines) - len(old) + 1)
    places = [start for start in starts if lines[start : start + len(old)] == old]
    if len(places) != 1:
        shown = "\n".join(old)
        raise ValueError(
            f"{program_id}: expected these lines once in its base, "
            f"found them {len(places)} times:\n{shown}"
        )
    lines[places[0] : places[0] + len(old)] = new
