"""The programs of a question: files next to the spec, or code inside it.

Code inside a spec is given as many blank lines before it as make its lines those of the spec, so
that an error in it names a line that can be looked up.
"""

from __future__ import annotations

import re

from grader.bank.document import Document, Keys, Problem, Spot, dotted
from grader.bank.storage import MAX_SOURCE, BankFiles, OneFile
from grader.model.nearest import closest
from grader.model.spec import Misconception, Spec

_TODO = re.compile(rb"\bTODO\b")


def todos(name: str, data: bytes) -> list[str]:
    """The places of a file that are marked TODO, as `file:line`."""
    lines = enumerate(data.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines for _ in _TODO.findall(line)]


class Sources:
    """The programs of a question; those that are missing are noted, and empty."""

    def __init__(self, files: BankFiles, question_id: str, doc: Document, spec: Spec) -> None:
        """Read all of them."""
        self.problems: list[Problem] = []
        self.todos: list[str] = []  # in the files
        self._files = files
        self._home = f"drills/{question_id}"
        self._doc = doc
        self._code = spec.code
        ideas = spec.misconceptions
        wanted = [name for idea, item in ideas.items() for name in item.variants or [idea]]
        self._claimed = {_file(name) for name in ("starter", "reference", "driver", *wanted)}
        self.starter = self._part("starter")
        self.reference = self._part("reference")
        has_driver = spec.code.driver or "driver.py" in self._in_folder_of("driver.py")
        self.driver = self._part("driver") if has_driver else None
        self.variants = {name: tuple(self._variants(name, item)) for name, item in ideas.items()}

    def _part(self, part: str) -> bytes:
        text: str = getattr(self._code, part)
        if not text:
            return self._read(_file(part), (), f"code.{part}")
        self._once(("code", part), _file(part))
        return self._inline(("code", part), text)

    def _variants(self, name: str, item: Misconception) -> list[bytes]:
        at: Keys = ("misconceptions", name)
        if not item.programs:
            key = "" if item.variants else f"misconceptions.{name}.code"
            wanted = [_file(variant) for variant in item.variants or [name]]
            return [self._read(f"misconceptions/{file}", at, key) for file in wanted]
        at = (*at, "code")
        if item.variants:
            text = f"{name}: expected variants (files) or code, found both; remove one of them"
            self._note(at, text)
        else:
            self._once(at, f"misconceptions/{_file(name)}")
        if isinstance(item.code, str):
            return [self._inline(at, item.code)]
        return [self._inline((*at, i), text) for i, text in enumerate(item.code)]

    def _read(self, name: str, at: Keys, instead: str) -> bytes:
        """The bytes of a file; `instead` is the key that may hold the code."""
        path = self._files.shown(f"{self._home}/{name}")
        try:
            data = self._files.read(f"{self._home}/{name}")
        except OSError as error:
            there = [file for file in self._in_folder_of(name) if file not in self._claimed]
            near = closest(name.rpartition("/")[2], there)
            hint = f"; did you mean {near}?" if near else ""
            or_else = f", or {instead} in the spec" if instead else ""
            text = f"expected the file {path}{or_else}, found: {error.strerror}{hint}"
            if isinstance(self._files, OneFile):
                text = f"expected {instead or 'code'}, because there are no files, found none"
            self._note(at, text)
            return b""
        if len(data) > MAX_SOURCE:
            self._note(at, f"expected at most {MAX_SOURCE:,} bytes in {path}, found more")
        self.todos += todos(f"{self._home}/{name}", data)
        return data

    def _inline(self, at: Keys, text: str) -> bytes:
        spot = self._doc.spots.get(at, Spot((1, 1)))
        if spot.style == ">":
            wrong = "expected code below '|', found '>', which joins its lines"
            self.problems.append((*spot.value, wrong))
        return b"\n" * (spot.first_line - 1) + text.encode("utf-8", "surrogatepass")

    def _once(self, at: Keys, file: str) -> None:
        """Note where a program stands in the spec and in a file as well."""
        if file.rpartition("/")[2] in self._in_folder_of(file):
            path = self._files.shown(f"{self._home}/{file}")
            expected = f"{dotted(at)}: expected the code in one place"
            self._note(at, f"{expected}, found the file {path} too; remove one")

    def _in_folder_of(self, name: str) -> list[str]:
        return self._files.names(f"{self._home}/{name}".rpartition("/")[0])

    def _note(self, at: Keys, text: str) -> None:
        self.problems.append((*self._doc.position(at, key=True), text))


def _file(program: str) -> str:
    return f"{program.replace('-', '_')}.py"
