# %% as-it-came
# killed_by: [comm, copies, optimizer]
"""Your step is that of the script you were given, or of it with the thread freed. What the card
itself waits for is still there: look at its lane, and not at the cpu's."""

WORKERS, PINNED, FUSED = 0, False, False

def fetch(m):
    return m.copy(m.next_batch()), None

def receive(m, ready):
    return ready[0]

def backward(m, k):
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
    for layer in reversed(range(m.layers)):
        m.all_reduce(k, layer)

def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        loss = forward(m, k, receive(m, fetch(m)))
        backward(m, k)
        log.append(m.item(loss))
        m.adam(k)
    m.synchronize("gpu")
    return m, log

# %% as-it-came / thread-freed
WORKERS, PINNED, FUSED = 2, False, False

def fetch(m):
    return m.copy(m.next_batch()), None

def receive(m, ready):
    return ready[0]

def send(m, k, layer):
    pass

def update(m, k):
    for layer in reversed(range(m.layers)):
        m.all_reduce(k, layer)
    m.adam(k)

# %% one-worker
# killed_by: starved
"""Your batches come from one worker. It makes one in 24 ms, and the card needs one every 19.9. Two
workers are enough."""
WORKERS = 1

# %% made-by-the-thread
# killed_by: loader
"""Your cpu makes the batches, and launches nothing in the meantime. Let workers make them while the
card works."""
WORKERS = 0

# %% not-pinned
# killed_by: copies
"""Your step may be fast, and its copies come from memory that is not pinned. The thread takes part
in each, and only because it is far ahead nobody sees it. Pin the memory."""
PINNED = False

# %% copies-in-line
# killed_by: copies
"""Your copies are in the stream of the kernels, and wait for their turn there. Give them a stream,
and have the gpu's wait for an event."""

def fetch(m):
    return m.copy(m.next_batch(), wait=False), m.record("gpu")

# %% copies-in-line / and-waited-for
def fetch(m):
    return m.copy(m.next_batch()), m.record("gpu")

# %% sends-at-the-end
# killed_by: comm
"""Your all-reduces run while nothing computes: they start when backward has ended, or backward waits
for each. Start each when its layer's backward has ended, beside the next one's."""

def send(m, k, layer):
    pass

def update(m, k):
    m.wait("comm", m.record("gpu"))
    for layer in reversed(range(m.layers)):
        m.all_reduce(k, layer, "comm")
    m.wait("gpu", m.record("comm"))
    m.adam(k, fused=FUSED)

# %% sends-at-the-end / in-the-stream-of-kernels
def send(m, k, layer):
    pass

def update(m, k):
    for layer in reversed(range(m.layers)):
        m.all_reduce(k, layer)
    m.adam(k, fused=FUSED)

# %% sends-at-the-end / in-line-with-backward
def send(m, k, layer):
    m.all_reduce(k, layer)

# %% sends-a-layer-late
# killed_by: fast
"""Your all-reduces wait for the backward of a layer more than they need, and two are left when
backward has ended: 0.7 ms. Record the event before the next backward is launched."""

def backward(m, k):
    for layer in reversed(range(m.layers)):
        m.bwd(k, layer)
        if layer + 1 < m.layers:
            send(m, k, layer + 1)
    send(m, k, 0)

# %% reads-early
# killed_by: ordered
"""Your all-reduce reads gradients that may not be there yet. It is 0.7 ms faster that way. Another
stream needs an event: record after backward, and wait before sending."""

def send(m, k, layer):
    m.all_reduce(k, layer, stream="comm")

# %% steps-early
# killed_by: ordered
"""Your Adam does not wait for the sums of all ranks, and may use gradients that are still being
exchanged. Let the gpu's stream wait for an event of the exchange."""

def update(m, k):
    m.adam(k, fused=FUSED)

# %% forward-before-the-copy
# killed_by: ordered
"""Your forward does not wait for its batch. Here the copy happens to be early enough; nothing says
so on another day. Let the gpu's stream wait for an event of the copy."""

def receive(m, ready):
    return ready[0]

# %% fetches-each-step
# killed_by: sync
"""Your thread waits for the card in every step, usually to fetch a loss. The call waits for all of
the stream, whichever number it is for. Keep the losses on the card, and read many at once."""

def keep(m, loss, log):
    log.append(m.item(loss))

# %% fetches-each-step / the-one-before
def keep(m, loss, log):
    log.append(loss)
    if len(log) > 1:
        log[-2] = m.item(log[-2])

# %% fetches-each-step / after-adam
def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        copied = receive(m, fetch(m))
        log.append(forward(m, k, copied))
        backward(m, k)
        update(m, k)
        log[-1] = m.item(log[-1])
    return m, log

# %% fetches-every-other-step
# killed_by: sync
"""Your thread fetches losses less often than in every step, and more often than the contract allows.
Each time it loses its lead. Read them all after the last step, or every five steps."""

def keep(m, loss, log):
    log.append(loss)
    if len(log) % 2 == 0:
        log[-2:] = read(m, log[-2:])

