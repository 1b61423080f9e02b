"""Load a question: its validated spec and every program, from a file or from the spec.

A program that stands inside a spec, or in a file with others, is loaded with blank lines before
it.  Its lines then have the same numbers as in that file, and an error names the right line.
"""

from __future__ import annotations

import ast
import hashlib
import math
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from grader.bank import consistency, idea_cells
from grader.bank.bank_files import BankFiles
from grader.bank.drawn_numbers import DrawnNumbers
from grader.bank.validation_errors import validation_errors
from grader.bank.yaml_document import Document, format_key_path, parse_yaml
from grader.cases.recipe import RESERVED, extended_cases, read_cases, run_inputs
from grader.cases.step_syntax import StepError, parse_step
from grader.forms import form_of
from grader.grading.kinds import registry
from grader.model.errors import BankError, KeyPath, SpecError, SpecErrors, did_you_mean
from grader.model.limits import MAX_SOURCE
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
_PARAMETER = re.compile(r"\{([A-Z][A-Z0-9_]*)\}")  # in feedback
Runs = Mapping[str, tuple[Step, ...]]


def read_question(bank: Path, question_id: str, seed: int = 0) -> Question:
    """Load a question of a bank that has it, with the `given` numbers that a seed draws.

    Raises:
        BankError: it is broken; `problems` lists the faults in the keys of its spec, else the
            files that cannot be read, else the inconsistencies.
    """
    files = BankFiles(bank)
    spec_name = files.specs_by_id()[question_id]
    raw = _read_spec_file(files, spec_name)
    document = parse_yaml(raw, files.display_path(spec_name))
    _refuse(document, _row_errors(document.data))
    numbers = DrawnNumbers(document.data, seed)
    data = numbers.fill_in(document.data) if numbers.sets else document.data
    _refuse(document, numbers.misplaced)

    spec = _validate_spec(document, data)
    runs, step_errors = _parse_runs(spec)
    form_errors = form_of(spec).spec_errors(spec)
    _refuse(document, [*step_errors, *consistency.check_defaults(spec), *form_errors])
    _apply_defaults(spec, runs)
    _complete_checks(spec, runs)
    programs = _Programs(files, question_id, document, spec)
    cases, case_errors = read_cases(spec.cases)
    _refuse(document, [*programs.faults, *case_errors], programs.problems)
    has_drawn_starter = bool(numbers.sets) and form_of(spec).is_text
    question = replace(
        _question_of(programs, numbers, runs, question_id),
        digest=_digest(raw, programs, b"" if has_drawn_starter else programs.starter),
        todos=(*todo_places(spec_name, raw), *programs.todos),
    )

    checker = consistency.ConsistencyChecker(question, cases)
    errors = [*programs.unused_files(), *numbers.spec_errors(), *checker.find_problems()]
    _refuse(document, errors, [*numbers.problems, *programs.claim_problems])
    _refuse(document, checker.incomplete_cases())
    text = "no check looks at it; name it in a check, or remove it"
    unused = [
        f"{spec_name}:{document.place_text(path)}: {format_key_path(path)}: {text}"
        for path in checker.unused_cases()
    ]
    return replace(question, unused_case_problems=tuple(unused))


def _read_spec_file(files: BankFiles, spec_name: str) -> bytes:
    try:
        return files.read_file(spec_name)
    except OSError as error:
        path = files.display_path(spec_name)
        text = f"expected a file that can be read, found {error.strerror}"
        raise BankError(f"{path}: {text}") from None


def _refuse(document: Document, faults: Iterable[SpecError], more: Iterable[str] = ()) -> None:
    """Raise BankError if there are faults in the spec, or `more` problems in other files."""
    placed = [(source_key_path(path, document.data), text) for path, text in faults]
    problems = [*document.problems(placed), *more]
    if problems:
        raise BankError(problems[0], problems=problems)


def _validate_spec(document: Document, data: Mapping[str, Any]) -> Spec:
    """Return the spec of parsed data, or raise BankError."""
    try:
        return registry.read_spec(data)
    except ValidationError as error:
        _refuse(document, validation_errors(error, normalize_spec(data), Spec))
        raise


