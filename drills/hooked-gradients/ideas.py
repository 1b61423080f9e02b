# %% own-gradients-left
# killed_by: micro
"""After a step of several micro-batches the ranks hold different weights: some gradients were added
to .grad after the exchange, and these stay each rank's own. With one micro-batch, or on one rank,
nothing comes after it, so neither shows it. Usually no_sync stands around the wrong micro-batches:
all but the last one belong in it."""

def step(replicas, optimizers, reducer, batches, loss_fn):
    for optimizer in optimizers:
        optimizer.zero_grad()
    _backward(replicas, batches, 0, loss_fn)
    with reducer.no_sync():
        for i in range(1, len(batches[0])):
            _backward(replicas, batches, i, loss_fn)
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% own-gradients-left / all-but-the-last
import contextlib

def step(replicas, optimizers, reducer, batches, loss_fn):
    for optimizer in optimizers:
        optimizer.zero_grad()
    *early, last = range(len(batches[0]))
    for i in early:
        _backward(replicas, batches, i, loss_fn)
        reducer.finish()
    with reducer.no_sync() if early else contextlib.nullcontext():
        _backward(replicas, batches, last, loss_fn)
    if not early:
        reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% incoming-gradient-averaged
# killed_by: micro
"""Only the gradient of the last micro-batch is averaged over ranks. What the others had left in
.grad stays each rank's own, and the replicas drift apart. Usually this is a hook on the tensor: it
sees what arrives in one backward pass, where .grad has the sum of all. Send that sum."""

def step(replicas, optimizers, reducer, batches, loss_fn):
    for optimizer in optimizers:
        optimizer.zero_grad()
    with reducer.no_sync():
        for i in range(len(batches[0]) - 1):
            _backward(replicas, batches, i, loss_fn)
    params = [p for model in replicas for p in model.parameters()]
    before = [p.grad for p in params]
    for p in params:
        p.grad = None
    _backward(replicas, batches, len(batches[0]) - 1, loss_fn)
    reducer.finish()
    for p, old in zip(params, before, strict=True):
        if old is not None:
            p.grad = old if p.grad is None else p.grad + old
    for optimizer in optimizers:
        optimizer.step()

# %% sum-over-ranks
# killed_by: alone
"""Your gradient is the sum over ranks, so that a step grows with the number of machines. On one
rank nobody sees it. all_reduce adds up; divide by the number of ranks."""

class Reducer(Reducer):
    def _mean(self, total):
        return total

# %% sum-over-micro-batches
# killed_by: alone
"""Your gradient is the sum over micro-batches, where their mean is wanted: backward adds to .grad,
and four micro-batches make a step four times as long. Divide each loss by their number."""

def _weight(batches, rank, i):
    rows = sum(len(x) for mine in batches for x, _ in mine)
    return len(batches[rank]) * len(batches[rank][i][0]) * len(batches) / rows

# %% last-micro-batch-alone
# killed_by: alone
"""Your step follows the last micro-batch and no other: the gradients of the others are gone when
the optimizers step. backward adds up by itself, as long as nobody clears .grad in between."""

def step(replicas, optimizers, reducer, batches, loss_fn):
    for i in range(len(batches[0]) - 1):
        with reducer.no_sync():
            _backward(replicas, batches, i, loss_fn)
    for optimizer in optimizers:
        optimizer.zero_grad()
    _backward(replicas, batches, len(batches[0]) - 1, loss_fn)
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% gradients-of-the-last-step
# killed_by: alone
"""From the second step on, the gradient of the step before it is still in .grad, and new ones are
added to it. The first step is right. Clear .grad when a step begins."""

def step(replicas, optimizers, reducer, batches, loss_fn):
    with reducer.no_sync():
        for i in range(len(batches[0]) - 1):
            _backward(replicas, batches, i, loss_fn)
    _backward(replicas, batches, len(batches[0]) - 1, loss_fn)
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% exchange-per-micro-batch
# killed_by: traffic
"""Your weights are right, and every gradient travels once per micro-batch. A mean of what is
already equal on all ranks changes nothing, so the numbers do not show it, and the bill for the
network does. Send in the last backward pass alone."""

def step(replicas, optimizers, reducer, batches, loss_fn):
    for optimizer in optimizers:
        optimizer.zero_grad()
    for i in range(len(batches[0])):
        _backward(replicas, batches, i, loss_fn)
        reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% first-use
# killed_by: tied
"""A weight that is used twice is sent before all its uses have added their gradient; what comes
later stays each rank's own, and replicas drift apart. Usually this is a backward hook of a module.
The hook after accumulation fires once per backward pass, when all uses are in."""

