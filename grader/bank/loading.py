"""Load a question: its spec, validated, and every program: a file next to the spec, or in it.

Code inside a spec is given as many blank lines before it as make its lines those of the spec, so
that an error in it names a line that can be looked up.
"""

from __future__ import annotations

import hashlib
import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from grader import forms
from grader.bank import consistency, document, filled, steps
from grader.bank.document import Document, Fault, Keys, Spot, dotted
from grader.bank.faults import validate
from grader.bank.storage import MAX_SOURCE, BankFiles
from grader.cases.recipe import read_cases
from grader.model.errors import BankError, did_you_mean
from grader.model.question import Question, Step
from grader.model.spec import Misconception, Spec, Value

MOST_SETTINGS = 24  # each is a program that every failing grade may have to run
_ACCEPTED, _IDEAS = "accepted", "misconceptions"  # folders of programs
_PROGRAMS = ("starter", "reference", "driver")
_TODO = re.compile(rb"\bTODO\b")


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
        raise BankError(
            f"{path}: expected a file that can be read, found {error.strerror}"
        ) from None
    doc = document.parse(raw, path)
    spec = validate(doc)
    runs, unread = _runs(spec)
    unread += [*filled.unreadable(spec), *forms.of(spec).faults(spec)]
    if unread:
        raise doc.complaint([], unread)
    filled.fill(spec, runs)
    programs = _Programs(files, question_id, doc, spec)
    cases, unread = read_cases(spec.cases)
    if unread or programs.problems:
        raise doc.complaint(programs.problems, unread)
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
        spec_path=path,
        digest=_digest(raw, programs),
        todos=(*todos(name, raw), *programs.todos),
    )
    programs.find_spare(spec)
    review = consistency.Review(question, cases, in_parts="parts" in doc.data)
    found = [*filled.problems(spec, runs), *review.problems()]
    if found or programs.problems:
        raise doc.complaint(programs.problems, islice(found, document.MAX_PROBLEMS))
    unused = [
        f"{name}:{line}:{column}: {text}"
        for at, text in review.unused_cases()
        for line, column in [doc.position(at, key=True)]
    ]
    return replace(question, unused=tuple(unused))


def todos(name: str, data: bytes) -> list[str]:
    """The places of a file that are marked TODO, as `file:line`."""
    lines = enumerate(data.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines for _ in _TODO.findall(line)]


def _digest(spec: bytes, programs: _Programs) -> str:
    """What changes whenever a byte of the question does: of its spec or of any program."""
    parts = [("spec", spec), ("starter", programs.starter), ("reference", programs.reference)]
    parts += [] if programs.driver is None else [("driver", programs.driver)]
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
                unread.append((spec.step_keys(name, i), f"step {i + 1} of {name}: {error}"))
        runs[name] = tuple(parsed)
    return runs, unread