def _question_of(
    programs: _Programs, numbers: DrawnNumbers, runs: Runs, question_id: str
) -> Question:
    """Return the question, with the drawn numbers filled into feedback and right answers."""
    ideas = {}
    for name, idea in programs.ideas.items():
        feedback = numbers.fill_in_text(idea.feedback, programs.place_of_idea(name))
        ideas[name] = idea.model_copy(update={"feedback": feedback})
    accepted_path = programs.path_of(f"accepted{programs.suffix}")
    accepted = {
        name: numbers.fill_in_answers(source, accepted_path)
        for name, source in programs.accepted.items()
    }
    repair_path = programs.path_of(f"repair{programs.suffix}")
    return Question(
        id=question_id,
        bank=programs.files.path,
        spec=programs.spec,
        runs=runs,
        starter=programs.starter,
        reference=programs.reference,
        driver=programs.driver,
        ideas=ideas,
        variants=programs.variants,
        accepted=accepted,
        accepted_until_part=programs.accepted_until_part,
        helpers=programs.helpers,
        repair=numbers.fill_in_answers(programs.repair, repair_path),
        number_set=numbers.set_index,
        spec_path=programs.document.path,
    )


def todo_places(name: str, data: bytes) -> list[str]:
    """Return `NAME:LINE` for each word TODO in a file."""
    lines = enumerate(data.splitlines(), 1)
    places = []
    for number, line in lines:
        places += [f"{name}:{number}"] * len(_TODO.findall(line))
    return places


def _digest(spec: bytes, programs: _Programs, starter: bytes) -> str:
    """Return a hash of the spec and all programs; `starter` is empty if it varies with the seed."""
    digest = hashlib.sha256()

    def add(name: str, content: bytes) -> None:
        digest.update(f"{name} {len(content)}\n".encode() + content)

    add("spec", spec)
    add("starter", starter)
    add("reference", programs.reference)
    if programs.driver is not None:
        add("driver", programs.driver)
    if programs.repair:
        add("repair", programs.repair)
    for name, sources in sorted(programs.variants.items()):
        for i, source in enumerate(sources):
            add(f"{name} {i}", source)
    for name, source in sorted(programs.accepted.items()):
        add(f"accepted {name}", source)
    for name, source in sorted(programs.helpers.items()):
        add(f"helper {name}", source)
    return digest.hexdigest()


# -- cases and runs -------------------------------------------------------------------------------


def _row_errors(data: Mapping[str, Any]) -> SpecErrors:
    """Yield rows of the table of cases with more cells than columns, or without any columns."""
    columns = data.get("columns")
    cases = data.get("cases")
    width = len(columns) if isinstance(columns, list) else 0
    for name, case in cases.items() if isinstance(cases, dict) else ():
        path = ("cases", name)
        if isinstance(case, list) and not width:
            text = "expected inputs by name, or a key 'columns' with the names of the entries"
            yield path, f"{text}, found a list"
            return
        if isinstance(case, list) and len(case) > width:
            text = f"expected at most {width} entries, one for each of the columns"
            yield path, f"{text}, found {len(case)}; a comma in a text needs quotes"


def _parse_runs(spec: Spec) -> tuple[dict[str, tuple[Step, ...]], list[SpecError]]:
    """Return the steps of every run, and the faults of steps that cannot be read."""
    runs = {}
    errors: list[SpecError] = []
    for name, texts in spec.runs.items():
        steps: list[Step] = []
        for i, text in enumerate(texts):
            try:
                steps.append(parse_step(text, torch=spec.needs_torch))
            except StepError as error:
                errors.append((spec.step_path(name, i), str(error)))
        runs[name] = tuple(steps)
    return runs, errors


def _apply_defaults(spec: Spec, runs: Runs) -> None:
    """Add to each case, in place, the defaults that it lacks and needs.

    A case that gives an input of a run itself needs the other inputs of this run, and the inputs
    whose shape they take.
    """
    own_keys: dict[str, set[str]] = {}
    for name in spec.cases:  # before any case is filled
        written = [spec.cases[case] for case in extended_cases(name, spec.cases)]
        own_keys[name] = set().union(*written)
    inputs_by_run = [run_inputs(run).keys() for run in runs.values()]
    for name, case in spec.cases.items():
        pending: list[str] = []
        for inputs in inputs_by_run:
            if (own_keys[name] - RESERVED.keys()) & inputs:
                pending += [*inputs, "dtype"]
        needed: set[str] = set()
        while pending:
            key = pending.pop()
            if key in spec.defaults and key not in needed:
                needed.add(key)
                # The inputs whose shape a default takes are needed, too.
                pending += consistency.shape_sources(spec.defaults[key])
        for key, default in spec.defaults.items():
            if key in needed and key not in own_keys[name]:
                case[key] = default


