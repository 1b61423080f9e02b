# %% eager_and_plain
"""Written down at length: a module for each piece, the report by torch.func, loops over units."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self):
        super().__init__()
        self.add_module("0", nn.Linear(16, 24))
        self.add_module("2", nn.Linear(24, 16))

    def forward(self, h):
        hidden = getattr(self, "0")(h)
        return getattr(self, "2")(hidden * (hidden > 0))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList([Expert(), Expert(), Expert()])
        self.head = nn.Linear(16, 5)

    def forward(self, x, c):
        h = torch.tanh(self.trunk(x))
        h = h + self.trunk_adapter(h)
        h = h + self.context(c)
        weights = self.gate(h).log_softmax(dim=1).exp()
        y = torch.zeros_like(h)
        for k in range(3):
            y = y + weights[:, k].unsqueeze(1) * self.experts[k](h)
        return self.head(y)


def build(seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = Net()
    net.trunk.requires_grad_(False)
    return net, torch.optim.SGD(net.parameters(), lr=0.1)


def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    learns = [p for group in opt.param_groups for p in group["params"] if p.requires_grad]
    for p, g in zip(learns, torch.autograd.grad(loss, learns)):
        p.grad = g
    opt.step()
    return loss.item()


def causes():
    return ["dead", "saturated", "cut", "frozen", "stale"]


def report(net, loss):
    words = {}
    for name, p in net.named_parameters():
        if not p.requires_grad:
            words[name] = "frozen"
        elif not loss.requires_grad:
            words[name] = "none"
        else:
            grad = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
            if grad is None:
                words[name] = "none"
            else:
                largest = grad.abs().sum(dtype=torch.float64)
                if not torch.isfinite(largest):
                    words[name] = "nan"
                elif largest == 0:
                    words[name] = "zero"
                else:
                    words[name] = "ok"
    return words


def idle_units(net, batches):
    outputs = {}
    hooks = []
    for name, module in net.named_modules():
        if isinstance(module, nn.ReLU):
            outputs[name] = []
            keep = lambda _m, _i, out, to=outputs[name]: to.append(out.detach().clone()) and None
            hooks.append(module.register_forward_hook(keep))
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    for hook in hooks:
        hook.remove()
    shares = {}
    for name, found in outputs.items():
        if not found:
            continue
        units = found[0].shape[-1]
        idle = 0
        for u in range(units):
            if all(bool((out[..., u] == 0).all()) for out in found):
                idle += 1
        shares[name] = idle / units
    return shares


# %% goes_back_and_restores
"""The report goes back through the graph, and puts .grad back as it was."""

import readings
import torch
import torch.nn.functional as F
from torch import nn

FROZEN = {"trunk.weight", "trunk.bias"}


class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, classes)
        for name, p in self.named_parameters():
            p.requires_grad_(name not in FROZEN)

    def forward(self, x, c):
        with torch.no_grad():
            t = torch.tanh(self.trunk(x))
        h = t + self.trunk_adapter(t) + self.context(c)
        weights = self.gate(h).softmax(dim=-1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head(torch.einsum("be,bed->bd", weights, outputs))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    return net, opt


def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return float(loss.detach())


def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]


def report(net, loss):
    params = dict(net.named_parameters())
    live = {n: p for n, p in params.items() if p.requires_grad}
    grads = {}
    if live and loss.requires_grad:
        kept = [p.grad for p in live.values()]
        for p in live.values():
            p.grad = None
        loss.backward(retain_graph=True)
        found = [p.grad for p in live.values()]
        for p, k in zip(live.values(), kept):
            p.grad = k
        grads = dict(zip(live, found))

    def word(name):
        if name not in live:
            return "frozen"
        g = grads.get(name)
        if g is None:
            return "none"
        if not torch.isfinite(g).all():
            return "nan"
        return "ok" if (g != 0).any() else "zero"

    return {name: word(name) for name in params}


@torch.no_grad()
def idle_units(net, batches):
    alive = {}

    def watch(name):
        def hook(module, inputs, output):
            fired = (output != 0).reshape(-1, output.shape[-1]).any(dim=0)
            alive[name] = alive[name] | fired if name in alive else fired

        return hook

    handles = [
        m.register_forward_hook(watch(name))
        for name, m in net.named_modules()
        if isinstance(m, nn.ReLU)
    ]
    try:
        for batch in batches:
            net(*batch)
    finally:
        for handle in handles:
            handle.remove()
    return {name: 1 - on.float().mean().item() for name, on in alive.items()}


# %% inputs_above_zero
"""A unit is busy where what comes in is above 0."""

import readings
import torch
import torch.nn.functional as F
from torch import nn

FROZEN = {"trunk.weight", "trunk.bias"}


class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, classes)
        for name, p in self.named_parameters():
            p.requires_grad_(name not in FROZEN)

    def forward(self, x, c):
        with torch.no_grad():
            t = torch.tanh(self.trunk(x))
        h = t + self.trunk_adapter(t) + self.context(c)
        weights = self.gate(h).softmax(dim=-1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head(torch.einsum("be,bed->bd", weights, outputs))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    return net, opt


def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    return float(loss.detach())


def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]


def report(net, loss):
    params = dict(net.named_parameters())
    live = {n: p for n, p in params.items() if p.requires_grad}
    grads = {}
    if live and loss.requires_grad:
        found = torch.autograd.grad(loss, list(live.values()), retain_graph=True, allow_unused=True)
        grads = dict(zip(live, found))

    def word(name):
        if name not in live:
            return "frozen"
        g = grads.get(name)
        if g is None:
            return "none"
        if not torch.isfinite(g).all():
            return "nan"
        return "ok" if (g != 0).any() else "zero"

    return {name: word(name) for name in params}


@torch.no_grad()
def idle_units(net, batches):
    alive = {}

    def watch(name):
        def hook(module, inputs, output):
            fired = (inputs[0] > 0).reshape(-1, output.shape[-1]).any(dim=0)
            alive[name] = alive[name] | fired if name in alive else fired

        return hook

    handles = [
        m.register_forward_hook(watch(name))
        for name, m in net.named_modules()
        if isinstance(m, nn.ReLU)
    ]
    try:
        for batch in batches:
            net(*batch)
    finally:
        for handle in handles:
            handle.remove()
    return {name: 1 - on.float().mean().item() for name, on in alive.items()}


# %% style_a
"""Style: that of head_keeps_ten_classes and others, repaired."""

import readings
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, classes)

    def forward(self, x, c):
        h = torch.tanh(self.trunk(x))
        h = h + self.trunk_adapter(h)
        room = self.context(c)
        h = h + room
        weights = torch.softmax(self.gate(h), dim=1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((weights[:, :, None] * outputs).sum(dim=1))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    net.head = nn.Linear(16, 5)
    for name, p in net.named_parameters():
        if name.startswith("trunk."):
            p.requires_grad_(False)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return net, opt


def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()


def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]


def report(net, loss):
    words = {}
    for name, p in net.named_parameters():
        if not p.requires_grad:
            words[name] = "frozen"
            continue
        grad = None
        if loss.requires_grad:
            (grad,) = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)
        if grad is None:
            words[name] = "none"
        elif not grad.isfinite().all():
            words[name] = "nan"
        else:
            words[name] = "ok" if (grad != 0).any() else "zero"
    return words


def idle_units(net, batches):
    busy = {}

    def watch(name, relu):
        def hook(module, inputs, output):
            above = (output > 0).flatten(0, -2).any(dim=0)
            busy[name] = busy[name] | above if name in busy else above

        return relu.register_forward_hook(hook)

    hooks = [watch(n, m) for n, m in net.named_modules() if isinstance(m, nn.ReLU)]
    try:
        with torch.no_grad():
            for batch in batches:
                net(*batch)
    finally:
        for hook in hooks:
            hook.remove()
    return {name: 1 - above.double().mean().item() for name, above in busy.items()}


if __name__ == "__main__":
    net, opt = build()
    for i in range(300):
        loss = step(net, opt, *readings.batch(seed=i))
        if i % 60 == 0:
            print(f"step {i:3}   loss {loss:.3f}")
    for name, p in net.named_parameters():
        norm = 0.0 if p.grad is None else p.grad.norm().item()
        print(f"{name:22} {norm:.4f}")
