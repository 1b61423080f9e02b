"""Load a question: its spec, validated, and every program: a file next to the spec, or in it.

Code inside a spec, or with others in a file, is given as many blank lines before it as make its
lines those of that file, so that an error in it names a line that can be looked up.
"""

from __future__ import annotations

import ast
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
from grader.bank import consistency, idea_cells, yaml_document
from grader.bank.bank_files import BankFiles
from grader.bank.drawn_numbers import DrawnNumbers
from grader.bank.validation_errors import validation_errors
from grader.bank.yaml_document import Document, DocumentPath, SpecError, format_key_path
from grader.cases import step_syntax
from grader.cases.recipe import RESERVED, read_cases, run_inputs
from grader.grading.kinds import registry
from grader.model.errors import BankError, did_you_mean
from grader.model.question import Question, assignment_of
from grader.model.spec import (
    AcceptedSolution,
    Idea,
    ParameterValue,
    Show,
    Slug,
    Spec,
    normalize_spec,
    source_key_path,
)
from grader.model.spec import StrictModel as Model
from grader.model.steps import Step

MAX_SETTINGS = 24  # each is a program that every failing grade may have to run
_PROGRAMS = ("starter", "reference", "driver")
_TODO = re.compile(rb"\bTODO\b")
_PLACE = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")  # of a parameter, in feedback
Runs = Mapping[str, tuple[Step, ...]]


def load_from(bank: Path, question_id: str, seed: int = 0) -> Question:
    """Load a question of one bank that has it, with the numbers that a seed draws.

    Raises:
        BankError: it is broken; `problems` lists what is wrong with the keys of its spec, else
            what cannot be read, else what does not fit together.
    """
    files = BankFiles(bank)
    name = files.specs_by_id()[question_id]
    path = files.display_path(name)
    try:
        raw = files.read_file(name)
    except OSError as error:
        found = f"found {error.strerror}"
        raise BankError(f"{path}: expected a file that can be read, {found}") from None
    doc = yaml_document.parse_yaml(raw, path)

    def refuse(faults: Iterable[SpecError], also: Iterable[str] = ()) -> None:
        placed = [(source_key_path(at, doc.data), text) for at, text in faults]
        if found := (*(doc.to_bank_error(placed).problems if placed else ()), *also):
            raise BankError(found[0], problems=found)

    refuse(_rows(doc.data))
    given = DrawnNumbers(doc.data, seed)
    data = given.fill_in(doc.data) if given.sets else doc.data
    refuse(given.misplaced)

    try:
        spec = registry.read_spec(data)
    except ValidationError as error:
        refuse(validation_errors(error, normalize_spec(data), Spec))
        raise
    runs, unread = _runs(spec)
    refuse([*unread, *consistency.check_defaults(spec), *forms.form_of(spec).spec_errors(spec)])
    _fill(spec, runs)
    programs = _Programs(files, question_id, doc, spec)
    cases, unread = read_cases(spec.cases)
    refuse([*programs.faults, *unread], programs.problems)
    question = Question(
        id=question_id,
        bank=bank,
        spec=spec,
        runs=runs,
        starter=programs.starter,
        reference=programs.reference,
        driver=programs.driver,
        ideas={
            name: one.model_copy(
                update={"feedback": given.fill_in_text(one.feedback, programs.place_of(name))}
            )
            for name, one in programs.ideas.items()
        },
        variants=programs.variants,
        accepted={
            name: given.fill_in_answers(one, programs.path_of(f"accepted{programs.suffix}"))
            for name, one in programs.accepted.items()
        },
        accepted_until_part=programs.right_until,
        helpers=programs.helpers,
        repair=given.fill_in_answers(programs.repair, programs.path_of(f"repair{programs.suffix}")),
        number_set=given.number,
        spec_path=path,
        digest=_digest(
            raw, programs, b"" if given.sets and forms.form_of(spec).is_text else programs.starter
        ),
        todos=(*todo_places(name, raw), *programs.todos),
    )
    review = consistency.ConsistencyChecker(question, cases)
    wrong = [*programs.unused_files(), *given.spec_errors(), *review.find_problems()]
    refuse(wrong, [*given.problems, *programs.unknown])
    refuse(review.incomplete_cases())
    text = "no check looks at it; name it in a check, or remove it"
    unused = [
        f"{name}:{doc.place_text(at)}: {format_key_path(at)}: {text}"
        for at in review.unused_cases()
    ]
    return replace(question, unused_case_problems=tuple(unused))


def todo_places(name: str, data: bytes) -> list[str]:
    """The places of a file that are marked TODO, as `file:line`."""
    lines = enumerate(data.splitlines(), 1)
    return [f"{name}:{number}" for number, line in lines for _ in _TODO.findall(line)]


