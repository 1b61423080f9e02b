"""The bank's own programs, loaded once for many grades, where no submission ever runs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from grader import forms
from grader.evaluation.evaluation import BankFault, Evaluation
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.report import Raised
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.closing import Closing
from grader.sandbox.deadline import Deadline
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Loaded, ProgramError
from grader.session.workers import BANK_CPU_SECONDS, Workers

MOST_SPENT = BANK_CPU_SECONDS * 10**9 // 2  # nanoseconds of CPU time: far from the worker's limit
MOST_GROWN = {False: 128 << 20, True: 512 << 20}  # bytes that it may hold more, by torch
MOST_SEEDS = 4  # of which is remembered what the bank's programs compute
ACCEPTED = "accepted/"
LONGEST = 200  # characters of a message or a line of code: enough to find it by


class BankPrograms(Closing):
    """The reference and the misconceptions of a question, and what they compute.

    The reference has a worker of its own, because the memory of its process is held against a
    submission's; what a misconception leaves behind must not count as the reference's.
    """

    def __init__(self, question: Question, workers: Workers) -> None:
        """Load nothing yet."""
        self.question = question
        self.memory: dict[tuple[Hashable, ...], Any] = {}
        self._seeds: list[int] = []  # of which something is remembered, the latest last
        self._supply = workers
        # For the reference, variants, and what is examined.
        self._workers: dict[str, WorkerClient] = {}
        self._programs: dict[str, RemoteProgram] = {}  # once loaded; those examined excepted
        self._deadline: Deadline | None = None

    @property
    def reference(self) -> RemoteProgram:
        """The reference, loaded; the same object for as long as the session lasts.

        Raises:
            BankFault: it cannot be loaded.
        """
        return self._loaded("reference")

    def living_reference(self) -> RemoteProgram:
        """The same, in a process that has not ended.

        Raises:
            BankFault: it cannot be loaded.
        """
        if self.reference.worker.failure is not None:
            self.revive("reference")
        return self.reference

    def expect_variants(self) -> None:
        """Start the process of the misconceptions, if there are any, while others are at work."""
        if self.question.variants:
            self._worker("variants")

    def variant(self, name: str, index: int) -> RemoteProgram:
        """A misconception's program, loaded when it is first asked for.

        Raises:
            BankFault: it cannot be loaded.
        """
        return self._loaded(f"{name}/{index}")

    def layered(self, variants: Sequence[tuple[str, int]]) -> RemoteProgram:
        """A program of several variants, each executed on top of those before it.

        Raises:
            BankFault: it cannot be loaded.
        """
        return self._loaded("+".join(f"{name}/{index}" for name, index in variants))

    def restore(self) -> None:
        """Replace workers that are of no use any more, and load the reference again if need be.

        Raises:
            BankFault: the reference cannot be loaded.
        """
        self._renew("variants")
        self.revive("reference")

    def revive(self, name: str) -> None:
        """Load the reference or a misconception again, whose process may have ended.

        Raises:
            BankFault: it cannot be loaded.
        """
        self._renew("variants" if "/" in name else "reference")
        self._loaded(name)

    def examine(
        self,
        name: str,
        sources: Sequence[bytes],
        seed: int,
        *,
        called: str,
        file: str,
        parts: int | None = None,
    ) -> Evaluation:
        """A evaluation with a program of the bank's own; see `GradingSession.examine`."""
        self.restore()
        self._renew("examined")
        program = self._program("examined", name, sources)
        self._load(program, called, file, parts)
        evaluation = self.evaluation(program, seed)
        evaluation.reference_first = False  # the reference itself is examined too
        return evaluation

    def evaluation(self, program: RemoteProgram, seed: int) -> Evaluation:
        """A evaluation for a program that has not been on one.

        Raises:
            BankFault: the reference cannot be loaded.
        """
        if seed not in self._seeds:
            old, self._seeds = self._seeds[: 1 - MOST_SEEDS], [*self._seeds[1 - MOST_SEEDS :], seed]
            for key in [key for key in self.memory if key[0] in old]:
                del self.memory[key]
        return self._evaluation.with_submission(program, seed)

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation(self.question, 0, self.reference, self.reference, bank=self)

    def limit(self, deadline: Deadline | None) -> None:
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
            many = use == "variants"
            supply = self._supply
            self._workers[use] = supply.take_for_many() if many else supply.take(BANK_CPU_SECONDS)
            self._workers[use].deadline = self._deadline
        return self._workers[use]

    def _renew(self, use: str) -> None:
        """End a worker that is of no use any more; another is started when there is work."""
        worker = self._workers.get(use)
        if worker is not None and worker.failure is None and not _is_old(worker):
            worker.count_anew()
        else:
            self._end(use)

    def _end(self, use: str) -> None:
        if use in self._workers:
            self._workers.pop(use).close()

    def _program(self, use: str, name: str, sources: Sequence[bytes]) -> RemoteProgram:
        worker = self._worker(use)
        return RemoteProgram(worker, name, sources, self.question.support, f"{name}.py")

    def _named(self, name: str) -> tuple[RemoteProgram, str, str]:
        """The reference, or misconceptions `id/index` joined by `+`; what to call it; its file."""
        question, layers = self.question, [] if name == "reference" else name.split("+")
        use, called, file = "reference", "the reference", file_of(question, "reference")
        sources = [question.reference]
        for layer in layers:
            idea, _, index = layer.partition("/")
            use, called = "variants", f"the misconception {idea}"
            file = file_of(question, idea, int(index))
            sources.append(question.variants[idea][int(index)])
        return self._programs.get(name) or self._program(use, name, sources), called, file

    def _loaded(self, name: str) -> RemoteProgram:
        """Such a program, in the worker there is now."""
        program, called, file = self._named(name)
        use = "reference" if name == "reference" else "variants"
        worker = self._worker(use)
        if name not in self._programs or program.worker is not worker:
            program.worker = worker
            try:
                self._load(program, called, file)
            except BankFault:
                self._end(use)
                raise
            self._programs[name] = program
        return program

    def _load(
        self, program: RemoteProgram, called: str, file: str, parts: int | None = None
    ) -> None:
        try:
            loaded = program.load(self.question.functions, self.question.driven)
        except (ProgramError, WorkerError) as error:
            if isinstance(error, ProgramError) and error.of_support:
                is_driver = error.where.startswith(self.question.support.driver_file)
                called = "the driver" if is_driver else "a helper"
            raise BankFault(f"{called} cannot be loaded: {in_one_sentence(error, file)}") from None
        if lacking := self._lacks(loaded, called, parts):
            raise BankFault(lacking)

    def _lacks(self, loaded: Loaded, called: str = "", parts: int | None = None) -> str:
        """What a program that was executed lacks, in a sentence; '' where it is nothing."""
        wanted = self.question.functions_of(parts)
        if missing := [name for name in loaded.missing if name in wanted]:
            near = did_you_mean(missing[0], loaded.defined)
            return f"{called} does not define {', '.join(missing)}{near}"
        if loaded.undriven:
            near = did_you_mean(loaded.undriven[0], loaded.driver)
            return f"the driver does not define {', '.join(loaded.undriven)}{near}"
        return ""


