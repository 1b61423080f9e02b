"""Two workers that outlive a grade: for auditing a bank's own programs one after another.

What a class or a watch needs too, but for code that the bank vouches for: programs share a process
here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.bench.bench import BankFault, Bench
from grader.sandbox.client import WorkerClient, WorkerError
from grader.sandbox.closing import Closing
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import ProgramError
from grader.sandbox.spawn import zygote_if_safe
from grader.session.locations import home, told

if TYPE_CHECKING:
    from grader.model.question import Question

HOUR = 3600  # CPU seconds of a worker that examines hundreds of programs


class Stage(Closing):
    """The reference in one worker, and one program after another in a second."""

    def __init__(self, question: Question) -> None:
        """Start both workers and load the reference.

        Raises:
            BankFault: the reference cannot be loaded.
        """
        self.question = question
        self._zygote = zygote_if_safe(torch=question.spec.needs_torch)
        self._theirs = self._worker()
        self._ours = self._worker()
        self._bench: Bench | None = None
        self._variants: dict[str, RemoteProgram] = {}
        try:
            self.reference = self._load(self._ours, "reference", [question.reference])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End both workers."""
        self._theirs.close()
        self._ours.close()
        if self._zygote is not None:
            self._zygote.close()

    def bench(self, name: str, sources: Sequence[bytes], seed: int) -> Bench:
        """Put a program on the bench, with the cases of a seed.

        What the reference and the variants computed on that seed is kept until another seed comes.

        Raises:
            BankFault: the program cannot be loaded.
        """
        if self._theirs.failure is not None:  # an earlier program ended the process
            self._theirs.close()
            self._theirs = self._worker()
        self._theirs.count_anew()
        program = self._load(self._theirs, name, sources)
        if self._bench is None or self._bench.seed != seed:
            self._bench = Bench(self.question, seed, program, self.reference)
            self._bench.variants = self._variants
        return self._bench.with_submission(program)

    def restore(self) -> bool:
        """Start the reference's process again if it has ended; whether it had."""
        if self._ours.failure is None:
            return False
        self._ours.close()
        self._ours = self._worker()
        self._variants.clear()
        self.reference = self._load(self._ours, "reference", [self.question.reference])
        if self._bench is not None:
            self._bench.reference = self.reference
        return True

    def _worker(self) -> WorkerClient:
        return WorkerClient(
            torch=self.question.spec.needs_torch, cpu_seconds=HOUR, zygote=self._zygote
        )

    def _load(self, worker: WorkerClient, name: str, sources: Sequence[bytes]) -> RemoteProgram:
        called = name.removeprefix("subject ")
        idea, _, face = called.removesuffix(")").partition(" (")
        file = home(self.question, idea, int(face) - 1 if face.isdigit() else 0)
        # The reference's own process also runs the yardsticks, which may call anything.
        forbids = self.question.spec.forbids if worker is self._theirs else ()
        program = RemoteProgram(
            worker, name, sources, self.question.driver, f"{name}.py", forbids=forbids
        )
        try:
            loaded = program.load(self.question.functions)
        except (ProgramError, WorkerError) as error:
            raise BankFault(f"{called} cannot be loaded: {told(error, file)}") from None
        if loaded.unknown:
            raise BankFault(f"forbids: there is no {', '.join(loaded.unknown)}")
        if loaded.missing:
            raise BankFault(f"{called} does not define {', '.join(loaded.missing)}")
        return program
