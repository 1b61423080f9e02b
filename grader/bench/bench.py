"""Two programs on one bench: the submission and the reference, and what each computes on each case.

A check asks the bench for results and compares them; the bench draws inputs once, calls each
program once for every run and case, and remembers.  Checks never see a process.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from grader.bank.consistency import case_names, free_names, results
from grader.cases.draw import Array, DrawError, draw
from grader.cases.recipe import CaseRecipe, read_cases
from grader.model import spec as model
from grader.sandbox.client import WorkerError
from grader.sandbox.remote import Inputs, RemoteProgram
from grader.sandbox.replies import Outcome, ProgramError
from grader.sandbox.worker.wire import Tensor

if TYPE_CHECKING:
    from grader.model.question import Question, Step

T = TypeVar("T")

NATIVE, PRECISE = "native", "precise"  # the case's own dtypes, or float64 throughout
NUDGES = ("nudge-1", "nudge-2")  # every value moved by one unit in its last place, then float64


class BankFault(Exception):
    """The reference or the spec fails: no fault of the submission's."""


@contextlib.contextmanager
def trusting(what: str) -> Iterator[None]:
    """Whatever goes wrong inside is the bank's fault: the reference's code runs there."""
    try:
        yield
    except (ProgramError, WorkerError) as error:
        raise BankFault(f"{what}: {error}{_line(error)}") from None


def _line(error: Exception) -> str:
    """Where in the bank's code it happened, if it is known."""
    raised = error.raised if isinstance(error, ProgramError) else None
    return f", at line {raised.frames[-1].line}" if raised and raised.frames else ""


@dataclass(slots=True)
class _Memory:
    """What one program did, by run, case, turn and mode."""

    outcomes: dict[tuple[str, str, int, str], Outcome | Exception] = field(default_factory=dict)


