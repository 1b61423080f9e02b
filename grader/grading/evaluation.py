"""The submission and the reference side by side: what each computes on each case.

A check asks the evaluation for results and compares them; the evaluation draws inputs, calls each
program once for every run and case, and remembers.  What the submission does is remembered as long
as its evaluation lives; what the bank's own programs do may be shared by many (`BankProtocol.remembered_outcomes`).
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import itertools
import re
import secrets
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

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
from grader.grading.values import NATIVE, NUDGES, encode_input, to_array
from grader.model.limits import CALL_SECONDS, PREFETCH_SECONDS
from grader.model.question import Question, Step
from grader.model.spec import Check
from grader.sandbox.client import CallTimeout, RequestLimits, WorkerError
from grader.sandbox.messages import EncodedInput, Inputs, Outcome, ProgramError
from grader.sandbox.remote_program import RemoteProgram

T = TypeVar("T")
Key = tuple[Hashable, ...]
MemorySlot = tuple[dict[Key, Any], Key]  # a memory, and where in it something is

MAX_BATCHED_ENTRIES = (
    4096  # entries of a case: what is larger takes long enough to be asked for by itself
)
MAX_BATCH_INPUTS = 32  # inputs of one request
MAX_BATCH_RUNS = 64  # runs of several programs in one request
FIRST_SECRET = 2  # draws below are the same for everybody who has the seed


class BankProgramError(Exception):
    """The reference or the spec fails: no fault of the submission's."""


@contextlib.contextmanager
def blame_bank(what: str) -> Iterator[None]:
    """Whatever goes wrong inside is the bank's fault: the reference's code runs there."""
    try:
        yield
    except (ProgramError, WorkerError) as error:
        more = "; limits in the spec says how long a call may take"
        more *= isinstance(error, CallTimeout)
        if isinstance(error, ProgramError) and error.raised:
            more = f": {error.raised.message[:200]}" + f", in {error.where}" * bool(error.where)
            if error.is_from_support_code:
                what = re.sub("^the reference ", "the driver, or a helper, ", what)
        raise BankProgramError(f"{what}: {error}{more}") from None


def new_secret_draw() -> int:
    """The number of a draw that no program can foresee."""
    return FIRST_SECRET + secrets.randbits(64)