def _digest(spec: bytes, programs: _Programs, starter: bytes) -> str:
    """What changes whenever a byte of the question does: of its spec or of any program."""
    parts = [("spec", spec), ("starter", starter), ("reference", programs.reference)]
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


def _rows(data: Mapping[str, Any]) -> Iterator[SpecError]:
    """Rows of the table of cases that have more cells than there are columns."""
    columns, cases = (data.get(key) for key in ("columns", "cases"))
    most = len(columns) if isinstance(columns, list) else 0
    rows = cases if isinstance(cases, dict) else {}
    if first := next((n for n, case in rows.items() if isinstance(case, list) and not most), None):
        text = "expected inputs by name, or a key 'columns' with the names of the entries"
        yield ("cases", first), f"{text}, found a list"
        return
    for name, case in rows.items():
        if isinstance(case, list) and len(case) > most:
            text = f"expected at most {most} entries, one for each of the columns"
            yield ("cases", name), f"{text}, found {len(case)}; a comma in a text needs quotes"


def _runs(spec: Spec) -> tuple[dict[str, tuple[Step, ...]], list[SpecError]]:
    """The steps of every run, and what is wrong with those that cannot be read."""
    runs: dict[str, tuple[Step, ...]] = {}
    unread: list[SpecError] = []
    for name, texts in spec.runs.items():
        parsed: list[Step] = []
        for i, text in enumerate(texts):
            try:
                parsed.append(step_syntax.parse_step(text, torch=spec.needs_torch))
            except step_syntax.StepError as error:
                unread.append((spec.step_path(name, i), str(error)))
        runs[name] = tuple(parsed)
    return runs, unread


