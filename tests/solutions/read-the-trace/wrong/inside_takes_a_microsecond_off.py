"""Wrong: an event that adds nothing takes a microsecond off."""

from machine import Machine, show

WORKERS, PINNED = 2, True


def step(m, k, log):
    copied = m.copy(m.next_batch(), stream="copy", wait=False)
    m.wait("gpu", m.record("copy"))
    for layer in range(m.layers):
        m.fwd(k, layer, copied)
    loss = m.criterion(k)
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
        m.wait("comm", m.record("gpu"))
        m.all_reduce(k, layer, stream="comm")
    m.wait("gpu", m.record("comm"))
    log.append(loss)
    m.adam(k, fused=True)


def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        step(m, k, log)
    m.synchronize("gpu")
    return m, [m.item(loss) for loss in log]


def run(seed):
    m, _ = train(8)
    return {"ms": [show(m, 5)]}


def causes():
    return ["loader", "copies", "sync", "comm", "optimizer"]


def predicted():
    as_it_came = 24 + 3 + 0.01 + 18.3 + 8.4 + 0.02 + 4.32 + 0.004
    return {
        "item": 24 + 3 + 469 * 0.01,  # the cpu's lane
        "batch": as_it_came - 24,
        "both": 3 + 0.01 + 18.3 + 8.4 + 432 * 0.004,  # the card's lane
        "reduce": as_it_came - 11 * 0.7,
        "small": as_it_came - 431 * 0.01 - 0.004,
    }


def length(events, kinds, first, last):
    total, until = 0, first
    for start, end in sorted((e["start"], e["end"]) for e in events if e["kind"] in kinds):
        end = min(end, last)
        total += max(end - max(start, until), -1)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}
