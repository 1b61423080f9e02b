# %% graph_freed_by_the_report
# named: graph-used-up
"""Wrong: the report frees the graph of the loss."""

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
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16))
            for _ in range(3)
        )
        self.head = nn.Linear(16, classes)

    def forward(self, x, c):
        h = torch.tanh(self.trunk(x))
        h = h + self.trunk_adapter(h)
        h = h + self.context(c)
        weights = torch.softmax(self.gate(h), dim=1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((weights[:, :, None] * outputs).sum(dim=1))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net(classes=5)
    net.trunk.requires_grad_(False)
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    return net, opt


def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()


def causes():
    return ["cut", "dead", "frozen", "saturated", "stale"]


if __name__ == "__main__":
    net, opt = build()
    for i in range(300):
        loss = step(net, opt, *readings.batch(seed=i))
        if i % 60 == 0:
            print(f"step {i:3}   loss {loss:.3f}")
    for name, p in net.named_parameters():
        norm = 0.0 if p.grad is None else p.grad.norm().item()
        print(f"{name:22} {norm:.4f}")

def report(net, loss):
    names, ps = zip(*net.named_parameters())
    live = [p for p in ps if p.requires_grad]
    if live and loss.requires_grad:
        gs = torch.autograd.grad(loss, live, allow_unused=True)
    else:
        gs = [None]*len(live)
    it = iter(gs)
    out = {}
    for n, p in zip(names, ps):
        if not p.requires_grad: out[n] = "frozen"; continue
        g = next(it)
        if g is None: out[n] = "none"
        elif not torch.isfinite(g).all(): out[n] = "nan"
        elif not g.any(): out[n] = "zero"
        else: out[n] = "ok"
    return out

def idle_units(net, batches):
    alive, hs = {}, []
    training = {m: m.training for m in net.modules()}
    def mk(name):
        def hook(m, i, o):
            a = (o.detach() != 0).reshape(-1, o.shape[-1]).any(0)
            alive[name] = alive[name] | a if name in alive else a
        return hook
    for name, m in net.named_modules():
        if isinstance(m, nn.ReLU):
            hs.append(m.register_forward_hook(mk(name)))
    try:
        with torch.no_grad():
            for b in batches: net(*b)
    finally:
        for h in hs: h.remove()
    return {n: 1 - a.float().mean().item() for n, a in alive.items()}
