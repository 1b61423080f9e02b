"""A machine with one GPU of a data-parallel group, in whole microseconds; it stays as it is.

Lanes: the cpu, which is the thread that launches; the streams gpu, copy and comm; workers of the
loader. What a stream is given it does in order, and streams wait for each other through events
only. An operation whose inputs are not ordered before it is noted in `faults`, even where its time
happens to be late enough.
"""

STREAMS = ("gpu", "copy", "comm")


class Machine:
    """One GPU, the thread that launches, and workers."""

    layers, tensors = 12, 9  # tensors per layer
    load, pageable, pinned_copy = 24000, 3000, 1200  # to make a batch, to copy it
    forward, backward, loss, reduce = 500, 1000, 300, 700  # per layer, but for the loss
    small, fused, launch, read = 4, 900, 10, 20

    def __init__(self, workers=0, pinned=False):
        self.workers, self.pinned = workers, pinned
        self.events, self.faults = [], []
        self.cpu, self.free = 0, dict.fromkeys(STREAMS, 0)  # until when each is taken
        self.seen, self.cpu_seen = {stream: set() for stream in STREAMS}, {"adam -1"}
        self.batches, self.taken, self.made = 0, [], {}

    # batches

    def next_batch(self):
        """Return the next batch. Without workers the cpu makes it."""
        k, self.batches = self.batches, self.batches + 1
        if not self.workers:
            self.cpu = self._event("cpu", f"load {k}", self.cpu, self.load)
            return k
        slot = k - 2 * self.workers  # a worker is two batches ahead at most
        begin = max(self.taken[slot] if slot >= 0 else 0, self.made.get(k - self.workers, 0))
        lane = f"worker{k % self.workers}"
        self.made[k] = self._event(lane, f"load {k}", begin, self.load)
        self._until(self.made[k], f"wait for batch {k}")
        self.taken.append(self.cpu)
        return k

    def copy(self, batch, stream="gpu", wait=True):
        """Copy a batch to the card, and return the copy's name.

        From memory that is not pinned the cpu takes part to the end. With wait it waits for it.
        """
        name = f"copy {batch}"
        if not self.pinned:
            self._until(self.free[stream], f"wait to {name}")
            start = self.cpu
            self.cpu = self._event("cpu", name, start, self.pageable)
            self.free[stream] = self._event("copy", name, start, self.pageable)
            self.seen[stream] |= {name}
            return name
        self.cpu = self._event("cpu", "launch " + name, self.cpu, self.launch)
        start = max(self.cpu, self.free[stream])
        self.free[stream] = self._event("copy", name, start, self.pinned_copy)
        self.seen[stream] |= self.cpu_seen | {name}
        if wait:
            self._until(self.free[stream], f"wait for {name}")
            self.cpu_seen = self.cpu_seen | self.seen[stream]
        return name

    # what a step consists of

    def fwd(self, k, layer, copied):
        """Launch the forward of a layer in step k; copied is the name of the batch's copy."""
        needs = [f"forward {layer - 1} {k}"] if layer else [copied, f"adam {k - 1}"]
        return self._run(f"forward {layer} {k}", self.forward, needs)

    def criterion(self, k):
        """Launch the loss, and return its name."""
        return self._run(f"loss {k}", self.loss, [f"forward {self.layers - 1} {k}"])

    def bwd(self, k, layer):
        """Launch the backward of a layer."""
        last = layer == self.layers - 1
        before = f"loss {k}" if last else f"backward {layer + 1} {k}"
        return self._run(f"backward {layer} {k}", self.backward, [before])

    def all_reduce(self, k, layer, stream="gpu"):
        """Launch the exchange of a layer's gradients."""
        return self._run(f"reduce {layer} {k}", self.reduce, [f"backward {layer} {k}"], stream)

    def adam(self, k, fused=False):
        """Launch Adam for all layers: four kernels per tensor, or a fused one."""
        needs = [f"reduce {layer} {k}" for layer in range(self.layers)]
        for i in range(1 if fused else self.layers * self.tensors * 4):
            length = self.fused if fused else self.small
            self._run(f"adam{i} {k}", length, [] if i else needs)
        self.seen["gpu"].add(f"adam {k}")

    def item(self, loss):
        """Return the number of a loss. The cpu waits for all of the stream gpu."""
        self.synchronize("gpu")
        if loss not in self.seen["gpu"]:
            self.faults.append(f"{loss} is read and was never computed")
        self.cpu = self._event("cpu", "item " + loss, self.cpu, self.read)
        return self._number(int(loss.split()[-1]))

    # who waits for whom

    def synchronize(self, stream):
        """Let the cpu wait for all that a stream was given."""
        self._until(self.free[stream], "wait for " + stream)
        self.cpu_seen = self.cpu_seen | self.seen[stream]

    def record(self, stream):
        """Return an event: all that the stream was given so far."""
        return self.free[stream], set(self.seen[stream])

    def wait(self, stream, event):
        """Let a stream wait for an event, and the cpu go on."""
        at, seen = event
        self.free[stream] = max(self.free[stream], at)
        self.seen[stream] |= seen

    # inside

    @staticmethod
    def _number(k):
        return 2.5 / (1 + k)

    def _event(self, lane, name, start, length):
        self.events.append({"lane": lane, "name": name, "start": start, "end": start + length})
        return start + length

    def _until(self, time, name):
        if time > self.cpu:
            self.cpu = self._event("cpu", name, self.cpu, time - self.cpu)

    def _run(self, name, length, needs, stream="gpu"):
        for one in needs:
            if one not in self.seen[stream] | self.cpu_seen:
                self.faults.append(f"{name} does not wait for {one}")
        self.cpu = self._event("cpu", "launch " + name, self.cpu, self.launch)
        start = max(self.cpu, self.free[stream])
        self.free[stream] = self._event(stream, name, start, length)
        if not name.startswith("adam"):  # of which the last counts
            self.seen[stream] |= self.cpu_seen | {name}
        return name


def ends(events):
    """Return when Adam ended in each step."""
    found = {}
    for event in events:
        if event["lane"] == "gpu" and event["name"].startswith("adam"):
            found[int(event["name"].split()[-1])] = event["end"]
    return [found[k] for k in sorted(found)]


def show(m, k):
    """Print what happened from the end of step k - 1 to that of step k; return its ms.

    Times begin with the window, and what crosses its edges is cut. What follows one another in a
    lane and is of one kind is one line, with its time without gaps.
    """
    first, last = ends(m.events)[k - 1 : k + 1]
    print(f"lane      from     to  what, in step {k} of 0 to {len(ends(m.events)) - 1}")  # noqa: T201
    for lane in ("cpu", *STREAMS, *(f"worker{w}" for w in range(m.workers))):
        groups = []
        for event in m.events:
            if event["lane"] != lane or event["end"] <= first or event["start"] >= last:
                continue
            words = event["name"].split()
            kind = " ".join(w for w in words if not w.isdigit()).rstrip("0123456789")
            kind = "launch" if words[0] == "launch" else kind
            if not groups or groups[-1][0] != kind:
                groups.append((kind, []))
            groups[-1][1].append(event)
        for kind, found in groups:
            cut = [(max(e["start"], first) - first, min(e["end"], last) - first) for e in found]
            start, end, busy = cut[0][0], cut[-1][1], sum(b - a for a, b in cut)
            times = f", {len(found)} times, {busy} in all" if len(found) > 1 else ""
            print(f"{lane:7} {start:6} {end:6}  {kind}{times}")  # noqa: T201
    return (last - first) / 1000
