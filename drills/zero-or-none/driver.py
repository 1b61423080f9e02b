"""Weights that a net is given, its gradients and steps, how it starts, and nets to report on."""

import math
from collections import OrderedDict

import numpy as np
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


def _weights(seed):
    """Return values of all parameters by name, which are not those that build draws."""
    rng, found = torch.Generator().manual_seed(int(seed) + 1), {}
    for name, shape in SHAPES.items():
        weight = torch.randn(shape, generator=rng, dtype=torch.float64)
        found[f"{name}.weight"] = weight / math.sqrt(shape[1])
        bias = torch.randn(shape[0], generator=rng, dtype=torch.float64)
        found[f"{name}.bias"] = 0.1 * bias
    return found


def _given(program, seed):
    """Return what build returns, in float64, with other values of all parameters."""
    net, opt = program.build(int(seed))
    net.double()
    with torch.no_grad():
        for name, value in _weights(seed).items():
            net.get_parameter(name).copy_(value)
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
    """Return the losses of three steps, and the parameters of head, trunk and the rest after."""
    net, opt = _given(program, seed)
    losses = [
        float(program.step(net, opt, x.detach().clone(), c.detach().clone(), y)) for _ in range(3)
    ]
    after = {name: _value(net.get_parameter(name)) for name in _weights(seed)}
    head = {name: value for name, value in after.items() if name.startswith("head.")}
    trunk = {name: value for name, value in after.items() if name.startswith("trunk.")}
    rest = {k: v for k, v in after.items() if k not in head and k not in trunk}
    return losses, head, trunk, rest


def moved(head, seed):
    """Return whether each parameter of the head differs from what it was before the steps."""
    given = _weights(seed)
    return {name: not np.array_equal(value, given[name].numpy()) for name, value in head.items()}


def begun(program, nets, seed):
    """Return the parameters of nets as build returns them, in float64."""
    built = [program.build(int(seed) + k)[0].double() for k in range(int(nets))]
    return [{name: _value(net.get_parameter(name)) for name in _weights(0)} for net in built]


def start(begun, nets, seed):
    """Judge how nets begin, on 200 rows of normal numbers.

    Returns for every net and expert, the worst last: the share of its hidden units that are 0 for
    all rows, and its mean weight. If nets are missing, these are NaN.
    """
    if len(begun) != int(nets):
        return [math.nan], [math.nan]
    idle, weight = [], []
    for k, values in enumerate(begun):
        rng = torch.Generator().manual_seed(int(seed) + k + 1)
        x, c = (torch.randn(200, n, generator=rng, dtype=torch.float64) for n in (12, 4))
        p = {name: torch.from_numpy(value) for name, value in values.items()}

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


def _more(net, drawn, factor):
    """Add parameters of one number, and return a loss: one that is drawn has such a gradient.

    Args:
        net: that gets the parameters.
        drawn: -1, 0 or 1 for each: its gradient is -1, 0 or `factor`.
        factor: any number.
    """
    total = 0.0
    for i, one in enumerate(drawn.tolist()):
        p = nn.Parameter(torch.tensor([2.0]))
        net.register_parameter(f"p{i}", p)
        total = total + {-1: -1.0, 0: 0.0, 1: float(factor)}[int(one)] * p.sum()
    return total


def sized(program, factor, drawn):
    """Words for weights w and v, of which the loss has the gradients +-factor and -factor.

    Further parameters have gradients that are drawn: -1, 0 or factor.
    """
    net = nn.Module()
    net.w = nn.Parameter(torch.tensor([[1.0, 2.0], [-1.0, 0.5]]))
    net.v = nn.Parameter(torch.tensor([3.0, 4.0]))
    net.one = nn.Parameter(torch.tensor([3.0, 4.0, 5.0]))
    loss = factor * ((net.w[:, 0] - net.w[:, 1]).sum() - net.v.sum() + net.one[1])
    return _words(program, net, loss + _more(net, drawn, factor))[0]


def spoiled(program, value, drawn):
    """Words where one element of a gradient is NaN or infinite, and another gradient is zeros.

    Further parameters have gradients that are drawn: -1, 0 or value.
    """
    net = nn.Module()
    net.w = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    net.v = nn.Parameter(torch.tensor([3.0, 4.0]))
    net.all = nn.Parameter(torch.tensor([1.0, 2.0]))
    at = torch.tensor([1.0, float(value), 0.0])
    loss = (net.w * at).sum() + 0.0 * net.v.sum() + float(value) * net.all.sum()
    return _words(program, net, loss + _more(net, drawn, value))[0]


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
    """Return what a report leaves: values, .grad and requires_grad of all parameters.

    Every other parameter has a .grad before. The last result has the gradients of a backward after
    the report.
    """
    net, x = _parts(seed)
    named = dict(net.named_parameters())
    for i, p in enumerate(named.values()):
        p.grad = torch.full_like(p, float(i)) if i % 2 else None
    loss = net(x).square().sum()
    goes_back = loss.requires_grad
    program.report(net, loss)
    values = {name: _value(p) for name, p in named.items()}
    grads = {name: _value(p.grad) for name, p in named.items()}
    requires_grad = {name: p.requires_grad for name, p in named.items()}
    net.zero_grad()
    if goes_back:
        loss.backward()
    return values, grads, requires_grad, {name: _value(p.grad) for name, p in named.items()}


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


def idle_after(program, a, seed):
    """Return hooks, modes, .grad and torch's recording of gradients as two calls leave them.

    The second call, of another net, is under no_grad. All that is compared is drawn before a call,
    but for torch's mode.
    """
    rng = torch.Generator().manual_seed(int(seed))
    hooks, training, grads, recording = {}, {}, {}, {}
    for place, records in (("", True), (" under no_grad", False)):
        net = nn.Sequential(
            OrderedDict(
                linear=nn.Linear(a.shape[-1], 4),
                relu=nn.ReLU(),
                dropout=nn.Dropout(0.5),
                head=nn.Linear(4, 3),
            )
        ).to(a.dtype)
        for module in net.modules():
            module.training = bool(torch.randint(2, (), generator=rng))
            for _ in range(int(torch.randint(3, (), generator=rng))):
                module.register_forward_hook(lambda *_: None)
        net.linear.training, net.dropout.training = True, False
        net.relu.register_forward_hook(lambda *_: None)
        for p in net.parameters():
            p.grad = torch.randn(p.shape, generator=rng, dtype=p.dtype)
        net.linear.bias.grad = None
        torch.set_grad_enabled(records)
        try:
            program.idle_units(net, [(one.detach().clone(),) for one in a])
            recording[f"after the call{place}"] = torch.is_grad_enabled()
        finally:
            torch.set_grad_enabled(True)
        for name, module in net.named_modules():
            where = f"{name or 'net'}{place}"
            hooks[where] = len(module._forward_hooks) + len(module._forward_pre_hooks)
            training[where] = module.training
        for name, p in net.named_parameters():
            grads[f"{name}{place}"] = _value(p.grad)
    return hooks, training, grads, recording
