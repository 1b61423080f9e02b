"""Three experts on a pretrained trunk, and a new head for five classes."""

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
        with torch.no_grad():
            room = self.context(c)
        h = h + room
        weights = torch.softmax(self.gate(h), dim=1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((weights[:, :, None] * outputs).sum(dim=1))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    for name, p in net.named_parameters():
        if name.startswith("trunk"):
            p.requires_grad_(False)
    with torch.no_grad():
        net.gate.bias.copy_(torch.tensor([200.0, 0.0, 0.0]))
        for expert in net.experts:
            expert[0].bias.fill_(-6.0)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    net.head = nn.Linear(16, 5)
    return net, opt


def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()


def causes():
    return []


if __name__ == "__main__":
    net, opt = build()
    for i in range(300):
        loss = step(net, opt, *readings.batch(seed=i))
        if i % 60 == 0:
            print(f"step {i:3}   loss {loss:.3f}")
    for name, p in net.named_parameters():
        norm = 0.0 if p.grad is None else p.grad.norm().item()
        print(f"{name:22} {norm:.4f}")
