"""The bank's own programs, loaded once for many grades, where no submission ever runs."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

from grader import forms
from grader.cases.draw import DrawError, draw_inputs
from grader.cases.recipe import CaseRecipe, cases_of_check, expand_draws, read_cases, run_inputs
from grader.grading.evaluation import BankProgramError, Evaluation, new_secret_draw
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

MAX_REMEMBERED_SEEDS = 4  # of which is remembered what the bank's programs compute
ACCEPTED_PREFIX = "accepted/"
_MODULE = re.compile(r"No module named '(\w+)")
MAX_QUOTED_LENGTH = 200  # characters of a message or a line of code: enough to find it by


class BankPrograms(Closeable):
    """The reference and the misconceptions of a question, and what they compute.

    The reference has a worker of its own, because the memory of its process is held against a
    submission's; what a misconception leaves behind must not count as the reference's.

    Whatever loads a program raises BankFault where it cannot be loaded.
    """

    def __init__(self, question: Question, workers: WorkerPool) -> None:
        """Load nothing yet."""
        self.question = question
        self.remembered_outcomes: dict[tuple[Hashable, ...], Any] = {}
        self.secret_draw = new_secret_draw()
        self._seeds: list[int] = []  # of which something is remembered, the latest last
        self._supply = workers
        # For the reference, variants, and what is examined.
        self._workers: dict[str, WorkerClient] = {}
        self._programs: dict[str, RemoteProgram] = {}  # once loaded; those examined excepted
        self._deadline: Deadline | None = None
        self._slowest = 0.0  # of workers of the reference that have ended

    @property
    def reference(self) -> RemoteProgram:
        """The reference, loaded; the same object for as long as the session lasts."""
        return self._loaded("reference")

    def living_reference(self) -> RemoteProgram:
        """The same, in a process that has not ended."""
        if self.reference.worker.failure is not None:
            self.reload_program("reference")
        return self.reference

    def slowest_call(self) -> float:
        """Seconds of CPU time that a call of the reference took at most."""
        worker = self._workers.get("reference")
        return max(self._slowest, worker.slowest_cpu_seconds if worker else 0.0)

    def start_variants_process(self) -> None:
        """Start the process of the misconceptions, if there are any, while others are at work."""
        if self.question.variants:
            self._worker("variants")

    def variant_program(self, name: str, index: int) -> RemoteProgram:
        """A misconception's program, loaded when it is first asked for."""
        return self._loaded(f"{name}/{index}")

    def layered_program(self, variants: Sequence[tuple[str, int]]) -> RemoteProgram:
        """A program of several variants, each executed on top of those before it."""
        return self._loaded("+".join(f"{name}/{index}" for name, index in variants))

    def accepted_solution_program(self, name: str) -> RemoteProgram:
        """The program of an accepted solution, loaded when it is first asked for."""
        return self._loaded(ACCEPTED_PREFIX + name)

    def restore_reference(self) -> None:
        """Replace workers that are of no use any more, and load the reference again if need be."""
        self._renew("variants")
        self.reload_program("reference")

    def reload_program(self, name: str) -> None:
        """Load the reference or a misconception again, whose process may have ended."""
        self._renew(_use(name))
        self._loaded(name)

    def evaluate_bank_program(
        self,
        name: str,
        sources: Sequence[bytes],
        seed: int,
        called: str,
        file: str,
        parts: int | None,
    ) -> Evaluation:
        """An evaluation with a program of the bank's own; see `GradingSession.evaluate_bank_program`."""
        self.restore_reference()
        self._renew("examined")
        program = self._program("examined", name, sources)
        self._load(program, called, file, parts)
        evaluation = self.new_evaluation(program, seed)
        evaluation.runs_reference_first = False  # the reference itself is examined too
        return evaluation

    def new_evaluation(self, program: RemoteProgram, seed: int) -> Evaluation:
        """An evaluation for a program that has not been in one."""
        if seed not in self._seeds:
            old, self._seeds = (
                self._seeds[: 1 - MAX_REMEMBERED_SEEDS],
                [*self._seeds[1 - MAX_REMEMBERED_SEEDS :], seed],
            )
            for key in [key for key in self.remembered_outcomes if key[0] in old]:
                del self.remembered_outcomes[key]
        return self._evaluation.with_submission(program, seed)

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation(self.question, 0, self.reference, self.reference, bank=self)

    def set_deadline(self, deadline: Deadline | None) -> None:
        """Have the workers answer until a deadline, or take their time."""
        self._deadline = deadline
        for worker in self._workers.values():
            worker.deadline = deadline

    def close(self) -> None:
        """End the workers."""
        for use in list(self._workers):
            self._end(use)

    def _worker(self, use: str) -> WorkerClient:
        if use not in self._workers:
            self._workers[use] = self._supply.take_worker(BANK_CPU_SECONDS)
            self._workers[use].deadline = self._deadline
        return self._workers[use]

    def _renew(self, use: str) -> None:
        """End a worker that is of no use any more; another is started when there is work."""
        worker = self._workers.get(use)
        if worker is not None and worker.failure is None and not _is_old(worker):
            worker.reset_counters()
        else:
            self._end(use)

    def _end(self, use: str) -> None:
        if use in self._workers:
            if use == "reference":
                self._slowest = self.slowest_call()
            self._workers.pop(use).close()

    def _program(self, use: str, name: str, sources: Sequence[bytes]) -> RemoteProgram:
        worker = self._worker(use)
        return RemoteProgram(worker, name, sources, self.question.support, f"{name}.py")

    def _named(self, name: str) -> tuple[RemoteProgram, str, str]:
        """The program of a name; what to call it; its file.

        The name is `reference`, `accepted/STYLE`, or misconceptions `id/index` joined by `+`.
        """
        question, style = self.question, name.removeprefix(ACCEPTED_PREFIX)
        called, file = "the reference", program_file(question, "reference")
        sources, layers = [question.reference], name.split("+")
        if name == "reference":
            layers = []
        elif name.startswith(ACCEPTED_PREFIX) and style in question.accepted:
            called, file = f"the accepted {style}", program_file(question, name)
            sources, layers = [accepted_program(question, style)], []
        for layer in layers:
            idea, _, index = layer.partition("/")
            called, file = f"the misconception {idea}", program_file(question, idea)
            sources.append(question.variants[idea][int(index)])
        program = self._programs.get(name) or self._program(_use(name), name, sources)
        if name == "reference" and file:  # of layers, the lines are not those of one file
            program.filename = file if file.endswith(".py") else f"./{file}"  # as the driver's too
        return program, called, file

    def _loaded(self, name: str) -> RemoteProgram:
        """Such a program, in the worker there is now."""
        program, called, file = self._named(name)
        use = _use(name)
        worker = self._worker(use)
        if name not in self._programs or program.worker is not worker:
            program.worker = worker
            try:
                parts = self.question.accepted_until_part.get(name.removeprefix(ACCEPTED_PREFIX))
                self._load(program, called, file, parts)
            except BankProgramError:
                self._end(use)
                raise
            self._programs[name] = program
        return program

    def _load(
        self, program: RemoteProgram, called: str, file: str, parts: int | None = None
    ) -> None:
        try:
            loaded = program.load(self.question.functions, self.question.driver_functions)
        except (ProgramError, WorkerError) as error:
            if isinstance(error, ProgramError) and error.is_from_support_code:
                is_driver = error.where.startswith(self.question.support.driver_file)
                called = "the driver" if is_driver else "a helper"
            raise BankProgramError(
                f"{called} cannot be loaded: {error_in_one_sentence(error, file)}"
            ) from None
        wanted = self.question.functions_for_part(parts)
        if missing := [name for name in loaded.missing if name in wanted]:
            hint = did_you_mean(missing[0], loaded.defined)
            if missing[0] == "vjp":  # which is torch's own, where there is torch
                hint = "; vjp needs torch in uses"
            raise BankProgramError(f"{called} does not define {self._needed(missing)}{hint}")
        if loaded.undriven:
            near = did_you_mean(loaded.undriven[0], loaded.driver)
            raise BankProgramError(
                f"the driver does not define {self._needed(loaded.undriven)}{near}"
            )

    def _needed(self, names: Sequence[str]) -> str:
        """Functions, and the step that calls the first of them."""
        steps = (step for run in self.question.runs.values() for step in run)
        text = next(step.text for step in steps if step.function == names[0])
        return f"{', '.join(names)}, which the step '{text}' calls"