def _complete_checks(spec: Spec, runs: Runs) -> None:
    """Complete the checks in place: their default results, and `show` from the spec's `display`."""
    for part in spec.parts:
        for i, check in enumerate(part.checks):
            if check.run in runs:
                part.checks[i] = check.with_default_results(runs[check.run])
            has_key = "show" in type(check).model_fields
            if spec.display is not None and has_key and "show" not in check.model_fields_set:
                show = _show_for(spec.display, run_inputs(runs.get(check.run, ())))
                part.checks[i] = part.checks[i].model_copy(update={"show": show})


def _show_for(display: Show, inputs: Collection[str]) -> Show:
    """Return `display` without the names that are no inputs of a run."""
    beside = [name for name in display.beside if name in inputs]
    window = display.window if beside else None
    if any(isinstance(size, str) and size not in inputs for size in window or ()):
        window = None
    return Show(beside=beside, window=window)


# -- programs -------------------------------------------------------------------------------------


class _Programs:
    """Reads the programs of a question; one that cannot be read is empty, and a fault."""

    def __init__(self, files: BankFiles, question_id: str, document: Document, spec: Spec) -> None:
        self.faults: list[SpecError] = []
        self.problems: list[str] = []  # faults in files of several programs
        self.claim_problems: list[str] = []  # unknown checks in `killed_by` of ideas
        self.todos: list[str] = []  # places of the word TODO in the files
        self.files = files
        self.document = document
        self.spec = spec
        self._question_id = question_id
        self._folder = f"drills/{question_id}"
        self._file_names = files.file_names(self._folder)
        form = form_of(spec)
        self.suffix = Path(form.file).suffix
        self.ideas: dict[str, Idea] = {}
        self.variants: dict[str, tuple[bytes, ...]] = {}
        self.accepted: dict[str, bytes] = {}
        self.accepted_until_part: dict[str, int] = {}
        self.reference = form.reference(spec) or self._program("reference")
        self._read_ideas()
        self._read_accepted()
        self.repair = b""
        repair = f"repair{self.suffix}"
        if spec.starter:
            self.starter = self._starter_from_idea(spec.starter.removeprefix("idea "))
        else:
            if repair in self._file_names:
                self.repair = self._read(repair)
            self.starter = form.starter(spec) or self._program("starter")
        has_driver = spec.code.driver or "driver.py" in self._file_names
        self.driver = self._program("driver") if has_driver else None
        self.helpers: dict[str, bytes] = {}
        for i, name in enumerate(spec.helpers):
            self.helpers[name] = self._helper(i, name)

    def unused_files(self) -> SpecErrors:
        """Yield unused files in the question's folder, except tests, Markdown and hidden files."""
        code = self.spec.code
        used = {f"{name}.py" for name in self.spec.helpers}
        used |= {f"{name}.py" for name in (*_PROGRAMS, "ideas") if not getattr(code, name)}
        if self.spec.starter:
            used.discard("starter.py")
        else:
            used.add(f"repair{self.suffix}")
        if not code.accepted:
            used.add(f"accepted{self.suffix}")
        for file in self._file_names:
            is_other = file.startswith((".", "_", "test_")) or file.endswith((".md", "~"))
            if file not in used and not is_other:
                path = self.files.display_path(f"{self._folder}/{file}")
                yield (), f"expected a program or a helper, found {path}, which nothing uses"

    def _read_ideas(self) -> None:
        """Set `ideas` (keys and feedback) and `variants` (programs), and note their faults."""
        document, cells = self._read_cells("ideas", ".py")
        faults: list[SpecError] = []
        sources: dict[str, list[bytes]] = {}
        written: dict[str, Any] = {}  # keys and feedback, by idea
        for cell in cells:
            name, slash, _ = cell.name.partition(" / ")
            path = (cell.name,)
            if not slash:
                written[name] = cell.keys
                if isinstance(cell.keys, dict):
                    written[name] = cell.keys | {"feedback": cell.feedback or "-"}
                if not cell.feedback:
                    text = "expected a docstring that says what is wrong and what to do, found none"
                    faults.append((path, text))
            elif name != next(reversed(sources), ""):
                faults.append((path, f"expected it right below the idea {name}"))
            elif cell.keys or cell.feedback:
                text = "expected keys and a docstring above the first variant alone"
                faults.append((path, f"{text}, found some here"))
            sources.setdefault(name, []).append(cell.source)
        self.ideas, key_faults = _validate_keys(_Ideas, written)
        self.claim_problems = document.problems(self._claim_errors())
        for name, idea in self.ideas.items():
            self.variants[name] = tuple(_with_settings(idea, sources[name]))
            for keys, text in _parameter_errors(idea, sources[name]):
                faults.append(((name, *keys), text))
        self.problems += document.problems([*faults, *key_faults])

    def _claim_errors(self) -> SpecErrors:
        """Yield the unknown checks in `killed_by`, each at the first idea that names it."""
        check_ids = [check.id for check in self.spec.checks]
        ideas_by_unknown_id: dict[str, list[str]] = {}
        for name, idea in self.ideas.items():
            for check_id in idea.killed_by:
                if check_id not in check_ids:
                    ideas_by_unknown_id.setdefault(check_id, []).append(name)
        for check_id, names in ideas_by_unknown_id.items():
            count = f" in {len(names)} ideas" if len(names) > 1 else ""
            hint = did_you_mean(check_id, check_ids)
            if "," in check_id:
                hint = f"; several are [{check_id}]"
            text = f"expected the id of a check, found {check_id!r}{count}{hint}"
            yield (names[0], "killed_by"), text

    def _read_accepted(self) -> None:
        """Set `accepted` and `accepted_until_part` from the accepted solutions; note faults."""
        document, cells = self._read_cells("accepted", self.suffix)
        parts = len(self.spec.parts)
        keys = {cell.name: cell.keys for cell in cells}
        solutions, faults = _validate_keys(_AcceptedSolutions, keys)
        for name, solution in solutions.items():
            if (solution.part or 0) > parts:
                text = f"expected a part from 1 to {parts}, found {solution.part}"
                faults.append(((name, "part"), text))
            self.accepted_until_part[name] = solution.part or parts
        self.accepted = {cell.name: cell.source for cell in cells}
        self.problems += document.problems(faults)

    def _read_cells(self, name: str, suffix: str) -> tuple[Document, list[idea_cells.ProgramCell]]:
        """Return the keys and programs in `code.NAME` of the spec, or else in the file NAME.

        Without both, and after a fault, there are no programs.
        """
        data = b""
        file = f"{name}{suffix}"
        if text := getattr(self.spec.code, name):
            data = self._inline(("code", name), text)
        elif file in self._file_names:
            data = self._read(file)
        try:
            return idea_cells.read_cells(data, self.path_of(file))
        except BankError as error:
            self.problems += error.problems
            return self.document, []

    def path_of(self, file: str) -> Path:
        """Return the file that has a program: the spec, or a file in the question's folder."""
        is_inline = getattr(self.spec.code, Path(file).stem, "")
        if is_inline:
            return self.document.path
        return self.files.display_path(f"{self._folder}/{file}")

    def place_of_idea(self, name: str) -> str:
        """Return FILE:LINE of an idea: its source has as many blank lines as stand above it."""
        source = self.variants[name][0]
        line = len(source) - len(Question.without_leading_blank_lines(source))
        return f"{self.path_of('ideas.py')}:{line}"

    def _starter_from_idea(self, name: str) -> bytes:
        """Return the starter for `starter: idea NAME`: the reference with this idea.

        Also set `repair`, which is the reference, and `starter_holds` of the spec.  After a fault
        the starter is empty.
        """
        path = ("starter",)
        if len(self.spec.parts) > 1:
            text = "expected a starter of its own: the reference answers later parts too"
            self._add_fault(path, f"{text}, found an idea")
            return b""
        if self.problems:  # they explain why an idea is missing
            return b""
        if name not in self.ideas:
            hint = did_you_mean(name, self.ideas)
            if not self.ideas:
                hint = consistency.no_ideas_clause(self._question_id)
            self._add_fault(path, f"expected an idea, found {name!r}{hint}")
            return b""
        idea = self.variants[name][0]
        for file, source in (("reference.py", self.reference), ("ideas.py", idea)):
            try:
                ast.parse(source)
            except SyntaxError as error:
                place = f"{self.path_of(file)}:{error.lineno}:{error.offset}"
                self.problems.append(f"{place}: expected Python, found: {error.msg}")
                return b""
        reference = Question.without_leading_blank_lines(self.reference)
        starter = idea_cells.layer_over(reference, idea)
        self.spec.starter_holds[:] = [name]
        self.repair = idea_cells.comment_changes(starter, reference, self.ideas[name].feedback)
        return starter

    def _program(self, name: str) -> bytes:
        """Return the starter, the reference or the driver."""
        text: str = getattr(self.spec.code, name)
        if text:
            return self._inline(("code", name), text)
        key = f"code.{name}"
        if name == "starter" and len(self.spec.parts) == 1:
            key += " or `starter: idea NAME`"
        return self._read(f"{name}.py", instead=key)

    def _helper(self, number: int, name: str) -> bytes:
        """Return the source of a module that programs may import; empty after a fault."""
        path: KeyPath = ("helpers", number)
        if name in {*sys.stdlib_module_names, *_PROGRAMS, *self.spec.uses, "submission"}:
            self._add_fault(path, f"expected a name that no other module has, found {name}")
            return b""
        return self._read(f"{name}.py", path)

    def _read(self, file: str, key_path: KeyPath = (), instead: str = "") -> bytes:
        """Return the bytes of a file; empty after a fault.

        Args:
            file: name in the question's folder.
            key_path: path of the key that a fault is reported at.
            instead: key of the spec that may hold the code instead, such as `code.driver`.
        """
        path = self.path_of(file)
        try:
            data = self.files.read_file(f"{self._folder}/{file}")
        except OSError as error:
            alternative = f", or {instead} in the spec" if instead else ""
            hint = did_you_mean(file, self._file_names)
            text = f"expected the file {path}{alternative}, found: {error.strerror}{hint}"
            if self.files.is_one_file:
                text = f"expected {instead or 'code'}, because there are no files, found none"
            self._add_fault(key_path, text)
            return b""
        if len(data) > MAX_SOURCE:
            self._add_fault(
                key_path, f"expected at most {MAX_SOURCE:,} bytes in {path}, found more"
            )
        self.todos += todo_places(f"{self._folder}/{file}", data)
        return data

    def _inline(self, path: KeyPath, text: str) -> bytes:
        """Return a program in the spec, below as many blank lines as there are lines above it."""
        position = self.document.positions[self.document.nearest_path(path)]
        if position.style == ">":
            self._add_fault(path, "expected code below '|', found '>', which joins its lines")
        return b"\n" * (position.first_line - 1) + text.encode("utf-8", "surrogatepass")

    def _add_fault(self, path: KeyPath, text: str) -> None:
        self.faults.append((path, text))