class BankProtocol(Protocol):
    """What evaluations share: the bank's own programs, and what they compute."""

    remembered_outcomes: dict[Key, Any]  # the seed comes first in a key
    secret_draw: int  # a draw that no program can foresee, for all grades that measure no speed

    def variant_program(self, name: str, index: int) -> RemoteProgram:
        """The program of a misconception."""

    def layered_program(self, variants: Sequence[tuple[str, int]]) -> RemoteProgram:
        """A program of several variants, each executed on top of those before it."""

    def accepted_solution_program(self, name: str) -> RemoteProgram:
        """The program of an accepted solution."""

    def reload_program(self, name: str) -> None:
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
        bank: BankProtocol | None = None,
    ) -> None:
        """Set the programs up, and what is shared with other evaluations; nothing runs yet."""
        self.question = question
        self.submission = submission
        self.reference = reference
        self.runs_reference_first = True  # the submission is not asked what breaks the reference
        self.measures_stretch = True  # what is only reported is measured too
        self.cases: dict[str, CaseRecipe] = expand_draws(read_cases(question.spec.cases)[0])
        # How many parts of the question are asked: nothing is said of the checks of others.
        self.parts_asked = len(question.spec.parts)
        self.bank = bank
        self._wanted: dict[int, dict[str, tuple[str, ...]]] = {}  # by number of parts asked
        self._shared: dict[Key, Any] = {} if bank is None else bank.remembered_outcomes
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self.seed = seed
        # Draws that no program can foresee, not even one that has found out the seed.
        self.secret_draw, self.keeps_secret_draw = new_secret_draw(), False
        self.calls_made: list[tuple[str, CaseRecipe]] = []  # what the submission was run on so far
        # Of the submission: asked again, it may do something else.
        self._own: dict[Key, Any] = {}
        self._passing: tuple[int, dict[Key, Any]] = 0, {}  # of the secret draw that is looked at

    def with_submission(self, program: RemoteProgram, seed: int | None = None) -> Evaluation:
        """The same for a program that was not evaluated before, perhaps with another seed."""
        other = copy.copy(self)
        other.submission = program
        other._begin(self.seed if seed is None else seed)
        return other

    def with_bank_program(self, program: RemoteProgram) -> Evaluation:
        """The same evaluation with a program of the bank in the submission's place."""
        other = self.with_submission(program)
        other._own = self._shared
        other.runs_reference_first = False
        return other

    # -- what is remembered -----------------------------------------------------------------

    def remember(
        self,
        key: Key,
        make: Callable[[], T],
        program: RemoteProgram | None = None,
        *,
        draw_index: int = 0,
    ) -> T:
        """Something about a program, or about the cases alone, found out once on this seed.

        A program of the bank whose process has ended is asked once more in a new one: the process
        may have ended for another reason than this program.
        """
        memory, whole = self._slot(program, key, draw_index)
        if whole not in memory:
            lasting = program if program and self.bank and self._is_of_bank(program) else None
            with contextlib.suppress(*[WorkerError] if lasting else []):
                memory[whole] = make()
            if lasting and (whole not in memory or lasting.worker.failure is not None):
                self._revive(lasting)
                memory[whole] = make()
        found: T = memory[whole]
        return found

    def _slot(self, program: RemoteProgram | None, key: Key, draw_index: int) -> MemorySlot:
        """Where it is remembered; what follows from a secret draw, until another one is made."""
        whole = (self.seed, "" if program is None else program.name, *key, draw_index)
        if draw_index >= FIRST_SECRET and not self.keeps_secret_draw:
            if self._passing[0] != draw_index:
                self._passing = draw_index, {}
            return self._passing[1], whole
        shared = program is None or self._is_of_bank(program)
        return (self._shared if shared else self._own), whole

    def _outcome_key(self, run: str, case: CaseRecipe, mode: str) -> Key:
        """The key of an outcome."""
        return "outcome", run, case.name, mode, self.wanted_results[run]

    def _is_of_bank(self, program: RemoteProgram) -> bool:
        return program is not self.submission or self._own is self._shared

    def _revive(self, program: RemoteProgram) -> None:
        if self.bank is not None:
            self.bank.reload_program(program.name)

    # -- cases and their inputs -------------------------------------------------------------

    @property
    def checks(self) -> list[Check]:
        """The checks of the parts that are asked."""
        spec = self.question.spec
        return spec.checks[: sum(len(part.checks) for part in spec.parts[: self.parts_asked])]

    def steps(self, run: str) -> tuple[Step, ...]:
        return self.question.runs[run]

    def cases_of(self, check: Check) -> list[CaseRecipe]:
        """The cases of a check, smallest first, so that what is shown first is easiest to read."""
        names = cases_of_check(check, self.steps(check.run), self.cases)
        return sorted((self.cases[n] for n in names), key=self.display_order)

    def display_order(self, case: CaseRecipe) -> tuple[int, int]:
        """How much there is to read: entries drawn, then the order of the file.

        A case that holds nothing but written numbers and words comes first.
        """
        size = entry_count(case)
        has_arrays = any(recipe.is_array for recipe in case.inputs.values())
        # A case that differs from another only in dtype or layout comes after it.
        plain = case.dtype == "float64" and case.layout == "contiguous"
        plain = plain and (size > 0 or not has_arrays)
        return (size if plain else size + 10_000), list(self.cases).index(case.name)

    def can_be_batched(self, case: CaseRecipe) -> bool:
        """Whether a case is small, and takes no longer than usual: it may be asked with others."""
        return entry_count(case) <= MAX_BATCHED_ENTRIES and self.limits_of(case) is None

    def drawn_inputs(self, case: CaseRecipe, draw_index: int = 0) -> dict[str, Any]:
        """The inputs of a case as numbers and arrays.

        An input may be shaped like a result: then the reference is run on those before it.
        """

        def shape_of(name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
            return self._reference_shape(case, name, drawn, draw_index)

        def make() -> dict[str, Any]:
            try:
                return draw_inputs(case, self.seed, shape_of, draw_index)
            except (DrawError, ValueError) as error:
                raise BankProgramError(f"case {case.name} cannot be drawn: {error}") from None

        return self.remember(("drawn", case.name), make, draw_index=draw_index)

    def case_with_inputs(self, case: CaseRecipe, name: str, given: Mapping[str, Any]) -> CaseRecipe:
        """A case with some other inputs; what is shaped like a result keeps its shape."""
        new = dataclasses.replace(case, name=f"{case.name}|{name}")
        self.remember(("drawn", new.name), lambda: {**self.drawn_inputs(case), **given})
        return new

    def inputs(
        self,
        case: CaseRecipe,
        run: str,
        *,
        draw_index: int = 0,
        mode: str = NATIVE,
    ) -> Inputs:
        """The inputs of a run, as a program takes them; see `values.encoded` for the modes."""
        drawn = self.drawn_inputs(case, draw_index)

        def given(name: str) -> EncodedInput:
            return self.remember(
                ("input", case.name, name, mode),
                lambda: EncodedInput(encode_input(self.question, case, name, drawn[name], mode)),
                draw_index=draw_index,
            )

        return {name: given(name) for name in run_inputs(self.steps(run))}

    def _reference_shape(
        self, case: CaseRecipe, name: str, drawn: Mapping[str, Any], draw_index: int
    ) -> tuple[int, ...]:
        """The shape of a result of the reference on inputs drawn so far."""
        known, key = self._slot(None, ("shape", case.name, name), draw_index)
        if draw_index == 0 and case.name in self.cases:
            self.remember(
                ("shapes", len(self.cases)), lambda: self.find_shapes(self.cases.values())
            )
        if draw_index == 0 and key in known:
            return tuple(known[key])
        steps, inputs = self._steps_and_inputs_for(case, name, drawn)
        if not steps:
            raise DrawError(f"no run gives {name} from the inputs that come before it")
        with blame_bank(f"the reference fails on case {case.name}"):
            value = self.reference.run(steps, inputs, [name]).values[name]
        return tuple(to_array(value).shape)

    def find_shapes(self, cases: Iterable[CaseRecipe]) -> None:
        """Ask the reference at once for the shapes of results that draws of small cases need."""
        asked: dict[tuple[tuple[Step, ...], str], list[tuple[Key, Inputs]]] = {}
        for case in [] if self.reference.is_asked_alone else filter(self.can_be_batched, cases):

            def need(name: str, drawn: Mapping[str, Any], of: CaseRecipe = case) -> tuple[int, ...]:
                steps, inputs = self._steps_and_inputs_for(of, name, drawn)
                known, key = self._slot(None, ("shape", of.name, name), 0)
                if steps and key not in known:
                    asked.setdefault((steps, name), []).append((key, inputs))
                raise DrawError("as far as this")

            with contextlib.suppress(DrawError, ValueError):  # said where the case is drawn
                draw_inputs(case, self.seed, need)
        for (steps, name), given in asked.items():
            found = self._at_once([self.reference], steps, [one for _, one in given], [name])
            for (key, _), one in zip(given, found, strict=False):
                if isinstance(one, Outcome) and name in one.values:
                    self._shared[key] = tuple(to_array(one.values[name]).shape)

    def _steps_and_inputs_for(
        self, case: CaseRecipe, name: str, drawn: Mapping[str, Any]
    ) -> tuple[tuple[Step, ...], Inputs]:
        """The steps to a result that inputs drawn so far are enough for, if any, and these."""
        for steps in self.question.runs.values():
            needed = steps_producing(steps, name) if name in assigned_names(steps) else ()
            if needed and set(names := run_inputs(needed)) <= drawn.keys():
                return needed, {n: encode_input(self.question, case, n, drawn[n]) for n in names}
        return (), {}

    def limits_of(self, case: CaseRecipe) -> RequestLimits | None:
        """What a case and its question say of how long a call may take; None where they do not."""
        usual, own = self.question.spec.limits, case.limits
        cpu = usual.cpu_seconds if own.cpu_seconds is None else own.cpu_seconds
        wall = usual.wall_seconds if own.wall_seconds is None else own.wall_seconds
        if cpu is None and wall is None:
            return None
        of_case = own.cpu_seconds is not None or own.wall_seconds is not None
        where = f"limits of case {case.name}" if of_case else "limits of the question"
        return RequestLimits(CALL_SECONDS if cpu is None else cpu, wall, where)

    @contextlib.contextmanager
    def limits_applied(self, case: CaseRecipe) -> Iterator[None]:
        """Give the programs as long as the question allows for calls on a case."""
        mine, theirs = self.submission, self.reference
        before = mine.limits, theirs.limits
        mine.limits = theirs.limits = self.limits_of(case)
        try:
            yield
        finally:
            mine.limits, theirs.limits = before

    # -- results ----------------------------------------------------------------------------

    @property
    def wanted_results(self) -> Mapping[str, tuple[str, ...]]:
        """By run, the results that some check looks at."""
        if self.parts_asked not in self._wanted:
            wanted: dict[str, dict[str, None]] = {run: {} for run in self.question.runs}
            for check in self.checks:
                made = assigned_names(self.steps(check.run))  # a name may be an input's as well
                wanted[check.run].update(
                    dict.fromkeys(n for n in check.required_results if n in made)
                )
            # Where it is measured only, results still have to be right in type and number.
            self._wanted[self.parts_asked] = {
                run: tuple(names) or tuple(dict.fromkeys(self.steps(run)[-1].targets))
                for run, names in wanted.items()
            }
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
        """What a program computes, remembered.

        Raises:
            ProgramError, WorkerError: every time again, once it has.
        """

        def make() -> Outcome | Exception:
            inputs = self.inputs(case, run, draw_index=draw_index, mode=mode)
            if program is self.submission and mode == NATIVE and draw_index == 0:
                self.calls_made.append((run, case))
            try:
                with self.limits_applied(case):
                    return program.run(self.steps(run), inputs, self.wanted_results[run])
            except (ProgramError, WorkerError) as error:
                return error

        found = self.remember(
            self._outcome_key(run, case, mode), make, program, draw_index=draw_index
        )
        if isinstance(found, Exception):
            raise found
        return found

    def plant_outcome(self, run: str, case: CaseRecipe, outcome: Outcome) -> None:
        """Put results in the place of what the submission would compute."""
        memory, key = self._slot(self.submission, self._outcome_key(run, case, NATIVE), 0)
        memory[key] = outcome

    def submission_outcome(self, run: str, case: CaseRecipe) -> Outcome:
        """What the submission computes; on the small cases of all checks at once."""
        if self._own is not self._shared and not self._knows(self.submission, run, case):
            self._of_all_checks(self.submission, run, case)
        return self.outcome(self.submission, run, case)

    def reference_outcome(
        self, run: str, case: CaseRecipe, *, draw_index: int = 0, mode: str = NATIVE
    ) -> Outcome:
        """What the reference computes; on the small cases of all checks at once.

        Raises:
            BankFault: it does not.
        """
        if not self._knows(self.reference, run, case, mode, draw_index):
            if mode in NUDGES:
                self.prefetch([self.reference], run, [case], modes=NUDGES, draw_index=draw_index)
            elif draw_index == 0:
                self._of_all_checks(self.reference, run, case, mode)
        with blame_bank(f"the reference fails on case {case.name}"):
            return self.outcome(self.reference, run, case, draw_index=draw_index, mode=mode)

    def _knows(
        self,
        program: RemoteProgram,
        run: str,
        case: CaseRecipe,
        mode: str = NATIVE,
        draw_index: int = 0,
    ) -> bool:
        memory, key = self._slot(program, self._outcome_key(run, case, mode), draw_index)
        return key in memory

    def _of_all_checks(
        self, program: RemoteProgram, run: str, case: CaseRecipe, mode: str = NATIVE
    ) -> None:
        """Ask for a case with those of all checks; what is in float64 anyway is not changed to."""
        checks = [check for check in self.checks if check.run == run]
        every = {n for check in checks for n in cases_of_check(check, self.steps(run), self.cases)}
        if case.name in every:
            cases = sorted(
                (self.cases[n] for n in every if n in self.cases), key=self.display_order
            )
            wanted = [one for one in cases if mode == NATIVE or one.dtype != "float64"]
            self.prefetch([program], run, wanted, modes=(mode,))

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
        """Have programs of one worker run the small ones of some cases, in few requests.

        `outcome` then knows the results in `want`, or those that some check looks at.  Left out are
        cases that cannot be drawn, which is said where they are needed, and programs that do not
        survive it, which are asked for one thing at a time from then on.
        """

        def is_drawn(case: CaseRecipe) -> bool:
            with contextlib.suppress(BankProgramError):
                return bool(self.drawn_inputs(case, draw_index))
            return False

        small = [case for case in cases if self.can_be_batched(case) and is_drawn(case)]
        every, names = (
            [(c, mode) for c in small for mode in modes],
            want or self.wanted_results[run],
        )
        left, most = [program for program in programs if not program.is_asked_alone], MAX_BATCH_RUNS
        while left:
            new = [at for at in every if not self._knows(left[0], run, *at, draw_index)][
                :MAX_BATCH_INPUTS
            ]
            if not new:
                del left[0]
                continue
            some = left[: max(1, most // len(new))]
            inputs = [self.inputs(c, run, mode=mode, draw_index=draw_index) for c, mode in new]
            found = self._at_once(some, self.steps(run), inputs, names)
            if not found:
                left, most = left[len(some) == 1 :], 1  # which of them it was shows then
            pairs = itertools.product(some, new)
            for (program, (case, mode)), outcome in zip(pairs, found, strict=False):
                memory, key = self._slot(program, self._outcome_key(run, case, mode), draw_index)
                memory[key] = outcome
                if program is self.submission and mode == NATIVE and draw_index == 0:
                    self.calls_made.append((run, case))

    def _at_once(
        self,
        programs: Sequence[RemoteProgram],
        steps: Sequence[Step],
        inputs: Sequence[Inputs],
        want: Sequence[str],
    ) -> list[Outcome | ProgramError]:
        """What programs of one worker compute on inputs, the last of which may be missing.

        Nothing where their process does not survive it: they are in a new one then.
        """
        one, *others = programs
        of_bank, usual, one.limits = self._is_of_bank(one), one.limits, None
        try:
            seconds = None if of_bank else PREFETCH_SECONDS[self.question.spec.needs_torch]
            return one.run_several(steps, inputs, want, others, seconds=seconds)
        except ProgramError:
            pass  # something cannot be sent, say
        except WorkerError:
            if of_bank:
                self._revive(one)
            else:
                self.calls_made.clear()
                one.reload_in_new_process()
        finally:
            one.limits = usual
        one.is_asked_alone = not others
        return []

    def ask_program(
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
        with self.limits_applied(case):
            try:
                return ask(program)
            except (ProgramError, WorkerError):
                if self.runs_reference_first and program is self.submission:
                    with blame_bank(f"the reference fails on case {case.name}"):
                        ask(self.reference)
                raise


def entry_count(case: CaseRecipe) -> int:
    """How many entries its arrays have, as far as that is known before they are drawn."""
    found = 0
    for recipe in case.inputs.values():
        if recipe.generator == "array":
            found += np.size(recipe.literal)
        elif recipe.shape is not None:
            found += int(np.prod(recipe.shape))
    return found