class Bench:
    """The programs, the cases, and every result so far."""

    def __init__(
        self, question: Question, seed: int, submission: RemoteProgram, reference: RemoteProgram
    ) -> None:
        """Set the programs up; nothing runs yet."""
        self.question = question
        self.seed = seed
        # Draws that no program can foresee, not even one that has found out the seed.
        self.secret = 2 + secrets.randbits(64)
        self.submission = submission
        self.reference = reference
        self.cases: dict[str, CaseRecipe] = read_cases(question.spec.cases)[0]
        self._drawn: dict[tuple[str, int], dict[str, Any]] = {}
        self._memories: dict[str, _Memory] = {}
        self.variants: dict[
            str, RemoteProgram
        ] = {}  # misconceptions loaded so far, by program name
        self._facts: dict[Any, Any] = {}  # what was measured of the reference
        # Whether memory that is counted inside a worker is held against the system's account too.
        self.asks_system = True
        # What diagnosis has seen, by program, component and case.
        self.observations: dict[Any, Any] = {}

    def with_submission(self, program: RemoteProgram) -> Bench:
        """The same bench with another program in the submission's place, sharing what is known."""
        other = Bench.__new__(Bench)
        other.__dict__.update(self.__dict__)
        other.submission = program
        return other

    # -- cases ------------------------------------------------------------------------------

    def steps(self, run: str) -> tuple[Step, ...]:
        """The steps of a run."""
        return self.question.runs[run]

    def cases_of(self, check: model.Check) -> list[CaseRecipe]:
        """The cases of a check, smallest first, so that what is shown first is easiest to read."""
        names = case_names(check, self.steps(check.run), self.cases)
        return sorted((self.cases[n] for n in names), key=self.weight)

    def weight(self, case: CaseRecipe) -> tuple[int, int]:
        """How much there is to read: entries drawn, then the order of the file."""
        entries = 0
        for recipe in case.inputs.values():
            if recipe.generator == "array":
                entries += int(np.size(np.asarray(recipe.literal)))
            elif recipe.shape is not None:
                entries += int(np.prod(recipe.shape))
        # A case that differs from another only in dtype or layout comes after it.
        plain = case.dtype == "float64" and case.layout == "contiguous" and entries > 0
        return (entries if plain else entries + 10_000), list(self.cases).index(case.name)

    def drawn(self, case: CaseRecipe, turn: int = 0) -> dict[str, Any]:
        """The inputs of a case as numbers and arrays."""
        key = (case.name, turn)
        if key not in self._drawn:
            try:
                self._drawn[key] = draw(case, self.seed, lambda n, d: self._shape(case, n, d), turn)
            except (DrawError, ValueError) as error:
                raise BankFault(f"case {case.name} cannot be drawn: {error}") from None
        return self._drawn[key]

    def _shape(self, case: CaseRecipe, name: str, drawn: Mapping[str, Any]) -> tuple[int, ...]:
        """The shape of a result of the reference on inputs drawn so far."""
        for steps in self.question.runs.values():
            if name not in results(steps):
                continue
            needed = producing(steps, name)
            if not set(free_names(needed)) <= drawn.keys():
                continue
            inputs = {n: self._spec(case, n, drawn[n], NATIVE, None) for n in free_names(needed)}
            with trusting(f"the reference fails on case {case.name}"):
                value = self.reference.run(needed, inputs, [name]).values[name]
            return tuple(array_of(value).shape)
        raise DrawError(f"no run gives {name} from the inputs that come before it")

    def inputs(
        self,
        case: CaseRecipe,
        run: str,
        *,
        turn: int = 0,
        mode: str = NATIVE,
        layout: str | None = None,
    ) -> Inputs:
        """The inputs of a run, as a program takes them."""
        drawn = self.drawn(case, turn)
        return {n: self._spec(case, n, drawn[n], mode, layout) for n in free_names(self.steps(run))}

    def _spec(
        self,
        case: CaseRecipe,
        name: str,
        value: Any,  # noqa: ANN401 any input
        mode: str,
        layout: str | None,
    ) -> dict[str, Any]:
        if not isinstance(value, np.ndarray):
            return {"value": value}
        recipe = case.inputs[name]
        dtype = recipe.dtype or case.dtype
        floating = dtype in {"float32", "float64", "bfloat16"}
        if mode != NATIVE and floating:
            value = _nudged(value, dtype, NUDGES.index(mode)) if mode in NUDGES else value
            value, dtype = value.astype(np.float64), "float64"
        spec: dict[str, Any] = {
            "value": Tensor(value, dtype) if dtype == "bfloat16" else value,
            "layout": layout or recipe.layout or case.layout,
        }
        if self.question.spec.needs_torch:
            frozen = name in case.frozen or name.startswith("grad_")
            spec |= {"tensor": True, "grad": floating and not frozen}
        return spec

    # -- results ----------------------------------------------------------------------------

    @cached_property
    def wanted(self) -> dict[str, tuple[str, ...]]:
        """By run, the results that some check looks at."""
        wanted: dict[str, dict[str, None]] = {run: {} for run in self.question.runs}
        for check in self.question.spec.checks:
            here = wanted[check.run]
            match check:
                case model.OutputsCheck() | model.ContractCheck():
                    here.update(dict.fromkeys(check.results))
                case model.NumbersCheck() | model.CurveCheck():
                    here[check.of] = None
                case model.GradcheckCheck():
                    here.update(dict.fromkeys([check.loss, *check.gradients.values()]))
                    here.update(dict.fromkeys(law.sum for law in check.conserves))
                case model.StateCheck() | model.GraphCheck():
                    pass  # measured in the worker
                case _:
                    here.update(dict.fromkeys(check.results))
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
        turn: int = 0,
        mode: str = NATIVE,
    ) -> Outcome:
        """What a program computes, remembered.

        Raises:
            ProgramError, WorkerError: every time again, once it has.
        """
        memory = self._memories.setdefault(program.name, _Memory())
        key = (run, case.name, turn, mode)
        if key not in memory.outcomes:
            inputs = self.inputs(case, run, turn=turn, mode=mode)
            try:
                memory.outcomes[key] = program.run(self.steps(run), inputs, self.wanted[run])
            except (ProgramError, WorkerError) as error:
                memory.outcomes[key] = error
        found = memory.outcomes[key]
        if isinstance(found, Exception):
            raise found
        return found

    def observed(self, run: str, case: CaseRecipe, *, turn: int = 0) -> Outcome:
        """What the submission computes."""
        return self.outcome(self.submission, run, case, turn=turn)

    def truth(self, run: str, case: CaseRecipe, *, turn: int = 0, mode: str = NATIVE) -> Outcome:
        """What the reference computes.

        Raises:
            BankFault: it does not.
        """
        with trusting(f"the reference fails on case {case.name}"):
            return self.outcome(self.reference, run, case, turn=turn, mode=mode)

    def fact(self, key: tuple[str, ...], measure: Callable[[], T]) -> T:
        """Something about the reference and the cases alone, measured once."""
        if key not in self._facts:
            self._facts[key] = measure()
        found: T = self._facts[key]
        return found

    def known(self, run: str, case: CaseRecipe) -> dict[str, Any]:
        """Inputs and the reference's results by name, for amounts."""
        sizes = {n: as_sized(v) for n, v in self.truth(run, case).values.items()}
        drawn = {
            n: _Sized(v, self.cases[case.name].inputs[n].dtype or case.dtype)
            if isinstance(v, np.ndarray)
            else v
            for n, v in self.drawn(case).items()
        }
        return sizes | drawn

    def afresh(self) -> RemoteProgram:
        """The submission executed once more, in a namespace that has not seen any call.

        Raises:
            ProgramError, WorkerError: as loading it did not the first time.
        """
        mine = self.submission
        again = RemoteProgram(
            mine.worker,
            f"{mine.name}, afresh",
            mine.sources,
            mine.driver,
            mine.filename,
            forbids=mine.forbids,
        )
        again.load(())
        return again

    def forget(self, program: RemoteProgram) -> None:
        """Drop what is remembered of a program that is not coming back."""
        self._memories.pop(program.name, None)


