# %% five_workers
"""One training run on a machine with one GPU of a data-parallel group; machine.py has its parts."""

from machine import Machine, show

WORKERS, PINNED = 5, True


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
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}


# %% four_batches_ahead
"""Right: four fetched batches wait for their forward."""

from machine import Machine

WORKERS, PINNED = 2, True


def train(steps, machine=Machine):
    m, log, losses = machine(WORKERS, PINNED), [], []
    q = [m.copy(m.next_batch(), "copy", wait=False) for _ in range(min(4, steps))]
    for k in range(steps):
        copied = q.pop(0)
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, copied)
        losses.append(m.criterion(k))
        for layer in reversed(range(m.layers)):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, fused=True)
        if k + 4 < steps:
            q.append(m.copy(m.next_batch(), "copy", wait=False))
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


# %% reads_every_seventh
"""One training run on a machine with one GPU of a data-parallel group; machine.py has its parts."""

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
    if k % 7 == 6:
        log[:] = [m.item(one) if isinstance(one, str) else one for one in log]


def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        step(m, k, log)
    m.synchronize("gpu")
    return m, [m.item(one) if isinstance(one, str) else one for one in log]


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
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}


# %% reads_six_at_a_time
"""Right: losses are read in sixes."""

from machine import Machine

WORKERS, PINNED = 2, True


def train(steps, machine=Machine):
    m, log, losses = machine(WORKERS, PINNED), [], []
    nxt = m.copy(m.next_batch(), "copy", wait=False) if steps else None
    log = []
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
        m.wait("gpu", m.record("comm"))
        m.adam(k, fused=True)
        if k % 6 == 5:
            log += [m.item(x) for x in losses]
            losses.clear()
        if k + 1 < steps:
            nxt = m.copy(m.next_batch(), "copy", wait=False)
    m.synchronize("gpu")
    log += [m.item(x) for x in losses]
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


# %% style_b
"""Style: that of window_not_cut_at_its_end and others, repaired."""

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
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}


# %% waits_for_the_card_every_fifth_step
"""One training run on a machine with one GPU of a data-parallel group; machine.py has its parts."""

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
    if k % 5 == 2:
        m.synchronize("gpu")


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
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def report(events, first, last):
    busy = length(events, ["compute"], first, last)
    both = length(events, ["compute", "comm"], first, last)
    work = length(events, ["compute", "comm", "copy"], first, last)
    return {"busy": busy, "exposed": both - busy, "idle": last - first - work}
