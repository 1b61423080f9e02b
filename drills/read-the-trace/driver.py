"""Runs on machines of the driver's own, whose events it keeps, and what they cost per step."""

from machine import Machine, ends

STEPS = 26  # of which the first five and the last do not count


def _length(stretches):
    total, until = 0, -1
    for start, end in sorted(stretches):
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def _overlap(one, other):
    return _length(one) + _length(other) - _length(one + other)


def _watched(layers, load):
    """Return a class of machines, and what the one that is made did."""
    did, inputs = [], []

    class Watched(Machine):
        def __init__(self, *args, **kwargs):
            did.clear()  # the last machine that is made counts
            inputs.clear()
            super().__init__(*args, **kwargs)

        def _event(self, lane, name, start, length):
            did.append((lane, name, start, start + length))
            return super()._event(lane, name, start, length)

        def fwd(self, k, layer, copied):
            inputs.append((k, layer, copied))
            return super().fwd(k, layer, copied)

        @staticmethod
        def number(k):
            return 3.0 - 0.125 * (k * 7 % 11)

    Watched.layers, Watched.load = layers, load
    return Watched, did, inputs


def _complete(did, inputs, layers):
    """Return how many operations are missing or one too many, and how many batches are wrong."""
    found = [name for lane, name, _, _ in did if lane in ("gpu", "copy", "comm")]
    wanted = {f"loss {k}" for k in range(STEPS)}
    for what in ("forward", "backward", "reduce"):
        wanted |= {f"{what} {layer} {k}" for k in range(STEPS) for layer in range(layers)}
    wanted |= {f"copy {k}" for k in range(STEPS)}
    kernels = [name for name in found if not name.startswith("adam")]
    adam = [name for name in found if name.startswith("adam")]
    updates = {int(name.split()[-1]) for name in adam}
    # A batch more may be fetched than is used.
    twice = len(kernels) - len(set(kernels)) + len(adam) - len(set(adam))
    missing = len(wanted - set(kernels)) + len(set(range(STEPS)) - updates)
    used = [(k, copied) for k, layer, copied in inputs if layer == 0]
    wrong = sum(one != (k, f"copy {k}") for k, one in enumerate(used))
    return [missing, twice, wrong]


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


def measured(program, layers, load):
    """A run of 26 steps, of which twenty count.

    What the contract allows counts as the most that it allows. Times are ms per step.
    """
    made, did, inputs = _watched(layers, load)
    m, log = program.train(STEPS, made)
    operations, log = _complete(did, inputs, layers), [float(one) for one in log]
    first_fault = m.faults[:1]
    when = ends([dict(zip(("lane", "name", "start", "end"), one, strict=True)) for one in did])
    if operations[0]:  # what is not done costs nothing
        return operations, first_fault, log, 0, [], 0, 0, [], 0
    first, last, steps = when[4], when[-2], STEPS - 6

    def stretches(lanes, *names):
        return [
            (start, end) for lane, name, start, end in did
            if lane in lanes and name.startswith(names) and first <= start and end <= last
        ]  # fmt: skip

    compute = stretches(["gpu"], "forward", "backward", "loss", "adam")
    exchanged = stretches(["gpu", "comm", "copy"], "reduce")
    copies, kernels = stretches(["copy"], "copy"), stretches(["gpu"], "")
    waiting = stretches(["cpu"], "wait for batch")
    # Where the thread is far ahead, all copies are over before the first step that counts.
    behind = _overlap(copies, kernels) / _length(copies) if copies else 1
    exposed = (_length(exchanged) - _overlap(exchanged, compute)) / steps / 1000
    starved = (_length(waiting) - _overlap(waiting, kernels)) / steps / 1000
    adam = len([1 for lane, name, _, _ in did if lane == "gpu" and name.startswith("adam")]) / STEPS
    return (
        operations,
        first_fault,
        log,
        max(_waits(did, first, last), steps // 5),
        [len(stretches(["cpu"], "copy")), min(round(behind, 2), 0.5)],
        max(round(exposed, 2), 1.4),
        max(adam, 12),
        [len(stretches(["cpu"], "load")), max(round(starved, 2), 1.5)],
        max(round((last - first) / steps / 1000, 2), 20.5),
    )


KINDS = ("compute", "comm", "copy", "host")


def reported(program, kinds, starts, lengths, first, last):
    """The report on events given as arrays."""
    events = [
        {"kind": KINDS[int(kind)], "start": int(start), "end": int(start + n)}
        for kind, start, n in zip(kinds, starts, lengths, strict=True)
    ]
    found = program.report(events, first, last)
    return found["busy"], found["exposed"], found["idle"]
