"""The programs of a question: files of their own, or code inside the spec.

Code inside a spec is given as many blank lines before it as make its lines those of the spec, so
that an error in it names a line that can be looked up.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from grader.bank.document import Document, Keys, Problem, dotted
from grader.bank.locate import closest
from grader.bank.storage import MAX_SOURCE, BankFiles, OneFile

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.model.spec import Spec

_TODO = re.compile(rb"\bTODO\b")


def todos(name: str, data: bytes) -> list[str]:
    """The places of a file that are marked TODO, as `file:line`."""
    lines = enumerate(data.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines for _ in _TODO.findall(line)]


class Sources:
    """Reads programs, noting those that are missing instead of stopping at the first."""

    def __init__(self, files: BankFiles, question_id: str, doc: Document, spec: Spec) -> None:
        """Take what the programs are read from; nothing is read yet."""
        self.problems: list[Problem] = []
        self.todos: list[str] = []  # in the files
        self._files = files
        self._home = f"drills/{question_id}"
        self._doc = doc
        self._spec = spec
        self._there = files.names(self._home)
        wanted = [item.variants or [name] for name, item in spec.misconceptions.items()]
        variants = {f"{name.replace('-', '_')}.py" for names in wanted for name in names}
        self._claimed = {"starter.py", "reference.py", "driver.py", *variants}

    def starter(self) -> bytes:
        """The code to fix."""
        return self._part("starter")

    def reference(self) -> bytes:
        """The right solution."""
        return self._part("reference")

    def driver(self) -> bytes | None:
        """The step functions, if the question has some of its own."""
        there = self._spec.code.driver or "driver.py" in self._there
        return self._part("driver") if there else None

    def variants(self) -> dict[str, tuple[bytes, ...]]:
        """The programs of every misconception."""
        return {name: tuple(self._variants(name)) for name in self._spec.misconceptions}

    def _part(self, part: str) -> bytes:
        at: Keys = ("code", part)
        text: str = getattr(self._spec.code, part)
        if not text:
            return self._file(f"{part}.py", (), f"code.{part}")
        self._once(at, f"{part}.py", self._there)
        return self._inline(at, text)

    def _variants(self, name: str) -> list[bytes]:
        item = self._spec.misconceptions[name]
        at: Keys = ("misconceptions", name)
        file = f"{name.replace('-', '_')}.py"
        if not item.texts:
            files = [f"{variant}.py" for variant in item.variants] or [file]
            key = "" if item.variants else f"misconceptions.{name}.code"
            return [self._file(f"misconceptions/{variant}", at, key) for variant in files]
        at = (*at, "code")
        if item.variants:
            text = f"{name}: expected variants (files) or code, found both; remove one of them"
            self._note(at, text, key=True)
        else:
            folder = self._files.names(f"{self._home}/misconceptions")
            self._once(at, f"misconceptions/{file}", [f"misconceptions/{n}" for n in folder])
        several = isinstance(item.code, list)
        return [
            self._inline((*at, i) if several else at, text) for i, text in enumerate(item.texts)
        ]

    def _file(self, name: str, at: Keys, instead: str) -> bytes:
        """The bytes of a file; `instead` is the key that may hold the code."""
        path = self._files.shown(f"{self._home}/{name}")
        try:
            data = self._files.read(f"{self._home}/{name}")
        except OSError as error:
            folder, _, file = name.rpartition("/")
            there = self._files.names(f"{self._home}/{folder}".rstrip("/"))
            near = closest(file, [name for name in there if name not in self._claimed])
            hint = f"; did you mean {near}?" if near else ""
            or_else = f", or {instead} in the spec" if instead else ""
            text = f"expected the file {path}{or_else}, found: {error.strerror}{hint}"
            if isinstance(self._files, OneFile):
                text = f"expected {instead or 'code'}, because there are no files, found none"
            self._note(at, text, key=True)
            return b""
        if len(data) > MAX_SOURCE:
            text = f"expected at most {MAX_SOURCE:,} bytes in {path}, found more"
            self._note(at, text, key=True)
        self.todos += todos(f"{self._home}/{name}", data)
        return data

    def _inline(self, at: Keys, text: str) -> bytes:
        if self._doc.styles.get(at) == ">":
            self._note(at, "expected code below '|', found '>', which joins its lines")
        return b"\n" * (self._doc.first_line(at) - 1) + text.encode("utf-8", "surrogatepass")

    def _once(self, at: Keys, file: str, there: Collection[str]) -> None:
        """Note where a program stands in the spec and in a file as well."""
        if file in there:
            path = self._files.shown(f"{self._home}/{file}")
            expected = f"{dotted(at)}: expected the code in one place"
            self._note(at, f"{expected}, found the file {path} too; remove one", key=True)

    def _note(self, at: Keys, text: str, *, key: bool = False) -> None:
        self.problems.append((*self._doc.position(at, key=key), text))
