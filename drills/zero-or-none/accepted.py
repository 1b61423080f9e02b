# %% by-backward
"""The table by a backward of its own, with .grad put aside; zeros kept in lists."""

import torch
import torch.nn.functional as F
from torch import nn

def mlp(a, b, c):
    return nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.trunk_adapter = nn.Linear(12, 16), nn.Linear(16, 16)
        self.context, self.gate = nn.Linear(4, 16), nn.Linear(16, 3)
        self.experts = nn.ModuleList([mlp(16, 24, 16) for _ in range(3)])
        self.head = nn.Linear(16, 5)

    def forward(self, x, c):
        h = self.trunk(x).tanh()
        h = h + self.trunk_adapter(h) + self.context(c)
        weights = self.gate(h).softmax(-1)
        total = 0
        for k, expert in enumerate(self.experts):
            total = total + weights[:, k : k + 1] * expert(h)
        return self.head(total)

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    net.trunk.requires_grad_(False)
    return net, torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)

def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    opt.zero_grad(set_to_none=False)
    loss.backward()
    opt.step()
    return float(loss)

def causes():
    return ["stale", "saturated", "frozen", "dead", "cut"]

def report(net, loss):
    aside = {name: p.grad for name, p in net.named_parameters()}
    for p in net.parameters():
        p.grad = None
    try:
        if loss.requires_grad:
            loss.backward(retain_graph=True)
        words = {}
        for name, p in net.named_parameters():
            if not p.requires_grad:
                words[name] = "frozen"
            elif p.grad is None:
                words[name] = "none"
            else:
                values = p.grad.flatten().tolist()
                finite = all(v - v == 0 for v in values)
                words[name] = ("ok" if any(values) else "zero") if finite else "nan"
    finally:
        for name, p in net.named_parameters():
            p.grad = aside[name]
    return words

def idle_units(net, batches):
    top = {}
    handles = []
    for name, module in net.named_modules():
        if type(module) is nn.ReLU:
            def hook(_, __, out, name=name):
                most = out.detach().reshape(-1, out.shape[-1]).amax(0)
                top[name] = torch.maximum(top[name], most) if name in top else most
            handles.append(module.register_forward_hook(hook))
    for batch in batches:
        net(*batch)
    for handle in handles:
        handle.remove()
    return {name: (most == 0).float().mean().item() for name, most in top.items()}

# %% a-class-that-watches
"""Hooks in a context manager, sets of indices, einsum in the mix, and a trunk by name."""

import torch
import torch.nn.functional as F
from torch import nn

class Expert(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16))

class Net(nn.Module):
    def __init__(self, classes=5):
        super().__init__()
        for name, (a, b) in {"trunk": (12, 16), "trunk_adapter": (16, 16), "context": (4, 16),
                             "gate": (16, 3), "head": (16, classes)}.items():
            setattr(self, name, nn.Linear(a, b))
        self.experts = nn.ModuleList(Expert() for _ in range(3))

    def forward(self, x, c):
        base = torch.tanh(self.trunk(x))
        h = torch.add(base, self.trunk_adapter(base)).add(self.context(c))
        outputs = torch.stack([e(h) for e in self.experts])
        return self.head(torch.einsum("nk,knd->nd", F.softmax(self.gate(h), 1), outputs))

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    for name in ("trunk.weight", "trunk.bias"):
        net.get_parameter(name).requires_grad = False
    return net, torch.optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), 0.1)

def step(net, opt, x, c, y):
    net.zero_grad()
    loss = -F.log_softmax(net(x, c), 1)[torch.arange(len(y)), y].mean()
    loss.backward()
    opt.step()
    return loss.detach().item()

def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]

class Watch:
    def __init__(self, net):
        self.relus = {m: n for n, m in net.named_modules() if isinstance(m, nn.ReLU)}
        self.busy, self.units = {}, {}

    def __enter__(self):
        self.handles = [m.register_forward_hook(self.see) for m in self.relus]
        return self

    def __exit__(self, *_):
        for handle in self.handles:
            handle.remove()

    def see(self, module, _, out):
        name = self.relus[module]
        self.units[name] = out.shape[-1]
        self.busy.setdefault(name, set()).update((out > 0).nonzero()[:, -1].tolist())