def _fill(spec: Spec, runs: Runs) -> None:
    """Put what a question says once, `defaults` and `display`, into its cases and checks."""
    given = {name: _given(name, spec.cases) for name in spec.cases}  # before any is filled
    read = [run_inputs(run).keys() for run in runs.values()]
    for name, case in spec.cases.items():
        # Defaults belong to the runs of which the case gives some input.
        begun = [names for names in read if (given[name] - RESERVED.keys()) & names]
        waiting = [key for names in begun for key in [*names, "dtype"]]
        wanted: set[str] = set()
        while waiting:  # what a default is shaped like is wanted too
            key = waiting.pop()
            if key in spec.defaults and key not in wanted:
                wanted.add(key)
                waiting += consistency.shape_sources(spec.defaults[key])
        case.update((k, v) for k, v in spec.defaults.items() if k in wanted - given[name])
    for part in spec.parts:
        for i, check in enumerate(part.checks):
            if check.run in runs:
                part.checks[i] = check = check.with_default_results(runs[check.run])
            takes = "show" in type(check).model_fields and "show" not in check.model_fields_set
            if spec.display is not None and takes:
                inputs = run_inputs(runs.get(check.run, ()))
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
        self.faults: list[SpecError] = []
        self.problems: list[str] = []  # in files of several programs
        self.unknown: tuple[str, ...] = ()  # checks that ideas claim
        self.todos: list[str] = []  # in the files
        self._files, self._home = files, f"drills/{question_id}"
        self._doc, self._spec, form = doc, spec, forms.form_of(spec)
        self.suffix = Path(form.file).suffix
        self.ideas: dict[str, Idea] = {}
        self.variants: dict[str, tuple[bytes, ...]] = {}
        self.accepted: dict[str, bytes] = {}
        self.right_until: dict[str, int] = {}
        self.reference = form.reference(spec) or self._program("reference")
        self._read_ideas()
        self._read_accepted()
        repair = f"repair{self.suffix}"
        written = not spec.starter and repair in files.file_names(self._home)
        self.repair = self._read(repair, (), "") if written else b""
        if spec.starter:
            self.starter = self._from_idea(spec.starter.removeprefix("idea "))
        else:
            self.starter = form.starter(spec) or self._program("starter")
        has_driver = spec.code.driver or "driver.py" in files.file_names(self._home)
        self.driver = self._program("driver") if has_driver else None
        self.helpers = {name: self._helper(i, name) for i, name in enumerate(spec.helpers)}

    def unused_files(self) -> Iterator[SpecError]:
        """Files of the drill that nothing in the question is about: they look as if used."""
        code = self._spec.code
        own = {f"{name}.py" for name in self._spec.helpers}
        own |= {f"{n}.py" for n in (*_PROGRAMS, "ideas") if not getattr(code, n)}
        if self._spec.starter:
            own.discard("starter.py")
        else:
            own.add(f"repair{self.suffix}")
        if not code.accepted:
            own.add(f"accepted{self.suffix}")
        for file in self._files.file_names(self._home):
            kept = file.startswith((".", "_", "test_")) or file.endswith((".md", "~"))
            if file not in own and not kept:
                path = self._files.display_path(f"{self._home}/{file}")
                yield (), f"expected a program or a helper, found {path}, which nothing uses"

    def _read_ideas(self) -> None:
        """The misconceptions, and the programs of each."""
        doc, found = self._several("ideas", ".py")
        faults, unknown = list[SpecError](), list[SpecError]()
        sources: dict[str, list[bytes]] = {}
        written: dict[str, dict[str, Any]] = {}
        for cell in found:
            name, slash, _ = cell.name.partition(" / ")
            if slash and name != next(reversed(sources), ""):
                faults.append(((cell.name,), f"expected it right below the idea {name}"))
            elif slash and (cell.keys or cell.feedback):
                text = "expected keys and a docstring above the first variant alone"
                faults.append(((cell.name,), f"{text}, found some here"))
            if not slash:
                said = {"feedback": cell.feedback or "-"}
                written[name] = cell.keys | said if isinstance(cell.keys, dict) else cell.keys
                if not cell.feedback:
                    text = "expected a docstring that says what is wrong and what to do, found none"
                    faults.append(((name,), text))
            sources.setdefault(name, []).append(cell.source)
        self.ideas, unlike = _validated(_Ideas, written)
        ids = [check.id for check in self._spec.checks]
        claims = [(k, name) for name, idea in self.ideas.items() for k in idea.killed_by]
        for killer, name in dict(reversed(claims)).items():  # of several, the first
            if killer not in ids:
                count = sum(one == killer for one, _ in claims)
                also = f" in {count} ideas" if count > 1 else ""
                text = f"expected the id of a check, found {killer!r}{also}"
                several = f"; several are [{killer}]" if "," in killer else ""
                unknown.append(((name, "killed_by"), text + (several or did_you_mean(killer, ids))))
        if unknown:
            self.unknown = doc.to_bank_error(unknown).problems
        for name, idea in self.ideas.items():
            programs, wrong = _with_settings(idea, sources[name])
            self.variants[name] = tuple(programs)
            faults += [((name, "parameters", *at), text) for at, text in wrong]
            for word in sorted(set(_PLACE.findall(idea.feedback)) - idea.parameters.keys()):
                given = ", ".join(idea.parameters) or "none"
                text = f"expected a parameter {word} for {{{word}}}, found {given}"
                faults.append(((name,), text))
        if faults or unlike:
            self.problems += doc.to_bank_error([*faults, *unlike]).problems

    def _read_accepted(self) -> None:
        """Right solutions in other styles."""
        doc, found = self._several("accepted", self.suffix)
        last = len(self._spec.parts)
        written, faults = _validated(_AcceptedOnes, {cell.name: cell.keys for cell in found})
        for name, one in written.items():
            if (one.part or 0) > last:
                text = f"expected a part from 1 to {last}, found {one.part}"
                faults.append(((name, "part"), text))
            self.right_until[name] = one.part or last
        self.accepted = {cell.name: cell.source for cell in found}
        if faults:
            self.problems += doc.to_bank_error(faults).problems

    def _several(self, name: str, suffix: str) -> tuple[Document, list[idea_cells.ProgramCell]]:
        """The programs in `code.NAME` of the spec, or in a file; none where there is neither."""
        data, file = b"", f"{name}{suffix}"
        if text := getattr(self._spec.code, name):
            data = self._inline(("code", name), text)
        elif file in self._files.file_names(self._home):
            data = self._read(file, (), "")
        try:
            return idea_cells.read_cells(data, self.path_of(file))
        except BankError as error:
            self.problems += error.problems
            return self._doc, []

    def path_of(self, file: str) -> Path:
        """Where messages place what is wrong in a program, which may stand in the spec."""
        inline = getattr(self._spec.code, file.partition(".")[0], "")
        return self._doc.path if inline else self._files.display_path(f"{self._home}/{file}")

    def place_of(self, idea: str) -> str:
        """FILE:LINE of the name of an idea, above which its program has as many blank lines."""
        source = self.variants[idea][0]
        line = len(source) - len(Question.without_leading_blank_lines(source))
        return f"{self.path_of('ideas.py')}:{line}"

    def _from_idea(self, name: str) -> bytes:
        """The starter that an idea makes of the reference; its repair is the reference."""
        if len(self._spec.parts) > 1:
            text = "expected a starter of its own: the reference answers later parts too"
            self._note(("starter",), f"{text}, found an idea")
            return b""
        if self.problems:  # which say why an idea is not there
            return b""
        if name not in self.ideas:
            question_id = self._home.removeprefix("drills/")
            hint = (
                did_you_mean(name, self.ideas)
                if self.ideas
                else consistency.no_ideas_clause(question_id)
            )
            self._note(("starter",), f"expected an idea, found {name!r}{hint}")
            return b""
        idea = self.variants[name][0]
        for file, source in (("reference.py", self.reference), ("ideas.py", idea)):
            try:
                ast.parse(source)
            except SyntaxError as error:
                at = f"{self.path_of(file)}:{error.lineno}:{error.offset}"
                self.problems.append(f"{at}: expected Python, found: {error.msg}")
                return b""
        reference = Question.without_leading_blank_lines(self.reference)
        starter = idea_cells.layer_over(reference, idea)
        self._spec.starter_holds[:] = [name]
        self.repair = idea_cells.comment_changes(starter, reference, self.ideas[name].feedback)
        return starter

    def _program(self, part: str) -> bytes:
        """The starter, the reference or the driver."""
        text: str = getattr(self._spec.code, part)
        if text:
            return self._inline(("code", part), text)
        from_idea = part == "starter" and len(self._spec.parts) == 1
        instead = f"code.{part}" + " or `starter: idea NAME`" * from_idea
        return self._read(f"{part}.py", (), instead)

    def _helper(self, number: int, name: str) -> bytes:
        """A module that programs may import, which must not stand in for another."""
        at: DocumentPath = ("helpers", number)
        if name in {*sys.stdlib_module_names, *_PROGRAMS, *self._spec.uses, "submission"}:
            self._note(at, f"expected a name that no other module has, found {name}")
            return b""
        return self._read(f"{name}.py", at, "")

    def _read(self, name: str, at: DocumentPath, instead: str) -> bytes:
        """The bytes of a file; `instead` is the key that may hold the code."""
        folder, _, file = f"{self._home}/{name}".rpartition("/")
        path = self._files.display_path(f"{folder}/{file}")
        try:
            data = self._files.read_file(f"{folder}/{file}")
        except OSError as error:
            or_else = f", or {instead} in the spec" if instead else ""
            hint = did_you_mean(file, self._files.file_names(folder))
            text = f"expected the file {path}{or_else}, found: {error.strerror}{hint}"
            if self._files.is_one_file:
                text = f"expected {instead or 'code'}, because there are no files, found none"
            self._note(at, text)
            return b""
        if len(data) > MAX_SOURCE:
            self._note(at, f"expected at most {MAX_SOURCE:,} bytes in {path}, found more")
        self.todos += todo_places(f"{self._home}/{name}", data)
        return data

    def _inline(self, at: DocumentPath, text: str) -> bytes:
        """A program written into the spec."""
        spot = self._doc.positions[self._doc.nearest_path(at)]
        if spot.style == ">":
            self._note(at, "expected code below '|', found '>', which joins its lines")
        return b"\n" * (spot.first_line - 1) + text.encode("utf-8", "surrogatepass")

    def _note(self, at: DocumentPath, text: str) -> None:
        self.faults.append((at, text))


