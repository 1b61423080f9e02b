"""Wrong: what overlaps is taken off pair by pair."""

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
    ev = [(e["kind"], max(e["start"], first), min(e["end"], last)) for e in events if min(e["end"], last) > max(e["start"], first)]
    def L(kinds):
        t, at = 0, first
        for a, b in sorted((a, b) for k, a, b in ev if k in kinds):
            if b > max(a, at): t += b - max(a, at); at = b
        return t
    # exposed: each comm event minus the compute events that overlap it (pairwise, overlap double counted)
    exp = 0
    for k, a, b in ev:
        if k == "comm":
            exp += max(0, b - a - sum(max(0, min(b, d) - max(a, c)) for q, c, d in ev if q == "compute"))
    return {"busy": L(("compute",)), "exposed": exp, "idle": last - first - L(("compute", "comm", "copy"))}
