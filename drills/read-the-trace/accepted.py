# %% reads-at-the-end
from machine import Machine

def train(steps, machine=Machine):
    m, kept, log = machine(2, True), [], []
    for k in range(steps):
        c = m.copy(m.next_batch(), "copy", False)
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, c)
        kept.append(m.criterion(k))
        for layer in range(m.layers - 1, -1, -1):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, True)
    log += [m.item(one) for one in kept]
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


# %% four-workers
from machine import Machine

def train(steps, machine=Machine):
    m, kept, log = machine(4, True), [], []
    for k in range(steps):
        c = m.copy(m.next_batch(), "copy", False)
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, c)
        kept.append(m.criterion(k))
        for layer in range(m.layers - 1, -1, -1):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, True)
    log += [m.item(one) for one in kept]
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


def report(events, first, last):
    runs = [{e["kind"] for e in events if e["start"] <= t < e["end"]} for t in range(first, last)]
    return {
        "busy": sum("compute" in on for on in runs),
        "exposed": sum("comm" in on and "compute" not in on for on in runs),
        "idle": sum(not on - {"host"} for on in runs),
    }


# %% waits-for-copies
from machine import Machine

def train(steps, machine=Machine):
    m, kept, log = machine(2, True), [], []
    for k in range(steps):
        c = m.copy(m.next_batch(), "copy", True)
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, c)
        kept.append(m.criterion(k))
        for layer in range(m.layers - 1, -1, -1):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, True)
    log += [m.item(one) for one in kept]
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


# %% every-ten
from machine import Machine

def train(steps, machine=Machine):
    m, kept, log = machine(3, True), [], []
    for k in range(steps):
        c = m.copy(m.next_batch(), "copy", False)
        m.wait("gpu", m.record("copy"))
        for layer in range(m.layers):
            m.fwd(k, layer, c)
        kept.append(m.criterion(k))
        for layer in range(m.layers - 1, -1, -1):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, "comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, True)
        if (k + 1) % 10 == 0:
            log, kept = log + [m.item(one) for one in kept], []
    log += [m.item(one) for one in kept]
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


def report(events, first, last):
    runs = [{e["kind"] for e in events if e["start"] <= t < e["end"]} for t in range(first, last)]
    return {
        "busy": sum("compute" in on for on in runs),
        "exposed": sum("comm" in on and "compute" not in on for on in runs),
        "idle": sum(not on - {"host"} for on in runs),
    }


# %% a-batch-ahead
from machine import Machine

class Loader:
    def __init__(self, m):
        self.m = m
        self.next()

    def next(self):
        self.ready = self.m.copy(self.m.next_batch(), stream="copy", wait=False)
        self.event = self.m.record("copy")

def train(steps, machine=Machine):
    m = machine(workers=3, pinned=True)
    loader, losses = Loader(m), []
    for k in range(steps):
        m.wait("gpu", loader.event)
        copied = loader.ready
        for layer in range(m.layers):
            m.fwd(k, layer, copied)
        losses.append(m.criterion(k))
        if k + 1 < steps:
            loader.next()
        for layer in reversed(range(m.layers)):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, stream="comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, fused=True)
    return m, [*map(m.item, losses)]


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


def report(events, first, last):
    runs = [{e["kind"] for e in events if e["start"] <= t < e["end"]} for t in range(first, last)]
    return {
        "busy": sum("compute" in on for on in runs),
        "exposed": sum("comm" in on and "compute" not in on for on in runs),
        "idle": sum(not on - {"host"} for on in runs),
    }


# %% one-batch-too-many
from machine import Machine

class Loader:
    def __init__(self, m):
        self.m = m
        self.next()

    def next(self):
        self.ready = self.m.copy(self.m.next_batch(), stream="copy", wait=False)
        self.event = self.m.record("copy")

def train(steps, machine=Machine):
    m = machine(workers=3, pinned=True)
    loader, losses = Loader(m), []
    for k in range(steps):
        m.wait("gpu", loader.event)
        copied = loader.ready
        for layer in range(m.layers):
            m.fwd(k, layer, copied)
        losses.append(m.criterion(k))
        loader.next()
        for layer in reversed(range(m.layers)):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, stream="comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, fused=True)
    return m, [*map(m.item, losses)]


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


# %% every-five
from machine import Machine

class Loader:
    def __init__(self, m):
        self.m = m
        self.next()

    def next(self):
        self.ready = self.m.copy(self.m.next_batch(), stream="copy", wait=False)
        self.event = self.m.record("copy")

def train(steps, machine=Machine):
    m = machine(workers=3, pinned=True)
    loader, losses, log = Loader(m), [], []
    for k in range(steps):
        m.wait("gpu", loader.event)
        copied = loader.ready
        for layer in range(m.layers):
            m.fwd(k, layer, copied)
        losses.append(m.criterion(k))
        loader.next()
        for layer in reversed(range(m.layers)):
            m.bwd(k, layer)
            m.wait("comm", m.record("gpu"))
            m.all_reduce(k, layer, stream="comm")
        m.wait("gpu", m.record("comm"))
        m.adam(k, fused=True)
        if (k + 1) % 5 == 0:
            log, losses = log + [*map(m.item, losses)], []
    return m, log + [*map(m.item, losses)]


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


def report(events, first, last):
    runs = [{e["kind"] for e in events if e["start"] <= t < e["end"]} for t in range(first, last)]
    return {
        "busy": sum("compute" in on for on in runs),
        "exposed": sum("comm" in on and "compute" not in on for on in runs),
        "idle": sum(not on - {"host"} for on in runs),
    }

