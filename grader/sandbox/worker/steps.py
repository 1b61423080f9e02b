"""Run the steps of a question on one program: assignments of calls, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import layouts, values
from .faults import StepFault
from .namespace import LoadedModule
from .wire import type_name

Step = dict[str, Any]
Names = dict[str, Any]


def build(inputs: dict[str, dict[str, Any]]) -> Names:
    """Make fresh inputs that nobody else holds."""
    return {name: layouts.build(spec) for name, spec in inputs.items()}


def perform(program: LoadedModule, step: Step, names: Names) -> dict[str, Any]:
    """Carry out one step and return what it assigned; `names` is updated."""
    args = [names[v] if kind == "name" else v for kind, v, key in step["arguments"] if key is None]
    kwargs = {
        key: names[v] if kind == "name" else v
        for kind, v, key in step["arguments"]
        if key is not None
    }
    if step["owner"] == "torch":
        from . import autograd

        autograd.refuse_undifferentiable(step["arguments"][0][1], *args)
        result = autograd.BUILT_IN[step["function"]](*args, **kwargs)
    else:
        result = program.function(step["owner"], step["function"])(*args, **kwargs)
    assigned = _assign(step, result)
    names.update(assigned)
    return assigned


def _assign(step: Step, result: object) -> dict[str, Any]:
    targets: Sequence[str] = step["targets"]
    if not step["unpack"]:
        return {targets[0]: result}
    wanted = f"{len(targets)} results ({', '.join(targets)})"
    if not isinstance(result, (tuple, list)):
        found = "None" if result is None else f"one {type_name(result)}"
        raise StepFault(f"{step['function']} returned {found}, expected {wanted}")
    if len(result) != len(targets):
        raise StepFault(
            f"{step['function']} returned a {type(result).__name__} of {len(result)}, "
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
) -> dict[str, Any] | None:
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


class Watch:
    """Sees, after every step, which inputs changed, and which earlier results."""

    def __init__(self, inputs: Names) -> None:
        """Take the inputs' fingerprints before anything runs."""
        self.inputs = inputs
        self.before = {name: values.fingerprint(value) for name, value in inputs.items()}
        self.changed: list[tuple[int, str]] = []

    def look(self, index: int) -> None:
        """Compare the inputs with what they were."""
        for name, before in self.before.items():
            already = any(name == seen for _, seen in self.changed)
            if not already and values.fingerprint(self.inputs[name]) != before:
                self.changed.append((index, name))


def run(
    program: LoadedModule,
    steps: Sequence[Step],
    inputs: dict[str, dict[str, Any]],
    want: Iterable[str],
) -> dict[str, Any]:
    """Run all steps and return the wanted results as they were when they were made.

    Returns:
        `values` by name; `changed`: (step, input) pairs; `stale`: (result, step) pairs of results
        that a later step changed; `shared`: (result, input) pairs that share memory.
    """
    lent = build(inputs)
    watch = Watch(lent)
    runs = [Progress(program, steps, lent, set(want), watch)]
    while runs[0].advance():
        pass
    return runs[0].reply()


def interleave(
    program: LoadedModule,
    steps: Sequence[Step],
    inputs: Sequence[dict[str, dict[str, Any]]],
    want: Iterable[str],
) -> dict[str, Any]:
    """Run the same steps on several sets of inputs in lockstep, as two callers in turn would.

    Returns:
        `runs`: one reply of `run` each; `common`: names of results that two of the runs share in
        memory.
    """
    progress = []
    for given in inputs:
        lent = build(given)
        progress.append(Progress(program, steps, lent, set(want), Watch(lent)))
    while any([p.advance() for p in progress]):
        pass
    common = sorted(
        {
            name
            for name in set(want)
            for i, a in enumerate(progress)
            for b in progress[i + 1 :]
            if values.share_memory(a.results.get(name), b.results.get(name))
        }
    )
    return {"runs": [p.reply() for p in progress], "common": common}


class Progress:
    """One run of the steps, advanced one step at a time."""

    def __init__(
        self,
        program: LoadedModule,
        steps: Sequence[Step],
        lent: Names,
        want: set[str],
        watch: Watch,
    ) -> None:
        """Start before the first step."""
        self.program = program
        self.steps = steps
        self.names = dict(lent)
        self.want = want
        self.watch = watch
        self.at = 0
        self.results: Names = {}
        self.first_seen: Names = {}
        self.stale: list[tuple[str, int]] = []
        self.shared: list[tuple[str, str]] = []

    def advance(self) -> bool:
        """Carry out the next step; False when there is none."""
        if self.at >= len(self.steps):
            return False
        try:
            assigned = perform(self.program, self.steps[self.at], self.names)
            self.watch.look(self.at)
            self._look_back()
            self._keep(assigned)  # looking at a result may run code of its class
        except BaseException as error:  # noqa: BLE001 whatever it is, it is the program's
            raise Stopped(self.at, error) from None
        self.at += 1
        return True

    def _keep(self, assigned: Names) -> None:
        for name, value in assigned.items():
            if name in self.want:
                self.results[name] = value
                self.first_seen[name] = values.snapshot(value)
                for lent, given in self.watch.inputs.items():
                    if values.share_memory(value, given):
                        self.shared.append((name, lent))

    def _look_back(self) -> None:
        for name, value in self.results.items():
            already = any(name == seen for seen, _ in self.stale)
            if not already and not values.same(values.snapshot(value), self.first_seen[name]):
                self.stale.append((name, self.at))

    def reply(self) -> dict[str, Any]:
        """What the judge is told."""
        self._look_back()
        return {
            "values": self.first_seen,
            "changed": self.watch.changed,
            "stale": self.stale,
            "shared": self.shared,
        }