class _Programs:
    """The programs of a question; those that are missing are noted, and empty."""

    def __init__(self, files: BankFiles, question_id: str, doc: Document, spec: Spec) -> None:
        self.problems: list[document.Problem] = []
        self.todos: list[str] = []  # in the files
        self._files, self._home = files, f"drills/{question_id}"
        self._doc, self._code = doc, spec.code
        form = forms.of(spec)
        self.starter = form.starter(spec) or self._part("starter")
        self.reference = form.reference(spec) or self._part("reference")
        has_driver = spec.code.driver or "driver.py" in files.names(self._home)
        self.driver = self._part("driver") if has_driver else None
        self.variants = {
            name: tuple(self._with_settings(name, item, self._variants(name, item)))
            for name, item in spec.misconceptions.items()
        }
        self.accepted = self._other_solutions(spec.accepted, Path(form.file).suffix)
        self.helpers = {name: self._helper(i, spec) for i, name in enumerate(spec.helpers)}

    def find_spare(self, spec: Spec) -> None:
        """Note files of the drill that nothing in the question is about: they look as if used."""
        own = {_file(name) for name in (*_PROGRAMS, *spec.helpers)}
        own -= {_file(name) for name in _PROGRAMS if getattr(spec.code, name)}
        wanted = {
            n for idea, i in spec.misconceptions.items() if not i.code for n in i.variants or [idea]
        }
        suffix = Path(forms.of(spec).file).suffix
        for folder, known, what in (
            ("", own | {_IDEAS, _ACCEPTED}, "a program, or name it under helpers"),
            (_IDEAS, set(map(_file, wanted)), f"the program of one of the {_IDEAS}"),
            (_ACCEPTED, {f"{name}{suffix}" for name in spec.accepted}, "a name under accepted"),
        ):
            home = f"{self._home}/{folder}".rstrip("/")
            for file in self._files.names(home):
                kept = file.startswith((".", "_", "test_")) or file.endswith((".md", "~"))
                if file not in known and not kept:
                    path = self._files.shown(f"{home}/{file}")
                    text = f"expected {what}, found {path}, which nothing in the question uses"
                    self._note((folder,) if folder else (), text)

    def _part(self, part: str) -> bytes:
        """The starter, the reference or the driver."""
        text: str = getattr(self._code, part)
        if not text:
            return self._read(_file(part), (), f"code.{part}")
        return self._inline(("code", part), text)

    def _variants(self, name: str, item: Misconception) -> list[bytes]:
        """The programs of a misconception as they are written."""
        at: Keys = (_IDEAS, name)
        if not item.programs:
            key = "" if item.variants else f"{_IDEAS}.{name}.code"
            wanted = [_file(variant) for variant in item.variants or [name]]
            return [self._read(f"{_IDEAS}/{file}", at, key) for file in wanted]
        at = (*at, "code")
        if item.variants:
            text = f"{name}: expected variants (files) or code, found both; remove one of them"
            self._note(at, text)
        if isinstance(item.code, str):
            return [self._inline(at, item.code)]
        return [self._inline((*at, i), text) for i, text in enumerate(item.code)]

    def _with_settings(
        self, name: str, item: Misconception, sources: Sequence[bytes]
    ) -> Iterator[bytes]:
        """Every program with every setting of its parameters, assigned after all else."""
        at: Keys = (_IDEAS, name, "parameters")
        settings = item.settings
        if len(settings) > MOST_SETTINGS:
            expected = f"expected at most {MOST_SETTINGS} combinations of values"
            self._note(at, f"{dotted(at)}: {expected}, found {len(settings)}")
            settings = settings[:1]
        for source in sources:
            for parameter in item.parameters:
                if source and not re.search(rb"^%b\s*[:=]" % parameter.encode(), source, re.M):
                    text = f"{dotted(at)}: expected {parameter} = ... at the left margin of "
                    self._note((*at, parameter), f"{text}every program of {name}, found none")
            for setting in settings:
                given = "".join(f"\n{key} = {_literal(value)}\n" for key, value in setting.items())
                yield source + given.encode()

    def _other_solutions(self, listed: Sequence[str], suffix: str) -> dict[str, bytes]:
        """The right solutions besides the reference: those in files first, then those inline."""
        found: dict[str, bytes] = {}
        for i, name in enumerate(listed):
            at: Keys = (_ACCEPTED, i)
            if name in listed[:i]:
                self._note(at, f"accepted: expected each name once, found {name} again")
            else:
                found[name] = self._read(f"{_ACCEPTED}/{name}{suffix}", at, "code.accepted")
        inline = self._code.accepted.items()
        return found | {
            name: self._inline(("code", _ACCEPTED, name), text) for name, text in inline
        }

    def _helper(self, number: int, spec: Spec) -> bytes:
        """A module that programs may import, which must not stand in for another."""
        name, at = spec.helpers[number], ("helpers", number)
        if name in {*sys.stdlib_module_names, *_PROGRAMS, *spec.uses, "submission"}:
            self._note(at, f"helpers: expected a name that no other module has, found {name}")
            return b""
        return self._read(_file(name), at, "")

    def _read(self, name: str, at: Keys, instead: str) -> bytes:
        """The bytes of a file; `instead` is the key that may hold the code."""
        path = self._files.shown(f"{self._home}/{name}")
        try:
            data = self._files.read(f"{self._home}/{name}")
        except OSError as error:
            or_else = f", or {instead} in the spec" if instead else ""
            folder, _, file = f"{self._home}/{name}".rpartition("/")
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
        spot = self._doc.spots.get(at, Spot((1, 1)))
        if spot.style == ">":
            wrong = "expected code below '|', found '>', which joins its lines"
            self.problems.append((*spot.value, wrong))
        return b"\n" * (spot.first_line - 1) + text.encode("utf-8", "surrogatepass")

    def _note(self, at: Keys, text: str) -> None:
        self.problems.append((*self._doc.position(at, key=True), text))


def _file(program: str) -> str:
    return f"{program.replace('-', '_')}.py"


def _literal(value: Value) -> str:
    """A value as Python writes it."""
    odd = isinstance(value, float) and not math.isfinite(value)
    return f"float({str(value)!r})" if odd else repr(value)