class Reducer(Reducer):
    def _watch(self):
        super()._watch()
        self.uses = {}
        for module in (module for model in self.replicas for module in model.modules()):
            for p in module.parameters(recurse=False):
                self.uses.setdefault(p, []).append(module)
        for number, bucket in enumerate(self.buckets):
            for p in (p for params in bucket for p in params if len(self.uses[p]) > 1):
                for module in self.uses[p]:
                    module.register_full_backward_hook(self._passed(p, number))

    def _reset(self):
        super()._reset()
        self.seen = set()

    def _hook(self, number):
        inner = super()._hook(number)
        return lambda p: inner(p) if len(self.uses[p]) == 1 else None

    def _passed(self, p, number):
        def hook(*_):
            if self.on and p not in self.seen:
                self.seen.add(p)
                self._arrived(number)

        return hook

# %% listed-twice
# killed_by: tied
"""A weight that two modules share is in your buckets twice: you send its bytes twice, and buckets
are full sooner. The numbers do not show it. A walk over modules meets it at each of them;
parameters() lists it once."""

def _listed(replicas):
    def walk(model):
        return [p for module in model.modules() for p in module.parameters(recurse=False)]

    return list(zip(*map(walk, replicas), strict=True))[::-1]

# %% buckets-forward
# killed_by: buckets
"""Your buckets are filled in the order of parameters(). Backward passes them in about the reverse
order, so that the first bucket waits for the last gradient. Fill them from the end."""

def _listed(replicas):
    return list(zip(*(model.parameters() for model in replicas), strict=True))

# %% closed-before-it-overflows
# killed_by: buckets
"""A bucket of yours is closed before it would exceed bucket_bytes, so there are more and smaller
ones. Here bucket_bytes is the least that a full bucket holds: the parameter that reaches it is the
last one inside."""

def _buckets(order, bucket_bytes):
    buckets, held = [], bucket_bytes
    for params in order:
        size = params[0].numel() * params[0].element_size()
        if held + size > bucket_bytes:
            buckets.append([])
            held = 0
        buckets[-1].append(params)
        held += size
    return buckets

# %% one-message-per-parameter
# killed_by: buckets
"""Every parameter is a message of its own, whatever bucket_bytes says. A ring pays its latency for
each. Collect gradients until a bucket is full, and send them as one flat tensor."""

def _buckets(order, bucket_bytes):
    return [[params] for params in order]

# %% at-the-end
# killed_by: overlap
"""All your buckets are sent when the last backward pass has ended, so nothing overlaps with it, and
a step waits for the whole network. The numbers do not show it. Count down the gradients that a
bucket lacks, and send it at 0."""

class Reducer(Reducer):
    def _arrived(self, number):
        pass

# %% never-full
# killed_by: unused
"""A bucket with a parameter that some rank did not use never becomes complete and is never sent, so
that the others in it stay each rank's own. Send what has not gone before the optimizers step."""

class Reducer(Reducer):
    def finish(self):
        self._reset()

# %% zeros-for-none
# killed_by: unused
"""A parameter that no rank used has a gradient of zeros when the optimizers step. To an optimizer
that is a gradient: weight decay shrinks the weight and momentum moves it. None says that it was not
used; leave it None."""

class Reducer(Reducer):
    def _send(self, bucket):
        for params in bucket:
            for p in params:
                if p.grad is None:
                    p.grad = torch.zeros_like(p)
        super()._send(bucket)

# %% zeros-for-none / cleared-to-zeros
def step(replicas, optimizers, reducer, batches, loss_fn):
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=False)
    micros = len(batches[0])
    with reducer.no_sync():
        for i in range(micros - 1):
            _backward(replicas, batches, i, loss_fn)
    _backward(replicas, batches, micros - 1, loss_fn)
    reducer.finish()
    for optimizer in optimizers:
        optimizer.step()

# %% mean-of-users
# killed_by: unused
"""You divide by the number of ranks that used a parameter. Then the rows of one rank weigh as much
as those of all, and the gradient is not that of the mean loss. Ranks that did not use it count as
zeros, and as ranks."""

class Reducer(Reducer):
    def _send(self, bucket):
        self.users = torch.cat([self._count(params) for params in bucket])
        super()._send(bucket)

    def _count(self, params):
        return torch.full((params[0].numel(),), max(1, sum(p.grad is not None for p in params)))

    def _mean(self, total):
        return total / self.users

# %% none-on-its-own-rank
# killed_by: unused
"""A rank that did not use a parameter keeps None for it, while others used it and step. From then
on that weight differs between ranks. All ranks take the mean, those without rows too."""