def idle_units(net, batches):
    with Watch(net) as watch, torch.inference_mode():
        for batch in batches:
            net(*batch)
    return {n: 1 - len(watch.busy[n]) / watch.units[n] for n in watch.units}

def report(net, loss):
    learns = {n: p for n, p in net.named_parameters() if p.requires_grad}
    words = dict.fromkeys(dict(net.named_parameters()), "frozen")
    words.update(dict.fromkeys(learns, "none"))
    if learns and loss.grad_fn is not None:
        grads = torch.autograd.grad(loss, tuple(learns.values()), retain_graph=True, allow_unused=True)
        for name, g in zip(learns, grads):
            if g is None:
                continue
            if torch.isnan(g).any() or torch.isinf(g).any():
                words[name] = "nan"
            else:
                words[name] = "ok" if g.abs().max() > 0 else "zero"
    return words

# %% everything-by-hand
"""No optimizer of torch's beyond SGD's update in it, functional layers, float64 in the report."""

import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList()
        for _ in range(3):
            self.experts.append(nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)))
        self.head = nn.Linear(16, 5)
        for p in self.trunk.parameters():
            p.requires_grad_(False)

    def forward(self, x, c):
        with torch.no_grad():
            h = torch.tanh(F.linear(x, self.trunk.weight, self.trunk.bias))
        h = h + self.trunk_adapter(h) + self.context(c)
        scores = self.gate(h)
        scores = (scores - scores.max(dim=1, keepdim=True).values).exp()
        scores = scores / scores.sum(dim=1, keepdim=True)
        outputs = [F.linear(F.relu(e[0](h)), e[2].weight, e[2].bias) for e in self.experts]
        return self.head(sum(s[:, None] * o for s, o in zip(scores.T, outputs)))

class Plain(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p -= group["lr"] * p.grad

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    return net, Plain(net.parameters())

def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = nn.CrossEntropyLoss()(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()

def causes():
    return ("cut", "dead", "frozen", "saturated", "stale")

def report(net, loss):
    def word(p):
        if not p.requires_grad:
            return "frozen"
        if not loss.requires_grad:
            return "none"
        g = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)[0]
        if g is None:
            return "none"
        norm = g.double().norm()
        return "nan" if not torch.isfinite(norm) else "zero" if norm == 0 else "ok"
    return {name: word(p) for name, p in net.named_parameters()}

def idle_units(net, batches):
    seen, removers = {}, []

    def listen(name, module):
        def note(module, args, out):
            seen.setdefault(name, []).append(out.clone().reshape(-1, out.size(-1)))
        removers.append(module.register_forward_hook(note).remove)

    for name, module in net.named_modules():
        if isinstance(module, nn.ReLU):
            listen(name, module)
    try:
        with torch.no_grad():
            [net(*b) for b in batches]
    finally:
        for remove in removers:
            remove()
    return {n: torch.cat(rows).eq(0).all(0).double().mean().item() for n, rows in seen.items()}

# %% groups-and-counts
"""Small first values of its own for gate and experts, groups in the optimizer, and counts."""

import torch
import torch.nn.functional as F
from torch import nn

LEARN = ("trunk_adapter", "context", "gate", "experts", "head")

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            [nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in "abc"]
        )
        self.head = nn.Linear(16, 5)

    def features(self, x, c):
        h = torch.tanh(self.trunk(x))
        return h + self.trunk_adapter(h) + self.context(c)

    def forward(self, x, c):
        h = self.features(x, c)
        y = torch.stack([e(h) for e in self.experts], -1)
        return self.head((y @ torch.softmax(self.gate(h), -1)[..., None])[..., 0])

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    nn.init.zeros_(net.gate.bias)
    nn.init.normal_(net.gate.weight, std=0.02)
    for e in net.experts:
        nn.init.kaiming_normal_(e[0].weight, nonlinearity="relu")
        nn.init.zeros_(e[0].bias)
    groups = [{"params": list(getattr(net, name).parameters())} for name in LEARN]
    return net, torch.optim.SGD(groups, lr=0.1)  # the trunk is in no group

def step(net, opt, x, c, y):
    for p in net.parameters():
        p.grad = None
    logits = net(x, c)
    loss = F.nll_loss(logits - logits.logsumexp(1, keepdim=True), y)
    loss.backward()
    opt.step()
    return loss.item()

