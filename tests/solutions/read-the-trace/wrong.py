# %% no_time_is_one_microsecond
"""Wrong: an event of length 0 counts as one microsecond."""

from machine import Machine, show

WORKERS, PINNED = 2, True


def step(m, k):
    name = m.copy(m.next_batch(), "copy", wait=False)
    m.wait("gpu", m.record("copy"))
    for layer in range(m.layers):
        m.fwd(k, layer, name)
    loss = m.criterion(k)
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
        m.wait("comm", m.record("gpu"))
        m.all_reduce(k, layer, "comm")
    m.wait("gpu", m.record("comm"))
    m.adam(k, fused=True)
    return loss


def train(steps, machine=Machine):
    m = machine(WORKERS, PINNED)
    losses = [step(m, k) for k in range(steps)]
    m.synchronize("gpu")
    return m, [m.item(x) for x in losses]


def run(seed):
    m, _ = train(8)
    return {"ms": [show(m, 5)]}


def causes():
    return ["loader", "copies", "sync", "comm", "optimizer"]


def predicted():
    return {'item': 31.69, 'batch': 34.05, 'both': 31.44, 'reduce': 50.35, 'small': 53.74}


def report(events, first, last):
    s = {k: set() for k in ("compute", "comm", "copy", "host")}
    for e in events:
        a, b = max(first, e["start"]), min(last, max(e["end"], e["start"] + 1))
        s[e["kind"]] |= set(range(a, b))
    return {"busy": len(s["compute"]), "exposed": len(s["comm"] - s["compute"]), "idle": last - first - len(s["compute"] | s["comm"] | s["copy"])}


# %% style_a
"""Wrong: what log_of_numbers_never_read and others have in common, which is not right yet."""

from machine import Machine

WORKERS, PINNED = 2, True


def train(steps, machine=Machine):
    m, log, losses = machine(WORKERS, PINNED), [], []
    nxt = m.copy(m.next_batch(), "copy", wait=False) if steps else None
    for k in range(steps):
        copied = nxt
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, copied)
        losses.append(m.criterion(k))
        for layer in reversed(range(m.layers)):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        if k + 1 < steps:
            nxt = m.copy(m.next_batch(), "copy", wait=False)
    m.synchronize("gpu")
    log = [m.item(loss) for loss in losses]
    return m, log


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
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}