class Reducer(Reducer):
    def _send(self, bucket):
        without = [p for params in bucket for p in params if p.grad is None]
        super()._send(bucket)
        for p in without:
            p.grad = None

# %% counts-carried-over
# killed_by: unused
"""What a bucket lacked in one step is still counted in the next one, so that it is sent too early
there, and gradients that come later stay each rank's own. Count from the start when a step has
ended."""

class Reducer(Reducer):
    gone = ()

    def _arrived(self, number):
        super()._arrived(number)
        if self.missing[number] == 0:
            self.missing[number] = self.ranks * len(self.buckets[number])
            self.gone = {*self.gone, number}

    def finish(self):
        for number, bucket in enumerate(self.buckets):
            if number not in self.gone:
                self._send(bucket)
        self.gone = ()

# %% counts-autograd-grad
# killed_by: penalty
"""What torch.autograd.grad computes inside loss_fn is added to your gradients. Usually this is a
hook on the tensor, which fires there too. The hook after accumulation fires where .grad has been
written, and autograd.grad writes none."""

class Reducer(Reducer):
    def _watch(self):
        self.sums = {}
        for model in self.replicas:
            for p in model.parameters():
                p.register_hook(self._adds(p))
        super()._watch()

    def _adds(self, p):
        def hook(grad):
            self.sums[p] = self.sums.get(p, 0) + grad.detach()

        return hook

    def _send(self, bucket):
        for p in (p for params in bucket for p in params):
            p.grad = self.sums.pop(p, None)
        super()._send(bucket)

# %% losses-count-alike
# killed_by: rows
"""You take the mean of the losses as they are. Each is a mean over its own rows, so a row in a
short micro-batch weighs more than one in a long one. Weigh each loss by its rows."""

def _weight(batches, rank, i):
    return 1 / len(batches[rank])

# %% ranks-count-alike
# killed_by: rows
"""Each rank averages over its own rows, and then ranks are averaged: a row on a rank with few of
them weighs more than elsewhere. The rows of all ranks are one batch; divide by their number."""

def _weight(batches, rank, i):
    return len(batches[rank][i][0]) / sum(len(x) for x, _ in batches[rank])

# %% divided-twice
# killed_by: alone
"""Your gradient is too small by the number of ranks, because it is divided by that number twice.
Usually a loss is divided by what all ranks have, and the exchange takes a mean over ranks once
more. One of the two is enough."""

def _weight(batches, rank, i):
    return len(batches[rank][i][0]) / sum(len(x) for mine in batches for x, _ in mine)

# %% bytes-of-no-ring
# killed_by: cost
"""That is not what a rank sends in a ring. It sends n - 1 pieces of b / n to add up, and n - 1 more
to hand out the sums: 2 (n - 1) / n times b."""

def _traffic(full, ranks):
    return full

# %% bytes-of-no-ring / twice-the-bucket
def _traffic(full, ranks):
    return 2 * full

# %% bytes-of-no-ring / one-way
def _traffic(full, ranks):
    return (ranks - 1) * full / ranks

# %% bytes-of-no-ring / whole-buckets
def _traffic(full, ranks):
    return 2 * (ranks - 1) * full

# %% wires-without-end
# killed_by: cost
"""Your buckets travel at the same time, each at the full bandwidth: each begins when it is
complete. There is one wire, and a bucket waits until the one before it has arrived."""

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    filled = list(_filled(nbytes, ready, bucket_bytes))
    sent = sum(_traffic(full, ranks) for full, _ in filled)
    ends = [at + _takes(full, ranks, bandwidth, latency) for full, at in filled]
    return sent, max(ends) - ready[-1]

# %% after-backward
# killed_by: cost
"""Your first bucket leaves when backward has ended. One that is complete earlier leaves earlier,
and only what is still on the wire then is waited for."""

def _filled(nbytes, ready, bucket_bytes, inner=_filled):
    return ((full, ready[-1]) for full, _ in inner(nbytes, ready, bucket_bytes))

# %% one-latency-per-bucket
# killed_by: cost
"""You count the latency once per bucket. A ring sends 2 (n - 1) messages in a row for it, and each
of them has its latency."""

def _takes(full, ranks, bandwidth, latency):
    return latency + 2 * (ranks - 1) * full / ranks / bandwidth if ranks > 1 else 0.0

# %% rest-not-sent
# killed_by: cost
"""The last bucket is lost where it is not full. It has to be sent as well, or its weights never
hear of other ranks."""

def _filled(nbytes, ready, bucket_bytes):
    held = 0
    for size, at in zip(nbytes, ready, strict=True):
        held += size
        if held >= bucket_bytes:
            yield held, at
            held = 0