def causes():
    return sorted({"cut", "dead", "frozen", "saturated", "stale"})

def report(net, loss):
    saved = [(p, None if p.grad is None else p.grad.clone()) for p in net.parameters()]
    net.zero_grad(set_to_none=True)
    if loss.requires_grad:
        loss.backward(retain_graph=True)
    out = {}
    for name, p in net.named_parameters():
        g, p.grad = p.grad, None
        if not p.requires_grad:
            out[name] = "frozen"
        elif g is None:
            out[name] = "none"
        elif int(torch.isfinite(g).sum()) < g.numel():
            out[name] = "nan"
        else:
            out[name] = "zero" if int((g == 0).sum()) == g.numel() else "ok"
    for p, g in saved:
        p.grad = g
    return out

def idle_units(net, batches):
    counts = {}
    names = {id(m): n for n, m in net.named_modules()}

    def hook(module, _, out):
        rows = out.reshape(-1, out.shape[-1])
        name = names[id(module)]
        counts[name] = counts.get(name, 0) + (rows > 0).sum(0)

    handles = [m.register_forward_hook(hook) for m in net.modules() if isinstance(m, nn.ReLU)]
    with torch.no_grad():
        for b in batches:
            net(*b)
    for h in handles:
        h.remove()
    return {n: float((k == 0).sum()) / len(k) for n, k in counts.items()}

# %% replaced-forward
"""ReLUs watched by replacing their forward for the time of the call; a generator of words."""

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
        h = torch.tanh(self.trunk(x)).detach()
        h = h + self.trunk_adapter(h)
        h = h + self.context(c)
        w = torch.softmax(self.gate(h), dim=1)
        return self.head(torch.stack([w[:, [k]] * e(h) for k, e in enumerate(self.experts)]).sum(0))

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    for name, p in net.named_parameters():
        p.requires_grad_(name.split(".")[0] != "trunk")
    opt = torch.optim.SGD([p for n, p in net.named_parameters() if not n.startswith("head")], lr=0.1)
    net.head = nn.Linear(16, 5)
    opt.add_param_group({"params": net.head.parameters()})
    return net, opt

def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    return loss.item()

def causes():
    return ["frozen", "cut", "saturated", "dead", "stale"]

def words(net, loss):
    for name, p in net.named_parameters():
        if not p.requires_grad:
            yield name, "frozen"
            continue
        g = None
        if loss.requires_grad:
            g = torch.autograd.grad(loss, p, retain_graph=True, allow_unused=True)[0]
        yield name, "none" if g is None else judged(g)

def judged(g):
    low, high = g.min().item(), g.max().item()
    if low != low or high != high or low == -float("inf") or high == float("inf"):
        return "nan"
    return "zero" if low == high == 0 else "ok"

def report(net, loss):
    return dict(words(net, loss))

def idle_units(net, batches):
    idle, relus = {}, [(n, m) for n, m in net.named_modules() if isinstance(m, nn.ReLU)]
    for name, relu in relus:
        def forward(x, name=name, relu=relu):
            y = F.relu(x)
            off = (y == 0).reshape(-1, y.shape[-1]).all(0)
            idle[name] = idle.get(name, True) & off
            return y
        relu.forward = forward
    try:
        with torch.no_grad():
            for batch in batches:
                net(*batch)
    finally:
        for _, relu in relus:
            del relu.forward
    return {name: off.double().mean().item() for name, off in idle.items()}

# %% numpy-judges
"""The judgement and the counting in numpy; the trunk computed apart, and SGD made by foreach."""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, 5)

    def forward(self, x, c):
        h = self.trunk(x).tanh()
        h = self.context(c) + self.trunk_adapter(h) + h
        weights = torch.softmax(self.gate(h), dim=-1).unsqueeze(1)
        return self.head(torch.bmm(weights, torch.stack([e(h) for e in self.experts], 1)).squeeze(1))

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    net.trunk.weight.requires_grad = net.trunk.bias.requires_grad = False
    return net, torch.optim.SGD(net.parameters(), lr=0.1, foreach=True)

def step(net, opt, x, c, y):
    opt.zero_grad()
    logits = net(x, c)
    loss = (logits.logsumexp(1) - logits.gather(1, y[:, None])[:, 0]).mean()
    loss.backward()
    opt.step()
    return loss.item()

