"""The report calls frozen what the loss does not reach."""

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
            words[name] = "frozen"
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
