# %% exchange-in-step
# part: 1
"""No hook at all: gradients are averaged one by one after the last backward pass."""

class Reducer:
    def __init__(self, replicas, all_reduce):
        self.replicas, self.all_reduce = replicas, all_reduce

    def average(self):
        for params in zip(*[list(m.parameters()) for m in self.replicas]):
            self.all_reduce([p.grad for p in params])
            for p in params:
                p.grad.div_(len(params))

def step(replicas, optimizers, reducer, batches, loss_fn):
    for model in replicas:
        model.zero_grad()
    for model, mine in zip(replicas, batches):
        for x, y in mine:
            (loss_fn(model, x, y) / len(mine)).backward()
    reducer.average()
    for o in optimizers:
        o.step()

# %% one-backward-per-rank
# part: 1
"""A rank's losses are added up and passed backward once; a hook counts ranks."""
import torch

class Reducer:
    def __init__(self, replicas, all_reduce):
        self.n, self.waiting = len(replicas), {}
        def make(i, ps):
            def hook(p):
                self.waiting[i] = self.waiting.get(i, 0) + 1
                if self.waiting[i] == self.n:
                    self.waiting[i] = 0
                    grads = [q.grad for q in ps]
                    all_reduce(grads)
                    torch._foreach_div_(grads, self.n)
            return hook
        for i, ps in enumerate(zip(*(m.parameters() for m in replicas))):
            for p in ps:
                p.register_post_accumulate_grad_hook(make(i, ps))

def step(replicas, optimizers, reducer, batches, loss_fn):
    [o.zero_grad(set_to_none=True) for o in optimizers]
    for model, mine in zip(replicas, batches):
        torch.stack([loss_fn(model, x, y) for x, y in mine]).mean().backward()
    [o.step() for o in optimizers]

# %% averaged-before-it-is-sent
# part: 1
"""Losses are divided by micro-batches and ranks, so that the sum is the mean."""

class Reducer:
    def __init__(self, replicas, all_reduce):
        self.columns = list(zip(*[list(m.parameters()) for m in replicas]))
        self.all_reduce = all_reduce
        self.ranks = len(replicas)

    def flush(self):
        for column in self.columns:
            self.all_reduce([p.grad for p in column])

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        for group in o.param_groups:
            for p in group["params"]:
                p.grad = None
    share = 1.0 / (len(batches[0]) * reducer.ranks)
    for i in range(len(batches[0])):
        for r in range(reducer.ranks):
            loss_fn(replicas[r], *batches[r][i]).mul(share).backward()
    reducer.flush()
    for o in optimizers:
        o.step()

# %% ranks-outside
"""Ranks outside, micro-batches inside; sets of what is still to come; buffers filled by slices."""
import torch

class Reducer:
    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        self.replicas, self.all_reduce = replicas, all_reduce
        self.n = len(replicas)
        self.params = [list(m.parameters()) for m in replicas]
        self.buckets, now, size = [], [], 0
        for j in reversed(range(len(self.params[0]))):
            now.append(j)
            size += self.params[0][j].nbytes
            if size >= bucket_bytes:
                self.buckets.append(now)
                now, size = [], 0
        if now:
            self.buckets.append(now)
        self.live = False
        where = {j: b for b, js in enumerate(self.buckets) for j in js}
        for r in range(self.n):
            for j, p in enumerate(self.params[r]):
                p.register_post_accumulate_grad_hook(lambda _, r=r, j=j: self.seen(r, j, where[j]))

    def begin(self):
        self.todo = [{(r, j) for r in range(self.n) for j in js} for js in self.buckets]
        self.done = set()

    def seen(self, r, j, b):
        if not self.live:
            return
        self.todo[b].discard((r, j))
        if not self.todo[b]:
            self.exchange(b)

    def exchange(self, b):
        self.done.add(b)
        js = self.buckets[b]
        used = {j for j in js if any(self.params[r][j].grad is not None for r in range(self.n))}
        if not used:
            return
        sizes = [self.params[0][j].numel() for j in js]
        flats = []
        for r in range(self.n):
            buf = torch.zeros(sum(sizes), dtype=self.params[0][js[0]].dtype)
            at = 0
            for j, k in zip(js, sizes):
                g = self.params[r][j].grad
                if g is not None:
                    buf[at : at + k] = g.flatten()
                at += k
            flats.append(buf)
        self.all_reduce(flats)
        for r in range(self.n):
            at = 0
            for j, k in zip(js, sizes):
                if j in used:
                    p = self.params[r][j]
                    p.grad = (flats[r][at : at + k] / self.n).reshape(p.shape)
                at += k

    def end(self):
        for b in range(len(self.buckets)):
            if b not in self.done:
                self.exchange(b)

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        o.zero_grad()
    reducer.begin()
    total = sum(x.shape[0] for mine in batches for x, _ in mine)
    for r, model in enumerate(replicas):
        for i, (x, y) in enumerate(batches[r]):
            reducer.live = i == len(batches[r]) - 1
            loss = loss_fn(model, x, y) * x.shape[0] * len(replicas) / total
            loss.backward()
    reducer.live = False
    reducer.end()
    for o in optimizers:
        o.step()

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    now, sent, held = 0.0, 0.0, 0
    last = len(nbytes) - 1
    for i in range(len(nbytes)):
        held += nbytes[i]
        if held < bucket_bytes and i < last:
            continue
        now = max(now, ready[i])
        for _ in range(2 * (ranks - 1)):  # message by message
            now += latency + held / ranks / bandwidth
            sent += held / ranks
        held = 0
    return sent, now - ready[-1]

