"""autograd.grad gets an empty list where the whole net is frozen, and raises."""

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
    if loss.requires_grad:
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
