"""Load a question: its spec, validated, and every program: a file next to the spec, or in it.

Code inside a spec is given as many blank lines before it as make its lines those of the spec, so
that an error in it names a line that can be looked up.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader import forms
from grader.bank import consistency, document, steps
from grader.bank.document import Document, Fault, Keys, dotted
from grader.bank.faults import faults
from grader.bank.storage import MAX_SOURCE, BankFiles
from grader.cases.recipe import RESERVED, free_names, read_cases
from grader.kinds import registry
from grader.model.errors import BankError, did_you_mean
from grader.model.question import Question, Step
from grader.model.spec import Misconception, Show, Spec, Value, as_written, unified

MOST_SETTINGS = 24  # each is a program that every failing grade may have to run
_PROGRAMS = ("starter", "reference", "driver")
_TODO = re.compile(rb"\bTODO\b")
Runs = Mapping[str, tuple[Step, ...]]


def load_from(bank: Path, question_id: str) -> Question:
    """Load a question of one bank that has it.

    Raises:
        BankError: it is broken; `problems` lists what is wrong with the keys of its spec, else
            what cannot be read, else what does not fit together.
    """
    files = BankFiles(bank)
    name = files.specs()[question_id]
    path = files.shown(name)
    try:
        raw = files.read(name)
    except OSError as error:
        found = f"found {error.strerror}"
        raise BankError(f"{path}: expected a file that can be read, {found}") from None
    doc = document.parse(raw, path)

    def refuse(faults: Iterable[Fault]) -> None:
        if found := list(faults):
            raise doc.complaint((as_written(at, doc.data), text) for at, text in found)

    try:
        spec = registry.read(doc.data)
    except ValidationError as error:
        refuse(faults(error, unified(doc.data), Spec))
        raise
    runs, unread = _runs(spec)
    refuse([*unread, *consistency.of_defaults(spec), *forms.of(spec).faults(spec)])
    _fill(spec, runs)
    programs = _Programs(files, question_id, doc, spec)
    cases, unread = read_cases(spec.cases)
    refuse([*programs.faults, *unread])
    question = Question(
        id=question_id,
        bank=bank,
        spec=spec,
        runs=runs,
        starter=programs.starter,
        reference=programs.reference,
        driver=programs.driver,
        variants=programs.variants,
        accepted=programs.accepted,
        helpers=programs.helpers,
        repair=programs.repair,
        spec_path=path,
        digest=_digest(raw, programs),
        todos=(*todos(name, raw), *programs.todos),
    )
    review = consistency.Review(question, cases)
    refuse([*programs.spare(), *review.problems()])
    text = "no check looks at it; name it in a check, or remove it"
    unused = [f"{name}:{doc.position(at)}: {dotted(at)}: {text}" for at in review.unused_cases()]
    return replace(question, unused=tuple(unused))


def todos(name: str, data: bytes) -> list[str]:
    """The places of a file that are marked TODO, as `file:line`."""
    lines = enumerate(data.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines for _ in _TODO.findall(line)]


def _digest(spec: bytes, programs: _Programs) -> str:
    """What changes whenever a byte of the question does: of its spec or of any program."""
    parts = [("spec", spec), ("starter", programs.starter), ("reference", programs.reference)]
    parts += [] if programs.driver is None else [("driver", programs.driver)]
    parts += [("repair", programs.repair)] * bool(programs.repair)
    for name, sources in sorted(programs.variants.items()):
        parts += [(f"{name} {i}", source) for i, source in enumerate(sources)]
    parts += [(f"accepted {name}", source) for name, source in sorted(programs.accepted.items())]
    parts += [(f"helper {name}", source) for name, source in sorted(programs.helpers.items())]
    whole = hashlib.sha256()
    for name, content in parts:
        whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def _runs(spec: Spec) -> tuple[dict[str, tuple[Step, ...]], list[Fault]]:
    """The steps of every run, and what is wrong with those that cannot be read."""
    runs: dict[str, tuple[Step, ...]] = {}
    unread: list[Fault] = []
    for name, texts in spec.runs.items():
        parsed: list[Step] = []
        for i, text in enumerate(texts):
            try:
                parsed.append(steps.parse(text, torch=spec.needs_torch))
            except steps.StepError as error:
                unread.append((spec.step_keys(name, i), str(error)))
        runs[name] = tuple(parsed)
    return runs, unread


def _fill(spec: Spec, runs: Runs) -> None:
    """Put what a question says once, `defaults` and `display`, into its cases and checks."""
    given = {name: _given(name, spec.cases) for name in spec.cases}  # before any is filled
    read = [free_names(run).keys() for run in runs.values()]
    for name, case in spec.cases.items():
        # Defaults belong to the runs of which the case gives some input.
        begun = [names for names in read if (given[name] - RESERVED.keys()) & names]
        waiting = [key for names in begun for key in [*names, "dtype"]]
        wanted: set[str] = set()
        while waiting:  # what a default is shaped like is wanted too
            key = waiting.pop()
            if key in spec.defaults and key not in wanted:
                wanted.add(key)
                waiting += consistency.shaped_like(spec.defaults[key])
        case.update((k, v) for k, v in spec.defaults.items() if k in wanted - given[name])
    for part in spec.parts:
        for i, check in enumerate(part.checks):
            takes = "show" in type(check).model_fields and "show" not in check.model_fields_set
            if spec.display is not None and takes:
                inputs = free_names(runs.get(check.run, ()))
                beside = [name for name in spec.display.beside if name in inputs]
                window = spec.display.window if beside else None
                if any(isinstance(size, str) and size not in inputs for size in window or ()):
                    window = None
                show = Show(beside=beside, window=window)
                part.checks[i] = check.model_copy(update={"show": show})


def _given(name: str, cases: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The keys that a case has itself, or from cases that it extends."""
    chain: list[object] = []
    at: object = name
    while isinstance(at, str) and at in cases and at not in chain:
        chain.append(at)
        at = cases[at].get("extends")
    return {key for case in chain for key in cases[str(case)]}