# %% in-order
"""Buckets leave in the order of their numbers, as collectives of real ranks have to."""
import torch

class Bucket:
    def __init__(self, params):
        self.params, self.count = params, 0

    @property
    def ready(self):
        return self.count == sum(map(len, self.params))

class Reducer:
    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        self._all_reduce, self._world, self._sync = all_reduce, len(replicas), True
        self._buckets, held = [], bucket_bytes
        for params in reversed([*zip(*(m.parameters() for m in replicas))]):
            if held >= bucket_bytes:
                self._buckets.append(Bucket([]))
                held = 0
            bucket = self._buckets[-1]
            bucket.params.append(params)
            held += params[0].element_size() * params[0].numel()
            for p in params:
                p.register_post_accumulate_grad_hook(lambda _, b=bucket: self._one(b))
        self._next = 0

    def sync(self, on):
        self._sync = on

    def _one(self, bucket):
        if self._sync:
            bucket.count += 1
            while self._next < len(self._buckets) and self._buckets[self._next].ready:
                self._go()

    def _go(self):
        bucket = self._buckets[self._next]
        self._next += 1
        flat = [
            torch.cat([torch.zeros(p.numel(), dtype=p.dtype) if p.grad is None else p.grad.view(-1) for p in mine])
            for mine in zip(*bucket.params)
        ]
        self._all_reduce(flat)
        start = 0
        for params in bucket.params:
            stop = start + params[0].numel()
            if not all(p.grad is None for p in params):
                for p, f in zip(params, flat):
                    p.grad = torch.true_divide(f[start:stop], self._world).view(p.shape)
            start = stop

    def wait(self):
        while self._next < len(self._buckets):
            self._go()
        self._next = 0
        for bucket in self._buckets:
            bucket.count = 0

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        o.zero_grad()
    counts = torch.tensor([[float(len(x)) for x, _ in mine] for mine in batches])
    share = (counts.double() * len(batches) / counts.sum()).unbind()
    n = len(batches[0])
    for i in range(n):
        reducer.sync(i + 1 == n)
        for r, model in enumerate(replicas):
            loss = loss_fn(model, *batches[r][i])
            loss.backward(gradient=share[r][i])
    reducer.wait()
    for o in optimizers:
        o.step()

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    buckets, sizes = [], []
    for b, t in zip(nbytes, ready):
        sizes.append(b)
        if sum(sizes) >= bucket_bytes:
            buckets.append((sum(sizes), t))
            sizes = []
    if sizes:
        buckets.append((sum(sizes), ready[-1]))
    end = 0.0
    for b, t in buckets:
        end = max(end, t) + (2 * ranks - 2) * latency + (2 * ranks - 2) * b / (ranks * bandwidth)
    return sum(b for b, _ in buckets) * (2 - 2 / ranks), end - ready[-1]

# %% closures
"""No methods: the class only holds functions; weights of losses sum to 1 and the sum is the mean."""
import torch