class _Ideas(Model):
    named: dict[Slug, Idea]


class _AcceptedOnes(Model):
    named: dict[Slug, AcceptedSolution]


def _validated(model: Any, written: dict[str, Any]) -> tuple[dict[str, Any], list[SpecError]]:  # noqa: ANN401
    """What stands above programs, by name, as a model has it; or what is wrong with it."""
    try:
        return model.model_validate({"named": written}).named, []
    except ValidationError as error:
        return {}, [
            (at[1:], text) for at, text in validation_errors(error, {"named": written}, model)
        ]


def _with_settings(idea: Idea, sources: Iterable[bytes]) -> tuple[list[bytes], list[SpecError]]:
    """Every program with every setting of its parameters, assigned after all else."""
    settings, programs = idea.parameter_combinations, []
    wrong: list[SpecError] = []
    if len(settings) > MAX_SETTINGS:
        found = f"found {len(settings)}"
        wrong.append(((), f"expected at most {MAX_SETTINGS} combinations of values, {found}"))
        settings = settings[:1]
    for source in sources:
        for parameter in idea.parameters:
            if not re.search(assignment_of(parameter).encode(), source, re.MULTILINE):
                text = f"expected {parameter} = ... at the left margin of every program"
                wrong.append(((parameter,), f"{text}, found none"))
        for setting in settings:
            given = "".join(f"\n{key} = {_literal(value)}\n" for key, value in setting.items())
            programs.append(source + given.encode())
    return programs, wrong


def _literal(value: ParameterValue) -> str:
    """A value as Python writes it."""
    odd = isinstance(value, float) and not math.isfinite(value)
    return f"float({str(value)!r})" if odd else repr(value)
