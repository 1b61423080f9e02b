"""The submission and the reference side by side: what each computes on each case.

A check asks the evaluation for results and compares them; the evaluation draws inputs, calls each
program once for every run and case, and remembers.  What the submission does is remembered as long
as its evaluation lives; what the bank's own programs do may be shared by many (`Memory`).
"""

from __future__ import annotations

import contextlib
import copy
import math
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from grader.cases.dataflow import case_names, free_names, producing, results
from grader.cases.draw import DrawError, draw
from grader.cases.recipe import CaseRecipe, every_draw, read_cases
from grader.evaluation.ahead import Ahead, entries
from grader.evaluation.encoding import NATIVE, NUDGES, encoded
from grader.evaluation.memory import Memory
from grader.evaluation.results import array_of
from grader.model.keys import Check, Limits
from grader.model.question import Question, Step
from grader.sandbox.client import TooSlow, WorkerError
from grader.sandbox.remote import CallLimits, RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.sending import EncodedInput, Inputs

T = TypeVar("T")

AT_ONCE = 32  # cases of one request
FIRST_SECRET = 2  # draws below are the same for everybody who has the seed


class BankFault(Exception):
    """The reference or the spec fails: no fault of the submission's."""


@contextlib.contextmanager
def blame_bank(what: str) -> Iterator[None]:
    """Whatever goes wrong inside is the bank's fault: the reference's code runs there."""
    try:
        yield
    except (ProgramError, WorkerError) as error:
        raised = error.raised if isinstance(error, ProgramError) else None
        line = f", at line {raised.frames[-1].line}" if raised and raised.frames else ""
        if raised and isinstance(error, ProgramError) and error.where:
            line = f": {raised.message[:200]}, in {error.where}"
        if isinstance(error, TooSlow):
            line = "; limits in the spec says how long a call may take"
        raise BankFault(f"{what}: {error}{line}") from None


