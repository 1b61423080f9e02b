"""One training run on one GPU of a data-parallel group; see machine.py."""

from machine import Machine, show

WORKERS, PINNED = 0, False


def step(m, k, log):
    copied = m.copy(m.next_batch())
    for layer in range(m.layers):
        m.fwd(k, layer, copied)
    loss = m.criterion(k)
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
    for layer in reversed(range(m.layers)):
        m.all_reduce(k, layer)
    log.append(m.item(loss))
    m.adam(k)


def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        step(m, k, log)
    m.synchronize("gpu")
    return m, log


def run(seed):
    m, _ = train(8)
    return {"ms": [show(m, 5)]}


def causes():
    return []
