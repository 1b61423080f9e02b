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
        # why: Under no_grad nothing is recorded, so that what is only behind it has the gradient
        #      None.
        room = self.context(c)
        h = h + room
        weights = torch.softmax(self.gate(h), dim=1)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((weights[:, :, None] * outputs).sum(dim=1))


def build(seed=0):
    torch.manual_seed(seed)
    net = Net()
    # why: An optimizer keeps the tensors that it is given. A head that comes later has gradients,
    #      and nobody who makes a step with them.
    net.head = nn.Linear(16, 5)
    for name, p in net.named_parameters():
        # why: The prefix "trunk" is that of trunk_adapter as well, which is new and has to learn.
        if name.startswith("trunk."):
            p.requires_grad_(False)
    # why: With a bias of 200 the other weights underflow to 0, and so do all slopes; with -6 no
    #      hidden unit is above 0 in any row. The values that torch draws will do.
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    return net, opt


def step(net, opt, x, c, y):
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()


def causes():
    # why: None in .grad is frozen or cut, a 0 that is exact is dead or saturated, and a gradient
    #      whose weights stay is not the optimizer's. The others are cleared by a print.
    return ["cut", "dead", "frozen", "saturated", "stale"]


# why 2: Asked of autograd.grad, gradients are those of this loss alone, None where there is no
#        path, and judged element by element, because the squares in a norm underflow.
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


# why 3: A unit is idle if no row of any batch and no call brings it above 0, so that what was seen
#        is kept from call to call.
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
