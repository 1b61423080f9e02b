"""Run the steps of a question on one program: assignments of calls, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import layouts, values
from .faults import StepFault
from .messages import Inputs, Outcome, Outcomes, Step
from .namespace import LoadedModule
from .wire import type_name

Names = dict[str, Any]


def build(inputs: Inputs) -> Names:
    """Make fresh inputs that nobody else holds."""
    return {name: layouts.build(given) for name, given in inputs.items()}


def perform(program: LoadedModule, step: Step, names: Names) -> Names:
    """Carry out one step and return what it assigned; `names` is updated."""
    given = [(a.keyword, a.literal if a.name is None else names[a.name]) for a in step.arguments]
    args = [value for keyword, value in given if keyword is None]
    kwargs = {keyword: value for keyword, value in given if keyword is not None}
    if step.owner == "torch":
        from . import autograd

        autograd.refuse_undifferentiable(step.arguments[0].name or "", *args)
        result = autograd.BUILT_IN[step.function](*args, **kwargs)
    else:
        result = program.function(step.owner, step.function)(*args, **kwargs)
    assigned = _assign(step, result)
    names.update(assigned)
    return assigned


def _assign(step: Step, result: object) -> Names:
    targets = step.targets
    if not step.unpack:
        return {targets[0]: result}
    wanted = f"{len(targets)} results ({', '.join(targets)})"
    if not isinstance(result, (tuple, list)):
        found = "None" if result is None else f"one {type_name(result)}"
        raise StepFault(f"{step.function} returned {found}, expected {wanted}")
    if len(result) != len(targets):
        raise StepFault(
            f"{step.function} returned a {type(result).__name__} of {len(result)}, "
            f"expected {wanted}"
        )
    return dict(zip(targets, result, strict=True))


def perform_all(program: LoadedModule, steps: Sequence[Step], names: Names) -> None:
    """Carry out steps one after another; `names` is updated.

    Raises:
        Stopped: by the first that fails.
    """
    for index, step in enumerate(steps):
        try:
            perform(program, step, names)
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise Stopped(index, error) from None


def finish(
    program: LoadedModule, rest: Sequence[Step], names: Names, want: Iterable[str]
) -> Names | None:
    """Carry a run on that was measured halfway; return its results, or None where it fails.

    A program that is not itself while it is measured does not come to the right ones.
    """
    wanted = set(want)
    try:
        results = {name: values.snapshot(names[name]) for name in wanted & names.keys()}
        for step in rest:
            made = perform(program, step, names)
            results |= {n: values.snapshot(v) for n, v in made.items() if n in wanted}
    except BaseException:  # noqa: BLE001 whatever it is, it is the program's
        return None
    return results


class Stopped(Exception):
    """A step raised, or returned what cannot be used."""

    def __init__(self, step: int, error: BaseException) -> None:
        """Remember which step, and what it raised."""
        super().__init__(step)
        self.step = step
        self.error = error


def run(
    program: LoadedModule, steps: Sequence[Step], inputs: Inputs, want: Iterable[str]
) -> Outcome:
    """Run all steps and return the wanted results as they were when they were made."""
    return interleave(program, steps, [inputs], want).runs[0]


def interleave(
    program: LoadedModule, steps: Sequence[Step], inputs: Sequence[Inputs], want: Iterable[str]
) -> Outcomes:
    """Run the same steps on several sets of inputs in lockstep, as two callers in turn would."""
    runs = [Progress(program, steps, given, want) for given in inputs]
    while any([run.advance() for run in runs]):
        pass
    common = {
        name
        for name in set(want)
        for i, a in enumerate(runs)
        for b in runs[i + 1 :]
        if values.share_memory(a.results.get(name), b.results.get(name))
    }
    return Outcomes(tuple(run.outcome() for run in runs), tuple(sorted(common)))


class Progress:
    """One run of the steps, which looks at inputs and earlier results after each."""

    def __init__(
        self, program: LoadedModule, steps: Sequence[Step], inputs: Inputs, want: Iterable[str]
    ) -> None:
        """Take the inputs' fingerprints before the first step."""
        self.program = program
        self.steps = steps
        self.lent = build(inputs)
        self.names = dict(self.lent)
        self.want = set(want)
        self.at = 0
        self.before = {name: values.fingerprint(value) for name, value in self.lent.items()}
        self.results: Names = {}
        self.first_seen: Names = {}
        self.changed: dict[str, int] = {}  # the first step that changed an input
        self.stale: dict[str, int] = {}  # the first step that changed an earlier result
        self.shared: list[tuple[str, str]] = []

    def advance(self) -> bool:
        """Carry out the next step; False when there is none."""
        if self.at >= len(self.steps):
            return False
        try:
            assigned = perform(self.program, self.steps[self.at], self.names)
            self._look_at_inputs()
            self._look_back()
            self._keep(assigned)  # looking at a result may run code of its class
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise Stopped(self.at, error) from None
        self.at += 1
        return True

    def _look_at_inputs(self) -> None:
        for name, before in self.before.items():
            if name not in self.changed and values.fingerprint(self.lent[name]) != before:
                self.changed[name] = self.at

    def _look_back(self) -> None:
        for name, value in self.results.items():
            seen = self.first_seen[name]
            if name not in self.stale and not values.same(values.snapshot(value), seen):
                self.stale[name] = self.at

    def _keep(self, assigned: Names) -> None:
        for name in [n for n in assigned if n in self.want]:
            value = self.results[name] = assigned[name]
            self.first_seen[name] = values.snapshot(value)
            for lent, given in self.lent.items():
                if values.share_memory(value, given):
                    self.shared.append((name, lent))

    def outcome(self) -> Outcome:
        """What it came to."""
        self._look_back()
        return Outcome(
            self.first_seen,
            tuple((step, name) for name, step in self.changed.items()),
            tuple(self.stale.items()),
            tuple(self.shared),
        )
