"""The bank's own programs, loaded once for many grades, where no submission ever runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, get_args

from grader import forms
from grader.cases.draw import DrawError, draw_inputs
from grader.cases.recipe import CaseRecipe, cases_of_check, expand_draws, read_cases, run_inputs
from grader.grading.evaluation import (
    MAX_QUOTED_LENGTH,
    BankProgramError,
    Evaluation,
    Key,
    new_secret_draw,
)
from grader.grading.values import encode_input
from grader.model.errors import did_you_mean
from grader.model.limits import BANK_CPU_SECONDS, MAX_BANK_CPU_NANOSECONDS, MAX_BANK_MEMORY_BYTES
from grader.model.question import Question
from grader.model.report import ExceptionRecord
from grader.model.spec import Check, Library
from grader.sandbox import Closeable, Deadline
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.messages import Inputs, ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker_pool import WorkerPool

MAX_REMEMBERED_SEEDS = 4  # seeds whose results are kept
ACCEPTED_PREFIX = "accepted/"
_MISSING_MODULE = re.compile(r"No module named '(\w+)")


class _ProgramSource(NamedTuple):
    """The sources of a program of the bank, and its name and file in messages."""

    description: str  # "the reference"
    file: str  # the path in the bank; empty if the program has no file there
    sources: list[bytes]  # each is executed on top of those before it


class BankPrograms(Closeable):
    """The reference and the variants of a question, and their results.

    The reference has a worker of its own, for two reasons: the memory of its process is compared
    with a submission's, and a variant may leave something behind in its process.

    Each method that loads a program raises BankProgramError if it cannot be loaded.
    """

    def __init__(self, question: Question, workers: WorkerPool) -> None:
        """Load nothing yet."""
        self.question = question
        self.memory: dict[Key, Any] = {}  # the seed is the first entry of a key
        self.secret_draw = new_secret_draw()  # for all grades that measure no speed
        self._seeds: list[int] = []  # with remembered outcomes, the latest last
        self._pool = workers
        self._workers: dict[str, WorkerClient] = {}  # by use: reference, variants, examined
        self._programs: dict[str, RemoteProgram] = {}  # by name, without those of an audit
        self._deadline: Deadline | None = None
        self._slowest_ended = 0.0  # seconds, of the reference's workers that have ended

    @property
    def reference(self) -> RemoteProgram:
        """The reference, loaded; the same object as long as the session lasts."""
        return self._loaded_program("reference")

    def living_reference(self) -> RemoteProgram:
        """Return the reference in a process that has not ended."""
        if self.reference.worker.failure is not None:
            self.reload_program("reference")
        return self.reference

    def slowest_call(self) -> float:
        """Return the most CPU seconds that a call of the reference has taken."""
        worker = self._workers.get("reference")
        return max(self._slowest_ended, worker.slowest_cpu_seconds if worker else 0.0)

    def start_variants_process(self) -> None:
        """Start the process of the variants, if there are any, while other processes work."""
        if self.question.variants:
            self._worker("variants")

    def variant_program(self, name: str, index: int) -> RemoteProgram:
        """Return the program of a variant of an idea, loaded when it is first needed."""
        return self._loaded_program(f"{name}/{index}")

    def layered_program(self, variants: Sequence[tuple[str, int]]) -> RemoteProgram:
        """Return a program of several variants, each executed on top of those before it."""
        return self._loaded_program("+".join(f"{name}/{index}" for name, index in variants))

    def accepted_solution_program(self, name: str) -> RemoteProgram:
        """Return the program of an accepted solution, loaded when it is first needed."""
        return self._loaded_program(ACCEPTED_PREFIX + name)

    def restore_reference(self) -> None:
        """Replace workers that have failed or are nearly used up, and load the reference again."""
        self._renew("variants")
        self.reload_program("reference")

    def reload_program(self, name: str) -> None:
        """Load a program again if its process has ended or is nearly used up."""
        self._renew(_worker_of_program(name))
        self._loaded_program(name)

    def evaluate_bank_program(
        self,
        name: str,
        sources: Sequence[bytes],
        seed: int,
        description: str,
        file: str,
        parts: int | None,
    ) -> Evaluation:
        """Evaluate any program of the bank; see `JudgingSession.evaluate_bank_program`."""
        self.restore_reference()
        self._renew("examined")
        program = self._new_program("examined", name, sources)
        self._load(program, description, file, parts)
        evaluation = self.new_evaluation(program, seed)
        evaluation.runs_reference_first = False  # the program may be the reference itself
        return evaluation

    def new_evaluation(self, program: RemoteProgram, seed: int) -> Evaluation:
        """Return a new evaluation of a program; only the latest seeds stay remembered."""
        if seed not in self._seeds:
            self._seeds.append(seed)
            if len(self._seeds) > MAX_REMEMBERED_SEEDS:
                forgotten = self._seeds.pop(0)
                for key in [key for key in self.memory if key[0] == forgotten]:
                    del self.memory[key]
        return self._first_evaluation.with_subject(program, seed)

    @cached_property
    def _first_evaluation(self) -> Evaluation:
        return Evaluation(self.question, 0, self.reference, self.reference, bank=self)

    def set_deadline(self, deadline: Deadline | None) -> None:
        """Set the deadline of all workers, or remove it."""
        self._deadline = deadline
        for worker in self._workers.values():
            worker.deadline = deadline

    def close(self) -> None:
        """End the workers."""
        for use in list(self._workers):
            self._end_worker(use)

    def _worker(self, use: str) -> WorkerClient:
        if use not in self._workers:
            worker = self._pool.take_worker(BANK_CPU_SECONDS)
            worker.deadline = self._deadline
            self._workers[use] = worker
        return self._workers[use]

    def _renew(self, use: str) -> None:
        """End a worker that has failed or is nearly used up; the next one starts when needed."""
        worker = self._workers.get(use)
        if worker is not None and worker.failure is None and not _is_nearly_used_up(worker):
            worker.reset_counters()
        else:
            self._end_worker(use)

    def _end_worker(self, use: str) -> None:
        if use in self._workers:
            if use == "reference":
                self._slowest_ended = self.slowest_call()
            self._workers.pop(use).close()

    def _new_program(self, use: str, name: str, sources: Sequence[bytes]) -> RemoteProgram:
        worker = self._worker(use)
        return RemoteProgram(worker, name, sources, self.question.support, f"{name}.py")

    def _source_of_program(self, name: str) -> _ProgramSource:
        """Find a program by its name: `reference`, `accepted/STYLE`, or `IDEA/INDEX+IDEA/INDEX`."""
        question = self.question
        if name == "reference":
            file = program_file(question, name)
            return _ProgramSource("the reference", file, [question.reference])
        style = name.removeprefix(ACCEPTED_PREFIX)
        if name.startswith(ACCEPTED_PREFIX) and style in question.accepted:
            file = program_file(question, name)
            return _ProgramSource(
                f"the accepted {style}", file, [accepted_program(question, style)]
            )
        sources = [question.reference]
        for layer in name.split("+"):
            idea, _, index = layer.partition("/")
            sources.append(question.variants[idea][int(index)])
        return _ProgramSource(f"the misconception {idea}", program_file(question, idea), sources)

    def _loaded_program(self, name: str) -> RemoteProgram:
        """Return a program by its name, loaded in the present worker."""
        source = self._source_of_program(name)
        use = _worker_of_program(name)
        program = self._programs.get(name)
        if program is None:
            program = self._new_program(use, name, source.sources)
            # A program of several layers has no single file whose lines its errors could name.
            if name == "reference" and source.file:
                is_python = source.file.endswith(".py")
                program.filename = source.file if is_python else f"./{source.file}"
        worker = self._worker(use)
        if name not in self._programs or program.worker is not worker:
            program.worker = worker
            try:
                parts = self.question.accepted_until_part.get(name.removeprefix(ACCEPTED_PREFIX))
                self._load(program, source.description, source.file, parts)
            except BankProgramError:
                self._end_worker(use)
                raise
            self._programs[name] = program
        return program

    def _load(
        self, program: RemoteProgram, description: str, file: str, parts: int | None = None
    ) -> None:
        """Load a program and require the functions of these parts, and those of the driver."""
        try:
            loaded = program.load(self.question.functions, self.question.driver_functions)
        except (ProgramError, WorkerError) as error:
            if isinstance(error, ProgramError) and error.is_from_support_code:
                is_driver = error.where.startswith(self.question.support.driver_file)
                description = "the driver" if is_driver else "a helper"
            sentence = error_in_one_sentence(error, file)
            raise BankProgramError(f"{description} cannot be loaded: {sentence}") from None
        required = self.question.functions_for_part(parts)
        missing = [name for name in loaded.missing if name in required]
        if missing:
            hint = did_you_mean(missing[0], loaded.defined)
            if missing[0] == "vjp":  # torch defines it
                hint = "; vjp needs torch in uses"
            functions = self._with_calling_step(missing)
            raise BankProgramError(f"{description} does not define {functions}{hint}")
        if loaded.undriven:
            hint = did_you_mean(loaded.undriven[0], loaded.driver)
            functions = self._with_calling_step(loaded.undriven)
            raise BankProgramError(f"the driver does not define {functions}{hint}")

    def _with_calling_step(self, functions: Sequence[str]) -> str:
        """Return a list of functions with the step that calls the first of them."""
        steps = [step for run in self.question.runs.values() for step in run]
        text = next(step.text for step in steps if step.function == functions[0])
        return f"{', '.join(functions)}, which the step '{text}' calls"


def accepted_program(question: Question, style: str) -> bytes:
    """Return the program that an accepted solution stands for."""
    return forms.form_of(question.spec).program(question.accepted[style], question)


def _worker_of_program(name: str) -> str:
    return "reference" if name == "reference" else "variants"


def _is_nearly_used_up(worker: WorkerClient) -> bool:
    """Return True if a worker is too near to its limits for another grade."""
    memory_bytes = worker.occupied_bytes() or 0
    cpu_nanoseconds = worker.cpu_nanoseconds() or 0
    return (
        memory_bytes > MAX_BANK_MEMORY_BYTES[worker.torch]
        or cpu_nanoseconds > MAX_BANK_CPU_NANOSECONDS
    )


# -- errors in a program of the bank, for its author: the message, the file, the line ------------


def program_file(question: Question, name: str) -> str:
    """Return the file of a program, relative to the bank; empty if the bank has no such file.

    The name is `reference`, `starter`, `repair`, `accepted/NAME`, or the id of an idea.
    """
    spec = question.spec
    form = forms.form_of(spec)
    stem = "ideas" if name in question.ideas else name.partition("/")[0]
    is_derived = stem in {"starter", "repair"} and spec.starter
    if stem not in {"reference", "starter", "ideas", "accepted", "repair"} or is_derived:
        return ""
    if getattr(spec.code, stem, ""):
        return question.spec_file
    from_form = {"starter": form.starter, "reference": form.reference}
    if stem in from_form and from_form[stem](spec):
        return question.spec_file
    suffix = Path(form.file).suffix if stem in {"accepted", "repair"} else ".py"
    return f"drills/{question.id}/{stem}{suffix}"


def error_in_one_sentence(error: Exception, file: str) -> str:
    """Return an error with the text of the exception, its place, and the line of code."""
    raised = error.raised if isinstance(error, ProgramError) else None
    if not isinstance(error, ProgramError) or raised is None:
        return str(error)
    sentence = f"{error}{message_suffix(raised)}"
    if error.is_from_support_code:
        return f"{sentence}, in {error.where}"
    sentence += line_suffix(raised, file)
    source = _shorten(raised.frames[-1].source) if raised.frames else ""
    return f"{sentence}: {source}" if source else sentence


def message_suffix(raised: ExceptionRecord) -> str:
    """Return `: ` and the text of an exception; empty if it has no text."""
    text = _shorten(raised.message)
    missing = _MISSING_MODULE.match(text)
    if raised.type == "ModuleNotFoundError" and missing:
        text += f" ({_advice_on_module(missing[1])})"
    return f": {text}" if text else ""


def _advice_on_module(module: str) -> str:
    """Return what an author can do about a module that cannot be imported."""
    if module == "torch":
        return "add torch to uses"
    similar = did_you_mean(module, get_args(Library)).removeprefix("; ")
    return similar or "only numpy, torch if uses has it, and modules in helpers can be imported"


def line_suffix(raised: ExceptionRecord, file: str) -> str:
    """Return `, in FILE:LINE`, as editors open it; empty if the line is not known."""
    if not raised.frames:
        return ""
    line = raised.frames[-1].line
    return f", in {file}:{line}" if file else f", at line {line}"


def _shorten(text: str) -> str:
    """Return a text on one line, short enough for a sentence."""
    one_line = " ".join(text.split())
    if len(one_line) <= MAX_QUOTED_LENGTH:
        return one_line
    return one_line[: MAX_QUOTED_LENGTH - 3] + "..."


# -- the inputs of one case, without a submission ------------------------------------------------


def cases_and_draws(question: Question) -> dict[str, CaseRecipe]:
    """Return every case of a question, and every further draw of one, by name."""
    return expand_draws(read_cases(question.spec.cases)[0])


def checks_using_case(question: Question, case: str, parts_asked: int) -> list[Check]:
    """Return the checks of the first parts that use a case, in their order."""
    cases = cases_and_draws(question)
    return [
        check
        for part in question.spec.parts[:parts_asked]
        for check in part.checks
        if case in cases_of_check(check, question.runs[check.run], cases)
    ]


def case_inputs(question: Question, case: str, run: str, seed: int) -> Inputs:
    """Return the inputs of a run on a case, by name, as a grade with that seed draws them.

    Each value has the fields of a `protocol.Input`.  The reference is started only if an input is
    shaped like a result.

    Raises:
        BankProgramError: They cannot be drawn.
    """
    recipe = cases_and_draws(question)[case]
    needs_reference = False

    def shape_of(name: str, _: object) -> tuple[int, ...]:
        nonlocal needs_reference
        needs_reference = True
        raise DrawError(f"only the reference knows the shape of {name}")

    try:
        drawn = draw_inputs(recipe, seed, shape_of)
    except DrawError as error:
        if not needs_reference:
            raise BankProgramError(f"case {case} cannot be drawn: {error}") from None
        with (
            WorkerPool(torch=question.spec.needs_torch) as workers,
            BankPrograms(question, workers) as bank,
        ):
            return bank.new_evaluation(bank.reference, seed).inputs(recipe, run)
    names = run_inputs(question.runs[run])
    return {name: encode_input(question, recipe, name, drawn[name]) for name in names}