class Reducer:
    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        state = {"armed": False}
        groups, room = [], 0
        for ps in list(zip(*(m.parameters() for m in replicas)))[::-1]:
            if room <= 0:
                groups.append([])
                room = bucket_bytes
            groups[-1].append(ps)
            room -= ps[0].untyped_storage().nbytes()

        def ship(group):
            grads = [[p.grad for p in ps] for ps in group]
            alive = [k for k, gs in enumerate(grads) if any(g is not None for g in gs)]
            if not alive:
                return
            def row(r):
                return torch.hstack([(torch.zeros_like(ps[r]) if ps[r].grad is None else ps[r].grad).ravel() for ps in group])
            rows = [row(r) for r in range(len(replicas))]
            all_reduce(rows)
            for r, whole in enumerate(rows):
                parts = torch.split(whole, [ps[r].numel() for ps in group])
                for k in alive:
                    group[k][r].grad = parts[k].reshape(group[k][r].shape).clone()

        def arm():
            state["armed"] = True
            state["left"] = {id(g): sum(len(ps) for ps in g) for g in groups}

        def flush():
            state["armed"] = False
            for g in groups:
                if state["left"][id(g)] > 0:
                    ship(g)

        def hook_for(g):
            def hook(_):
                if state["armed"]:
                    state["left"][id(g)] -= 1
                    if not state["left"][id(g)]:
                        ship(g)
            return hook

        for g in groups:
            h = hook_for(g)
            for ps in g:
                for p in ps:
                    p.register_post_accumulate_grad_hook(h)
        self.arm, self.flush = arm, flush

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        o.zero_grad()
    total = sum(len(x) for mine in batches for x, _ in mine)
    *early, last = list(zip(*batches))
    def run(column):
        for model, (x, y) in zip(replicas, column):
            (loss_fn(model, x, y) * (len(x) / total)).backward()
    for column in early:
        run(column)
    reducer.arm()
    run(last)
    reducer.flush()
    for o in optimizers:
        o.step()

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    def go(i, held, wire):
        if i == len(nbytes):
            return (wire,)
        held += nbytes[i]
        if held >= bucket_bytes or i == len(nbytes) - 1:
            hops = 2 * (ranks - 1)
            wire = max(wire, ready[i]) + hops * (latency + held / (ranks * bandwidth))
            held = 0
        return go(i + 1, held, wire)
    return 2 * sum(nbytes) * (ranks - 1) / ranks, go(0, 0, 0.0)[0] - ready[-1]

# %% module-attributes
"""Keeps what it knows on the parameters; sends a rank's list in place of its gradients by views."""
import torch

class Reducer:
    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        self.replicas, self.reduce, self.sync = list(replicas), all_reduce, False
        self.names = [n for n, _ in self.replicas[0].named_parameters()][::-1]
        by_name = [dict(m.named_parameters()) for m in self.replicas]
        self.of = {n: [d[n] for d in by_name] for n in self.names}
        self.bucket_of, held, number = {}, 0, 0
        for n in self.names:
            if held >= bucket_bytes:
                number, held = number + 1, 0
            self.bucket_of[n] = number
            held += self.of[n][0].nbytes
        self.members = [[n for n in self.names if self.bucket_of[n] == b] for b in range(number + 1)]
        for n in self.names:
            for p in self.of[n]:
                p.bucket = self.bucket_of[n]
                p.register_post_accumulate_grad_hook(self.on_grad)
        self.arrived = [0] * len(self.members)

    def on_grad(self, p):
        if self.sync:
            self.arrived[p.bucket] += 1
            if self.arrived[p.bucket] == len(self.replicas) * len(self.members[p.bucket]):
                self.send(p.bucket)

    def send(self, b):
        self.arrived[b] = None
        live = [n for n in self.members[b] if any(p.grad is not None for p in self.of[n])]
        flats = []
        for r in range(len(self.replicas)):
            mine = [self.of[n][r] for n in self.members[b]]
            flats.append(torch.nn.utils.parameters_to_vector([p.new_zeros(p.shape) if p.grad is None else p.grad for p in mine]))
        self.reduce(flats)
        for r, flat in enumerate(flats):
            flat *= 1 / len(self.replicas)
            at = 0
            for n in self.members[b]:
                p = self.of[n][r]
                if n in live:
                    p.grad = flat.narrow(0, at, p.numel()).view(p.size())
                at += p.numel()

    def close(self):
        for b, n in enumerate(self.arrived):
            if n is not None:
                self.send(b)
        self.arrived, self.sync = [0] * len(self.members), False

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        o.zero_grad()
    rows = [[x.size(0) for x, _ in mine] for mine in batches]
    mean_rows = sum(map(sum, rows)) / len(rows)
    for i, column in enumerate(zip(*batches), 1):
        reducer.sync = i == len(batches[0])
        for model, (x, y) in zip(replicas, column):
            (x.size(0) / mean_rows * loss_fn(model, x, y)).backward()
    reducer.close()
    for o in optimizers:
        o.step()

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    messages = 2 * (ranks - 1)
    finish, sent, open_ = [0.0], [], []
    for b, t in zip(nbytes, ready):
        open_.append(b)
        if sum(open_) >= bucket_bytes:
            sent.append(sum(open_))
            finish.append(max(finish[-1], t) + messages * latency + messages * sent[-1] / ranks / bandwidth)
            open_ = []
    if open_:
        sent.append(sum(open_))
        finish.append(max(finish[-1], ready[-1]) + messages * latency + messages * sent[-1] / ranks / bandwidth)
    return messages * sum(sent) / ranks, finish[-1] - ready[-1]