def accepted_program(question: Question, style: str) -> bytes:
    """Return the program that an accepted solution stands for."""
    return forms.form_of(question.spec).program(question.accepted[style], question)


def _use(name: str) -> str:
    """Which worker a program of the bank runs in."""
    return "reference" if name == "reference" else "variants"


def _is_old(worker: WorkerClient) -> bool:
    """Whether a worker is nearer to its limits than a grade should find it."""
    held, spent = worker.occupied_bytes() or 0, worker.cpu_nanoseconds() or 0
    return held > MAX_BANK_MEMORY_BYTES[worker.torch] or spent > MAX_BANK_CPU_NANOSECONDS


# -- what went wrong in a program of the bank, for its author: the message, the file, the line ---


def program_file(question: Question, name: str) -> str:
    """The file that holds a program, from the bank's root; empty where it is no file of the bank.

    It is `reference`, `starter`, `repair`, `accepted/NAME`, or the id of a misconception.
    """
    spec, form = question.spec, forms.form_of(question.spec)
    file = "ideas" if name in question.ideas else name.partition("/")[0]
    made_of_another = file in {"starter", "repair"} and spec.starter
    if file not in {"reference", "starter", "ideas", "accepted", "repair"} or made_of_another:
        return ""
    made = {"starter": form.starter, "reference": form.reference}
    if getattr(spec.code, file, "") or (file in made and made[file](spec)):
        return question.spec_file
    suffix = Path(form.file).suffix if file in {"accepted", "repair"} else ".py"
    return f"drills/{question.id}/{file}{suffix}"


