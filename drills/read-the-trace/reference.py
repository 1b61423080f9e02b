"""A training run whose card does not wait; what single repairs bring; what a trace says."""

from machine import Machine, show

WORKERS, PINNED, FUSED = 2, True, True


def fetch(m):
    """Return the name of the next batch's copy, and the event that it ends with."""
    copied = m.copy(m.next_batch(), stream="copy", wait=False)
    return copied, m.record("copy")


def receive(m, ready):
    """Let the kernels wait for the batch, and return its copy's name."""
    copied, event = ready
    m.wait("gpu", event)
    return copied


def forward(m, k, copied):
    """Launch forward and loss, and return the loss's name."""
    for layer in range(m.layers):
        m.fwd(k, layer, copied)
    return m.criterion(k)


def send(m, k, layer):
    """Exchange the gradients of a layer as soon as they are there."""
    m.wait("comm", m.record("gpu"))
    m.all_reduce(k, layer, stream="comm")


def backward(m, k):
    """Launch backward, and send each layer's gradients behind it."""
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
        send(m, k, layer)


def update(m, k):
    """Launch Adam when the gradients of all ranks are there."""
    m.wait("gpu", m.record("comm"))
    m.adam(k, fused=FUSED)


def keep(m, loss, log):  # noqa: ARG001
    """Keep a loss on the card."""
    log.append(loss)


def read(m, log):
    """Return the numbers of all losses."""
    return [m.item(one) if isinstance(one, str) else one for one in log]


def train(steps, machine=Machine):
    """Make so many steps, and return the machine and the log."""
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        copied = receive(m, fetch(m))
        loss = forward(m, k, copied)
        backward(m, k)
        keep(m, loss, log)
        update(m, k)
    m.synchronize("gpu")
    return m, read(m, log)


def run(seed):  # noqa: ARG001
    """Print the trace of a step, and return its milliseconds."""
    m, _ = train(8)
    return {"ms": [show(m, 5)]}


def causes():
    """Return what held the step up."""
    return ["loader", "copies", "sync", "comm", "optimizer"]


KERNELS = 12 * 0.5 + 0.3 + 12 * 1.0
ALL_REDUCE = 12 * 0.7
SMALL = 12 * 9 * 4  # kernels of Adam
AS_IT_CAME = 24 + 3 + 0.01 + KERNELS + ALL_REDUCE + 0.02 + SMALL * 0.01 + 0.004


def without_item():
    """Return the busier lane's time, that of the cpu: it loads, copies and launches."""
    cpu = 24 + 3 + (37 + SMALL) * 0.01
    return max(cpu, without_both())


def without_load():
    """Return the time without the loader's."""
    return AS_IT_CAME - 24


def without_both():
    """Return the card's time: the copy is in its stream, and waits for the kernels before."""
    return 3 + 0.01 + KERNELS + ALL_REDUCE + SMALL * 0.004


def overlapped():
    """Return the time with all but the last layer's all-reduce behind backward."""
    return AS_IT_CAME - ALL_REDUCE + 0.7


def fused():
    """Return the time until Adam is launched; the next batch is made while it runs."""
    return AS_IT_CAME - 0.004 - (SMALL - 1) * 0.01


def predicted():
    """Return ms per step after each repair of the script as it came."""
    return {
        "item": without_item(),
        "batch": without_load(),
        "both": without_both(),
        "reduce": overlapped(),
        "small": fused(),
    }


def intervals(events, kinds, first, last):
    """Return the stretches of the window in which events of these kinds run, in order."""
    cut = [(max(e["start"], first), min(e["end"], last)) for e in events if e["kind"] in kinds]
    return sorted((start, end) for start, end in cut if start < end)


def length(stretches):
    """Return for how long at least one of them lasts."""
    total, until = 0, float("-inf")
    for start, end in stretches:
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


def exposed(events, first, last):
    """Return for how long there is communication and no computing."""
    both = length(intervals(events, ["compute", "comm"], first, last))
    return both - length(intervals(events, ["compute"], first, last))


def idle(events, first, last):
    """Return for how long the card does nothing."""
    return last - first - length(intervals(events, ["compute", "comm", "copy"], first, last))


def report(events, first, last):
    """Return what the card did in a window, in microseconds."""
    busy = length(intervals(events, ["compute"], first, last))
    return {
        "busy": busy,
        "exposed": exposed(events, first, last),
        "idle": idle(events, first, last),
    }