class _Programs:
    """The programs of a question; those that are missing are among the faults, and empty."""

    def __init__(self, files: BankFiles, question_id: str, doc: Document, spec: Spec) -> None:
        self.faults: list[Fault] = []
        self.todos: list[str] = []  # in the files
        self._files, self._home = files, f"drills/{question_id}"
        self._doc, self._spec, form = doc, spec, forms.of(spec)
        self._suffix = Path(form.file).suffix
        self.starter = form.starter(spec) or self._program("starter")
        self.reference = form.reference(spec) or self._program("reference")
        has_driver = spec.code.driver or "driver.py" in files.names(self._home)
        self.driver = self._program("driver") if has_driver else None
        repair = f"repair{self._suffix}"
        written = repair in files.names(self._home)
        self.repair = self._read(repair, (), "") if written else b""
        self.variants = {
            name: tuple(self._with_settings(name, item, self._variants(name, item)))
            for name, item in spec.misconceptions.items()
        }
        self.accepted: dict[str, bytes] = {}
        for i, one in enumerate(spec.accepted):
            name, last = (one, 0) if isinstance(one, str) else (one.name, one.part)
            if name in self.accepted:
                self._note(("accepted", i), f"expected each name once, found {name} again")
                continue
            if last > len(spec.parts):
                self._note(
                    ("accepted", i), f"expected a part from 1 to {len(spec.parts)}, found {last}"
                )
            file = f"accepted/{name}{self._suffix}"
            self.accepted[name] = self._read(file, ("accepted", i), "code.accepted")
        inline = spec.code.accepted.items()
        self.accepted |= {n: self._inline(("code", "accepted", n), text) for n, text in inline}
        self.helpers = {name: self._helper(i, name) for i, name in enumerate(spec.helpers)}

    def spare(self) -> Iterator[Fault]:
        """Files of the drill that nothing in the question is about: they look as if used."""
        spec = self._spec
        own = {*map(_file, {n for n in _PROGRAMS if not getattr(spec.code, n)} | {*spec.helpers})}
        own |= {f"repair{self._suffix}", "misconceptions", "accepted"}
        ideas = spec.misconceptions.items()
        wanted = {n for idea, item in ideas if not item.code for n in item.variants or [idea]}
        for folder, known, what in (
            ("", own, "a program or a helper"),
            ("misconceptions", {*map(_file, wanted)}, "the program of a misconception"),
            (
                "accepted",
                {f"{n}{self._suffix}" for n in self.accepted if n not in spec.code.accepted},
                "a name under accepted",
            ),
        ):
            home = f"{self._home}/{folder}".rstrip("/")
            for file in self._files.names(home):
                kept = file.startswith((".", "_", "test_")) or file.endswith((".md", "~"))
                if file not in known and not kept:
                    path = self._files.shown(f"{home}/{file}")
                    text = f"expected {what}, found {path}, which nothing in the question uses"
                    yield (folder,) if folder else (), text

    def _program(self, part: str) -> bytes:
        """The starter, the reference or the driver."""
        text: str = getattr(self._spec.code, part)
        if text:
            return self._inline(("code", part), text)
        return self._read(_file(part), (), f"code.{part}")

    def _variants(self, name: str, item: Misconception) -> list[bytes]:
        """The programs of a misconception as they are written."""
        at: Keys = ("misconceptions", name)
        if not item.code:
            key = "" if item.variants else f"{dotted(at)}.code"
            wanted = [_file(variant) for variant in item.variants or [name]]
            return [self._read(f"misconceptions/{file}", at, key) for file in wanted]
        if item.variants:
            self._note((*at, "code"), "expected variants (files) or code, found both")
        return [self._inline((*at, "code", i), text) for i, text in enumerate(item.code)]

    def _with_settings(
        self, name: str, item: Misconception, sources: Iterable[bytes]
    ) -> Iterator[bytes]:
        """Every program with every setting of its parameters, assigned after all else."""
        at: Keys = ("misconceptions", name, "parameters")
        settings = item.settings
        if len(settings) > MOST_SETTINGS:
            found = f"found {len(settings)}"
            self._note(at, f"expected at most {MOST_SETTINGS} combinations of values, {found}")
            settings = settings[:1]
        for source in sources:
            for parameter in item.parameters:
                if source and not re.search(rb"^%b\s*[:=]" % parameter.encode(), source, re.M):
                    text = f"expected {parameter} = ... at the left margin of every program"
                    self._note((*at, parameter), f"{text}, found none")
            for setting in settings:
                given = "".join(f"\n{key} = {_literal(value)}\n" for key, value in setting.items())
                yield source + given.encode()

    def _helper(self, number: int, name: str) -> bytes:
        """A module that programs may import, which must not stand in for another."""
        at: Keys = ("helpers", number)
        if name in {*sys.stdlib_module_names, *_PROGRAMS, *self._spec.uses, "submission"}:
            self._note(at, f"expected a name that no other module has, found {name}")
            return b""
        return self._read(_file(name), at, "")

    def _read(self, name: str, at: Keys, instead: str) -> bytes:
        """The bytes of a file; `instead` is the key that may hold the code."""
        folder, _, file = f"{self._home}/{name}".rpartition("/")
        path = self._files.shown(f"{folder}/{file}")
        try:
            data = self._files.read(f"{folder}/{file}")
        except OSError as error:
            or_else = f", or {instead} in the spec" if instead else ""
            hint = did_you_mean(file, self._files.names(folder))
            text = f"expected the file {path}{or_else}, found: {error.strerror}{hint}"
            if self._files.is_one_file:
                text = f"expected {instead or 'code'}, because there are no files, found none"
            self._note(at, text)
            return b""
        if len(data) > MAX_SOURCE:
            self._note(at, f"expected at most {MAX_SOURCE:,} bytes in {path}, found more")
        self.todos += todos(f"{self._home}/{name}", data)
        return data

    def _inline(self, at: Keys, text: str) -> bytes:
        """A program written into the spec."""
        spot = self._doc.spots[self._doc.nearest(at)]
        if spot.style == ">":
            self._note(at, "expected code below '|', found '>', which joins its lines")
        return b"\n" * (spot.first_line - 1) + text.encode("utf-8", "surrogatepass")

    def _note(self, at: Keys, text: str) -> None:
        self.faults.append((at, text))


def _file(program: str) -> str:
    return f"{program.replace('-', '_')}.py"


def _literal(value: Value) -> str:
    """A value as Python writes it."""
    odd = isinstance(value, float) and not math.isfinite(value)
    return f"float({str(value)!r})" if odd else repr(value)
