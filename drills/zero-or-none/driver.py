"""Weights that a net is given, its gradients and steps, how it starts, and nets to report on."""

import math

import torch
import torch.nn.functional as F
from torch import nn

SHAPES = {
    "trunk": (16, 12),
    "trunk_adapter": (16, 16),
    "context": (16, 4),
    "gate": (3, 16),
    "experts.0.0": (24, 16),
    "experts.0.2": (16, 24),
    "experts.1.0": (24, 16),
    "experts.1.2": (16, 24),
    "experts.2.0": (24, 16),
    "experts.2.2": (16, 24),
    "head": (5, 16),
}


def _given(program, seed):
    """What build returns, in float64, with weights of its own in the place of those drawn there."""
    net, opt = program.build(int(seed))
    net.double()
    rng = torch.Generator().manual_seed(int(seed) + 1)
    with torch.no_grad():
        for name, shape in SHAPES.items():
            weight = torch.randn(shape, generator=rng, dtype=torch.float64) / math.sqrt(shape[1])
            net.get_parameter(f"{name}.weight").copy_(weight)
            bias = 0.1 * torch.randn(shape[0], generator=rng, dtype=torch.float64)
            net.get_parameter(f"{name}.bias").copy_(bias)
    return net, opt


def _value(tensor):
    """A copy, or None where there is none."""
    return None if tensor is None else tensor.detach().clone()


def gradients(program, x, c, y, seed):
    """The logits, and the gradients of the mean cross-entropy, None where there is none."""
    net, _ = _given(program, seed)
    logits = net(x.detach().clone(), c.detach().clone())
    F.cross_entropy(logits, y).backward()
    of = {name: _value(net.get_parameter(f"{name}.weight").grad) for name in SHAPES}
    rest = {name: of[name] for name in SHAPES if name not in {"trunk", "trunk_adapter", "context"}}
    return _value(logits), of["trunk_adapter"], of["context"], rest


def stepped(program, x, c, y, seed):
    """The losses of three steps, whether the head moves, and what head, trunk and the rest are."""
    net, opt = _given(program, seed)
    before = {name: value.detach().clone() for name, value in net.named_parameters()}
    losses = [
        float(program.step(net, opt, x.detach().clone(), c.detach().clone(), y)) for _ in range(3)
    ]
    after = {
        f"{name}.{kind}": _value(net.get_parameter(f"{name}.{kind}"))
        for name in SHAPES
        for kind in ("weight", "bias")
    }
    head = {name: value for name, value in after.items() if name.startswith("head.")}
    trunk = {name: value for name, value in after.items() if name.startswith("trunk.")}
    rest = {k: v for k, v in after.items() if k not in head and k not in trunk}
    moves = {name: not torch.equal(value, before[name]) for name, value in head.items()}
    return losses, moves, head, trunk, rest


def start(program, seeds):
    """How a net begins, on 200 rows of normal numbers, in float64.

    Returns for every seed and expert, the worst last: the share of its hidden units that are 0 for
    all rows, and its mean weight.
    """
    idle, weight = [], []
    for seed in map(int, seeds):
        net, _ = program.build(seed)
        net.double()
        rng = torch.Generator().manual_seed(seed + 1)
        x, c = (torch.randn(200, n, generator=rng, dtype=torch.float64) for n in (12, 4))
        p = {name: value.detach() for name, value in net.named_parameters()}

        def linear(of, name, p=p):
            return of @ p[f"{name}.weight"].T + p[f"{name}.bias"]

        h = torch.tanh(linear(x, "trunk"))
        h = h + linear(h, "trunk_adapter") + linear(c, "context")
        weight += torch.softmax(linear(h, "gate"), dim=1).mean(dim=0).tolist()
        for k in range(3):
            dead = (linear(h, f"experts.{k}.0") <= 0).all(dim=0)
            idle.append(dead.double().mean().item())
    return sorted(idle), sorted(weight, reverse=True)


class Parts(nn.Module):
    """A net with a part of each kind; which of them are called is said by `used`."""

    def __init__(self, used):
        """Draw weights from torch's generator."""
        super().__init__()
        self.used = used
        self.frozen = nn.Linear(5, 6)
        self.unused = nn.Linear(6, 6)
        self.cut = nn.Linear(6, 6)
        self.dead = nn.Linear(6, 7)
        self.behind = nn.Linear(7, 3)
        self.scale = nn.Parameter(torch.tensor(0.5))
        self.head = nn.Linear(6, 3)
        self.head_again = self.head
        self.frozen.requires_grad_(False)

    def forward(self, x):
        """Return outputs (rows, 3)."""
        h = torch.tanh(self.frozen(x))
        h = h + self.cut(h).detach()
        y = self.scale * self.head(h)
        if "dead" in self.used:
            y = y + self.behind(F.relu(self.dead(h) - 100))
        return y


MIXED = 1000  # seeds from which on half of the parameters are frozen


def _parts(seed, used=("dead",)):
    torch.manual_seed(int(seed))
    net, x = Parts(used), torch.randn(4, 5)
    if seed >= MIXED:
        for p in net.parameters():
            p.requires_grad_(bool(torch.rand(()) < 0.5))
    return net, x


def _words(program, net, loss):
    """The words in the order of the parameters, and whether these are all names there are."""
    found = program.report(net, loss)
    names = [name for name, _ in net.named_parameters()]
    return {name: found.get(name) for name in names}, len(found)


