"""Wrong: idle time before the first event is not counted."""

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


def _len(events, first, last, kinds):
    total, at = 0, -10**12
    for a, b in sorted((e["start"], e["end"]) for e in events if e["kind"] in kinds):
        a, b = max(a, first), min(b, last)
        a = max(a, at)
        if b > a:
            total += b - a
            at = b
    return total


def report(events, first, last):
    L = lambda *k: _len(events, first, last, k)
    b = L("compute")
    return {"busy": b, "exposed": L("compute", "comm") - b, "idle": last - max(first, min([e["start"] for e in events], default=last)) - L("compute", "comm", "copy")}
