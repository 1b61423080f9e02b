"""Runs on machines of the driver's own, whose events it keeps, and what they cost per step."""

import inspect
import json
from collections import Counter
from decimal import Decimal
from numbers import Real

from machine import Machine, ends

STEPS = 26  # of which the first five and the last do not count
AHEAD = 4  # batches that are fetched and not used yet


def _length(stretches):
    total, until = 0, -1
    for start, end in sorted(stretches):
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def _overlap(one, other):
    return _length(one) + _length(other) - _length(one + other)


RECORDED = ("next_batch", "copy", "fwd", "criterion", "bwd", "all_reduce")
RECORDED += ("adam", "item", "synchronize", "record", "wait")


def _watched(layers, load, numbers):
    """Return a class of machines, and what the one that is made did, was given, and had waiting."""
    did, inputs, streams, waiting = [], [], [], []

    class Watched(Machine):
        def __init__(self, *args, **kwargs):
            for kept in (did, inputs, streams, waiting):  # the last machine that is made counts
                kept.clear()
            super().__init__(*args, **kwargs)

        def _event(self, lane, name, start, length):
            did.append((lane, name, start, start + length))
            return super()._event(lane, name, start, length)

        def next_batch(self):
            waiting.append(self.batches + 1 - len(inputs))
            return super().next_batch()

        def copy(self, batch, stream="gpu", wait=True):
            streams.append(stream)
            return super().copy(batch, stream, wait)

        def fwd(self, k, layer, copied):
            if layer == 0:
                inputs.append((k, copied))
            return super().fwd(k, layer, copied)

        @staticmethod
        def _number(k):
            return float(numbers[k])

    Watched.layers, Watched.load = int(layers), int(load)
    return Watched, did, inputs, streams, waiting


def _noted(made):
    """Return a class of machines that notes its calls, and the calls of the last one made.

    Each is a text: the name of the method, and its arguments by name; an event is the number of
    the call that gave it.
    """
    calls, events = [], []

    class Noted(made):
        def __init__(self, *args, **kwargs):
            calls.clear()
            events.clear()
            self.inside = False
            super().__init__(*args, **kwargs)
            calls.append(json.dumps(["made", {"workers": self.workers, "pinned": self.pinned}]))

    def noted(name):
        method = getattr(made, name)
        names = list(inspect.signature(method).parameters)

        def call(self, *args, **kwargs):
            if self.inside:
                return method(self, *args, **kwargs)
            given = dict(zip(names, (self, *args), strict=False)) | kwargs
            del given["self"]
            if "event" in given:
                given["event"] = next((n for n, e in events if e is given["event"]), given["event"])
            calls.append(json.dumps([name, given]))
            number, self.inside = len(calls) - 1, True
            try:
                found = method(self, *args, **kwargs)
            finally:
                self.inside = False
            if name == "record":
                events.append((number, found))
            return found

        return call

    for name in RECORDED:
        setattr(Noted, name, noted(name))
    return Noted, calls


def _repeated(calls, made):
    """Make the calls that were noted, on a machine of another class."""
    (_, how), *others = map(json.loads, calls)
    m, events = made(workers=how["workers"], pinned=how["pinned"]), {}
    for number, (name, given) in enumerate(others, 1):
        if name not in RECORDED:
            raise ValueError(f"expected a call of the machine's interface, found {name}")
        if "event" in given:
            given["event"] = events[given["event"]]
        found = getattr(m, name)(**given)
        if name == "record":
            events[number] = found
    return m


WHOLE = "each once, with its batch"


def _operations(did, inputs, waiting, layers):
    """Say what is missing or done twice, or which batch is wrong, first of all."""
    if not did:
        return "none on the machine that train was given"
    found = [name for lane, name, _, _ in did if lane in ("gpu", "copy", "comm")]
    wanted = []
    for k in range(STEPS):
        wanted += [f"copy {k}", *(f"forward {layer} {k}" for layer in range(layers)), f"loss {k}"]
        wanted += [f"{what} {n} {k}" for what in ("backward", "reduce") for n in range(layers)]
        wanted += [f"adam0 {k}"]
    count = Counter(found)
    missing = [name for name in wanted if not count[name]]
    twice = [name for name in count if count[name] > 1]
    known = {*wanted, *(f"copy {STEPS + more}" for more in range(AHEAD + 1))}
    strange = [name for name in count if name not in known and not name.startswith("adam")]
    wrong = (("missing", missing), ("there twice", twice), ("there", strange))
    for what, names in wrong:
        if names:  # a batch more may be fetched than is used
            more = f", and {len(names) - 1} more" if names[1:] else ""
            return f"{names[0].replace('adam0', 'adam')} is {what}{more}"
    for k, one in enumerate(inputs):
        if one != (k, f"copy {k}"):
            return f"step {one[0]} is number {k}, with {one[1]}"
    most = max(waiting)
    return WHOLE if most <= AHEAD else f"{most} batches are fetched and unused"