def reported(program, seed):
    """Words for a net with a part of each kind."""
    net, x = _parts(seed)
    return _words(program, net, net(x).square().sum())


def earlier(program, seed):
    """Words where every parameter has a gradient of another loss, or zeros, in .grad."""
    found = []
    for fill in (1.0, 0.0):
        net, x = _parts(seed)
        for p in net.parameters():
            p.grad = torch.full_like(p, fill)
        found.append(_words(program, net, net(x).square().sum())[0])
    return found


def sized(program, factor):
    """Words for weights w and v, of which the loss has the gradients +-factor and -factor."""
    net = nn.Module()
    net.w = nn.Parameter(torch.tensor([[1.0, 2.0], [-1.0, 0.5]]))
    net.v = nn.Parameter(torch.tensor([3.0, 4.0]))
    net.one = nn.Parameter(torch.tensor([3.0, 4.0, 5.0]))
    loss = factor * ((net.w[:, 0] - net.w[:, 1]).sum() - net.v.sum() + net.one[1])
    return _words(program, net, loss)[0]


def spoiled(program, value):
    """Words where one element of a gradient is NaN or infinite, and another gradient is zeros."""
    net = nn.Module()
    net.w = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    net.v = nn.Parameter(torch.tensor([3.0, 4.0]))
    net.all = nn.Parameter(torch.tensor([1.0, 2.0]))
    at = torch.tensor([1.0, float(value), 0.0])
    loss = (net.w * at).sum() + 0.0 * net.v.sum() + float(value) * net.all.sum()
    return _words(program, net, loss)[0]


def nothing(program, seed):
    """Words for a loss that depends on no parameter, and for a net that is frozen altogether.

    The last loss of a frozen net depends on its input alone, which requires a gradient.
    """
    net, x = _parts(seed)
    alone = _words(program, net, net(x).detach().square().sum())[0]
    net.requires_grad_(False)
    of_nothing = _words(program, net, net(x).square().sum())[0]
    of_input = _words(program, net, net(x.requires_grad_()).square().sum())[0]
    return alone, of_nothing, of_input


def left(program, seed):
    """What a report leaves: .grad, requires_grad and values as they were, a graph to go back.

    Returns which of these hold, and the gradients of the head by a backward after the report.
    """
    net, x = _parts(seed)
    for i, p in enumerate(net.parameters()):
        p.grad = torch.full_like(p, float(i)) if i % 2 else None
    before = [(p.detach().clone(), p.grad, p.requires_grad) for p in net.parameters()]
    loss = net(x).square().sum()
    program.report(net, loss)
    now = list(zip(net.parameters(), before, strict=True))
    grads = [
        (p.grad is None) if g is None else (p.grad is not None and bool((p.grad == i).all()))
        for i, (p, (_, g, _)) in enumerate(now)
    ]
    facts = {
        "values": all(torch.equal(p, value) for p, (value, _, _) in now),
        "grad": all(grads),
        "requires_grad": all(p.requires_grad == asked for p, (_, _, asked) in now),
    }
    net.zero_grad()
    loss.backward()
    return facts, _value(net.head.weight.grad)


class Twice(nn.Module):
    """A ReLU with two names, called by each, one that is not called, one in place; a GELU."""

    def __init__(self):
        """Hold no weights: what comes in is what the units get."""
        super().__init__()
        self.shared = nn.ReLU()
        self.shared_again = self.shared
        self.inner = nn.Sequential(nn.Identity(), nn.ReLU(inplace=True))
        self.skipped = nn.ReLU()
        self.smooth, self.leaky = nn.GELU(), nn.LeakyReLU()  # no nn.ReLU: not counted
        self.dropout = nn.Dropout(0.0)

    def forward(self, a, b, *more):
        """Return a sum, which nobody looks at."""
        outputs = [self.shared(a), self.shared_again(b), self.inner(sum(more, a + b))]
        outputs += [self.smooth(a), self.leaky(b)]
        y = sum(output.sum() for output in outputs)
        for output in outputs:
            output += 1
        return self.dropout(y)


def idle_once(program, a):
    """The shares for one batch, a (rows, units), which the shared ReLU gets twice."""
    return _idle(program, [(a, a)])


def idle(program, a, b, c):
    """The shares for batches a[i], b[i], c[i]: (rows, units) each, or with more axes."""
    return _idle(program, zip(a, b, c, strict=True))


def _idle(program, batches):
    batches = [tuple(x.detach().clone() for x in batch) for batch in batches]
    found = program.idle_units(Twice(), batches)
    # A share that was divided in float32 is right.
    return {name: round(float(share), 6) for name, share in found.items()}


def idle_after(program, a, b):
    """What a call leaves of a net in training and of one that is not.

    Returns how many hooks there are, one being the net's own, and whether the mode of each module,
    .grad, and torch's own mode are as they were.
    """
    found = []
    for training in (True, False):
        net = nn.Sequential(nn.Linear(a.shape[-1], 4), nn.ReLU(), nn.Dropout(0.5)).to(a.dtype)
        net.train(training)
        net[2].train(not training)
        net[1].register_forward_hook(lambda *_: None)
        modes = [m.training for m in net.modules()]
        try:
            program.idle_units(net, [(a[0].detach().clone(),), (b[0].detach().clone(),)])
            recording = torch.is_grad_enabled()
        finally:
            torch.set_grad_enabled(True)
        hooks = sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in net.modules())
        same = [m.training for m in net.modules()] == modes
        found += [hooks, same, all(p.grad is None for p in net.parameters()), recording]
    return found
