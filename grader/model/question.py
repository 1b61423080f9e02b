"""A question ready to be graded: its spec, its steps, and the source of every program."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from grader.model.signatures import required_signatures
from grader.model.steps import Owner, Step

if TYPE_CHECKING:
    from grader.model.spec import Idea, Spec


@dataclass(frozen=True, slots=True)
class Support:
    """Files that are loaded with every program of a question."""

    driver: bytes | None = None
    driver_file: str = "driver.py"  # name in tracebacks
    modules: Mapping[str, bytes] = field(default_factory=dict)  # helpers to import, by name


@dataclass(frozen=True, slots=True)
class Header:
    """The keys of a question that lists of questions need, read from the head of its YAML."""

    id: str
    title: str
    track: str
    level: str
    minutes: int
    bank: Path
    torch: bool = False  # it needs torch
    parts: int = 1  # how many
    prerequisites: tuple[str, ...] = ()  # ids, of the same bank
    form: str = "fix"
    roles: tuple[str, ...] = ()  # of candidates who are asked it
    bank_prefix: str = ""  # `BANK/` if another bank has the id, too

    @property
    def called(self) -> str:
        """Return how the question is named on the command line: ID, or BANK/ID."""
        return f"{self.bank_prefix}{self.id}"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a bank, with the sources of all its programs.

    Messages name lines of the file in which a program is written.  If it is written in the spec, or
    in a file with others, its source begins with a blank line for each line above it there.
    `without_leading_blank_lines` returns the source as a person gets it.
    """

    id: str
    bank: Path
    spec: Spec
    runs: Mapping[str, tuple[Step, ...]]
    starter: bytes
    reference: bytes
    driver: bytes | None
    ideas: Mapping[str, Idea]  # by name
    variants: Mapping[str, tuple[bytes, ...]]  # sources, by idea
    spec_path: Path
    digest: str = ""  # SHA-256 over the spec and every program, in hexadecimal
    accepted: Mapping[str, bytes] = field(default_factory=dict)  # other right solutions, by name
    # The last part that each accepted solution passes.
    accepted_until_part: Mapping[str, int] = field(default_factory=dict)
    helpers: Mapping[str, bytes] = field(default_factory=dict)  # modules by name
    repair: bytes = b""  # the starter with its smallest right changes, and reasons
    todos: tuple[str, ...] = ()  # file:line of every TODO
    number_set: int = 0  # index of its set of `given`: the smallest seed that draws it
    # `file:line:column: sentence` on cases that no check uses.
    unused_case_problems: tuple[str, ...] = ()

    @staticmethod
    def without_leading_blank_lines(source: bytes) -> bytes:
        """Return a program without the line breaks at its start."""
        return source.lstrip(b"\n")

    def is_starter(self, submission: bytes) -> bool:
        """Return True if a file is the starter as it was handed out, with any line ends."""
        submitted = b"\n".join(submission.splitlines())
        starter = b"\n".join(self.starter.splitlines())
        without = self.without_leading_blank_lines
        return without(submitted) == without(starter)

    @property
    def spec_file(self) -> str:
        """Return the path of the spec in the bank; its name if the bank is that file."""
        if self.bank in self.spec_path.parents:
            return self.spec_path.relative_to(self.bank).as_posix()
        return self.spec_path.name

    @property
    def support(self) -> Support:
        """Return the files that are loaded with every program."""
        file = self.spec_file if self.spec.code.driver else f"drills/{self.id}/driver.py"
        return Support(self.driver, file, self.helpers)

    @property
    def companion_files(self) -> dict[str, bytes]:
        """Return the files that a candidate receives with the submission, by name."""
        return {f"{name}.py": source for name, source in self.helpers.items()}

    @property
    def functions(self) -> tuple[str, ...]:
        """Return the functions that a submission must define for all parts, in order of use."""
        return self.functions_called_by_runs(self.runs)

    def functions_for_part(self, part: int | None) -> tuple[str, ...]:
        """Return the functions that a submission must define for parts 1 to `part` (None: all)."""
        parts = self.spec.parts
        if part is None or part == len(parts) == 1:
            return self.functions
        runs = {check.run for asked in parts[:part] for check in asked.checks}
        return self.functions_called_by_runs(runs)

    def signatures_for_part(self, part: int | None = None) -> dict[str, str]:
        """Map the names that a file must define for parts 1 to `part` (default: all) to signatures.

        They are the functions that steps call, and the names in the interfaces of these parts that
        the reference defines, too.
        """
        reference = self.reference.decode("utf-8", "replace")
        functions = self.functions_for_part(part)
        signatures: dict[str, str] = {}
        for asked in self.spec.parts[:part]:
            for name, signature in required_signatures(asked.interface).items():
                if name in functions or _is_defined(name, reference):
                    signatures[name] = signature
        return signatures | {name: name for name in functions if name not in signatures}

    @property
    def code_names(self) -> tuple[str, ...]:
        """Return the functions and classes that a file must define, without constants."""
        return tuple(
            name
            for name, signature in self.signatures_for_part().items()
            if signature != name or name in self.functions
        )

    @property
    def driver_functions(self) -> tuple[str, ...]:
        """Return the functions that the driver must define, in order of use."""
        of_driver = self.functions_called_by_runs(self.runs, "driver")
        of_judge = self.functions_called_by_runs(self.runs, "judge")
        return tuple(dict.fromkeys([*of_driver, *of_judge]))

    def functions_called_by_runs(
        self, runs: Collection[str], owner: Owner = "submission"
    ) -> tuple[str, ...]:
        """Return the functions that the steps of these runs call, in order of use.

        Only functions of one owner are returned: by default those of the submission.
        """
        steps = (step for name, run in self.runs.items() if name in runs for step in run)
        return tuple(dict.fromkeys(step.function for step in steps if step.owner == owner))


def assignment_of(name: str) -> str:
    """Return a regex for an assignment at the left margin: `N = 3`, `N: int`, `a, N = f()`."""
    return rf"^(?! )(?:[*(\[ ]*\w+[)\] ]*[,=])*[*(\[ ]*{name}[)\] ]*[,:=]"


def _is_defined(name: str, source: str) -> bool:
    """Return True if a program defines a name; for CLASS.METHOD, if any class has the method."""
    owner, _, method = name.rpartition(".")
    pattern = rf"^(?:def|class)\s+{name}\b|{assignment_of(name)}"
    if owner:
        pattern = rf"^[ \t]+def\s+{method}\b"
    return re.search(pattern, source, re.MULTILINE) is not None