class Bank(Protocol):
    """What evaluations share: the bank's own programs, and what they compute."""

    memory: Memory

    def variant(self, name: str, index: int) -> RemoteProgram:
        """The program of a misconception."""

    def load_variants(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Load the programs of several misconceptions, as far as that can be done at once."""

    def layered(self, variants: Sequence[tuple[str, int]]) -> RemoteProgram:
        """A program of several variants, each executed on top of those before it."""

    def revive(self, name: str) -> None:
        """Load a program of the bank again, whose process has ended."""


class Evaluation:
    """The programs, the cases, and every result so far."""

    def __init__(
        self,
        question: Question,
        seed: int,
        submission: RemoteProgram,
        reference: RemoteProgram,
        *,
        bank: Bank | None = None,
    ) -> None:
        """Set the programs up, and what is shared with other evaluations; nothing runs yet."""
        self.question = question
        self.seed = seed
        # Draws that no program can foresee, not even one that has found out the seed.
        self.secret = FIRST_SECRET + secrets.randbits(64)
        self.submission = submission
        self.reference = reference
        self.reference_first = True  # the submission is not asked what breaks the reference
        self.cases: dict[str, CaseRecipe] = every_draw(read_cases(question.spec.cases)[0])
        # How many parts of the question are asked: nothing is said of the checks of others.
        self.parts_asked = len(question.spec.parts)
        self._wanted: dict[int, dict[str, tuple[str, ...]]] = {}  # by number of parts asked
        self.bank = bank
        self.ahead = Ahead()
        self._known = Memory() if bank is None else bank.memory
        # Never dropped: asked again, a submission may do something else.
        self._own = Memory(math.inf)
        # What the submission was run on so far: run, case, mode, number of the draw.
        self.called: list[tuple[str, CaseRecipe, str, int]] = []

    def with_submission(self, program: RemoteProgram, seed: int | None = None) -> Evaluation:
        """The same for a program that was not evaluated before, perhaps with another seed."""
        other = copy.copy(self)
        other.submission = program
        other.seed = self.seed if seed is None else seed
        other.secret = FIRST_SECRET + secrets.randbits(64)
        other._own = Memory(math.inf)
        other.called = []
        return other

    def with_bank_program(self, program: RemoteProgram) -> Evaluation:
        """The same evaluation with a program of the bank in the submission's place."""
        other = self.with_submission(program)
        other._own = self._known
        other.reference_first = False
        return other

    def remember(
        self,
        program: RemoteProgram,
        key: tuple[Hashable, ...],
        make: Callable[[], T],
        *,
        draw_index: int = 0,
    ) -> T:
        """Something about a program on this seed, found out once.

        A program of the bank whose process has ended is asked once more in a new one: the process
        may have ended for another reason than this program.
        """
        of_bank = self._is_of_bank(program)

        def made() -> T:
            if not of_bank or self.bank is None:
                return make()
            with contextlib.suppress(WorkerError):
                found = make()
                if program.worker.failure is None:
                    return found
            self.bank.revive(program.name)
            return make()

        # What follows from a secret draw is of no use to anybody later.
        memory = self._known if of_bank and draw_index < FIRST_SECRET else self._own
        return memory.get((self.seed, program.name, *key, draw_index), made)

    @property
    def checks(self) -> list[Check]:
        """The checks of the parts that are asked."""
        spec = self.question.spec
        return spec.checks[: sum(len(part.checks) for part in spec.parts[: self.parts_asked])]

    def knows(
        self, program: RemoteProgram, key: tuple[Hashable, ...], *, draw_index: int = 0
    ) -> bool:
        """Whether something about a program of the bank was found out on this seed."""
        return (self.seed, program.name, *key, draw_index) in self._known

    def outcome_key(self, run: str, case: CaseRecipe, mode: str = NATIVE) -> tuple[Hashable, ...]:
        """The key by which an outcome is remembered."""
        return "outcome", run, case.name, mode, self.wanted[run]

    def _is_of_bank(self, program: RemoteProgram) -> bool:
        return program is not self.submission or self._own is self._known

    # -- cases ------------------------------------------------------------------------------

    def steps(self, run: str) -> tuple[Step, ...]:
        """The steps of a run."""
        return self.question.runs[run]

    def cases_of(self, check: Check) -> list[CaseRecipe]:
        """The cases of a check, smallest first, so that what is shown first is easiest to read."""
        names = case_names(check, self.steps(check.run), self.cases)
        return sorted((self.cases[n] for n in names), key=self.weight)

    def weight(self, case: CaseRecipe) -> tuple[int, int]:
        """How much there is to read: entries drawn, then the order of the file."""
        size = entries(case)
        # A case that differs from another only in dtype or layout comes after it.
        plain = case.dtype == "float64" and case.layout == "contiguous" and size > 0
        return (size if plain else size + 10_000), list(self.cases).index(case.name)

    def drawn(self, case: CaseRecipe, draw_index: int = 0) -> dict[str, Any]:
        """The inputs of a case as numbers and arrays.

        An input may be shaped like a result: then the reference is run on those before it.
        """

        def make() -> dict[str, Any]:
            try:
                return draw(
                    case,
                    self.seed,
                    lambda n, d: self._reference_shape(case, n, d, draw_index),
                    draw_index,
                )
            except (DrawError, ValueError) as error:
                raise BankFault(f"case {case.name} cannot be drawn: {error}") from None

        return self._drawn_once(("drawn", case.name), draw_index, make)

    def _drawn_once(self, key: tuple[Hashable, ...], draw_index: int, make: Callable[[], T]) -> T:
        """What follows from a draw; a secret one is of no use to anybody later."""
        if draw_index >= FIRST_SECRET:
            return make()
        return self._known.get((self.seed, *key, draw_index), make)

    def _reference_shape(
        self, case: CaseRecipe, name: str, drawn: Mapping[str, Any], draw_index: int
    ) -> tuple[int, ...]:
        """The shape of a result of the reference on inputs drawn so far."""
        if draw_index == 0:
            self._once(("shapes",), lambda: self.ahead.find_shapes(self, self.cases.values()))
            known = self.ahead.shape(self, case, name)
            if known is not None:
                return known
        steps, inputs = self.towards(case, name, drawn)
        if not steps:
            raise DrawError(f"no run gives {name} from the inputs that come before it")
        with blame_bank(f"the reference fails on case {case.name}"):
            value = self.reference.run(steps, inputs, [name]).values[name]
        return tuple(array_of(value).shape)

    def towards(
        self, case: CaseRecipe, name: str, drawn: Mapping[str, Any]
    ) -> tuple[tuple[Step, ...], Inputs]:
        """The steps to a result that inputs drawn so far are enough for, if any, and these."""
        for steps in self.question.runs.values():
            needed = producing(steps, name) if name in results(steps) else ()
            if needed and set(names := free_names(needed)) <= drawn.keys():
                return needed, {n: encoded(self.question, case, n, drawn[n]) for n in names}
        return (), {}

    def _once(self, what: tuple[str, ...], do: Callable[[], None], draw_index: int = 0) -> None:
        """Ask the reference for something ahead, unless it was done for this seed and draw."""
        if self.bank is not None:
            self.remember(self.reference, ("ahead", *what), do, draw_index=draw_index)

    def inputs(
        self,
        case: CaseRecipe,
        run: str,
        *,
        draw_index: int = 0,
        mode: str = NATIVE,
        layout: str | None = None,
    ) -> Inputs:
        """The inputs of a run, as a program takes them."""
        drawn = self.drawn(case, draw_index)

        def given(name: str) -> EncodedInput:
            return self._drawn_once(
                ("input", case.name, name, mode, layout),
                draw_index,
                lambda: EncodedInput(encoded(self.question, case, name, drawn[name], mode, layout)),
            )

        return {name: given(name) for name in free_names(self.steps(run))}

    def limits_of(self, case: CaseRecipe) -> CallLimits | None:
        """What a case and its question say of how long a call may take; None where they do not."""
        return _limits(self.question.spec.limits, case)

    @contextlib.contextmanager
    def limited(self, case: CaseRecipe) -> Iterator[None]:
        """Give the programs as long as the question allows for calls on a case."""
        given = self.limits_of(case)
        programs = (self.submission, self.reference)
        before = [program.limits for program in programs]
        for program in programs:
            program.limits = given
        try:
            yield
        finally:
            for program, limits in zip(programs, before, strict=True):
                program.limits = limits

    # -- results ----------------------------------------------------------------------------

    @property
    def wanted(self) -> Mapping[str, tuple[str, ...]]:
        """By run, the results that some check looks at."""
        if self.parts_asked not in self._wanted:
            self._wanted[self.parts_asked] = self._looked_at()
        return self._wanted[self.parts_asked]

    def _looked_at(self) -> dict[str, tuple[str, ...]]:
        wanted: dict[str, dict[str, None]] = {run: {} for run in self.question.runs}
        for check in self.checks:
            made = results(self.steps(check.run))  # a name may be an input's as well
            wanted[check.run].update(dict.fromkeys(n for n in check.wanted if n in made))
        for run, names in wanted.items():
            if not names:  # measured only: the results still have to be right in type and number
                names.update(dict.fromkeys(self.steps(run)[-1].targets))
        return {run: tuple(names) for run, names in wanted.items()}

    def outcome(
        self,
        program: RemoteProgram,
        run: str,
        case: CaseRecipe,
        *,
        draw_index: int = 0,
        mode: str = NATIVE,
    ) -> Outcome:
        """What a program computes, remembered.

        Raises:
            ProgramError, WorkerError: every time again, once it has.
        """

        def make() -> Outcome | Exception:
            inputs = self.inputs(case, run, draw_index=draw_index, mode=mode)
            if program is self.submission:
                self.called.append((run, case, mode, draw_index))
            try:
                with self.limited(case):
                    return program.run(self.steps(run), inputs, self.wanted[run])
            except (ProgramError, WorkerError) as error:
                return error

        key = self.outcome_key(run, case, mode)
        found = self.remember(program, key, make, draw_index=draw_index)
        if isinstance(found, Exception):
            raise found
        return found

    def ask_all(
        self,
        program: RemoteProgram,
        run: str,
        cases: Sequence[CaseRecipe],
        *,
        want: Sequence[str] = (),
        mode: str = NATIVE,
    ) -> None:
        """Have a program run many cases in few requests; `outcome` knows what it gave then.

        Raises:
            WorkerError: its process did not survive it.
        """
        self.ask_each(program, run, [(case, mode, 0) for case in cases], want=want)

    def ask_each(
        self,
        program: RemoteProgram,
        run: str,
        asked: Sequence[tuple[CaseRecipe, str, int]],
        *,
        want: Sequence[str] = (),
    ) -> None:
        """The same of cases, each in a mode and as one of its draws."""
        if self._is_of_bank(program):
            asked = [
                (case, mode, draw_index)
                for case, mode, draw_index in asked
                if not self.knows(program, self.outcome_key(run, case, mode), draw_index=draw_index)
            ]
        for first in range(0, len(asked), AT_ONCE):
            some = asked[first : first + AT_ONCE]
            inputs = [self.inputs(c, run, mode=mode, draw_index=draw) for c, mode, draw in some]
            try:
                found = program.several(self.steps(run), inputs, want or self.wanted[run])
            except ProgramError as error:
                found = [error] * len(some)
            for (case, mode, draw_index), one in zip(some, found, strict=True):
                key = self.outcome_key(run, case, mode)
                self.remember(program, key, lambda one=one: one, draw_index=draw_index)  # type: ignore[misc]

    def observed(self, run: str, case: CaseRecipe) -> Outcome:
        """What the submission computes."""
        return self.outcome(self.submission, run, case)

    def truth(
        self, run: str, case: CaseRecipe, *, draw_index: int = 0, mode: str = NATIVE
    ) -> Outcome:
        """What the reference computes.

        Raises:
            BankFault: it does not.
        """
        if mode in NUDGES:
            several = (run, case.name, "nudged", *self.wanted[run])
            self._once(several, lambda: self.ahead.nudged(self, run, case, draw_index), draw_index)
        elif draw_index == 0:
            self._once((run, mode, *self.wanted[run]), lambda: self.ahead.run(self, run, mode))
        with blame_bank(f"the reference fails on case {case.name}"):
            return self.outcome(self.reference, run, case, draw_index=draw_index, mode=mode)

    def asked(
        self,
        case: CaseRecipe,
        ask: Callable[[RemoteProgram], T],
        program: RemoteProgram | None = None,
    ) -> T:
        """What the submission, or another program, answers to something else than a plain run.

        Raises:
            ProgramError, WorkerError: it does not; where it is the submission, the reference does.
            BankFault: neither does.
        """
        program = program or self.submission
        with self.limited(case):
            try:
                return ask(program)
            except (ProgramError, WorkerError):
                if self.reference_first and program is self.submission:
                    with blame_bank(f"the reference fails on case {case.name}"):
                        ask(self.reference)
                raise

    def fact(self, key: tuple[str, ...], measure: Callable[[], T]) -> T:
        """Something about the reference and the cases alone, measured once."""
        return self.remember(self.reference, ("fact", *key), measure)


def _limits(usual: Limits, case: CaseRecipe) -> CallLimits | None:
    """What a case and its question say of how long a call may take; None where they do not."""
    own = case.limits
    cpu = usual.cpu_seconds if own.cpu_seconds is None else own.cpu_seconds
    wall = usual.wall_seconds if own.wall_seconds is None else own.wall_seconds
    if cpu is None and wall is None:
        return None
    of_case = own.cpu_seconds is not None or own.wall_seconds is not None
    where = f"limits of case {case.name}" if of_case else "limits of the question"
    return CallLimits(cpu, wall, where)