# %% autograd-grad-throughout
"""Gradients by torch.autograd.grad for all micro-batches but the last, kept in lists of their own."""
import torch

class Reducer:
    def __init__(self, replicas, all_reduce, bucket_bytes=1):
        self.all_reduce, self.buckets, size = all_reduce, [[]], 0
        self.ranks = len(replicas)
        columns = list(zip(*(list(m.parameters()) for m in replicas)))
        while columns:
            column = columns.pop()
            if size >= bucket_bytes:
                self.buckets.append([])
                size = 0
            self.buckets[-1].append(column)
            size += column[0].nelement() * column[0].element_size()
        self.sent = set(range(len(self.buckets)))
        self.have = set()
        for b, columns in enumerate(self.buckets):
            for column in columns:
                for p in column:
                    p.register_post_accumulate_grad_hook(lambda p, b=b: self.arrive(p, b))

    def open(self):
        self.sent, self.have = set(), set()

    def arrive(self, p, b):
        self.have.add(p)
        if b not in self.sent and all(q in self.have for column in self.buckets[b] for q in column):
            self.launch(b)

    def launch(self, b):
        self.sent.add(b)
        columns = self.buckets[b]
        live = [any(p.grad is not None for p in column) for column in columns]
        for column, one in zip(columns, live):
            if one:
                for p in column:
                    if p.grad is None:
                        p.grad = torch.zeros_like(p)
        if not any(live):
            return
        flat = [
            torch.cat([c[r].grad.reshape(-1) if one else torch.zeros(c[r].numel(), dtype=c[r].dtype) for c, one in zip(columns, live)])
            for r in range(self.ranks)
        ]
        self.all_reduce(flat)
        for r in range(self.ranks):
            at = 0
            for c, one in zip(columns, live):
                n = c[r].numel()
                if one:
                    c[r].grad.copy_((flat[r][at : at + n] / self.ranks).view_as(c[r]))
                at += n

    def flush(self):
        for b in range(len(self.buckets)):
            if b not in self.sent:
                self.launch(b)

def step(replicas, optimizers, reducer, batches, loss_fn):
    for o in optimizers:
        o.zero_grad()
    rows = sum(len(x) for mine in batches for x, _ in mine)
    for model, mine in zip(replicas, batches):
        params = list(model.parameters())
        for x, y in mine[:-1]:
            loss = loss_fn(model, x, y) * len(x) * len(replicas) / rows
            for p, g in zip(params, torch.autograd.grad(loss, params, allow_unused=True)):
                if g is not None:
                    p.grad = g if p.grad is None else p.grad + g
    reducer.open()
    for model, mine in zip(replicas, batches):
        x, y = mine[-1]
        (loss_fn(model, x, y) * len(x) * len(replicas) / rows).backward()
    reducer.flush()
    for o in optimizers:
        o.step()

def cost(nbytes, ready, bucket_bytes, ranks, bandwidth, latency):
    ends, held, k = [0], 0, len(nbytes)
    for i in range(k):
        held += nbytes[i]
        if held >= bucket_bytes or i + 1 == k:
            ends.append(max(ends[-1], ready[i]) + 2 * (ranks - 1) * (latency + held / ranks / bandwidth))
            held = 0
    return 2 * (ranks - 1) * sum(nbytes) / ranks, ends[-1] - ready[-1]
