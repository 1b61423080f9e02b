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