def _waits(did, first, last):
    """Return how often the cpu waits for kernels or all-reduces, with launches in between."""
    count, waited = 0, False
    for lane, name, start, _ in did:
        if lane != "cpu":
            continue
        if name.startswith("launch"):
            waited = False
        if name in ("wait for gpu", "wait for comm") and not waited:
            waited = True
            count += first <= start < last
    return count


def _most(found, most, unit):
    """Say what was found, or that it is no more than is allowed."""
    return f"at most {most} {unit}" if found <= most else f"{found:g} {unit}"


def trained(program, layers, load, numbers):
    """Return the calls of a run of 26 steps, and its log."""
    made, *_ = _watched(layers, load, numbers)
    noted, calls = _noted(made)
    _, log = program.train(STEPS, noted)
    return list(calls), [float(one) for one in log]


def measured(calls, layers, load, numbers):
    """Repeat a run, of which twenty steps count; what is allowed gives one text."""
    made, did, inputs, streams, waiting = _watched(layers, load, numbers)
    if not calls:
        return _operations(did, inputs, waiting, int(layers)), "none", *[""] * 7
    m = _repeated(calls, made)
    operations = _operations(did, inputs, waiting, int(layers))
    faults = m.faults[0] if m.faults else "none"
    if operations != WHOLE:  # what is not done costs nothing
        return operations, faults, *[""] * 7
    when = ends([dict(zip(("lane", "name", "start", "end"), one, strict=True)) for one in did])
    first, last, steps = when[4], when[-2], STEPS - 6

    def stretches(lanes, *names):
        return [
            (start, end) for lane, name, start, end in did
            if lane in lanes and name.startswith(names) and first <= start and end <= last
        ]  # fmt: skip

    def by_cpu(name):
        return len([1 for lane, done, _, _ in did if lane == "cpu" and done.startswith(name)])

    compute = stretches(["gpu"], "forward", "backward", "loss", "adam")
    exchanged = stretches(["gpu", "comm", "copy"], "reduce")
    kernels, idle = stretches(["gpu"], ""), stretches(["cpu"], "wait for batch")
    exposed = (_length(exchanged) - _overlap(exchanged, compute)) / steps / 1000
    starved = (_length(idle) - _overlap(idle, kernels)) / steps / 1000
    adam = len([1 for lane, name, _, _ in did if lane == "gpu" and name.startswith("adam")])
    return (
        operations,
        faults,
        _most(_waits(did, first, last), steps // 5, "waits in twenty steps"),
        f"{by_cpu('copy')} by the cpu, {streams.count('gpu')} in the gpu's stream",
        _most(round(exposed, 2), 1.4, "ms while nothing computes"),
        _most(round(adam / STEPS, 1), 12, "kernels"),
        f"{by_cpu('load')} by the cpu",
        _most(round(starved, 2), 1.5, "ms while the cpu waits for a batch"),
        _most(round((last - first) / steps / 1000, 2), 20.5, "ms"),
    )


REPAIRS = ("item", "batch", "both", "reduce", "small")


def foreseen(program):
    """The predictions, each a dict of one number, of whatever type numbers are."""
    found = program.predicted()
    if not isinstance(found, dict):
        raise TypeError(f"predicted() gives a dict, and this is a {type(found).__name__}")
    return [{name: _plain(found.get(name))} for name in REPAIRS]


def _plain(ms):
    is_number = isinstance(ms, (Real, Decimal)) and not isinstance(ms, bool)
    return float(ms) if is_number else ms


KINDS = ("compute", "comm", "copy", "host")


def _read(text):
    """The events of "compute 0-10 4-12, comm 2-9"."""
    for kind, *spans in map(str.split, text.split(", ")):
        for span in spans:
            start, end = map(int, span.split("-"))
            yield {"kind": kind, "start": start, "end": end}


def reported(program, events, first, last):
    """The report on events in words, or on rows of numbers."""
    if not isinstance(events, str):
        events = ", ".join(f"{KINDS[a % 4]} {b}-{b + c % 16}" for a, b, c in events.tolist())
    found = program.report(list(_read(events)), first, last)
    return found["busy"], found["exposed"], found["idle"]