def error_in_one_sentence(error: Exception, file: str) -> str:
    """An error with what the exception says, where it is, and the line itself."""
    raised = error.raised if isinstance(error, ProgramError) else None
    if not isinstance(error, ProgramError) or raised is None:
        return str(error)
    if error.is_from_support_code:
        return f"{error}{message_suffix(raised)}, in {error.where}"
    source = _short(raised.frames[-1].source) if raised.frames else ""
    return f"{error}{message_suffix(raised)}{line_suffix(raised, file)}" + (
        source and f": {source}"
    )


def message_suffix(raised: ExceptionRecord) -> str:
    """`: ` and the text of an exception; nothing where it has none."""
    text = _short(raised.message)
    if lacking := raised.type == "ModuleNotFoundError" and _MODULE.match(text):
        text += f" ({_instead_of(lacking[1])})"
    return f": {text}" if text else ""


def _instead_of(module: str) -> str:
    """What to do about a module that a program of the bank cannot import."""
    if module == "torch":
        return "add torch to uses"
    near = did_you_mean(module, get_args(Library)).removeprefix("; ")
    return near or "only numpy, torch if uses has it, and modules in helpers can be imported"


def line_suffix(raised: ExceptionRecord, file: str) -> str:
    """`, in FILE:LINE`, as editors open it; nothing where the line is not known."""
    if not raised.frames:
        return ""
    line = raised.frames[-1].line
    return f", in {file}:{line}" if file else f", at line {line}"


def _short(text: str) -> str:
    """A text on one line, and not too long for a sentence."""
    plain = " ".join(text.split())
    return plain if len(plain) <= MAX_QUOTED_LENGTH else plain[: MAX_QUOTED_LENGTH - 3] + "..."


# -- the inputs of one case, without a submission ------------------------------------------------


def cases_and_draws(question: Question) -> dict[str, CaseRecipe]:
    """Every case of a question, and every further draw of one, by name."""
    return expand_draws(read_cases(question.spec.cases)[0])


def checks_using_case(question: Question, case: str, asked: int) -> list[Check]:
    """The checks of the first `asked` parts that have a case, in their order."""
    known = cases_and_draws(question)
    return [
        check
        for part in question.spec.parts[:asked]
        for check in part.checks
        if case in cases_of_check(check, question.runs[check.run], known)
    ]


def case_inputs(question: Question, case: str, run: str, seed: int) -> Inputs:
    """The inputs of a run on a case, as a grade with that seed draws them, by name.

    Each is the fields of a `protocol.Input`.  The reference is started where an input is shaped
    like a result, and only then.

    Raises:
        BankFault: they cannot be drawn.
    """
    recipe, needed = cases_and_draws(question)[case], []

    def shape_of(name: str, _: object) -> tuple[int, ...]:
        needed.append(name)
        raise DrawError("only the reference knows")

    try:
        drawn = draw_inputs(recipe, seed, shape_of)
    except DrawError as error:
        if not needed:
            raise BankProgramError(f"case {case} cannot be drawn: {error}") from None
        with (
            WorkerPool(torch=question.spec.needs_torch) as workers,
            BankPrograms(question, workers) as bank,
        ):
            return bank.new_evaluation(bank.reference, seed).inputs(recipe, run)
    names = run_inputs(question.runs[run])
    return {name: encode_input(question, recipe, name, drawn[name]) for name in names}
