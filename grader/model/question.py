"""A question ready to be graded: its spec, its steps, and the source of every program."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.model.signatures import required_signatures
from grader.model.steps import Owner, Step

if TYPE_CHECKING:
    from grader.model.spec import Idea, Spec


@dataclass(frozen=True, slots=True)
class Support:
    """What every program of a question is loaded with, besides its own text."""

    driver: bytes | None = None
    driver_file: str = "driver.py"  # what tracebacks call it
    modules: Mapping[str, bytes] = field(default_factory=dict)  # that programs may import, by name


@dataclass(frozen=True, slots=True)
class Header:
    """What a list of questions shows: read from the head of the YAML alone."""

    id: str
    title: str
    track: str
    level: str
    minutes: int
    bank: Path
    torch: bool = False  # whether it needs torch
    parts: int = 1  # how many
    prerequisites: tuple[str, ...] = ()  # ids, of the same bank
    form: str = "fix"
    roles: tuple[str, ...] = ()  # who is asked it
    bank_prefix: str = ""  # the bank's name and a `/`, where another bank holds the id too

    @property
    def called(self) -> str:
        """What names it on the command line: ID, or BANK/ID."""
        return f"{self.bank_prefix}{self.id}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a bank.

    Programs written into the spec, or with others into one file, begin with blank lines, as many as
    make their lines those of that file. `handed_out` gives them as a person should get them.
    """

    id: str
    bank: Path
    spec: Spec
    runs: Mapping[str, tuple[Step, ...]]
    starter: bytes
    reference: bytes
    driver: bytes | None
    ideas: Mapping[str, Idea]  # the wrong ones, by name
    variants: Mapping[str, tuple[bytes, ...]]  # of each, its sources
    spec_path: Path
    digest: str = ""  # SHA-256 over the spec and every program, in hexadecimal
    accepted: Mapping[str, bytes] = field(default_factory=dict)  # other right solutions, by name
    accepted_until_part: Mapping[str, int] = field(
        default_factory=dict
    )  # the last part each passes
    helpers: Mapping[str, bytes] = field(default_factory=dict)  # modules by name
    repair: bytes = b""  # the starter with the least that has to change, and why
    todos: tuple[str, ...] = ()  # file:line of everything that is marked TODO
    number_set: int = 0  # which set of `given` it has: the least seed that draws it
    unused_case_problems: tuple[
        str, ...
    ] = ()  # `file:line:column: sentence` on cases that no check looks at

    @staticmethod
    def without_leading_blank_lines(source: bytes) -> bytes:
        """A program without the blank lines it begins with."""
        return source.lstrip(b"\n")

    def is_starter(self, submission: bytes) -> bool:
        """Whether a file is the starter as it was handed out, whatever ends its lines."""
        texts = (b"\n".join(source.splitlines()) for source in (submission, self.starter))
        return len({*map(self.without_leading_blank_lines, texts)}) == 1

    def place_of_keys(self, keys: Iterable[str]) -> str:
        """`, in FILE:LINE` of the first of some keys that the reference has in quotes; or ""."""
        source = self.reference.decode("utf-8", "replace")
        file = self.spec_file if self.spec.code.reference else f"drills/{self.id}/reference.py"
        for key in keys:
            if found := re.search(rf"""['"]{re.escape(key)}['"]""", source):
                return f", in {file}:{source.count(chr(10), 0, found.start()) + 1}"
        return ""

    @property
    def spec_file(self) -> str:
        """The spec, from the bank's root; its name alone where the bank is that file."""
        path = self.spec_path
        inside = self.bank in path.parents
        return path.relative_to(self.bank).as_posix() if inside else path.name

    @property
    def support(self) -> Support:
        """What every program is loaded with."""
        file = self.spec_file if self.spec.code.driver else f"drills/{self.id}/driver.py"
        return Support(self.driver, file, self.helpers)

    @property
    def companion_files(self) -> dict[str, bytes]:
        """The files that a candidate receives beside the submission, by name."""
        return {f"{name}.py": source for name, source in self.helpers.items()}

    @property
    def functions(self) -> tuple[str, ...]:
        """Names that a submission must define in the end, in order of first use."""
        return self.functions_called_by_runs(self.runs)

    def functions_for_part(self, part: int | None) -> tuple[str, ...]:
        """Those that a submission must define when a part, from 1, is asked; all of None."""
        parts = self.spec.parts
        if part is None or part == len(parts) == 1:
            return self.functions
        return self.functions_called_by_runs({c.run for one in parts[:part] for c in one.checks})

    def signatures_for_part(self, part: int | None = None) -> dict[str, str]:
        """Map the names that a file must define for a part, from 1, to signatures; None: for all.

        These are the functions that steps call, and what the interfaces up to that part ask for if
        the reference defines it.
        """
        reference = self.reference.decode("utf-8", "replace")
        called, found = self.functions_for_part(part), dict[str, str]()
        for one in self.spec.parts[:part]:
            for name, signature in required_signatures(one.interface).items():
                if name in called or _is_defined(name, reference):
                    found[name] = signature
        return found | {name: name for name in called if name not in found}

    @property
    def code_names(self) -> tuple[str, ...]:
        """The functions and classes among these names: letters of answers are no code."""
        return tuple(
            n for n, s in self.signatures_for_part().items() if s != n or n in self.functions
        )

    @property
    def driver_functions(self) -> tuple[str, ...]:
        """Names that the driver must define, in order of first use."""
        called = (self.functions_called_by_runs(self.runs, owner) for owner in ("driver", "judge"))
        return tuple(dict.fromkeys(name for names in called for name in names))

    def functions_called_by_runs(
        self, runs: Collection[str], owner: Owner = "submission"
    ) -> tuple[str, ...]:
        """Those of an owner that the steps of some runs call, in order of first use."""
        steps = (step for name, run in self.runs.items() if name in runs for step in run)
        return tuple(dict.fromkeys(step.function for step in steps if step.owner == owner))


def assignment_of(name: str) -> str:
    """Return the pattern of an assignment at the left margin to a name, alone or among others."""
    return rf"^(?! )(?:[*(\[ ]*\w+[)\] ]*[,=])*[*(\[ ]*{name}[)\] ]*[,:=]"


def _is_defined(name: str, source: str) -> bool:
    """Return True if a program defines a name; of CLASS.METHOD, if a class has such a method."""
    owner, _, method = name.rpartition(".")
    pattern = rf"^(?:def|class)\s+{name}\b|{assignment_of(name)}"
    if owner:
        pattern = rf"^[ \t]+def\s+{method}\b"
    return re.search(pattern, source, re.MULTILINE) is not None