class _Ideas(Model):
    named: dict[Slug, Idea]


class _AcceptedSolutions(Model):
    named: dict[Slug, AcceptedSolution]


def _validate_keys(model: Any, keys: dict[str, Any]) -> tuple[dict[str, Any], list[SpecError]]:  # noqa: ANN401
    """Return the keys of each program, by name, as an instance of a model; or the faults."""
    data = {"named": keys}
    try:
        return model.model_validate(data).named, []
    except ValidationError as error:
        return {}, [(path[1:], text) for path, text in validation_errors(error, data, model)]


def _parameter_errors(idea: Idea, sources: Sequence[bytes]) -> SpecErrors:
    """Yield the faults in the parameters of an idea, and unknown ones in its feedback."""
    path = ("parameters",)
    count = len(idea.parameter_combinations)
    if count > MAX_SETTINGS:
        yield path, f"expected at most {MAX_SETTINGS} combinations of values, found {count}"
    for name in idea.parameters:
        assignment = re.compile(assignment_of(name).encode(), re.MULTILINE)
        if not all(map(assignment.search, sources)):
            text = f"expected {name} = ... at the left margin of every program, found none"
            yield (*path, name), text
    for name in sorted(set(_PARAMETER.findall(idea.feedback))):
        if name not in idea.parameters:
            known = ", ".join(idea.parameters) or "none"
            yield (), f"expected a parameter {name} for {{{name}}}, found {known}"


def _with_settings(idea: Idea, sources: Sequence[bytes]) -> Iterator[bytes]:
    """Yield every program with every setting of its parameters, assigned at its end."""
    for source in sources:
        for setting in idea.parameter_combinations[:MAX_SETTINGS]:
            program = source
            for name, value in setting.items():
                program += f"\n{name} = {_literal(value)}\n".encode()
            yield program


def _literal(value: ParameterValue) -> str:
    """Return a value as Python writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    return repr(value)