# %% fetches-every-other-step / three
def keep(m, loss, log):
    log.append(loss)
    if len(log) % 3 == 0:
        log[-3:] = read(m, log[-3:])

# %% fetches-every-other-step / four
def keep(m, loss, log):
    log.append(loss)
    if len(log) % 4 == 0:
        log[-4:] = read(m, log[-4:])

# %% log-with-holes
# killed_by: log
"""Your log lacks steps. Losses can stay on the card and be read later, all of them."""

def read(m, log):
    return [m.item(one) for one in log[::10]]

# %% log-with-holes / the-last
def read(m, log):
    return [m.item(log[-1])]

# %% log-with-holes / every-fifth
def read(m, log):
    return [m.item(one) for one in log[4::5]]

# %% trains-on-old-weights
# killed_by: ordered
"""Your forward of the next step starts before Adam has used the gradients of this one. That hides
the exchange, and computes something else: every step trains on weights that are a step old."""

def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    for k in range(steps):
        loss = forward(m, k, receive(m, fetch(m)))
        if k:
            update(m, k - 1)
        backward(m, k)
        keep(m, loss, log)
    update(m, steps - 1)
    return m, read(m, log)

# %% fetches-everything-first
# killed_by: done
"""Your batches are all fetched before training begins. That hides any loader, for as long as memory
lasts. Fetch one or two steps ahead."""

def train(steps, machine=Machine):
    m, log = machine(WORKERS, PINNED), []
    batches = [fetch(m) for _ in range(steps)]
    for k in range(steps):
        loss = forward(m, k, receive(m, batches[k]))
        backward(m, k)
        keep(m, loss, log)
        update(m, k)
    return m, read(m, log)

# %% many-kernels
# killed_by: optimizer
"""Your Adam consists of kernels that are shorter than their launch. Where the thread is ahead that
costs little; behind a wait each costs 10 us. Take the fused one."""
FUSED = False

# %% twelve-layers
# killed_by: done
"""Your step has twelve layers, however many the machine has."""

def forward(m, k, copied):
    for layer in range(12):
        m.fwd(k, layer, copied)
    return m.criterion(k)

def backward(m, k):
    for layer in reversed(range(12)):
        m.bwd(k, layer)
        send(m, k, layer)

# %% savings-add-up
# killed_by: both
# parameters: {MS: [7.69, 7.686, 7.7, 7.72, 7.74, 7.75, 7.8, 8]}
"""You add up the two savings. Each of them ends the same waiting; then the card is the limit, with
31.4 ms."""
MS = 7.69

def without_both():
    return MS

# %% the-call-alone
# killed_by: item
# parameters: {MS: [58.034, 58.03, 57.98, 58, 58.08, 58.1]}
"""You take off the 20 us of the call. What it costs is that the thread stands still until the card
has finished."""
MS = 58.034

def without_item():
    return MS

# %% all-of-the-traffic
# killed_by: reduce
# parameters: {MS: [49.654, 49.65, 49.63, 49.6, 49.7]}
"""You take off all 8.4 ms. The last layer's all-reduce can only start when backward has ended, and
Adam needs it."""
MS = 49.654

def overlapped():
    return MS

# %% kernel-time-alone
# killed_by: small
# parameters: {MS: [57.226, 57.23, 57.22, 57.172, 57.17, 57, 57.1, 57.2, 57.3]}
"""You take off the difference of kernel times, 0.83 ms. Behind a wait each of 432 launches holds
the card up, for 10 us and not 4."""
MS = 57.226

def fused():
    return MS

# %% half-a-loader
# killed_by: batch
# parameters: {MS: [46.054, 46.05, 46.03, 46, 46.1]}
"""You take off half of the loading time. Workers make batches while the card works; of 24 ms nothing
is left."""
MS = 46.054

def without_load():
    return MS

# %% sums-of-durations
# killed_by: busy
"""Your numbers are sums of durations. What runs side by side counts twice; merge intervals
first."""

def length(stretches):
    return sum(end - start for start, end in stretches)

# %% last-end-only
# killed_by: overlap
"""Your merge keeps the end of the event that came last, and an event inside another makes that
earlier. Keep the larger of the two."""

def length(stretches):
    total, until = 0, float("-inf")
    for start, end in stretches:
        total += max(end - max(start, until), 0)
        until = end
    return total

# %% whole-events-only
# killed_by: window
"""Your window leaves out events that cross its edge. Cut them."""

def intervals(events, kinds, first, last):
    return sorted((e["start"], e["end"]) for e in events
                  if e["kind"] in kinds and first <= e["start"] and e["end"] <= last)

# %% host-counts
# killed_by: idle
"""Your idle time is what no event covers, the host's included. It is what neither kernels nor
transfers cover."""

def idle(events, first, last):
    kinds = ["compute", "comm", "copy", "host"]
    return last - first - length(intervals(events, kinds, first, last))

# %% all-but-compute-is-idle
# killed_by: idle
"""Your idle time is everything without compute. Where something is sent or copied the card does
not stand idle."""

def idle(events, first, last):
    return last - first - length(intervals(events, ["compute"], first, last))