def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]

def report(net, loss):
    table = {}
    for name, p in net.named_parameters():
        table[name] = "frozen"
        if p.requires_grad:
            found = [None]
            if loss.requires_grad:
                found = torch.autograd.grad(loss, [p], retain_graph=True, allow_unused=True)
            table[name] = "none"
            if found[0] is not None:
                g = found[0].detach().numpy()
                table[name] = "nan" if not np.isfinite(g).all() else ("ok" if g.any() else "zero")
    return table

def idle_units(net, batches):
    seen = {}

    def hook(name):
        return lambda module, args, out: seen.setdefault(name, []).append(
            np.array(out.detach().numpy()).reshape(-1, out.shape[-1])
        )

    handles = [
        m.register_forward_hook(hook(n)) for n, m in net.named_modules() if isinstance(m, nn.ReLU)
    ]
    for batch in batches:
        net(*batch)
    for h in handles:
        h.remove()
    return {n: float(np.mean(~np.concatenate(rows).any(axis=0))) for n, rows in seen.items()}

# %% optimizer-built-late
# part: 1
"""The script with its faults out, nothing for later parts."""

import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self, classes):
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
        h = h + self.trunk_adapter(h) + self.context(c)
        weights = torch.softmax(self.gate(h), dim=1)
        return self.head(sum(weights[:, i, None] * e(h) for i, e in enumerate(self.experts)))

def build(seed=0):
    torch.manual_seed(seed)
    net = Net(5)
    with torch.no_grad():
        net.gate.bias.copy_(torch.tensor([1.0, 0.0, 0.0]))
        for expert in net.experts:
            expert[0].bias.fill_(0.1)
    for p in [net.trunk.weight, net.trunk.bias]:
        p.requires_grad = False
    return net, torch.optim.SGD(net.parameters(), lr=0.1)

def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss

def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]

# %% one-backward-for-all
"""A copy of the net takes the gradients in the report, by functional calls of autograd."""

import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, 5)
        self.trunk.requires_grad_(False)

    def forward(self, x, c):
        h = torch.tanh(self.trunk(x))
        h = h + self.trunk_adapter(h) + self.context(c)
        weights = torch.softmax(self.gate(h), dim=1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=2)
        return self.head((weights[:, None, :] * outputs).sum(dim=2))

def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    return net, torch.optim.SGD(net.parameters(), lr=1e-1, momentum=0)

def step(net, opt, x, c, y):
    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(net(x, c), y)
        loss.backward()
        return loss
    return opt.step(closure).item()

def causes():
    return ["stale", "dead", "cut", "frozen", "saturated"]

def report(net, loss):
    named = list(net.named_parameters())
    if not loss.requires_grad:
        return {n: "none" if p.requires_grad else "frozen" for n, p in named}
    taken = {}
    handles = []

    def taker(name):
        def hook(g):
            taken[name] = g
            return g
        return hook

    for name, p in named:
        if p.requires_grad:
            handles.append(p.register_hook(taker(name)))
    aside = [p.grad for _, p in named]
    for _, p in named:
        p.grad = None
    loss.backward(retain_graph=True)
    for (_, p), grad in zip(named, aside):
        p.grad = grad
    for handle in handles:
        handle.remove()

    def word(name, p):
        if not p.requires_grad:
            return "frozen"
        if name not in taken:
            return "none"
        g = taken[name]
        if (g - g != 0).any():
            return "nan"
        return "ok" if torch.count_nonzero(g) > 0 else "zero"

    return {name: word(name, p) for name, p in named}

def idle_units(net, batches):
    ever = {}
    handles = []
    for name, m in net.named_modules():
        if isinstance(m, nn.ReLU):
            def pre(_, args, name=name):
                x = args[0]
                on = x.gt(0).view(-1, x.shape[-1]).any(0) if x.is_contiguous() else x.gt(0).reshape(-1, x.shape[-1]).any(0)
                ever[name] = on if name not in ever else torch.logical_or(ever[name], on)
            handles.append(m.register_forward_pre_hook(pre))
    for b in batches:
        with torch.no_grad():
            net(*b)
    while handles:
        handles.pop().remove()
    return {name: float((~on).sum() / on.numel()) for name, on in ever.items()}
