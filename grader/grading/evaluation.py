"""Run the submission and the reference on every case, and remember the results.

An evaluation draws the inputs and calls each program once for every run and case.  Results of the
submission are remembered as long as the evaluation lives; results of the bank's own programs may
be shared by many evaluations (`BankPrograms.memory`).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from grader.cases.draw import DrawError, draw_inputs
from grader.cases.recipe import (
    CaseRecipe,
    assigned_names,
    cases_of_check,
    expand_draws,
    read_cases,
    run_inputs,
    steps_producing,
)
from grader.grading.bank_errors import BankProgramError, blame_bank
from grader.grading.bank_programs import BankPrograms, MemoryKey
from grader.grading.values import NATIVE, NUDGES, encode_input, to_array
from grader.model.limits import CALL_SECONDS, PREFETCH_SECONDS
from grader.model.question import Question
from grader.model.spec import Check
from grader.model.steps import Step
from grader.sandbox.client import RequestLimits, WorkerError
from grader.sandbox.messages import EncodedInput, Inputs, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

T = TypeVar("T")
MemorySlot = tuple[dict[MemoryKey, Any], MemoryKey]  # a memory and a key in it

MAX_BATCHED_ENTRIES = 4096  # entries of a case: a larger one takes long enough for its own request
MAX_BATCH_INPUTS = 32  # inputs of one request
MAX_BATCH_RUNS = 64  # runs of several programs in one request
# A draw index picks one draw of a case's inputs: 0 the usual one, 1 another one.  From this index
# on, draws are secret: nobody who knows the seed can foresee the inputs.
FIRST_SECRET_DRAW = 2
NOT_PLAIN = 10_000  # added to the sort key of a case in an unusual dtype or layout: shown last


def new_secret_draw() -> int:
    """Return a random draw index: no program can foresee the inputs that it draws."""
    return FIRST_SECRET_DRAW + secrets.randbits(64)


class Evaluation:
    """A program (the subject), the reference and the cases, with every result so far."""

    def __init__(
        self,
        question: Question,
        seed: int,
        subject: RemoteProgram,
        reference: RemoteProgram,
        *,
        bank: BankPrograms | None = None,
    ) -> None:
        """Keep the programs and the memory shared with other evaluations; nothing runs yet."""
        self.question = question
        self.subject = subject  # the judged program: a submission, or one of the bank
        self.reference = reference
        self.runs_reference_first = True  # a case on which the reference fails stops the check
        self.measures_stretch = True  # run stretch checks, too
        self.cases = cases_and_draws(question)
        self.parts_asked = len(question.spec.parts)  # checks of later parts do not exist yet
        self.bank = bank
        self._wanted: dict[int, dict[str, tuple[str, ...]]] = {}  # by number of parts asked
        self._bank_memory: dict[MemoryKey, Any] = {} if bank is None else bank.memory
        self._reset(seed)

    def _reset(self, seed: int) -> None:
        """Start over with a seed: no results of the subject, and a new secret draw."""
        self.seed = seed
        # No program can foresee this draw, even if it has found out the seed.
        self.secret_draw = new_secret_draw()
        self.keeps_secret_draw = False
        self.calls_made: list[tuple[str, CaseRecipe]] = []  # runs of the submission so far
        self._subject_memory: dict[MemoryKey, Any] = {}
        self._secret_memory: tuple[int, dict[MemoryKey, Any]] = (0, {})  # for the latest one

    def with_subject(self, program: RemoteProgram, seed: int | None = None) -> Evaluation:
        """Return an evaluation of another program (default: with the same seed).

        Both share the inputs and the results of the bank's programs.
        """
        other = copy.copy(self)
        other.subject = program
        other._reset(self.seed if seed is None else seed)
        return other

    def with_bank_program(self, program: RemoteProgram) -> Evaluation:
        """Return this evaluation with a program of the bank in place of the submission.

        The program's results are shared with other evaluations.  Checks do not run the reference
        before it.
        """
        other = self.with_subject(program)
        other._subject_memory = self._bank_memory
        other.runs_reference_first = False
        return other

    # -- memory -----------------------------------------------------------------------------

    def remember(
        self,
        key: MemoryKey,
        make: Callable[[], T],
        program: RemoteProgram | None = None,
        *,
        draw_index: int = 0,
    ) -> T:
        """Return the value of `make()`, computed once for a key, seed, draw and program.

        Without a program, the value is about the cases alone, such as their inputs.

        If the process of a bank program has ended, the value is computed again in a new one: the
        process may have ended for another reason than this program.
        """
        memory, full_key = self._memory_slot(program, key, draw_index)
        if full_key not in memory:
            if program is None or self.bank is None or not self._is_bank_program(program):
                memory[full_key] = make()
            else:
                with contextlib.suppress(WorkerError):
                    memory[full_key] = make()
                if program.worker.failure is not None or full_key not in memory:
                    self.bank.reload_program(program.name)
                    memory[full_key] = make()
        value: T = memory[full_key]
        return value

    def _memory_slot(
        self, program: RemoteProgram | None, key: MemoryKey, draw_index: int
    ) -> MemorySlot:
        """Return the memory that has, or will have, a value, and the value's key in it.

        A value for a secret draw is forgotten at the next secret draw, unless `keeps_secret_draw`.
        """
        full_key = (self.seed, "" if program is None else program.name, *key, draw_index)
        if draw_index >= FIRST_SECRET_DRAW and not self.keeps_secret_draw:
            if self._secret_memory[0] != draw_index:
                self._secret_memory = (draw_index, {})
            return self._secret_memory[1], full_key
        if program is None or self._is_bank_program(program):
            return self._bank_memory, full_key
        return self._subject_memory, full_key

    def _outcome_key(self, run: str, case: CaseRecipe, mode: str) -> MemoryKey:
        return "outcome", run, case.name, mode, self.wanted_results[run]

    def _is_remembered(
        self,
        program: RemoteProgram,
        run: str,
        case: CaseRecipe,
        mode: str = NATIVE,
        draw_index: int = 0,
    ) -> bool:
        memory, key = self._memory_slot(program, self._outcome_key(run, case, mode), draw_index)
        return key in memory

    def _evaluates_bank_program(self) -> bool:
        return self._subject_memory is self._bank_memory

    def _is_bank_program(self, program: RemoteProgram) -> bool:
        return program is not self.subject or self._evaluates_bank_program()

    # -- cases and their inputs -------------------------------------------------------------

    @property
    def checks(self) -> list[Check]:
        """The checks of the parts that are asked."""
        spec = self.question.spec
        return spec.checks[: sum(len(part.checks) for part in spec.parts[: self.parts_asked])]

    def steps(self, run: str) -> tuple[Step, ...]:
        return self.question.runs[run]

    def cases_of(self, check: Check) -> list[CaseRecipe]:
        """Return the cases of a check; cases that are easy to read come first."""
        names = cases_of_check(check, self.steps(check.run), self.cases)
        return sorted((self.cases[name] for name in names), key=self.display_order)

    def display_order(self, case: CaseRecipe) -> tuple[int, int]:
        """Return the sort key of a case: its number of drawn entries, then the order of the file.

        A case without arrays comes first.  A case in another dtype or layout, or with only empty
        arrays, comes after all others.
        """
        size = entry_count(case)
        has_arrays = any(recipe.is_array for recipe in case.inputs.values())
        is_plain = case.dtype == "float64" and case.layout == "contiguous"
        is_plain = is_plain and (size > 0 or not has_arrays)
        return (size if is_plain else size + NOT_PLAIN), list(self.cases).index(case.name)

    def can_be_batched(self, case: CaseRecipe) -> bool:
        """Return True if a case is small and has the usual limits: it may share a request."""
        return entry_count(case) <= MAX_BATCHED_ENTRIES and self.limits_of(case) is None

    def drawn_inputs(self, case: CaseRecipe, draw_index: int = 0) -> dict[str, Any]:
        """Return the inputs of a case as numbers and arrays.

        If an input is shaped like a result, the reference runs on the inputs before it.
        """
        shape_of = functools.partial(self._reference_shape, case)

        def make() -> dict[str, Any]:
            try:
                return draw_inputs(case, self.seed, shape_of, draw_index)
            except (DrawError, ValueError) as error:
                raise BankProgramError(f"case {case.name} cannot be drawn: {error}") from None

        return self.remember(("drawn", case.name), make, draw_index=draw_index)

    def case_with_inputs(
        self, case: CaseRecipe, name: str, changes: Mapping[str, Any]
    ) -> CaseRecipe:
        """Return a case, called CASE|NAME, with some changed inputs.

        All other inputs have the values that were drawn for the given case.
        """
        changed = dataclasses.replace(case, name=f"{case.name}|{name}")
        self.remember(("drawn", changed.name), lambda: {**self.drawn_inputs(case), **changes})
        return changed

    def inputs(
        self,
        case: CaseRecipe,
        run: str,
        *,
        draw_index: int = 0,
        mode: str = NATIVE,
    ) -> Inputs:
        """Return the inputs of a run, encoded for a program; `encode_input` has the modes."""
        drawn = self.drawn_inputs(case, draw_index)

        def encoded(name: str) -> EncodedInput:
            return self.remember(
                ("input", case.name, name, mode),
                lambda: EncodedInput(encode_input(self.question, case, name, drawn[name], mode)),
                draw_index=draw_index,
            )

        return {name: encoded(name) for name in run_inputs(self.steps(run))}

    def _reference_shape(
        self, case: CaseRecipe, name: str, drawn: Mapping[str, Any]
    ) -> tuple[int, ...]:
        """Run the reference on the inputs drawn so far, and return the shape of a result.

        Raises:
            DrawError: No run can compute the result from these inputs.
        """
        for steps in self.question.runs.values():
            needed = steps_producing(steps, name)
            names = run_inputs(needed)
            if needed and names.keys() <= drawn.keys():
                inputs = {n: encode_input(self.question, case, n, drawn[n]) for n in names}
                with blame_bank(f"the reference fails on case {case.name}"):
                    value = self.reference.run(needed, inputs, [name]).values[name]
                return tuple(to_array(value).shape)
        raise DrawError(f"no run gives {name} from the inputs that come before it")

    def limits_of(self, case: CaseRecipe) -> RequestLimits | None:
        """Return the limits of a call on a case; None if neither case nor question sets any."""
        own = case.limits.model_dump(exclude_none=True)
        limits = self.question.spec.limits.model_copy(update=own)
        if limits.cpu_seconds is None and limits.wall_seconds is None:
            return None
        source = f"limits of case {case.name}" if own else "limits of the question"
        return RequestLimits(limits.cpu_seconds or CALL_SECONDS, limits.wall_seconds, source)

    @contextlib.contextmanager
    def limits_applied(self, case: CaseRecipe) -> Iterator[None]:
        """Apply the limits of a case to both programs inside the block."""
        submission, reference = self.subject, self.reference
        before = submission.limits, reference.limits
        submission.limits = reference.limits = self.limits_of(case)
        try:
            yield
        finally:
            submission.limits, reference.limits = before

    # -- results ----------------------------------------------------------------------------

    @property
    def wanted_results(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the results that some check needs, by run; if none, those of the last step."""
        if self.parts_asked not in self._wanted:
            wanted = self._wanted[self.parts_asked] = {}
            for run, steps in self.question.runs.items():
                assigned = assigned_names(steps)  # other names are inputs
                required = [
                    name
                    for check in self.checks
                    if check.run == run
                    for name in check.required_results
                    if name in assigned
                ]
                # If a run is only measured, its results still need the right type and number.
                wanted[run] = tuple(dict.fromkeys(required or steps[-1].targets))
        return self._wanted[self.parts_asked]

    def outcome(
        self,
        program: RemoteProgram,
        run: str,
        case: CaseRecipe,
        *,
        draw_index: int = 0,
        mode: str = NATIVE,
    ) -> Outcome:
        """Return the results of a program on a case, remembered.

        Raises:
            ProgramError, WorkerError: The program failed, now or when it was asked before.
        """

        def make() -> Outcome | Exception:
            inputs = self.inputs(case, run, draw_index=draw_index, mode=mode)
            self._note_call(program, run, case, mode, draw_index)
            try:
                with self.limits_applied(case):
                    return program.run(self.steps(run), inputs, self.wanted_results[run])
            except (ProgramError, WorkerError) as error:
                return error

        key = self._outcome_key(run, case, mode)
        outcome = self.remember(key, make, program, draw_index=draw_index)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def _note_call(
        self, program: RemoteProgram, run: str, case: CaseRecipe, mode: str, draw_index: int
    ) -> None:
        if program is self.subject and mode == NATIVE and draw_index == 0:
            self.calls_made.append((run, case))

    def override_outcome(self, run: str, case: CaseRecipe, outcome: Outcome) -> None:
        """Remember results as if the submission had returned them."""
        memory, key = self._memory_slot(self.subject, self._outcome_key(run, case, NATIVE), 0)
        memory[key] = outcome

    def subject_outcome(self, run: str, case: CaseRecipe) -> Outcome:
        """Return the results of the submission; small cases of all checks run in one request."""
        is_known = self._evaluates_bank_program() or self._is_remembered(self.subject, run, case)
        if not is_known:
            self._prefetch_all_checks(self.subject, run, case)
        return self.outcome(self.subject, run, case)

    def reference_outcome(
        self, run: str, case: CaseRecipe, *, draw_index: int = 0, mode: str = NATIVE
    ) -> Outcome:
        """Return the results of the reference; small cases of all checks run in one request.

        Raises:
            BankProgramError: The reference fails on the case.
        """
        if not self._is_remembered(self.reference, run, case, mode, draw_index):
            if mode in NUDGES:
                self.prefetch([self.reference], run, [case], modes=NUDGES, draw_index=draw_index)
            elif draw_index == 0:
                self._prefetch_all_checks(self.reference, run, case, mode)
        with blame_bank(f"the reference fails on case {case.name}"):
            return self.outcome(self.reference, run, case, draw_index=draw_index, mode=mode)

    def _prefetch_all_checks(
        self, program: RemoteProgram, run: str, case: CaseRecipe, mode: str = NATIVE
    ) -> None:
        """If a check needs the run on the case, do it for all small cases on which one does.

        So their results come in few requests.  In a mode other than `NATIVE`, float64 cases are
        left out: few of them need it.
        """
        names = {
            name
            for check in self.checks
            if check.run == run
            for name in cases_of_check(check, self.steps(run), self.cases)
        }
        if case.name in names:
            cases = [self.cases[name] for name in names & self.cases.keys()]
            if mode != NATIVE:
                cases = [each for each in cases if each.dtype != "float64"]
            self.prefetch([program], run, sorted(cases, key=self.display_order), modes=(mode,))

    def prefetch(
        self,
        programs: Sequence[RemoteProgram],
        run: str,
        cases: Iterable[CaseRecipe],
        *,
        modes: Sequence[str] = (NATIVE,),
        draw_index: int = 0,
        want: Sequence[str] = (),
    ) -> None:
        """Run programs of one worker on the cases that are small, in few requests.

        `outcome` then has the results in `want` (default: all that some check needs).  Cases that
        cannot be drawn are left out; they are reported when they are needed.  A program that does
        not survive a request is left out and gets only single runs from then on.
        """
        cells = [
            (case, mode)
            for case in cases
            if self.can_be_batched(case) and self._has_inputs(case, draw_index)
            for mode in modes
        ]
        results = want or self.wanted_results[run]
        waiting = [program for program in programs if not program.is_asked_alone]
        max_runs = MAX_BATCH_RUNS
        while waiting:
            batch = [
                (case, mode)
                for case, mode in cells
                if not self._is_remembered(waiting[0], run, case, mode, draw_index)
            ][:MAX_BATCH_INPUTS]
            if not batch:
                del waiting[0]
                continue
            asked = waiting[: max(1, max_runs // len(batch))]
            inputs = [self.inputs(c, run, mode=mode, draw_index=draw_index) for c, mode in batch]
            outcomes = self._run_batch(asked, self.steps(run), inputs, results)
            if not outcomes:
                if len(asked) == 1:
                    del waiting[0]
                max_runs = 1  # program by program, to find the one that did not survive
            pairs = itertools.product(asked, batch)
            for (program, (case, mode)), outcome in zip(pairs, outcomes, strict=False):
                key = self._outcome_key(run, case, mode)
                memory, full_key = self._memory_slot(program, key, draw_index)
                memory[full_key] = outcome
                self._note_call(program, run, case, mode, draw_index)

    def _has_inputs(self, case: CaseRecipe, draw_index: int) -> bool:
        """Return True if a case has inputs and they can be drawn."""
        try:
            return bool(self.drawn_inputs(case, draw_index))
        except BankProgramError:
            return False

    def _run_batch(
        self,
        programs: Sequence[RemoteProgram],
        steps: Sequence[Step],
        inputs: Sequence[Inputs],
        want: Sequence[str],
    ) -> list[Outcome | ProgramError]:
        """Return the outcomes of programs of one worker: by program, then by inputs.

        The last ones may be missing.  The list is empty if the request fails.  If the process did
        not survive it, the first program is loaded in a new one.
        """
        first, *others = programs
        is_bank_program = self._is_bank_program(first)
        limits_before = first.limits
        first.limits = None
        seconds = None
        if not is_bank_program:
            seconds = PREFETCH_SECONDS[self.question.spec.needs_torch]
        try:
            return first.run_several(steps, inputs, want, others, seconds=seconds)
        except ProgramError:
            pass  # a value cannot be sent, for example
        except WorkerError:
            if not is_bank_program:
                self.calls_made.clear()
                first.reload_in_new_process()
            elif self.bank is not None:
                self.bank.reload_program(first.name)
        finally:
            first.limits = limits_before
        first.is_asked_alone = not others
        return []

    def ask_program(
        self,
        case: CaseRecipe,
        ask: Callable[[RemoteProgram], T],
        program: RemoteProgram | None = None,
    ) -> T:
        """Return the answer of a program, by default the submission, to a request on a case.

        Raises:
            ProgramError, WorkerError: The program fails.  If it is the submission, the reference
                does not fail.
            BankProgramError: Both fail.
        """
        program = program or self.subject
        with self.limits_applied(case):
            try:
                return ask(program)
            except (ProgramError, WorkerError):
                if self.runs_reference_first and program is self.subject:
                    with blame_bank(f"the reference fails on case {case.name}"):
                        ask(self.reference)
                raise


def entry_count(case: CaseRecipe) -> int:
    """Return the number of array entries of a case, as far as it is known before drawing."""
    count = 0
    for recipe in case.inputs.values():
        if recipe.generator == "array":
            count += np.size(recipe.literal)
        elif recipe.shape is not None:
            count += int(np.prod(recipe.shape))
    return count


def cases_and_draws(question: Question) -> dict[str, CaseRecipe]:
    """Map names to the cases of a question and their further draws: "odd-sizes (2)"."""
    return expand_draws(read_cases(question.spec.cases)[0])
