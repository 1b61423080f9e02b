"""The bank's own programs for a question, loaded once for many grades.

They are the reference, the accepted solutions and the variants of wrong ideas.  No submission runs
in their processes.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from grader import forms
from grader.grading.bank_errors import BankProgramError, error_in_one_sentence, program_file
from grader.model.errors import did_you_mean
from grader.model.limits import BANK_CPU_SECONDS, MAX_BANK_CPU_NANOSECONDS, MAX_BANK_MEMORY_BYTES
from grader.model.question import Question
from grader.sandbox import Closeable, Deadline
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker_pool import WorkerPool

MAX_REMEMBERED_SEEDS = 4  # the latest seeds, whose results are kept
ACCEPTED_PREFIX = "accepted/"
MemoryKey = tuple[Hashable, ...]


class BankPrograms(Closeable):
    """The reference and the variants of a question, and their results.

    The reference and the variants have separate workers, for two reasons: the memory of the
    reference's process is compared with a submission's, and a variant may leave something behind.

    Each method that loads a program raises BankProgramError if it cannot be loaded.
    """

    def __init__(self, question: Question, workers: WorkerPool) -> None:
        """Take a question and the pool of its workers; each program is loaded when needed."""
        self.question = question
        self.memory: dict[MemoryKey, Any] = {}  # the seed is the first entry of a key
        self._seeds: list[int] = []  # seeds whose results are in `memory`, the newest last
        self._pool = workers
        self._workers: dict[str, WorkerClient] = {}  # by use: reference, variants, audited
        self._programs: dict[str, RemoteProgram] = {}  # by name; audited programs are not kept
        self._deadline: Deadline | None = None
        self._slowest_ended = 0.0  # seconds, of the reference's workers that have ended

    @property
    def reference(self) -> RemoteProgram:
        """The reference, loaded; the same object as long as the session lasts."""
        return self._loaded_program("reference")

    def living_reference(self) -> RemoteProgram:
        """Return the reference; if its process has ended, load it in a new one first."""
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
        """Prepare the next grade: replace workers that failed or are nearly used up.

        If the worker of the reference is replaced, the reference is loaded into the new one.
        """
        self._renew("variants")
        self.reload_program("reference")

    def reload_program(self, name: str) -> None:
        """Load a program again if its process has ended or is nearly used up."""
        self._renew(_worker_of_program(name))
        self._loaded_program(name)

    def load_audited_program(
        self, name: str, sources: Sequence[bytes], description: str, file: str, parts: int | None
    ) -> RemoteProgram:
        """Load any program of the bank in the process for audited programs, and return it.

        `JudgingSession.evaluate_bank_program` describes the arguments.
        """
        self.restore_reference()
        self._renew("audited")
        program = self._new_program("audited", name, sources)
        self._load(program, description, file, parts)
        return program

    def forget_old_seeds(self, seed: int) -> None:
        """Make room in `memory` for a seed: if it is one too many, forget the oldest seed."""
        if seed in self._seeds:
            return
        self._seeds.append(seed)
        if len(self._seeds) > MAX_REMEMBERED_SEEDS:
            forgotten = self._seeds.pop(0)
            for key in [key for key in self.memory if key[0] == forgotten]:
                del self.memory[key]

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
        """End a worker that has failed or is nearly used up; reset the counters of another one.

        A new worker starts when it is needed.
        """
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

    def _source_of_program(self, name: str) -> tuple[str, str, list[bytes]]:
        """Return the description and the file of a program, for messages, and its sources.

        The name is `reference`, `accepted/STYLE`, or `IDEA/INDEX`, the variant of an idea; several
        are joined by `+`.  The sources run one after another in the same module.
        """
        question = self.question
        if name == "reference":
            return "the reference", program_file(question, name), [question.reference]
        style = name.removeprefix(ACCEPTED_PREFIX)
        if name.startswith(ACCEPTED_PREFIX) and style in question.accepted:
            source = accepted_program(question, style)
            return f"the accepted {style}", program_file(question, name), [source]
        sources = [question.reference]
        for layer in name.split("+"):
            idea, _, index = layer.partition("/")
            sources.append(question.variants[idea][int(index)])
        return f"the misconception {idea}", program_file(question, idea), sources

    def _loaded_program(self, name: str) -> RemoteProgram:
        """Return the program with a name; load it, unless the present worker has it already."""
        use = _worker_of_program(name)
        worker = self._worker(use)
        program = self._programs.get(name)
        if program is not None and program.worker is worker:
            return program
        description, file, sources = self._source_of_program(name)
        program = program or self._new_program(use, name, sources)
        # A program of several layers has no single file whose lines its errors could name.
        if name == "reference" and file:
            program.filename = file if file.endswith(".py") else f"./{file}"
        program.worker = worker
        try:
            parts = self.question.accepted_until_part.get(name.removeprefix(ACCEPTED_PREFIX))
            self._load(program, description, file, parts)
        except BankProgramError:
            self._end_worker(use)
            raise
        self._programs[name] = program
        return program

    def _load(
        self, program: RemoteProgram, description: str, file: str, parts: int | None = None
    ) -> None:
        """Load a program; require the driver's functions and those of the first parts."""
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
        """List functions for a message: "f, g, which the step 'y = f(x)' calls"."""
        steps = [step for run in self.question.runs.values() for step in run]
        text = next(step.text for step in steps if step.function == functions[0])
        return f"{', '.join(functions)}, which the step '{text}' calls"


def accepted_program(question: Question, style: str) -> bytes:
    """Return an accepted solution as a program; a text form makes one from its answers."""
    return forms.form_of(question.spec).program(question.accepted[style], question)


def _worker_of_program(name: str) -> str:
    return "reference" if name == "reference" else "variants"


def _is_nearly_used_up(worker: WorkerClient) -> bool:
    """Return True if a worker has used too much memory or CPU time to serve another grade."""
    memory_bytes = worker.resident_bytes() or 0
    if memory_bytes > MAX_BANK_MEMORY_BYTES[worker.torch]:
        return True
    return (worker.cpu_nanoseconds() or 0) > MAX_BANK_CPU_NANOSECONDS