class _Sized:
    """The sizes of an array, in the dtype it has in the question (bfloat16 is held wider)."""

    def __init__(self, array: Array, dtype: str) -> None:
        self.size = int(array.size)
        self.shape = array.shape
        self.itemsize = 2 if dtype == "bfloat16" else int(array.dtype.itemsize)
        self.nbytes = self.size * self.itemsize


def as_sized(value: Any) -> Any:  # noqa: ANN401 any result
    """A result in a form that amounts can take sizes of."""
    return _Sized(value.values, value.dtype) if isinstance(value, Tensor) else value


def array_of(value: Any) -> Array:  # noqa: ANN401 any result
    """The array in a result, or the scalar as a 0-d array."""
    return value.values if isinstance(value, Tensor) else np.asarray(value)


def producing(steps: Sequence[Step], name: str) -> tuple[Step, ...]:
    """The steps that a result needs, in order, and no others."""
    needed, kept = {name}, []
    for step in reversed(steps):
        if needed & set(step.targets):
            kept.append(step)
            needed |= set(step.reads)
    return tuple(reversed(kept))


def _nudged(value: Array, dtype: str, which: int) -> Array:
    """Move every value by one unit in the last place of its dtype, equal values alike.

    Equal values stay equal and neighbours keep their order, so that a tie or an order that the
    question is about is not disturbed: what is measured is rounding alone.
    """
    unique, inverse = np.unique(value, return_inverse=True)
    size = np.abs(unique)
    unit = size * 2.0**-8 if dtype == "bfloat16" else np.spacing(size)
    # Values that could meet or cross if one went up and the other down move the same way.
    apart = ~(np.diff(unique) <= 2 * np.maximum(unit[1:], unit[:-1]))
    group = np.concatenate([[0], np.cumsum(apart)])[: unique.size].astype(np.int64)
    signs = np.random.default_rng([which, unique.size]).choice([-1.0, 1.0], unique.size)[group]
    if dtype == "bfloat16":
        moved = unique * (1 + signs * 2.0**-8)
    else:
        moved = np.nextafter(unique, np.copysign(np.inf, signs).astype(unique.dtype))
    stays = ~np.isfinite(unique) | ~np.isfinite(moved) | (unique == 0)
    moved = np.where(stays, unique, moved)
    return np.asarray(moved[inverse].reshape(value.shape), value.dtype)
