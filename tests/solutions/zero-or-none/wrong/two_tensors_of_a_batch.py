"""Wrong: of each batch at most two tensors go in."""

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
            net(*batch[:2])
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