def _is_old(worker: WorkerClient) -> bool:
    """Whether a worker is nearer to its limits than a grade should find it."""
    held = worker.occupied_bytes()
    grown = 0 if held is None or worker.fresh is None else held - worker.fresh
    return grown > MOST_GROWN[worker.torch] or (worker.cpu_nanoseconds() or 0) > MOST_SPENT


# -- what went wrong in a program of the bank, for its author: the message, the file, the line ---


def file_of(question: Question, name: str, variant: int = 0) -> str:
    """The file that holds a program, from the bank's root; empty where it is no file of the bank.

    Args:
        question: whose program it is.
        name: `reference`, `starter`, `accepted/NAME`, or the id of a misconception.
        variant: which of the misconception's.
    """
    spec = question.spec
    if name in {"reference", "starter"}:
        in_spec, file = bool(getattr(spec.code, name)), name
    elif name.startswith(ACCEPTED):
        file = name
        in_spec = name.removeprefix(ACCEPTED) in spec.code.accepted
    elif name in spec.misconceptions:
        idea = spec.misconceptions[name]
        file_number = variant // len(idea.settings)
        several = file_number < len(idea.variants)
        stem = idea.variants[file_number] if several else name.replace("-", "_")
        in_spec, file = bool(idea.programs), f"misconceptions/{stem}"
    else:
        return ""
    if not in_spec:
        form = forms.of(spec)
        suffix = Path(form.file).suffix if file.startswith(ACCEPTED) else ".py"
        made = {"starter": form.starter, "reference": form.reference}
        if file in made and made[file](spec):
            return question.spec_file
        return f"drills/{question.id}/{file}{suffix}"
    return question.spec_file


def in_one_sentence(error: Exception, file: str) -> str:
    """An error with what the exception says, where it is, and the line itself."""
    raised = error.raised if isinstance(error, ProgramError) else None
    if not isinstance(error, ProgramError) or raised is None:
        return str(error)
    if error.where:
        return f"{error}{message_of(raised)}, in {error.where}"
    source = _short(raised.frames[-1].source) if raised.frames else ""
    return f"{error}{message_of(raised)}{line_of(raised, file)}" + (source and f": {source}")


def message_of(raised: Raised) -> str:
    """`: ` and the text of an exception; nothing where it has none."""
    text = _short(raised.message)
    return f": {text}" if text else ""


def line_of(raised: Raised, file: str) -> str:
    """`, in FILE:LINE`, as editors open it; nothing where the line is not known."""
    if not raised.frames:
        return ""
    line = raised.frames[-1].line
    return f", in {file}:{line}" if file else f", at line {line}"


def _short(text: str) -> str:
    """A text on one line, and not too long for a sentence."""
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 3] + "..."
